"""`disk`: a radio reaches what is within its range, each hop with a probability and a delay; nothing collides.

One hop only, or multi-hop by shortest path over the graph of the moment, or by flooding: the simple models
that RoboNetSim compares realistic ones with.
"""

from typing import Any, Protocol

import numpy as np

from robonet.clock import ns_from_s
from robonet.link.simulators import Floats, Neighbours, Offer, Outcome, Setup, Transmissions
from robonet.network.events import EventLoop
from robonet.network.ideal import members_of_groups
from robonet.network.ledger import Ledger, Packet
from robonet.record.tables import Recorder
from robonet.scenario.schema import Network
from robonet.space import Ints, NeighbourLists, Search
from robonet.streams import StreamPool

SEARCHES_KEPT = 256


class Forwarding(Protocol):
    """How a packet gets beyond the range of its sender."""

    def send(self, packet: Packet, receiver: int) -> None:
        """Take a packet at its source, for one receiver."""
        ...


class DiskNetwork:
    """Radios with a range."""

    def __init__(self, settings: Network, recorder: Recorder | None = None) -> None:
        self.settings = settings.disk
        self._recorder = recorder
        self.delay_ns = ns_from_s(settings.disk.delay_s)

    def start(self, setup: Setup) -> Offer:
        """Learn who is there and how far each one reaches."""
        self.loop = EventLoop()
        self.ledger = Ledger(setup, self._recorder)
        self.nodes = len(setup.nodes)
        ranges = [node.equipment.get("range_m", self.settings.range_m) for node in setup.nodes]
        self.graph = Graph(np.array(ranges))
        self._members = members_of_groups(setup)
        self._names = [node.name for node in setup.nodes]
        self._streams = StreamPool(setup.seed, "network", "disk", "loss")
        self._tells_neighbours = "neighbours" in setup.wants
        self.forwarding: Forwarding = SingleHop(self)
        if self.settings.multihop:
            is_flooding = self.settings.routing == "flooding"
            self.forwarding = Flooding(self) if is_flooding else ShortestPath(self)
        hops = self.settings.max_hops if self.settings.multihop else 1
        return Offer("disk", frozenset({"failures", "neighbours"}), longest_life_ns=self.delay_ns * hops)

    def step(self, until: int, positions_m: Floats, transmissions: Transmissions) -> Outcome:
        """Move everyone, then let the packets travel."""
        self.graph.move(positions_m)
        for packet in self.ledger.open(transmissions):
            self.loop.at(packet.time, self._send, packet)
        self.loop.run_through(until)
        outcome = self.ledger.take_outcome()
        if self._tells_neighbours:
            offsets, nodes = self.graph.rows()
            quality = np.full(len(nodes), self.settings.delivery_probability, dtype=np.float32)
            outcome.neighbours = Neighbours(offsets.astype(np.uint32), nodes.astype(np.uint32), quality)
        return outcome

    def end(self, now: int) -> dict[str, Any]:
        """Account for the rest."""
        return self.ledger.close(now)

    def _send(self, packet: Packet) -> None:
        group = packet.group
        if packet.is_broadcast:
            receivers = self.heard_by(packet.source).tolist()
            if receivers:
                self.loop.at(self.loop.now + self.delay_ns, self._hear, packet, receivers)
        elif group is not None:
            for receiver in self._members[group]:
                if receiver != packet.source:
                    self.forwarding.send(packet, receiver)
        elif packet.destination == packet.source:
            self.loop.at(self.loop.now, self._deliver, packet, packet.source, 0)
        else:
            self.forwarding.send(packet, packet.destination)

    def _hear(self, packet: Packet, receivers: list[int]) -> None:
        for receiver in receivers:
            self.ledger.delivered(packet, receiver, self.loop.now, 1)

    def _deliver(self, packet: Packet, receiver: int, hops: int) -> None:
        self.ledger.delivered(packet, receiver, self.loop.now, hops)

    def heard_by(self, sender: int) -> Ints:
        """Who of those in range receives one transmission: the dice are the sender's own."""
        near = self.graph.near(sender)
        probability = self.settings.delivery_probability
        if probability >= 1.0 or not len(near):
            return near
        return near[self._streams[self._names[sender]].random(len(near)) < probability]

    def hop_succeeds(self, sender: int) -> bool:
        """Whether one transmission to one neighbour succeeds."""
        probability = self.settings.delivery_probability
        return probability >= 1.0 or bool(self._streams[self._names[sender]].random() < probability)

    def drop(self, packet: Packet, reason: str, hops: int) -> None:
        """Give up a packet; copies for members of a group end silently."""
        if packet.group is None:
            self.ledger.dropped(packet, self.loop.now, reason, hops)


