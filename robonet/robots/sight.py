"""Line of sight: whether a body or an obstacle stands between two points."""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robonet.kernels import bare_kernel
from robonet.robots.arena import DISK, Obstacles
from robonet.robots.geometry import Bodies, ray_to_obstacle
from robonet.space import Floats, Grid, Ints, cell_of, sort_into_cells

if TYPE_CHECKING:
    from robonet.robots.world import World

Indices = NDArray[np.int32]

USUAL_SIZES = 3.0
"""Bodies larger than this many times the usual one are looked at one by one,"""
MANY_LARGE = 32
"""unless there are more of them than this."""
WINDOW_CELLS = 3
"""How far around itself a looker gathers what is near; what is farther is looked for along the line of sight."""


class Blockers(NamedTuple):
    """Everything solid that can move, by the cell that its middle is in: those of one row of cells lie together."""

    grid: Grid
    starts: Ints
    x: Floats
    y: Floats
    wide: Floats
    """The square of its radius."""
    row: Indices
    reach: float
    """How far any of them reaches from its middle."""
    is_round: bool
    """Whether all are disks."""
    large: Indices
    """The few that reach farther: looked at one by one."""


class Fixed(NamedTuple):
    """Obstacles: those of cell c are `entries[starts[c]:starts[c + 1]]`."""

    grid: Grid
    starts: Indices
    entries: Indices
    obstacles: Obstacles


class Scene(NamedTuple):
    """Everything that can stand in between."""

    bodies: Bodies
    blockers: Blockers
    fixed: Fixed


class Targets(NamedTuple):
    """Points to look at from one place, and the bodies that they are on: room for a kernel to work in."""

    x: Floats
    y: Floats
    z: Floats
    row: Indices
    what: Indices
    """Whatever the caller knows them by."""
    seen: NDArray[np.bool_]
    rest: Indices
    """Those that are left to look at."""
    near: Floats
    """Blockers around the one who looks: x and y from there, square of the radius, row; a line each."""

    @staticmethod
    def room(count: int, scene: Scene) -> "Targets":
        """Room for so many."""
        x, y, z = np.empty((3, count))
        row, what, rest = np.empty((3, count), dtype=np.int32)
        return Targets(x, y, z, row, what, np.empty(count, np.bool_), rest, np.empty((4, len(scene.blockers.x))))


def scene_of(world: "World") -> Scene:
    """Everything as it stands now; put in order once a step for all who look."""
    at = world.index, world.edits
    kept: tuple[tuple[int, int], Scene] | None = world.media.get("scene")
    if kept is None or kept[0] != at:
        if len(world.shapes.corners):
            world.look()
        nearby = world.nearby
        fixed = Fixed(nearby.grid, nearby.fixed_starts, nearby.fixed, world.obstacles)
        kept = world.media["scene"] = at, Scene(nearby.bodies, _blockers(world), fixed)
    return kept[1]


class _Solid(NamedTuple):
    """What of the blockers does not change from step to step."""

    edits: int
    rows: Indices
    wide: Floats
    reach: float
    is_round: bool
    large: Indices


def _solid(world: "World") -> _Solid:
    kept: _Solid | None = world.media.get("solid")
    if kept is not None and kept.edits == world.edits:
        return kept
    rows = np.flatnonzero(world.body_m > 0.0).astype(np.int32)
    large, radius = rows[:0], world.body_m[rows]
    reach = float(radius.max(initial=0.0))
    usual = USUAL_SIZES * float(np.median(radius)) if len(rows) else 0.0
    if reach > usual and np.count_nonzero(radius > usual) <= MANY_LARGE:
        large, rows, reach = rows[radius > usual], rows[radius <= usual], usual
    made = _Solid(world.edits, rows, world.body_m[rows] ** 2, reach, bool((world.shape[rows] < 0).all()), large)
    world.media["solid"] = made
    return made


