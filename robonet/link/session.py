"""The lock-step as a machine without clock or socket: both ends feed it what they say and what they hear.

Both ends walk through the same states, because each message moves both of them alike:

    NEW ──Hello──▶ JOINING ──Welcome──▶ READY ──Step──▶ STEPPING
                                          ▲                │
                                          └────Stepped─────┘
    READY ──End──▶ ENDING ──Ended──▶ CLOSED          any ──Error──▶ FAILED          Ping moves nothing
"""

from collections.abc import Callable
from enum import Enum, IntEnum, auto
from typing import Any, ClassVar, NamedTuple

import numpy as np

from robonet import __version__
from robonet.clock import s_from_ns
from robonet.errors import LocalProtocolError, ProtocolError, RemoteProtocolError
from robonet.link.checks import PROBLEMS, problem_with_arrivals, problem_with_step
from robonet.link.messages import (
    ARRIVAL,
    F4,
    F8,
    FAILURE,
    FIRST_GROUP,
    MAX_MESSAGE_BYTES,
    ORIGIN,
    PROTOCOL_VERSION,
    REASONS,
    TRANSMISSION,
    U4,
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
    records,
)
from robonet.link.simulators import NO_ARRIVALS, NO_FAILURES, NO_ROWS, Floats, Records

SOFTWARE = f"robonet {__version__}"
FEEDBACK = ("failures", "neighbours", "queues")


class State(IntEnum):
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


class _Agreed(NamedTuple):
    """What the handshake settled, as the checks of every step need it."""

    step_ns: int
    steps: int
    nodes: int
    low: int
    high: int
    """This peer's nodes are numbered from low up to, not including, high."""
    all_nodes: int
    groups_end: int
    needs_payloads: bool


class PeerError(RemoteProtocolError):
    """The peer gave up and said why."""


