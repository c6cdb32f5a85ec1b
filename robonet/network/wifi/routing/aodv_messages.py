"""The four messages of AODV (RFC 3561, section 5), and HELLO, which is a RREP about its sender.

One object stands for a message at all who hear it, so messages are never changed; `kind` is what to dispatch on.
Sequence numbers are 32 bits and wrap around (section 6.1).
"""

import struct
from collections.abc import Callable

from robonet.network.wifi.addresses import address_of, node_at

REQUEST, REPLY, ERROR, ACKNOWLEDGEMENT, HELLO = 1, 2, 3, 4, 5
"""Kinds of messages; up to 4 these are the types on the air."""

MOST_UNREACHABLE = 255
"""Destinations that fit one RERR."""

_REQUEST = struct.Struct("!BBBBI4sI4sI")
_REPLY = struct.Struct("!BBBB4sI4sI")
_ERROR = struct.Struct("!BBBB")
_UNREACHABLE = struct.Struct("!4sI")
_ACKNOWLEDGEMENT = struct.Struct("!BB")

_GRATUITOUS, _DESTINATION_ONLY, _UNKNOWN = 0x20, 0x10, 0x08
_ACKNOWLEDGE = 0x40
_NO_DELETE = 0x80


# Section 5.1
#
#    0               8               16              24            31
#   +---------------+-+-+-+-+-+-----+---------------+---------------+
#   |   type = 1    |J|R|G|D|U|  0  |       0       |   hop count   |
#   +---------------+-+-+-+-+-+-----+---------------+---------------+
#   |                            RREQ id                            |
#   +---------------------------------------------------------------+
#   |                      destination address                      |
#   +---------------------------------------------------------------+
#   |                  destination sequence number                  |
#   +---------------------------------------------------------------+
#   |                      originator address                       |
#   +---------------------------------------------------------------+
#   |                  originator sequence number                   |
#   +---------------------------------------------------------------+
class RouteRequest:
    """RREQ: who knows the way to a destination?"""

    __slots__ = (
        "destination",
        "destination_only",
        "destination_seqno",
        "gratuitous",
        "hop_count",
        "identification",
        "key",
        "origin",
        "origin_seqno",
        "unknown_seqno",
    )
    kind = REQUEST
    size = _REQUEST.size

    def __init__(
        self,
        identification: int,
        destination: int,
        destination_seqno: int,
        origin: int,
        origin_seqno: int,
        hop_count: int = 0,
        unknown_seqno: bool = False,
        gratuitous: bool = False,
        destination_only: bool = False,
    ) -> None:
        self.identification = identification
        self.destination = destination
        self.destination_seqno = destination_seqno
        self.origin = origin
        self.origin_seqno = origin_seqno
        self.hop_count = hop_count
        self.unknown_seqno = unknown_seqno
        self.gratuitous = gratuitous
        self.destination_only = destination_only
        self.key = origin << 32 | identification
        """What all copies of one flood have in common; here because every copy that is heard is looked up by it."""

    def forwarded(self, destination_seqno: int, unknown_seqno: bool) -> "RouteRequest":
        """As the next node sends it on (section 6.5)."""
        return RouteRequest(
            self.identification,
            self.destination,
            destination_seqno,
            self.origin,
            self.origin_seqno,
            self.hop_count + 1,
            unknown_seqno,
            self.gratuitous,
            self.destination_only,
        )

    def encode(self) -> bytes:
        """Its bytes."""
        flags = (
            (_GRATUITOUS if self.gratuitous else 0)
            | (_DESTINATION_ONLY if self.destination_only else 0)
            | (_UNKNOWN if self.unknown_seqno else 0)
        )
        return _REQUEST.pack(
            REQUEST,
            flags,
            0,
            self.hop_count,
            self.identification,
            address_of(self.destination),
            self.destination_seqno,
            address_of(self.origin),
            self.origin_seqno,
        )


# Section 5.2
#
#    0               8               16              24            31
#   +---------------+-+-+-----------+-----+---------+---------------+
#   |   type = 2    |R|A|          0      | prefix  |   hop count   |
#   +---------------+-+-+-----------+-----+---------+---------------+
#   |                      destination address                      |
#   +---------------------------------------------------------------+
#   |                  destination sequence number                  |
#   +---------------------------------------------------------------+
#   |                      originator address                       |
#   +---------------------------------------------------------------+
#   |                   lifetime in milliseconds                    |
#   +---------------------------------------------------------------+
class RouteReply:
    """RREP: over here to the destination; on its way to the originator of the RREQ."""

    __slots__ = ("acknowledge", "destination", "destination_seqno", "hop_count", "lifetime_ms", "origin")
    kind = REPLY
    size = _REPLY.size

    def __init__(
        self,
        destination: int,
        destination_seqno: int,
        origin: int,
        lifetime_ms: int,
        hop_count: int = 0,
        acknowledge: bool = False,
    ) -> None:
        self.destination = destination
        self.destination_seqno = destination_seqno
        self.origin = origin
        self.lifetime_ms = lifetime_ms
        self.hop_count = hop_count
        self.acknowledge = acknowledge

    def forwarded(self) -> "RouteReply":
        """As the next node sends it on (section 6.7)."""
        return RouteReply(self.destination, self.destination_seqno, self.origin, self.lifetime_ms, self.hop_count + 1)

    def encode(self) -> bytes:
        """Its bytes."""
        return _REPLY.pack(
            REPLY,
            _ACKNOWLEDGE if self.acknowledge else 0,
            0,
            self.hop_count,
            address_of(self.destination),
            self.destination_seqno,
            address_of(self.origin),
            min(self.lifetime_ms, 0xFFFFFFFF),
        )


