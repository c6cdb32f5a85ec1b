"""A hook that measures: how much of the hall has any scout been in?"""

import numpy as np

import robonet


class Coverage(robonet.Hooks):
    """Marks the cells that scouts have visited."""

    def __init__(self, cell_m: float = 5.0) -> None:
        self._cell_m = cell_m
        self._visited: set[tuple[int, int]] = set()

    def on_start(self, world) -> None:
        width_m, height_m = world.arena.size_m
        self._cells = int(np.ceil(width_m / self._cell_m) * np.ceil(height_m / self._cell_m))

    def after_step(self, world) -> None:
        cells = np.floor((world.xyz[: world.robots, :2] - world.arena.low_m) / self._cell_m).astype(int)
        self._visited.update(map(tuple, cells.tolist()))

    def metrics(self) -> dict[str, float]:
        return {"visited_share": len(self._visited) / self._cells}
