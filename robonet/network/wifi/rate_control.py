"""Automatic rate fallback (Kamerman and Monteban 1997): up after ten successes, down after two failures in a row.

The first frame after a step up is a probe: if it fails, down again at once. State is kept for each link in use, in
a hash table; a link is known by its two nodes.
"""

from robonet.kernels import bare_kernel
from robonet.network.wifi.state import RATE_CONTROL, RATE_COUNT, Air, Ints

LINK, CURRENT, SUCCESSES, MISSES, PROBING = range(5)
HABIT_COLUMNS = 5
EMPTY = -1
UP_AFTER, DOWN_AFTER = 10, 2


@bare_kernel
def place_of(habits: Ints, node: int, peer: int) -> int:
    """Where a link's state is, or is to be; in a full table, where another's is, which is lost."""
    link = (node << 32) | peer
    size = len(habits)
    place = ((link * 0x9E3779B1) >> 7) % size
    for _ in range(size):
        if habits[place, LINK] == EMPTY or habits[place, LINK] == link:
            break
        place = (place + 1) % size
    return place


@bare_kernel
def first_rate(air: Air, node: int, peer: int, chosen: int) -> int:
    """The rate for the next try to a neighbour."""
    if not air.radio[RATE_CONTROL]:
        return chosen
    habits = air.habits
    place = place_of(habits, node, peer)
    link = (node << 32) | peer
    if habits[place, LINK] != link:
        habits[place, LINK] = link
        habits[place, CURRENT] = chosen
        habits[place, SUCCESSES] = habits[place, MISSES] = habits[place, PROBING] = 0
    return habits[place, CURRENT]


@bare_kernel
def succeeded(air: Air, node: int, peer: int) -> None:
    """An ACK came."""
    if air.radio[RATE_CONTROL]:
        habits = air.habits
        place = place_of(habits, node, peer)
        habits[place, SUCCESSES] += 1
        habits[place, MISSES] = 0
        habits[place, PROBING] = 0
        if habits[place, SUCCESSES] >= UP_AFTER and habits[place, CURRENT] < air.radio[RATE_COUNT] - 1:
            habits[place, CURRENT] += 1
            habits[place, SUCCESSES] = 0
            habits[place, PROBING] = 1


@bare_kernel
def failed(air: Air, node: int, peer: int) -> None:
    """No ACK came."""
    if air.radio[RATE_CONTROL]:
        habits = air.habits
        place = place_of(habits, node, peer)
        habits[place, SUCCESSES] = 0
        habits[place, MISSES] += 1
        if habits[place, PROBING] or habits[place, MISSES] >= DOWN_AFTER:
            habits[place, CURRENT] = max(habits[place, CURRENT] - 1, 0)
            habits[place, MISSES] = 0
        habits[place, PROBING] = 0
