"""Events of the medium in order of time, and of being asked for where times are equal: a binary heap in an array."""

from robonet.kernels import bare_kernel
from robonet.network.wifi.state import EVENT_COLUMNS, EVENT_NUMBER, EVENTS, ORDER, TIME, WHAT, WHICH, WHO, Ints


@bare_kernel
def _copy(agenda: Ints, source: int, target: int) -> None:
    for column in range(EVENT_COLUMNS):
        agenda[target, column] = agenda[source, column]


@bare_kernel
def push(agenda: Ints, radio: Ints, time: int, what: int, who: int, which: int) -> None:
    """Add an event; there must be room."""
    order = radio[EVENT_NUMBER]
    radio[EVENT_NUMBER] += 1
    place = radio[EVENTS]
    radio[EVENTS] += 1
    while place > 0:
        parent = (place - 1) >> 1
        if agenda[parent, TIME] <= time:  # what is there was asked for earlier
            break
        _copy(agenda, parent, place)
        place = parent
    agenda[place, TIME] = time
    agenda[place, ORDER] = order
    agenda[place, WHAT] = what
    agenda[place, WHO] = who
    agenda[place, WHICH] = which


@bare_kernel
def pop(agenda: Ints, radio: Ints) -> tuple[int, int, int, int]:
    """Take the first event: its time, what, who and which."""
    first = agenda[0, TIME], agenda[0, WHAT], agenda[0, WHO], agenda[0, WHICH]
    radio[EVENTS] -= 1
    last = radio[EVENTS]
    time, order = agenda[last, TIME], agenda[last, ORDER]
    place = 0
    while True:
        child = 2 * place + 1
        if child >= last:
            break
        other = child + 1
        if other < last and (
            agenda[other, TIME] < agenda[child, TIME]
            or (agenda[other, TIME] == agenda[child, TIME] and agenda[other, ORDER] < agenda[child, ORDER])
        ):
            child = other
        if time < agenda[child, TIME] or (time == agenda[child, TIME] and order < agenda[child, ORDER]):
            break
        _copy(agenda, child, place)
        place = child
    if last > 0:
        _copy(agenda, last, place)
    return first
