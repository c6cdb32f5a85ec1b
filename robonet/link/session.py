"""The lock-step as a machine without clock or socket: both ends feed it what they say and what they hear.

Both ends walk through the same states, because each message moves both of them alike:

    NEW ──Hello──▶ JOINING ──Welcome──▶ READY ──Step──▶ STEPPING
                                          ▲                │
                                          └────Stepped─────┘
    READY ──End──▶ ENDING ──Ended──▶ CLOSED          any ──Error──▶ FAILED          Ping moves nothing
"""

from enum import Enum, auto

import numpy as np

from robonet import __version__
from robonet.clock import s_from_ns
from robonet.errors import LocalProtocolError, ProtocolError, RemoteProtocolError
from robonet.link.messages import (
    BROADCAST,
    FIRST_GROUP,
    PROTOCOL_VERSION,
    REASONS,
    AnyMessage,
    End,
    Ended,
    Error,
    Hello,
    Ping,
    Step,
    Stepped,
    Welcome,
    column,
    decode,
    encode,
)

SOFTWARE = f"robonet {__version__}"
FEEDBACK = ("failures", "neighbours", "queues")


class State(Enum):
    """Where the two ends are."""

    NEW = auto()
    JOINING = auto()
    READY = auto()
    STEPPING = auto()
    ENDING = auto()
    CLOSED = auto()
    FAILED = auto()


class Role(Enum):
    """Who says what."""

    ROBOTS = "robot simulator"
    NETWORK = "network simulator"

    @property
    def other(self) -> "Role":
        """The one at the far end."""
        return Role.NETWORK if self is Role.ROBOTS else Role.ROBOTS


NEXT: dict[tuple[State, type], State] = {
    (State.NEW, Hello): State.JOINING,
    (State.JOINING, Welcome): State.READY,
    (State.READY, Step): State.STEPPING,
    (State.STEPPING, Stepped): State.READY,
    (State.READY, End): State.ENDING,
    (State.ENDING, Ended): State.CLOSED,
}
SAID_BY: dict[type, Role] = {
    Hello: Role.ROBOTS,
    Step: Role.ROBOTS,
    End: Role.ROBOTS,
    Welcome: Role.NETWORK,
    Stepped: Role.NETWORK,
    Ended: Role.NETWORK,
}


class PeerError(RemoteProtocolError):
    """The peer gave up and said why."""


