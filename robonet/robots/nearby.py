"""Who and what is near whom: bodies in cells, and lists that hold for as long as nobody has moved far.

Every body has a leeway. Lists are made so wide that they stay right while nobody has moved farther than its
leeway from where it was when they were made; robots that cover a small part of it in a step share one search
for several steps. The lists name all that could matter; whoever reads them looks at the true positions.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from robonet.kernels import bare_kernel, rows_kernel
from robonet.robots.arena import POLYGON, Obstacles
from robonet.robots.geometry import Bodies, out_of_box
from robonet.space import Floats, Grid, cell_of

if TYPE_CHECKING:
    from robonet.robots.world import World

Indices = NDArray[np.int32]

STEPS_OF_LEEWAY = 12
"""For so many steps lists are meant to hold."""
LONG_REACH_M = 0.75
"""Sensors that look farther than this walk along their rays from cell to cell instead of reading lists."""


class Nearby:
    """Cells and lists of a world."""

    def __init__(self, world: "World") -> None:
        self._world = world
        count = world.bodies
        self._reach = np.zeros(count)
        for group in world.groups:
            proximity = group.devices.proximity
            if proximity is not None and proximity.range_m <= LONG_REACH_M:
                self._reach[group.rows] = proximity.range_m
        self.bodies = Bodies(world.xyz, world.facing, world.body_m, world.height_m, world.shape, world.shapes)
        self._built = np.full((count, 2), np.inf)
        self._leeway = np.zeros(count)
        self._push_m = 0.0
        """How far whoever moves fastest can push others in one step; a part of every leeway is kept for it."""
        self._edits = -1
        self._room = 8
        self.begin, self.end = np.zeros(count, dtype=np.int32), np.zeros(count, dtype=np.int32)
        """The bodies near body i are `near[begin[i]:end[i]]`."""
        self.near: Indices = np.zeros(0, dtype=np.int32)
        self.thing_begin, self.thing_end = np.zeros(count, dtype=np.int32), np.zeros(count, dtype=np.int32)
        """The obstacles near body i are `things[thing_begin[i]:thing_end[i]]`."""
        self.things: Indices = np.zeros(0, dtype=np.int32)
        self.tight_starts: Indices = np.zeros(0, dtype=np.int32)
        self.tight_entries: Indices = np.zeros(0, dtype=np.int32)
        """Who touches cell c, as of the last `sort`: `tight_entries[tight_starts[c]:tight_starts[c + 1]]`."""
        self.tight_places = np.zeros((0, 3))
        """Their x, y and radius, side by side in memory."""
        self._no_leeway = np.zeros(0)
        self.rebuilt = 0
        """How often the lists were made."""
        self._lay_out(*world.arena.low_m, *world.arena.high_m)

    def _lay_out(self, left: float, bottom: float, right: float, top: float) -> None:
        """Cells over a rectangle, and the obstacles in them, which stay."""
        world, obstacles = self._world, self._world.obstacles
        if len(obstacles):
            low, high = obstacles.bounds[:, :2].min(axis=0), obstacles.bounds[:, 2:].max(axis=0)
            left, bottom = min(left, float(low[0])), min(bottom, float(low[1]))
            right, top = max(right, float(high[0])), max(top, float(high[1]))
        solid = world.body_m > 0
        usual = float(np.median(2 * world.body_m[solid] + self._reach[solid])) if solid.any() else 0.0
        self.grid = Grid.covering(left, bottom, right, top, usual, int(solid.sum()) + len(obstacles))
        self._covered = left, bottom, right, top
        cells = self.grid.columns * self.grid.rows
        self.starts = np.zeros(cells + 1, dtype=np.int32)
        self.fixed_starts = np.zeros(cells + 1, dtype=np.int32)
        found = _count_fixed(obstacles, self.grid, self.fixed_starts)
        self.fixed = np.zeros(found, dtype=np.int32)
        _fill_fixed(obstacles, self.grid, self.fixed_starts, self.fixed)
        self.entries: Indices = np.zeros(0, dtype=np.int32)

    def look_out(self, rows: slice, range_m: float) -> None:
        """Lists of these rows must name all within a range of their edges."""
        if range_m > self._reach[rows].min(initial=np.inf):
            np.maximum(self._reach[rows], range_m, out=self._reach[rows])
            self._edits = -1

    def refresh(self, *, ahead: bool = False) -> None:
        """Make the lists anew if somebody has moved too far for them, or is about to in the step to come."""
        world = self._world
        step_s = world.step_s if ahead else 0.0
        if self._edits == world.edits and not _any_far(
            world.xyz, self._built, world.body_m, self._leeway, world.twist, step_s, self._push_m
        ):
            return
        self._edits = world.edits
        self._set_leeways()
        self._cover_everyone()
        self._build()

    def sort(self) -> None:
        """Sort everyone into cells as they are now: tighter than the lists, for rays that walk from cell to cell."""
        world = self._world
        if len(self.tight_starts) != len(self.starts):
            self.tight_starts = np.zeros_like(self.starts)
            self._no_leeway = np.zeros(world.bodies)
        found = _count(world.xyz, world.body_m, self._no_leeway, self.grid, self.tight_starts)
        if found > len(self.tight_entries):
            self.tight_entries = np.zeros(found + found // 4, dtype=np.int32)
            self.tight_places = np.zeros((found + found // 4, 3))
        _fill(world.xyz, world.body_m, self._no_leeway, self.grid, self.tight_starts, self.tight_entries, found)
        _copy_places(world.xyz, world.body_m, self.tight_entries, found, self.tight_places)

    def _set_leeways(self) -> None:
        world = self._world
        self._push_m = float(np.abs(world.twist[:, :2]).sum(axis=1).max(initial=0.0)) * world.step_s
        for group in world.groups:
            part = world.twist[group.rows]
            if not len(part):
                continue
            move = float(np.abs(part[:, :2]).max()) * 1.5 * world.step_s
            size = float(world.body_m[group.rows].max())
            reach = 2 * size + float(self._reach[group.rows.start])
            self._leeway[group.rows] = min(max(STEPS_OF_LEEWAY * move, size / 4), max(2 * move, reach)) + self._push_m

    def _cover_everyone(self) -> None:
        """Where nothing keeps bodies in, cells follow them; nothing of a body is ever outside all cells."""
        world = self._world
        solid = world.body_m > 0
        if world.arena.walls or not solid.any():
            return
        wide = (world.body_m + self._leeway)[solid, None]
        (x, y), (right, top) = (world.xyz[solid, :2] - wide).min(axis=0), (world.xyz[solid, :2] + wide).max(axis=0)
        left_m, bottom_m, right_m, top_m = self._covered
        if x < left_m or y < bottom_m or right > right_m or top > top_m:
            margin = 0.25 * max(right - x, top - y)
            self._lay_out(
                min(left_m, x - margin),
                min(bottom_m, y - margin),
                max(right_m, right + margin),
                max(top_m, top + margin),
            )

    def _build(self) -> None:
        world, grid = self._world, self.grid
        found = _count(world.xyz, world.body_m, self._leeway, grid, self.starts)
        if found > len(self.entries):
            self.entries = np.zeros(found + found // 4, dtype=np.int32)
        _fill(world.xyz, world.body_m, self._leeway, grid, self.starts, self.entries, found)
        while True:
            room, rows = self._room, world.robots
            if len(self.near) < room * rows:
                self.near = np.zeros(room * rows, dtype=np.int32)
                self.things = np.zeros(room * rows, dtype=np.int32)
            fits: list[bool] = []

            def work(first: int, last: int, room: int = room, fits: list[bool] = fits) -> None:
                fits.append(
                    _list_near(
                        first, last, room, world.xyz, world.body_m, self._reach, self._leeway,
                        grid, self.starts, self.entries, self.fixed_starts, self.fixed, world.obstacles,
                        self.begin, self.end, self.near, self.thing_begin, self.thing_end, self.things,
                    )
                )  # fmt: skip

            world.threads.over_rows(rows, work)
            if all(fits):
                break
            self._room *= 2
        self._built[:] = world.xyz[:, :2]
        self.rebuilt += 1


@bare_kernel
def _any_far(
    xyz: Floats, built: Floats, radius: Floats, leeway: Floats, twist: Floats, step_s: float, push: float
) -> bool:
    """Whether somebody is farther than its leeway from where it was, or with a step to come may be then."""
    for i in range(len(radius)):
        if radius[i] <= 0.0:
            continue
        dx, dy = xyz[i, 0] - built[i, 0], xyz[i, 1] - built[i, 1]
        ahead = (abs(twist[i, 0]) + abs(twist[i, 1])) * step_s
        left = leeway[i] - ahead - (push if step_s > 0.0 else 0.0)
        if ahead > push or left < 0.0 or not dx * dx + dy * dy <= left * left:
            return True
    return False


@bare_kernel
def _count(xyz: Floats, radius: Floats, leeway: Floats, grid: Grid, starts: Indices) -> int:
    """How many bodies touch each cell: `starts[c + 1]` of cell c, summed up; all together."""
    starts[:] = 0
    for i in range(len(radius)):
        if radius[i] <= 0.0:
            continue
        half = radius[i] + leeway[i]
        left, bottom = cell_of(xyz[i, 0] - half, xyz[i, 1] - half, grid)
        right, top = cell_of(xyz[i, 0] + half, xyz[i, 1] + half, grid)
        for row in range(bottom, top + 1):
            for column in range(left, right + 1):
                starts[row * grid.columns + column + 1] += 1
    for c in range(1, len(starts)):
        starts[c] += starts[c - 1]
    return starts[len(starts) - 1]


@bare_kernel
def _fill(
    xyz: Floats, radius: Floats, leeway: Floats, grid: Grid, starts: Indices, entries: Indices, total: int
) -> None:
    """Backwards, so that each cell's bodies ascend; the counts turn into where cells begin on the way."""
    for i in range(len(radius) - 1, -1, -1):
        if radius[i] <= 0.0:
            continue
        half = radius[i] + leeway[i]
        left, bottom = cell_of(xyz[i, 0] - half, xyz[i, 1] - half, grid)
        right, top = cell_of(xyz[i, 0] + half, xyz[i, 1] + half, grid)
        for row in range(bottom, top + 1):
            for column in range(left, right + 1):
                cell = row * grid.columns + column + 1
                starts[cell] -= 1
                entries[starts[cell]] = i
    _begin_cells(starts, total)


