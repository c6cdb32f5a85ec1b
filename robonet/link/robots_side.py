"""The robot simulator's end of the lock-step: one step after the other, motion overlapping the network's work."""

import contextlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from robonet.clock import s_from_ns
from robonet.errors import Interrupted, PeerLost, RemoteProtocolError, RobonetError
from robonet.link import checks
from robonet.link.messages import (
    EMPTY,
    F4,
    LARGE_BYTES,
    ORIGIN,
    U4,
    AnyMessage,
    End,
    Ended,
    Error,
    Ping,
    Step,
    Stepped,
    Welcome,
)
from robonet.link.session import PeerError, Role, Session
from robonet.link.simulators import Neighbours, Outcome, RobotSimulator
from robonet.link.timing import Timing
from robonet.link.transport import SLICE_S, Connection, never
from robonet.scenario.schema import Limits

PING_EVERY_S = 1.0
GOODBYE_TIMEOUT_S = 30.0
"""For the network to write its results after the last step."""


class RobotsSide:
    """Drives a robot simulator against a network simulator at the other end of a connection."""

    def __init__(
        self,
        simulator: RobotSimulator,
        connection: Connection,
        limits: Limits,
        stop: Callable[[], bool] = never,
        on_step: Callable[[int], None] | None = None,
        real_time_factor: float | None = None,
    ) -> None:
        self.timing = Timing()
        self.report: dict[str, Any] | None = None
        """What the network said at the end; None if it never got to."""
        self.welcome: Welcome | None = None
        self.reason = "failed"
        self.steps_done = 0
        self._simulator = simulator
        self._connection = connection
        self._limits = limits
        self._stop = stop
        self._on_step = on_step
        self._real_time_factor = real_time_factor
        self._session = Session(Role.ROBOTS)

    def run(self) -> str:
        """Run to the end: `finished` or `interrupted`; anything else raises."""
        try:
            self._run()
        except (PeerLost, RemoteProtocolError):
            raise
        except BaseException as error:
            self._give_up(error)
            raise
        return self.reason

    def _run(self) -> None:
        hello = self._simulator.hello()
        self._say(hello)
        welcome = self._receive(Welcome, self._limits.join_timeout_s, self._stop)
        assert isinstance(welcome, Welcome)
        self.welcome = welcome
        self._simulator.start(welcome)
        checks.warm_up()
        self.timing.begin()
        outcome = self._steps(hello.step_ns, hello.steps, welcome.needs_payloads)
        self.timing.finish()
        self._simulator.end(outcome, self.reason)
        self._say(End(reason=self.reason))
        ended = self._receive(Ended, GOODBYE_TIMEOUT_S)
        assert isinstance(ended, Ended)
        self.report = ended.report

    def _steps(self, step_ns: int, steps: int, needs_payloads: bool) -> Outcome:
        simulator, timing = self._simulator, self.timing
        clock = time.perf_counter
        pace_s = s_from_ns(step_ns) / self._real_time_factor if self._real_time_factor else 0.0
        timeout_s = self._limits.step_timeout_s + pace_s
        started = clock()
        outcome = Outcome()
        for index in range(steps):
            positions_m, sent = simulator.control(outcome)
            before = clock()
            payloads = sent.payloads if needs_payloads else None
            if positions_m.nbytes < LARGE_BYTES:
                positions, tail = positions_m.data, None
            else:
                positions, tail = EMPTY, positions_m.data
            step = Step(
                index=index, time=index * step_ns, positions=positions, packets=sent.rows.data, payloads=payloads
            )
            self._say(step, tail)
            timing.exchange_s += clock() - before
            goes_on = simulator.advance()
            if pace_s:
                self._pace(started + (index + 1) * pace_s)
            outcome = self._await_stepped(timeout_s)
            self.steps_done = index + 1
            if self._on_step is not None:
                self._on_step(index + 1)
            if self._stop():
                self.reason = "interrupted"
                return outcome
            if not goes_on:
                break
        self.reason = "finished"
        return outcome

    def _pace(self, until: float) -> None:
        """Wait for real time to catch up, ready to stop, with a sign of life for the network now and then."""
        heard_of = time.perf_counter()
        while (left_s := until - time.perf_counter()) > 0 and not self._stop():
            time.sleep(min(left_s, SLICE_S))
            if time.perf_counter() - heard_of > PING_EVERY_S:
                heard_of = time.perf_counter()
                self._say(Ping())

    def _await_stepped(self, timeout_s: float) -> Outcome:
        clock, timing = time.perf_counter, self.timing
        before = clock()
        data = self._take(timeout_s)
        arrived = clock()
        timing.waiting_s += arrived - before
        message = self._session.receive(data)
        while isinstance(message, Ping):
            message = self._session.receive(self._take(timeout_s))
        assert isinstance(message, Stepped)
        outcome = self._outcome(message)
        timing.exchange_s += clock() - arrived
        return outcome

    def _receive(self, kind: type, timeout_s: float, stop: Callable[[], bool] = never) -> AnyMessage:
        while True:
            message = self._session.receive(self._take(timeout_s, stop))
            if isinstance(message, kind):
                return message

    def _take(self, timeout_s: float, stop: Callable[[], bool] = never) -> bytes:
        try:
            return self._connection.receive(timeout_s, stop)
        except PeerLost as error:
            raise PeerLost(self._missed(error)) from error

    def _say(self, message: AnyMessage, tail: memoryview | None = None) -> None:
        try:
            self._connection.send(self._session.send(message), tail)
        except PeerLost as error:
            raise PeerLost(self._missed(error)) from error

    def _missed(self, error: PeerLost) -> str:
        return (
            f"the network simulator {error} (the robot simulator was waiting in state "
            f"{self._session.state.name} at simulated time {s_from_ns(self._session.now):.3f} s)"
        )

    def _give_up(self, error: BaseException) -> None:
        """Tell the network why, so that it ends with the true reason and not with a silence."""
        if isinstance(error, PeerError):
            return
        interrupted = isinstance(error, (KeyboardInterrupt, Interrupted))
        text = "interrupted" if interrupted else str(error) if isinstance(error, RobonetError) else repr(error)
        with contextlib.suppress(PeerLost):  # the first reason is the one to report
            self._connection.send(self._session.send(Error(text=text)))

    def _outcome(self, stepped: Stepped) -> Outcome:
        session = self._session
        outcome = Outcome(session.arrivals, session.failures)
        if stepped.payloads is not None:
            outcome.payloads = stepped.payloads
            outcome.origins = np.frombuffer(stepped.origins, ORIGIN)
        if stepped.neighbour_offsets:
            outcome.neighbours = Neighbours(
                np.frombuffer(stepped.neighbour_offsets, U4),
                np.frombuffer(stepped.neighbours, U4),
                np.frombuffer(stepped.link_quality, F4),
                np.frombuffer(stepped.link_signal_dbm, F4) if stepped.link_signal_dbm else None,
            )
        if stepped.queues:
            outcome.queues = np.frombuffer(stepped.queues, U4)
        return outcome
