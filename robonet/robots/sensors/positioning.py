"""`positioning`: where a robot is and where it looks, without error."""

from typing import Any

from robonet.robots.world import World


class Positioning:
    """For one robot its readings are floats, for a group arrays with one item a robot."""

    def __init__(self, world: World, rows: int | slice) -> None:
        self._x, self._y = world.xyz[:, 0], world.xyz[:, 1]
        self._heading = world.heading
        self._rows = rows

    @property
    def x_m(self) -> Any:
        """Position along x."""
        return _read(self._x, self._rows)

    @property
    def y_m(self) -> Any:
        """Position along y."""
        return _read(self._y, self._rows)

    @property
    def position_m(self) -> tuple[Any, Any]:
        """Position as (x, y)."""
        return _read(self._x, self._rows), _read(self._y, self._rows)

    @property
    def heading_rad(self) -> Any:
        """Direction, counter-clockwise from the x axis, in (-pi, pi]."""
        return _read(self._heading, self._rows)


def _read(column: Any, rows: int | slice) -> Any:
    """A plain float, or a copy: what a controller holds is its own."""
    return column[rows].item() if isinstance(rows, int) else column[rows].copy()
