"""The robots' radios: what controllers say and hear, and the bytes that the network never needs to see."""

import math
from array import array
from collections import deque
from collections.abc import Iterable, Sequence
from functools import cached_property
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

from robonet.clock import ns_from_s, s_from_ns
from robonet.link.messages import BROADCAST, FIRST_GROUP, REASONS, Welcome
from robonet.link.simulators import Neighbours, Outcome, Records, Transmissions
from robonet.plugins import closest
from robonet.record.tables import Recorder
from robonet.space import Ints

LARGEST_PAYLOAD_BYTES = 65507
"""What fits into one UDP datagram."""


KINDS = ("unicast", "group", "broadcast")


class Message(NamedTuple):
    """Something that arrived."""

    sender: str
    payload: bytes
    sent_ns: int
    arrived_ns: int
    """When it arrived in the network; controllers see it at the next border of a step."""
    hops: int
    signal_dbm: float | None
    """Received power, where the network model knows it."""
    receiver: str
    """Who heard it: of use to a controller of many robots."""
    receiver_index: int
    """The receiver's place in its group."""

    @property
    def sent_s(self) -> float:
        """When it was sent, in seconds."""
        return s_from_ns(self.sent_ns)

    @property
    def arrived_s(self) -> float:
        """When it arrived, in seconds."""
        return s_from_ns(self.arrived_ns)


class FailedSend(NamedTuple):
    """Something that the network gave up."""

    sender: str
    to: str
    payload: bytes
    reason: str


class Neighbour(NamedTuple):
    """Who is in reach, as the network sees it."""

    name: str
    link_quality: float
    """From 0 to 1: the chance that a frame gets through while nobody else speaks."""
    signal_dbm: float | None = None
    """How strongly it is received, where the network model knows."""


class _Sent(NamedTuple):
    """What is known of a packet under way."""

    source: int
    destination: int
    time: int
    payload: bytes | None
    """None for background traffic, which is nobody's message."""
    size: int


