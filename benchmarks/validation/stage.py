"""Nodes that stand somewhere, with the `wifi` model between them, in memory."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from robonet.link.messages import BROADCAST, Node
from robonet.link.simulators import Setup, Transmissions
from robonet.network.wifi import state
from robonet.network.wifi.medium import Medium
from robonet.network.wifi.model import WifiNetwork
from robonet.record.tables import Recorder
from robonet.scenario.schema import Network
from robonet.scenario.wifi import Mac, Reception, Wifi

NS_PER_S = 1_000_000_000
TX_POWER_DBM = 16.0206
OVERHEAD_BYTES = 64
"""UDP 8, IP 20, LLC 8, MAC 24, FCS 4."""
QUEUED_AHEAD = 4
"""Frames that a saturated sender has waiting."""
NO_FLOOR = Reception(minimum_rssi_dbm=-101.0)
"""Preambles are detected by their signal-to-noise ratio alone."""


def settings(**changes: Any) -> Wifi:
    """The reference set-up: 802.11a, 6 Mbit/s, ns-3's transmit power, addresses known, no routing, no flow table."""
    return Wifi(**{"tx_power_dbm": TX_POWER_DBM, "arp": False, "routing": "none", "flows": False, **changes})


def patient_mac(**changes: Any) -> Mac:
    """Medium access that throws nothing away for having waited."""
    return Mac(**{"queue_lifetime_s": 100.0, **changes})


def line(nodes: int, spacing_m: float) -> np.ndarray:
    """Places on a line."""
    places = np.zeros((nodes, 3))
    places[:, 0] = spacing_m * np.arange(nodes)
    return places


def circle(nodes: int, radius_m: float) -> np.ndarray:
    """Places on a circle."""
    angles = 2 * np.pi * np.arange(nodes) / nodes
    return np.stack([radius_m * np.cos(angles), radius_m * np.sin(angles), np.zeros(nodes)], axis=1)


def poisson_sends(
    flows: Sequence[tuple[int, int]], load_mbps: float, payload: int, seconds: float, seed: int
) -> list[tuple[int, int, int]]:
    """Packets at random times, so many bits a second and flow: rows of (time, sender, receiver)."""
    rng = np.random.default_rng(seed)
    gap_s = 8e-6 * payload / load_mbps
    rows = []
    for sender, receiver in flows:
        times = np.cumsum(rng.exponential(gap_s, int(1.3 * seconds / gap_s) + 50))
        rows += [(int(time * NS_PER_S), sender, receiver) for time in times[times < seconds]]
    return sorted(rows)


def network(wifi: Wifi, places: np.ndarray, seed: int, recorder: Recorder | None = None) -> WifiNetwork:
    """The model, started, everyone in place."""
    nodes = [Node(name=f"n{i}") for i in range(len(places))]
    model = WifiNetwork(Network(model="wifi", wifi=wifi), recorder)
    model.start(Setup(seed, NS_PER_S, 1, (0.0, 0.0), (1.0, 1.0), False, [], nodes, [], frozenset()))
    model.medium.move(places, 0)
    return model


# --- the medium alone ------------------------------------------------------------------------------------


class Share(NamedTuple):
    """What senders made of the medium."""

    goodput_mbps: float
    collision_probability: float
    """Share of attempts (RTS, or data without) that found no answer."""
    given_up: float
    """Share of packets that were given up."""


