"""When a node may speak: the backoff of the distributed coordination function (IEEE 802.11-2016, 10.3.4).

A backoff is not a timer a slot but one number: access = since when the medium is free + DIFS + slots left. It is
worked out when the medium turns free, and slots that have passed are taken off when it turns busy.
"""

import numpy as np

from robonet.kernels import bare_kernel
from robonet.network.wifi.agenda import push
from robonet.network.wifi.state import (
    ACCESS,
    ACCESS_DUE,
    ACCESS_TIMER,
    BACKOFF_FROM,
    BUSY,
    BUSY_END,
    CW_MAX,
    CW_MIN,
    DICE,
    DIFS,
    EIFS_EXTRA,
    FAILURES,
    NAV_END,
    QUEUED,
    REQUESTED,
    RETRY_LIMIT,
    RX_BAD,
    RX_END,
    SLOT,
    SLOTS,
    TX_END,
    WAIT_END,
    WINDOW,
    Ints,
)

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_A = np.uint64(0xBF58476D1CE4E5B9)
MIX_B = np.uint64(0x94D049BB133111EB)


@bare_kernel
def scrambled(word: np.uint64) -> np.uint64:
    """The finaliser of SplitMix64: neighbouring numbers come out unrelated."""
    word = (word ^ (word >> np.uint64(30))) * MIX_A
    word = (word ^ (word >> np.uint64(27))) * MIX_B
    return word ^ (word >> np.uint64(31))


@bare_kernel
def uniform(mac: Ints, node: int) -> float:
    """The next number in [0, 1) of a node's own stream (SplitMix64)."""
    word = np.uint64(mac[node, DICE]) + GOLDEN
    mac[node, DICE] = np.int64(word)
    return float(scrambled(word) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@bare_kernel
def backoff_start(mac: Ints, radio: Ints, node: int) -> int:
    """When slots begin to count: a DIFS, or after a failed reception an EIFS, after the medium turned free."""
    free = mac[node, RX_END] + mac[node, RX_BAD] * radio[EIFS_EXTRA]  # 10.3.2.3.7
    free = max(free, mac[node, BUSY_END], mac[node, TX_END], mac[node, NAV_END], mac[node, WAIT_END])
    return max(mac[node, BACKOFF_FROM], free + radio[DIFS])


@bare_kernel
def count_down(mac: Ints, radio: Ints, node: int, now: int) -> None:
    """Take off the slots that have passed."""
    start = backoff_start(mac, radio, node)
    if start <= now:
        passed = min((now - start) // radio[SLOT], mac[node, SLOTS])
        mac[node, SLOTS] -= passed
        mac[node, BACKOFF_FROM] = start + passed * radio[SLOT]


@bare_kernel
def arm(mac: Ints, radio: Ints, agenda: Ints, node: int, now: int) -> None:
    """Set the timer of a node that wants to speak, on a free medium."""
    mac[node, ACCESS_TIMER] += 1
    time = backoff_start(mac, radio, node) + mac[node, SLOTS] * radio[SLOT]
    push(agenda, radio, max(time, now), ACCESS_DUE, node, mac[node, ACCESS_TIMER])


@bare_kernel
def freeze(mac: Ints, radio: Ints, node: int, now: int) -> None:
    """The medium turns busy for a node."""
    count_down(mac, radio, node, now)
    mac[node, BUSY] = 1
    mac[node, ACCESS_TIMER] += 1


@bare_kernel
def resume(mac: Ints, radio: Ints, agenda: Ints, node: int, now: int) -> None:
    """The medium turns free for a node."""
    mac[node, BUSY] = 0
    mac[node, BUSY_END] = now
    if mac[node, ACCESS] == REQUESTED:
        arm(mac, radio, agenda, node, now)


@bare_kernel
def draw_backoff(mac: Ints, node: int, now: int) -> None:
    """A new backoff from the window (10.3.4.3)."""
    mac[node, SLOTS] = int(uniform(mac, node) * (mac[node, WINDOW] + 1))
    mac[node, BACKOFF_FROM] = now


@bare_kernel
def request(mac: Ints, radio: Ints, agenda: Ints, node: int, now: int) -> None:
    """The first frame of an empty queue: at once if the medium is free and no backoff is left (10.3.4.2)."""
    if not mac[node, BUSY]:
        count_down(mac, radio, node, now)
    if mac[node, SLOTS] == 0:
        if mac[node, BUSY] or mac[node, NAV_END] > now:
            draw_backoff(mac, node, now)
        else:
            mac[node, BACKOFF_FROM] = now + radio[DIFS]
    mac[node, ACCESS] = REQUESTED
    if not mac[node, BUSY]:
        arm(mac, radio, agenda, node, now)


@bare_kernel
def release(mac: Ints, radio: Ints, agenda: Ints, node: int, now: int) -> None:
    """An exchange is over, well or not: always a backoff before the next one (10.3.4.3)."""
    draw_backoff(mac, node, now)
    mac[node, ACCESS] = 0
    if mac[node, QUEUED] > 0:
        mac[node, ACCESS] = REQUESTED
        if not mac[node, BUSY]:
            arm(mac, radio, agenda, node, now)


@bare_kernel
def widen_window(mac: Ints, radio: Ints, node: int) -> None:
    """After a failure: double the window; start anew after as many failures as a frame may have (10.3.3).

    The standard starts anew when a frame is given up; ns-3, which this follows, at the failure after that.
    """
    if mac[node, FAILURES] < radio[RETRY_LIMIT]:
        mac[node, FAILURES] += 1
        doubled = (radio[CW_MIN] + 1) << min(mac[node, FAILURES], 20)
        mac[node, WINDOW] = min(radio[CW_MAX], doubled - 1)
    else:
        reset_window(mac, radio, node)


@bare_kernel
def reset_window(mac: Ints, radio: Ints, node: int) -> None:
    """After a success."""
    mac[node, FAILURES] = 0
    mac[node, WINDOW] = radio[CW_MIN]
