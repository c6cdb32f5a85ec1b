"""`positioning`: where a robot is and where it looks; exact unless it is given noise."""

import numpy as np

from robonet.robots.noise import NoiseChain
from robonet.robots.world import Group, World
from robonet.scenario import devices
from robonet.space import Floats


class Positioning:
    """Readings of a group, as arrays with one item a robot."""

    def __init__(self, world: World, group: Group, settings: devices.Positioning) -> None:
        self._world, self._rows = world, group.rows
        self._count = len(group)
        self._noise = NoiseChain(world, group, "positioning", 3, settings.noise) if settings.noise else None
        heading_noise = settings.heading_noise
        self._turned = NoiseChain(world, group, "positioning.heading", 1, heading_noise) if heading_noise else None
        self._pose = np.zeros((self._count, 4))
        self._shown = self._pose.view()
        self._shown.flags.writeable = False
        self._computed = -1, -1

    @property
    def pose(self) -> Floats:
        """X, y, z and heading, a row a robot; valid for this step."""
        world = self._world
        at = world.index, world.edits
        if self._computed != at:
            self._computed = at
            self._pose[:, :3] = world.xyz[self._rows]
            self._pose[:, 3] = world.heading[self._rows]
            if self._noise is not None:
                self._noise.apply(self._pose[:, :3])
            if self._turned is not None:
                self._turned.apply(self._pose[:, 3:])
                self._pose[:, 3] = np.pi - (np.pi - self._pose[:, 3]) % (2 * np.pi)
        return self._shown

    @property
    def x_m(self) -> Floats:
        """Position along x."""
        return self.pose[:, 0]

    @property
    def y_m(self) -> Floats:
        """Position along y."""
        return self.pose[:, 1]

    @property
    def z_m(self) -> Floats:
        """Height of the underside."""
        return self.pose[:, 2]

    @property
    def position_m(self) -> tuple[Floats, Floats]:
        """Position as (x, y)."""
        return self.x_m, self.y_m

    @property
    def heading_rad(self) -> Floats:
        """Direction, counter-clockwise from the x axis, in (-pi, pi]."""
        return self.pose[:, 3]

    def one(self, number: int) -> "OnePosition":
        """The readings of one robot."""
        return OnePosition(self, number)


class OnePosition:
    """One robot's readings, as plain numbers."""

    __slots__ = ("_all", "_number")

    def __init__(self, readings: Positioning, number: int) -> None:
        self._all = readings
        self._number = number

    @property
    def x_m(self) -> float:
        """Position along x."""
        return self._all.pose.item(self._number, 0)

    @property
    def y_m(self) -> float:
        """Position along y."""
        return self._all.pose.item(self._number, 1)

    @property
    def z_m(self) -> float:
        """Height of the underside."""
        return self._all.pose.item(self._number, 2)

    @property
    def position_m(self) -> tuple[float, float]:
        """Position as (x, y)."""
        pose = self._all.pose
        return pose.item(self._number, 0), pose.item(self._number, 1)

    @property
    def heading_rad(self) -> float:
        """Direction, counter-clockwise from the x axis, in (-pi, pi]."""
        return self._all.pose.item(self._number, 3)
