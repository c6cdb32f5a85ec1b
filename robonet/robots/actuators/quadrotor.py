"""`quadrotor_position`, `quadrotor_velocity`: where rotors bring a robot, or how fast; the engine does the flying."""

import math

import numpy as np

from robonet.robots.world import Group, World
from robonet.scenario import devices
from robonet.space import Floats

Value = float | Floats

PLACE, VELOCITY = 1, 2
"""Modes of `world.rotors`."""
ROUNDING = 1.0 + 1e-9
"""So that a direction times the greatest speed is not refused for its last digit."""


def _columns(count: int, values: tuple[Value, ...]) -> Floats:
    """Arrays or single numbers as the columns of one table."""
    table = np.empty((count, len(values)))
    for column, value in enumerate(values):
        table[:, column] = value
    return table


class QuadrotorPosition:
    """The rotors of a group; targets hold until they are set again."""

    def __init__(self, world: World, group: Group, settings: devices.Rotors) -> None:
        self._world, self._rows, self._count = world, group.rows, len(group)
        self.max_speed_m_s = settings.max_speed_m_s
        """How fast it gets there at most."""

    def fly_to(self, x_m: Value, y_m: Value, z_m: Value, yaw_rad: Value = 0.0) -> None:
        """Fly to points in the world's frame (z of the underside), as arrays or one for all."""
        wanted = _columns(self._count, (x_m, y_m, z_m, yaw_rad))
        fits = np.isfinite(wanted).all(axis=1)
        if not fits.all():
            wrong = int(np.flatnonzero(~fits)[0])
            name = self._world.names[self._rows.start + wrong]
            raise ValueError(f"targets must be finite; '{name}' was told {wanted[wrong].tolist()}")
        rotors = self._world.rotors
        rotors.target[self._rows] = wanted
        rotors.mode[self._rows] = PLACE

    def one(self, number: int) -> "OneQuadrotorPosition":
        """The rotors of one robot."""
        return OneQuadrotorPosition(self._world, self._rows.start + number)


class OneQuadrotorPosition:
    """The rotors of one robot; the target holds until it is set again."""

    __slots__ = ("_modes", "_row", "_target")

    def __init__(self, world: World, row: int) -> None:
        self._modes, self._row = world.rotors.mode.data, row
        self._target = world.rotors.target[row].data  # numbers are written faster this way than into an array

    def fly_to(self, x_m: float, y_m: float, z_m: float, yaw_rad: float = 0.0) -> None:
        """Fly to a point in the world's frame (z of the underside)."""
        if not abs(x_m) + abs(y_m) + abs(z_m) + abs(yaw_rad) < math.inf:
            raise ValueError(f"targets must be finite: {x_m}, {y_m}, {z_m} m, yaw {yaw_rad} rad")
        target = self._target
        target[0] = x_m
        target[1] = y_m
        target[2] = z_m
        target[3] = yaw_rad
        self._modes[self._row] = PLACE


class QuadrotorVelocity:
    """The rotors of a group; velocities hold until they are set again."""

    def __init__(self, world: World, group: Group, settings: devices.Rotors) -> None:
        self._world, self._rows, self._count = world, group.rows, len(group)
        self.max_speed_m_s = settings.max_speed_m_s
        """More cannot be asked for, in any direction."""
        self.max_turn_rad_s = settings.max_turn_rad_s
        """More cannot be asked for."""

    def set_velocity(self, x_m_s: Value, y_m_s: Value, z_m_s: Value, yaw_rad_s: Value = 0.0) -> None:
        """Fly with velocities in the world's frame, as arrays or one for all."""
        wanted = _columns(self._count, (x_m_s, y_m_s, z_m_s, yaw_rad_s))
        squared = (wanted[:, :3] ** 2).sum(axis=1)
        fits = (squared <= (self.max_speed_m_s * ROUNDING) ** 2) & (np.abs(wanted[:, 3]) <= self.max_turn_rad_s)
        if not fits.all():
            wrong = int(np.flatnonzero(~fits)[0])
            name = self._world.names[self._rows.start + wrong]
            raise ValueError(
                f"velocities must be finite and up to {self.max_speed_m_s:g} m/s and {self.max_turn_rad_s:g} rad/s; "
                f"'{name}' was told {wanted[wrong].tolist()}"
            )
        rotors = self._world.rotors
        rotors.target[self._rows] = wanted
        rotors.mode[self._rows] = VELOCITY

    def one(self, number: int) -> "OneQuadrotorVelocity":
        """The rotors of one robot."""
        return OneQuadrotorVelocity(self, self._world, self._rows.start + number)


class OneQuadrotorVelocity:
    """The rotors of one robot; the velocity holds until it is set again."""

    __slots__ = ("_modes", "_row", "_squared", "_target", "max_speed_m_s", "max_turn_rad_s")

    def __init__(self, group: QuadrotorVelocity, world: World, row: int) -> None:
        self._modes, self._row = world.rotors.mode.data, row
        self._target = world.rotors.target[row].data  # numbers are written faster this way than into an array
        self.max_speed_m_s, self.max_turn_rad_s = group.max_speed_m_s, group.max_turn_rad_s
        self._squared = (group.max_speed_m_s * ROUNDING) ** 2

    def set_velocity(self, x_m_s: float, y_m_s: float, z_m_s: float, yaw_rad_s: float = 0.0) -> None:
        """Fly with a velocity in the world's frame."""
        most = self.max_turn_rad_s
        if not (x_m_s * x_m_s + y_m_s * y_m_s + z_m_s * z_m_s <= self._squared and -most <= yaw_rad_s <= most):
            raise ValueError(
                f"velocities must be finite and up to {self.max_speed_m_s:g} m/s and {most:g} rad/s: "
                f"{x_m_s}, {y_m_s}, {z_m_s} m/s, {yaw_rad_s} rad/s"
            )
        target = self._target
        target[0] = x_m_s
        target[1] = y_m_s
        target[2] = z_m_s
        target[3] = yaw_rad_s
        self._modes[self._row] = VELOCITY
