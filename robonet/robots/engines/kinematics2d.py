"""`kinematics2d`: bodies go as fast as they are told, push each other apart, and never enter anything.

Everyone moves, overlaps are shared out in a few rounds in which all look at the same positions, and whoever then
still overlaps goes back to where it was. So nobody ever overlaps more than at the beginning of the step, whatever
the pressure, and the order of rows plays no part.
"""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from robonet.errors import ControllerError
from robonet.kernels import bare_kernel, rows_kernel
from robonet.robots.arena import Obstacles
from robonet.robots.geometry import Bodies, beyond_plane, out_of_body, out_of_obstacle
from robonet.robots.regions import planes_of
from robonet.robots.trigonometry import cosine_sine
from robonet.scenario.engines import EngineSection
from robonet.space import Floats

if TYPE_CHECKING:
    from robonet.robots.world import World

ROUNDS = 12
"""At most so often are overlaps shared out in one substep; most steps need none or one."""
LARGEST_MOVE = 0.5
"""A substep moves no body by more than this part of the smallest radius: nothing passes through anything."""
SLACK = 5e-4
"""Overlaps below this part of a radius need no further round."""
TOLERANCE = 1e-3
"""Overlaps above this part of a radius send bodies back."""

Indices = NDArray[np.int32]
Flags = NDArray[np.int8]
FREE, TOUCHING, BACK = 0, 1, 2


class Kinematics2D:
    """Moves the bodies of one engine by one step."""

    def __init__(self, world: "World", number: int, settings: EngineSection) -> None:
        self._world = world
        self._number = number
        self._planes = planes_of(world, number)
        rows = world.bodies
        self._old = np.zeros((rows, 5))
        """x, y, heading, cosine and sine before the step."""
        self._shift = np.zeros((rows, 2))
        self._state = np.zeros(rows, dtype=np.int8)
        self._active = np.zeros(rows, dtype=np.int32)

    def step(self) -> None:
        """Move to the next border."""
        world, nearby, number = self._world, self._world.nearby, self._number
        fastest, smallest, wrong = _fastest(
            world.robots, world.xyz, world.heading, world.twist, world.body_m, world.shape, world.owner, number
        )
        if wrong >= 0:
            raise ControllerError(
                f"'{world.names[wrong]}' at {world.xyz[wrong, :2].tolist()} m was told to move by "
                f"{world.twist[wrong].tolist()} (m/s, m/s, rad/s) at simulated time {world.time_s:.3f} s: not finite"
            )
        if not smallest:
            return
        substeps = max(1, math.ceil(fastest * world.step_s / (LARGEST_MOVE * smallest)))
        dt = world.step_s / substeps
        for part in range(substeps):

            def drive(first: int, last: int, again: bool = part > 0) -> None:
                _drive(
                    first, last, number, dt, again, world.xyz, world.heading, world.facing, world.twist,
                    world.body_m, world.owner, self._old,
                )  # fmt: skip

            def touch(first: int, last: int) -> None:
                _touch(
                    first, last, number, world.owner, nearby.bodies, world.obstacles, self._planes,
                    nearby.begin, nearby.end, nearby.near, nearby.thing_begin, nearby.thing_end, nearby.things,
                    self._state,
                )  # fmt: skip

            self._in_parts(drive, is_light=True)
            self._in_parts(touch)
            _settle(
                world.robots, number, world.owner, nearby.bodies, world.heading, world.obstacles, self._planes,
                nearby.begin, nearby.end, nearby.near, nearby.thing_begin, nearby.thing_end, nearby.things,
                self._old, self._shift, self._state, self._active,
            )  # fmt: skip

    def _in_parts(self, work: Any, *, is_light: bool = False) -> None:
        """On all threads; several engines have one each, and do all of their work on it."""
        if len(self._world.engines) > 1:
            work(0, self._world.robots)
        else:
            self._world.threads.over_rows(self._world.robots, work, is_light=is_light)


@bare_kernel
def _fastest(
    robots: int, xyz: Floats, heading: Floats, twist: Floats, radius: Floats, shape: Indices,
    owner: Indices, number: int,
) -> tuple[float, float, int]:  # fmt: skip
    """The greatest speed of a body's edge, the smallest radius (0: nobody is there), and who is not finite, or -1."""
    fastest, smallest = 0.0, math.inf
    for i in range(robots):
        if owner[i] == number and radius[i] > 0.0:
            edge = abs(twist[i, 2]) * radius[i] if shape[i] >= 0 else 0.0
            speed = abs(twist[i, 0]) + abs(twist[i, 1]) + edge
            if not speed + abs(twist[i, 2]) + abs(xyz[i, 0]) + abs(xyz[i, 1]) + abs(heading[i]) < math.inf:
                return 0.0, 0.0, i
            fastest = max(fastest, speed)
            smallest = min(smallest, radius[i])
    return fastest, smallest if smallest < math.inf else 0.0, -1