class Graph:
    """Who reaches whom, computed when first asked for after a move."""

    def __init__(self, range_m: Floats) -> None:
        self._lists = NeighbourLists(range_m)
        self._is_symmetric = bool((range_m == range_m[0]).all())
        self._warm_up()
        self._positions_m: Floats = np.zeros((len(range_m), 3))
        self._is_stale = True
        self.version = 0
        """Changes with every move."""
        self._searches: dict[int, Search] = {}
        self._reverse: tuple[Ints, Ints] | None = None

    @staticmethod
    def _warm_up() -> None:
        """Compile the kernels before the first step."""
        lists = NeighbourLists(np.ones(2))
        lists.update(np.zeros((2, 3)))
        search = Search(0, 2)
        search.reach(1, lists.offsets, lists.nodes)
        search.path_from(1, lists.offsets, lists.nodes)

    def move(self, positions_m: Floats) -> None:
        """Everyone is somewhere else now."""
        self._positions_m = positions_m
        self._is_stale = True
        self.version += 1

    def rows(self) -> tuple[Ints, Ints]:
        """All neighbours in compressed rows."""
        if self._is_stale:
            self._lists.update(self._positions_m)
            self._searches.clear()
            self._reverse = None
            self._is_stale = False
        return self._lists.offsets, self._lists.nodes

    def near(self, node: int) -> Ints:
        """Who is in range of a node."""
        self.rows()
        return self._lists.of(node)

    def path(self, source: int, target: int) -> list[int]:
        """The nodes of a shortest path after the source, the first one last; empty where there is none.

        Of equally good neighbours the one with the lowest number is taken. A search goes no farther than it is
        asked to, and goes on from there when a farther node asks; the latest ones are kept until somebody moves.
        """
        offsets, nodes = self._reverse_rows()
        search = self._searches.pop(target, None)
        if search is None:
            search = Search(target, len(offsets) - 1)
            if len(self._searches) >= SEARCHES_KEPT:
                del self._searches[next(iter(self._searches))]
        self._searches[target] = search
        search.reach(source, offsets, nodes)
        return search.path_from(source, *self.rows())

    def _reverse_rows(self) -> tuple[Ints, Ints]:
        """Rows of who reaches a node: the same as whom it reaches where all ranges are equal."""
        offsets, nodes = self.rows()
        if self._is_symmetric:
            return offsets, nodes
        if self._reverse is None:
            self._reverse = _transposed(offsets, nodes)
        return self._reverse


def _transposed(offsets: Ints, nodes: Ints) -> tuple[Ints, Ints]:
    """Rows of who reaches a node, from rows of whom a node reaches."""
    sources = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.argsort(nodes, kind="stable")
    counts = np.bincount(nodes, minlength=len(offsets) - 1)
    return np.concatenate(([0], np.cumsum(counts))), sources[order]


class SingleHop:
    """Only who is in range."""

    def __init__(self, network: DiskNetwork) -> None:
        self._network = network

    def send(self, packet: Packet, receiver: int) -> None:
        """Reach the receiver directly or not at all."""
        network = self._network
        near = network.graph.near(packet.source)
        place = int(np.searchsorted(near, receiver))
        if place == len(near) or near[place] != receiver:
            network.drop(packet, "out_of_range", 0)
            return
        succeeds = network.hop_succeeds(packet.source)
        network.loop.at(network.loop.now + network.delay_ns, self._arrive, packet, receiver, succeeds)

    def _arrive(self, packet: Packet, receiver: int, succeeds: bool) -> None:
        if succeeds:
            self._network.ledger.delivered(packet, receiver, self._network.loop.now, 1)
        else:
            self._network.drop(packet, "lost", 1)