class Session:
    """One end of the link with one peer; after a Step or Stepped was received, its arrays are here."""

    def __init__(self, role: Role) -> None:
        self.role = role
        self.state = State.NEW
        self.hello: Hello | None = None
        self.welcome: Welcome | None = None
        self.next_index = 0
        self.positions: Floats = np.empty(0)
        """x, y, z of the peer's nodes, one after the other; filled anew by every Step."""
        self.transmissions: Records = NO_ROWS
        self.arrivals: Records = NO_ARRIVALS
        self.failures: Records = NO_FAILURES
        self._last_packet = -1
        self._tail: memoryview | None = None
        self._agreed = _Agreed(0, 0, 0, 0, 0, 0, 0, needs_payloads=False)

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
        kind = type(message)
        following = NEXT.get((self.state, kind))
        if following is None or SAID_BY[kind] is not self.role:
            self._step_aside(message, self.role, LocalProtocolError)
        else:
            self._follow(message, kind, following)
        data = encode(message)
        if len(data) > MAX_MESSAGE_BYTES:
            raise LocalProtocolError(
                f"a {kind.__name__} of {len(data):,} bytes at simulated time {s_from_ns(self.now):.6f} s is larger "
                f"than the {MAX_MESSAGE_BYTES:,} allowed: send fewer packets a step, or use a shorter step"
            )
        return data

    def receive(self, data: bytes | memoryview, tail: memoryview | None = None) -> AnyMessage:
        """Hear something, with its second frame if it has one: the message, checked against all that was agreed."""
        try:
            message = decode(data)
            kind = type(message)
            if tail is not None and not (isinstance(message, Step) and not message.positions):
                raise RemoteProtocolError("a second frame belongs to a Step without positions only")
            self._tail = tail
            following = NEXT.get((self.state, kind))
            if following is None or SAID_BY[kind] is self.role:
                self._step_aside(message, self.role.other, RemoteProtocolError)
            else:
                check = self._CHECKS.get(kind)
                if check is not None:
                    check(self, message)
                self._follow(message, kind, following)
            return message
        except PeerError:
            raise
        except RemoteProtocolError as error:
            self.state = State.FAILED
            raise RemoteProtocolError(
                f"{self.peer_name} broke the protocol at simulated time {s_from_ns(self.now):.6f} s: {error}"
            ) from error

    def _follow(self, message: AnyMessage, kind: type, following: State) -> None:
        """A message in order was said or heard: take note of it and go on."""
        if kind is Stepped:
            self.next_index += 1
        elif isinstance(message, Hello):
            self.hello = message
        elif isinstance(message, Welcome):
            self._agree(message)
        self.state = following

    def _step_aside(self, message: AnyMessage, speaker: Role, blame: type[ProtocolError]) -> None:
        """What is in no table: signs of life and giving up are always in order, nothing else is."""
        if isinstance(message, Error):
            self.state = State.FAILED
            if speaker is not self.role:
                raise PeerError(f"{self.peer_name} gave up: {message.text}")
        elif not isinstance(message, Ping):
            expected = [kind.__name__ for (state, kind) in NEXT if state is self.state]
            raise blame(
                f"{type(message).__name__} from the {speaker.value} in state {self.state.name}; "
                f"expected {' or '.join(expected) or 'nothing'}"
            )

    def _agree(self, welcome: Welcome) -> None:
        hello = self.hello
        assert hello is not None
        self.welcome = welcome
        self._last_packet = welcome.first_packet - 1
        self._agreed = _Agreed(
            step_ns=hello.step_ns,
            steps=hello.steps,
            nodes=len(hello.nodes),
            low=welcome.first_node,
            high=welcome.first_node + len(hello.nodes),
            all_nodes=len(welcome.directory),
            groups_end=FIRST_GROUP + len(welcome.groups),
            needs_payloads=welcome.needs_payloads,
        )
        self.positions = np.zeros(3 * len(hello.nodes))
        self._position_words = self.positions.view(np.uint64)
        self._position_bytes = self.positions.data.cast("B")

    # --- what a peer's message must agree with -----------------------------------------------------------

    def _check_hello(self, hello: Hello) -> None:
        _check_version(hello.version, hello.software)
        _check_hello(hello)

    def _check_welcome(self, welcome: Welcome) -> None:
        _check_version(welcome.version, welcome.software)
        hello = self.hello
        assert hello is not None
        first, names = welcome.first_node, [node.name for node in hello.nodes]
        known = [node.name for node in welcome.directory[max(first, 0) : first + len(names)]]
        _require(first >= 0 and known == names, "the directory does not hold this side's nodes at first_node")
        _require(0 <= welcome.first_packet < 2**63, f"first_packet {welcome.first_packet} is out of range")
        _require(len(welcome.directory) < FIRST_GROUP, "too many nodes")

    def _check_step(self, step: Step) -> None:
        agreed = self._agreed
        now = self.next_index * agreed.step_ns
        if step.index != self.next_index or step.time != now or step.index >= agreed.steps:
            self._refuse_turn(step.index, step.time, now)
        positions = step.positions if self._tail is None else self._tail
        if len(positions) != len(self._position_bytes):
            column(positions, F8, 3 * agreed.nodes, "positions")  # which says what is wrong
        self._position_bytes[:] = positions
        self.transmissions = rows = records(step.packets, TRANSMISSION, "packets")
        if agreed.needs_payloads and len(step.payloads or ()) != len(rows):
            raise RemoteProtocolError("payloads are missing")
        problem = problem_with_step(
            self._position_words, rows, self._last_packet, agreed.low, agreed.high, agreed.all_nodes,
            agreed.groups_end, now, now + agreed.step_ns,
        )  # fmt: skip
        if problem:
            raise RemoteProtocolError(PROBLEMS[problem])
        if len(rows):
            self._last_packet = int(rows["packet"][-1])

    def _check_stepped(self, stepped: Stepped) -> None:
        agreed = self._agreed
        now = self.next_index * agreed.step_ns
        end = now + agreed.step_ns
        if stepped.index != self.next_index or stepped.time != end:
            self._refuse_turn(stepped.index, stepped.time, end)
        self.arrivals, self.failures = NO_ARRIVALS, NO_FAILURES
        if stepped.arrivals:
            self.arrivals = records(stepped.arrivals, ARRIVAL, "arrivals")
            problem = problem_with_arrivals(self.arrivals, agreed.low, agreed.high, now, end)
            if problem:
                raise RemoteProtocolError(PROBLEMS[problem])
        if stepped.failures:
            self.failures = records(stepped.failures, FAILURE, "failures")
            if self.failures["reason"].max() >= len(REASONS):
                raise RemoteProtocolError("an unknown reason")
        if stepped.payloads is not None:
            self._check_origins(stepped)
        if stepped.neighbour_offsets or stepped.queues:
            self._check_feedback(stepped)

    def _check_origins(self, stepped: Stepped) -> None:
        rows = len(self.arrivals)
        origins = column(stepped.origins, ORIGIN, rows, "origins")
        if len(stepped.payloads or ()) != rows:
            raise RemoteProtocolError("payloads are missing")
        if rows and origins["source"].max() >= self._agreed.all_nodes:
            raise RemoteProtocolError("a source is no node")

    def _check_feedback(self, stepped: Stepped) -> None:
        agreed = self._agreed
        if stepped.neighbour_offsets:
            offsets = column(stepped.neighbour_offsets, U4, agreed.nodes + 1, "neighbour_offsets")
            if not (offsets[1:] >= offsets[:-1]).all():
                raise RemoteProtocolError("neighbour_offsets must ascend")
            links = int(offsets[-1])
            neighbours = column(stepped.neighbours, U4, links, "neighbours")
            column(stepped.link_quality, F4, links, "link_quality")
            if stepped.link_signal_dbm:
                column(stepped.link_signal_dbm, F4, links, "link_signal_dbm")
            if links and neighbours.max() >= agreed.all_nodes:
                raise RemoteProtocolError("a neighbour is no node")
        if stepped.queues:
            column(stepped.queues, U4, agreed.nodes, "queues")

    def _refuse_turn(self, index: int, time: int, due: int) -> None:
        if index != self.next_index:
            raise RemoteProtocolError(f"step {index} when {self.next_index} was due")
        if time != due:
            raise RemoteProtocolError(f"time {time} ns when {due} was due")
        raise RemoteProtocolError(f"step {index} of {self._agreed.steps}")

    _CHECKS: ClassVar[dict[type, Callable[[Any, Any], None]]] = {
        Hello: _check_hello,
        Welcome: _check_welcome,
        Step: _check_step,
        Stepped: _check_stepped,
    }


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
