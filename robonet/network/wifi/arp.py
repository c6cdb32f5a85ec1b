"""The address resolution protocol (RFC 826) of one node, as a sans-IO core; timers and limits are ns-3's.

A node asks for the hardware address of a neighbour before it first sends to it. Up to three items wait for the
answer; after four questions without one, the neighbour counts as gone for a while and what is for it is dropped.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np

from robonet.clock import NS_PER_S

ALIVE_NS = 120 * NS_PER_S
DEAD_NS = 100 * NS_PER_S
WAIT_NS = NS_PER_S
RETRIES = 3
MOST_WAITING = 3
JITTER_MS = 10
"""Questions wait a whole number of milliseconds below this, as in ns-3."""
BLOCK = 64
NS_PER_MS = 1_000_000


class ArpMessage(NamedTuple):
    """A question, or the answer to one."""

    is_request: bool
    sender: int
    target: int


class ArpHost(Protocol):
    """What ARP asks of its node."""

    def send_arp(self, message: ArpMessage, delay_ns: int) -> None:
        """A question goes to everyone, an answer to the one who asked."""
        ...

    def resolved(self, item: Any) -> None:
        """The neighbour's address is known: send this."""
        ...

    def unresolved(self, item: Any) -> None:
        """It is not to be had: drop this."""
        ...

    def wake_arp(self, time: int) -> None:
        """Call `handle_timer` then."""
        ...


class _Entry:
    """What is known of one neighbour."""

    __slots__ = ("is_alive", "items", "tries", "until")

    def __init__(self) -> None:
        self.is_alive = False
        self.until = 0
        """Until when an answer, or the lack of one, counts."""
        self.tries = 0
        self.items: list[Any] | None = None
        """What waits for an answer; None while nobody asks."""


class Arp:
    """One node's table of neighbours."""

    def __init__(self, node: int, host: ArpHost, rng: np.random.Generator) -> None:
        self.counts = {"arp_request": 0, "arp_reply": 0}
        self._node = node
        self._host = host
        self._rng = rng
        self._entries: dict[int, _Entry] = {}
        self._waits: list[int] = []
        self._is_waiting = False

    def knows(self, neighbour: int, now: int) -> bool:
        """Whether the neighbour's address is known."""
        entry = self._entries.get(neighbour)
        return entry is not None and entry.is_alive and now <= entry.until

    def resolve(self, neighbour: int, item: Any, now: int) -> None:
        """Ask for an address; the item waits."""
        entry = self._entries.get(neighbour)
        if entry is None:
            entry = self._entries[neighbour] = _Entry()
        elif entry.items is not None:
            if len(entry.items) >= MOST_WAITING:
                self._host.unresolved(item)
            else:
                entry.items.append(item)
            return
        elif not entry.is_alive and now <= entry.until:
            self._host.unresolved(item)
            return
        entry.is_alive = False
        entry.items = [item]
        entry.tries = 0
        self._ask(neighbour, self._wait())
        if not self._is_waiting:
            self._is_waiting = True
            self._host.wake_arp(now + WAIT_NS)

    def handle_message(self, message: ArpMessage, now: int) -> None:
        """A question or an answer was heard."""
        if message.target != self._node:
            return
        if message.is_request:
            self.counts["arp_reply"] += 1
            self._host.send_arp(ArpMessage(False, self._node, message.sender), 0)
            return
        entry = self._entries.get(message.sender)
        if entry is not None and entry.items is not None:  # an answer that nobody asked for is not trusted
            items, entry.items = entry.items, None
            entry.is_alive = True
            entry.until = now + ALIVE_NS
            for item in items:
                self._host.resolved(item)

    def handle_timer(self, now: int) -> None:
        """Ask again for everyone who has not answered, or give up."""
        self._is_waiting = False
        for neighbour, entry in self._entries.items():
            if entry.items is None:
                continue
            if entry.tries < RETRIES:
                entry.tries += 1
                self._ask(neighbour, 0)
                self._is_waiting = True
            else:
                items, entry.items = entry.items, None
                entry.until = now + DEAD_NS
                for item in items:
                    self._host.unresolved(item)
        if self._is_waiting:
            self._host.wake_arp(now + WAIT_NS)

    def _ask(self, neighbour: int, delay_ns: int) -> None:
        self.counts["arp_request"] += 1
        self._host.send_arp(ArpMessage(True, self._node, neighbour), delay_ns)

    def _wait(self) -> int:
        if not self._waits:
            self._waits = (self._rng.integers(0, JITTER_MS, BLOCK) * NS_PER_MS).tolist()
        return self._waits.pop()
