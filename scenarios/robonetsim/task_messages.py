"""What robots tell each other in the distributed task assignment, and the flooding that carries it.

One message, 42 bytes, little-endian:

    0       1               3                       7
    +-------+---------------+-----------------------+
    | kind  | origin        | number                |
    +-------+---------------+-----------------------+--------------- ... 39, 42
    | event x, event y (8 bytes each)   | required | skill | waiting |
    +-----------------------------------+----------+-------+---------+
    | sender x, sender y (8 bytes each) |
    +-----------------------------------+
"""

import enum
import struct
from typing import NamedTuple

Place = tuple[float, float]
_FORMAT = struct.Struct("<BHI2d3B2d")


class Kind(enum.IntEnum):
    """The five messages."""

    S = 1
    """Status: a new event, or how many wait by it."""
    G = 2
    """Going to the event."""
    C = 3
    """Cancelled going."""
    H = 4
    """Handling: enough robots are there and have started."""
    A = 5
    """Abandoned: somebody who waited is leaving."""


class Report(NamedTuple):
    """One message; an event is known by its place."""

    kind: Kind
    origin: int
    """Who said it first; with `number` it tells copies of one message from another message."""
    number: int
    event: Place
    required: int
    skill: int
    waiting: int
    sender: Place
    """Where `origin` was when it said it."""

    def packed(self) -> bytes:
        """As bytes."""
        head = (self.kind, self.origin, self.number, *self.event)
        return _FORMAT.pack(*head, self.required, self.skill, self.waiting, *self.sender)


def unpacked(payload: bytes) -> Report:
    """A message from its bytes."""
    kind, origin, number, event_x, event_y, required, skill, waiting, x_m, y_m = _FORMAT.unpack(payload)
    return Report(Kind(kind), origin, number, (event_x, event_y), required, skill, waiting, (x_m, y_m))


def identity(payload: bytes) -> bytes:
    """What tells a message from every other one, without reading the rest of it: origin and number."""
    return payload[1:7]


class Flooding:
    """What one robot has heard before: every message is used, and repeated, at most once."""

    def __init__(self) -> None:
        self._heard: set[bytes] = set()

    def is_new(self, payload: bytes) -> bool:
        """Whether this is the first copy; from now on it is not."""
        key = identity(payload)
        if key in self._heard:
            return False
        self._heard.add(key)
        return True
