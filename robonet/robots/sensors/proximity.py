"""`proximity`: how far it is to the next thing along short rays around the body."""

import math
from typing import Any

import numpy as np

from robonet.kernels import kernel
from robonet.robots.world import Group, World
from robonet.space import Floats, Grid, Ints, cell_of, sort_into_cells


class ProximityRing:
    """The readings of a whole group, computed once a step and only if somebody asks."""

    def __init__(self, world: World, group: Group) -> None:
        assert group.kind is not None
        self._world = world
        self._rows = group.rows
        self.angles_rad = group.kind.angles_rad
        self.range_m = group.kind.proximity_range_m
        self._distances = np.full((len(group), len(self.angles_rad)), self.range_m)
        self._computed = -1

    @property
    def distances_m(self) -> Floats:
        """Distance from the body's edge along each ray; the range where nothing is near."""
        world = self._world
        if self._computed != world.index:
            low, high = world.arena.low_m, world.arena.high_m
            sort_into_cells(world.xyz[:, 0], world.xyz[:, 1], world.grid, world.cell_starts, world.cell_order)
            _cast(
                self._rows.start, self._rows.stop, self.angles_rad, self.range_m, self._distances,
                world.xyz, world.heading, world.body_m, world.grid, world.cell_starts, world.cell_order,
                world.obstacles, world.obstacle_offsets, world.obstacle_lists,
                world.arena.walls, low[0], low[1], high[0], high[1],
            )  # fmt: skip
            self._computed = world.index
        return self._distances


class Proximity:
    """One robot's ring, or the whole group's as a matrix with a row a robot."""

    def __init__(self, ring: ProximityRing, row: int | None) -> None:
        self._ring = ring
        self._row = row
        self.angles_rad = ring.angles_rad
        """Directions of the rays, counter-clockwise from straight ahead."""
        self.range_m = ring.range_m
        """Reach of the rays."""

    @property
    def distances_m(self) -> Floats:
        """Distance from the body's edge along each ray; the range where nothing is near."""
        row = slice(None) if self._row is None else self._row
        return np.array(self._ring.distances_m[row])

    @property
    def values(self) -> Any:
        """1 at the body's edge, falling to 0 at the end of the range."""
        return 1.0 - self.distances_m / self.range_m


@kernel
def _cast(
    first: int, last: int, angles: Floats, reach: float, out: Floats,
    xyz: Floats, heading: Floats, body: Floats, grid: Grid, starts: Ints, order: Ints,
    obstacles: Floats, obstacle_offsets: Ints, obstacle_lists: Ints,
    walls: bool, left: float, bottom: float, right: float, top: float,
) -> None:  # fmt: skip
    """Find what could be hit at all, once a robot; most robots have nothing near and are done with that."""
    near = np.empty(len(order), dtype=np.int64)
    for i in range(first, last):
        x, y, own = xyz[i, 0], xyz[i, 1], body[i]
        farthest = own + reach
        found = 0
        column, row = cell_of(x, y, grid)
        for r in range(max(row - 1, 0), min(row + 2, grid.rows)):
            begin = starts[r * grid.columns + max(column - 1, 0)]
            end = starts[r * grid.columns + min(column + 1, grid.columns - 1) + 1]
            for k in range(begin, end):  # the cells of a row lie side by side
                j = order[k]
                dx, dy, touch = xyz[j, 0] - x, xyz[j, 1] - y, farthest + body[j]
                if j != i and body[j] > 0.0 and dx * dx + dy * dy < touch * touch:
                    near[found] = j
                    found += 1
        sees_walls = walls and min(x - left, right - x, y - bottom, top - y) < farthest
        cell = row * grid.columns + column
        things = obstacle_lists[obstacle_offsets[cell] : obstacle_offsets[cell + 1]]
        if not (found or sees_walls or len(things)):
            out[i - first, :] = reach
            continue
        for a in range(len(angles)):
            direction = heading[i] + angles[a]
            ux, uy = math.cos(direction), math.sin(direction)
            nearest = farthest
            if sees_walls:
                nearest = min(nearest, _to_walls(x, y, ux, uy, left, bottom, right, top))
            for k in range(found):
                j = near[k]
                nearest = min(nearest, _to_disk(xyz[j, 0] - x, xyz[j, 1] - y, ux, uy, body[j]))
            for k in range(len(things)):
                nearest = min(nearest, _to_obstacle(x, y, ux, uy, obstacles[things[k]]))
            # Nothing in reach reads exactly as the reach: (own + reach) - own would not.
            out[i - first, a] = min(max(nearest - own, 0.0), reach) if nearest < farthest else reach


@kernel
def _to_walls(x: float, y: float, ux: float, uy: float, left: float, bottom: float, right: float, top: float) -> float:
    nearest = math.inf
    if ux > 0.0:
        nearest = min(nearest, (right - x) / ux)
    elif ux < 0.0:
        nearest = min(nearest, (left - x) / ux)
    if uy > 0.0:
        nearest = min(nearest, (top - y) / uy)
    elif uy < 0.0:
        nearest = min(nearest, (bottom - y) / uy)
    return nearest


@kernel
def _to_disk(dx: float, dy: float, ux: float, uy: float, radius: float) -> float:
    along = dx * ux + dy * uy
    squared = dx * dx + dy * dy - along * along
    if along < 0.0 or squared > radius * radius:
        return math.inf
    return max(along - math.sqrt(radius * radius - squared), 0.0)


@kernel
def _to_obstacle(x: float, y: float, ux: float, uy: float, obstacle: Floats) -> float:
    dx, dy = obstacle[0] - x, obstacle[1] - y
    if obstacle[6] > 0.0:
        return _to_disk(dx, dy, ux, uy, obstacle[6])
    cosine, sine = obstacle[4], obstacle[5]
    u, v = -(dx * cosine + dy * sine), -(dy * cosine - dx * sine)
    along_u, along_v = ux * cosine + uy * sine, uy * cosine - ux * sine
    enter, leave = 0.0, math.inf
    for place, speed, half in ((u, along_u, obstacle[2]), (v, along_v, obstacle[3])):
        if abs(speed) < 1e-12:
            if abs(place) > half:
                return math.inf
        else:
            one, two = (-half - place) / speed, (half - place) / speed
            enter, leave = max(enter, min(one, two)), min(leave, max(one, two))
    return enter if enter <= leave else math.inf
