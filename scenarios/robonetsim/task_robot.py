"""One robot's mind in the distributed task assignment: no clock, no radio, no motors.

It is told what happens to the robot (it sees an event, hears a message, arrives, runs low) and answers with a state,
a goal to drive to, and messages to send.
"""

import enum
import math
from typing import NamedTuple

import numpy as np
from task_exploration import Exploration
from task_memory import Belief, Pledge, TaskMemory
from task_messages import Flooding, Kind, Place, Report


class State(enum.IntEnum):
    """What a robot is doing."""

    EXPLORING = 0
    GOING = 1
    WAITING = 2
    SERVICING = 3
    RETURNING = 4
    CHARGING = 5


class Happens(enum.Enum):
    """What changes that."""

    CHOSE = enum.auto()
    GAVE_UP = enum.auto()
    ARRIVED = enum.auto()
    STARTED = enum.auto()
    SERVICED = enum.auto()
    RAN_LOW = enum.auto()
    CHARGED = enum.auto()


TABLE = {
    (State.EXPLORING, Happens.CHOSE): State.GOING,
    (State.GOING, Happens.CHOSE): State.GOING,
    (State.GOING, Happens.GAVE_UP): State.EXPLORING,
    (State.GOING, Happens.ARRIVED): State.WAITING,
    (State.WAITING, Happens.STARTED): State.SERVICING,
    (State.SERVICING, Happens.SERVICED): State.EXPLORING,
    (State.EXPLORING, Happens.RAN_LOW): State.RETURNING,
    (State.GOING, Happens.RAN_LOW): State.RETURNING,
    (State.WAITING, Happens.RAN_LOW): State.RETURNING,
    (State.RETURNING, Happens.ARRIVED): State.CHARGING,
    (State.CHARGING, Happens.CHARGED): State.EXPLORING,
}
FREE = (State.EXPLORING, State.GOING)
"""Who decides anew with every message: who waits stays, and who runs low has no choice."""


class Rules(NamedTuple):
    """What the robots of a team have in common."""

    speed_m_s: float
    charger: Place
    other_probability: float
    """Chance to choose an event that seems to have enough robots rather than to explore."""
    grace_s: float
    """How late somebody who said to be going may be until who sees the event no longer counts on it."""


