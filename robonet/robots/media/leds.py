"""`leds`: coloured lights on robots and things, which cameras see."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robonet.plugins import closest
from robonet.robots.sight import Indices
from robonet.robots.world import Group, World
from robonet.scenario import devices
from robonet.scenario.arena import Objects
from robonet.space import Floats, Grid, Ints, sort_into_cells

COLORS = {
    "off": (0.0, 0.0, 0.0),
    "red": (1.0, 0.0, 0.0),
    "green": (0.0, 1.0, 0.0),
    "blue": (0.0, 0.0, 1.0),
    "yellow": (1.0, 1.0, 0.0),
    "cyan": (0.0, 1.0, 1.0),
    "magenta": (1.0, 0.0, 1.0),
    "white": (1.0, 1.0, 1.0),
}
"""Red, green and blue from 0 to 1, by name."""

Color = str | Sequence[float] | Floats


class Sources(NamedTuple):
    """All lights that are on: those of body `row[k]` are `begin[k]` to `begin[k + 1]`."""

    row: Indices
    begin: Indices
    place: Floats
    """Forward, to the left and above the underside of their body."""
    outside: NDArray[np.bool_]
    """Whether their own body hides them from its far side."""
    color: Floats


class LitCells(NamedTuple):
    """Who is lit, by cells: `order[starts[c]:starts[c + 1]]` of cell c number the rows of the sources."""

    grid: Grid
    starts: Ints
    order: Ints


class Lights:
    """All lights of a world; what cameras see is what was set before everyone moved."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.rings: dict[str, Leds] = {}
        """The lights of groups that have set some, by the group's name."""
        self.is_new = True
        """Whether some have changed since they were listed."""
        self._computed = -1, -1, 0.0
        self._sources = self._listed()
        self._cells: LitCells | None = None

    def sources(self) -> Sources:
        """All that are on."""
        if self.is_new:
            self.is_new = False
            self._sources = self._listed()
            self._computed = -1, -1, 0.0
        return self._sources

    def cells(self, usual_m: float) -> LitCells | None:
        """Who is lit and there, in cells that suit a distance; None if nobody is."""
        world, sources = self._world, self.sources()
        at = world.index, world.edits, usual_m
        if self._computed != at:
            self._computed = at
            there = np.flatnonzero(world.present[sources.row])
            self._cells = None
            if len(there):
                xyz = world.xyz[sources.row[there]]
                (left, bottom, _), (right, top, _) = xyz.min(axis=0).tolist(), xyz.max(axis=0).tolist()
                grid = Grid.covering(left, bottom, right, top, usual_m, len(there))
                starts = np.empty(grid.columns * grid.rows + 1, dtype=np.int64)
                order = np.empty(len(there), dtype=np.int64)
                sort_into_cells(xyz[:, 0], xyz[:, 1], grid, starts, order)
                self._cells = LitCells(grid, starts, there[order])
        return self._cells

    def _listed(self) -> Sources:
        rows: list[Ints] = []
        places: list[Floats] = []
        outside: list[NDArray[np.bool_]] = []
        colors: list[Floats] = []
        for group in self._world.groups:
            ring = self.rings.get(group.name)
            if ring is not None:
                robots, lights = np.nonzero(ring.shown.any(axis=2))
                rows.append(robots + group.rows.start)
                places.append(ring.places[lights])
                outside.append(ring.outside[lights])
                colors.append(ring.shown[robots, lights])
            elif isinstance(group.settings, Objects) and group.settings.color != "none" and any(group.settings.color):
                count = len(group)
                rows.append(np.arange(group.rows.start, group.rows.stop))
                places.append(np.tile((0.0, 0.0, group.settings.height_m), (count, 1)))
                outside.append(np.zeros(count, dtype=np.bool_))
                colors.append(np.tile(group.settings.color, (count, 1)))
        lit, begin = np.unique(np.concatenate([np.zeros(0, np.int64), *rows]), return_index=True)
        total = sum(map(len, rows))
        return Sources(
            lit.astype(np.int32), np.append(begin, total).astype(np.int32), np.concatenate([np.zeros((0, 3)), *places]),
            np.concatenate([np.zeros(0, np.bool_), *outside]), np.concatenate([np.zeros((0, 3)), *colors]),
        )  # fmt: skip


