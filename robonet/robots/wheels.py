"""The wheels of one robot, or of a whole group."""

import math

import numpy as np

from robonet.robots.world import World
from robonet.space import Floats

Speed = float | Floats


class Wheels:
    """Speeds hold until they are set again."""

    def __init__(self, world: World, rows: int | slice) -> None:
        self._left, self._right = world.left_m_s, world.right_m_s
        self._distance_m = float(world.wheel_distance_m[rows if isinstance(rows, int) else rows.start])
        self._rows = rows

    def set_speed(self, left_m_s: Speed, right_m_s: Speed) -> None:
        """Set the speed of the left and the right wheel over the ground; for a group also as arrays."""
        self._check(left_m_s, right_m_s)
        self._left[self._rows] = left_m_s
        self._right[self._rows] = right_m_s

    def set_velocity(self, forward_m_s: Speed, turn_rad_s: Speed = 0.0) -> None:
        """Set the speed of the body and how fast it turns, counter-clockwise; for a group also as arrays."""
        if isinstance(forward_m_s, (int, float)) and isinstance(turn_rad_s, (int, float)):
            difference = 0.5 * turn_rad_s * self._distance_m
            self.set_speed(forward_m_s - difference, forward_m_s + difference)
        else:
            differences = np.asarray(turn_rad_s) * (0.5 * self._distance_m)
            self.set_speed(np.asarray(forward_m_s) - differences, np.asarray(forward_m_s) + differences)

    def _check(self, left_m_s: Speed, right_m_s: Speed) -> None:
        if isinstance(left_m_s, (int, float)) and isinstance(right_m_s, (int, float)):
            if not (math.isfinite(left_m_s) and math.isfinite(right_m_s)):
                raise ValueError(f"wheel speeds must be finite numbers, got {left_m_s} and {right_m_s}")
            return
        finite = np.isfinite(left_m_s) & np.isfinite(right_m_s)
        if not finite.all():
            which = int(np.argmin(finite))
            raise ValueError(f"wheel speeds must be finite numbers; that of robot {which} of the group is not")
