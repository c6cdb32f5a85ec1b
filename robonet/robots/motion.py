"""Prescribed motion: every robot walks straight legs, whatever made them up."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from robonet.clock import ns_from_s
from robonet.errors import UserError
from robonet.robots import motion_files
from robonet.robots.world import Group, World
from robonet.scenario.schema import Path as PathSettings
from robonet.scenario.schema import RandomWalk, RandomWaypoint, Robots
from robonet.streams import stream

FOREVER = 2**62
"""No leg ends later."""


class Leg(NamedTuple):
    """Be at a point at a time, in a straight line from wherever the last leg ended."""

    until: int
    x: float
    y: float


class PrescribedMotion:
    """Moves all robots that have a motion and no controller."""

    def __init__(self, world: World, base: Path) -> None:
        self._world = world
        self._rows: list[int] = []
        self._legs: list[Iterator[Leg]] = []
        for group in world.groups:
            settings = group.settings
            if isinstance(settings, Robots) and settings.motion is not None:
                for row, (start, legs) in zip(
                    range(group.rows.start, group.rows.stop),
                    _legs_of(world, group, settings, base),
                    strict=True,
                ):
                    if start is not None:
                        world.xyz[row, :2] = start
                    self._rows.append(row)
                    self._legs.append(legs)
        self._index = np.array(self._rows, dtype=np.int64)
        self._begin = np.zeros(len(self._rows), dtype=np.int64)
        self._until = np.zeros(len(self._rows), dtype=np.int64)
        self._from = world.xyz[self._index, :2].copy()
        self._to = self._from.copy()
        self.step(0)

    def step(self, time: int) -> None:
        """Put everyone where they are at a time."""
        if not self._rows:
            return
        for i in np.flatnonzero(self._until <= time).tolist():
            self._next_leg(i, time)
        span = np.maximum(self._until - self._begin, 1)
        share = np.clip((time - self._begin) / span, 0.0, 1.0)[:, None]
        self._world.xyz[self._index, :2] = self._from + share * (self._to - self._from)

    def _next_leg(self, i: int, time: int) -> None:
        while self._until[i] <= time:
            self._from[i], self._begin[i] = self._to[i], self._until[i]
            leg = next(self._legs[i], None)
            if leg is None:
                self._until[i] = FOREVER
                return
            self._until[i] = leg.until
            self._to[i] = leg.x, leg.y
        dx, dy = self._to[i] - self._from[i]
        if dx or dy:
            self._world.heading[self._rows[i]] = math.atan2(dy, dx)


Start = tuple[float, float] | None


def _legs_of(world: World, group: Group, settings: Robots, base: Path) -> list[tuple[Start, Iterator[Leg]]]:
    assert settings.motion is not None
    motion = settings.motion
    rows = range(group.rows.start, group.rows.stop)
    if motion.random_waypoint is not None:
        return [(None, _random_waypoint(world, row, motion.random_waypoint)) for row in rows]
    if motion.random_walk is not None:
        return [(None, _random_walk(world, row, motion.random_walk)) for row in rows]
    if motion.path is not None:
        return [(motion.path.points_m[0], _path(motion.path)) for _ in rows]
    if motion.ns2 is not None:
        tracks = motion_files.read_ns2(base / motion.ns2.file, world.arena.low_m)
        names = [str(number) for number in range(len(group))]
    else:
        assert motion.csv is not None
        tracks = motion_files.read_csv(base / motion.csv.file)
        names = [world.names[row] for row in rows]
    missing = [name for name in names if name not in tracks]
    if missing:
        raise UserError(
            f"the motion file of group '{group.name}' says nothing of '{missing[0]}'; "
            f"it has {len(tracks)} tracks: {', '.join(list(tracks)[:5])}{', ...' if len(tracks) > 5 else ''}"
        )
    return [(tracks[name].start, (Leg(*leg) for leg in tracks[name].legs)) for name in names]


def _random_waypoint(world: World, row: int, settings: RandomWaypoint) -> Iterator[Leg]:
    rng = stream(world.seed, "motion", world.stream_key(row))
    low, high = world.arena.low_m, world.arena.high_m
    time, x, y = 0, float(world.xyz[row, 0]), float(world.xyz[row, 1])
    while True:
        to_x, to_y = rng.uniform(low[0], high[0]), rng.uniform(low[1], high[1])
        speed = rng.uniform(*settings.speed_m_s)
        time += max(1, ns_from_s(math.hypot(to_x - x, to_y - y) / speed))
        x, y = to_x, to_y
        yield Leg(time, x, y)
        pause = ns_from_s(rng.uniform(*settings.pause_s))
        if pause:
            time += pause
            yield Leg(time, x, y)


def _random_walk(world: World, row: int, settings: RandomWalk) -> Iterator[Leg]:
    """Straight legs; one that would leave the arena ends at the border and is mirrored there."""
    rng = stream(world.seed, "motion", world.stream_key(row))
    low, high = world.arena.low_m, world.arena.high_m
    time, x, y = 0, float(world.xyz[row, 0]), float(world.xyz[row, 1])
    while True:
        heading = rng.uniform(-math.pi, math.pi)
        left_s = rng.uniform(*settings.leg_s)
        vx, vy = settings.speed_m_s * math.cos(heading), settings.speed_m_s * math.sin(heading)
        while left_s > 1e-9:
            to_x_s = ((high[0] if vx > 0 else low[0]) - x) / vx if vx else math.inf
            to_y_s = ((high[1] if vy > 0 else low[1]) - y) / vy if vy else math.inf
            span_s = min(left_s, max(to_x_s, 0.0), max(to_y_s, 0.0))
            x = min(max(x + vx * span_s, low[0]), high[0])
            y = min(max(y + vy * span_s, low[1]), high[1])
            if span_s == to_x_s:
                vx = -vx
            if span_s == to_y_s:
                vy = -vy
            left_s -= span_s
            time += max(1, ns_from_s(span_s))
            yield Leg(time, x, y)


def _path(settings: PathSettings) -> Iterator[Leg]:
    time, (x, y) = 0, settings.points_m[0]
    points = settings.points_m[1:]
    while points and len(set(settings.points_m)) > 1:
        for to_x, to_y in points:
            time += max(1, ns_from_s(math.hypot(to_x - x, to_y - y) / settings.speed_m_s))
            x, y = to_x, to_y
            yield Leg(time, x, y)
        if not settings.loop:
            return
        points = settings.points_m
