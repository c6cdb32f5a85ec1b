"""`clock`: the robot's own time, which may be ahead, and run too fast."""

import numpy as np

from robonet.robots.draws import Draws
from robonet.robots.world import Group, World
from robonet.scenario import devices
from robonet.space import Floats


class Clock:
    """The clocks of a group."""

    def __init__(self, world: World, group: Group, settings: devices.Clock) -> None:
        self._world = world
        self._offset_s = np.full(len(group), settings.offset_s)
        self._rate = np.full(len(group), 1.0 + 1e-6 * settings.drift_ppm)
        if settings.offset_std_s or settings.drift_std_ppm:
            drawn = Draws(world, group, "clock", 2).once()
            self._offset_s += settings.offset_std_s * drawn[:, 0]
            self._rate += 1e-6 * settings.drift_std_ppm * drawn[:, 1]
        self._shown = np.zeros(len(group))
        self._shown.flags.writeable = False
        self._computed = -1

    @property
    def time_s(self) -> Floats:
        """What each clock shows, in seconds; valid for this step."""
        if self._computed != self._world.index:
            self._computed = self._world.index
            self._shown = self._offset_s + self._rate * self._world.time_s
            self._shown.flags.writeable = False
        return self._shown

    def one(self, number: int) -> "OneClock":
        """The clock of one robot."""
        return OneClock(self._world, self._offset_s.item(number), self._rate.item(number))


class OneClock:
    """One robot's clock."""

    __slots__ = ("_offset_s", "_rate", "_world")

    def __init__(self, world: World, offset_s: float, rate: float) -> None:
        self._world, self._offset_s, self._rate = world, offset_s, rate

    @property
    def time_s(self) -> float:
        """What it shows, in seconds."""
        return self._offset_s + self._rate * self._world.time_s
