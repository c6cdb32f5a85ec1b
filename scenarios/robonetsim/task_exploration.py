"""Probabilistic exploration with a memory of explored areas.

The arena is a grid. A robot remembers when it last saw each cell. A new target is a random point of a cell that is
drawn with a probability in proportion to

    (1 - exp(-age / forget_s)) * exp(-distance / near_m)

where `age` is the time since the cell was seen (for ever, where it never was): what was seen lately is avoided, what
is near is preferred, and nothing is excluded for good. Robots do not tell each other what they have seen, since none
of the five messages says so.
"""

import math

import numpy as np
from task_messages import Place


class Grid:
    """The cells of an arena, shared by all robots."""

    def __init__(self, low_m: Place, size_m: Place, cell_m: float, sight_m: float) -> None:
        self.columns = math.ceil(size_m[0] / cell_m)
        self.rows = math.ceil(size_m[1] / cell_m)
        self.low_m, self.size_m, self.cell_m = low_m, size_m, cell_m
        numbers = np.arange(self.columns * self.rows)
        self.centres_m = np.stack((numbers % self.columns, numbers // self.columns), axis=1) * cell_m
        self.centres_m = self.centres_m + np.array(low_m) + cell_m / 2
        between = self.centres_m[:, None, :] - self.centres_m[None, :, :]
        is_seen = np.einsum("abi,abi->ab", between, between) <= sight_m**2
        self.seen_from = [np.flatnonzero(row) for row in is_seen]
        """For each cell those that are in sight of somebody in its middle."""

    def cells_of(self, x_m: np.ndarray, y_m: np.ndarray) -> np.ndarray:
        """The cells that some points are in."""
        column = ((x_m - self.low_m[0]) / self.cell_m).astype(np.int64)
        row = ((y_m - self.low_m[1]) / self.cell_m).astype(np.int64)
        return np.minimum(row, self.rows - 1) * self.columns + np.minimum(column, self.columns - 1)


class Exploration:
    """What one robot has explored, and where it goes next."""

    def __init__(self, grid: Grid, forget_s: float, near_m: float, rng: np.random.Generator) -> None:
        self._grid, self._forget_s, self._near_m, self._rng = grid, forget_s, near_m, rng
        self.seen_s = np.full(len(grid.centres_m), -np.inf)
        """When each cell was last seen."""

    def look(self, cell: int, now: float) -> None:
        """Be in a cell."""
        self.seen_s[self._grid.seen_from[cell]] = now

    def weights(self, here: Place, now: float) -> np.ndarray:
        """How much each cell is worth a visit."""
        distances_m = np.hypot(*(self._grid.centres_m - here).T)
        return (1.0 - np.exp((self.seen_s - now) / self._forget_s)) * np.exp(-distances_m / self._near_m)

    def target(self, here: Place, now: float) -> Place:
        """Where to go next."""
        grid, sums = self._grid, np.cumsum(self.weights(here, now))
        draw, across, along = self._rng.random(3).tolist()
        cell = min(int(np.searchsorted(sums, draw * sums[-1], side="right")), len(sums) - 1)
        low_x, low_y = (grid.centres_m[cell] - grid.cell_m / 2).tolist()
        width_m = min(grid.cell_m, grid.low_m[0] + grid.size_m[0] - low_x)
        height_m = min(grid.cell_m, grid.low_m[1] + grid.size_m[1] - low_y)
        return low_x + across * width_m, low_y + along * height_m
