"""The wheels of one robot, or of a whole group."""

import numpy as np

from robonet.robots.world import World
from robonet.space import Floats

Speed = float | Floats
FASTEST_M_S = 100.0
"""More is a mistake, and would cut a step into very many."""


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
            if not (abs(left_m_s) <= FASTEST_M_S and abs(right_m_s) <= FASTEST_M_S):
                raise ValueError(f"wheel speeds must be finite and up to {FASTEST_M_S:g} m/s: {left_m_s}, {right_m_s}")
            return
        good = (np.abs(left_m_s) <= FASTEST_M_S) & (np.abs(right_m_s) <= FASTEST_M_S)
        if not good.all():
            which = int(np.argmin(good))
            raise ValueError(f"wheel speeds must be finite and up to {FASTEST_M_S:g} m/s; robot {which} of the group")
