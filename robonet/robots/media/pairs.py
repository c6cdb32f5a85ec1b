"""Kernels of range-and-bearing: who hears whom, and from where."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robonet.kernels import bare_kernel, rows_kernel
from robonet.robots.media.draws import Keys, mixed, share
from robonet.robots.media.points import Points
from robonet.robots.media.shadows import Table, unshadowed
from robonet.robots.sight import Indices, Scene, Targets, look
from robonet.robots.trigonometry import cosine_sine
from robonet.space import Floats, Grid, Ints, cell_of

THERE, BACK = 1, 2
"""Ways that a message takes between two: from the first to the second, and from the second to the first."""

Flags = NDArray[np.bool_]


class Carriers(NamedTuple):
    """What does not change: one item for everyone who carries a device, in the order of bodies."""

    row: Indices
    reach: Floats
    through: Flags
    """Whether its messages go through bodies and obstacles."""
    misses: Floats
    """Chance that it misses a message."""
    middle: Floats
    """Height of its device above the underside."""


@bare_kernel
def arrange(order: Ints, at: Floats, numbers: Indices, lengths: Indices, carriers: Carriers, points: Points) -> bool:
    """Copy what is needed of everyone into the order of cells; whether all speak, and as far as each other."""
    alike = True
    for p in range(len(order)):
        k = order[p]
        c = numbers[k]
        points.x[p], points.y[p], points.z[p] = at[0, k], at[1, k], at[2, k]
        points.number[p] = c
        points.row[p] = carriers.row[c]
        points.reach[p] = carriers.reach[c] if lengths[c] >= 0 else -1.0
        alike = alike and points.reach[p] == points.reach[0]
    return alike and points.reach[0] > 0.0


@rows_kernel
def pair_up(
    first: int, last: int, room: int, points: Points, grid: Grid, starts: Ints, alike: bool, level: bool,
    carriers: Carriers, keys: Keys, salt: np.uint64, step: int, scene: Scene, targets: Targets,
    shadows: Table, picked: Indices, begin: Indices, end: Indices, partner: Indices, ways: NDArray[np.int8],
) -> bool:  # fmt: skip
    """List for each of some points with whom it exchanges messages; false if there is no room for them.

    A pair stands with only one of the two, so that sight is looked at once: with the one that the other does not
    reach, or with the first in order.
    """
    at = first * room
    lossy, crowded = len(keys) > 0, len(shadows) > 0
    for p in range(first, last):
        begin[p] = at
        reach, i, own = points.reach[p], points.row[p], points.number[p]
        if reach > 0.0:
            x, y, z, squared = points.x[p], points.y[p], points.z[p], reach * reach
            left, bottom = cell_of(x - reach, y - reach, grid)
            right, top = cell_of(x + reach, y + reach, grid)
            if alike:
                _, bottom = cell_of(x, y, grid)
            found = 0
            for r in range(bottom, top + 1):
                since, until = starts[r * grid.columns + left], starts[r * grid.columns + right + 1]
                if alike:
                    since = max(since, p + 1)
                for q in range(since, until):
                    dx, dy, dz = points.x[q] - x, points.y[q] - y, points.z[q] - z
                    picked[found] = q  # kept if it counts: no branch that could be foreseen wrongly
                    found += int(dx * dx + dy * dy + dz * dz <= squared)
            if crowded:
                found = unshadowed(p, found, points, shadows, picked)
            blocked = 0
            for n in range(found):
                q = picked[n]
                if q == p:
                    continue
                dx, dy, dz = points.x[q] - x, points.y[q] - y, points.z[q] - z
                other, way = points.number[q], THERE
                if points.reach[q] > 0.0 and dx * dx + dy * dy + dz * dz <= points.reach[q] * points.reach[q]:
                    if q < p:
                        continue
                    way |= BACK
                if lossy:
                    if _is_missed(other, own, carriers, keys, salt, step):
                        way &= ~THERE
                    if way & BACK and _is_missed(own, other, carriers, keys, salt, step):
                        way &= ~BACK
                    if way == 0:
                        continue
                if at == last * room:
                    return False
                partner[at], ways[at] = q, way
                free = (THERE if carriers.through[own] else 0) | (BACK if carriers.through[other] else 0)
                if way & ~free:
                    targets.x[blocked], targets.y[blocked], targets.z[blocked] = points.x[q], points.y[q], points.z[q]
                    targets.row[blocked], targets.what[blocked] = points.row[q], at
                    blocked += 1
                at += 1
            if blocked:
                look(x, y, z, i, blocked, targets, level, scene)
                at = _without_hidden(begin[p], at, blocked, targets, own, points, carriers, partner, ways)
        end[p] = at
    return True


@bare_kernel
def _without_hidden(
    first: int, last: int, count: int, targets: Targets, own: int, points: Points, carriers: Carriers,
    partner: Indices, ways: NDArray[np.int8],
) -> int:  # fmt: skip
    """Take out those who are not in sight, unless what they say goes through everything; where the list ends then."""
    for t in range(count):
        if not targets.seen[t]:
            e = targets.what[t]
            through = carriers.through[points.number[partner[e]]]
            ways[e] &= (THERE if carriers.through[own] else 0) | (BACK if through else 0)
    at = first
    for e in range(first, last):
        if ways[e]:
            partner[at], ways[at] = partner[e], ways[e]
            at += 1
    return at


@bare_kernel
def _is_missed(receiver: int, sender: int, carriers: Carriers, keys: Keys, salt: np.uint64, step: int) -> bool:
    """Whether a receiver does not notice a message: a matter of these two and of the step alone."""
    chance = carriers.misses[receiver]
    if chance <= 0.0:
        return False
    return share(mixed(mixed(mixed(salt, keys[receiver]), keys[sender]), np.uint64(step))) < chance


@bare_kernel
def count_heard(
    points: Points, begin: Indices, end: Indices, partner: Indices, ways: NDArray[np.int8], sent: Ints, heard: Ints
) -> int:
    """How many hear each (`sent[c + 1]`), how many each hears (`heard[c + 1]`), both summed up; all together."""
    sent[:] = 0
    heard[:] = 0
    for p in range(len(begin)):
        own = points.number[p]
        for e in range(begin[p], end[p]):
            other = points.number[partner[e]]
            if ways[e] & THERE:
                sent[own + 1] += 1
                heard[other + 1] += 1
            if ways[e] & BACK:
                sent[other + 1] += 1
                heard[own + 1] += 1
    for c in range(1, len(sent)):
        sent[c] += sent[c - 1]
        heard[c] += heard[c - 1]
    return int(heard[len(heard) - 1])


@bare_kernel
def list_heard(
    points: Points, begin: Indices, end: Indices, partner: Indices, ways: NDArray[np.int8],
    sent: Ints, heard: Ints, receivers: Indices, senders: Indices,
) -> None:  # fmt: skip
    """Sort twice by counting, by sender and then by receiver, so that everyone hears senders in their order.

    Both rows of begins come back as they were.
    """
    for p in range(len(begin)):
        own = points.number[p]
        for e in range(begin[p], end[p]):
            other = points.number[partner[e]]
            if ways[e] & THERE:
                receivers[sent[own]] = other
                sent[own] += 1
            if ways[e] & BACK:
                receivers[sent[other]] = own
                sent[other] += 1
    e = 0
    for sender in range(len(sent) - 1):
        while e < sent[sender]:
            receiver = receivers[e]
            senders[heard[receiver]] = sender
            heard[receiver] += 1
            e += 1
    for c in range(len(sent) - 1, 0, -1):
        sent[c] = sent[c - 1]
        heard[c] = heard[c - 1]
    sent[0] = heard[0] = 0


@rows_kernel
def read_places(
    first: int, last: int, offsets: Ints, senders: Indices, carriers: Carriers, xyz: Floats, heading: Floats,
    ranges: Floats, bearings: Floats, elevations: Floats,
) -> None:  # fmt: skip
    """Where messages come from, for some of the carriers."""
    for c in range(first, last):
        if offsets[c] == offsets[c + 1]:
            continue
        i = carriers.row[c]
        x, y, z = xyz[i, 0], xyz[i, 1], xyz[i, 2] + carriers.middle[c]
        cosine, sine = cosine_sine(heading[i])
        for e in range(offsets[c], offsets[c + 1]):
            j = carriers.row[senders[e]]
            dx, dy, dz = xyz[j, 0] - x, xyz[j, 1] - y, xyz[j, 2] + carriers.middle[senders[e]] - z
            flat = dx * dx + dy * dy
            ranges[e] = math.sqrt(flat + dz * dz)
            bearings[e] = direction(dx * cosine + dy * sine, dy * cosine - dx * sine)
            elevations[e] = direction(math.sqrt(flat), dz) if dz != 0.0 else 0.0


@bare_kernel
def direction(x: float, y: float) -> float:
    """The angle of a vector, as `atan2(y, x)`, by plain arithmetic: the same bits on every machine, and faster.

    A rational function of least error over a sixteenth of a turn to either side (Cephes); errors stay below 5e-16.
    """
    wide, high = abs(x), abs(y)
    small, large = min(wide, high), max(wide, high)
    if large == 0.0:
        return 0.0
    tilted = small > 0.41421356237309503 * large
    t = (small - large) / (small + large) if tilted else small / large
    z = t * t
    over = (((-8.750608600031904122785e-1 * z - 1.615753718733365076637e1) * z - 7.500855792314704667340e1) * z
            - 1.228866684490136173410e2) * z - 6.485021904942025371773e1  # fmt: skip
    under = ((((z + 2.485846490142306297962e1) * z + 1.650270098316988542046e2) * z + 4.328810604912902668951e2) * z
             + 4.853903996359136964868e2) * z + 1.945506571482613964425e2  # fmt: skip
    angle = t + t * (z * over / under)
    if tilted:
        angle += 0.7853981633974483
    if high > wide:
        angle = 1.5707963267948966 - angle
    if x < 0.0:
        angle = 3.141592653589793 - angle
    return -angle if y < 0.0 else angle
