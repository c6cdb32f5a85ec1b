"""Saturation throughput by Bianchi's model, in the form that ns-3 validates itself against.

That form is Bianchi's (IEEE JSAC 18, 2000) with what Tinnirello, Bianchi and Xiao (IEEE TVT 59, 2010) corrected: who
has just sent may draw a backoff of 0 and send again at once, so a success is B = 1/W of the time followed by another
one, and a slot passes after the last of them before anybody else counts down.
"""

from math import ceil, log2
from typing import NamedTuple

PAYLOAD_BYTES = 1500
HEADER_BYTES = 28 + 6
"""Of the MAC, and of the layers above."""
ACK_BYTES = 14
CW_MAX = 1023
DELTA_US = 0.1
"""Propagation, in the EIFS variant."""


class Setup(NamedTuple):
    """What a frame costs, in microseconds."""

    data_us: float
    ack_us: float
    slot_us: float
    sifs_us: float
    cw_min: int


def ofdm_us(rate_mbps: float, size: int) -> float:
    """Airtime of an OFDM frame in a 20 MHz channel."""
    return 20.0 + 4.0 * ceil((16 + 8 * size + 6) / (4.0 * rate_mbps))


def dsss_us(rate_mbps: float, size: int) -> float:
    """Airtime of a DSSS frame with the long preamble."""
    return 192.0 + ceil(8 * size / rate_mbps)


def ofdm(rate_mbps: float, ack_mbps: float) -> Setup:
    """802.11a."""
    return Setup(ofdm_us(rate_mbps, PAYLOAD_BYTES + HEADER_BYTES), ofdm_us(ack_mbps, ACK_BYTES), 9.0, 16.0, 15)


def dsss(rate_mbps: float, ack_mbps: float) -> Setup:
    """802.11b; the published figures are of frames 2 bytes longer than in 802.11a."""
    return Setup(dsss_us(rate_mbps, PAYLOAD_BYTES + HEADER_BYTES + 2), dsss_us(ack_mbps, ACK_BYTES), 20.0, 10.0, 31)


def collision_probability(stations: int, cw_min: int) -> float:
    """That of one attempt: the fixed point of Bianchi's equations (7) and (9), by bisection."""
    low, high = 0.0, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        others = 1 - (1 - _attempt_probability(middle, cw_min)) ** (stations - 1)
        low, high = (middle, high) if others > middle else (low, middle)
    return (low + high) / 2


def throughput_mbps(setup: Setup, stations: int, *, eifs: bool) -> float:
    """Payload a second, all stations together; after a collision a DIFS or an EIFS passes."""
    attempt = _attempt_probability(collision_probability(stations, setup.cw_min), setup.cw_min)
    busy = 1 - (1 - attempt) ** stations
    success = stations * attempt * (1 - attempt) ** (stations - 1)
    difs_us = setup.sifs_us + 2 * setup.slot_us
    answer_us = setup.sifs_us + setup.ack_us + (DELTA_US if eifs else 0.0)
    again = 1 / (setup.cw_min + 1)
    success_us = (setup.data_us + answer_us + difs_us) / (1 - again) + setup.slot_us
    collision_us = setup.data_us + difs_us + (answer_us if eifs else 0.0)
    mean_us = (1 - busy) * setup.slot_us + success * success_us + (busy - success) * collision_us
    return success * 8 * PAYLOAD_BYTES / (1 - again) / mean_us


def _attempt_probability(collision: float, cw_min: int) -> float:
    """How likely a station sends in a slot, with unlimited retries."""
    window = cw_min + 1
    stages = round(log2((CW_MAX + 1) / window))
    return 2 / (1 + window + collision * window * sum((2 * collision) ** i for i in range(stages)))
