"""`omni`: wheels that go in every direction, of one robot or of a whole group."""

import math

import numpy as np

from robonet.robots.noise import SpeedNoise
from robonet.robots.world import Group, World
from robonet.scenario import devices
from robonet.space import Floats

Speed = float | Floats
ROUNDING = 1.0 + 1e-9
"""So that a direction times the greatest speed is not refused for its last digit."""


class Omni:
    """The motors of a group; speeds hold until they are set again."""

    def __init__(self, world: World, group: Group, settings: devices.Omni) -> None:
        self._world, self._rows, self._count = world, group.rows, len(group)
        self.max_speed_m_s = settings.max_speed_m_s
        """More cannot be asked for, in any direction."""
        if settings.noise:
            SpeedNoise(world, group, "omni", settings.noise, turns_along=False)

    def set_velocity(self, forward_m_s: Speed, left_m_s: Speed, turn_rad_s: Speed = 0.0) -> None:
        """Set the speeds forward and to the left, and how fast to turn, as arrays or one for all."""
        forward, left, turn = (
            np.broadcast_to(np.asarray(value, dtype=np.float64), self._count)
            for value in (forward_m_s, left_m_s, turn_rad_s)
        )
        fits = (forward * forward + left * left <= (self.max_speed_m_s * ROUNDING) ** 2) & np.isfinite(turn)
        if not fits.all():
            wrong = int(np.flatnonzero(~fits)[0])
            name = self._world.names[self._rows.start + wrong]
            raise ValueError(
                f"speeds must be finite and up to {self.max_speed_m_s:g} m/s; '{name}' "
                f"was told {forward[wrong]}, {left[wrong]} and to turn by {turn[wrong]} rad/s"
            )
        twist = self._world.intended[self._rows]
        twist[:, 0], twist[:, 1], twist[:, 2] = forward, left, turn

    def one(self, number: int) -> "OneOmni":
        """The motors of one robot."""
        return OneOmni(self._world, self._rows.start + number, self.max_speed_m_s)


class OneOmni:
    """The motors of one robot; speeds hold until they are set again."""

    __slots__ = ("_squared", "_twist", "max_speed_m_s")

    def __init__(self, world: World, row: int, max_m_s: float) -> None:
        self._twist = world.intended[row].data  # numbers are written faster this way than into an array
        self._squared = (max_m_s * ROUNDING) ** 2
        self.max_speed_m_s = max_m_s

    def set_velocity(self, forward_m_s: float, left_m_s: float, turn_rad_s: float = 0.0) -> None:
        """Set the speeds forward and to the left, and how fast to turn, counter-clockwise."""
        if not (forward_m_s * forward_m_s + left_m_s * left_m_s <= self._squared and -math.inf < turn_rad_s < math.inf):
            raise ValueError(
                f"speeds must be finite and up to {self.max_speed_m_s:g} m/s: "
                f"{forward_m_s}, {left_m_s} and to turn by {turn_rad_s} rad/s"
            )
        twist = self._twist
        twist[0] = forward_m_s
        twist[1] = left_m_s
        twist[2] = turn_rad_s
