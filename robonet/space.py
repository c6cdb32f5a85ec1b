"""Who is near whom: a uniform grid over points, filled by counting sort, and the neighbour lists read off it."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robonet.kernels import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Grid(NamedTuple):
    """Cells of one size over a rectangle; points outside it belong to the nearest border cell."""

    left_m: float
    bottom_m: float
    cell_m: float
    columns: int
    rows: int

    @staticmethod
    def covering(left_m: float, bottom_m: float, right_m: float, top_m: float, reach_m: float, points: int) -> "Grid":
        """Make a grid in which points nearer than `reach_m` share a cell or are in adjoining ones.

        Cells grow with the emptiness of the rectangle: about one cell a point, however large the arena.
        """
        width, height = max(right_m - left_m, 1e-9), max(top_m - bottom_m, 1e-9)
        cell = max(reach_m, (width * height / max(points, 1)) ** 0.5, max(width, height) / 4096, 1e-9)
        return Grid(left_m, bottom_m, cell, int(width // cell) + 1, int(height // cell) + 1)


@kernel
def cell_of(x: float, y: float, grid: Grid) -> tuple[int, int]:
    """Column and row of a point, clamped into the grid."""
    column = int((x - grid.left_m) / grid.cell_m)
    row = int((y - grid.bottom_m) / grid.cell_m)
    return min(max(column, 0), grid.columns - 1), min(max(row, 0), grid.rows - 1)


@kernel
def sort_into_cells(x: Floats, y: Floats, grid: Grid, starts: Ints, order: Ints) -> None:
    """Counting sort: `order[starts[c]:starts[c + 1]]` are the points of cell c, in ascending order."""
    starts[:] = 0
    for i in range(len(x)):
        column, row = cell_of(x[i], y[i], grid)
        starts[row * grid.columns + column + 1] += 1
    for c in range(1, len(starts)):
        starts[c] += starts[c - 1]
    for i in range(len(x) - 1, -1, -1):
        column, row = cell_of(x[i], y[i], grid)
        starts[row * grid.columns + column + 1] -= 1
        order[starts[row * grid.columns + column + 1]] = i
    # Now starts[c + 1] holds where cell c begins; shift it into place.
    for c in range(len(starts) - 1):
        starts[c] = starts[c + 1]
    starts[len(starts) - 1] = len(x)


@kernel
def _neighbours(xyz: Floats, range_m: Floats, grid: Grid, starts: Ints, order: Ints, offsets: Ints, nodes: Ints) -> int:
    """Write the rows of neighbours, each ascending, as far as `nodes` has room; return the room they need."""
    found = 0
    for i in range(len(xyz)):
        offsets[i] = found
        reach = range_m[i]
        if reach <= 0.0:
            continue
        first = found
        left, bottom = cell_of(xyz[i, 0] - reach, xyz[i, 1] - reach, grid)
        right, top = cell_of(xyz[i, 0] + reach, xyz[i, 1] + reach, grid)
        for r in range(bottom, top + 1):
            for k in range(starts[r * grid.columns + left], starts[r * grid.columns + right + 1]):
                j = order[k]
                dx, dy, dz = xyz[j, 0] - xyz[i, 0], xyz[j, 1] - xyz[i, 1], xyz[j, 2] - xyz[i, 2]
                if j != i and dx * dx + dy * dy + dz * dz <= reach * reach:
                    if found < len(nodes):
                        nodes[found] = j
                    found += 1
        if found <= len(nodes):
            nodes[first:found].sort()
    offsets[len(xyz)] = found
    return found


class NeighbourLists:
    """Neighbours of every point in compressed rows: `nodes[offsets[i]:offsets[i + 1]]`, ascending.

    j is a neighbour of i when it is no farther than `range_m[i]`; where ranges differ this is not symmetric.
    """

    def __init__(self, range_m: Floats) -> None:
        self.range_m = range_m
        self._usual_m = float(np.median(range_m))  # one that reaches far must not make everyone look far
        self.offsets = np.zeros(len(range_m) + 1, dtype=np.int64)
        self._room = np.empty(16 * len(range_m) + 16, dtype=np.int64)
        self._order = np.empty(len(range_m), dtype=np.int64)
        self.nodes = self._room[:0]

    def update(self, xyz: Floats) -> None:
        """Find the neighbours again for new positions."""
        if not len(xyz):
            return
        low, high = xyz.min(axis=0), xyz.max(axis=0)
        grid = Grid.covering(float(low[0]), float(low[1]), float(high[0]), float(high[1]), self._usual_m, len(xyz))
        starts = np.empty(grid.columns * grid.rows + 1, dtype=np.int64)
        sort_into_cells(xyz[:, 0], xyz[:, 1], grid, starts, self._order)
        while True:
            found = _neighbours(xyz, self.range_m, grid, starts, self._order, self.offsets, self._room)
            if found <= len(self._room):
                break
            self._room = np.empty(found + found // 4, dtype=np.int64)
        self.nodes = self._room[:found]

    def of(self, node: int) -> Ints:
        """The neighbours of one point."""
        return self.nodes[self.offsets[node] : self.offsets[node + 1]]


class Search:
    """Breadth first from a target, as far as it is needed: `hops[i]` of the nodes found so far, -1 of the others."""

    def __init__(self, target: int, nodes: int) -> None:
        self.hops = np.full(nodes, -1, dtype=np.int64)
        self.hops[target] = 0
        self._queue = np.empty(nodes, dtype=np.int64)
        self._queue[0] = target
        self._head, self._tail = 0, 1

    def reach(self, source: int, offsets: Ints, nodes: Ints) -> None:
        """Go on until the source is found, with all that lie nearer, or there is nothing more to find.

        The rows must list, for every node, those from which it can be reached.
        """
        if self.hops[source] < 0 and self._head < self._tail:
            self._head, self._tail = _widen(source, offsets, nodes, self.hops, self._queue, self._head, self._tail)

    def path_from(self, source: int, offsets: Ints, nodes: Ints) -> list[int]:
        """The nodes of a shortest path after the source, the first one last, by rows of whom a node reaches."""
        if self.hops[source] <= 0:
            return []
        path: list[int] = _descend(source, offsets, nodes, self.hops)[::-1].tolist()
        return path


@kernel
def _descend(source: int, offsets: Ints, nodes: Ints, hops: Ints) -> Ints:
    path = np.empty(hops[source], dtype=np.int64)
    node = source
    for step in range(len(path)):
        for k in range(offsets[node], offsets[node + 1]):
            if hops[nodes[k]] == hops[node] - 1:
                node = nodes[k]
                break
        path[step] = node
    return path


@kernel
def _widen(source: int, offsets: Ints, nodes: Ints, hops: Ints, queue: Ints, head: int, tail: int) -> tuple[int, int]:
    while head < tail and hops[source] < 0:
        node = queue[head]
        head += 1
        for k in range(offsets[node], offsets[node + 1]):
            other = nodes[k]
            if hops[other] < 0:
                hops[other] = hops[node] + 1
                queue[tail] = other
                tail += 1
    return head, tail
