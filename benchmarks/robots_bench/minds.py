"""Controllers in plain Python, one object a robot, as a user would write them; and those that talk."""

import math
from collections.abc import Callable

import numpy as np

import robonet
from robonet.swarm.diffusion import Diffusion as DiffusionSwarm

PAYLOAD = bytes(range(10))


def diffusion_rule(angles_rad: list[float], range_m: float) -> Callable[[list[float]], tuple[float, float]]:
    """ARGoS' diffusion, with distances instead of its sensors' response: speeds of the wheels by readings."""
    directions = [(math.cos(angle), math.sin(angle)) for angle in angles_rad]
    rays, narrow, speed = len(directions), math.cos(math.radians(7.5)), 0.05

    def decide(distances_m: list[float]) -> tuple[float, float]:
        if min(distances_m) >= range_m:
            return speed, speed
        ahead = aside = 0.0
        for distance_m, (cosine, sine) in zip(distances_m, directions, strict=True):
            if distance_m < range_m:
                value = 1.0 - distance_m / range_m
                ahead += value * cosine
                aside += value * sine
        length = math.hypot(ahead, aside)
        if ahead >= narrow * length and length < 0.1 * rays:
            return speed, speed
        return (speed, 0.0) if aside > 0.0 else (0.0, speed)

    return decide


def dispersal_rule(
    angles_rad: list[float], range_m: float, wheel_distance_m: float
) -> Callable[[list[float]], tuple[float, float]]:
    """Towards the open: speeds of the wheels by readings."""
    directions = [(math.cos(angle), math.sin(angle)) for angle in angles_rad]
    least_m = [min(0.5, range_m) * max(cosine, 0.0) ** 2 for cosine, _ in directions]
    speed, narrow, half = 0.3, math.radians(30.0), 0.5 * wheel_distance_m

    def decide(distances_m: list[float]) -> tuple[float, float]:
        ahead = aside = 0.0
        is_free = True
        for distance_m, (cosine, sine), least in zip(distances_m, directions, least_m, strict=True):
            ahead += distance_m * cosine
            aside += distance_m * sine
            if distance_m < least:
                is_free = False
        angle = math.atan2(aside, ahead) if abs(ahead) + abs(aside) > 1e-9 else 0.0
        forward = speed if is_free and abs(angle) < narrow else 0.0
        return forward - angle * half, forward + angle * half

    return decide


class Empty(robonet.Controller):
    """Does nothing: what it costs to be asked."""

    def step(self) -> None:
        """Nothing."""


class Diffusion(robonet.Controller):
    """ARGoS' rule."""

    def start(self) -> None:
        """Prepare the rule."""
        self.decide = diffusion_rule(list(self.proximity.angles_rad), self.proximity.range_m)

    def step(self) -> None:
        """Look, then drive or turn."""
        left, right = self.decide(self.proximity.distances_m)
        self.wheels.set_speed(left, right)


class Dispersal(robonet.Controller):
    """Stage's rule, with whatever looks far."""

    def start(self) -> None:
        """Prepare the rule."""
        carried = self._devices.names()
        self.eyes = self.laser if "laser" in carried else self.sonar
        self.decide = dispersal_rule(list(self.eyes.angles_rad), self.eyes.range_m, self.wheels.wheel_distance_m)

    def step(self) -> None:
        """Look, then turn and drive."""
        left, right = self.decide(self.eyes.distances_m)
        self.wheels.set_speed(left, right)


class Talking(Diffusion):
    """The same, and everyone sends, and sums up how far those are whom it hears."""

    def step(self) -> None:
        """Send, listen, drive."""
        self.range_and_bearing.send(PAYLOAD)
        self.heard_m = sum(heard.range_m for heard in self.range_and_bearing.receive())
        super().step()


class TalkingSwarm(DiffusionSwarm):
    """The same for all at once."""

    def step(self) -> None:
        """Send, listen, drive."""
        self.range_and_bearing.send(PAYLOAD)
        self.heard_m = float(np.sum(self.range_and_bearing.ranges_m))
        super().step()
