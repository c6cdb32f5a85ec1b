"""`pointmass3d`: quadrotors as point masses that reach the speeds they are told, as fast as their rotors allow.

They fly through each other and through whatever stands in the arena; only the floor and the walls of the arena and
of the engine's region hold them, at all heights. Whoever flies to a place arrives there exactly, without overshoot
if it could: the speed is always one from which it comes to rest at the place.
"""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from robonet.errors import ControllerError, UserError
from robonet.kernels import bare_kernel, rows_kernel
from robonet.robots.noise import NoiseChain
from robonet.robots.regions import planes_of
from robonet.scenario.devices import FLYING, Rotors
from robonet.scenario.engines import EngineSection
from robonet.space import Floats

if TYPE_CHECKING:
    from robonet.robots.world import Group, World

BRAKE = 0.8
"""Part of the acceleration with which quadrotors brake for a place; the rest is for what pushes them aside."""
ROUNDING = 1e-9
"""Who is so near to a wall has arrived at it, and has not hit it."""
HOVER, TO_PLACE, WITH_VELOCITY = 0, 1, 2
"""What rotors can be told."""
SPEED, ACCELERATION, TURN = range(3)
"""Columns of what rotors can do."""

Indices = NDArray[np.int32]
Modes = NDArray[np.int8]
Flags = NDArray[np.bool_]
Triple = tuple[float, float, float]


def rotors_of(group: "Group") -> tuple[str, Rotors] | None:
    """The drive of a group that flies, with its name."""
    for name in FLYING:
        found = getattr(group.devices, name)
        if isinstance(found, Rotors):
            return name, found
    return None


def rotor_limits(world: "World") -> Floats:
    """Greatest speed, acceleration and turning rate of each row; zeros for what does not fly."""
    limits = np.zeros((world.bodies, 3))
    for group in world.groups:
        if (found := rotors_of(group)) is not None:
            rotors = found[1]
            limits[group.rows] = rotors.max_speed_m_s, rotors.max_acceleration_m_s2, rotors.max_turn_rad_s
    return limits


def rotor_noise(world: "World") -> list[tuple[slice, NoiseChain]]:
    """What is wrong with the speeds of each group whose rotors are noisy."""
    found: list[tuple[slice, NoiseChain]] = []
    for group in world.groups:
        drive = rotors_of(group)
        if drive is not None and drive[1].noise and len(group):
            found.append((group.rows, NoiseChain(world, group, drive[0], 3, drive[1].noise)))
    return found


class PointMass3D:
    """Moves the quadrotors of one engine by one step."""

    def __init__(self, world: "World", number: int, settings: EngineSection) -> None:
        self._world, self._number, self._name = world, number, settings.name
        self._planes = planes_of(world, number)
        # The world makes these when first asked: here, not in a step, which may run on a thread beside others.
        self._rotors, self._velocity = world.rotors, world.velocity
        self._limits = rotor_limits(world)
        self._grounded = self._limits[:, SPEED] == 0.0
        self._held = np.zeros(world.bodies, dtype=np.bool_)
        self._going = np.zeros((world.bodies, 3))
        """Velocities without their errors: what the rotors believe."""
        self._noise = rotor_noise(world)
        self._reached = np.zeros((world.bodies, 3)) if self._noise else self._going
        """Velocities with their errors."""
        self._refuse_grounded()

    def step(self) -> None:
        """Move to the next border."""
        world, number, dt = self._world, self._number, self._world.step_s
        self._refuse_grounded()
        bad: list[int] = []

        def steer(first: int, last: int) -> None:
            bad.append(
                _steer(
                    first, last, number, dt, world.owner, world.xyz, world.heading, self._velocity, world.body_m,
                    self._rotors.mode, self._rotors.target, self._limits, self._planes, self._held, self._going,
                )
            )  # fmt: skip

        def move(first: int, last: int) -> None:
            _move(
                first, last, number, dt, world.owner, world.xyz, self._velocity, world.body_m, self._planes,
                self._going, self._reached,
            )  # fmt: skip

        self._in_parts(steer)
        if max(bad) >= 0:
            refuse_order(world, min(row for row in bad if row >= 0), "pointmass3d")
        if self._noise:
            self._reached[:] = self._going
            for rows, chain in self._noise:
                chain.apply(self._reached[rows])
        self._in_parts(move)

    def _in_parts(self, work: Any) -> None:
        """On all threads; several engines have one each, and do all of their work on it."""
        if len(self._world.engines) > 1:
            work(0, self._world.robots)
        else:
            self._world.threads.over_rows(self._world.robots, work)

    def _refuse_grounded(self) -> None:
        world = self._world
        wrong = self._grounded & (world.owner == self._number)
        if wrong.any():
            name = world.names[int(np.flatnonzero(wrong)[0])]
            raise UserError(
                f"'{name}' is in the engine '{self._name}' (pointmass3d) at simulated time {world.time_s:.3f} s, "
                "which moves only quadrotors: give its group or the gate that it crossed another engine"
            )