class Radios:
    """The medium without hosts: frames are handed to it and counted as they arrive."""

    def __init__(self, wifi: Wifi, places: np.ndarray, seed: int) -> None:
        model = network(wifi, places, seed)
        self.medium: Medium = model.medium
        self.has_rts = wifi.mac.rts_threshold_bytes == 0
        rates = [rate.mbps for rate in model.standard.rates]
        self.rate = rates.index(wifi.rate_mbps or rates[0])
        self._handle = 0

    def hand(self, node: int, to: int, size: int, now: int) -> None:
        """One frame of `size` bytes on the air into a node's queue."""
        self.medium.enqueue(node, self._handle, to, size, self.rate, now)
        self._handle += 1

    def answer_at(self, mbps: float) -> None:
        """Have data acknowledged at another rate than the highest mandatory one."""
        rates = self.medium.air.levels[state.RATES :].tolist()
        self.medium.air.radio[state.ANSWERS + self.rate] = rates.index(mbps)

    def receivers(self, until: int) -> list[int]:
        """Go on up to a time; who received a frame meanwhile, once for each."""
        heard = []
        while self.medium.advance(until):
            heard += [node for kind, node, *_ in self.medium.take_calls() if kind == state.RECEIVED]
        return heard

    def saturate(self, flows: Sequence[tuple[int, int]], payload: int, seconds: float, overhead: int) -> Share:
        """Senders of (sender, receiver) always have something to say."""
        to, size, medium = dict(flows), payload + overhead, self.medium
        until = round(seconds * NS_PER_S)
        for sender, receiver in flows:
            for _ in range(QUEUED_AHEAD):
                self.hand(sender, receiver, size, 0)
        received = done = lost = 0
        while medium.advance(until):
            now = medium.now
            for kind, node, *_ in medium.take_calls():
                if kind == state.RECEIVED:
                    received += 1
                    continue
                if kind == state.DONE:
                    done += 1
                else:
                    lost += 1
                self.hand(node, to[node], size, now)
        done += len(medium.take_calls())  # acknowledgements are told with what comes after them
        return self._share(received, done, lost, to, payload, seconds)

    def play(self, sends: Iterable[tuple[int, int, int]], payload: int, seconds: float) -> Share:
        """Rows of (time, sender, receiver), sorted, each a packet."""
        medium, size = self.medium, payload + OVERHEAD_BYTES
        counts, senders = [0, 0, 0, 0], set()
        for time, sender, receiver in (*sends, (round(seconds * NS_PER_S), 0, 0)):
            while medium.advance(time):
                for row in medium.take_calls():
                    counts[row[0]] += 1
            if receiver != sender:
                senders.add(sender)
                self.hand(sender, receiver, size, time)
        for row in medium.take_calls():
            counts[row[0]] += 1
        lost = counts[state.LOST_RETRIES] + counts[state.LOST_LIFETIME]
        return self._share(counts[state.RECEIVED], counts[state.DONE], lost, senders, payload, seconds)

    def _share(
        self, received: int, done: int, lost: int, senders: Iterable[int], payload: int, seconds: float
    ) -> Share:
        column = state.SENT_CONTROL if self.has_rts else state.SENT_DATA
        attempts = sum(int(self.medium.air.mac[node, column]) for node in senders)
        return Share(
            8e-6 * payload * received / seconds,
            1 - done / attempts,
            lost / max(lost + done, 1),
        )


# --- the whole model -------------------------------------------------------------------------------------


class Arrival(NamedTuple):
    """A packet that arrived."""

    packet: int
    time: int
    receiver: int


class Team:
    """The whole model: datagrams in, datagrams out."""

    def __init__(self, wifi: Wifi, places: np.ndarray, seed: int, recorder: Recorder | None = None) -> None:
        self.model = network(wifi, places, seed, recorder)
        self.places = places
        self.arrivals: list[Arrival] = []
        self._number = 0

    def run(self, until: int, sends: Iterable[tuple[int, int, int, int]] = ()) -> list[Arrival]:
        """Rows of (time, source, destination, bytes); what arrives up to a time, also kept in `arrivals`."""
        rows = []
        for time, source, destination, size in sends:
            rows.append((self._number, time, source, destination if destination >= 0 else BROADCAST, size))
            self._number += 1
        outcome = self.model.step(until, self.places, Transmissions.of(rows))
        new = [Arrival(row[0], row[1], row[2]) for row in outcome.arrivals.tolist()]
        self.arrivals += new
        return new
