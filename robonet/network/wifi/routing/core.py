"""What a routing protocol and the node it runs on are to each other.

A protocol has no clock, socket or generator of its own: it is handed `now` and a random generator, and asks its
host for effects. Nodes are known by their index; addresses exist only in bytes on the air.
"""

from typing import Any, Protocol

from robonet.network.ledger import Packet

EVERYONE = -1
"""As a next hop: all in reach, without acknowledgement."""

DEFAULT_TTL = 64


Stop = tuple[int, int, int, int, int]
"""One node on a path: which, since when, and how long the hop to it took in the queue, for access, and in the air."""


class Datagram:
    """A data packet on its way through the network: one copy at one node."""

    __slots__ = ("destination", "hops", "identification", "packet", "path", "size", "source", "ttl")

    def __init__(
        self,
        packet: Packet,
        source: int,
        destination: int,
        size: int,
        identification: int = 0,
        ttl: int = DEFAULT_TTL,
        hops: int = 0,
        path: tuple[Stop, ...] = (),
    ) -> None:
        self.packet = packet
        self.source = source
        self.destination = destination
        self.size = size
        """Bytes of UDP payload; headers are the host's business."""
        self.identification = identification
        """The source's own number of this datagram, as in the IP header."""
        self.ttl = ttl
        self.hops = hops
        """Hops taken so far."""
        self.path = path
        """Where it was, its source first."""

    def copy(self, ttl: int, stop: Stop) -> "Datagram":
        """As it is one hop farther."""
        path = (*self.path, stop)
        return Datagram(
            self.packet, self.source, self.destination, self.size, self.identification, ttl, self.hops + 1, path
        )


class Message(Protocol):
    """A control message of a routing protocol."""

    @property
    def size(self) -> int:
        """Bytes of UDP payload on the air: exactly as many as `encode` gives."""
        ...

    def encode(self) -> bytes:
        """Those bytes; needed for captures only."""
        ...


class Host(Protocol):
    """What a routing protocol may ask of its node."""

    def send(self, message: Message, next_hop: int, ttl: int = 1, delay_ns: int = 0) -> None:
        """Hand a control message to the radio, to one neighbour or to EVERYONE, after a delay."""
        ...

    def forward(self, datagram: Datagram, next_hop: int, delay_ns: int = 0) -> None:
        """Hand a datagram to the radio, to one neighbour or to EVERYONE; at its end it counts one hop more."""
        ...

    def deliver(self, datagram: Datagram) -> None:
        """It has reached this node, and is for it."""
        ...

    def drop(self, datagram: Datagram, reason: str) -> None:
        """Give it up, for one of REASONS (robonet.link.messages)."""
        ...

    def wake(self, time: int, timer: Any) -> None:
        """Call `handle_timer(timer, time)` then; there is no way to take this back, so timers may be stale."""
        ...


class Routing(Protocol):
    """One node's end of a routing protocol."""

    counts: dict[str, int]
    """Messages sent so far, originated and passed on, by kind."""

    def start(self, now: int) -> None:
        """Begin: first beacons, first timers."""
        ...

    def handle_datagram(self, datagram: Datagram, sender: int, now: int) -> None:
        """A datagram is here, from a neighbour, or from this node itself (`sender` is this node).

        It must end in exactly one of `deliver`, `forward`, `drop`, or be kept for later. Its `ttl` was already
        counted down for this hop by the host, which drops what has run out.
        """
        ...

    def handle_message(self, message: Any, sender: int, ttl: int, now: int) -> None:
        """A control message was heard from a neighbour; `ttl` is that of the IP header it came in."""
        ...

    def handle_undelivered(self, item: Any, next_hop: int, now: int) -> None:
        """The radio has given up on a neighbour: the datagram or message it was to carry comes back.

        Where ns-3's AODV is followed, `item` is None when what was lost is nothing of the protocol's business.
        """
        ...

    def handle_timer(self, timer: Any, now: int) -> None:
        """A time asked for with `wake` has come."""
        ...

    def pending(self) -> list[Datagram]:
        """Datagrams kept for later, for the account at the end."""
        ...
