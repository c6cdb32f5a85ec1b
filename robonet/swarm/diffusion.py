"""`diffusion`: go straight; when something is near, turn away from it (the rule of ARGoS' diffusion example)."""

import math

import numpy as np

from robonet.robots.controllers import SwarmController


class Diffusion(SwarmController):
    """Spreads a group through the arena.

    The rays add up to a vector towards what is near. A robot drives straight while the vector is short or
    points behind it, and turns on the spot, away from the obstacle, otherwise.
    """

    def start(  # type: ignore[override]
        self, speed_m_s: float = 0.1, free_angle_deg: float = 7.5, threshold: float = 0.1
    ) -> None:
        """Set the speed, the half angle ahead that must be free, and how near is too near."""
        self._speed_m_s = speed_m_s
        self._free_angle_rad = math.radians(free_angle_deg)
        self._threshold = threshold
        self._cos = np.cos(self.proximity.angles_rad)
        self._sin = np.sin(self.proximity.angles_rad)

    def step(self) -> None:
        """Look, then drive or turn."""
        values = self.proximity.values
        ahead, left = values @ self._cos / len(self._cos), values @ self._sin / len(self._sin)
        is_free = (np.hypot(ahead, left) < self._threshold / len(self._cos)) | (ahead < 0.0)
        speed = self._speed_m_s
        left_wheel = np.where(is_free, speed, np.where(left > 0.0, speed, -speed))
        right_wheel = np.where(is_free, speed, -left_wheel)
        self.wheels.set_speed(left_wheel, right_wheel)