def _blockers(world: "World") -> Blockers:
    solid = _solid(world)
    count = len(solid.rows)
    xy = np.empty((2, count))
    left, bottom, right, top = copy_xy(solid.rows, world.xyz, xy)
    grid = Grid.covering(left, bottom, right, top, 2 * solid.reach, count)
    starts, order = np.empty(grid.columns * grid.rows + 1, dtype=np.int64), np.empty(count, dtype=np.int64)
    sort_into_cells(xy[0], xy[1], grid, starts, order)
    x, y = xy[:, order]
    return Blockers(grid, starts, x, y, solid.wide[order], solid.rows[order], solid.reach, solid.is_round, solid.large)


@bare_kernel
def copy_xy(rows: Indices, xyz: Floats, out: Floats) -> tuple[float, float, float, float]:
    """Copy the places of some bodies; the rectangle around them."""
    left, bottom, right, top = math.inf, math.inf, -math.inf, -math.inf
    for k in range(len(rows)):
        x, y = xyz[rows[k], 0], xyz[rows[k], 1]
        out[0, k], out[1, k] = x, y
        left, bottom, right, top = min(left, x), min(bottom, y), max(right, x), max(top, y)
    return (left, bottom, right, top) if len(rows) else (0.0, 0.0, 0.0, 0.0)


@bare_kernel
def is_level(low: float, high: float, bodies: Bodies) -> bool:
    """Whether all bodies reach from below one height to above another, so that heights play no part in between."""
    for k in range(len(bodies.radius)):
        bottom = bodies.xyz[k, 2]
        if bodies.radius[k] > 0.0 and not (bottom < low and bottom + bodies.height[k] > high):
            return False
    return True


@bare_kernel
def look(x: float, y: float, z: float, i: int, count: int, targets: Targets, level: bool, scene: Scene) -> None:
    """Note which of the first targets are in sight of a point: nothing but their bodies and body i is in between.

    Bodies are outlines as high as they are, obstacles have no end above; heights are not looked at where all are
    `level`. What is near is gathered once, and compared with each target without a branch.
    """
    blockers = scene.blockers
    farthest = 0.0
    for t in range(count):
        farthest = max(farthest, abs(targets.x[t] - x), abs(targets.y[t] - y))
    window = min(farthest + blockers.reach, WINDOW_CELLS * blockers.grid.cell_m)
    found = gather(x, y, i, window, targets.near, blockers)
    near_x, near_y, wide, row = targets.near[0], targets.near[1], targets.near[2], targets.near[3]
    decides = level and blockers.is_round
    left = 0
    for t in range(count):
        j, dx, dy = targets.row[t], targets.x[t] - x, targets.y[t] - y
        squared = dx * dx + dy * dy
        if max(abs(dx), abs(dy)) <= window - blockers.reach and squared > 0.0:
            hits, own, per_way = 0, float(j), 1.0 / squared
            for e in range(found):
                at = min(max((near_x[e] * dx + near_y[e] * dy) * per_way, 0.0), 1.0)
                off_x, off_y = near_x[e] - at * dx, near_y[e] - at * dy
                hits += int((off_x * off_x + off_y * off_y < wide[e]) & (row[e] != own))
            targets.seen[t] = hits == 0
            if hits == 0 or decides:
                continue
        targets.rest[left] = t
        left += 1
    if left:
        _follow(x, y, z, i, left, targets, level, scene.bodies, blockers)
    for e in range(len(blockers.large)):
        _look_past(x, y, z, i, blockers.large[e], count, targets, level, scene.bodies)
    if len(scene.fixed.entries):
        _look_at_walls(x, y, count, targets, scene.fixed)


@bare_kernel
def gather(x: float, y: float, i: int, window: float, near: Floats, blockers: Blockers) -> int:
    """Copy what is around a point, but for body i: x and y from there, square of the radius, row; how many."""
    grid, found = blockers.grid, 0
    left, bottom = cell_of(x - window, y - window, grid)
    right, top = cell_of(x + window, y + window, grid)
    for line in range(bottom, top + 1):
        since, until = blockers.starts[line * grid.columns + left], blockers.starts[line * grid.columns + right + 1]
        for e in range(since, until):
            near[0, found], near[1, found] = blockers.x[e] - x, blockers.y[e] - y
            near[2, found], near[3, found] = blockers.wide[e], blockers.row[e]
            found += int(blockers.row[e] != i)
    return found


