"""The packets of OLSR as they are on the air: RFC 3626, UDP port 698.

One packet carries any number of messages. Of the four kinds only HELLO and TC exist here: nodes have one interface
and no networks behind them, so there is nothing that MID and HNA could tell.
"""

from struct import Struct
from typing import Final, Literal

from robonet.network.wifi.addresses import address_of, node_at

PORT = 698

HELLO: Final = 1
TC: Final = 2
"""Kinds of messages (18.4)."""

ASYMMETRIC, SYMMETRIC, LOST = 1, 2, 3
"""Kinds of links (18.5), the low two bits of a link code."""

NOT_NEIGHBOUR, NEIGHBOUR, RELAY = 0, 1, 2
"""Kinds of neighbours (18.6), the next two bits of a link code."""

PACKET_BYTES = 4
MESSAGE_BYTES = 12
_SCALE_NS = 62_500_000
"""C of 18.3: a sixteenth of a second."""

# Packet header (3.3):
#
#  0                   1                   2                   3
#  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
# +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
# |         Packet Length         |    Packet Sequence Number     |
# +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
_PACKET = Struct("!HH")

# Message header (3.3):
#
# +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
# |  Message Type |     Vtime     |         Message Size          |
# +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
# |                      Originator Address                       |
# +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
# |  Time To Live |   Hop Count   |    Message Sequence Number    |
# +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
_MESSAGE = Struct("!BBH4sBBH")

# HELLO (6.1), then for each link code one block of addresses:
#
# +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
# |          Reserved             |     Htime     |  Willingness  |
# +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
# |   Link Code   |   Reserved    |       Link Message Size       |
# +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
# |                  Neighbor Interface Address                   |
# +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
_HELLO = Struct("!HBB")
_LINK = Struct("!BBH")

# TC (9.1), then the addresses:
#
# +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
# |              ANSN             |           Reserved            |
# +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
# |               Advertised Neighbor Main Address                |
# +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
_TC = Struct("!HH")