@bare_kernel
def wrapped(angle: float) -> float:
    """The same angle in (-pi, pi]."""
    while angle > math.pi:
        angle -= 2 * math.pi
    while angle <= -math.pi:
        angle += 2 * math.pi
    return angle


@rows_kernel
def _drive(
    first: int, last: int, number: int, dt: float, again: bool,
    xyz: Floats, heading: Floats, facing: Floats, twist: Floats, radius: Floats, owner: Indices, old: Floats,
) -> None:  # fmt: skip
    """Exact arcs at constant twist."""
    for i in range(first, last):
        if owner[i] != number or radius[i] <= 0.0:
            continue
        if again and twist[i, 2] != 0.0:
            facing[i, 0], facing[i, 1] = cosine_sine(heading[i])
        cosine, sine = facing[i, 0], facing[i, 1]
        old[i, 0], old[i, 1], old[i, 2], old[i, 3], old[i, 4] = xyz[i, 0], xyz[i, 1], heading[i], cosine, sine
        forward, sideways, turn = twist[i, 0] * dt, twist[i, 1] * dt, twist[i, 2] * dt
        if turn != 0.0:
            half = 0.5 * turn
            turn_cosine, turn_sine = cosine_sine(half)
            cosine, sine = cosine * turn_cosine - sine * turn_sine, sine * turn_cosine + cosine * turn_sine
            if abs(half) > 1e-9:
                chord = turn_sine / half
                forward, sideways = forward * chord, sideways * chord
            heading[i] = wrapped(heading[i] + turn)
        xyz[i, 0] += forward * cosine - sideways * sine
        xyz[i, 1] += forward * sine + sideways * cosine
        if turn != 0.0:  # polygons are looked at as they are now
            facing[i, 0], facing[i, 1] = (
                cosine * turn_cosine - sine * turn_sine,
                sine * turn_cosine + cosine * turn_sine,
            )


@rows_kernel
def _touch(
    first: int, last: int, number: int, owner: Indices, bodies: Bodies, obstacles: Obstacles, planes: Floats,
    begin: Indices, end: Indices, near: Indices, thing_begin: Indices, thing_end: Indices, things: Indices,
    state: Flags,
) -> None:  # fmt: skip
    """Mark who overlaps anything."""
    xyz, facing, radius, shape = bodies.xyz, bodies.facing, bodies.radius, bodies.shape
    for i in range(first, last):
        state[i] = FREE
        if owner[i] != number or radius[i] <= 0.0:
            continue
        x, y, cosine, sine = xyz[i, 0], xyz[i, 1], facing[i, 0], facing[i, 1]
        for p in range(len(planes)):
            if planes[p, 2] + radius[i] > planes[p, 0] * x + planes[p, 1] * y:
                state[i] = TOUCHING
        for e in range(begin[i], end[i]):
            j = near[e]
            dx, dy, touch = x - xyz[j, 0], y - xyz[j, 1], radius[i] + radius[j]
            if dx * dx + dy * dy >= touch * touch or owner[j] != number:
                continue
            if shape[i] < 0 and shape[j] < 0:
                state[i] = TOUCHING
                break
            depth, _, _ = out_of_body(
                x, y, cosine, sine, i, xyz[j, 0], xyz[j, 1], facing[j, 0], facing[j, 1], j, bodies
            )
            if depth > 0.0:
                state[i] = TOUCHING
                break
        for e in range(thing_begin[i], thing_end[i]):
            depth, _, _ = out_of_obstacle(x, y, cosine, sine, i, bodies, things[e], obstacles)
            if depth > 0.0:
                state[i] = TOUCHING
                break


