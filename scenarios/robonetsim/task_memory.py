"""What one robot believes about events: made of what it saw and of the messages that it heard, never of the truth."""

import math
from typing import NamedTuple

from task_messages import Kind, Place, Report


class Pledge(NamedTuple):
    """Somebody goes to an event."""

    distance_m: float
    """How far it was when it said so."""
    robot: int


class Belief:
    """What is known of one event."""

    __slots__ = ("going", "place", "required", "skill", "waiting")

    def __init__(self, place: Place, required: int, skill: int, waiting: int) -> None:
        self.place = place
        self.required = required
        self.skill = skill
        self.waiting = waiting
        """How many wait by it."""
        self.going: dict[int, tuple[Pledge, float]] = {}
        """Who said to be going and has not cancelled, and when it should have arrived."""

    def missing(self, mine: Pledge | None = None) -> int:
        """How many more it takes, besides those who wait and those who go there.

        Whoever goes there as well counts only those who come before: the closer ones, and of equally close ones the
        lower number. So of many who answered one call at the same moment just enough go on, and the others cancel.
        """
        going = len(self.going) if mine is None else sum(pledge < mine for pledge, _ in self.going.values())
        return self.required - self.waiting - going


class TaskMemory:
    """The events that one robot knows."""

    def __init__(self, speed_m_s: float, grace_s: float) -> None:
        self._speed_m_s = speed_m_s
        self._grace_s = grace_s
        self.beliefs: dict[Place, Belief] = {}
        self.closed: set[Place] = set()
        """Events that are handled: late messages do not bring them back."""

    def notice(self, place: Place, required: int, skill: int, waiting: int, now: float) -> bool:
        """See an event; whether that is a discovery: it was unknown, or those who said to be going never came."""
        if place in self.closed:
            return False
        belief = self.beliefs.get(place)
        if belief is None:
            self.beliefs[place] = Belief(place, required, skill, waiting)
            return True
        belief.waiting = waiting
        overdue = [robot for robot, (_, due_s) in belief.going.items() if due_s + self._grace_s < now]
        for robot in overdue:
            del belief.going[robot]
        return bool(overdue)

    def close(self, place: Place) -> None:
        """Nobody is needed there any more."""
        self.beliefs.pop(place, None)
        self.closed.add(place)

    def learn(self, report: Report, now: float) -> None:
        """Take in a message.

        Who waits is known by those who are there: S and A are believed, what G and C say about it is hearsay, and
        counts only for an event that was unknown.
        """
        if report.event in self.closed:
            return
        if report.kind is Kind.H:
            self.close(report.event)
            return
        belief = self.beliefs.get(report.event)
        if belief is None:
            belief = Belief(report.event, report.required, report.skill, report.waiting)
            self.beliefs[report.event] = belief
        if report.kind is Kind.G:
            distance_m = math.dist(report.sender, report.event)
            due_s = now + distance_m / self._speed_m_s
            belief.going[report.origin] = Pledge(distance_m, report.origin), due_s
            return
        belief.going.pop(report.origin, None)
        if report.kind is not Kind.C:
            belief.waiting = report.waiting

    def candidates(self, skills: frozenset[int]) -> list[Belief]:
        """Events that a robot with these skills can help with."""
        return [belief for belief in self.beliefs.values() if belief.skill in skills]

    def closest_in_need(
        self, skills: frozenset[int], here: Place, bound_for: Place | None, mine: Pledge | None
    ) -> Belief | None:
        """The closest event that takes more robots than wait by it and go to it."""
        best, best_m = None, math.inf
        for belief in self.candidates(skills):
            if belief.missing(mine if belief.place == bound_for else None) > 0:
                distance_m = math.dist(here, belief.place)
                if distance_m < best_m:
                    best, best_m = belief, distance_m
        return best