@bare_kernel
def _copy_places(xyz: Floats, radius: Floats, entries: Indices, count: int, places: Floats) -> None:
    for e in range(count):
        i = entries[e]
        places[e, 0], places[e, 1], places[e, 2] = xyz[i, 0], xyz[i, 1], radius[i]


@bare_kernel
def _begin_cells(starts: Indices, total: int) -> None:
    """From where cell c begins in `starts[c + 1]` to the same in `starts[c]`."""
    for c in range(len(starts) - 1):
        starts[c] = starts[c + 1]
    starts[len(starts) - 1] = total


@bare_kernel
def _touches_cell(k: int, column: int, row: int, grid: Grid, obstacles: Obstacles) -> bool:
    """Whether an obstacle can reach into a cell; turned boxes leave most cells of the box around them alone."""
    rows = obstacles.rows
    if obstacles.kind[k] == POLYGON or rows[k, 5] == 0.0 or rows[k, 4] == 0.0:
        return True
    x = grid.left_m + (column + 0.5) * grid.cell_m - rows[k, 0]
    y = grid.bottom_m + (row + 0.5) * grid.cell_m - rows[k, 1]
    u, v = x * rows[k, 4] + y * rows[k, 5], y * rows[k, 4] - x * rows[k, 5]
    depth, _, _ = out_of_box(u, v, 0.7072 * grid.cell_m, rows[k, 2], rows[k, 3], rows[k, 6])
    return depth > 0.0


