"""What surely hides everything behind it, by direction: in a crowd nearly all are hidden by somebody near.

A table has a line for every point and an item for each of some directions: the squared distance from which on
nothing can be seen. It never says so of what is in sight; what it leaves open has to be looked at.
"""

import math

import numpy as np
from numpy.typing import NDArray

from robonet.kernels import bare_kernel, rows_kernel
from robonet.robots.media.points import Points
from robonet.robots.sight import Blockers, Indices, gather
from robonet.space import Floats

Table = NDArray[np.float32]

DIRECTIONS = 256
CERTAIN = 1e-6
"""By this share shadows are taken as narrower and farther than they are, so that rounding does not matter."""


@bare_kernel
def bin_of(x: float, y: float) -> float:
    """Which direction a vector has, counted counter-clockwise, with the fraction: no angle, but as monotonous."""
    slope = y / (abs(x) + abs(y))
    return (slope + 1.0 if x >= 0.0 else 3.0 - slope) * (DIRECTIONS / 4)


@rows_kernel
def cast_shadows(
    first: int, last: int, points: Points, window: float, inner: Floats, near: Floats, blockers: Blockers, out: Table
) -> None:
    """Write the lines of some points; `inner` is how far each body reaches in every direction."""
    for p in range(first, last):
        for b in range(DIRECTIONS):
            out[p, b] = np.float32(math.inf)
        found = gather(points.x[p], points.y[p], points.row[p], window, near, blockers)
        for e in range(found):
            x, y = near[0, e], near[1, e]
            squared = x * x + y * y
            radius = inner[int(near[3, e])] * (1.0 - CERTAIN)
            along = squared - radius * radius
            if along <= 0.0 or squared > window * window:
                continue
            along = math.sqrt(along)
            begin = math.ceil(bin_of(x * along + y * radius, y * along - x * radius))
            end = math.floor(bin_of(x * along - y * radius, y * along + x * radius))
            if end < begin - 1:
                end += DIRECTIONS
            behind = np.float32(squared * (1.0 + CERTAIN))
            for b in range(begin, end):
                k = b & (DIRECTIONS - 1)
                out[p, k] = min(out[p, k], behind)


@bare_kernel
def unshadowed(p: int, count: int, points: Points, shadows: Table, picked: Indices) -> int:
    """Keep those of the first picked that point p may see, by its own shadows and by theirs; how many."""
    x, y, kept = points.x[p], points.y[p], 0
    for n in range(count):
        q = picked[n]
        dx, dy = points.x[q] - x, points.y[q] - y
        squared = dx * dx + dy * dy
        b = int(bin_of(dx, dy)) & (DIRECTIONS - 1)
        picked[kept] = q
        kept += int((squared <= shadows[p, b]) & (squared <= shadows[q, b ^ (DIRECTIONS // 2)]))
    return kept