def refuse_order(world: "World", row: int, engine: str) -> None:
    """Say who was told what is no number."""
    raise ControllerError(
        f"{engine}: '{world.names[row]}' is told to fly with {world.rotors.target[row].tolist()}, which are not all "
        f"numbers, at simulated time {world.time_s:.3f} s; position {world.xyz[row].tolist()} m"
    )


@bare_kernel
def turned(angle: float) -> float:
    """The same angle in (-pi, pi], however many turns it is away."""
    if -math.pi < angle <= math.pi:
        return angle
    angle -= 2 * math.pi * math.floor((angle + math.pi) / (2 * math.pi))
    return angle if angle > -math.pi else math.pi


@bare_kernel
def approach_speed(distance: float, most: float, brake: float, dt: float) -> float:
    """The greatest speed from which one comes to rest after a distance, by steps that are each `brake * dt` slower.

    A step covers its speed times dt. From u units of `brake * dt` the way takes n = floor(u) more steps after the
    first and is (n + 1) u - n (n + 1) / 2 units of `brake * dt * dt`; this is that, solved for u.
    """
    if distance >= 0.5 * most * most / brake + most * dt:
        return most
    way = distance / (brake * dt * dt)
    n = math.floor(0.5 * (math.sqrt(8.0 * way + 1.0) - 1.0))
    return min(most, (way + 0.5 * n * (n + 1.0)) / (n + 1.0) * brake * dt)


@bare_kernel
def is_inside(x: float, y: float, radius: float, planes: Floats) -> bool:
    """Whether a disk is on the allowed side of all planes."""
    least = 0.0
    for p in range(len(planes)):
        least = min(least, planes[p, 0] * x + planes[p, 1] * y - planes[p, 2] - radius)
    return least >= -ROUNDING


@bare_kernel
def inside(x: float, y: float, radius: float, planes: Floats) -> tuple[float, float]:
    """The nearest place to a place at which a disk is on the allowed side of all planes; itself if there is none."""
    if is_inside(x, y, radius, planes):
        return x, y
    for p in range(len(planes)):
        beyond = planes[p, 2] + radius - planes[p, 0] * x - planes[p, 1] * y
        on_x, on_y = x + beyond * planes[p, 0], y + beyond * planes[p, 1]
        if beyond > 0.0 and is_inside(on_x, on_y, radius, planes):
            return on_x, on_y
    best, best_x, best_y = math.inf, x, y
    for p in range(len(planes)):  # a corner then
        for q in range(p):
            across = planes[p, 0] * planes[q, 1] - planes[p, 1] * planes[q, 0]
            if abs(across) < 1e-12:
                continue
            along_p, along_q = planes[p, 2] + radius, planes[q, 2] + radius
            on_x = (along_p * planes[q, 1] - along_q * planes[p, 1]) / across
            on_y = (along_q * planes[p, 0] - along_p * planes[q, 0]) / across
            away = math.sqrt((on_x - x) ** 2 + (on_y - y) ** 2)
            if away < best and is_inside(on_x, on_y, radius, planes):
                best, best_x, best_y = away, on_x, on_y
    return best_x, best_y


