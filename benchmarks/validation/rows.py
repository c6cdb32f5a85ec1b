"""Experiments beside their references: every row says by how much they may differ, and whether they do."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from . import bianchi, chain_break, experiments, reference

BIANCHI_TOLERANCE = 0.02
SINGLE_TOLERANCE = 0.01
CONTENTION_TOLERANCE = 0.03
COLLISION_TOLERANCE = 0.03
"""Of a probability, absolute."""
HIDDEN_TOLERANCE = 0.10
LATENCY_TOLERANCE = 0.02
DISCOVERY_TOLERANCE = 0.20
CHAIN_GOODPUT_TOLERANCE = 0.10
BROADCAST_TOLERANCE = 0.03
EDGE_TOLERANCE_M = 1.0
DELIVERY_TOLERANCE = 0.10
BIANCHI_TABLE_TOLERANCE = 0.001


class Row(NamedTuple):
    """One comparison."""

    what: str
    reference: float
    measured: float
    tolerance: float
    unit: str
    """`1` for a share."""
    is_relative: bool

    @property
    def difference(self) -> float:
        """Relative, or absolute."""
        difference = self.measured - self.reference
        return difference / self.reference if self.is_relative else difference

    @property
    def holds(self) -> bool:
        """Whether it is within the tolerance."""
        return abs(self.difference) <= self.tolerance


def _relative(what: str, expected: float, measured: float, tolerance: float, unit: str) -> Row:
    return Row(what, expected, measured, tolerance, unit, is_relative=True)


def _absolute(what: str, expected: float, measured: float, tolerance: float, unit: str = "1") -> Row:
    return Row(what, expected, measured, tolerance, unit, is_relative=False)


# --- Bianchi ---------------------------------------------------------------------------------------------


class Physical(NamedTuple):
    """A physical layer in Bianchi's model, and how long it is simulated."""

    standard: str
    rate_mbps: float
    ack_mbps: float
    setup: bianchi.Setup
    seconds: float
    has_eifs: bool
    """Whether the EIFS variant is compared too; not at 6 Mbit/s, where collided frames may be decoded."""

    @property
    def name(self) -> str:
        """As in the reference."""
        return f"{self.standard}, {self.rate_mbps:g} Mbit/s"


PHYSICAL = (
    Physical("802.11a", 6.0, 6.0, bianchi.ofdm(6.0, 6.0), 30.0, False),
    Physical("802.11a", 54.0, 24.0, bianchi.ofdm(54.0, 24.0), 8.0, True),
    Physical("802.11b", 11.0, 2.0, bianchi.dsss(11.0, 2.0), 30.0, True),
)
OTHERS = (
    (Physical("802.11a", 6.0, 6.0, bianchi.ofdm(6.0, 6.0), 30.0, False), 7),
    (Physical("802.11a", 12.0, 12.0, bianchi.ofdm(12.0, 12.0), 20.0, False), 3),
    (Physical("802.11a", 12.0, 12.0, bianchi.ofdm(12.0, 12.0), 20.0, False), 12),
    (Physical("802.11a", 24.0, 24.0, bianchi.ofdm(24.0, 24.0), 10.0, False), 33),
    (Physical("802.11b", 5.5, 2.0, bianchi.dsss(5.5, 2.0), 40.0, False), 15),
)
"""Rates and numbers of stations that are in no table."""


def bianchi_table_rows() -> Iterator[Row]:
    """Bianchi's equations, solved here, against the published solutions."""
    for physical in PHYSICAL:
        for stations, published in reference.BIANCHI[physical.name].items():
            for eifs, value in zip((False, True), published, strict=True):
                solved = bianchi.throughput_mbps(physical.setup, stations, eifs=eifs)
                what = f"{physical.name}, n = {stations}, {'EIFS' if eifs else 'DIFS'}"
                yield _relative(what, value, solved, BIANCHI_TABLE_TOLERANCE, "Mbit/s")


def bianchi_rows(share_of_time: float = 1.0, seed: int = 1) -> Iterator[Row]:
    """The model against Bianchi's."""
    for physical in PHYSICAL:
        for eifs in (False, True) if physical.has_eifs else (False,):
            for stations, published in reference.BIANCHI[physical.name].items():
                yield _bianchi_row(physical, stations, published[eifs], share_of_time, seed, eifs)
    for physical, stations in OTHERS:
        solved = bianchi.throughput_mbps(physical.setup, stations, eifs=False)
        yield _bianchi_row(physical, stations, solved, share_of_time, seed, False)


def _bianchi_row(
    physical: Physical, stations: int, expected: float, share_of_time: float, seed: int, eifs: bool
) -> Row:
    share = experiments.bianchi(
        stations,
        share_of_time * physical.seconds,
        seed,
        standard=physical.standard,
        rate_mbps=physical.rate_mbps,
        ack_mbps=physical.ack_mbps,
        eifs=eifs,
    )
    what = f"{physical.name}, n = {stations}, {'EIFS' if eifs else 'DIFS'}"
    return _relative(what, expected, share.goodput_mbps, BIANCHI_TOLERANCE, "Mbit/s")


