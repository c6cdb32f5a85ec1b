"""`proximity`, `sonar`, `laser`: how far it is to the next thing along rays."""

import math

import numpy as np
from numpy.typing import NDArray

from robonet.kernels import bare_kernel
from robonet.robots.noise import NoiseChain
from robonet.robots.rays import RayFan
from robonet.robots.world import Group, World
from robonet.scenario import devices
from robonet.space import Floats

NEAREST_INVERSE_M = 0.009889556
INVERSE_M, INVERSE_OFFSET_M = 0.0100527, 0.000163144
"""Constants of the foot-bot's infrared sensors: 1 up to a distance, then a / (distance + b)."""


@bare_kernel
def response(distance: float, reach: float, linear: bool) -> float:
    """What a proximity sensor makes of a distance: 1 where something touches it, 0 where nothing is in reach."""
    if distance >= reach:
        return 0.0
    if linear:
        return 1.0 - distance / reach
    return 1.0 if distance < NEAREST_INVERSE_M else INVERSE_M / (distance + INVERSE_OFFSET_M)


@bare_kernel
def _respond(distances: Floats, reach: float, linear: bool, values: Floats) -> None:
    for k in range(len(distances)):
        values[k] = response(distances[k], reach, linear)


class RangeFinder:
    """The readings of a whole group, computed once a step and only if somebody asks."""

    def __init__(
        self, world: World, group: Group, name: str, angles_rad: Floats, settings: devices.Noisy, range_m: float,
        rays_each: int = 1,
    ) -> None:  # fmt: skip
        self._world = world
        self._fan = RayFan(world, group, angles_rad, range_m)
        self._rays_each = rays_each
        self.angles_rad = angles_rad.reshape(-1, rays_each).mean(axis=1)
        """Directions of the readings, counter-clockwise from straight ahead."""
        self.range_m = range_m
        """What a reading is where nothing is hit."""
        channels = len(self.angles_rad)
        self._noise = NoiseChain(world, group, name, channels, settings.noise, range_m) if settings.noise else None
        self._readings = self._fan.distances_m if rays_each == 1 else np.zeros((len(group), channels))
        self._shown = self._readings.view()
        self._shown.flags.writeable = False
        self._computed = -1, -1
        self._listed, self._edits = -1, -1
        self._felt: list[bool] = []
        self._nothing = [range_m] * channels

    @property
    def distances_m(self) -> Floats:
        """Distance from the body's edge along each ray, a row a robot; the range where nothing is near.

        The array cannot be written, and is another's in the next step: copy what must last.
        """
        at = self._world.index, self._world.edits
        if self._computed != at:
            self._computed = at
            self._fan.cast()
            if self._rays_each > 1:
                beams = self._fan.distances_m.reshape(len(self._readings), -1, self._rays_each)
                beams.min(axis=2, out=self._readings)
            if self._noise is not None:
                self._noise.apply(self._readings)
                np.clip(self._readings, 0.0, self.range_m, out=self._readings)
        return self._shown

    @property
    def may_hit(self) -> NDArray[np.bool_]:
        """Which robots can have a reading below the range: looking at the others is in vain."""
        assert self.distances_m is not None
        return self._fan.hits if self._noise is None else np.ones(len(self._readings), dtype=np.bool_)

    def of(self, number: int) -> list[float]:
        """The readings of one robot, as plain numbers; most robots have nothing near and share one list's contents."""
        world = self._world
        if self._listed != world.index or self._edits != world.edits:
            self._felt = self.may_hit.tolist()
            self._listed, self._edits = world.index, world.edits
        readings: list[float] = self._shown[number].tolist() if self._felt[number] else self._nothing.copy()
        return readings

    def one(self, number: int) -> "OneRangeFinder":
        """The readings of one robot."""
        return OneRangeFinder(self, number)


class OneRangeFinder:
    """One robot's readings, as plain numbers."""

    __slots__ = ("_all", "_number", "angles_rad", "range_m")

    def __init__(self, readings: RangeFinder, number: int) -> None:
        self._all = readings
        self._number = number
        self.angles_rad = readings.angles_rad.tolist()
        """Directions of the readings, counter-clockwise from straight ahead."""
        self.range_m = readings.range_m
        """What a reading is where nothing is hit."""

    @property
    def distances_m(self) -> list[float]:
        """Distance from the body's edge along each ray; the range where nothing is near."""
        return self._all.of(self._number)


class Proximity(RangeFinder):
    """Short rays around the body."""

    def __init__(self, world: World, group: Group, settings: devices.Proximity) -> None:
        angles = ring(settings.rays, settings.angles_deg)
        super().__init__(world, group, "proximity", angles, settings, settings.range_m)
        self.is_linear = settings.response == "linear"

    @property
    def values(self) -> Floats:
        """1 at the body's edge, falling to 0 at the end of the range, as the sensor's `response` has it."""
        return self.values_of(self.distances_m)

    def values_of(self, distances_m: Floats) -> Floats:
        """What the sensor makes of distances."""
        values = np.empty_like(distances_m)
        _respond(distances_m.ravel(), self.range_m, self.is_linear, values.ravel())
        return values

    def one(self, number: int) -> "OneProximity":
        """The readings of one robot."""
        return OneProximity(self, number)


class OneProximity(OneRangeFinder):
    """One robot's ring."""

    __slots__ = ()
    _all: Proximity

    @property
    def values(self) -> list[float]:
        """1 at the body's edge, falling to 0 at the end of the range, as the sensor's `response` has it."""
        values: list[float] = self._all.values_of(self._all.distances_m[self._number]).tolist()
        return values


class Sonar(RangeFinder):
    """Range finders that look a few metres far."""

    def __init__(self, world: World, group: Group, settings: devices.Sonar) -> None:
        if settings.angles_deg is not None:
            middle = np.radians(np.array(settings.angles_deg))
        else:
            middle = np.arange(settings.rays) * (2 * math.pi / settings.rays)
        each = settings.cone_rays if settings.cone_deg else 1
        spread = np.radians((np.arange(each) - (each - 1) / 2) * settings.cone_deg / max(each - 1, 1))
        angles = (middle[:, None] + spread[None, :]).ravel()
        super().__init__(world, group, "sonar", angles, settings, settings.range_m, each)


class Laser(RangeFinder):
    """A scanner that looks far ahead."""

    def __init__(self, world: World, group: Group, settings: devices.Laser) -> None:
        half = math.radians(settings.field_of_view_deg) / 2
        angles = np.linspace(-half, half, settings.beams, endpoint=settings.field_of_view_deg < 360)
        super().__init__(world, group, "laser", angles, settings, settings.range_m)


def ring(count: int, angles_deg: tuple[float, ...] | None) -> Floats:
    """Directions at equal angles, symmetric about straight ahead, or those given."""
    if angles_deg is not None:
        return np.radians(np.array(angles_deg, dtype=np.float64))
    return np.array([(number + 0.5) * (2 * math.pi / count) for number in range(count)])