class Session:
    """One end of the link with one peer."""

    def __init__(self, role: Role) -> None:
        self.role = role
        self.state = State.NEW
        self.hello: Hello | None = None
        self.welcome: Welcome | None = None
        self.next_index = 0
        self._last_packet = -1

    @property
    def now(self) -> int:
        """Simulated time at which the next step begins, or the present one began."""
        return self.next_index * self.hello.step_ns if self.hello else 0

    @property
    def peer_name(self) -> str:
        """Who is at the far end, for people."""
        if self.role is Role.NETWORK and self.hello is not None:
            return f"the {self.role.other.value} '{self.hello.peer}'"
        return f"the {self.role.other.value}"

    def send(self, message: AnyMessage) -> bytes:
        """Say something: the bytes to transmit."""
        self._advance(message, self.role, LocalProtocolError)
        return encode(message)

    def receive(self, data: bytes | memoryview) -> AnyMessage:
        """Hear something: the message, checked against the rules and against what was agreed."""
        try:
            message = decode(data)
            if isinstance(message, Error):
                self.state = State.FAILED
                raise PeerError(f"{self.peer_name} gave up: {message.text}")
            self._advance(message, self.role.other, RemoteProtocolError)
            return message
        except PeerError:
            raise
        except RemoteProtocolError as error:
            self.state = State.FAILED
            raise RemoteProtocolError(
                f"{self.peer_name} broke the protocol at simulated time {s_from_ns(self.now):.6f} s: {error}"
            ) from error

    def _advance(self, message: AnyMessage, speaker: Role, blame: type[ProtocolError]) -> None:
        kind = type(message)
        if kind is Ping:
            return
        if kind is Error:
            self.state = State.FAILED
            return
        following = NEXT.get((self.state, kind))
        if following is None or SAID_BY[kind] is not speaker:
            expected = [k.__name__ for (state, k) in NEXT if state is self.state]
            raise blame(
                f"{kind.__name__} from the {speaker.value} in state {self.state.name}; "
                f"expected {' or '.join(expected) or 'nothing'}"
            )
        if speaker is not self.role:
            self._check(message)
        if isinstance(message, Hello):
            self.hello = message
        elif isinstance(message, Welcome):
            self.welcome = message
            self._last_packet = message.first_packet - 1
        elif isinstance(message, Stepped):
            self.next_index += 1
        self.state = following

    # --- what a peer's message must agree with -----------------------------------------------------------

    def _check(self, message: AnyMessage) -> None:
        if isinstance(message, Step):
            self._check_step(message)
        elif isinstance(message, Stepped):
            self._check_stepped(message)
        elif isinstance(message, Hello):
            _check_version(message.version, message.software)
            _check_hello(message)
        elif isinstance(message, Welcome):
            _check_version(message.version, message.software)
            self._check_welcome(message)

    def _check_welcome(self, welcome: Welcome) -> None:
        hello = self.hello
        assert hello is not None
        first, names = welcome.first_node, [node.name for node in hello.nodes]
        known = [node.name for node in welcome.directory[max(first, 0) : first + len(names)]]
        _require(first >= 0 and known == names, "the directory does not hold this side's nodes at first_node")
        _require(0 <= welcome.first_packet < 2**63, f"first_packet {welcome.first_packet} is out of range")
        _require(len(welcome.directory) < FIRST_GROUP, "too many nodes")

    def _check_step(self, step: Step) -> None:
        hello, welcome = self.hello, self.welcome
        assert hello is not None and welcome is not None
        self._check_turn(step.index, step.time, self.now)
        _require(step.index < hello.steps, f"step {step.index} of {hello.steps}")
        total = column(step.positions, "<f8", 3 * len(hello.nodes), "positions").sum()
        _require(bool(np.isfinite(total)), "a position is not a finite number")
        rows = len(step.packets) // 8
        packets = column(step.packets, "<u8", rows, "packets")
        sources = column(step.sources, "<u4", rows, "sources")
        destinations = column(step.destinations, "<u4", rows, "destinations")
        column(step.sizes, "<u4", rows, "sizes")
        times = column(step.times, "<i8", rows, "times")
        if welcome.needs_payloads:
            _require(len(step.payloads or ()) == rows, "payloads are missing")
        if not rows:
            return
        first, last = int(packets[0]), int(packets[-1])
        _require(
            first > self._last_packet and bool((packets[1:] > packets[:-1]).all()),
            f"packet numbers must ascend; {first} follows {self._last_packet}",
        )
        _require(last < 2**63, f"packet number {last} is out of range")
        low, high = welcome.first_node, welcome.first_node + len(hello.nodes)
        _require(bool(((sources >= low) & (sources < high)).all()), "a source is not a node of this peer")
        nodes, groups = len(welcome.directory), FIRST_GROUP + len(welcome.groups)
        known = (destinations < nodes) | (destinations == BROADCAST)
        known |= (destinations >= FIRST_GROUP) & (destinations < groups)
        _require(bool(known.all()), "a destination is neither a node nor a group nor broadcast")
        within = (times >= step.time) & (times < step.time + hello.step_ns)
        _require(bool(within.all()), "a packet is sent outside of the step")
        self._last_packet = last

    def _check_stepped(self, stepped: Stepped) -> None:
        hello, welcome = self.hello, self.welcome
        assert hello is not None and welcome is not None
        end = self.now + hello.step_ns
        self._check_turn(stepped.index, stepped.time, end)
        rows = len(stepped.packets) // 8
        column(stepped.packets, "<u8", rows, "packets")
        receivers = column(stepped.receivers, "<u4", rows, "receivers")
        times = column(stepped.times, "<i8", rows, "times")
        column(stepped.hops, "<u2", rows, "hops")
        column(stepped.signals_dbm, "<f4", rows, "signals_dbm")
        if stepped.payloads is not None:
            _require(len(stepped.payloads) == rows, "payloads are missing")
            sources = column(stepped.sources, "<u4", rows, "sources")
            column(stepped.destinations, "<u4", rows, "destinations")
            column(stepped.sent_times, "<i8", rows, "sent_times")
            _require(not rows or int(sources.max()) < len(welcome.directory), "a source is no node")
        if rows:
            low, high = welcome.first_node, welcome.first_node + len(hello.nodes)
            _require(bool(((receivers >= low) & (receivers < high)).all()), "a receiver is not a node of this side")
            _require(bool(((times >= self.now) & (times <= end)).all()), "an arrival lies outside of the step")
        failures = len(stepped.failed) // 8
        column(stepped.failed, "<u8", failures, "failed")
        reasons = column(stepped.failed_reasons, "u1", failures, "failed_reasons")
        _require(not failures or int(reasons.max()) < len(REASONS), "an unknown reason")
        if len(stepped.neighbour_offsets):
            offsets = column(stepped.neighbour_offsets, "<u4", len(hello.nodes) + 1, "neighbour_offsets")
            _require(bool((offsets[1:] >= offsets[:-1]).all()), "neighbour_offsets must ascend")
            links = int(offsets[-1])
            neighbours = column(stepped.neighbours, "<u4", links, "neighbours")
            column(stepped.link_quality, "<f4", links, "link_quality")
            _require(not links or int(neighbours.max()) < len(welcome.directory), "a neighbour is no node")
        if len(stepped.queues):
            column(stepped.queues, "<u4", len(hello.nodes), "queues")

    def _check_turn(self, index: int, time: int, expected_time: int) -> None:
        _require(index == self.next_index, f"step {index} when {self.next_index} was due")
        _require(time == expected_time, f"time {time} ns when {expected_time} was due")


def _check_version(version: int, software: str) -> None:
    _require(
        version == PROTOCOL_VERSION,
        f"{software} speaks version {version} of the protocol, {SOFTWARE} speaks {PROTOCOL_VERSION}: "
        "use the same version on both sides",
    )


def _check_hello(hello: Hello) -> None:
    _require(hello.step_ns > 0, f"step_ns {hello.step_ns} is not positive")
    _require(0 < hello.steps <= 2**62 // hello.step_ns, f"steps {hello.steps} is out of range")
    _require(0 <= hello.seed < 2**63, f"seed {hello.seed} is out of range")
    _require(0 < len(hello.nodes) < 2**24, f"{len(hello.nodes)} nodes")
    _require(len({node.name for node in hello.nodes}) == len(hello.nodes), "two nodes have the same name")
    unknown = [want for want in hello.wants if want not in FEEDBACK]
    _require(not unknown, f"unknown feedback {unknown}; known: {', '.join(FEEDBACK)}")


def _require(holds: bool, text: str) -> None:
    if not holds:
        raise RemoteProtocolError(text)