# --- senders in one place --------------------------------------------------------------------------------


def single_rows(seconds: float = 5.0, seed: int = 1) -> Iterator[Row]:
    """One saturated sender."""
    for standard, rate, rts, payload, expected in reference.SINGLE:
        share = experiments.saturated(1, payload, seconds, seed, standard=standard, rate_mbps=rate, rts=rts)
        what = f"{standard}, {rate:g} Mbit/s, {payload} B{', RTS' if rts else ''}"
        yield _relative(what, expected, share.goodput_mbps, SINGLE_TOLERANCE, "Mbit/s")


def contention_rows(seconds: float = 20.0, seed: int = 1) -> Iterator[Row]:
    """Many saturated senders."""
    for row in reference.CONTENTION:
        share = experiments.saturated(
            row.senders, 1000, seconds, seed, standard=row.standard, rate_mbps=row.rate_mbps, rts=row.rts
        )
        what = f"{row.standard}, {row.rate_mbps:g} Mbit/s, n = {row.senders}{', RTS' if row.rts else ''}"
        yield _relative(f"{what}: goodput", row.goodput_mbps, share.goodput_mbps, CONTENTION_TOLERANCE, "Mbit/s")
        yield _absolute(
            f"{what}: collisions", row.collision_probability, share.collision_probability, COLLISION_TOLERANCE
        )


def hidden_rows(seeds: Iterable[int] = (1, 2, 3), seconds: float = 40.0) -> Iterator[Row]:
    """Senders that do not hear each other, and two rows of such that do."""
    seeds = tuple(seeds)
    for row in reference.HIDDEN:
        shares = [experiments.two_senders(row.spacing_m, row.load_mbps, seconds, seed, rts=row.rts) for seed in seeds]
        goodput = float(np.mean([share.goodput_mbps for share in shares]))
        collision = float(np.mean([share.collision_probability for share in shares]))
        load = "saturated" if row.load_mbps is None else f"Poisson, {row.load_mbps:g} Mbit/s each"
        what = f"{row.spacing_m:g} m, {load}{', RTS' if row.rts else ''}"
        yield _relative(f"{what}: goodput", row.goodput_mbps, goodput, HIDDEN_TOLERANCE, "Mbit/s")
        if row.load_mbps is None:
            expected = row.collision_probability
        else:
            expected = reference.HIDDEN_POISSON_LONG[row.load_mbps, row.rts][1]
        yield _absolute(f"{what}: collisions", expected, collision, COLLISION_TOLERANCE)


# --- distance --------------------------------------------------------------------------------------------

SURE_PACKETS, UNSURE_PACKETS = 20, 800


def distance_rows(seed: int = 1) -> Iterator[Row]:
    """Delivery at each distance, and where it ends."""
    for curve in reference.DISTANCE:
        floor = "floor -82 dBm" if curve.has_floor else "no floor"
        name = f"{curve.standard}, {curve.rate_mbps:g} Mbit/s, {curve.payload} B, {floor}"
        pair = experiments.Pair(curve.standard, curve.rate_mbps, curve.payload, curve.has_floor, seed)
        is_soft = any(0 < share < 1 for _, share in curve.points)
        packets = UNSURE_PACKETS if is_soft else SURE_PACKETS
        measured = [(distance, pair.delivery(distance, packets)) for distance, _ in curve.points]
        for (distance, expected), (_, share) in zip(curve.points, measured, strict=True):
            yield _absolute(f"{name}: {distance:g} m", expected, share, DELIVERY_TOLERANCE)
        if curve.points[0][1] == 1:
            edge = experiments.half_distance_m(curve.points)
            found = experiments.half_distance_m(measured) if is_soft else pair.edge_m(10.0, 200.0)
            yield _absolute(f"{name}: half is received at", edge, found, EDGE_TOLERANCE_M, "m")


# --- broadcasts ------------------------------------------------------------------------------------------