@bare_kernel
def _follow(
    x: float, y: float, z: float, i: int, count: int, targets: Targets, level: bool, bodies: Bodies, blockers: Blockers
) -> None:
    """Look at the first of the rest: go along the rows of cells in which something on the way can have its middle."""
    grid, starts, reach = blockers.grid, blockers.starts, blockers.reach
    cell_m, per_m = grid.cell_m, 1.0 / grid.cell_m
    for n in range(count):
        t = targets.rest[n]
        j, to_x, to_y = targets.row[t], targets.x[t], targets.y[t]
        dx, dy, dz = to_x - x, to_y - y, targets.z[t] - z
        squared = dx * dx + dy * dy
        up, right = dy >= 0.0, dx >= 0.0
        margin = reach if up else -reach
        line = min(max(int((y - margin - grid.bottom_m) * per_m), 0), grid.rows - 1)
        lines = abs(min(max(int((to_y + margin - grid.bottom_m) * per_m), 0), grid.rows - 1) - line)
        per_y = dx / dy if dy != 0.0 else 0.0
        clear = True
        for _ in range(lines + 1):
            # The stretch of the way from which something in this row of cells is no farther than it reaches.
            near_x, far_x = x, to_x
            bottom = grid.bottom_m + line * cell_m - reach
            top = bottom + cell_m + 2.0 * reach
            enter_y, leave_y = (bottom, top) if up else (top, bottom)
            if (enter_y > y) == up:
                near_x = x + (enter_y - y) * per_y
            if (leave_y < to_y) == up:
                far_x = x + (leave_y - y) * per_y
            low, high = (near_x, far_x) if right else (far_x, near_x)
            first = min(max(int((low - reach - grid.left_m) * per_m), 0), grid.columns - 1)
            last = min(max(int((high + reach - grid.left_m) * per_m), 0), grid.columns - 1)
            for e in range(starts[line * grid.columns + first], starts[line * grid.columns + last + 1]):
                cx, cy = blockers.x[e] - x, blockers.y[e] - y
                off = cx * dy - cy * dx
                if off * off <= blockers.wide[e] * squared or squared == 0.0:
                    k = blockers.row[e]
                    if k != i and k != j and _hides(x, y, z, dx, dy, dz, k, level, bodies):  # noqa: PLR1714
                        clear = False
                        break
            if not clear:
                break
            line += 1 if up else -1
        targets.seen[t] = clear


@bare_kernel
def _look_past(
    x: float, y: float, z: float, i: int, k: int, count: int, targets: Targets, level: bool, bodies: Bodies
) -> None:
    """Take out of the first targets those that one body hides."""
    if k == i:
        return
    for t in range(count):
        if targets.seen[t] and targets.row[t] != k:
            dx, dy, dz = targets.x[t] - x, targets.y[t] - y, targets.z[t] - z
            targets.seen[t] = not _hides(x, y, z, dx, dy, dz, k, level, bodies)


@bare_kernel
def _look_at_walls(x: float, y: float, count: int, targets: Targets, fixed: Fixed) -> None:
    """Take out of the first targets those behind obstacles: walk from cell to cell, outside along the border."""
    grid, starts, entries = fixed.grid, fixed.starts, fixed.entries
    for t in range(count):
        if not targets.seen[t]:
            continue
        dx, dy = targets.x[t] - x, targets.y[t] - y
        column, line = math.floor((x - grid.left_m) / grid.cell_m), math.floor((y - grid.bottom_m) / grid.cell_m)
        across = math.floor((targets.x[t] - grid.left_m) / grid.cell_m) - column
        along = math.floor((targets.y[t] - grid.bottom_m) / grid.cell_m) - line
        # Shares of the way at which it enters the next column and the next line.
        at_x, per_x, at_y, per_y = math.inf, math.inf, math.inf, math.inf
        if across != 0:
            per_x = grid.cell_m / abs(dx)
            at_x = (grid.left_m + (column + (1 if across > 0 else 0)) * grid.cell_m - x) / dx
        if along != 0:
            per_y = grid.cell_m / abs(dy)
            at_y = (grid.bottom_m + (line + (1 if along > 0 else 0)) * grid.cell_m - y) / dy
        for _ in range(abs(across) + abs(along) + 1):
            cell = min(max(line, 0), grid.rows - 1) * grid.columns + min(max(column, 0), grid.columns - 1)
            for e in range(starts[cell], starts[cell + 1]):
                if _stands_between(x, y, dx, dy, entries[e], fixed.obstacles):
                    targets.seen[t] = False
                    break
            if not targets.seen[t]:
                break
            if at_x < at_y:
                column += 1 if across > 0 else -1
                at_x += per_x
            else:
                line += 1 if along > 0 else -1
                at_y += per_y


