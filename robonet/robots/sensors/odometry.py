"""`odometry`: the pose since the start as the wheels believe it; it drifts when something blocks the body."""

from typing import Any

from robonet.robots.world import World


class Odometry:
    """Dead reckoning in the frame of the robot's start."""

    def __init__(self, world: World, rows: int | slice) -> None:
        self._odometry = world.odometry
        self._rows = rows

    @property
    def pose(self) -> Any:
        """X and y in metres and heading in radians: a tuple of floats, or an array with a row a robot."""
        reading = self._odometry[self._rows]
        return tuple(reading.tolist()) if isinstance(self._rows, int) else reading.copy()