class ShortestPath:
    """Hop by hop towards the receiver, along the shortest path over the graph of the moment."""

    def __init__(self, network: DiskNetwork) -> None:
        self._network = network

    def send(self, packet: Packet, receiver: int) -> None:
        """Start at the source."""
        self._forward(_Journey(packet, receiver), packet.source)

    def _forward(self, journey: "_Journey", node: int) -> None:
        network = self._network
        if journey.version != network.graph.version:  # somebody may have moved: look for the way again
            journey.version = network.graph.version
            journey.path = network.graph.path(node, journey.receiver)
        if not journey.path:
            network.drop(journey.packet, "no_route", journey.hops)
        elif journey.hops >= network.settings.max_hops:
            network.drop(journey.packet, "ttl", journey.hops)
        else:
            succeeds = network.hop_succeeds(node)
            network.loop.at(network.loop.now + network.delay_ns, self._arrive, journey, journey.path.pop(), succeeds)

    def _arrive(self, journey: "_Journey", node: int, succeeds: bool) -> None:
        network = self._network
        journey.hops += 1
        if not succeeds:
            network.drop(journey.packet, "lost", journey.hops)
        elif node == journey.receiver:
            network.ledger.delivered(journey.packet, node, network.loop.now, journey.hops)
        else:
            self._forward(journey, node)


class _Journey:
    """One packet on its way to one receiver."""

    __slots__ = ("hops", "packet", "path", "receiver", "version")

    def __init__(self, packet: Packet, receiver: int) -> None:
        self.packet = packet
        self.receiver = receiver
        self.hops = 0
        self.version = -1
        self.path: list[int] = []
        """The nodes ahead, the next one last."""


class Flooding:
    """Everyone who hears a packet for the first time repeats it; its source and number are the sequence number."""

    def __init__(self, network: DiskNetwork) -> None:
        self._network = network

    def send(self, packet: Packet, receiver: int) -> None:
        """Start the flood."""
        flood = _Flood(packet, receiver)
        flood.seen.add(packet.source)
        self._repeat(flood, packet.source, 0)
        self._check_end(flood, 0)

    def _repeat(self, flood: "_Flood", node: int, hops: int) -> None:
        network = self._network
        if hops >= network.settings.max_hops:
            flood.hit_limit = True
            return
        for other in network.heard_by(node).tolist():
            if other not in flood.seen:
                flood.under_way += 1
                network.loop.at(network.loop.now + network.delay_ns, self._arrive, flood, other, hops + 1)

    def _arrive(self, flood: "_Flood", node: int, hops: int) -> None:
        flood.under_way -= 1
        if flood.is_done:
            return
        if node not in flood.seen:
            flood.seen.add(node)
            if node == flood.receiver:
                flood.is_done = True
                self._network.ledger.delivered(flood.packet, node, self._network.loop.now, hops)
                return
            self._repeat(flood, node, hops)
        self._check_end(flood, hops)

    def _check_end(self, flood: "_Flood", hops: int) -> None:
        """The last copy has died out: say why the receiver was never reached."""
        if flood.under_way or flood.is_done:
            return
        flood.is_done = True
        network = self._network
        source = flood.packet.source
        has_path = bool(network.graph.path(source, flood.receiver))
        network.drop(flood.packet, "ttl" if flood.hit_limit else "lost" if has_path else "no_route", hops)


class _Flood:
    """One packet on its way everywhere."""

    __slots__ = ("hit_limit", "is_done", "packet", "receiver", "seen", "under_way")

    def __init__(self, packet: Packet, receiver: int) -> None:
        self.packet = packet
        self.receiver = receiver
        self.seen: set[int] = set()
        self.under_way = 0
        self.is_done = False
        self.hit_limit = False