@bare_kernel
def _hides(x: float, y: float, z: float, dx: float, dy: float, dz: float, k: int, level: bool, bodies: Bodies) -> bool:
    """Whether a body lies on the way from a point along a vector."""
    enter, leave = _shadow(x, y, dx, dy, k, bodies)
    if enter > leave:
        return False
    if level:
        return True
    low, high = z + min(enter * dz, leave * dz), z + max(enter * dz, leave * dz)
    bottom = bodies.xyz[k, 2]
    return low < bottom + bodies.height[k] and high > bottom


@bare_kernel
def _shadow(x: float, y: float, dx: float, dy: float, k: int, bodies: Bodies) -> tuple[float, float]:
    """The part of the way, as shares of it, that lies within a body's outline; the end before the begin: none."""
    cx, cy, shape = bodies.xyz[k, 0] - x, bodies.xyz[k, 1] - y, bodies.shape[k]
    enter, leave = 0.0, 1.0
    if shape < 0:
        squared, along = dx * dx + dy * dy, cx * dx + cy * dy
        beyond = cx * cx + cy * cy - bodies.radius[k] * bodies.radius[k]
        if squared == 0.0:
            return (0.0, 1.0) if beyond < 0.0 else (1.0, 0.0)
        root = along * along - squared * beyond
        if root <= 0.0:
            return 1.0, 0.0
        half = math.sqrt(root)
        return max(enter, (along - half) / squared), min(leave, (along + half) / squared)
    cosine, sine = bodies.facing[k, 0], bodies.facing[k, 1]
    u, v = -cx * cosine - cy * sine, cx * sine - cy * cosine
    along_u, along_v = dx * cosine + dy * sine, dy * cosine - dx * sine
    corners = bodies.shapes.corners
    first, last = bodies.shapes.offsets[shape], bodies.shapes.offsets[shape + 1]
    for m in range(first, last):
        n = m + 1 if m + 1 < last else first
        normal_u, normal_v = corners[n, 1] - corners[m, 1], corners[m, 0] - corners[n, 0]  # outwards
        gap = normal_u * (u - corners[m, 0]) + normal_v * (v - corners[m, 1])
        speed = normal_u * along_u + normal_v * along_v
        if speed < 0.0:
            enter = max(enter, gap / -speed)
        elif speed > 0.0:
            leave = min(leave, -gap / speed)
        elif gap > 0.0:
            return 1.0, 0.0
    return enter, leave


@bare_kernel
def _stands_between(x: float, y: float, dx: float, dy: float, k: int, obstacles: Obstacles) -> bool:
    """Whether an obstacle lies on the way from a point along a vector."""
    if obstacles.kind[k] != DISK:
        return ray_to_obstacle(x, y, dx, dy, k, obstacles) <= 1.0
    cx, cy = obstacles.rows[k, 0] - x, obstacles.rows[k, 1] - y
    squared, along = dx * dx + dy * dy, cx * dx + cy * dy
    beyond = cx * cx + cy * cy - obstacles.rows[k, 6] * obstacles.rows[k, 6]
    if beyond < 0.0:
        return True
    root = along * along - squared * beyond
    return along > 0.0 and root > 0.0 and along - math.sqrt(root) <= squared
