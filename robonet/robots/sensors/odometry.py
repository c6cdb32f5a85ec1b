"""`odometry`: the pose since the start as the motors believe it; it drifts when something blocks the body."""

import numpy as np

from robonet.robots.draws import Draws
from robonet.robots.world import Group, World
from robonet.scenario import devices
from robonet.space import Floats


class Odometry:
    """Dead reckoning of a group, each robot in the frame of its start."""

    def __init__(self, world: World, group: Group, settings: devices.Odometry) -> None:
        self._world, self._rows = world, group.rows
        self._reckoning = world.reckoning
        self._settings = settings
        self._is_noisy = bool(settings.distance_noise or settings.turn_noise)
        if self._is_noisy:
            self._draws = Draws(world, group, "odometry", 2)
            self._before = self._reckoning.pose[self._rows].copy()
            self._believed = self._before.copy()
            world.before_physics.append(self._wander)

    @property
    def pose(self) -> Floats:
        """X and y in metres and heading in radians, a row a robot; a copy."""
        return np.array(self._all())

    def _all(self) -> Floats:
        return self._believed if self._is_noisy else self._reckoning.pose[self._rows]

    def of(self, number: int) -> tuple[float, float, float]:
        """The pose of one robot."""
        x, y, heading = self._all()[number].tolist()
        return x, y, heading

    def _wander(self) -> None:
        """Add what the last step added, with its errors, in the frame that is believed."""
        now = self._reckoning.pose[self._rows]
        moved = now - self._before
        turn = moved[:, 2] - np.round(moved[:, 2] / (2 * np.pi)) * 2 * np.pi
        draws = self._draws.at_step(self._world.index)
        stretched = 1.0 + self._settings.distance_noise * draws[:, 0]
        frame = self._believed[:, 2] - self._before[:, 2]
        cosine, sine = np.cos(frame) * stretched, np.sin(frame) * stretched
        self._believed[:, 0] += moved[:, 0] * cosine - moved[:, 1] * sine
        self._believed[:, 1] += moved[:, 0] * sine + moved[:, 1] * cosine
        angle = self._believed[:, 2] + turn * (1.0 + self._settings.turn_noise * draws[:, 1])
        self._believed[:, 2] = np.pi - (np.pi - angle) % (2 * np.pi)
        self._before = now.copy()

    def one(self, number: int) -> "OneOdometry":
        """The readings of one robot."""
        return OneOdometry(self, number)


class OneOdometry:
    """One robot's readings, as plain numbers."""

    __slots__ = ("_all", "_number")

    def __init__(self, readings: Odometry, number: int) -> None:
        self._all = readings
        self._number = number

    @property
    def pose(self) -> tuple[float, float, float]:
        """X and y in metres and heading in radians."""
        return self._all.of(self._number)
