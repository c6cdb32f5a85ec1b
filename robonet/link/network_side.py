"""The network simulator's end of the lock-step: hear every robot simulator, simulate, answer each."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
import numpy as np

from robonet.clock import s_from_ns
from robonet.errors import Interrupted, PeerLost, RemoteProtocolError, RobonetError, SimulatorError
from robonet.link import checks
from robonet.link.messages import (
    EMPTY,
    F4,
    ORIGIN,
    PROTOCOL_VERSION,
    U4,
    AnyMessage,
    End,
    Ended,
    Error,
    Hello,
    Node,
    Step,
    Stepped,
    Welcome,
    encode,
)
from robonet.link.session import SOFTWARE, PeerError, Role, Session, State
from robonet.link.simulators import NetworkSimulator, Outcome, Setup, Transmissions
from robonet.link.timing import Timing
from robonet.link.transport import Listener, never
from robonet.scenario.schema import Limits

log = logging.getLogger(__name__)

PACKETS_A_PEER = 2**48
"""Packet numbers of different robot simulators never meet."""


@dataclass
class _Peer:
    """One robot simulator."""

    key: bytes
    session: Session
    first_node: int = 0
    nodes: int = 0
    message: Step | End | None = None

    @property
    def hello(self) -> Hello:
        assert self.session.hello is not None
        return self.session.hello


class _Carried(NamedTuple):
    """A packet whose bytes pass through, from one robot simulator to another."""

    payload: memoryview
    origin: tuple[int, int, int]
    """Its time, source and destination."""


class NetworkSide:
    """Drives a network simulator for one or more robot simulators."""

    def __init__(
        self,
        simulator: NetworkSimulator,
        listener: Listener,
        limits: Limits,
        peers: int = 1,
        stop: Callable[[], bool] = never,
        on_step: Callable[[int], None] | None = None,
    ) -> None:
        self.timing = Timing()
        self.steps_done = 0
        self.reason = "failed"
        self._simulator = simulator
        self._listener = listener
        self._limits = limits
        self._expected = peers
        self._stop = stop
        self._on_step = on_step
        self._step_timeout_s = limits.step_timeout_s
        self._peers: list[_Peer] = []
        self._by_key: dict[bytes, _Peer] = {}
        self._carried: dict[int, _Carried] = {}
        self._needs_payloads = False

    def serve(self) -> str:
        """Serve one simulation to its end: `finished` or `interrupted`, as the robots say."""
        try:
            self._join()
            self.timing.begin()
            self._steps()
        except PeerError as error:
            self._give_up(str(error))
            raise
        except RobonetError as error:
            self._give_up("interrupted" if isinstance(error, Interrupted) else str(error))
            raise
        except BaseException as error:
            self._give_up(f"the network simulator failed: {error!r}")
            raise
        return self.reason

    # --- joining -----------------------------------------------------------------------------------------

    def _join(self) -> None:
        deadline = time.monotonic() + self._limits.join_timeout_s
        while len(self._by_key) < self._expected:
            try:
                key, data, _ = self._listener.receive(max(deadline - time.monotonic(), 0.0), self._stop)
                self._look_around(deadline)
            except PeerLost as error:
                raise PeerLost(f"{self._roll_call()}; a robot simulator {error}") from error
            if key in self._by_key:
                self._by_key[key].session.receive(data)  # raises, unless it is a sign of life
                continue
            session = Session(Role.NETWORK)
            try:
                message = session.receive(data)
            except RemoteProtocolError as error:
                self._turn_away(key, str(error))
                if "version" in str(error):
                    raise
                continue
            if isinstance(message, Hello):
                self._by_key[key] = _Peer(key, session)
                self._listener.accept(key)
        self._peers = sorted(self._by_key.values(), key=lambda peer: peer.hello.peer)
        setup = self._setup()
        offer = self._simulator.start(setup)
        checks.warm_up()
        self._needs_payloads = offer.needs_payloads or len(self._peers) > 1
        self._longest_life_ns = offer.longest_life_ns
        for number, peer in enumerate(self._peers):
            welcome = Welcome(
                version=PROTOCOL_VERSION,
                software=SOFTWARE,
                model=offer.model,
                first_node=peer.first_node,
                first_packet=number * PACKETS_A_PEER,
                directory=setup.nodes,
                groups=setup.groups,
                offers=sorted(offer.feedback & setup.wants),
                needs_payloads=self._needs_payloads,
                longest_life_ns=offer.longest_life_ns,
            )
            self._say(peer, welcome)
        alone = len(self._peers) == 1
        self._flat_positions = self._peers[0].session.positions if alone else np.zeros(3 * len(setup.nodes))
        self._positions_m = self._flat_positions.reshape(-1, 3)
        self._listener.joined()

    def _roll_call(self) -> str:
        here = ", ".join(peer.hello.peer for peer in self._by_key.values()) or "none"
        return f"waited for {self._expected} robot simulator(s), here: {here}"

    def _setup(self) -> Setup:
        first = self._peers[0].hello
        nodes: list[Node] = []
        groups: set[str] = set()
        wants: set[str] = set()
        for peer in self._peers:
            hello = peer.hello
            if (hello.step_ns, hello.steps, hello.seed) != (first.step_ns, first.steps, first.seed):
                raise RemoteProtocolError(
                    f"the robot simulators '{first.peer}' and '{hello.peer}' differ in step, number of steps or seed"
                )
            peer.first_node, peer.nodes = len(nodes), len(hello.nodes)
            nodes += hello.nodes
            wants |= set(hello.wants)
        names = [node.name for node in nodes]
        if len(set(names)) != len(names):
            raise RemoteProtocolError("two robot simulators have a node of the same name, or the same peer name")
        for node in nodes:
            groups |= set(node.groups)
        obstacles = [obstacle for peer in self._peers for obstacle in peer.hello.obstacles]
        return Setup(
            seed=first.seed,
            step_ns=first.step_ns,
            steps=first.steps,
            arena_low_m=first.arena_low_m,
            arena_high_m=first.arena_high_m,
            walls=first.walls,
            obstacles=list({msgspec.msgpack.encode(obstacle): obstacle for obstacle in obstacles}.values()),
            nodes=nodes,
            groups=sorted(groups),
            wants=frozenset(wants),
        )

    # --- stepping ----------------------------------------------------------------------------------------

    def _steps(self) -> None:
        clock, timing = time.perf_counter, self.timing
        step_ns = self._peers[0].hello.step_ns
        while True:
            self._gather()
            ends = [peer for peer in self._peers if isinstance(peer.message, End)]
            if ends:
                self._finish(ends)
                return
            before = clock()
            transmissions = self._transmissions()
            until = (self.steps_done + 1) * step_ns
            unpacked = clock()
            outcome = self._simulator.step(until, self._positions_m, transmissions)
            simulated = clock()
            for peer in self._peers:
                stepped = self._stepped(peer, outcome, until)
                self._say(peer, stepped)
                peer.message = None
            timing.exchange_s += (unpacked - before) + (clock() - simulated)
            self.steps_done += 1
            if self._on_step is not None:
                self._on_step(self.steps_done)

    def _gather(self) -> None:
        """Wait until every robot simulator has spoken."""
        missing = len(self._peers)
        deadline = time.monotonic() + self._step_timeout_s
        while missing:
            before = time.perf_counter()
            try:
                key, data, tail = self._listener.receive(self._step_timeout_s, self._stop)
                peer = self._by_key.get(key)
                if peer is None:
                    self._turn_away(key, "this simulation has begun; nobody else can join")
                    self._look_around(deadline)
                    continue
            except PeerLost as error:
                silent = [peer for peer in self._peers if peer.message is None]
                raise PeerLost(_missed(silent, error)) from error
            self.timing.waiting_s += time.perf_counter() - before
            message = peer.session.receive(data, tail)
            if isinstance(message, (Step, End)):
                peer.message = message
                missing -= 1
            deadline = time.monotonic() + self._step_timeout_s  # a Ping says: still at it

    def _look_around(self, deadline: float) -> None:
        """However busy strangers keep the link: peers that leave, requests to stop and deadlines are noticed."""
        self._listener.check()
        if self._stop():
            raise Interrupted("asked to stop")
        if time.monotonic() > deadline:
            raise PeerLost("did not come in time")

    def _turn_away(self, key: bytes, text: str) -> None:
        """Tell a stranger why; that it may not be there to hear is its own affair."""
        log.warning("turned away someone at the link: %s", text)
        self._listener.refuse(key, encode(Error(text=text)))

    def _say(self, peer: _Peer, message: AnyMessage) -> None:
        try:
            self._listener.send(peer.key, peer.session.send(message))
        except PeerLost as error:
            raise PeerLost(_missed([peer], error)) from error

    def _transmissions(self) -> Transmissions:
        """All peers' positions and packets as one; the usual single peer costs no copy."""
        if len(self._peers) == 1:
            step = self._peers[0].message
            assert isinstance(step, Step)
            return Transmissions(self._peers[0].session.transmissions, step.payloads)
        parts = []
        for peer in self._peers:
            step = peer.message
            assert isinstance(step, Step)
            self._flat_positions[3 * peer.first_node : 3 * (peer.first_node + peer.nodes)] = peer.session.positions
            part = Transmissions(peer.session.transmissions, step.payloads)
            self._carry(part)
            parts.append(part)
        payloads = [payload for part in parts for payload in part.payloads or ()]
        return Transmissions(np.concatenate([part.rows for part in parts]), payloads)

    def _carry(self, part: Transmissions) -> None:
        """Keep bytes for receivers at other robot simulators, for as long as a packet can reasonably travel."""
        assert part.payloads is not None
        for payload, (packet, *origin, _) in zip(part.payloads, part.rows.tolist(), strict=True):
            self._carried[packet] = _Carried(payload, tuple(origin))
        oldest = self.steps_done * self._peers[0].hello.step_ns - self._longest_life_ns
        while self._carried and next(iter(self._carried.values())).origin[0] < oldest:
            del self._carried[next(iter(self._carried))]

    def _stepped(self, peer: _Peer, outcome: Outcome, until: int) -> Stepped:
        arrivals, failures = outcome.arrivals, outcome.failures
        more: dict[str, Any] = {}
        if len(self._peers) > 1:
            receivers = arrivals["receiver"]
            arrivals = arrivals[(receivers >= peer.first_node) & (receivers < peer.first_node + peer.nodes)]
            failures = failures[failures["packet"] // PACKETS_A_PEER == self._peers.index(peer)]
            known = np.array([packet in self._carried for packet in arrivals["packet"].tolist()], dtype=bool)
            arrivals = arrivals[known]  # what outlived the life that the model promised is gone
            carried = [self._carried[packet] for packet in arrivals["packet"].tolist()]
            more["payloads"] = [packet.payload for packet in carried]
            more["origins"] = np.array([packet.origin for packet in carried], ORIGIN).data
        if outcome.neighbours is not None or outcome.queues is not None:
            more |= self._feedback(peer, outcome)
        return Stepped(
            index=self.steps_done,
            time=until,
            arrivals=arrivals.data if len(arrivals) else EMPTY,
            failures=failures.data if len(failures) and "failures" in peer.hello.wants else EMPTY,
            **more,
        )

    def _feedback(self, peer: _Peer, outcome: Outcome) -> dict[str, Any]:
        found: dict[str, Any] = {}
        first, last = peer.first_node, peer.first_node + peer.nodes
        if outcome.neighbours is not None and "neighbours" in peer.hello.wants:
            offsets, nodes, quality, signals = outcome.neighbours
            begin, end = int(offsets[first]), int(offsets[last])
            found["neighbour_offsets"] = (offsets[first : last + 1] - offsets[first]).astype(U4).data
            found["neighbours"] = nodes[begin:end].astype(U4).data
            found["link_quality"] = quality[begin:end].astype(F4).data
            if signals is not None:
                found["link_signal_dbm"] = signals[begin:end].astype(F4).data
        if outcome.queues is not None and "queues" in peer.hello.wants:
            found["queues"] = outcome.queues[first:last].astype(U4).data
        return found

    # --- ending ------------------------------------------------------------------------------------------

    def _finish(self, ends: list[_Peer]) -> None:
        if len(ends) < len(self._peers):
            names = ", ".join(f"'{peer.hello.peer}'" for peer in ends)
            raise SimulatorError(f"the robot simulator {names} ended while others went on")
        reasons = {peer.message.reason for peer in ends if isinstance(peer.message, End)}
        self.reason = "finished" if reasons == {"finished"} else "interrupted"
        self.timing.finish()
        report = self._simulator.end(self.steps_done * self._peers[0].hello.step_ns)
        report["time"] = {
            "cpu_s": self.timing.cpu_s,
            "waiting_s": self.timing.waiting_s,
            "exchange_s": self.timing.exchange_s,
        }
        for peer in self._peers:
            self._say(peer, Ended(report=report))

    def _give_up(self, text: str) -> None:
        """Tell everyone who still listens why."""
        for peer in self._by_key.values():
            if peer.session.state is not State.CLOSED:
                message: AnyMessage = Error(text=text)
                try:
                    self._listener.send(peer.key, peer.session.send(message))
                except PeerLost:
                    log.info("%s is not there to hear: %s", peer.session.peer_name, text)


def _missed(silent: list[_Peer], error: PeerLost) -> str:
    """Who was awaited, in which state, at what simulated time."""
    names = ", ".join(f"'{peer.hello.peer}'" for peer in silent)
    session = silent[0].session
    return (
        f"the robot simulator {names} {error} (the network simulator was waiting in state {session.state.name} "
        f"at simulated time {s_from_ns(session.now):.3f} s)"
    )
