"""Background traffic: packets that robots' computers send by themselves, at times of their own within a step."""

import numpy as np

from robonet.clock import NS_PER_S, ns_from_s
from robonet.link.messages import BROADCAST
from robonet.robots.radio import Ether
from robonet.robots.world import World
from robonet.scenario.schema import Stream
from robonet.streams import stream


class BackgroundTraffic:
    """All streams of a scenario."""

    def __init__(self, world: World, ether: Ether) -> None:
        self._ether = ether
        self._present = world.present
        self._flows = []
        for number, traffic in enumerate(world.scenario.traffic):
            settings: Stream = traffic.chosen
            for row in _senders(world, settings, number):
                if world.names[row] != settings.to:  # the base of `senders: all, to: base` has nobody to send to
                    is_poisson = traffic.poisson is not None
                    self._flows.append(_Flow(world, ether, settings, number, row, is_poisson=is_poisson))
        self._next = np.array([flow.next_time for flow in self._flows], dtype=np.int64)

    def send(self, until: int) -> None:
        """Hand over what is due before `until`, in the order of time."""
        if not self._flows:
            return
        due = np.flatnonzero(self._next < until).tolist()
        if not due:
            return
        packets = []
        for index in due:
            flow = self._flows[index]
            while flow.next_time < until:
                packets.append((flow.next_time, index))
                flow.advance()
            self._next[index] = flow.next_time
        for time, index in sorted(packets):
            flow = self._flows[index]
            if self._present[flow.row]:
                self._ether.put(flow.row, flow.destination, None, flow.payload_bytes, time)


class _Flow:
    """One sender's packets."""

    def __init__(
        self, world: World, ether: Ether, settings: Stream, number: int, row: int, *, is_poisson: bool
    ) -> None:
        self._rng = stream(world.seed, "traffic", number, world.stream_key(row))
        self.row = row
        self.destination = _destination(world, ether, settings, row, self._rng)
        self.payload_bytes = settings.payload_bytes
        self._gap_ns = NS_PER_S / settings.rate_hz
        self._is_poisson = is_poisson
        self._start = ns_from_s(settings.start_s)
        self._stop = 2**62 if settings.stop_s is None else ns_from_s(settings.stop_s)
        self._count = 0
        self._phase = self._rng.random()
        self.next_time = self._start + int(self._phase * self._gap_ns)
        if is_poisson:
            self.next_time = self._start + int(self._rng.exponential(self._gap_ns))
        self._end_if_over()

    def advance(self) -> None:
        """To the next packet."""
        self._count += 1
        if self._is_poisson:
            self.next_time += max(1, int(self._rng.exponential(self._gap_ns)))
        else:
            self.next_time = self._start + int((self._count + self._phase) * self._gap_ns)
        self._end_if_over()

    def _end_if_over(self) -> None:
        if self.next_time >= self._stop:
            self.next_time = 2**62


def _senders(world: World, settings: Stream, number: int) -> list[int]:
    nodes = world.nodes
    if isinstance(settings.senders, (int, float)):
        count = settings.senders
        if isinstance(count, float):
            count = max(1, round(count * world.robots))
        among = world.robots if count <= world.robots else nodes
        order = stream(world.seed, "traffic", number, "senders").permutation(among)
        return sorted(order[:count].tolist())
    names = (settings.senders,) if isinstance(settings.senders, str) else settings.senders
    rows: set[int] = set()
    for name in names:
        if name == "all":
            rows |= set(range(nodes))
        for group in world.groups:
            if group.name == name:
                rows |= set(range(group.rows.start, group.rows.stop))
        if name in world.names:
            rows.add(world.row_of(name))
    return sorted(rows)


def _destination(world: World, ether: Ether, settings: Stream, row: int, rng: np.random.Generator) -> int:
    if settings.to == "all":
        return BROADCAST
    if settings.to != "random":
        return ether.address_of(settings.to)
    other = int(rng.integers(world.nodes - 1))
    return ether.address_of(world.names[other + (other >= row)])