class Robot:
    """The mind of one robot."""

    def __init__(
        self, index: int, skills: frozenset[int], rules: Rules, exploration: Exploration, rng: np.random.Generator
    ) -> None:
        self.index, self.skills, self.rules = index, skills, rules
        self.memory = TaskMemory(rules.speed_m_s, rules.grace_s)
        self.flooding = Flooding()
        self.exploration = exploration
        self._rng = rng
        self.state = State.EXPLORING
        self.goal: Place | None = None
        self.event: Place | None = None
        """The event that it goes to, waits by or services."""
        self.outbox: list[Report] = []
        self._pledge: Pledge | None = None
        self._is_spare = False
        """Whether it goes to an event that seemed to have enough robots."""
        self._number = 0

    # --- what happens to it ------------------------------------------------------------------------------

    def handle_start(self, here: Place, now: float) -> None:
        """Begin."""
        self._explore(here, now)

    def handle_sight(self, place: Place, required: int, skill: int, waiting: int, here: Place, now: float) -> None:
        """An event comes into sight."""
        if self.memory.notice(place, required, skill, waiting, now):
            self._say(Kind.S, self.memory.beliefs[place], here)
            self._decide(here, now)

    def handle_report(self, report: Report, here: Place, now: float) -> None:
        """A message arrives that was not heard before."""
        self.memory.learn(report, now)
        self._decide(here, now)

    def handle_absence(self, here: Place, now: float) -> None:
        """There is nothing to be done where it is going to."""
        assert self.event is not None
        self.memory.close(self.event)
        self._decide(here, now)

    def handle_arrival(self, here: Place, now: float) -> None:
        """It is where it wanted to be."""
        if self.state is State.EXPLORING:
            self._resume(here, now)
        else:
            self._become(Happens.ARRIVED)
            self.goal = None

    def handle_status(self, waiting: int, here: Place) -> None:
        """It begins to wait, with so many in all: say so."""
        assert self.event is not None
        belief = self.memory.beliefs[self.event]
        belief.waiting = waiting
        self._say(Kind.S, belief, here)

    def handle_service(self, here: Place, *, is_last: bool) -> None:
        """There are enough robots: it works from now on, and the last to come says so."""
        assert self.event is not None
        belief = self.memory.beliefs[self.event]
        belief.waiting = belief.required
        if is_last:
            self._say(Kind.H, belief, here)
        self.memory.close(self.event)
        self._become(Happens.STARTED)

    def handle_end(self, here: Place, now: float) -> None:
        """The event is serviced."""
        self._become(Happens.SERVICED)
        self._forget_event()
        self._resume(here, now)

    def handle_low_energy(self, others_waiting: int, here: Place) -> None:
        """It has to recharge at once."""
        belief = self.memory.beliefs.get(self.event) if self.event is not None else None
        if belief is not None and self.state is State.WAITING:
            belief.waiting = others_waiting
            self._say(Kind.A, belief, here)
        elif belief is not None and self.state is State.GOING:
            self._say(Kind.C, belief, here)
        self._become(Happens.RAN_LOW)
        self._forget_event()
        self.goal = self.rules.charger

    def handle_charged(self, here: Place, now: float) -> None:
        """Its battery is full."""
        self._become(Happens.CHARGED)
        self._resume(here, now)

    # --- what it decides ---------------------------------------------------------------------------------

    def _decide(self, here: Place, now: float) -> None:
        """The closest event in need; else another one with some probability; else exploration."""
        if self.state not in FREE:
            return
        memory = self.memory
        chosen = memory.closest_in_need(self.skills, here, self.event, self._pledge)
        is_spare = chosen is None
        if chosen is None and self._is_spare and self.event in memory.beliefs:
            return  # the dice were thrown when it set out
        if chosen is None and self._rng.random() < self.rules.other_probability:
            others = memory.candidates(self.skills)
            chosen = others[self._rng.integers(len(others))] if others else None
        if chosen is None:
            if self.state is State.GOING:
                self._cancel(here)
                self._become(Happens.GAVE_UP)
                self._explore(here, now)
            return
        self._is_spare = is_spare
        if chosen.place != self.event:
            self._go(chosen, here)

    def _resume(self, here: Place, now: float) -> None:
        """Free again: look what is known, and explore if that is nothing."""
        self._decide(here, now)
        if self.state is State.EXPLORING:
            self._explore(here, now)

    def _go(self, belief: Belief, here: Place) -> None:
        if self.state is State.GOING:
            self._cancel(here)
        self._become(Happens.CHOSE)
        self.event = self.goal = belief.place
        self._pledge = Pledge(math.dist(here, belief.place), self.index)
        self._say(Kind.G, belief, here)

    def _cancel(self, here: Place) -> None:
        """Tell that it goes no longer where it went; nobody has to know that of an event that is closed."""
        belief = self.memory.beliefs.get(self.event) if self.event is not None else None
        if belief is not None:
            self._say(Kind.C, belief, here)
        self._forget_event()

    def _forget_event(self) -> None:
        self.event, self._pledge, self._is_spare = None, None, False

    def _explore(self, here: Place, now: float) -> None:
        self.goal = self.exploration.target(here, now)

    def _become(self, what: Happens) -> None:
        self.state = TABLE[self.state, what]

    def _say(self, kind: Kind, belief: Belief, here: Place) -> None:
        report = Report(
            kind, self.index, self._number, belief.place, belief.required, belief.skill, belief.waiting, here
        )
        self._number += 1
        self.outbox.append(report)