class Ether:
    """All radios of one robot simulator."""

    def __init__(
        self, names: list[str], groups_first: list[int], step_ns: int, recorder: Recorder | None = None,
        present: np.ndarray[Any, np.dtype[np.bool_]] | None = None,
    ) -> None:  # fmt: skip
        self._step_ns = step_ns
        self.names = names
        self.now = 0
        self.offers: tuple[str, ...] = ()
        self.seen_delays_ns = array("q")
        self.sent_digest = blake2b(digest_size=16)
        self.heard_digest = blake2b(digest_size=16)
        self._groups_first = groups_first
        self._present = np.ones(len(names), dtype=np.bool_) if present is None else present
        self._inboxes: dict[int, list[Message]] = {}
        """By row, in the order in which nodes were first reached."""
        self._failures: dict[int, list[FailedSend]] = {}
        self._neighbours: Neighbours | None = None
        self._queues: np.ndarray[Any, Any] | None = None
        self._under_way: dict[int, _Sent] = {}
        self._broadcasts: deque[tuple[int, int]] = deque()
        self._outbox: list[tuple[int, int, int, int, int]] = []
        self._payloads: list[memoryview] = []
        self._next_packet = 0
        self._directory = names
        self._group_names: list[str] = []
        self._recorder = recorder
        if recorder is not None:
            self._deliveries = recorder.table(
                "deliveries",
                {
                    "packet": "u8",
                    "receiver": "i4",
                    "sent_ns": "i8",
                    "arrived_ns": "i8",
                    "seen_ns": "i8",
                    "hops": "u2",
                },
                {"receiver": names},
            )

    def join(self, welcome: Welcome) -> None:
        """Learn everyone's address."""
        self._first_node = welcome.first_node
        self._next_packet = welcome.first_packet
        self._needs_payloads = welcome.needs_payloads
        self._longest_life_ns = welcome.longest_life_ns + self._step_ns
        self._directory = [node.name for node in welcome.directory]
        self._group_names = welcome.groups
        self.offers = tuple(welcome.offers)
        if self._recorder is not None:
            self._sends = self._recorder.table(
                "sends",
                {
                    "packet": "u8",
                    "sent_ns": "i8",
                    "source": "i4",
                    "kind": "i1",
                    "destination": "i4",
                    "size_bytes": "u4",
                },
                {"source": self.names, "kind": KINDS, "destination": [*self._directory, *welcome.groups, "all"]},
            )
            self._groups = len(welcome.groups)

    @cached_property
    def _addresses(self) -> dict[str, int]:
        """Numbers on the wire by name; made when somebody is first called by name."""
        groups = {group: FIRST_GROUP + i for i, group in enumerate(self._group_names)}
        return {**groups, **{name: number for number, name in enumerate(self._directory)}}

    def address_of(self, to: str | int, sender: int | None = None) -> int:
        """The number of a node or group on the wire, which must not be the sender itself."""
        address = self._find(to)
        if sender is not None and address == self._first_node + sender:
            raise ValueError(f"'{self.names[sender]}' cannot send to itself")
        return address

    def _find(self, to: str | int) -> int:
        if isinstance(to, str):
            found = self._addresses.get(to)
            if found is None:
                known = list(self._addresses)
                raise ValueError(f"no robot, station or group is called '{to}'{closest(to, known)}")
            return found
        if not 0 <= to < len(self._directory):
            raise ValueError(f"there is no node {to}; there are {len(self._directory)}")
        return to

    def moment(self, after_s: float) -> int:
        """A time within the step at hand."""
        if after_s == 0.0:
            return self.now
        after = ns_from_s(after_s) if math.isfinite(after_s) else -1
        if not 0 <= after < self._step_ns:
            raise ValueError(f"after_s must lie within the step of {s_from_ns(self._step_ns):g} s, not {after_s}")
        return self.now + after

    def put(self, row: int, destination: int, payload: bytes | None, size: int, time: int | None = None) -> int:
        """Hand a packet to the network with this step; its number."""
        packet, self._next_packet = self._next_packet, self._next_packet + 1
        source = self._first_node + row
        time = self.now if time is None else time
        self._outbox.append((packet, time, source, destination, size))
        self._under_way[packet] = _Sent(source, destination, time, payload, size)
        if destination >= FIRST_GROUP:
            self._broadcasts.append((time, packet))
        if self._needs_payloads:
            self._payloads.append(memoryview(payload if payload is not None else b""))
        return packet

    def counts(self, sent: Transmissions) -> Ints:
        """How many of some packets each node sent."""
        return np.bincount(sent.rows["source"].astype(np.int64) - self._first_node, minlength=len(self.names))

    def collect(self) -> Transmissions:
        """All packets of this step."""
        rows, self._outbox = self._outbox, []
        payloads, self._payloads = self._payloads, []
        while self._broadcasts and self._broadcasts[0][0] < self.now - self._longest_life_ns:
            self._under_way.pop(self._broadcasts.popleft()[1], None)
        transmissions = Transmissions.of(rows, payloads if self._needs_payloads else None)
        if rows:
            self.sent_digest.update(transmissions.rows.tobytes())
            if self._recorder is not None:
                self._record_sends(transmissions.rows)
        return transmissions

    def _record_sends(self, rows: Records) -> None:
        """With names for people: destinations are numbered as the labels of the table, nodes, groups, all."""
        destinations = rows["destination"].astype("i8")
        kinds = (destinations >= FIRST_GROUP).astype("i1") + (destinations == BROADCAST)
        nodes = len(self._directory)
        labels = np.where(kinds == 0, destinations, nodes + destinations - FIRST_GROUP)
        labels[kinds == 2] = nodes + self._groups
        sources = rows["source"].astype("i4") - self._first_node
        self._sends.add_block((rows["packet"], rows["time"], sources, kinds, labels, rows["size"]))

    def deliver(self, outcome: Outcome, now: int) -> None:
        """Put what arrived since the last border into the inboxes; what was not read before is gone."""
        self.now = now
        self._inboxes = {}
        self._failures = {}
        self._neighbours, self._queues = outcome.neighbours, outcome.queues
        if len(outcome.arrivals):
            self._take_arrivals(outcome, now)
        for packet, reason in outcome.failures.tolist():
            sent = self._under_way.pop(packet, None)
            if sent is not None and sent.payload is not None:
                row = sent.source - self._first_node
                to = self._directory[sent.destination]
                self._failures.setdefault(row, []).append(
                    FailedSend(self.names[row], to, sent.payload, REASONS[reason])
                )

    def _take_arrivals(self, outcome: Outcome, now: int) -> None:
        self.heard_digest.update(outcome.arrivals.tobytes())
        for index, (packet, time, node, signal, hops) in enumerate(outcome.arrivals.tolist()):
            row = node - self._first_node
            sent = self._under_way.get(packet)
            if sent is None and outcome.payloads is not None:
                sent = self._foreign(outcome, index)
            if sent is None:  # it outlived the life that the model promised
                continue
            if sent.destination < FIRST_GROUP:
                self._under_way.pop(packet, None)
                self.seen_delays_ns.append(now - sent.time)
            if not self._present[row]:  # removed while it was under way
                continue
            if self._recorder is not None:
                self._deliveries.add((packet, row, sent.time, time, now, hops))
            if sent.payload is None:
                continue
            self._inboxes.setdefault(row, []).append(
                Message(
                    self._directory[sent.source],
                    sent.payload,
                    sent.time,
                    time,
                    hops,
                    None if math.isnan(signal) else signal,
                    self.names[row],
                    row - self._groups_first[row],
                )
            )

    def _foreign(self, outcome: Outcome, index: int) -> _Sent:
        """A packet of another robot simulator: its bytes came along."""
        assert outcome.payloads is not None and outcome.origins is not None
        payload = bytes(outcome.payloads[index])
        time, source, destination = outcome.origins[index].item()
        return _Sent(source, destination, time, payload or None, len(payload))

    # --- what radios read --------------------------------------------------------------------------------

    def inbox(self, row: int) -> list[Message]:
        """What a node heard."""
        return self._inboxes.get(row, [])

    def touched(self) -> Iterable[int]:
        """Nodes that heard something."""
        return self._inboxes

    def failures(self, row: int) -> list[FailedSend]:
        """What a node sent in vain."""
        return self._failures.get(row, [])

    def neighbours(self, row: int) -> list[Neighbour]:
        """Whom a node can reach."""
        if self._neighbours is None:
            return []
        offsets, nodes, quality, signals = self._neighbours
        row_of = slice(int(offsets[row]), int(offsets[row + 1]))
        names = [self._directory[node] for node in nodes[row_of].tolist()]
        levels = [None] * len(names) if signals is None else signals[row_of].tolist()
        return [Neighbour(*one) for one in zip(names, quality[row_of].tolist(), levels, strict=True)]

    def queue_length(self, row: int) -> int | None:
        """Packets that wait at a node, where the network tells."""
        return None if self._queues is None else int(self._queues[row])


