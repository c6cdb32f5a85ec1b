"""What ns-2's trace says of packets: who received them when, and why the others were given up.

The trace knows packets by their source and the sequence number that its agent gave them. When all acknowledgements
of a frame are lost, the next hop has the packet while the last one gives it up, or tries another way with a copy of
its own: so the nodes that hold a packet are followed, and it ends when the last of them drops it.
"""

import re
from collections.abc import Iterable

from robonet.clock import NS_PER_S
from robonet.link.messages import BROADCAST, FIRST_GROUP
from robonet.network.ledger import Ledger, Packet

LONGEST_LIFE_NS = 60 * NS_PER_S
"""Packets that are so old are `unknown`: AODV forgets some without a word after 30 s, and ARP keeps some forever."""

_LINE = re.compile(
    rb"([rD]) (\d+)\.(\d{9}) _(\d+)_ +(AGT|RTR|IFQ|MAC) +(\S+) \d+ cbr \d+ +\[\w+ \w+ (\w+) \w+\] "
    rb"------- \[(\d+):\d+ (-?\d+):\d+ \d+ \d+\] \[(\d+)\] (\d+) \d+\s*"
)
"""What happened when, at which node, in which layer and why; who sent the frame; source, destination, number, hops."""

_OTHER = re.compile(rb"[rD] \d+\.\d{9} _\d+_ +(?:AGT|RTR|IFQ|MAC) ")
"""How lines of other packets begin: of routing, of ARP, of medium access."""

_REASONS = {
    b"RTR NRTE": "no_route",
    b"RTR LOOP": "no_route",
    b"RTR TTL": "ttl",
    b"RTR IFQ": "queue_full",
    b"RTR TOUT": "lifetime",
    b"IFQ IFQ": "queue_full",
    b"IFQ ---": "queue_full",
    b"IFQ ARP": "no_route",
}
"""Why a layer drops a packet, by the words of cmu-trace.h; others are `unknown`."""
_TAKEN_BACK = b"RTR CBK"
"""Routing drops what it had handed to a link that it now holds for broken."""
_GIVEN_UP = b"MAC RET"
"""Medium access has tried often enough; routing has been told before, and says so first."""


class Copy:
    """A packet on its way to one receiver, or to all in reach."""

    __slots__ = ("end", "holders", "is_over", "packet", "receiver", "taken_back")

    def __init__(self, packet: Packet, receiver: int) -> None:
        self.packet = packet
        self.receiver = receiver
        self.holders = {packet.source}
        """The nodes that still try to bring it farther."""
        self.taken_back: tuple[int, int] | None = None
        """When and where routing dropped it last because of a broken link."""
        self.end: tuple[int, str, int] | None = None
        """When, why and after how many hops the last holder dropped it."""
        self.is_over = False


class Fates:
    """Follows packets through the trace into the ledger."""

    def __init__(self, ledger: Ledger, nodes: int, *, has_routing: bool) -> None:
        self._ledger = ledger
        self._has_routing = has_routing
        self._sent = [0] * nodes
        self._copies: dict[tuple[int, int], Copy] = {}
        self._given_up: list[Copy] = []
        self.repeated = 0
        """Arrivals of packets that had arrived before, or had been given up as too old."""

    def begin(self, packet: Packet, receiver: int) -> None:
        """A packet is handed to its source's agent, the next in its order."""
        source = packet.source
        self._copies[source, self._sent[source]] = Copy(packet, receiver)
        self._sent[source] += 1

    def read(self, lines: Iterable[bytes], since: int, until: int) -> bytes | None:
        """Take in the trace of a step; the first line that makes no sense, if there is one."""
        for line in lines:
            if b" cbr " in line:
                if not self._read_line(line, since, until):
                    return line
            elif not _OTHER.match(line):
                return line
        for copy in self._given_up:
            self._give_up(copy)
        self._given_up.clear()
        self._forget(until)
        return None

    def _read_line(self, line: bytes, since: int, until: int) -> bool:
        """Take in what happened to one packet; whether it can be."""
        match = _LINE.fullmatch(line)
        if match is None:
            return False
        event, seconds, fraction, node, layer, why, sender, source, destination, number, hops = match.groups()
        key = (int(source), int(number))
        copy = self._copies.get(key)
        if copy is None:  # its story has been told, if there ever was one
            return key[0] < len(self._sent) and key[1] < self._sent[key[0]]
        time, place = int(seconds) * NS_PER_S + int(fraction), int(node)
        if not since <= time <= until or place >= len(self._sent) or int(destination) != _address(copy.receiver):
            return False
        if copy.receiver == BROADCAST:
            if layer == b"AGT":
                self._ledger.delivered(copy.packet, place, time, int(hops))
        elif event == b"D":
            self._drop(copy, time, place, layer + b" " + why, int(hops))
        elif layer == b"AGT":
            self._arrive(copy, time, int(hops))
        elif int(hops):
            copy.holders.discard(int(sender, 16))
            copy.holders.add(place)
        return True

    def _arrive(self, copy: Copy, time: int, hops: int) -> None:
        if copy.is_over:
            self.repeated += 1
            return
        copy.is_over = True
        self._ledger.delivered(copy.packet, copy.receiver, time, hops)

    def _drop(self, copy: Copy, time: int, node: int, why: bytes, hops: int) -> None:
        if copy.is_over:
            return
        if why == _GIVEN_UP:
            if copy.taken_back == (time, node):
                if copy.end is not None:  # it is for this very frame that the link is held for broken
                    copy.end = (time, "retry_limit", hops)
                return
            if self._has_routing:  # which did not drop it: it looks for another way
                copy.holders.add(node)
                return
        elif why.startswith(b"MAC"):  # what a receiver could not make out is sent again
            return
        if node not in copy.holders:
            return
        copy.holders.discard(node)
        if why == _TAKEN_BACK:
            copy.taken_back = (time, node)
        if not copy.holders:
            reason = "retry_limit" if why == _GIVEN_UP else "no_route" if why == _TAKEN_BACK else None
            copy.end = (time, reason or _REASONS.get(why, "unknown"), hops)
            self._given_up.append(copy)

    def _give_up(self, copy: Copy) -> None:
        if copy.is_over or copy.end is None:
            return
        copy.is_over = True
        if copy.packet.destination < FIRST_GROUP:
            self._ledger.dropped(copy.packet, *copy.end)

    def _forget(self, now: int) -> None:
        """Nothing more is expected of the oldest packets."""
        while self._copies:
            key, copy = next(iter(self._copies.items()))
            if copy.packet.time >= now - LONGEST_LIFE_NS:
                return
            copy.end = (now, "unknown", 0)
            if copy.receiver != BROADCAST:
                self._give_up(copy)
            del self._copies[key]


def _address(receiver: int) -> int:
    """As ns-2 writes it."""
    return -1 if receiver == BROADCAST else receiver
