"""`compass`: where a robot looks; exact unless it is given noise."""

import numpy as np

from robonet.robots.noise import NoiseChain
from robonet.robots.world import Group, World
from robonet.scenario import devices
from robonet.space import Floats


class Compass:
    """Readings of a group, as an array with one item a robot."""

    def __init__(self, world: World, group: Group, settings: devices.Compass) -> None:
        self._world, self._rows = world, group.rows
        self._noise = NoiseChain(world, group, "compass", 1, settings.noise) if settings.noise else None
        self._headings = np.zeros((len(group), 1))
        self._shown = self._headings[:, 0]
        self._shown.flags.writeable = False
        self._computed = -1, -1

    @property
    def heading_rad(self) -> Floats:
        """Direction, counter-clockwise from the x axis, in (-pi, pi]; valid for this step."""
        at = self._world.index, self._world.edits
        if self._computed != at:
            self._computed = at
            self._headings[:, 0] = self._world.heading[self._rows]
            if self._noise is not None:
                self._noise.apply(self._headings)
                self._headings[:] = np.pi - (np.pi - self._headings) % (2 * np.pi)
        return self._shown

    def one(self, number: int) -> "OneCompass":
        """The readings of one robot."""
        return OneCompass(self, number)


class OneCompass:
    """One robot's readings, as plain numbers."""

    __slots__ = ("_all", "_number")

    def __init__(self, readings: Compass, number: int) -> None:
        self._all, self._number = readings, number

    @property
    def heading_rad(self) -> float:
        """Direction, counter-clockwise from the x axis, in (-pi, pi]."""
        return self._all.heading_rad.item(self._number)