@bare_kernel
def _settle(
    robots: int, number: int, owner: Indices, bodies: Bodies, heading: Floats, obstacles: Obstacles, planes: Floats,
    begin: Indices, end: Indices, near: Indices, thing_begin: Indices, thing_end: Indices, things: Indices,
    old: Floats, shift: Floats, state: Flags, active: Indices,
) -> None:  # fmt: skip
    """Bring those that touch apart; whoever cannot be brought apart goes back."""
    xyz, facing, radius = bodies.xyz, bodies.facing, bodies.radius
    count = 0
    for i in range(robots):
        if state[i] == TOUCHING:
            active[count] = i
            count += 1
    if not count:
        return
    for _ in range(ROUNDS):
        worst = 0.0
        known = count
        for a in range(known):
            i = active[a]
            x, y, cosine, sine = xyz[i, 0], xyz[i, 1], facing[i, 0], facing[i, 1]
            shift_x, shift_y = 0.0, 0.0
            for e in range(begin[i], end[i]):
                j = near[e]
                if owner[j] != number:
                    continue
                depth, ux, uy = out_of_body(
                    x, y, cosine, sine, i, xyz[j, 0], xyz[j, 1], facing[j, 0], facing[j, 1], j, bodies
                )
                if depth <= 0.0:
                    continue
                worst = max(worst, depth / radius[i])
                share = 1.0
                if j < robots:  # robots share the way, things stand
                    share = 0.5
                    if state[j] == FREE:
                        state[j] = TOUCHING
                        active[count] = j
                        count += 1
                shift_x += share * depth * ux
                shift_y += share * depth * uy
            for e in range(thing_begin[i], thing_end[i]):
                depth, ux, uy = out_of_obstacle(x, y, cosine, sine, i, bodies, things[e], obstacles)
                if depth > 0.0:
                    worst = max(worst, depth / radius[i])
                    shift_x += depth * ux
                    shift_y += depth * uy
            shift[i, 0], shift[i, 1] = shift_x, shift_y
        kept = 0
        for a in range(count):
            i = active[a]
            is_free = False
            if a < known:
                is_free = shift[i, 0] == 0.0 and shift[i, 1] == 0.0
                xyz[i, 0] += shift[i, 0]
                xyz[i, 1] += shift[i, 1]
                for p in range(len(planes)):
                    beyond = beyond_plane(
                        xyz[i, 0], xyz[i, 1], facing[i, 0], facing[i, 1], i, bodies,
                        planes[p, 0], planes[p, 1], planes[p, 2],
                    )  # fmt: skip
                    if beyond > 0.0:
                        worst = max(worst, beyond / radius[i])  # who is behind it may be in its way now
                        is_free = False
                        xyz[i, 0] += beyond * planes[p, 0]
                        xyz[i, 1] += beyond * planes[p, 1]
            if is_free:  # whoever comes its way will find it again
                state[i] = FREE
            else:
                active[kept] = i
                kept += 1
        is_over = worst < SLACK and known == count
        count = kept
        if is_over:
            return
    _send_back(
        robots, number, owner, bodies, heading, obstacles, planes, begin, end, near, thing_begin, thing_end, things,
        old, state, active, count,
    )  # fmt: skip


@bare_kernel
def _send_back(
    robots: int, number: int, owner: Indices, bodies: Bodies, heading: Floats, obstacles: Obstacles, planes: Floats,
    begin: Indices, end: Indices, near: Indices, thing_begin: Indices, thing_end: Indices, things: Indices,
    old: Floats, state: Flags, active: Indices, count: int,
) -> None:  # fmt: skip
    """Until nobody overlaps more than before the step: whoever does goes back, and may be in another's way there."""
    xyz, facing, radius = bodies.xyz, bodies.facing, bodies.radius
    while True:
        going = 0
        known = count
        for a in range(known):
            i = active[a]
            if state[i] == BACK:
                continue
            x, y, cosine, sine = xyz[i, 0], xyz[i, 1], facing[i, 0], facing[i, 1]
            leaves = False
            for e in range(begin[i], end[i]):
                j = near[e]
                if owner[j] != number:
                    continue
                depth, _, _ = out_of_body(
                    x, y, cosine, sine, i, xyz[j, 0], xyz[j, 1], facing[j, 0], facing[j, 1], j, bodies
                )
                if depth <= TOLERANCE * min(radius[i], radius[j]):
                    continue
                was_x, was_y, was_c, was_s = xyz[j, 0], xyz[j, 1], facing[j, 0], facing[j, 1]
                if j < robots:
                    was_x, was_y, was_c, was_s = old[j, 0], old[j, 1], old[j, 3], old[j, 4]
                before, _, _ = out_of_body(
                    old[i, 0], old[i, 1], old[i, 3], old[i, 4], i, was_x, was_y, was_c, was_s, j, bodies
                )
                if depth > before:
                    leaves = True
                    break
            for e in range(thing_begin[i], thing_end[i]):
                depth, _, _ = out_of_obstacle(x, y, cosine, sine, i, bodies, things[e], obstacles)
                if depth > TOLERANCE * radius[i]:
                    before, _, _ = out_of_obstacle(
                        old[i, 0], old[i, 1], old[i, 3], old[i, 4], i, bodies, things[e], obstacles
                    )
                    if depth > before:
                        leaves = True
                        break
            for p in range(len(planes)):
                beyond = beyond_plane(x, y, cosine, sine, i, bodies, planes[p, 0], planes[p, 1], planes[p, 2])
                if beyond > TOLERANCE * radius[i]:
                    leaves = True
            if leaves:
                going += 1
                state[i] = -BACK  # goes back when everyone has been looked at
        for a in range(known):
            i = active[a]
            if state[i] == -BACK:
                state[i] = BACK
                xyz[i, 0], xyz[i, 1] = old[i, 0], old[i, 1]
                if bodies.shape[i] >= 0:  # disks may turn wherever they are
                    heading[i], facing[i, 0], facing[i, 1] = old[i, 2], old[i, 3], old[i, 4]
                for e in range(begin[i], end[i]):  # who has taken its place is looked at as well
                    j = near[e]
                    if j < robots and owner[j] == number and state[j] == FREE:
                        state[j] = TOUCHING
                        active[count] = j
                        count += 1
        if not going:
            return
