"""`contact`: bumpers around the body, and which of them are touched."""

import math

import numpy as np
from numpy.typing import NDArray

from robonet.kernels import bare_kernel, rows_kernel
from robonet.robots.arena import BOX, DISK, Obstacles
from robonet.robots.geometry import Bodies, at_one_height, out_of_box, out_of_polygon
from robonet.robots.nearby import Indices
from robonet.robots.regions import planes_of
from robonet.robots.world import Group, World
from robonet.scenario import devices
from robonet.space import Floats

Bools = NDArray[np.bool_]


class Contact:
    """Readings of a group, a row a robot, a column a sector.

    A round body is touched where it is nearest to what touches it. A body with corners is touched along the part of
    its edge that is near enough: against a wall, that may be several sectors.
    """

    def __init__(self, world: World, group: Group, settings: devices.Contact) -> None:
        self._world, self._rows = world, group.rows
        self._reach_m = settings.reach_m
        self._planes = planes_of(world, -1)
        world.nearby.look_out(group.rows, settings.reach_m)
        self.angles_rad = np.arange(settings.sectors) * (2 * math.pi / settings.sectors)
        """The middle of each sector, counter-clockwise from straight ahead."""
        self._touches = np.zeros((len(group), settings.sectors), dtype=np.bool_)
        self._shown: Bools = self._touches.view()
        self._shown.flags.writeable = False
        self._computed = -1, -1

    @property
    def touches(self) -> Bools:
        """Whether something touches each sector; valid for this step."""
        world = self._world
        at = world.index, world.edits
        if self._computed != at:
            self._computed = at
            nearby = world.nearby
            nearby.refresh()
            world.threads.over_rows(
                len(self._touches),
                lambda first, last: _feel(
                    first, last, self._rows.start, self._reach_m, nearby.bodies, world.obstacles,
                    nearby.begin, nearby.end, nearby.near, nearby.thing_begin, nearby.thing_end, nearby.things,
                    self._planes, world.is_flat, self._touches,
                ),
            )  # fmt: skip
        return self._shown

    @property
    def touched(self) -> Bools:
        """Whether anything touches each robot."""
        return np.asarray(self.touches.any(axis=1))

    def one(self, number: int) -> "OneContact":
        """The readings of one robot."""
        return OneContact(self, number)


class OneContact:
    """One robot's bumpers."""

    __slots__ = ("_all", "_number", "angles_rad")

    def __init__(self, readings: Contact, number: int) -> None:
        self._all, self._number = readings, number
        self.angles_rad = readings.angles_rad.tolist()
        """The middle of each sector, counter-clockwise from straight ahead."""

    @property
    def touches(self) -> list[bool]:
        """Whether something touches each sector."""
        readings: list[bool] = self._all.touches[self._number].tolist()
        return readings

    @property
    def touched(self) -> bool:
        """Whether anything touches the robot."""
        return any(self.touches)


@rows_kernel
def _feel(
    first: int, last: int, offset: int, reach: float, bodies: Bodies, obstacles: Obstacles,
    begin: Indices, end: Indices, near: Indices, thing_begin: Indices, thing_end: Indices, things: Indices,
    planes: Floats, flat: bool, touches: Bools,
) -> None:  # fmt: skip
    for number in range(first, last):
        i = offset + number
        for s in range(touches.shape[1]):
            touches[number, s] = False
        wide = bodies.radius[i] + reach
        if bodies.radius[i] <= 0.0:
            continue
        x, y = bodies.xyz[i, 0], bodies.xyz[i, 1]
        _feel_planes(number, i, reach, bodies, planes, touches)
        for e in range(begin[i], end[i]):
            j = near[e]
            dx, dy, close = bodies.xyz[j, 0] - x, bodies.xyz[j, 1] - y, wide + bodies.radius[j]
            if dx * dx + dy * dy < close * close and (flat or at_one_height(i, j, bodies)):
                _feel_body(number, i, j, reach, bodies, touches)
        for e in range(thing_begin[i], thing_end[i]):
            _feel_obstacle(number, i, things[e], reach, bodies, obstacles, touches)


@bare_kernel
def _mark(number: int, begin: float, end: float, touches: Bools) -> None:
    """Touch all sectors from one angle in the body's frame to another, counter-clockwise."""
    sectors = touches.shape[1]
    width = 2 * math.pi / sectors
    for s in range(math.floor(begin / width + 0.5), math.floor(end / width + 0.5) + 1):
        touches[number, s % sectors] = True


@bare_kernel
def _wider(u: float, v: float, middle: float, low: float, high: float) -> tuple[float, float, float]:
    """A range of angles, from `low` to `high` about `middle`, with one point more; NaN where it has none yet."""
    angle = math.atan2(v, u)
    if math.isnan(middle):
        return angle, 0.0, 0.0
    apart = angle - middle
    if apart > math.pi:
        apart -= 2 * math.pi
    elif apart <= -math.pi:
        apart += 2 * math.pi
    return middle, min(low, apart), max(high, apart)


@bare_kernel
def _feel_towards(number: int, i: int, dx: float, dy: float, bodies: Bodies, touches: Bools) -> None:
    """Touch the sector in a direction of the world's frame."""
    cosine, sine = bodies.facing[i, 0], bodies.facing[i, 1]
    angle = math.atan2(dy * cosine - dx * sine, dx * cosine + dy * sine)
    _mark(number, angle, angle, touches)


