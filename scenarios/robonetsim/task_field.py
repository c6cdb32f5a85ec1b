"""The world of the distributed task assignment: events, skills, the charging place. Robots see it through a sensor."""

from typing import NamedTuple

import numpy as np
from task_messages import Place

from robonet.streams import stream

MARGIN_M = 5.0
"""How far events are from walls at least."""


class Event(NamedTuple):
    """Something to be serviced."""

    place: Place
    required: int
    skill: int


class TaskField:
    """Events and what happens to them; a device, `tasks`, of the whole team.

    A robot sees events within its range that nobody has started to service, and how many wait by them. Those who wait
    by an event see each other, and all see that the service starts and when it ends.
    """

    def __init__(self, world, group, params) -> None:
        self._set(world, group, **params)

    def _set(
        self, world, group, *, events: int, types: int = 2, required: int = 4, service_s: float = 50.0,
        discover_m: float = 50.0, skills: int = 1, charger_m: Place = (0.0, 0.0), charge_s: float = 10.0,
    ) -> None:  # fmt: skip
        self._world, self.required, self.service_s, self.discover_m = world, required, service_s, discover_m
        self.charger_m = (float(charger_m[0]), float(charger_m[1]))
        self._battery = world.devices[group.name].get("battery")
        self._charge_j = self._battery.capacity_j / charge_s * world.step_s
        rng = stream(world.seed, "tasks", "events")
        low_m, high_m = np.array(world.arena.low_m) + MARGIN_M, np.array(world.arena.high_m) - MARGIN_M
        places = rng.uniform(low_m, high_m, (events, 2))
        kinds = rng.integers(types, size=events)
        self.events = [
            Event((x, y), required, kind) for (x, y), kind in zip(places.tolist(), kinds.tolist(), strict=True)
        ]
        self.skills = drawn_skills(stream(world.seed, "tasks", "skills"), len(group), types, skills, required, kinds)
        self._x_m, self._y_m = places[:, 0].copy(), places[:, 1].copy()
        self.is_open = np.ones(events, dtype=bool)
        """Which events nobody has started to service."""
        self._in_sight = np.zeros((len(group), events), dtype=bool)
        self._waiting: list[list[int]] = [[] for _ in self.events]
        self._ends: dict[int, float] = {}
        """When the events that are being serviced will be done."""
        self._charging: dict[int, None] = {}
        self.serviced = 0
        self.counts = dict.fromkeys(("S", "G", "C", "H", "A", "heard", "recharges"), 0)
        """What controllers count, for the metrics."""
        self.seconds = np.zeros(6)
        """Time that robots spent in each of their states."""
        self.charged_j = 0.0
        self.found_s = np.full(events, np.nan)
        self.started_s = np.full(events, np.nan)
        """When each event was first seen by anybody, and when its service started."""

    def look(self, x_m: np.ndarray, y_m: np.ndarray) -> list[tuple[int, int]]:
        """Which open events came into whose sight since the last step, as (robot, event)."""
        squares = (x_m[:, None] - self._x_m) ** 2 + (y_m[:, None] - self._y_m) ** 2
        in_sight = (squares <= self.discover_m**2) & self.is_open
        news = in_sight & ~self._in_sight
        self._in_sight = in_sight
        if not news.any():
            return []
        found = news.any(axis=0) & np.isnan(self.found_s)
        self.found_s[found] = self._world.time_s
        return np.argwhere(news).tolist()

    def sees(self, robot: int, event: int) -> bool:
        """Whether a robot has an open event in sight."""
        return bool(self._in_sight[robot, event] and self.is_open[event])

    def waiting(self, event: int) -> int:
        """How many wait by an event."""
        return len(self._waiting[event])

    def join(self, robot: int, event: int) -> list[int]:
        """Wait by an open event; everyone who is there, if that is enough and the service starts."""
        if self.events[event].skill not in self.skills[robot]:
            raise ValueError(f"robot {robot} has not the skill that event {event} takes")
        if not self.is_open[event]:
            raise ValueError(f"robot {robot} is too late for event {event}")
        here = self._waiting[event]
        here.append(robot)
        if len(here) < self.required:
            return []
        self.is_open[event] = False
        self.started_s[event] = self._world.time_s
        self._ends[event] = self._world.time_s + self.service_s
        return here

    def leave(self, robot: int, event: int) -> None:
        """Wait no longer."""
        self._waiting[event].remove(robot)

    def charge(self, robot: int) -> None:
        """Begin to recharge."""
        self._charging[robot] = None

    def finished(self) -> list[int]:
        """Those who have just serviced an event; their batteries are full again."""
        done = [event for event, end in self._ends.items() if end <= self._world.time_s + 1e-9]
        freed = []
        for event in done:
            del self._ends[event]
            self.serviced += 1
            freed += self._waiting[event]
        for robot in freed:
            self._battery.recharge(robot, self._battery.capacity_j)
        return freed

    def supply(self) -> list[int]:
        """Let those at the charging place have a step's worth of energy; who is full now."""
        full = []
        for robot in self._charging:
            before_j = self._battery.energy_j[robot]
            self._battery.recharge(robot, self._charge_j)
            self.charged_j += float(self._battery.energy_j[robot] - before_j)
            if self._battery.charge[robot] >= 1.0:
                full.append(robot)
        for robot in full:
            del self._charging[robot]
        return full


def drawn_skills(
    rng: np.random.Generator, robots: int, types: int, each: int, required: int, needed: np.ndarray
) -> list[frozenset[int]]:
    """Random skills for every robot, drawn again until each event that there is can be serviced at all."""
    if robots * each < required * len(set(needed.tolist())):
        raise ValueError(f"{robots} robots with {each} skills are too few for events that take {required} each")
    while True:
        skills = [frozenset(rng.choice(types, each, replace=False).tolist()) for _ in range(robots)]
        if all(sum(kind in have for have in skills) >= required for kind in needed.tolist()):
            return skills
