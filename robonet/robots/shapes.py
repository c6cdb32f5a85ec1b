"""The outlines of bodies: disks, and convex polygons in the body's own frame."""

import math
from typing import NamedTuple

import numpy as np

from robonet.errors import UserError
from robonet.robots.arena import Point, is_convex, signed_area
from robonet.scenario.arena import Objects
from robonet.scenario.kinds import Kind
from robonet.space import Floats, Ints

ROUND = -1
"""The shape of a disk."""


class Shapes(NamedTuple):
    """Polygons; corners of shape s are `corners[offsets[s]:offsets[s + 1]]`, counter-clockwise."""

    offsets: Ints
    corners: Floats
    sides: Floats
    """From each corner to the next: the normal outwards, as long as the side, and its product with the corner."""


class Outline(NamedTuple):
    """One outline: a radius around the centre, and corners unless it is a disk."""

    radius_m: float
    corners: tuple[Point, ...]


def outline_of(settings: Kind | Objects) -> Outline:
    """What a robot or a thing looks like from above."""
    if isinstance(settings, Objects):
        if settings.cylinder is not None:
            return Outline(settings.cylinder.radius_m, ())
        assert settings.box is not None
        return _rectangle(*settings.box.size_m)
    body = settings.body
    if body.disk is not None:
        return Outline(body.disk.radius_m, ())
    if body.box is not None:
        return _rectangle(*body.box.size_m)
    assert body.polygon is not None
    corners = list(body.polygon.corners_m)
    if signed_area(corners) < 0:
        corners = corners[::-1]
    if len(corners) < 3 or not is_convex(corners) or signed_area(corners) < 1e-12:
        raise UserError(f"the body of kind '{settings.name}' must be a convex polygon with an area")
    return Outline(max(math.hypot(x, y) for x, y in corners), tuple(corners))


def _rectangle(length: float, width: float) -> Outline:
    x, y = length / 2, width / 2
    return Outline(math.hypot(x, y), ((-x, -y), (x, -y), (x, y), (-x, y)))


class ShapeTable:
    """Collects outlines; equal ones are kept once."""

    def __init__(self) -> None:
        self._known: dict[tuple[Point, ...], int] = {}

    def number(self, outline: Outline) -> int:
        """The number of an outline's polygon; `ROUND` for a disk."""
        if not outline.corners:
            return ROUND
        return self._known.setdefault(outline.corners, len(self._known))

    def table(self) -> Shapes:
        """All polygons collected."""
        counts = [len(corners) for corners in self._known]
        flat = [corner for corners in self._known for corner in corners]
        sides = [side for corners in self._known for side in _sides(corners)]
        return Shapes(
            np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
            np.array(flat, dtype=np.float64).reshape(-1, 2),
            np.array(sides, dtype=np.float64).reshape(-1, 3),
        )


def _sides(corners: tuple[Point, ...]) -> list[tuple[float, float, float]]:
    around = zip(corners, corners[1:] + corners[:1], strict=True)
    return [(by - ay, ax - bx, (by - ay) * ax + (ax - bx) * ay) for (ax, ay), (bx, by) in around]
