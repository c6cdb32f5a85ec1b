"""Where robots start: never overlapping, each drawing from its own stream."""

import math

import numpy as np

from robonet.errors import UserError
from robonet.robots.arena import COS, HALF_X, HALF_Y, ROUND, SIN
from robonet.robots.world import Group, World
from robonet.scenario.schema import Robots, Uniform
from robonet.streams import stream


def place_all(world: World) -> None:
    """Put every robot somewhere, group after group."""
    taken = _Taken(world)
    for group in world.groups:
        settings = group.settings
        if not isinstance(settings, Robots):
            continue
        for number in range(len(group)):
            row = group.rows.start + number
            rng = stream(world.seed, "placement", world.stream_keys[row])
            radius = float(world.body_m[row])
            if settings.place.at_m is not None:
                point = settings.place.at_m[number]
                _refuse_overlap(world, taken, row, point, radius)
            elif settings.place.grid is not None:
                point = _in_rows(settings, number)
                _refuse_overlap(world, taken, row, point, radius)
            else:
                assert settings.place.uniform is not None
                point = _scattered(world, group, settings.place.uniform, rng, radius, taken)
            taken.add(point, radius)
            world.xyz[row, :2] = point
            if settings.heading_deg == "random":
                world.heading[row] = rng.uniform(-math.pi, math.pi)
            else:
                world.heading[row] = math.remainder(math.radians(settings.heading_deg), 2 * math.pi)


class _Taken:
    """What is already there, in cells as wide as two of the largest bodies."""

    def __init__(self, world: World) -> None:
        self._cell_m = max(2 * float(world.body_m.max(initial=0.0)), 1e-3)
        self._cells: dict[tuple[int, int], list[tuple[float, float, float]]] = {}
        self._obstacles = world.obstacles

    def add(self, point: tuple[float, float], radius_m: float) -> None:
        if radius_m:
            self._cells.setdefault(self._cell(point), []).append((*point, radius_m))

    def is_free(self, point: tuple[float, float], radius_m: float) -> bool:
        if not radius_m:
            return True
        column, row = self._cell(point)
        for c in (column - 1, column, column + 1):
            for r in (row - 1, row, row + 1):
                for x, y, other_m in self._cells.get((c, r), ()):
                    if math.hypot(point[0] - x, point[1] - y) < radius_m + other_m:
                        return False
        return not (len(self._obstacles) and (self._gaps(point) < radius_m).any())

    def _gaps(self, point: tuple[float, float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """Distance from a point to each obstacle."""
        rows = self._obstacles
        dx, dy = point[0] - rows[:, 0], point[1] - rows[:, 1]
        u = np.abs(dx * rows[:, COS] + dy * rows[:, SIN]) - rows[:, HALF_X]
        v = np.abs(dy * rows[:, COS] - dx * rows[:, SIN]) - rows[:, HALF_Y]
        gaps: np.ndarray[tuple[int], np.dtype[np.float64]] = (
            np.hypot(np.maximum(u, 0), np.maximum(v, 0)) - rows[:, ROUND]
        )
        return gaps

    def _cell(self, point: tuple[float, float]) -> tuple[int, int]:
        return math.floor(point[0] / self._cell_m), math.floor(point[1] / self._cell_m)


def _scattered(
    world: World, group: Group, settings: Uniform, rng: np.random.Generator, radius_m: float, taken: _Taken
) -> tuple[float, float]:
    center, size = settings.center_m or world.arena.center_m, settings.size_m or world.arena.size_m
    half_x, half_y = size[0] / 2 - radius_m, size[1] / 2 - radius_m
    if half_x > 0 and half_y > 0:
        for _ in range(settings.max_trials):
            point = (center[0] + rng.uniform(-half_x, half_x), center[1] + rng.uniform(-half_y, half_y))
            if taken.is_free(point, radius_m):
                return point
    raise UserError(
        f"no free place for a robot of group '{group.name}' in {size[0]:g} x {size[1]:g} m after "
        f"{settings.max_trials} trials: use fewer robots, a larger area, or raise place.uniform.max_trials"
    )


def _in_rows(settings: Robots, number: int) -> tuple[float, float]:
    assert settings.place.grid is not None
    grid = settings.place.grid
    columns = math.ceil(math.sqrt(settings.count))
    rows = math.ceil(settings.count / columns)
    column, row = number % columns, number // columns
    x = grid.center_m[0] + (column - (columns - 1) / 2) * grid.spacing_m
    return x, grid.center_m[1] + (row - (rows - 1) / 2) * grid.spacing_m


def _refuse_overlap(world: World, taken: _Taken, row: int, point: tuple[float, float], radius_m: float) -> None:
    if not taken.is_free(point, radius_m):
        raise UserError(f"robot '{world.names[row]}' at {point} m overlaps another robot or an obstacle")
    low, high = world.arena.low_m, world.arena.high_m
    inside = all(low[k] + radius_m <= point[k] <= high[k] - radius_m for k in (0, 1))
    if world.arena.walls and not inside:
        raise UserError(f"robot '{world.names[row]}' at {point} m does not fit into the arena")