def broadcast_rows(rounds: int = 4000, seed: int = 1) -> Iterator[Row]:
    """Broadcasts that start nearly at once; `rounds` for two senders, fewer for more."""
    for senders, by_spread in reference.BROADCAST_CLIQUE.items():
        for spread, expected in by_spread.items():
            share = experiments.broadcast_clique(senders, spread, _rounds(rounds // senders, spread), seed)
            yield _absolute(f"{senders} on a circle, within {spread} ms", expected, share, BROADCAST_TOLERANCE)
    for spread, expected in reference.BROADCAST_HIDDEN.items():
        share = experiments.broadcast_hidden(spread, _rounds(rounds // 2, spread), seed)
        yield _absolute(f"2 hidden from each other, within {spread} ms", expected, share, BROADCAST_TOLERANCE)


def _rounds(rounds: int, spread: float) -> int:
    """All rounds are alike where everyone starts at once."""
    return max(rounds, 50) if spread else 5


# --- chains ----------------------------------------------------------------------------------------------


def latency_rows(seed: int = 1) -> Iterator[Row]:
    """Delays over chains whose routes are known."""
    for payload in (64, 1000):
        for hops in (1, 2, 3, 5):
            delays = experiments.chain_delays(hops, payload, seed, routing="static", packets=5)
            expected = reference.steady_latency_ms(hops, payload)
            what = f"{hops} hops, {payload} B, static routes"
            yield _relative(what, expected, delays.steady_ms, LATENCY_TOLERANCE, "ms")
    for row in reference.LATENCY:
        delays = experiments.chain_delays(row.hops, row.payload, seed, routing="aodv", hello=row.hello)
        what = f"{row.hops} hops, {row.payload} B, AODV{'' if row.hello else ' without HELLO'}"
        yield _relative(what, row.steady_ms, delays.steady_ms, LATENCY_TOLERANCE, "ms")


def discovery_rows(seeds: int = 20) -> Iterator[Row]:
    """Delays of first packets, for which a route has to be found: means over seeds."""
    for row in reference.LATENCY:
        runs = [
            experiments.chain_delays(row.hops, row.payload, seed, routing="aodv", hello=row.hello, packets=3)
            for seed in range(1, seeds + 1)
        ]
        first_ms = float(np.mean([np.inf if run.first_ms is None else run.first_ms for run in runs]))
        what = f"{row.hops} hops, {row.payload} B, AODV{'' if row.hello else ' without HELLO'}"
        yield _relative(what, row.first_ms, first_ms, DISCOVERY_TOLERANCE, "ms")


def chain_goodput_rows(seeds: Iterable[int] = (1, 2), seconds: float = 20.0) -> Iterator[Row]:
    """Goodput over chains."""
    seeds = tuple(seeds)
    for hops, by_load in reference.CHAIN_GOODPUT.items():
        for offered, expected in by_load.items():
            found = [experiments.chain_goodput_mbps(hops, offered, seconds, seed) for seed in seeds]
            what = f"{hops} hops, {offered:g} Mbit/s offered"
            yield _relative(what, expected, float(np.mean(found)), CHAIN_GOODPUT_TOLERANCE, "Mbit/s")


# --- a chain that breaks ---------------------------------------------------------------------------------


def chain_break_rows(seed: int = 1) -> Iterator[Row]:
    """The frames that node 0 sends and hears, in order; where the order is another one, the rows say so."""
    outcome = chain_break.run(seed)
    at_0, at_1 = outcome.captures[0], outcome.captures[1]
    seen = [frame for frame in at_0 if frame.kind not in ("HELLO", "ARP", "RREP-ACK")]
    names = [(frame.sender, frame.kind, frame.ttl) for frame in seen]
    expected_names = [(event.sender, event.kind, event.ttl) for event in reference.CHAIN_BREAK_NODE_0]
    in_order = sum(a == b for a, b in zip(names, expected_names, strict=False))
    yield _absolute("frames in ns-3's order", len(expected_names), in_order, 0, "frames")
    yield _absolute("frames in all", len(expected_names), len(names), 0, "frames")
    for event, frame in zip(reference.CHAIN_BREAK_NODE_0, seen, strict=False):
        what = f"node {event.sender}: {event.kind}, TTL {event.ttl}"
        yield _absolute(what, event.time_s, frame.time_s, event.tolerance_s, "s")
    yield _absolute("replies", reference.CHAIN_BREAK_REPLIES, len(outcome.replies), 0, "replies")
    tries = [frame for frame in at_1 if frame.kind == "data" and frame.sender == 1 and 3.9 < frame.time_s < 5]
    yield _absolute("tries of node 1 to reach node 2", reference.CHAIN_BREAK_TRIES, len(tries), 0, "tries")
    errors = [frame.destinations for frame in at_0 if frame.kind == "RERR"]
    unreachable = sum(errors) if len(errors) == 1 else -len(errors)
    yield _absolute("destinations in the one RERR", reference.CHAIN_BREAK_UNREACHABLE, unreachable, 0, "nodes")


SECTIONS: dict[str, Callable[[], Iterator[Row]]] = {
    "bianchi_table": bianchi_table_rows,
    "bianchi": bianchi_rows,
    "single": single_rows,
    "contention": contention_rows,
    "distance": distance_rows,
    "hidden": hidden_rows,
    "broadcast": broadcast_rows,
    "latency": latency_rows,
    "discovery": discovery_rows,
    "chain_goodput": chain_goodput_rows,
    "chain_break": chain_break_rows,
}
"""As the page has them."""
