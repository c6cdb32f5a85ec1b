"""Experiments on the `wifi` model: each is a function that returns numbers, the same for the same seed."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from robonet.scenario.wifi import Aodv, Reception

from .bianchi import HEADER_BYTES, PAYLOAD_BYTES
from .stage import (
    NO_FLOOR,
    NS_PER_S,
    OVERHEAD_BYTES,
    Radios,
    Share,
    Team,
    circle,
    line,
    patient_mac,
    poisson_sends,
    settings,
)

CIRCLE_M = 5.0
NO_DISTANCE_M = 0.25
"""Radius of a circle on which everyone hears everyone equally well: the loss is the same up to 1 m."""
CHAIN_SPACING_M = 40.0
EVERYONE = -1
RTS_ALWAYS, RTS_NEVER = 0, 65535
SETTLED_NS = 80_000_000
"""After this, everything that was sent has been received."""


def _mac(rts: bool, **changes: float) -> object:
    return patient_mac(rts_threshold_bytes=RTS_ALWAYS if rts else RTS_NEVER, **changes)


# --- saturated senders -----------------------------------------------------------------------------------


def saturated(
    senders: int, payload: int, seconds: float, seed: int, *, standard: str, rate_mbps: float, rts: bool
) -> Share:
    """Senders on a circle around one receiver always have something to say."""
    places = np.concatenate([np.zeros((1, 3)), circle(senders, CIRCLE_M)])
    radios = Radios(settings(standard=standard, rate_mbps=rate_mbps, mac=_mac(rts)), places, seed)
    return radios.saturate([(1 + i, 0) for i in range(senders)], payload, seconds, OVERHEAD_BYTES)


def bianchi(
    stations: int, seconds: float, seed: int, *, standard: str, rate_mbps: float, ack_mbps: float, eifs: bool
) -> Share:
    """Saturation as Bianchi's model has it: all hear all, equally well, and retries are unlimited.

    With `eifs` receivers take up whatever they hear, so that every collision is a failed reception.
    """
    reception = Reception(minimum_snr_db=-100.0) if eifs else Reception()
    mac = _mac(False, retry_limit=255, queue_lifetime_s=1e6)
    wifi = settings(standard=standard, rate_mbps=rate_mbps, mac=mac, reception=reception)
    radios = Radios(wifi, circle(stations, NO_DISTANCE_M), seed)
    radios.answer_at(ack_mbps)
    header = HEADER_BYTES + (2 if standard == "802.11b" else 0)
    flows = [(i, (i + 1) % stations) for i in range(stations)]
    return radios.saturate(flows, PAYLOAD_BYTES, seconds, header)


def two_senders(
    spacing_m: float, load_mbps: float | None, seconds: float, seed: int, *, rts: bool, payload: int = 1000
) -> Share:
    """Two senders on either side of a receiver, saturated or with Poisson traffic."""
    radios = Radios(settings(mac=_mac(rts)), line(3, spacing_m), seed)
    flows = ((0, 1), (2, 1))
    if load_mbps is None:
        return radios.saturate(flows, payload, seconds, OVERHEAD_BYTES)
    return radios.play(poisson_sends(flows, load_mbps, payload, seconds, seed), payload, seconds)


# --- distance --------------------------------------------------------------------------------------------


class Pair:
    """A sender and a receiver whose distance can be changed."""

    def __init__(self, standard: str, rate_mbps: float, payload: int, has_floor: bool, seed: int) -> None:
        reception = Reception() if has_floor else NO_FLOOR
        wifi = settings(standard=standard, rate_mbps=rate_mbps, reception=reception)
        self._radios = Radios(wifi, line(2, 1.0), seed)
        self._size = payload + OVERHEAD_BYTES
        self._now = 0

    def delivery(self, distance_m: float, packets: int) -> float:
        """Share of broadcasts that are received."""
        radios = self._radios
        radios.medium.move(line(2, distance_m), self._now)
        received = 0
        for _ in range(packets):
            radios.hand(0, EVERYONE, self._size, self._now)
            self._now += SETTLED_NS
            received += len(radios.receivers(self._now))
        return received / packets

    def edge_m(self, near_m: float, far_m: float, packets: int = 9) -> float:
        """Where delivery falls below one half, by bisection."""
        while far_m - near_m > 0.01:
            middle = (near_m + far_m) / 2
            if self.delivery(middle, packets) >= 0.5:
                near_m = middle
            else:
                far_m = middle
        return (near_m + far_m) / 2


def half_distance_m(points: Iterable[tuple[float, float]]) -> float:
    """Where delivery is one half, interpolated."""
    distances, shares = zip(*points, strict=True)
    return float(np.interp(-0.5, [-share for share in shares], distances))


# --- broadcasts ------------------------------------------------------------------------------------------


def broadcast_clique(senders: int, spread_ms: float, rounds: int, seed: int) -> float:
    """Everyone on a circle broadcasts once a round; share of (sender, receiver) pairs that it got through to."""
    heard = _broadcasts(circle(senders, CIRCLE_M), range(senders), spread_ms, rounds, seed)
    return len(heard) / (rounds * senders * (senders - 1))


def broadcast_hidden(spread_ms: float, rounds: int, seed: int) -> float:
    """Two that do not hear each other broadcast once a round; share received in the middle."""
    heard = _broadcasts(line(3, CHAIN_SPACING_M), (0, 2), spread_ms, rounds, seed)
    return heard.count(1) / (2 * rounds)


def _broadcasts(places: np.ndarray, senders: Iterable[int], spread_ms: float, rounds: int, seed: int) -> list[int]:
    """Receivers of all broadcasts of 64 B; each round's start at random times."""
    radios = Radios(settings(), places, seed)
    rng = np.random.default_rng(seed)
    senders = list(senders)
    heard: list[int] = []
    begin = 0
    for _ in range(rounds):
        starts = np.floor(rng.uniform(0.0, spread_ms * 1e6, len(senders))).astype(int).tolist()
        for start, sender in sorted(zip(starts, senders, strict=True)):
            heard += radios.receivers(begin + start)
            radios.hand(sender, EVERYONE, 64 + OVERHEAD_BYTES, begin + start)
        begin += round(spread_ms * 1e6) + SETTLED_NS
        heard += radios.receivers(begin - 1)
    return heard


