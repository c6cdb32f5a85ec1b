"""Frames on the air and what receivers make of them: energy, preamble detection, interference, decoding.

A frame is looked at when it starts, when its preamble has been listened to for 4 us, and when it ends; each time
one pass over its sender's row of the link table. Propagation delay (at most 2 us) is left out.
"""

import numpy as np

from robonet.kernels import bare_kernel
from robonet.network.wifi.agenda import push
from robonet.network.wifi.airtime import airtime
from robonet.network.wifi.contention import MIX_A, freeze, resume, scrambled, uniform
from robonet.network.wifi.error_rates import log_survival
from robonet.network.wifi.fading import QUANTILES
from robonet.network.wifi.state import (
    ACK_BYTES,
    ANSWERS,
    AWAITED,
    BASE_RATE,
    BUSY,
    CANDIDATE,
    CANDIDATES,
    CAPTURE_RATIO,
    CAPTURE_WINDOW,
    CCA_POWER,
    CHUNK_FROM,
    COLLIDED,
    DECODED,
    DECODED_POWER,
    DECODER,
    DETECT_DUE,
    DETECT_POWER,
    DETECT_SNR,
    DETECTION,
    END_DUE,
    ENDS,
    ENERGY,
    EXTENSION,
    FADED,
    FADING_SEED,
    FAMILY,
    HAS_FADING,
    HEADER,
    HEADER_LOG,
    HEADER_OPEN,
    KIND,
    LOCK_POWER,
    LOCKED,
    LOCKED_AT,
    MISSED,
    MOST_CANDIDATES,
    NAV,
    NAV_END,
    NAV_RESET_DUE,
    NAV_TIMER,
    NOBODY,
    NOISE,
    NUMBER,
    PAYLOAD_LOG,
    PREAMBLE,
    RATE,
    RATE_COUNT,
    RATES,
    RECEIVER,
    RTS,
    RX_BAD,
    RX_END,
    SENDING,
    SIFS,
    SLOT,
    STARTED,
    STRENGTH,
    TIMEOUT_AT,
    TIMEOUT_DUE,
    TIMEOUT_TIMER,
    TX_END,
    WAIT_END,
    WORST,
    Air,
)


@bare_kernel
def time_on_air(air: Air, rate: int, size: int) -> int:
    """How long a frame takes."""
    radio = air.radio
    return airtime(air.levels[RATES + rate], size, radio[FAMILY], radio[PREAMBLE] + radio[HEADER], radio[EXTENSION])


@bare_kernel
def answer_time(air: Air, rate: int) -> int:
    """How long the ACK or CTS to a frame of some rate takes."""
    return time_on_air(air, air.radio[ANSWERS + rate], ACK_BYTES)


@bare_kernel
def power_at(air: Air, link: int, sender: int, receiver: int) -> float:
    """Received power of a sender's frame over one link, faded by dice that depend on frame and receiver alone."""
    if not air.radio[HAS_FADING]:
        return air.powers[link]
    word = np.uint64(air.radio[FADING_SEED]) ^ (np.uint64(air.mac[sender, NUMBER]) * MIX_A)
    word = scrambled(word + np.uint64(receiver))
    place = float(word >> np.uint64(11)) * (1.0 / 9007199254740992.0) * (QUANTILES - 1)
    cell = int(place)
    gains = air.tables[air.radio[RATE_COUNT]]
    return air.powers[link] * (gains[cell] + (place - cell) * (gains[cell + 1] - gains[cell]))