@bare_kernel
def _count_fixed(obstacles: Obstacles, grid: Grid, starts: Indices) -> int:
    starts[:] = 0
    bounds = obstacles.bounds
    for k in range(len(obstacles.kind)):
        left, bottom = cell_of(bounds[k, 0], bounds[k, 1], grid)
        right, top = cell_of(bounds[k, 2], bounds[k, 3], grid)
        for row in range(bottom, top + 1):
            for column in range(left, right + 1):
                if _touches_cell(k, column, row, grid, obstacles):
                    starts[row * grid.columns + column + 1] += 1
    for c in range(1, len(starts)):
        starts[c] += starts[c - 1]
    return starts[len(starts) - 1]


@bare_kernel
def _fill_fixed(obstacles: Obstacles, grid: Grid, starts: Indices, entries: Indices) -> None:
    bounds = obstacles.bounds
    for k in range(len(obstacles.kind) - 1, -1, -1):
        left, bottom = cell_of(bounds[k, 0], bounds[k, 1], grid)
        right, top = cell_of(bounds[k, 2], bounds[k, 3], grid)
        for row in range(bottom, top + 1):
            for column in range(left, right + 1):
                if _touches_cell(k, column, row, grid, obstacles):
                    cell = row * grid.columns + column + 1
                    starts[cell] -= 1
                    entries[starts[cell]] = k
    _begin_cells(starts, len(entries))


