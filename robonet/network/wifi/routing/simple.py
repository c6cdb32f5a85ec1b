"""Routing without messages: not at all, over the true graph, and by flooding."""

from collections.abc import Callable
from typing import Any

import numpy as np

from robonet.clock import NS_PER_S, ns_from_s
from robonet.network.wifi.routing.core import EVERYONE, Datagram, Host
from robonet.scenario.wifi import Flooding as FloodingSettings

MEMORY_NS = 30 * NS_PER_S
"""How long a node knows what it has heard; no flood lasts longer."""
BLOCK = 64
"""Random numbers drawn at a time: one by one they cost a microsecond each."""


class SingleHop:
    """Only who is in reach: a datagram is sent to its destination itself."""

    def __init__(self, node: int, host: Host) -> None:
        self.counts: dict[str, int] = {}
        self._node = node
        self._host = host

    def start(self, now: int) -> None:
        """Nothing to begin."""

    def handle_datagram(self, datagram: Datagram, sender: int, now: int) -> None:
        """Deliver it or try the destination."""
        if datagram.destination == self._node:
            self._host.deliver(datagram)
        else:
            self._host.forward(datagram, datagram.destination)

    def handle_message(self, message: Any, sender: int, ttl: int, now: int) -> None:
        """Nobody sends any."""

    def handle_undelivered(self, item: Any, next_hop: int, now: int) -> None:
        """The destination does not answer."""
        self._host.drop(item, "retry_limit")

    def handle_timer(self, timer: Any, now: int) -> None:
        """There are none."""

    def pending(self) -> list[Datagram]:
        """Nothing waits."""
        return []


class Static(SingleHop):
    """Hop by hop along a shortest path over the true graph of the moment: the best that routing could know."""

    def __init__(self, node: int, host: Host, next_hop: Callable[[int, int], int | None]) -> None:
        super().__init__(node, host)
        self._next_hop = next_hop

    def handle_datagram(self, datagram: Datagram, sender: int, now: int) -> None:
        """Deliver it or send it on."""
        if datagram.destination == self._node:
            self._host.deliver(datagram)
            return
        next_hop = self._next_hop(self._node, datagram.destination)
        if next_hop is None:
            self._host.drop(datagram, "no_route")
        else:
            self._host.forward(datagram, next_hop)


class Flooding(SingleHop):
    """Everyone repeats what it hears for the first time, after a random wait; source and number tell what is new."""

    def __init__(self, node: int, host: Host, settings: FloodingSettings, rng: np.random.Generator) -> None:
        super().__init__(node, host)
        self._jitter_ns = ns_from_s(settings.jitter_s)
        self._max_hops = settings.max_hops
        self._rng = rng
        self._waits: list[int] = []
        self._seen: dict[tuple[int, int], int] = {}
        """Datagrams heard, and when: numbers come again after a while."""

    def handle_datagram(self, datagram: Datagram, sender: int, now: int) -> None:
        """Deliver, repeat, or recognise it."""
        key = (datagram.source, datagram.identification)
        if self._seen.get(key, -MEMORY_NS) + MEMORY_NS > now:
            self._host.drop(datagram, "lost")  # a copy that is not needed
            return
        self._seen.pop(key, None)
        self._seen[key] = now
        while self._seen and next(iter(self._seen.values())) + MEMORY_NS <= now:
            del self._seen[next(iter(self._seen))]
        if datagram.destination == self._node:
            self._host.deliver(datagram)
        elif datagram.hops >= self._max_hops:
            self._host.drop(datagram, "ttl")
        else:
            self._host.forward(datagram, EVERYONE, 0 if sender == self._node else self._wait())

    def _wait(self) -> int:
        if not self._waits:
            self._waits = self._rng.integers(0, self._jitter_ns + 1, BLOCK).tolist()
        return self._waits.pop()
