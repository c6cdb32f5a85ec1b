"""Where robots and things start: never overlapping, each drawing from its own stream."""

import math
from collections.abc import Iterator

import numpy as np

from robonet.errors import UserError
from robonet.kernels import bare_kernel
from robonet.robots.arena import Obstacles
from robonet.robots.geometry import Bodies, at_one_height, beyond_plane, out_of_body, out_of_obstacle
from robonet.robots.nearby import Indices
from robonet.robots.regions import planes_of
from robonet.robots.world import Group, World
from robonet.scenario.arena import Objects, Place
from robonet.scenario.schema import Robots, Station
from robonet.space import Floats, Grid, cell_of
from robonet.streams import stream

Point = tuple[float, float]


def place_all(world: World) -> None:
    """Put everyone somewhere: first whoever has a fixed place, then group after group."""
    taken = _Taken(world)
    groups = [group for group in world.groups if not isinstance(group.settings, Station)]
    for group in groups:
        if group.kind is not None:
            assert isinstance(group.settings, Robots)
            world.xyz[group.rows.start : group.rows.start + group.settings.count, 2] = group.kind.flies_at_m
    for group in sorted(groups, key=_is_scattered):
        settings = group.settings
        assert isinstance(settings, (Robots, Objects))
        points = _fixed_points(settings) if not _is_scattered(group) else None
        joined = _Joined(world, group)
        for number in range(settings.count):
            row = group.rows.start + number
            rng = stream(world.seed, "placement", world.stream_key(row))
            heading = _first_heading(settings, number)
            if points is not None:
                point = next(points)
                _set_heading(world, row, heading, rng)
                taken.refuse_overlap(row, point)
            else:
                point = _scattered(world, group, row, rng, heading, taken, joined)
            taken.add(row, point)
            joined.add(number, point)


def _is_scattered(group: Group) -> bool:
    assert not isinstance(group.settings, Station)
    place = group.settings.place
    return place.at_m is None and place.poses is None and place.grid is None and place.line is None


def _first_heading(settings: Robots | Objects, number: int) -> float | None:
    """In radians; None where it is drawn."""
    if settings.place.poses is not None:
        return math.radians(settings.place.poses[number][2])
    return None if settings.heading_deg == "random" else math.radians(settings.heading_deg)


def _set_heading(world: World, row: int, heading_rad: float | None, rng: np.random.Generator) -> None:
    angle = rng.uniform(-math.pi, math.pi) if heading_rad is None else math.remainder(heading_rad, 2 * math.pi)
    world.heading[row] = angle
    world.facing[row] = math.cos(angle), math.sin(angle)


# --- fixed places ----------------------------------------------------------------------------------------