@bare_kernel
def begin(air: Air, node: int, now: int) -> None:
    """A node starts to send the frame in its row."""
    air.mac[node, MISSED] += air.mac[node, CANDIDATES]
    air.mac[node, CANDIDATES] = 0
    if air.mac[node, LOCKED] != NOBODY:
        air.mac[node, MISSED] += 1
        air.mac[node, LOCKED] = NOBODY
    if not air.mac[node, BUSY]:
        freeze(air.mac, air.radio, node, now)
    air.mac[node, SENDING] = 1
    air.mac[node, RX_BAD] = 0
    air.mac[node, TX_END] = air.mac[node, ENDS]
    first = air.offsets[node]
    for link in range(first, air.offsets[node + 1]):
        other = air.near[link]
        power = power_at(air, link, node, other)
        if air.mac[other, LOCKED] != NOBODY:
            settle(air, other, now)
            if air.mac[other, LOCKED] != NOBODY and air.levels[CAPTURE_RATIO] > 0.0:
                _capture(air, other, power, now)
        air.phy[other, ENERGY] += power
        if air.mac[other, LOCKED] != NOBODY:
            air.phy[other, WORST] = max(air.phy[other, WORST], air.phy[other, ENERGY] - air.phy[other, LOCK_POWER])
        if power >= air.levels[DETECT_POWER]:
            if air.mac[other, SENDING] or air.mac[other, LOCKED] != NOBODY:
                air.mac[other, MISSED] += 1
            else:
                _listen(air, other, node, power)
    push(air.agenda, air.radio, now + DETECTION, DETECT_DUE, node, 0)
    push(air.agenda, air.radio, air.mac[node, ENDS], END_DUE, node, 0)


@bare_kernel
def _capture(air: Air, node: int, power: float, now: int) -> None:
    """A much stronger frame takes over from one whose preamble is still being received."""
    is_early = now - air.mac[node, LOCKED_AT] <= CAPTURE_WINDOW
    if is_early and power >= air.phy[node, LOCK_POWER] * air.levels[CAPTURE_RATIO]:
        air.mac[node, LOCKED] = NOBODY
        air.mac[node, COLLIDED] += 1


@bare_kernel
def _listen(air: Air, node: int, sender: int, power: float) -> None:
    """One more preamble that a receiver listens to."""
    place = air.mac[node, CANDIDATES]
    if place < MOST_CANDIDATES:
        air.mac[node, CANDIDATES] += 1
    else:
        place = 0
        for k in range(1, MOST_CANDIDATES):
            if air.phy[node, STRENGTH + k] < air.phy[node, STRENGTH + place]:
                place = k
        air.mac[node, MISSED] += 1
        if air.phy[node, STRENGTH + place] >= power:
            return
    air.mac[node, CANDIDATE + place] = sender
    air.phy[node, STRENGTH + place] = power


@bare_kernel
def detect(air: Air, sender: int, now: int) -> None:
    """The preamble of a frame has been listened to: who takes the frame up, who finds the medium busy."""
    for link in range(air.offsets[sender], air.offsets[sender + 1]):
        node = air.near[link]
        count = air.mac[node, CANDIDATES]
        place = NOBODY
        strongest = True
        for k in range(count):
            if air.mac[node, CANDIDATE + k] == sender:
                place = k
        if place != NOBODY:
            power = air.phy[node, STRENGTH + place]
            for k in range(count):
                if k != place and (
                    air.phy[node, STRENGTH + k] > power or (air.phy[node, STRENGTH + k] == power and k < place)
                ):
                    strongest = False
            others = max(air.phy[node, ENERGY] - power, 0.0)
            if strongest and power >= air.levels[DETECT_SNR] * (air.levels[NOISE] + others):
                _lock(air, node, sender, power, now)
                continue
            last = count - 1  # it is noise from now on
            air.mac[node, COLLIDED if others > air.levels[NOISE] else FADED] += 1
            for k in range(place, last):
                air.mac[node, CANDIDATE + k] = air.mac[node, CANDIDATE + k + 1]
                air.phy[node, STRENGTH + k] = air.phy[node, STRENGTH + k + 1]
            air.mac[node, CANDIDATES] = last
        if not air.mac[node, BUSY] and air.phy[node, ENERGY] >= air.levels[CCA_POWER]:
            freeze(air.mac, air.radio, node, now)


