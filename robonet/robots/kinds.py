"""The robots that can be named: geometry and devices as published for the real machines."""

import math
from typing import NamedTuple

import numpy as np

from robonet.space import Floats


class RobotKind(NamedTuple):
    """A differential-drive robot with a ring of proximity sensors."""

    radius_m: float
    wheel_distance_m: float
    proximity_angles_rad: tuple[float, ...]
    """Directions of the rays, counter-clockwise from straight ahead."""
    proximity_range_m: float
    """Reach of a ray beyond the body."""

    @property
    def angles_rad(self) -> Floats:
        """The directions as an array."""
        return np.array(self.proximity_angles_rad)


def _ring(count: int) -> tuple[float, ...]:
    """Rays at equal angles, symmetric about straight ahead."""
    return tuple((i + 0.5) * 2 * math.pi / count for i in range(count))


FOOT_BOT = RobotKind(0.085, 0.14, _ring(24), 0.1)
E_PUCK = RobotKind(0.035, 0.053, tuple(math.radians(a) for a in (17, 47, 90, 150, 210, 270, 313, 343)), 0.1)
