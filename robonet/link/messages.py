"""What the two sides say to each other: msgpack maps with a `type`, tables as binary columns and records.

docs/protocol.md describes every message to the byte. Arrays are views of the received bytes: copy what must
outlive the message.
"""

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from robonet.errors import RemoteProtocolError

PROTOCOL_VERSION = 1
MAX_MESSAGE_BYTES = 256 * 1024 * 1024
LARGE_BYTES = 64 * 1024
"""Positions from this size on travel in a frame of their own: packing them with the rest would copy them once more."""

BROADCAST = 0xFFFFFFFF
"""Destination of a packet for everyone in reach."""
FIRST_GROUP = 0x80000000
"""Destinations from here on name a group: FIRST_GROUP + its index in the directory."""

Buffer = memoryview
EMPTY = memoryview(b"")


class Message(msgspec.Struct, frozen=True, tag_field="type", tag=str.lower, kw_only=True, gc=False, omit_defaults=True):
    """What all messages have in common: a tag, and tolerance for keys of a later minor version."""


class Node(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One robot or station, as the network is told of it."""

    name: str
    """Unique in the whole simulation."""
    groups: list[str] = []
    """Groups that it belongs to."""
    mobile: bool = True
    """Whether it ever moves."""
    equipment: dict[str, float] = {}
    """Its radio, by quantities with their unit in the name."""


class Obstacle(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A solid thing in the arena: a convex polygon, counter-clockwise, or a disk."""

    corners_m: list[tuple[float, float]] = []
    """The corners of a polygon; empty for a disk."""
    center_m: tuple[float, float] | None = None
    """The centre of a disk."""
    radius_m: float = 0.0
    """The radius of a disk."""
    material: str = "concrete"
    """What it is made of, for models in which obstacles weaken signals."""


class Hello(Message, frozen=True):
    """A robot simulator introduces itself: the paper's initial exchange."""

    version: int
    """Version of this protocol."""
    software: str
    """Name and version of the program."""
    peer: str
    """Name of this simulator, unique among those of one simulation."""
    step_ns: int
    """Length of a step."""
    steps: int
    """How many steps are planned; fewer may come."""
    seed: int
    """Root of all randomness."""
    arena_low_m: tuple[float, float]
    """Lower left corner of the arena."""
    arena_high_m: tuple[float, float]
    """Upper right corner of the arena."""
    walls: bool
    """Whether the arena's border is solid."""
    obstacles: list[Obstacle]
    """Solid things in the arena."""
    nodes: list[Node]
    """The nodes that this simulator moves, in the order of its position rows."""
    wants: list[str] = []
    """Feedback asked for: any of failures, neighbours, queues."""


class Welcome(Message, frozen=True):
    """The network simulator has heard everyone and is ready for step 0."""

    version: int
    """Version of this protocol."""
    software: str
    """Name and version of the program."""
    model: str
    """Name of the network model."""
    first_node: int
    """Number of the peer's first node; its nodes are consecutive."""
    first_packet: int
    """Number from which the peer counts its packets."""
    directory: list[Node]
    """All nodes of the simulation by number."""
    groups: list[str]
    """All groups by number, sorted."""
    offers: list[str]
    """Feedback that will come."""
    needs_payloads: bool
    """Whether steps must carry the packets' bytes and not only their sizes."""
    longest_life_ns: int = 120_000_000_000
    """No packet arrives later than this after it was sent: robots may then forget its bytes."""


class Step(Message, frozen=True):
    """Step `index` begins: where everyone is and what is sent during it."""

    index: int
    """Number of the step, from 0."""
    time: int
    """When it begins, in ns."""
    positions: Buffer = EMPTY
    """float64 x, y, z in metres, a row a node of the peer; or empty, and a second frame holds them."""
    packets: Buffer = EMPTY
    """TRANSMISSION records of new packets, their numbers ascending."""
    payloads: list[Buffer] | None = None
    """The bytes themselves, where the network asked for them."""


class Stepped(Message, frozen=True):
    """Step `index` is over on the network's side: what arrived, and what it has to tell."""

    index: int
    """The step that this answers."""
    time: int
    """When it ended, in ns."""
    arrivals: Buffer = EMPTY
    """ARRIVAL records, in the order of arrival."""
    failures: Buffer = EMPTY
    """FAILURE records of own packets given up in this step."""
    payloads: list[Buffer] | None = None
    """Bytes of what arrived, where several robot simulators take part; with the next one."""
    origins: Buffer = EMPTY
    """ORIGIN records of what arrived."""
    neighbour_offsets: Buffer = EMPTY
    """uint32 where each own node's row of neighbours begins, and the end of the last."""
    neighbours: Buffer = EMPTY
    """uint32 nodes in reach."""
    link_quality: Buffer = EMPTY
    """float32 quality of each, 0 to 1."""
    link_signal_dbm: Buffer = EMPTY
    """float32 received power of each; empty where the model knows none."""
    queues: Buffer = EMPTY
    """uint32 packets waiting at each own node."""


class End(Message, frozen=True):
    """The robot simulator takes no more steps."""

    reason: str
    """finished, interrupted or failed."""
    text: str = ""
    """For people."""


class Ended(Message, frozen=True):
    """The network has written its results and says what became of everything."""

    report: dict[str, Any]
    """Counts and timings, as in docs/protocol.md."""


class Error(Message, frozen=True):
    """The sender gives up; nothing follows."""

    text: str
    """What is wrong, for people."""


class Ping(Message, frozen=True):
    """A sign of life; never answered."""


AnyMessage = Hello | Welcome | Step | Stepped | End | Ended | Error | Ping

REASONS = (
    "lost",
    "out_of_range",
    "no_route",
    "ttl",
    "queue_full",
    "retry_limit",
    "collision",
    "below_sensitivity",
    "lifetime",
    "unknown",
    "run_ended",
    "too_long",
)
"""Why a packet was dropped; the position in this list is its number on the wire."""

encode: Callable[[AnyMessage], bytes] = msgspec.msgpack.Encoder().encode
"""The bytes of a message; no function of ours around it, because every step goes through here twice."""
_decoder: msgspec.msgpack.Decoder[AnyMessage] = msgspec.msgpack.Decoder(AnyMessage)


def decode(data: bytes | memoryview) -> AnyMessage:
    """The message in some bytes from a peer."""
    if len(data) > MAX_MESSAGE_BYTES:
        raise RemoteProtocolError(f"a message of {len(data)} bytes is larger than the {MAX_MESSAGE_BYTES} allowed")
    try:
        return _decoder.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise RemoteProtocolError(f"not a message of this protocol: {error}") from error


TRANSMISSION = np.dtype(
    [("packet", "<u8"), ("time", "<i8"), ("source", "<u4"), ("destination", "<u4"), ("size", "<u4")]
)
"""A packet handed to the network: its number, when it is sent, by whom, for whom, and its payload bytes."""
ARRIVAL = np.dtype([("packet", "<u8"), ("time", "<i8"), ("receiver", "<u4"), ("signal_dbm", "<f4"), ("hops", "<u2")])
"""A packet that reached a node: when, at which power (NaN where the model has none), over how many links."""
FAILURE = np.dtype([("packet", "<u8"), ("reason", "u1")])
"""A packet that was given up, and why: an index into REASONS."""
ORIGIN = np.dtype([("time", "<i8"), ("source", "<u4"), ("destination", "<u4")])
"""Where a packet of another robot simulator came from."""

F4, F8, U4 = np.dtype("<f4"), np.dtype("<f8"), np.dtype("<u4")
"""Types of columns; made once, because numpy takes longer to parse a name than to wrap a buffer."""


def column(data: Buffer, dtype: "np.dtype[Any]", rows: int, name: str) -> NDArray[Any]:
    """A binary column as an array of the expected length."""
    if len(data) != rows * dtype.itemsize:
        raise RemoteProtocolError(f"column {name} has {len(data)} bytes, expected {rows} of {dtype.itemsize}")
    return np.frombuffer(data, dtype)


def records(data: Buffer, dtype: "np.dtype[Any]", name: str) -> NDArray[Any]:
    """Binary records as a structured array."""
    if len(data) % dtype.itemsize:
        raise RemoteProtocolError(f"{name} has {len(data)} bytes, which is no whole number of {dtype.itemsize}")
    return np.frombuffer(data, dtype)