@bare_kernel
def _lock(air: Air, node: int, sender: int, power: float, now: int) -> None:
    """Receive this frame and no other."""
    air.mac[node, MISSED] += air.mac[node, CANDIDATES] - 1
    air.mac[node, CANDIDATES] = 0
    air.mac[node, LOCKED] = sender
    air.mac[node, LOCKED_AT] = now
    air.mac[node, CHUNK_FROM] = now
    air.mac[node, HEADER_OPEN] = 1
    air.phy[node, LOCK_POWER] = power
    air.phy[node, HEADER_LOG] = 0.0
    air.phy[node, PAYLOAD_LOG] = 0.0
    air.phy[node, WORST] = air.phy[node, ENERGY] - power
    if not air.mac[node, BUSY]:
        freeze(air.mac, air.radio, node, now)
    air.mac[node, NAV_TIMER] += 1  # something is coming: a NAV set by an RTS stays (10.3.2.4)
    header_end = air.mac[sender, STARTED] + air.radio[PREAMBLE] + air.radio[HEADER]
    if air.mac[node, AWAITED] and header_end <= air.mac[node, TIMEOUT_AT]:  # perhaps the answer: hear it out
        air.mac[node, TIMEOUT_TIMER] += 1
        air.mac[node, TIMEOUT_AT] = air.mac[sender, ENDS] + 1
        air.mac[node, WAIT_END] = now
        push(air.agenda, air.radio, air.mac[node, TIMEOUT_AT], TIMEOUT_DUE, node, air.mac[node, TIMEOUT_TIMER])


@bare_kernel
def settle(air: Air, node: int, now: int) -> None:
    """Account for the bits received since the interference last changed; a header that fails ends the reception."""
    since = air.mac[node, CHUNK_FROM]
    air.mac[node, CHUNK_FROM] = now
    sender = air.mac[node, LOCKED]
    interference = air.phy[node, ENERGY] - air.phy[node, LOCK_POWER]
    snr = air.phy[node, LOCK_POWER] / (air.levels[NOISE] + max(interference, 0.0))
    header_from = air.mac[sender, STARTED] + air.radio[PREAMBLE]
    header_end = header_from + air.radio[HEADER]
    if air.mac[node, HEADER_OPEN]:
        covered = min(now, header_end) - max(since, header_from)
        if covered > 0:
            rate = air.radio[BASE_RATE]
            air.phy[node, HEADER_LOG] += log_survival(rate, snr, covered * air.levels[RATES + rate] * 1e-3, air.tables)
        if now >= header_end:
            air.mac[node, HEADER_OPEN] = 0
            chance = air.phy[node, HEADER_LOG]
            if chance < -1e-12 and uniform(air.mac, node) >= np.exp(chance):
                air.mac[node, LOCKED] = NOBODY
                _count_failure(air, node)
                return
    covered = now - max(since, header_end)
    if covered > 0:
        rate = air.mac[sender, RATE]
        air.phy[node, PAYLOAD_LOG] += log_survival(rate, snr, covered * air.levels[RATES + rate] * 1e-3, air.tables)


@bare_kernel
def _count_failure(air: Air, node: int) -> None:
    """A reception failed: by a collision if there ever was more interference than noise."""
    air.mac[node, COLLIDED if air.phy[node, WORST] > air.levels[NOISE] else FADED] += 1