@bare_kernel
def _feel_planes(number: int, i: int, reach: float, bodies: Bodies, planes: Floats, touches: Bools) -> None:
    x, y, cosine, sine = bodies.xyz[i, 0], bodies.xyz[i, 1], bodies.facing[i, 0], bodies.facing[i, 1]
    shape, corners, offsets = bodies.shape[i], bodies.shapes.corners, bodies.shapes.offsets
    for p in range(len(planes)):
        nx, ny = planes[p, 0], planes[p, 1]
        gap = nx * x + ny * y - planes[p, 2]
        if gap >= bodies.radius[i] + reach:
            continue
        if shape < 0:
            _feel_towards(number, i, -nx, -ny, bodies, touches)
            continue
        middle, low, high = math.nan, 0.0, 0.0
        for k in range(offsets[shape], offsets[shape + 1]):
            u, v = corners[k, 0], corners[k, 1]
            if gap + nx * (u * cosine - v * sine) + ny * (u * sine + v * cosine) < reach:
                middle, low, high = _wider(u, v, middle, low, high)
        if not math.isnan(middle):
            _mark(number, middle + low, middle + high, touches)


@bare_kernel
def _feel_disk(
    number: int, i: int, dx: float, dy: float, radius: float, reach: float, bodies: Bodies, touches: Bools
) -> None:
    """A disk whose centre is so far away, in the world's frame."""
    shape = bodies.shape[i]
    if shape < 0:
        near = bodies.radius[i] + radius + reach
        if dx * dx + dy * dy < near * near:
            _feel_towards(number, i, dx, dy, bodies, touches)
        return
    cosine, sine, offsets = bodies.facing[i, 0], bodies.facing[i, 1], bodies.shapes.offsets
    u, v = dx * cosine + dy * sine, dy * cosine - dx * sine
    depth, out_u, out_v = out_of_polygon(
        u, v, radius + reach, bodies.shapes.corners, offsets[shape], offsets[shape + 1]
    )
    if depth > 0.0:
        away = radius + reach - depth
        angle = math.atan2(v - away * out_v, u - away * out_u)
        _mark(number, angle, angle, touches)


@bare_kernel
def _feel_polygon(
    number: int, i: int, x: float, y: float, cosine: float, sine: float, corners: Floats, first: int, last: int,
    reach: float, bodies: Bodies, touches: Bools,
) -> None:  # fmt: skip
    """A convex polygon, posed as told."""
    shape, own, offsets = bodies.shape[i], bodies.shapes.corners, bodies.shapes.offsets
    dx, dy = bodies.xyz[i, 0] - x, bodies.xyz[i, 1] - y
    if shape < 0:
        depth, u, v = out_of_polygon(
            dx * cosine + dy * sine, dy * cosine - dx * sine, bodies.radius[i] + reach, corners, first, last
        )
        if depth > 0.0:
            _feel_towards(number, i, v * sine - u * cosine, -u * sine - v * cosine, bodies, touches)
        return
    # The other as the own body's frame has it: turned by these, and away by those.
    own_cosine, own_sine = bodies.facing[i, 0], bodies.facing[i, 1]
    c, s = cosine * own_cosine + sine * own_sine, sine * own_cosine - cosine * own_sine
    ox, oy = -dx * own_cosine - dy * own_sine, dx * own_sine - dy * own_cosine
    middle, low, high = math.nan, 0.0, 0.0
    for k in range(offsets[shape], offsets[shape + 1]):  # own corners at the other's edge
        u, v = own[k, 0] - ox, own[k, 1] - oy
        depth, _, _ = out_of_polygon(u * c + v * s, v * c - u * s, reach, corners, first, last)
        if depth > 0.0:
            middle, low, high = _wider(own[k, 0], own[k, 1], middle, low, high)
    for k in range(first, last):  # the other's corners at the own edge
        u, v = ox + corners[k, 0] * c - corners[k, 1] * s, oy + corners[k, 0] * s + corners[k, 1] * c
        depth, out_u, out_v = out_of_polygon(u, v, reach, own, offsets[shape], offsets[shape + 1])
        if depth > 0.0:
            away = reach - depth
            middle, low, high = _wider(u - away * out_u, v - away * out_v, middle, low, high)
    if not math.isnan(middle):
        _mark(number, middle + low, middle + high, touches)


@bare_kernel
def _feel_body(number: int, i: int, j: int, reach: float, bodies: Bodies, touches: Bools) -> None:
    x, y, shape, offsets = bodies.xyz[j, 0], bodies.xyz[j, 1], bodies.shape[j], bodies.shapes.offsets
    if shape < 0:
        _feel_disk(number, i, x - bodies.xyz[i, 0], y - bodies.xyz[i, 1], bodies.radius[j], reach, bodies, touches)
    else:
        _feel_polygon(
            number, i, x, y, bodies.facing[j, 0], bodies.facing[j, 1], bodies.shapes.corners,
            offsets[shape], offsets[shape + 1], reach, bodies, touches,
        )  # fmt: skip


@bare_kernel
def _feel_obstacle(
    number: int, i: int, k: int, reach: float, bodies: Bodies, obstacles: Obstacles, touches: Bools
) -> None:
    rows, kind = obstacles.rows, obstacles.kind[k]
    dx, dy = rows[k, 0] - bodies.xyz[i, 0], rows[k, 1] - bodies.xyz[i, 1]
    if kind == DISK:
        _feel_disk(number, i, dx, dy, rows[k, 6], reach, bodies, touches)
    elif kind == BOX and bodies.shape[i] < 0:
        c, s = rows[k, 4], rows[k, 5]
        depth, u, v = out_of_box(
            -dx * c - dy * s, dx * s - dy * c, bodies.radius[i] + reach, rows[k, 2], rows[k, 3], rows[k, 6]
        )
        if depth > 0.0:
            _feel_towards(number, i, v * s - u * c, -u * s - v * c, bodies, touches)
    else:
        first, last = obstacles.offsets[k], obstacles.offsets[k + 1]
        _feel_polygon(number, i, 0.0, 0.0, 1.0, 0.0, obstacles.corners, first, last, reach, bodies, touches)
