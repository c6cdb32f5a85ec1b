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
        column, row = cell_of(xyz[i, 0], xyz[i, 1], grid)
        first = found
        for r in range(max(row - 1, 0), min(row + 2, grid.rows)):
            for c in range(max(column - 1, 0), min(column + 2, grid.columns)):
                for k in range(starts[r * grid.columns + c], starts[r * grid.columns + c + 1]):
                    j = order[k]
                    if j == i:
                        continue
                    dx, dy, dz = xyz[j, 0] - xyz[i, 0], xyz[j, 1] - xyz[i, 1], xyz[j, 2] - xyz[i, 2]
                    if dx * dx + dy * dy + dz * dz <= reach * reach:
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
        self.offsets = np.zeros(len(range_m) + 1, dtype=np.int64)
        self._room = np.empty(16 * len(range_m) + 16, dtype=np.int64)
        self._order = np.empty(len(range_m), dtype=np.int64)
        self.nodes = self._room[:0]

    def update(self, xyz: Floats) -> None:
        """Find the neighbours again for new positions."""
        if not len(xyz):
            return
        low, high = xyz.min(axis=0), xyz.max(axis=0)
        grid = Grid.covering(
            float(low[0]), float(low[1]), float(high[0]), float(high[1]), float(self.range_m.max()), len(xyz)
        )
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


@kernel
def hops_to(target: int, offsets: Ints, nodes: Ints, hops: Ints, queue: Ints) -> None:
    """Breadth first from `target` over rows of who can reach whom: `hops[i]`, or -1 where there is no path.

    The rows must list, for every node, those from which it can be reached.
    """
    hops[:] = -1
    hops[target] = 0
    queue[0] = target
    head, tail = 0, 1
    while head < tail:
        node = queue[head]
        head += 1
        for k in range(offsets[node], offsets[node + 1]):
            other = nodes[k]
            if hops[other] < 0:
                hops[other] = hops[node] + 1
                queue[tail] = other
                tail += 1