@bare_kernel
def finish(air: Air, sender: int, now: int) -> int:
    """A frame ends; return how many decoded it, and write down who and how strong it was."""
    found = 0
    duration = air.mac[sender, NAV]
    air.mac[sender, SENDING] = 0
    for link in range(air.offsets[sender], air.offsets[sender + 1]):
        node = air.near[link]
        power = power_at(air, link, sender, node)
        if air.mac[node, LOCKED] != NOBODY:
            settle(air, node, now)
        if air.mac[node, LOCKED] == sender:
            air.mac[node, LOCKED] = NOBODY
            air.mac[node, RX_END] = now
            chance = air.phy[node, PAYLOAD_LOG]
            if chance > -1e-12 or uniform(air.mac, node) < np.exp(chance):
                air.mac[node, RX_BAD] = 0
                air.mac[node, DECODED] += 1
                air.mac[found, DECODER] = node
                air.phy[found, DECODED_POWER] = power
                found += 1
                if duration > 0 and air.mac[sender, RECEIVER] != node:
                    _respect(air, node, sender, now + duration, now)
            else:
                air.mac[node, RX_BAD] = 1
                _count_failure(air, node)
        air.phy[node, ENERGY] = max(air.phy[node, ENERGY] - power, 0.0)
        _sense(air, node, now)
    _sense(air, sender, now)
    return found


@bare_kernel
def _sense(air: Air, node: int, now: int) -> None:
    """Whether the medium has turned free."""
    is_listening = not air.mac[node, SENDING] and air.mac[node, LOCKED] == NOBODY
    if air.mac[node, BUSY] and is_listening and air.phy[node, ENERGY] < air.levels[CCA_POWER]:
        resume(air.mac, air.radio, air.agenda, node, now)


@bare_kernel
def _respect(air: Air, node: int, sender: int, until: int, now: int) -> None:
    """Keep silent for the rest of an exchange between others (10.3.2.4)."""
    if until <= air.mac[node, NAV_END]:
        return
    air.mac[node, NAV_END] = until
    if air.mac[sender, KIND] == RTS:  # where no data follow, the medium is free again
        answer = answer_time(air, air.mac[sender, RATE])
        wait = 2 * air.radio[SIFS] + answer + air.radio[PREAMBLE] + air.radio[HEADER] + 2 * air.radio[SLOT]
        air.mac[node, NAV_TIMER] += 1
        push(air.agenda, air.radio, now + wait, NAV_RESET_DUE, node, air.mac[node, NAV_TIMER])


@bare_kernel
def move(air: Air, now: int) -> None:
    """Everyone is somewhere else: what is on the air goes on with the powers of the new places."""
    nodes = len(air.mac)
    for node in range(nodes):
        if air.mac[node, LOCKED] != NOBODY:
            settle(air, node, now)
        air.phy[node, ENERGY] = 0.0
        air.phy[node, LOCK_POWER] = 0.0
        air.mac[node, DECODER] = air.mac[node, CANDIDATES]
        air.mac[node, CANDIDATES] = 0
    for sender in range(nodes):
        if not air.mac[sender, SENDING]:
            continue
        for link in range(air.offsets[sender], air.offsets[sender + 1]):
            node = air.near[link]
            power = power_at(air, link, sender, node)
            air.phy[node, ENERGY] += power
            if air.mac[node, LOCKED] == sender:
                air.phy[node, LOCK_POWER] = power
            elif (
                now < air.mac[sender, STARTED] + DETECTION
                and power >= air.levels[DETECT_POWER]
                and not air.mac[node, SENDING]
                and air.mac[node, LOCKED] == NOBODY
            ):
                _listen(air, node, sender, power)
    for node in range(nodes):
        air.mac[node, FADED] += max(air.mac[node, DECODER] - air.mac[node, CANDIDATES], 0)  # preambles out of reach
        if air.mac[node, LOCKED] != NOBODY and air.phy[node, LOCK_POWER] == 0.0:  # out of reach within a frame
            air.mac[node, LOCKED] = NOBODY
            air.mac[node, RX_END] = now
            air.mac[node, RX_BAD] = 1
            air.mac[node, FADED] += 1
        _sense(air, node, now)
        if not air.mac[node, BUSY] and air.phy[node, ENERGY] >= air.levels[CCA_POWER]:
            freeze(air.mac, air.radio, node, now)