@bare_kernel
def _is_near_obstacle(x: float, y: float, width: float, k: int, obstacles: Obstacles) -> bool:
    """Whether a disk of a width touches an obstacle; of a polygon, the box around it."""
    rows = obstacles.rows
    dx, dy = x - rows[k, 0], y - rows[k, 1]
    u, v = dx * rows[k, 4] + dy * rows[k, 5], dy * rows[k, 4] - dx * rows[k, 5]
    depth, _, _ = out_of_box(u, v, width, rows[k, 2], rows[k, 3], rows[k, 6])
    return depth > 0.0


@rows_kernel
def _list_near(
    first: int, last: int, room: int, xyz: Floats, radius: Floats, reach: Floats, leeway: Floats,
    grid: Grid, starts: Indices, entries: Indices, fixed_starts: Indices, fixed: Indices, obstacles: Obstacles,
    begin: Indices, end: Indices, near: Indices, thing_begin: Indices, thing_end: Indices, things: Indices,
) -> bool:  # fmt: skip
    """Write the lists of some rows into their share of the room, which must do for all of them together."""
    at, thing_at = first * room, first * room
    for i in range(first, last):
        begin[i], thing_begin[i] = at, thing_at
        if radius[i] > 0.0:
            x, y, wide = xyz[i, 0], xyz[i, 1], radius[i] + reach[i] + leeway[i]
            left, bottom = cell_of(x - wide, y - wide, grid)
            right, top = cell_of(x + wide, y + wide, grid)
            for row in range(bottom, top + 1):
                for column in range(left, right + 1):
                    cell = row * grid.columns + column
                    for e in range(starts[cell], starts[cell + 1]):
                        j = entries[e]
                        other = radius[j] + leeway[j]
                        dx, dy = xyz[j, 0] - x, xyz[j, 1] - y
                        if j == i or dx * dx + dy * dy >= (wide + other) * (wide + other):
                            continue
                        # Both lie in several cells: the pair counts in the cell where they begin to overlap.
                        c, r = cell_of(max(x - wide, xyz[j, 0] - other), max(y - wide, xyz[j, 1] - other), grid)
                        if c == column and r == row:
                            if at == last * room:
                                return False
                            near[at] = j
                            at += 1
                    for e in range(fixed_starts[cell], fixed_starts[cell + 1]):
                        k = fixed[e]
                        if _listed(k, thing_begin[i], thing_at, things):
                            continue
                        if _is_near_obstacle(x, y, wide, k, obstacles):
                            if thing_at == last * room:
                                return False
                            things[thing_at] = k
                            thing_at += 1
        end[i], thing_end[i] = at, thing_at
    return True


@bare_kernel
def _listed(k: int, first: int, last: int, things: Indices) -> bool:
    for e in range(first, last):  # noqa: SIM110  (kernels know no any)
        if things[e] == k:
            return True
    return False