def lights_of(world: World) -> Lights:
    """The lights of a world."""
    lights: Lights | None = world.media.get("leds")
    if lights is None:
        lights = world.media["leds"] = Lights(world)
    return lights


class Leds:
    """The lights of a group: off at first; cameras see a change in the step that follows."""

    def __init__(self, world: World, group: Group, settings: devices.Leds) -> None:
        self._world = world
        self._name = group.name
        self._robots = len(group)
        angles = np.arange(settings.count) * (2 * math.pi / max(settings.count, 1))
        ring = np.stack((np.cos(angles), np.sin(angles)), axis=1) * settings.ring_m
        flat = np.concatenate((ring, np.zeros((1, 2)))) if settings.beacon else ring
        self.places = np.column_stack((flat, np.full(len(flat), settings.height_m)))
        """Where they are: forward, to the left of the centre, and above the underside."""
        self.outside = np.arange(len(flat)) < (settings.count if settings.ring_m > 0 else 0)
        """Whether the body hides them from its far side: those of the ring, not the beacon."""
        self._colors: Floats | None = None
        self.shown: Floats = np.zeros((0, 0, 3))
        """What cameras see."""
        self._is_new = False

    def __len__(self) -> int:
        return len(self.places)

    @property
    def colors(self) -> Floats:
        """What they are set to: red, green and blue of each, from 0 to 1."""
        if self._colors is None:  # most robots never light them
            self._colors = np.zeros((self._robots, len(self.places), 3))
            self.shown = np.zeros_like(self._colors)
            lights_of(self._world).rings[self._name] = self
            self._world.after_physics.append(self._show)
        seen = self._colors.view()
        seen.flags.writeable = False
        return seen

    def set_all(self, color: Color) -> None:
        """Set all lights: to a name, to red, green and blue, or to an array with a row a robot."""
        self._set(slice(None), slice(None), color)

    def set(self, index: int, color: Color) -> None:
        """Set one light of each robot."""
        self._set(slice(None), self._checked(index), color)

    def set_one(self, number: int, index: int | None, color: Color) -> None:
        """Set one light of one robot, or all of them (None)."""
        self._set(number, slice(None) if index is None else self._checked(index), color)

    def _checked(self, index: int) -> int:
        if not -len(self) <= index < len(self):
            raise IndexError(f"'{self._name}' has {len(self)} leds, numbered from 0: there is no {index}")
        return index

    def _set(self, robots: slice | int, lights: slice | int, color: Color) -> None:
        assert self.colors is not None and self._colors is not None
        if isinstance(color, str):
            if color not in COLORS:
                raise ValueError(f"unknown color '{color}'{closest(color, list(COLORS))}; known: {', '.join(COLORS)}")
            value = np.array(COLORS[color])
        else:
            value = np.asarray(color, dtype=np.float64)
            rows = self._robots if isinstance(robots, slice) else 1
            if value.shape not in ((3,), (rows, 3)) or not ((value >= 0.0) & (value <= 1.0)).all():
                raise ValueError(f"a color is a name, or red, green and blue from 0 to 1: not {color!r}")
            if value.ndim == 2 and isinstance(lights, slice):
                value = value[:, None, :]
        self._colors[robots, lights] = value
        self._is_new = True

    def _show(self) -> None:
        if self._is_new:
            assert self._colors is not None
            self.shown[:] = self._colors
            self._is_new = False
            lights_of(self._world).is_new = True

    def one(self, number: int) -> "OneRobotsLeds":
        """The lights of one robot."""
        return OneRobotsLeds(self, number)


class OneRobotsLeds:
    """The lights of one robot: off at first; cameras see a change in the step that follows."""

    __slots__ = ("_all", "_number")

    def __init__(self, leds: Leds, number: int) -> None:
        self._all = leds
        self._number = number

    def __len__(self) -> int:
        return len(self._all)

    @property
    def colors(self) -> list[tuple[float, float, float]]:
        """What they are set to: red, green and blue of each, from 0 to 1."""
        return [(r, g, b) for r, g, b in self._all.colors[self._number].tolist()]

    def set_all(self, color: Color) -> None:
        """Set all lights, to a name or to red, green and blue from 0 to 1."""
        self._all.set_one(self._number, None, color)

    def set(self, index: int, color: Color) -> None:
        """Set one light."""
        self._all.set_one(self._number, index, color)