class Hello(RouteReply):
    """HELLO: a RREP of a node about itself, for its neighbours only (section 6.9)."""

    __slots__ = ()
    kind = HELLO

    def __init__(self, node: int, seqno: int, lifetime_ms: int) -> None:
        super().__init__(node, seqno, node, lifetime_ms)


# Section 5.3
#
#    0               8               16              24            31
#   +---------------+-+-------------+---------------+---------------+
#   |   type = 3    |N|             0               |     count     |
#   +---------------+-+-------------+---------------+---------------+
#   |                 unreachable destination address               |  count
#   +---------------------------------------------------------------+  times
#   |             unreachable destination sequence number           |
#   +---------------------------------------------------------------+
class RouteError:
    """RERR: these destinations are not to be reached through its sender any more."""

    __slots__ = ("no_delete", "unreachable")
    kind = ERROR

    def __init__(self, unreachable: tuple[tuple[int, int], ...], no_delete: bool = False) -> None:
        self.unreachable = unreachable
        """Destinations and their sequence numbers."""
        self.no_delete = no_delete
        """Whether the route was repaired on the way, and is to be kept (section 6.12)."""

    @property
    def size(self) -> int:
        """Its length in bytes."""
        return _ERROR.size + _UNREACHABLE.size * len(self.unreachable)

    def encode(self) -> bytes:
        """Its bytes."""
        head = _ERROR.pack(ERROR, _NO_DELETE if self.no_delete else 0, 0, len(self.unreachable))
        return head + b"".join(_UNREACHABLE.pack(address_of(node), seqno) for node, seqno in self.unreachable)


# Section 5.4
#
#    0               8             15
#   +---------------+---------------+
#   |   type = 4    |       0       |
#   +---------------+---------------+
class RouteReplyAck:
    """RREP-ACK: a RREP that asked for it has come over this link."""

    __slots__ = ()
    kind = ACKNOWLEDGEMENT
    size = _ACKNOWLEDGEMENT.size

    def encode(self) -> bytes:
        """Its bytes."""
        return _ACKNOWLEDGEMENT.pack(ACKNOWLEDGEMENT, 0)


AnyRoutingMessage = RouteRequest | RouteReply | RouteError | RouteReplyAck


def decode(data: bytes) -> AnyRoutingMessage:
    """The message in some bytes."""
    try:
        return _DECODERS[data[0]](data)
    except (IndexError, KeyError):
        raise ValueError(f"no AODV message begins like {data[:4].hex(' ') or 'nothing'}; types are 1 to 4") from None
    except struct.error as error:
        raise ValueError(f"{len(data)} bytes are no AODV message of type {data[0]}: {error}") from None


def _decode_request(data: bytes) -> RouteRequest:
    _, flags, _, hop_count, identification, destination, destination_seqno, origin, origin_seqno = _REQUEST.unpack(data)
    return RouteRequest(
        identification,
        node_at(destination),
        destination_seqno,
        node_at(origin),
        origin_seqno,
        hop_count,
        unknown_seqno=bool(flags & _UNKNOWN),
        gratuitous=bool(flags & _GRATUITOUS),
        destination_only=bool(flags & _DESTINATION_ONLY),
    )


def _decode_reply(data: bytes) -> RouteReply:
    _, flags, _, hop_count, destination, seqno, origin, lifetime_ms = _REPLY.unpack(data)
    if destination == origin:
        return Hello(node_at(destination), seqno, lifetime_ms)
    return RouteReply(
        node_at(destination), seqno, node_at(origin), lifetime_ms, hop_count, acknowledge=bool(flags & _ACKNOWLEDGE)
    )


def _decode_error(data: bytes) -> RouteError:
    _, flags, _, count = _ERROR.unpack_from(data)
    if len(data) != _ERROR.size + count * _UNREACHABLE.size:
        raise ValueError(f"a RERR of {len(data)} bytes cannot name {count} destinations")
    rows = _UNREACHABLE.iter_unpack(data[_ERROR.size :])
    return RouteError(tuple((node_at(address), seqno) for address, seqno in rows), bool(flags & _NO_DELETE))


def _decode_acknowledgement(data: bytes) -> RouteReplyAck:
    _ACKNOWLEDGEMENT.unpack(data)
    return RouteReplyAck()


_DECODERS: dict[int, Callable[[bytes], AnyRoutingMessage]] = {
    REQUEST: _decode_request,
    REPLY: _decode_reply,
    ERROR: _decode_error,
    ACKNOWLEDGEMENT: _decode_acknowledgement,
}
