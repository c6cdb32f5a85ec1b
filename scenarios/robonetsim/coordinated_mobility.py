"""Coordinated mobility (RoboNetSim, section 6): who leads, who follows, and how far off the follower is.

The master says once a second where it is going, as an offset from where it began; the slave goes to the same offset
from its own beginning. Nothing else is said, and nothing is acknowledged.
"""

import math
import struct
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

import robonet

OFFSET = struct.Struct("!2d")
"""What a message holds: east and north of where the master began, in metres."""
QUANTILES = (1, 5, 10, 25, 50, 75, 90, 95, 99)


class Leg(NamedTuple):
    """A straight walk, which ends at a time."""

    from_m: tuple[float, float]
    to_m: tuple[float, float]
    begins_s: float
    ends_s: float

    def at(self, time_s: float) -> tuple[float, float]:
        """Where one is at a time."""
        share = min(max((time_s - self.begins_s) / (self.ends_s - self.begins_s), 0.0), 1.0)
        return (
            self.from_m[0] + share * (self.to_m[0] - self.from_m[0]),
            self.from_m[1] + share * (self.to_m[1] - self.from_m[1]),
        )


def random_waypoints(
    rng: np.random.Generator, start_m: tuple[float, float], area_m: tuple[float, float], speed_m_s: float
) -> Iterator[Leg]:
    """Legs to random points of an area around the start, one after the other without a pause.

    Points and times come from the random numbers alone: whatever the step, one is at the same place at the same time.
    """
    here_m, time_s = start_m, 0.0
    while True:
        east, north = rng.uniform(-0.5, 0.5, 2)
        to_m = (start_m[0] + east * area_m[0], start_m[1] + north * area_m[1])
        leg = Leg(here_m, to_m, time_s, time_s + max(math.dist(here_m, to_m) / speed_m_s, 1e-9))
        yield leg
        here_m, time_s = to_m, leg.ends_s


class _Walker(robonet.Controller):
    """Somebody who knows where it began and can go straight to a point."""

    def _begin(self, speed_m_s: float) -> None:
        self.home_m = self.positioning.position_m
        self.speed_m_s = speed_m_s

    def go_to(self, x_m: float, y_m: float) -> None:
        """Towards a point for one step, at no more than its own speed; what is near is reached exactly."""
        here_x_m, here_y_m = self.positioning.position_m
        east, north = (x_m - here_x_m) / self.step_s, (y_m - here_y_m) / self.step_s
        speed = math.hypot(east, north)
        if speed > self.speed_m_s:
            east, north = east * self.speed_m_s / speed, north * self.speed_m_s / speed
        heading = self.positioning.heading_rad
        cos, sin = math.cos(heading), math.sin(heading)
        self.omni.set_velocity(cos * east + sin * north, cos * north - sin * east)


class Master(_Walker):
    """Walks from one random point of its area to the next, and tells the slave about it."""

    def start(
        self,
        speed_m_s: float = 10.0,
        area_m: tuple[float, float] = (248.0, 498.0),
        every_s: float = 1.0,
        to: str = "slave",
    ) -> None:
        self._begin(speed_m_s)
        self._to, self._every_s, self._told = to, every_s, 0
        self._legs = random_waypoints(self.rng, self.home_m, area_m, speed_m_s)
        self.leg = next(self._legs)

    def step(self) -> None:
        self._walk_on(self.time_s)
        if self.time_s >= self._told * self._every_s - 1e-9:
            self._told += 1
            to_m = self.leg.to_m
            self.radio.send(self._to, OFFSET.pack(to_m[0] - self.home_m[0], to_m[1] - self.home_m[1]))
        end_s = self.time_s + self.step_s
        self._walk_on(end_s)
        self.go_to(*self.leg.at(end_s))

    def _walk_on(self, time_s: float) -> None:
        while self.leg.ends_s <= time_s:
            self.leg = next(self._legs)


class Slave(_Walker):
    """Goes to the newest destination that it heard, and stays there."""

    def start(self, speed_m_s: float = 10.0) -> None:
        self._begin(speed_m_s)
        self.target_m = self.home_m
        self._heard_ns = -1

    def step(self) -> None:
        for message in self.radio.receive():
            if message.sent_ns > self._heard_ns:  # what waited for a route can arrive after what was sent later
                self._heard_ns = message.sent_ns
                east, north = OFFSET.unpack(message.payload)
                self.target_m = (self.home_m[0] + east, self.home_m[1] + north)
        self.go_to(*self.target_m)


class PositionError(robonet.Hooks):
    """Measures at the end of every step how far the slave is from where it should be."""

    def __init__(self, leader: str = "master", follower: str = "slave", window_s: float = 10.0) -> None:
        self._names = leader, follower
        self._window_s = window_s
        self._errors_m: list[float] = []

    def on_start(self, world) -> None:
        self._leader, self._follower = (world.row_of(name) for name in self._names)
        self._shift_m = world.xyz[self._follower] - world.xyz[self._leader]
        self._window = max(1, round(self._window_s / world.step_s))

    def after_step(self, world) -> None:
        missing = world.xyz[self._leader] + self._shift_m - world.xyz[self._follower]
        self._errors_m.append(math.hypot(missing[0], missing[1]))

    def metrics(self) -> dict[str, float]:
        errors_m = np.array(self._errors_m)
        if not len(errors_m):
            return {}
        found = {"error_mean_m": errors_m.mean(), "error_max_m": errors_m.max()}
        for percent, value in zip(QUANTILES, np.percentile(errors_m, QUANTILES), strict=True):
            found[f"error_p{percent:02d}_m"] = value
        for first in range(0, len(errors_m) - self._window + 1, self._window):
            end_s = (first + self._window) * self._window_s / self._window
            found[f"error_until_{end_s:04.0f}_m"] = errors_m[first : first + self._window].mean()
        return found
