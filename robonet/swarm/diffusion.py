"""`diffusion`: go straight; when something is near, turn away from it (the rule of ARGoS' diffusion example)."""

import math

import numpy as np
from numpy.typing import NDArray

from robonet.kernels import rows_kernel
from robonet.robots.controllers import SwarmController
from robonet.robots.sensors.range_finders import response
from robonet.space import Floats


class Diffusion(SwarmController):
    """Spreads a group through the arena.

    The readings of the rays add up to a vector towards what is near. A robot drives straight while that vector
    is short and points ahead within a small angle, and otherwise turns about one wheel, away from the vector.
    """

    def start(  # type: ignore[override]
        self, speed_m_s: float = 0.05, alpha_deg: float = 7.5, delta: float = 0.1
    ) -> None:
        """Set the speed, the angle within which and the length up to which the vector does not matter."""
        self._speed_m_s = speed_m_s
        self._narrow = math.cos(math.radians(alpha_deg))
        self._delta = delta
        angles = self.proximity.angles_rad
        self._directions = np.stack((np.cos(angles), np.sin(angles)), axis=1)
        self._left, self._right = np.zeros(len(self)), np.zeros(len(self))

    def step(self) -> None:
        """Look, then drive or turn."""
        proximity = self.proximity
        distances_m, may_hit = proximity.distances_m, proximity.may_hit
        self._world.threads.over_rows(
            len(self),
            lambda first, last: _decide(
                first, last, distances_m, may_hit, proximity.range_m, proximity.is_linear, self._directions,
                self._speed_m_s, self._narrow, self._delta, self._left, self._right,
            ),
        )  # fmt: skip
        self.wheels.set_speed(self._left, self._right)


@rows_kernel
def _decide(
    first: int, last: int, distances: Floats, may_hit: NDArray[np.bool_], reach: float, linear: bool,
    directions: Floats,
    speed: float, narrow: float, delta: float, left: Floats, right: Floats,
) -> None:  # fmt: skip
    rays = len(directions)
    for i in range(first, last):
        left[i] = right[i] = speed
        if not may_hit[i]:
            continue
        ahead, aside = 0.0, 0.0
        for a in range(rays):
            if distances[i, a] < reach:
                value = response(distances[i, a], reach, linear)
                ahead += value * directions[a, 0]
                aside += value * directions[a, 1]
        if ahead == 0.0 and aside == 0.0:
            continue
        ahead, aside = ahead / rays, aside / rays
        length = math.sqrt(ahead * ahead + aside * aside)
        if ahead < narrow * length or length >= delta:
            if aside > 0.0:
                right[i] = 0.0
            else:
                left[i] = 0.0
