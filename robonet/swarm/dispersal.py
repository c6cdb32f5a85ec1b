"""`dispersal`: turn to where there is most room and go there while the way is free (the rule of Stage's benchmark)."""

import math

import numpy as np

from robonet.errors import UserError
from robonet.kernels import rows_kernel
from robonet.robots.controllers import SwarmController
from robonet.robots.sensors.range_finders import RangeFinder
from robonet.space import Floats

SENSORS = ("sonar", "proximity", "laser")
"""What it can look with; the first that is carried is taken."""
CANCELLED = 1e-9
"""Rays whose sum is a smaller share of their range than this point nowhere: all that is left of it is rounding."""


class Dispersal(SwarmController):
    """Spreads a group until nobody has anything in reach.

    The rays add up, each as long as it reads, to a vector towards the open (Vaughan, "Massively multi-robot
    simulation in Stage", 2008, section 6.1). A robot turns towards it, and drives while it is about ahead and no
    ray ahead is short; with nothing in reach it goes straight on.
    """

    def start(  # type: ignore[override]
        self,
        speed_m_s: float = 0.3,
        turn_per_s: float = 1.0,
        alpha_deg: float = 30.0,
        clear_m: float = 0.5,
        sensor: str | None = None,
    ) -> None:
        """Set the speed, the share of the angle turned in a second, and what is about ahead and a free way.

        `clear_m` is asked of the ray straight ahead and less of those to its sides; never more than the range.
        """
        self._eyes = self._chosen(sensor)
        angles = self._eyes.angles_rad
        self._directions = np.stack((np.cos(angles), np.sin(angles)), axis=1)
        least = np.minimum(clear_m, self._eyes.range_m)
        self._least_m = least * np.maximum(self._directions[:, 0], 0.0) ** 2
        self._speed_m_s, self._turn_per_s, self._narrow = speed_m_s, turn_per_s, math.radians(alpha_deg)
        self._half_m = 0.5 * self.wheels.wheel_distance_m
        self._left, self._right = np.zeros(len(self)), np.zeros(len(self))

    def _chosen(self, sensor: str | None) -> RangeFinder:
        carried = self._devices.names()
        wanted = SENSORS if sensor is None else (sensor,)
        for name in wanted:
            if name in SENSORS and name in carried:
                eyes: RangeFinder = self._devices.get(name)
                return eyes
        raise UserError(f"dispersal needs {' or '.join(wanted)}; the robot carries: {', '.join(carried)}")

    def step(self) -> None:
        """Look, then turn and drive."""
        distances = self._eyes.distances_m

        def decide(first: int, last: int) -> None:
            _decide(
                first, last, distances, self._eyes.range_m, self._directions, self._least_m,
                self._speed_m_s, self._turn_per_s, self._narrow, self._half_m, self._left, self._right,
            )  # fmt: skip

        self._world.threads.over_rows(len(self), decide)
        self.wheels.set_speed(self._left, self._right)


@rows_kernel
def _decide(
    first: int, last: int, distances: Floats, reach: float, directions: Floats, least: Floats,
    speed: float, turn_per_s: float, narrow: float, half: float, left: Floats, right: Floats,
) -> None:  # fmt: skip
    rays = len(directions)
    for i in range(first, last):
        ahead, aside, is_free = 0.0, 0.0, True
        for a in range(rays):
            ahead += distances[i, a] * directions[a, 0]
            aside += distances[i, a] * directions[a, 1]
            is_free = is_free and distances[i, a] >= least[a]
        angle = 0.0
        if abs(ahead) + abs(aside) > CANCELLED * reach * rays:
            angle = math.atan2(aside, ahead)
        turn = turn_per_s * angle * half
        forward = speed if is_free and abs(angle) < narrow else 0.0
        left[i], right[i] = forward - turn, forward + turn