# --- chains ----------------------------------------------------------------------------------------------


class Delays(NamedTuple):
    """Of packets over a chain, in milliseconds."""

    first_ms: float | None
    """None if the first packet was lost."""
    steady_ms: float
    received: int


def chain_delays(
    hops: int,
    payload: int,
    seed: int,
    *,
    routing: str,
    hello: bool = True,
    rules: str = "ns3",
    packets: int = 40,
    rate_hz: float = 5.0,
) -> Delays:
    """Packets over a chain after five seconds of silence; ARP is used where AODV is."""
    is_aodv = routing == "aodv"
    team = Team(settings(routing=routing, arp=is_aodv, aodv=Aodv(hello=hello, rules=rules)), _chain(hops), seed)
    sends = [(round((5.0 + k / rate_hz) * NS_PER_S), 0, hops, payload) for k in range(packets)]
    arrivals = team.run(sends[-1][0] + 2 * NS_PER_S, sends)
    delays = {arrival.packet: (arrival.time - sends[arrival.packet][0]) / 1e6 for arrival in arrivals}
    return Delays(delays.get(0), float(np.median(list(delays.values()) or [np.inf])), len(delays))


def chain_goodput_mbps(
    hops: int, offered_mbps: float, seconds: float, seed: int, *, rules: str = "ns3", payload: int = 1000
) -> float:
    """Goodput over a chain with AODV and ARP, the discovery in it."""
    team = Team(settings(routing="aodv", arp=True, aodv=Aodv(rules=rules)), _chain(hops), seed)
    gap_s = 8e-6 * payload / offered_mbps
    sends = [(round((1.0 + k * gap_s) * NS_PER_S), 0, hops, payload) for k in range(int(seconds / gap_s))]
    arrivals = team.run(round((1.0 + seconds) * NS_PER_S), sends)
    return 8e-6 * payload * len(arrivals) / seconds


def _chain(hops: int) -> np.ndarray:
    return line(hops + 1, CHAIN_SPACING_M)