def duration_code(duration_ns: int) -> int:
    """The eight bits for a duration, mantissa over exponent, rounded up (18.3); what is out of bounds is bounded."""
    exponent = max(0, (duration_ns // _SCALE_NS).bit_length() - 1)
    unit = _SCALE_NS << exponent
    mantissa = max(0, -(16 * (unit - duration_ns) // unit))
    if mantissa == 16:
        exponent, mantissa = exponent + 1, 0
    return 0xFF if exponent > 15 else mantissa << 4 | exponent


DURATIONS_NS = tuple(_SCALE_NS * (16 + (code >> 4)) * (1 << (code & 15)) // 16 for code in range(256))
"""The duration that each of these codes stands for."""


class Hello:
    """What a node has heard of its neighbours lately, for those neighbours only (6)."""

    kind: Literal[1] = HELLO
    __slots__ = (
        "codes",
        "interval_code",
        "links",
        "neighbours",
        "originator",
        "sequence_number",
        "size",
        "strangers",
        "validity_code",
        "validity_ns",
        "willingness",
    )

    def __init__(
        self,
        originator: int,
        sequence_number: int,
        validity_code: int,
        interval_code: int,
        willingness: int,
        links: tuple[tuple[int, tuple[int, ...]], ...],
    ) -> None:
        self.originator = originator
        self.sequence_number = sequence_number
        self.validity_code = validity_code
        self.validity_ns = DURATIONS_NS[validity_code]
        self.interval_code = interval_code
        self.willingness = willingness
        self.links = links
        """Nodes by link code."""
        self.size = MESSAGE_BYTES + _HELLO.size + sum(_LINK.size + 4 * len(nodes) for _, nodes in links)
        # Everyone in reach reads the same object, so what they look for is sorted out here, once.
        self.codes = {node: code for code, nodes in links for node in nodes}
        self.neighbours = tuple(node for code, nodes in links if code >> 2 != NOT_NEIGHBOUR for node in nodes)
        """Those to which the originator has a symmetric link."""
        self.strangers = tuple(node for code, nodes in links if code >> 2 == NOT_NEIGHBOUR for node in nodes)

    def encode(self) -> bytes:
        """The message, with its header."""
        parts = [
            _MESSAGE.pack(
                HELLO, self.validity_code, self.size, address_of(self.originator), 1, 0, self.sequence_number
            ),
            _HELLO.pack(0, self.interval_code, self.willingness),
        ]
        for code, nodes in self.links:
            parts.append(_LINK.pack(code, 0, _LINK.size + 4 * len(nodes)))
            parts.extend(map(address_of, nodes))
        return b"".join(parts)


class TopologyControl:
    """The neighbours that have chosen the originator as relay, for the whole network (9)."""

    kind: Literal[2] = TC
    __slots__ = (
        "advertised",
        "ansn",
        "hops",
        "key",
        "originator",
        "sequence_number",
        "size",
        "ttl",
        "validity_code",
        "validity_ns",
    )

    def __init__(
        self,
        originator: int,
        sequence_number: int,
        validity_code: int,
        ttl: int,
        hops: int,
        ansn: int,
        advertised: tuple[int, ...],
    ) -> None:
        self.originator = originator
        self.sequence_number = sequence_number
        self.key = originator << 16 | sequence_number
        """What tells it from all other messages (3.4)."""
        self.validity_code = validity_code
        self.validity_ns = DURATIONS_NS[validity_code]
        self.ttl = ttl
        self.hops = hops
        self.ansn = ansn
        self.advertised = advertised
        self.size = MESSAGE_BYTES + _TC.size + 4 * len(advertised)

    def repeated(self) -> "TopologyControl":
        """The message as a relay sends it on (3.4.1)."""
        return TopologyControl(
            self.originator,
            self.sequence_number,
            self.validity_code,
            self.ttl - 1,
            self.hops + 1,
            self.ansn,
            self.advertised,
        )

    def encode(self) -> bytes:
        """The message, with its header."""
        header = _MESSAGE.pack(
            TC,
            self.validity_code,
            self.size,
            address_of(self.originator),
            self.ttl,
            self.hops,
            self.sequence_number,
        )
        return b"".join((header, _TC.pack(self.ansn, 0), *map(address_of, self.advertised)))


class OlsrPacket:
    """What goes on the air: messages of one or more originators (3.3)."""

    __slots__ = ("messages", "sequence_number", "size")

    def __init__(self, sequence_number: int, messages: tuple[Hello | TopologyControl, ...]) -> None:
        self.sequence_number = sequence_number
        self.messages = messages
        self.size = PACKET_BYTES + sum(message.size for message in messages)

    def encode(self) -> bytes:
        """The packet, with its header."""
        header = _PACKET.pack(self.size, self.sequence_number)
        return b"".join((header, *(message.encode() for message in self.messages)))


def decode(data: bytes) -> OlsrPacket:
    """The packet in some bytes; messages of other kinds are passed over (3.4)."""
    if len(data) < PACKET_BYTES:
        raise ValueError(f"an OLSR packet has {PACKET_BYTES} bytes or more, not {len(data)}")
    length, sequence_number = _PACKET.unpack_from(data)
    if length != len(data):
        raise ValueError(f"an OLSR packet says that it has {length} bytes, but has {len(data)}")
    messages: list[Hello | TopologyControl] = []
    start = PACKET_BYTES
    while start < length:
        if start + MESSAGE_BYTES > length:
            raise ValueError(f"an OLSR message header at byte {start} is cut short")
        kind, validity, size, originator, ttl, hops, number = _MESSAGE.unpack_from(data, start)
        if size < MESSAGE_BYTES or start + size > length:
            raise ValueError(f"an OLSR message at byte {start} cannot have {size} bytes")
        body = data[start + MESSAGE_BYTES : start + size]
        if kind == HELLO:
            messages.append(_decode_hello(body, node_at(originator), number, validity))
        elif kind == TC:
            (ansn, _) = _read(_TC, body, 0)
            advertised = _nodes(body[_TC.size :])
            messages.append(TopologyControl(node_at(originator), number, validity, ttl, hops, ansn, advertised))
        start += size
    return OlsrPacket(sequence_number, tuple(messages))


def _decode_hello(body: bytes, originator: int, number: int, validity: int) -> Hello:
    _, interval, willingness = _read(_HELLO, body, 0)
    links = []
    start = _HELLO.size
    while start < len(body):
        code, _, size = _read(_LINK, body, start)
        if size < _LINK.size or start + size > len(body):
            raise ValueError(f"a block of links in an OLSR HELLO cannot have {size} bytes")
        links.append((code, _nodes(body[start + _LINK.size : start + size])))
        start += size
    return Hello(originator, number, validity, interval, willingness, tuple(links))


def _read(form: Struct, data: bytes, start: int) -> tuple[int, ...]:
    if start + form.size > len(data):
        raise ValueError("an OLSR message is cut short")
    return form.unpack_from(data, start)


def _nodes(data: bytes) -> tuple[int, ...]:
    if len(data) % 4:
        raise ValueError(f"{len(data)} bytes are no list of addresses")
    return tuple(node_at(data[at : at + 4]) for at in range(0, len(data), 4))
