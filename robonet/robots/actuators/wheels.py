"""`wheels`: two wheels on one axle, of one robot or of a whole group."""

import numpy as np

from robonet.kernels import rows_kernel
from robonet.robots.noise import MotorNoise
from robonet.robots.world import Group, World
from robonet.scenario import devices
from robonet.space import Floats

Speed = float | Floats


class Wheels:
    """The motors of a group; speeds hold until they are set again."""

    def __init__(self, world: World, group: Group, settings: devices.Wheels) -> None:
        self._world = world
        self._first, self._count = group.rows.start, len(group)
        self.wheel_distance_m = settings.wheel_distance_m
        """Distance between the two wheels."""
        self.max_speed_m_s = settings.max_speed_m_s
        """More cannot be asked for."""
        if settings.noise:
            MotorNoise(world, group, settings)

    def set_speed(self, left_m_s: Speed, right_m_s: Speed) -> None:
        """Set the speed of the left and the right wheels over the ground, as arrays or one for all."""
        left, right = self._for_all(left_m_s), self._for_all(right_m_s)
        wrong = _set_wheels(
            0, self._count, self._first, left, right, self.wheel_distance_m, self.max_speed_m_s, self._world.intended
        )
        if wrong >= 0:
            name = self._world.names[self._first + wrong]
            raise ValueError(
                f"wheel speeds must be finite and up to {self.max_speed_m_s:g} m/s; '{name}' "
                f"was told {left[wrong]} and {right[wrong]}"
            )

    def _for_all(self, speed: Speed) -> Floats:
        """A speed for each robot, without ado where it is one already."""
        speeds = np.asarray(speed, dtype=np.float64)
        return speeds if speeds.shape == (self._count,) else np.broadcast_to(speeds, self._count)

    def set_velocity(self, forward_m_s: Speed, turn_rad_s: Speed = 0.0) -> None:
        """Set the speed of the bodies and how fast they turn, counter-clockwise, as arrays or one for all."""
        difference = np.asarray(turn_rad_s) * (0.5 * self.wheel_distance_m)
        self.set_speed(np.asarray(forward_m_s) - difference, np.asarray(forward_m_s) + difference)

    def one(self, number: int) -> "OnePairOfWheels":
        """The wheels of one robot."""
        return OnePairOfWheels(self._world, self._first + number, self.wheel_distance_m, self.max_speed_m_s)


class OnePairOfWheels:
    """The motors of one robot; speeds hold until they are set again."""

    __slots__ = ("_max", "_twist", "wheel_distance_m")

    def __init__(self, world: World, row: int, distance_m: float, max_m_s: float) -> None:
        self._twist = world.intended[row].data  # a memoryview, faster to write than an array
        self._max = max_m_s
        self.wheel_distance_m = distance_m

    def set_speed(self, left_m_s: float, right_m_s: float) -> None:
        """Set the speed of the left and the right wheel over the ground."""
        if not (-self._max <= left_m_s <= self._max and -self._max <= right_m_s <= self._max):
            raise ValueError(f"wheel speeds must be finite and up to {self._max:g} m/s: {left_m_s}, {right_m_s}")
        self._twist[0] = 0.5 * (left_m_s + right_m_s)
        self._twist[2] = (right_m_s - left_m_s) / self.wheel_distance_m

    def set_velocity(self, forward_m_s: float, turn_rad_s: float = 0.0) -> None:
        """Set the speed of the body and how fast it turns, counter-clockwise."""
        difference = 0.5 * turn_rad_s * self.wheel_distance_m
        self.set_speed(forward_m_s - difference, forward_m_s + difference)


@rows_kernel
def _set_wheels(
    first: int, last: int, offset: int, left: Floats, right: Floats, distance: float, most: float, twist: Floats
) -> int:
    """Write the twists of some robots; the first that cannot be, or -1: then none is written."""
    for i in range(first, last):
        if not (abs(left[i]) <= most and abs(right[i]) <= most):
            return i
    for i in range(first, last):
        twist[offset + i, 0] = 0.5 * (left[i] + right[i])
        twist[offset + i, 2] = (right[i] - left[i]) / distance
    return -1
