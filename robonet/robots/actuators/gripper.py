"""`gripper`: takes hold of what is in front of it, in engines that know of it (`dynamics2d`)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from robonet.robots.world import Group, World
from robonet.scenario import devices

Which = slice | int | list[int] | NDArray[Any]
ALL = slice(None)


class Gripper:
    """The grippers of a group; a closed one takes hold of whatever comes into reach, until it opens."""

    def __init__(self, world: World, group: Group, settings: devices.Gripper) -> None:
        self._world, self._rows = world, group.rows
        self.reach_m = settings.reach_m
        """How far from the body's edge it takes hold."""
        self._wishes, self._grips = world.grip_wish[group.rows], world.grips[group.rows]
        self._shown_wishes: NDArray[np.bool_] = self._wishes.view()
        self._shown_grips: NDArray[np.int32] = self._grips.view()
        self._shown_wishes.flags.writeable = self._shown_grips.flags.writeable = False

    def close(self, which: Which = ALL) -> None:
        """Close the grippers of some robots, by a mask or by indices; of all by default."""
        self._wishes[which] = True

    def open(self, which: Which = ALL) -> None:
        """Open the grippers of some robots, by a mask or by indices; of all by default."""
        self._wishes[which] = False

    @property
    def is_closed(self) -> NDArray[np.bool_]:
        """Whose are closed, with or without something in them."""
        return self._shown_wishes

    @property
    def holds(self) -> NDArray[np.int32]:
        """The row of the body that each holds, in the world; -1 for nothing. `world.names` has their names."""
        return self._shown_grips

    def one(self, number: int) -> "OneGripper":
        """The gripper of one robot."""
        return OneGripper(self._world, self._rows.start + number)


class OneGripper:
    """One robot's gripper."""

    __slots__ = ("_grips", "_names", "_row", "_wishes")

    def __init__(self, world: World, row: int) -> None:
        self._wishes, self._grips, self._names, self._row = world.grip_wish, world.grips, world.names, row

    def close(self) -> None:
        """Take hold of whatever is or comes into reach."""
        self._wishes[self._row] = True

    def open(self) -> None:
        """Let go."""
        self._wishes[self._row] = False

    @property
    def is_closed(self) -> bool:
        """Whether it is closed, with or without something in it."""
        return self._wishes.item(self._row)

    @property
    def holds(self) -> str | None:
        """The name of what it holds; None for nothing."""
        row = self._grips.item(self._row)
        return self._names[row] if row >= 0 else None
