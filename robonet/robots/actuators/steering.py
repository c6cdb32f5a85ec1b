"""`steering`: driven wheels behind and steered ones in front, of one robot or of a whole group."""

import math

import numpy as np

from robonet.robots.noise import SpeedNoise
from robonet.robots.world import Group, World
from robonet.scenario import devices
from robonet.space import Floats

Value = float | Floats


class Steering:
    """The cars of a group; speeds and angles hold until they are set again.

    The body's centre goes as the middle of the rear axle would: forward, on the circle that the wheelbase and the
    angle of the front wheels give.
    """

    def __init__(self, world: World, group: Group, settings: devices.Steering) -> None:
        self._world, self._rows, self._count = world, group.rows, len(group)
        self.wheelbase_m = settings.wheelbase_m
        """Distance between the axles."""
        self.max_speed_m_s = settings.max_speed_m_s
        """More cannot be asked for."""
        self.max_steering_rad = math.radians(settings.max_steering_deg)
        """How far the front wheels turn; they stop there when they are told to turn farther."""
        if settings.noise:
            SpeedNoise(world, group, "steering", settings.noise, turns_along=True)

    def set(self, speed_m_s: Value, steering_rad: Value = 0.0) -> None:
        """Set the speed and the angle of the front wheels, counter-clockwise, as arrays or one for all."""
        speed = np.broadcast_to(np.asarray(speed_m_s, dtype=np.float64), self._count)
        angle = np.broadcast_to(np.asarray(steering_rad, dtype=np.float64), self._count)
        fits = (np.abs(speed) <= self.max_speed_m_s) & np.isfinite(angle)
        if not fits.all():
            wrong = int(np.flatnonzero(~fits)[0])
            name = self._world.names[self._rows.start + wrong]
            raise ValueError(
                f"speeds must be finite and up to {self.max_speed_m_s:g} m/s, and angles finite; '{name}' was "
                f"told {speed[wrong]} m/s and {angle[wrong]} rad"
            )
        twist = self._world.intended[self._rows]
        twist[:, 0] = speed
        turned = np.clip(angle, -self.max_steering_rad, self.max_steering_rad)
        twist[:, 2] = speed * np.tan(turned) / self.wheelbase_m

    def one(self, number: int) -> "OneCar":
        """One robot's drive."""
        return OneCar(self, self._world.intended[self._rows.start + number].data)


class OneCar:
    """The drive of one robot; speed and angle hold until they are set again."""

    __slots__ = ("_twist", "max_speed_m_s", "max_steering_rad", "wheelbase_m")

    def __init__(self, cars: Steering, twist: "memoryview[float]") -> None:
        self._twist = twist  # numbers are written faster this way than into an array
        self.wheelbase_m = cars.wheelbase_m
        """Distance between the axles."""
        self.max_speed_m_s = cars.max_speed_m_s
        """More cannot be asked for."""
        self.max_steering_rad = cars.max_steering_rad
        """How far the front wheels turn; they stop there when they are told to turn farther."""

    def set(self, speed_m_s: float, steering_rad: float = 0.0) -> None:
        """Set the speed and the angle of the front wheels, counter-clockwise."""
        most = self.max_speed_m_s
        if not (-most <= speed_m_s <= most and -math.inf < steering_rad < math.inf):
            raise ValueError(
                f"speeds must be finite and up to {most:g} m/s, and angles finite: {speed_m_s} m/s, {steering_rad} rad"
            )
        farthest = self.max_steering_rad
        angle = min(max(steering_rad, -farthest), farthest)
        self._twist[0] = speed_m_s
        self._twist[2] = speed_m_s * math.tan(angle) / self.wheelbase_m