def _fixed_points(settings: Robots | Objects) -> Iterator[Point]:
    place = settings.place
    if place.at_m is not None:
        yield from place.at_m
    elif place.poses is not None:
        yield from ((x, y) for x, y, _ in place.poses)
    elif place.grid is not None:
        columns = math.ceil(math.sqrt(settings.count))
        rows = math.ceil(settings.count / columns)
        for number in range(settings.count):
            x = place.grid.center_m[0] + (number % columns - (columns - 1) / 2) * place.grid.spacing_m
            yield x, place.grid.center_m[1] + (number // columns - (rows - 1) / 2) * place.grid.spacing_m
    else:
        assert place.line is not None
        angle = math.radians(place.line.angle_deg)
        for number in range(settings.count):
            along = number * place.line.spacing_m
            yield place.line.start_m[0] + along * math.cos(angle), place.line.start_m[1] + along * math.sin(angle)


# --- scattered places ------------------------------------------------------------------------------------


class _Joined:
    """Those of a group that are placed already, and how often others joined each of them."""

    def __init__(self, world: World, group: Group) -> None:
        self._points: list[Point] = []
        self._joins = np.zeros(len(group))
        self._pivot = -1
        assert not isinstance(group.settings, Station)
        self._counts = group.settings.place.scale_free is not None

    def add(self, number: int, point: Point) -> None:
        if self._counts:
            self._points.append(point)
            self._joins[number] = 1.0
            if self._pivot >= 0:
                self._joins[self._pivot] += 1.0

    def draw(self, rng: np.random.Generator) -> Point | None:
        """One to join, those that many joined preferred."""
        if not self._points:
            return None
        sums = np.cumsum(self._joins[: len(self._points)])
        self._pivot = int(np.searchsorted(sums, rng.uniform(0.0, sums[-1]), side="right"))
        return self._points[min(self._pivot, len(self._points) - 1)]


def _scattered(
    world: World,
    group: Group,
    row: int,
    rng: np.random.Generator,
    heading: float | None,
    taken: "_Taken",
    joined: _Joined,
) -> Point:
    settings = group.settings
    assert not isinstance(settings, Station)
    radius_m = float(world.body_m[row])
    trials = settings.place.chosen.max_trials
    for _ in range(trials):
        point = _draw(world, settings.place, settings.count, radius_m, rng, joined)
        if point is None:
            break
        _set_heading(world, row, heading, rng)
        if taken.is_free(row, point):
            return point
    kind = next(name for name in Place.model_fields if getattr(settings.place, name) is not None)
    raise UserError(
        f"no free place for {world.names[row]} of group '{group.name}' after {trials} trials: use fewer, "
        f"a larger area, or raise place.{kind}.max_trials"
    )


def _draw(
    world: World, place: Place, count: int, radius_m: float, rng: np.random.Generator, joined: _Joined
) -> Point | None:
    """A place to try; None where the area cannot hold even one."""
    if place.gaussian is not None:
        mean, std = place.gaussian.mean_m, place.gaussian.std_m
        return rng.normal(mean[0], std[0]), rng.normal(mean[1], std[1])
    if place.scale_free is not None:
        pivot = joined.draw(rng)
        if pivot is None:
            return place.scale_free.center_m
        angle, distance = rng.uniform(-math.pi, math.pi), place.scale_free.range_m * math.sqrt(rng.random())
        return pivot[0] + distance * math.cos(angle), pivot[1] + distance * math.sin(angle)
    if place.cluster is not None:
        side = math.sqrt(count * math.pi / place.cluster.density) * place.cluster.range_m
        center, size = place.cluster.center_m, (side, side)
    else:
        assert place.uniform is not None
        center, size = place.uniform.center_m or world.arena.center_m, place.uniform.size_m or world.arena.size_m
    half_x, half_y = size[0] / 2 - radius_m, size[1] / 2 - radius_m
    if half_x <= 0 or half_y <= 0:
        return None
    return center[0] + rng.uniform(-half_x, half_x), center[1] + rng.uniform(-half_y, half_y)


# --- what is taken ---------------------------------------------------------------------------------------


class _Taken:
    """What is already there: a chain of bodies in every cell."""

    def __init__(self, world: World) -> None:
        self._world = world
        grid = world.nearby.grid
        self._heads = np.full(grid.columns * grid.rows, -1, dtype=np.int32)
        self._next = np.full(world.bodies, -1, dtype=np.int32)
        self._widest = float(world.body_m.max(initial=0.0))
        self._walls = planes_of(world, -1)

    def add(self, row: int, point: Point) -> None:
        world = self._world
        world.xyz[row, :2] = point
        if world.body_m[row] > 0:
            _chain(row, point[0], point[1], world.nearby.grid, self._heads, self._next)

    def is_free(self, row: int, point: Point) -> bool:
        return self._what_is_there(row, point) == FREE

    def refuse_overlap(self, row: int, point: Point) -> None:
        world = self._world
        found = self._what_is_there(row, point)
        if found == FREE:
            return
        at = f"'{world.names[row]}' at ({point[0]:g}, {point[1]:g}) m"
        if found == OUTSIDE:
            raise UserError(f"{at} does not fit into the arena")
        if found == IN_OBSTACLE:
            raise UserError(f"{at} overlaps an obstacle")
        raise UserError(f"{at} overlaps '{world.names[found]}'")

    def _what_is_there(self, row: int, point: Point) -> int:
        world, nearby = self._world, self._world.nearby
        if not world.body_m[row] > 0:
            return FREE
        return int(
            _overlapped(
                row, point[0], point[1], nearby.bodies, nearby.grid, self._heads, self._next, self._widest,
                nearby.fixed_starts, nearby.fixed, world.obstacles, self._walls,
            )
        )  # fmt: skip


FREE, OUTSIDE, IN_OBSTACLE = -1, -2, -3
"""What can be found at a place besides a body's row."""


@bare_kernel
def _chain(i: int, x: float, y: float, grid: Grid, heads: Indices, following: Indices) -> None:
    column, row = cell_of(x, y, grid)
    following[i] = heads[row * grid.columns + column]
    heads[row * grid.columns + column] = i


@bare_kernel
def _overlapped(
    i: int, x: float, y: float, bodies: Bodies, grid: Grid, heads: Indices, following: Indices, widest: float,
    fixed_starts: Indices, fixed: Indices, obstacles: Obstacles, walls: Floats,
) -> int:  # fmt: skip
    """The first thing that body i would overlap at a place."""
    cosine, sine, own = bodies.facing[i, 0], bodies.facing[i, 1], bodies.radius[i]
    for p in range(len(walls)):
        if beyond_plane(x, y, cosine, sine, i, bodies, walls[p, 0], walls[p, 1], walls[p, 2]) > 1e-12:
            return OUTSIDE
    left, bottom = cell_of(x - own, y - own, grid)
    right, top = cell_of(x + own, y + own, grid)
    for row in range(bottom, top + 1):
        for column in range(left, right + 1):
            cell = row * grid.columns + column
            for e in range(fixed_starts[cell], fixed_starts[cell + 1]):
                depth, _, _ = out_of_obstacle(x, y, cosine, sine, i, bodies, fixed[e], obstacles)
                if depth > 0.0:
                    return IN_OBSTACLE
    left, bottom = cell_of(x - own - widest, y - own - widest, grid)
    right, top = cell_of(x + own + widest, y + own + widest, grid)
    for row in range(bottom, top + 1):
        for column in range(left, right + 1):
            j = heads[row * grid.columns + column]
            while j >= 0:
                depth, _, _ = out_of_body(
                    x, y, cosine, sine, i, bodies.xyz[j, 0], bodies.xyz[j, 1], bodies.facing[j, 0], bodies.facing[j, 1],
                    j, bodies,
                )  # fmt: skip
                if depth > 0.0 and at_one_height(i, j, bodies):
                    return j
                j = following[j]
    return FREE