def checked_payload(payload: bytes) -> bytes:
    """What can be sent: 1 to 65507 bytes."""
    if not isinstance(payload, (bytes, bytearray, memoryview)):
        raise TypeError(f"a payload is bytes, not {type(payload).__name__}; encode it first")
    if not 1 <= len(payload) <= LARGEST_PAYLOAD_BYTES:
        raise ValueError(f"a payload has 1 to {LARGEST_PAYLOAD_BYTES} bytes, not {len(payload)}")
    return bytes(payload)


class Radio:
    """One robot's radio."""

    def __init__(self, ether: Ether, row: int, wants: Sequence[str]) -> None:
        self._ether = ether
        self._row = row
        self._wants = wants

    def send(self, to: str | int, payload: bytes, after_s: float = 0.0) -> None:
        """Send to one node by name or number, or to a group by name; now, or at a moment within this step."""
        payload, time = checked_payload(payload), self._ether.moment(after_s)
        self._ether.put(self._row, self._ether.address_of(to, self._row), payload, len(payload), time)

    def broadcast(self, payload: bytes, after_s: float = 0.0) -> None:
        """Send to everyone in reach; now, or at a moment within this step.

        Robots that all speak at the very border of a step talk over each other: a random `after_s` helps them.
        """
        payload, time = checked_payload(payload), self._ether.moment(after_s)
        self._ether.put(self._row, BROADCAST, payload, len(payload), time)

    def receive(self) -> list[Message]:
        """What arrived since the last step, in the order of arrival."""
        return list(self._ether.inbox(self._row))

    def failed_sends(self) -> list[FailedSend]:
        """Own unicast messages that the network gave up since the last step, where the model tells."""
        return list(self._ether.failures(self._row))

    def neighbours(self) -> list[Neighbour]:
        """Who is in reach and how well; asks for `feedback = ("neighbours",)` in the controller class."""
        require_feedback("neighbours", self._wants)
        return self._ether.neighbours(self._row)

    def queue_length(self) -> int | None:
        """Packets waiting in this radio, None where the model has no queue; `feedback = ("queues",)`."""
        require_feedback("queues", self._wants)
        return self._ether.queue_length(self._row)


class SwarmRadio:
    """The radios of a group."""

    def __init__(self, ether: Ether, rows: slice, wants: Sequence[str]) -> None:
        self._ether = ether
        self._rows = rows
        self._wants = wants

    def send(self, robot: int, to: str | int, payload: bytes, after_s: float = 0.0) -> None:
        """Send from one robot of the group, by its index; now, or at a moment within this step."""
        payload, row, time = checked_payload(payload), self._row(robot), self._ether.moment(after_s)
        self._ether.put(row, self._ether.address_of(to, row), payload, len(payload), time)

    def broadcast(self, robot: int, payload: bytes, after_s: float = 0.0) -> None:
        """Broadcast from one robot of the group, by its index; now, or at a moment within this step."""
        payload, time = checked_payload(payload), self._ether.moment(after_s)
        self._ether.put(self._row(robot), BROADCAST, payload, len(payload), time)

    def receive(self) -> list[Message]:
        """What the group's robots heard since the last step, robot by robot as they were first reached."""
        rows = (row for row in self._ether.touched() if self._rows.start <= row < self._rows.stop)
        return [message for row in rows for message in self._ether.inbox(row)]

    def failed_sends(self) -> list[FailedSend]:
        """Unicast messages of the group that the network gave up since the last step."""
        rows = range(self._rows.start, self._rows.stop)
        return [failure for row in rows for failure in self._ether.failures(row)]

    def neighbours(self, robot: int) -> list[Neighbour]:
        """Who is in reach of one robot of the group; asks for `feedback = ("neighbours",)`."""
        require_feedback("neighbours", self._wants)
        return self._ether.neighbours(self._row(robot))

    def _row(self, robot: int) -> int:
        if not 0 <= robot < self._rows.stop - self._rows.start:
            raise ValueError(f"the group has no robot {robot}")
        return int(self._rows.start) + robot


def require_feedback(name: str, wants: Sequence[str]) -> None:
    """Refuse to answer what was never asked for."""
    if name not in wants:
        raise RuntimeError(
            f'the network was not asked for this: put `feedback = ("{name}",)` into the controller class'
        )
