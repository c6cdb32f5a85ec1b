"""The messages of AntHocNet as they are on the air here: there is no standard, so this is the format.

All numbers are in network order; one message makes one UDP datagram. Times and costs are whole microseconds, and the
largest number stands for "no way". The first byte tells the kind.
"""

from struct import Struct
from typing import Final, Literal

from robonet.network.wifi.addresses import address_of, node_at

PORT = 49153
"""None is assigned to AntHocNet; this one belongs to nobody (RFC 6335, section 6)."""

HELLO: Final = 1
FORWARD: Final = 2
BACKWARD: Final = 3
FAILURE: Final = 4
"""Kinds of messages."""

REACTIVE, PROACTIVE, REPAIR = 0, 1, 2
"""Purposes of ants."""

NO_WAY = 0xFFFF_FFFF
"""As a cost: the destination is out of reach from there."""

UNLIMITED = 255
"""As a number of broadcasts."""

# Hello and link failure: what the sender's best path to some destinations costs.
#
#  0                   1                   2                   3
#  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
# +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
# |  Type (1, 4)  |     Count     |           Reserved            |
# +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
# |                 Destination Address 1                         |
# +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
# |                 Cost 1                                        |
# +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
_NEWS = Struct("!BBH")
_ENTRY = Struct("!4sI")

# Forward and backward ants. `Broadcasts` is how often the ant may still be broadcast; `Position` is how many hops a
# backward ant has gone, and 0 in forward ants. The path is that between source and destination, both left out.
#
# +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
# |  Type (2, 3)  |    Purpose    |  Broadcasts   |   Position    |
# +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
# |          Generation           |   Reserved    |  Path Length  |
# +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
# |                 Source Address                                |
# +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
# |                 Destination Address                           |
# +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
# |                 Time of the Hops Taken                        |
# +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
# |                 Path Address 1                                |
# +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
_ANT = Struct("!BBBBHBB4s4sI")


class _News:
    """Costs of the sender's best paths."""

    kind: int
    __slots__ = ("costs", "size")

    def __init__(self, costs: tuple[tuple[int, int], ...]) -> None:
        if len(costs) > 255:
            raise ValueError(f"a message tells of 255 destinations or fewer, not {len(costs)}")
        self.costs = costs
        """Destinations, and what the way to them costs in microseconds."""
        self.size = _NEWS.size + _ENTRY.size * len(costs)

    def encode(self) -> bytes:
        """The message."""
        entries = (_ENTRY.pack(address_of(node), cost) for node, cost in self.costs)
        return b"".join((_NEWS.pack(self.kind, len(self.costs), 0), *entries))


class Hello(_News):
    """A greeting: here I am, and this is how far some destinations are from here."""

    kind: Literal[1] = HELLO
    __slots__ = ()


class LinkFailure(_News):
    """A warning: these destinations have become farther from here, or out of reach."""

    kind: Literal[4] = FAILURE
    __slots__ = ()


class _Ant:
    """A path from a source towards a destination, and how far along it the ant is."""

    kind: int
    __slots__ = (
        "broadcasts",
        "destination",
        "generation",
        "path",
        "position",
        "purpose",
        "size",
        "source",
        "time_us",
    )

    def __init__(
        self,
        purpose: int,
        source: int,
        destination: int,
        generation: int,
        broadcasts: int = 0,
        position: int = 0,
        time_us: int = 0,
        path: tuple[int, ...] = (),
    ) -> None:
        self.purpose = purpose
        self.source = source
        self.destination = destination
        self.generation = generation
        self.broadcasts = broadcasts
        self.position = position
        self.time_us = time_us
        self.path = path
        self.size = _ANT.size + 4 * len(path)

    def encode(self) -> bytes:
        """The message."""
        header = _ANT.pack(
            self.kind,
            self.purpose,
            self.broadcasts,
            self.position,
            self.generation,
            0,
            len(self.path),
            address_of(self.source),
            address_of(self.destination),
            self.time_us,
        )
        return b"".join((header, *map(address_of, self.path)))


class ForwardAnt(_Ant):
    """An ant on its way to find the destination."""

    kind: Literal[2] = FORWARD
    __slots__ = ()


class BackwardAnt(_Ant):
    """An ant on its way back to the source, laying pheromone."""

    kind: Literal[3] = BACKWARD
    __slots__ = ()


AntMessage = Hello | LinkFailure | ForwardAnt | BackwardAnt


def decode(data: bytes) -> AntMessage:
    """The message in some bytes."""
    kind = data[0] if data else 0
    if kind in (HELLO, FAILURE):
        if len(data) < _NEWS.size or len(data) != _NEWS.size + _ENTRY.size * data[1]:
            raise ValueError(f"a message of {len(data)} bytes does not hold what its header says")
        costs = tuple((node_at(address), cost) for address, cost in _ENTRY.iter_unpack(data[_NEWS.size :]))
        return Hello(costs) if kind == HELLO else LinkFailure(costs)
    if kind in (FORWARD, BACKWARD):
        if len(data) < _ANT.size:
            raise ValueError(f"an ant has {_ANT.size} bytes or more, not {len(data)}")
        _, purpose, broadcasts, position, generation, _, length, source, destination, time = _ANT.unpack_from(data)
        if len(data) != _ANT.size + 4 * length:
            raise ValueError(f"an ant of {len(data)} bytes does not hold the path of {length} nodes it speaks of")
        path = tuple(node_at(data[at : at + 4]) for at in range(_ANT.size, len(data), 4))
        ant = ForwardAnt if kind == FORWARD else BackwardAnt
        return ant(purpose, node_at(source), node_at(destination), generation, broadcasts, position, time, path)
    raise ValueError(f"kind {kind} is no message of AntHocNet")
