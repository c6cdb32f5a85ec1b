"""The solid things of the arena as arrays for kernels, and as the network simulator is told of them."""

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robonet.errors import UserError
from robonet.link import messages
from robonet.scenario.arena import Arena, Box, Circle, Obstacle, Polygon
from robonet.scenario.bitmap import boxes
from robonet.space import Floats, Ints

CENTER_X, CENTER_Y, HALF_X, HALF_Y, COS, SIN, ROUND = range(7)
"""Columns of an obstacle: a turned box of half extents, rounded by a radius; a disk is a box without extent."""

BOX, DISK, POLYGON = range(3)

Point = tuple[float, float]


class Obstacles(NamedTuple):
    """What does not move, one row each; outlines that are not convex stand there as several."""

    kind: NDArray[np.int8]
    rows: Floats
    """As the columns say; of a polygon, the box around it."""
    offsets: Ints
    corners: Floats
    """Corners of p are `corners[offsets[p]:offsets[p + 1]]`, counter-clockwise; disks have none."""
    bounds: Floats
    """Left, bottom, right and top of each."""

    def __len__(self) -> int:
        return len(self.kind)


def all_obstacles(arena: Arena, base: Path) -> tuple[Obstacle, ...]:
    """What the scenario lists, and the boxes that its bitmap becomes."""
    if arena.bitmap is None:
        return arena.obstacles
    plan = arena.bitmap
    found = boxes(base / plan.file, plan.size_m or arena.size_m, plan.center_m or arena.center_m, plan.threshold)
    made = [Obstacle(box=Box(center_m=(x, y), size_m=(w, h), material=plan.material)) for x, y, w, h in found]
    return (*arena.obstacles, *made)


def obstacle_arrays(obstacles: tuple[Obstacle, ...]) -> Obstacles:
    """The obstacles for kernels."""
    kinds: list[int] = []
    rows: list[tuple[float, ...]] = []
    outlines: list[list[Point]] = []
    for obstacle in obstacles:
        shape = obstacle.chosen
        if isinstance(shape, Box):
            angle = math.radians(shape.angle_deg)
            half = shape.size_m[0] / 2, shape.size_m[1] / 2
            kinds.append(BOX)
            rows.append((*shape.center_m, *half, math.cos(angle), math.sin(angle), 0.0))
            outlines.append(_corners(shape))
        elif isinstance(shape, Circle):
            kinds.append(DISK)
            rows.append((*shape.center_m, 0.0, 0.0, 1.0, 0.0, shape.radius_m))
            outlines.append([])
        else:
            assert isinstance(shape, Polygon)
            for part in convex_parts(list(shape.corners_m)):
                (left, bottom), (right, top) = np.min(part, axis=0), np.max(part, axis=0)
                kinds.append(POLYGON)
                middle = (left + right) / 2, (bottom + top) / 2
                rows.append((*middle, (right - left) / 2, (top - bottom) / 2, 1.0, 0.0, 0.0))
                outlines.append(part)
    table = np.array(rows, dtype=np.float64).reshape(-1, 7)
    half_x = table[:, HALF_X] * abs(table[:, COS]) + table[:, HALF_Y] * abs(table[:, SIN]) + table[:, ROUND]
    half_y = table[:, HALF_X] * abs(table[:, SIN]) + table[:, HALF_Y] * abs(table[:, COS]) + table[:, ROUND]
    x, y = table[:, CENTER_X], table[:, CENTER_Y]
    return Obstacles(
        np.array(kinds, dtype=np.int8),
        table,
        np.concatenate(([0], np.cumsum([len(outline) for outline in outlines]))).astype(np.int64),
        np.array([corner for outline in outlines for corner in outline], dtype=np.float64).reshape(-1, 2),
        np.stack((x - half_x, y - half_y, x + half_x, y + half_y), axis=1),
    )


def signed_area(corners: list[Point]) -> float:
    """Twice the area, positive for corners in counter-clockwise order."""
    return sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(corners, corners[1:] + corners[:1], strict=True))


def is_convex(corners: list[Point]) -> bool:
    """Whether corners in counter-clockwise order turn left everywhere."""
    ahead = corners[1:] + corners[:1]
    after = corners[2:] + corners[:2]
    return all(
        (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0]) >= 0.0
        for a, b, c in zip(corners, ahead, after, strict=True)
    )


def convex_parts(corners: list[Point]) -> list[list[Point]]:
    """An outline as convex ones, counter-clockwise, that together cover it."""
    area = signed_area(corners)
    if abs(area) < 1e-12:
        raise UserError(f"the polygon with corners {corners} has no area")
    if area < 0:
        corners = corners[::-1]
    if is_convex(corners):
        return [corners]
    from pymunk import autogeometry  # only outlines that are not convex need it

    parts = autogeometry.convex_decomposition([*corners, corners[0]], 0.0)
    found = [[(float(x), float(y)) for x, y in part[:-1]] for part in parts]
    covered = sum(abs(signed_area(part)) for part in found)
    if abs(covered - abs(area)) > 1e-6 * abs(area):
        raise UserError(f"the polygon with corners {corners} crosses itself: split it into simple ones")
    return [part if signed_area(part) > 0 else part[::-1] for part in found]


def for_the_network(obstacle: Obstacle) -> list[messages.Obstacle]:
    """An obstacle as the handshake tells it: corners, or a disk."""
    shape = obstacle.chosen
    if isinstance(shape, Box):
        return [messages.Obstacle(corners_m=_corners(shape), material=shape.material)]
    if isinstance(shape, Circle):
        return [messages.Obstacle(center_m=shape.center_m, radius_m=shape.radius_m, material=shape.material)]
    assert isinstance(shape, Polygon)
    parts = convex_parts(list(shape.corners_m))
    return [messages.Obstacle(corners_m=part, material=shape.material) for part in parts]


def _corners(box: Box) -> list[Point]:
    angle = math.radians(box.angle_deg)
    cosine, sine = math.cos(angle), math.sin(angle)
    half_x, half_y = box.size_m[0] / 2, box.size_m[1] / 2
    local = ((-half_x, -half_y), (half_x, -half_y), (half_x, half_y), (-half_x, half_y))
    x, y = box.center_m
    return [(x + u * cosine - v * sine, y + u * sine + v * cosine) for u, v in local]
