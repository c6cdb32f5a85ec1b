"""A conformance kit: put any network simulator or robot simulator through it.

    from robonet.testing import check_network, network_in_memory

    def test_my_network():
        check_network(lambda: network_in_memory(MyNetwork()))

A simulator that is a program of its own, in any language, is tested through a context manager that starts it and
yields a connection to it (or, for robots, a listener that it connects to). Failures are AssertionErrors that say
which rule was broken.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from robonet.link.messages import (
    ARRIVAL,
    BROADCAST,
    FIRST_GROUP,
    PROTOCOL_VERSION,
    REASONS,
    Hello,
    Node,
    Welcome,
)
from robonet.link.network_side import NetworkSide
from robonet.link.robots_side import RobotsSide
from robonet.link.simulators import (
    Floats,
    NetworkSimulator,
    Offer,
    Outcome,
    RobotSimulator,
    Setup,
    Transmissions,
)
from robonet.link.transport import Connection, Listener, MemoryLink
from robonet.scenario.schema import Limits

LIMITS = Limits(join_timeout_s=30.0, step_timeout_s=60.0)
NODES, STEPS, STEP_NS = 8, 40, 100_000_000
TEAM = "team"

OpenConnection = Callable[[], AbstractContextManager[Connection]]
OpenListener = Callable[[], AbstractContextManager[Listener]]


# --- network simulators ----------------------------------------------------------------------------------


@contextmanager
def network_in_memory(simulator: NetworkSimulator) -> Iterator[Connection]:
    """A network simulator of this process, behind the real link."""
    link = MemoryLink()
    side = NetworkSide(simulator, link, LIMITS)
    thread = threading.Thread(target=_quietly, args=(side.serve,), daemon=True)
    thread.start()
    connection = link.connect()
    yield connection
    connection.close()
    thread.join(LIMITS.step_timeout_s)
    _require(not thread.is_alive(), "the network simulator did not end after the run")


def check_network(open_connection: OpenConnection) -> None:
    """Check every rule that all network simulators share."""
    first, again = _drive_network(open_connection), _drive_network(open_connection)
    _check_fates(first)
    _check_counts(first)
    _require(first.arrivals == again.arrivals, "two runs with the same seed differ in what arrives, where or when")
    silent = _drive_network(open_connection, is_silent=True)
    _require(not silent.arrivals, "something arrives though nothing was sent")


@dataclass
class ScriptedRobots:
    """Robots on fixed circles that send unicast, group and broadcast packets by dice, and note what comes back."""

    is_silent: bool = False
    sent: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    arrivals: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    """(step, packet, receiver, time, hops)"""
    failures: list[tuple[int, int, str]] = field(default_factory=list)
    welcome: Welcome | None = None
    report: dict[str, Any] = field(default_factory=dict)
    _step: int = 0

    def hello(self) -> Hello:
        """Half of the nodes are a group."""
        nodes = [Node(name=f"node{i}", groups=[TEAM] if i % 2 else []) for i in range(NODES)]
        return Hello(
            version=PROTOCOL_VERSION,
            software="conformance kit",
            peer="scripted",
            step_ns=STEP_NS,
            steps=STEPS,
            seed=7,
            arena_low_m=(-50.0, -50.0),
            arena_high_m=(50.0, 50.0),
            walls=True,
            obstacles=[],
            nodes=nodes,
            wants=["failures"],
        )

    def start(self, welcome: Welcome) -> None:
        """Begin the dice anew."""
        self.welcome = welcome
        self._rng = np.random.default_rng(5)
        self._next = welcome.first_packet

    def control(self, outcome: Outcome) -> tuple[Floats, Transmissions]:
        """Note, then send a handful."""
        self._note(outcome)
        angles = np.arange(NODES) * 2.1 + 0.05 * self._step
        radii = 5.0 + 2.0 * np.arange(NODES)
        positions_m = np.column_stack((radii * np.cos(angles), radii * np.sin(angles), np.zeros(NODES)))
        rows = []
        for _ in range(0 if self.is_silent else 6):
            source = int(self._rng.integers(NODES))
            kind = self._rng.integers(4)
            other = int((source + 1 + self._rng.integers(NODES - 1)) % NODES)
            destination = BROADCAST if kind == 0 else FIRST_GROUP if kind == 1 else other
            time = self._step * STEP_NS + int(self._rng.integers(STEP_NS))
            self.sent[self._next] = (source, destination, time)
            rows.append((self._next, time, source, destination, 64))
            self._next += 1
        payloads = [memoryview(bytes(64))] * len(rows) if self.welcome and self.welcome.needs_payloads else None
        return positions_m, Transmissions.of(rows, payloads)

    def advance(self) -> bool:
        """Positions follow from the step."""
        self._step += 1
        return True

    def end(self, outcome: Outcome, reason: str) -> None:
        """Note the last step."""
        self._note(outcome)

    def _note(self, outcome: Outcome) -> None:
        for packet, time, receiver, _, hops in outcome.arrivals.tolist():
            self.arrivals.append((self._step - 1, packet, receiver, time, hops))
        for packet, reason in outcome.failures.tolist():
            self.failures.append((self._step - 1, packet, REASONS[reason]))


def _drive_network(open_connection: OpenConnection, *, is_silent: bool = False) -> ScriptedRobots:
    robots = ScriptedRobots(is_silent)
    with open_connection() as connection:
        side = RobotsSide(robots, connection, LIMITS)
        side.run()
        robots.report = side.report or {}
    return robots


def _check_fates(robots: ScriptedRobots) -> None:
    deliveries: Counter[int] = Counter()
    for step, packet, receiver, time, hops in robots.arrivals:
        _require(packet in robots.sent, f"packet {packet} arrives and was never sent")
        source, destination, sent = robots.sent[packet]
        _require(time >= sent, f"packet {packet} arrives at {time} ns, before it was sent at {sent} ns")
        _require(step * STEP_NS <= time <= (step + 1) * STEP_NS, f"packet {packet} is told of in a wrong step")
        _require(hops >= 1, f"packet {packet} arrives after {hops} hops")
        if destination < FIRST_GROUP:
            _require(receiver == destination, f"packet {packet} for {destination} arrives at {receiver}")
            deliveries[packet] += 1
        else:
            _require(receiver != source, f"packet {packet} is heard by its own sender")
            in_group = receiver % 2 == 1
            _require(destination == BROADCAST or in_group, f"packet {packet} for a group arrives at another node")
    twice = [packet for packet, count in deliveries.items() if count > 1]
    _require(not twice, f"packets {twice[:3]} are delivered more than once")
    pairs = Counter((packet, receiver) for _, packet, receiver, _, _ in robots.arrivals)
    _require(all(count == 1 for count in pairs.values()), "a node hears the same packet twice")
    for _, packet, reason in robots.failures:
        _require(packet in robots.sent, f"packet {packet} fails and was never sent")
        _require(packet not in deliveries, f"packet {packet} is delivered and fails ({reason})")


def _check_counts(robots: ScriptedRobots) -> None:
    packets = robots.report["packets"]
    unicast = sum(destination < FIRST_GROUP for _, destination, _ in robots.sent.values())
    _require(packets["sent"] == unicast, f"{packets['sent']} packets counted, {unicast} sent")
    ended = packets["delivered"] + sum(packets["dropped"].values())
    _require(packets["sent"] == ended, f"{packets['sent']} packets sent, {ended} accounted for")
    arrived = sum(1 for _, packet, _, _, _ in robots.arrivals if robots.sent[packet][1] < FIRST_GROUP)
    _require(packets["delivered"] == arrived, f"{packets['delivered']} counted as delivered, {arrived} arrived")
    lost = sum(count for reason, count in packets["dropped"].items() if reason != "run_ended")
    _require(lost == len(robots.failures), f"{lost} counted as dropped, {len(robots.failures)} reported")


# --- robot simulators ------------------------------------------------------------------------------------


@contextmanager
def robots_in_memory(simulator: RobotSimulator) -> Iterator[Listener]:
    """A robot simulator of this process, behind the real link."""
    link = MemoryLink()
    side = RobotsSide(simulator, link.connect(), LIMITS)
    thread = threading.Thread(target=_quietly, args=(side.run,), daemon=True)
    thread.start()
    yield link
    link.close()
    thread.join(LIMITS.step_timeout_s)
    _require(not thread.is_alive(), "the robot simulator did not end after the run")


def check_robots(open_listener: OpenListener) -> None:
    """Check every rule that all robot simulators share; the session checks each message on the way."""
    first, again = _drive_robots(open_listener), _drive_robots(open_listener)
    _require(bool(first.positions), "the robots took no step")
    same = len(first.positions) == len(again.positions)
    same = same and all((a == b).all() for a, b in zip(first.positions, again.positions, strict=True))
    _require(same, "two runs with the same seed differ in motion")
    _require(first.sent == again.sent, "two runs with the same seed differ in what is sent")
    _require(first.has_ended, "the robots never ended the run")


@dataclass
class EchoNetwork:
    """Delivers every packet to everyone it is for at the end of its step, and notes what it was given."""

    positions: list[Floats] = field(default_factory=list)
    sent: list[tuple[int, ...]] = field(default_factory=list)
    has_ended: bool = False

    def start(self, setup: Setup) -> Offer:
        """Take any setup."""
        self._members = [[i for i, n in enumerate(setup.nodes) if group in n.groups] for group in setup.groups]
        self._nodes = len(setup.nodes)
        return Offer("echo", frozenset({"failures"}))

    def step(self, until: int, positions_m: Floats, transmissions: Transmissions) -> Outcome:
        """Everything arrives."""
        self.positions.append(positions_m.copy())
        arrivals = []
        for row in transmissions.rows.tolist():
            self.sent.append(row)
            packet, _, source, destination, _ = row
            if destination < FIRST_GROUP:
                receivers = [destination]
            elif destination == BROADCAST:
                receivers = [node for node in range(self._nodes) if node != source]
            else:
                receivers = [node for node in self._members[destination - FIRST_GROUP] if node != source]
            arrivals += [(packet, until, receiver, float("nan"), 1) for receiver in receivers]
        return Outcome(np.array(arrivals, ARRIVAL))

    def end(self, now: int) -> dict[str, Any]:
        """The least that a report must say."""
        self.has_ended = True
        nothing: dict[str, Any] = {"mean": None, "p50": None, "p95": None, "max": None}
        unicast = sum(row[3] < FIRST_GROUP for row in self.sent)
        return {
            "packets": {"sent": unicast, "delivered": unicast, "dropped": {}},
            "broadcasts": {"sent": len(self.sent) - unicast, "receptions": 0},
            "delay_s": nothing,
            "hops": {"mean": None, "max": None},
        }


def _drive_robots(open_listener: OpenListener) -> EchoNetwork:
    network = EchoNetwork()
    with open_listener() as listener:
        NetworkSide(network, listener, LIMITS).serve()
    return network


def _quietly(work: Callable[[], object]) -> None:
    """The far end's own failure reaches the test through the link; its thread need not shout as well."""
    from robonet.errors import RobonetError

    try:
        work()
    except RobonetError:
        return


def _require(holds: bool, text: str) -> None:
    if not holds:
        raise AssertionError(text)
