"""Which engine moves whom: regions, the walls and gates at their sides, and crossing over."""

import math
from typing import TYPE_CHECKING

import numpy as np

from robonet.errors import UserError
from robonet.scenario.engines import Gate
from robonet.scenario.schema import Robots, Station
from robonet.space import Floats

if TYPE_CHECKING:
    from robonet.robots.world import Group, World

Point = tuple[float, float]
Segment = tuple[Point, Point]

FLIES_ONLY = ("pointmass3d",)
"""Engines that know nothing of the floor."""
FLIES_TOO = ("pointmass3d", "dynamics3d")
"""Engines that know heights."""


def plane_through(segment: Segment) -> tuple[float, float, float]:
    """Normal and offset of the plane whose allowed side is on the left of a segment."""
    (ax, ay), (bx, by) = segment
    length = math.hypot(bx - ax, by - ay)
    nx, ny = -(by - ay) / length, (bx - ax) / length
    return nx, ny, nx * ax + ny * ay


def sides_of(world: "World", number: int) -> list[tuple[Segment, str | None]]:
    """The sides of an engine's region, each with the engine behind its gate, None for walls."""
    settings = world.engines[number]
    if settings.region is None:
        return []
    corners = settings.region.corners()
    found: list[tuple[Segment, str | None]] = []
    for index, segment in enumerate(zip(corners, corners[1:] + corners[:1], strict=True)):
        side = settings.sides[index] if index < len(settings.sides) else "wall"
        found.append((segment, side.gate if isinstance(side, Gate) else None))
    return found


def region_walls(world: "World", number: int) -> list[Segment]:
    """The sides that an engine's bodies must not cross; they are on the left of each."""
    return [segment for segment, gate in sides_of(world, number) if gate is None]


def planes_of(world: "World", number: int) -> Floats:
    """Everything straight that keeps an engine's bodies in: the arena's walls and, unless for -1, the region's."""
    segments = region_walls(world, number) if number >= 0 else []
    if world.arena.walls:
        (left, bottom), (right, top) = world.arena.low_m, world.arena.high_m
        corners = [(left, bottom), (right, bottom), (right, top), (left, top)]
        segments += zip(corners, corners[1:] + corners[:1], strict=True)
    return np.array([plane_through(segment) for segment in segments]).reshape(-1, 3)


class Borders:
    """Knows who is where, and hands bodies over at gates."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self._numbers = {engine.name: number for number, engine in enumerate(world.engines)}
        self._gates: list[tuple[int, int, Floats]] = []
        self._planes: list[Floats] = []
        for number in range(len(world.engines)):
            sides = sides_of(world, number)
            self._planes.append(np.array([plane_through(segment) for segment, _ in sides]).reshape(-1, 3))
            for segment, gate in sides:
                if gate is not None:
                    self._gates.append((number, self._numbers[gate], np.array(plane_through(segment))))
        self._edits = -1

    def claim(self) -> None:
        """Give every body that has no engine yet to the one in whose region it is."""
        world = self._world
        if self._edits == world.edits:
            return
        self._edits = world.edits
        for number, planes in enumerate(self._planes):  # a hook may have put somebody into another region
            outside = (world.xyz[:, :2] @ planes[:, :2].T < planes[:, 2]).any(axis=1) & (world.owner == number)
            for row in np.flatnonzero(outside).tolist():
                other = self._engine_around(world.group_of(row), row)
                world.owner[row] = number if other is None else other
        for group in world.groups:
            if isinstance(group.settings, Station) or not len(group):
                continue
            free = (world.owner[group.rows] < 0) & (world.body_m[group.rows] > 0)
            for row in (np.flatnonzero(free) + group.rows.start).tolist():
                world.owner[row] = self._engine_for(group, row)

    def _engine_for(self, group: "Group", row: int) -> int:
        wanted = group.settings.engine if isinstance(group.settings, Robots) else None
        found = self._engine_around(group, row) if wanted is None else self._numbers[wanted]
        x, y = self._world.xyz[row, :2].tolist()
        at = f"'{self._world.names[row]}' at ({x:g}, {y:g}) m"
        if found is None:
            raise UserError(f"{at} is in no engine's region: widen a region, or say which engine has it")
        if not self._contains(found, row):
            raise UserError(f"{at} is outside the region of its engine '{wanted}'")
        return found

    def _engine_around(self, group: "Group", row: int) -> int | None:
        """The first engine that can move a body of a group and in whose region it is."""
        for number, engine in enumerate(self._world.engines):
            flies, walks = engine.engine in FLIES_TOO or ":" in engine.engine, engine.engine not in FLIES_ONLY
            if (flies if group.flies else walks) and self._contains(number, row):
                return number
        return None

    def _contains(self, number: int, row: int) -> bool:
        planes = self._planes[number]
        x, y = self._world.xyz[row, :2]
        return bool((planes[:, 0] * x + planes[:, 1] * y >= planes[:, 2]).all())

    def cross(self) -> None:
        """Whoever is behind a gate of its engine now belongs to the engine there."""
        world = self._world
        moved: list[tuple[np.ndarray[tuple[int], np.dtype[np.int64]], int]] = []
        for number, target, (nx, ny, offset) in self._gates:
            behind = (world.owner == number) & (nx * world.xyz[:, 0] + ny * world.xyz[:, 1] < offset)
            if behind.any():
                moved.append((np.flatnonzero(behind), target))
        for rows, target in moved:
            world.owner[rows] = target