@bare_kernel
def wish(
    i: int, dt: float, x: float, y: float, z: float, vx: float, vy: float, vz: float, radius: float,
    mode: Modes, target: Floats, limits: Floats, planes: Floats,
) -> Triple:  # fmt: skip
    """The velocity that a quadrotor has in the next dt, within what its rotors can do."""
    most, change = limits[i, SPEED], limits[i, ACCELERATION] * dt
    wx, wy, wz = 0.0, 0.0, 0.0
    if mode[i] == TO_PLACE:
        to_x, to_y = inside(target[i, 0], target[i, 1], radius, planes)
        dx, dy, dz = to_x - x, to_y - y, max(target[i, 2], 0.0) - z
        distance = math.sqrt(dx * dx + dy * dy + dz * dz)
        if distance > 0.0:
            share = approach_speed(distance, most, BRAKE * limits[i, ACCELERATION], dt) / distance
            wx, wy, wz = dx * share, dy * share, dz * share
    elif mode[i] == WITH_VELOCITY:
        wx, wy, wz = target[i, 0], target[i, 1], target[i, 2]
        speed = math.sqrt(wx * wx + wy * wy + wz * wz)
        if speed > most:
            wx, wy, wz = wx / speed * most, wy / speed * most, wz / speed * most
    ax, ay, az = wx - vx, wy - vy, wz - vz
    wanted = math.sqrt(ax * ax + ay * ay + az * az)
    if wanted <= change:
        return wx, wy, wz
    share = change / wanted
    return vx + ax * share, vy + ay * share, vz + az * share


@bare_kernel
def is_order(i: int, mode: Modes, target: Floats) -> bool:
    """Whether what a quadrotor is told are numbers."""
    return mode[i] == HOVER or math.isfinite(target[i, 0] + target[i, 1] + target[i, 2] + target[i, 3])


@rows_kernel
def _steer(
    first: int, last: int, number: int, dt: float, owner: Indices, xyz: Floats, heading: Floats, velocity: Floats,
    radius: Floats, mode: Modes, target: Floats, limits: Floats, planes: Floats, held: Flags, going: Floats,
) -> int:  # fmt: skip
    """Turn, and choose velocities; the first row that was told what is no number, or -1."""
    bad = -1
    for i in range(first, last):
        if owner[i] != number:
            held[i] = False
            continue
        if not held[i]:
            held[i] = True
            going[i, 0], going[i, 1], going[i, 2] = velocity[i, 0], velocity[i, 1], velocity[i, 2]
        if not is_order(i, mode, target):
            bad = i if bad < 0 else bad
            continue
        going[i, 0], going[i, 1], going[i, 2] = wish(
            i, dt, xyz[i, 0], xyz[i, 1], xyz[i, 2], going[i, 0], going[i, 1], going[i, 2], radius[i],
            mode, target, limits, planes,
        )  # fmt: skip
        turn = 0.0
        if mode[i] == TO_PLACE:
            turn = turned(target[i, 3] - heading[i])
        elif mode[i] == WITH_VELOCITY:
            turn = target[i, 3] * dt
        most = limits[i, TURN] * dt
        heading[i] = turned(heading[i] + min(max(turn, -most), most))
    return bad


@rows_kernel
def _move(
    first: int, last: int, number: int, dt: float, owner: Indices, xyz: Floats, velocity: Floats,
    radius: Floats, planes: Floats, going: Floats, reached: Floats,
) -> None:  # fmt: skip
    """Fly for dt; floor and walls take away the part of a velocity that goes into them, at once."""
    for i in range(first, last):
        if owner[i] != number:
            continue
        vx, vy, vz = reached[i, 0], reached[i, 1], reached[i, 2]
        x, y, z = xyz[i, 0] + vx * dt, xyz[i, 1] + vy * dt, xyz[i, 2] + vz * dt
        if z < -ROUNDING:
            vz, going[i, 2] = max(vz, 0.0), max(going[i, 2], 0.0)
        for p in range(len(planes)):
            nx, ny = planes[p, 0], planes[p, 1]
            if nx * x + ny * y >= planes[p, 2] + radius[i] - ROUNDING:
                continue
            into = min(nx * vx + ny * vy, 0.0)
            vx, vy = vx - into * nx, vy - into * ny
            into = min(nx * going[i, 0] + ny * going[i, 1], 0.0)
            going[i, 0], going[i, 1] = going[i, 0] - into * nx, going[i, 1] - into * ny
        x, y = inside(x, y, radius[i], planes)
        z = max(z, 0.0)
        xyz[i, 0], xyz[i, 1], xyz[i, 2] = x, y, z
        velocity[i, 0], velocity[i, 1], velocity[i, 2] = vx, vy, vz
