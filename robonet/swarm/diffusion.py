"""`diffusion`: go straight; when something is near, turn away from it (the rule of ARGoS' diffusion example)."""

import math

import numpy as np

from robonet.robots.controllers import SwarmController


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
        self._alpha_rad = math.radians(alpha_deg)
        self._delta = delta
        self._cos, self._sin = np.cos(self.proximity.angles_rad), np.sin(self.proximity.angles_rad)

    def step(self) -> None:
        """Look, then drive or turn."""
        values = self.proximity.values
        ahead, left = (values * self._cos).mean(axis=1), (values * self._sin).mean(axis=1)
        angle = np.arctan2(left, ahead)
        goes_straight = (np.abs(angle) <= self._alpha_rad) & (np.hypot(ahead, left) < self._delta)
        speed = self._speed_m_s
        left_wheel = np.where(goes_straight | (angle > 0.0), speed, 0.0)
        right_wheel = np.where(goes_straight | (angle <= 0.0), speed, 0.0)
        self.wheels.set_speed(left_wheel, right_wheel)
