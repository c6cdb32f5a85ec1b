"""Everyone who hears, in the order in which kernels go through them."""

from typing import NamedTuple

from robonet.robots.sight import Indices
from robonet.space import Floats


class Points(NamedTuple):
    """Everyone who hears, in the order of cells: those of one cell are neighbours in the arrays."""

    x: Floats
    y: Floats
    z: Floats
    """The middle of the body."""
    reach: Floats
    """How far its message is heard, less than 0 of those who are silent."""
    number: Indices
    """Which of the carriers it is."""
    row: Indices
    """Which body it is."""
