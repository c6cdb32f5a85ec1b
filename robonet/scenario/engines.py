"""Who moves whom: engines, their regions, and what the sides of a region do."""

from typing import Annotated, Literal

from pydantic import Field

from robonet.scenario.sections import Choice, Name, Params, Point, Positive, Section


class Area(Section):
    """A rectangle."""

    center_m: Point
    """Where its centre is."""
    size_m: tuple[Positive, Positive]
    """Its extent along x and y."""


class Region(Choice):
    """The part of the floor that an engine owns."""

    box: Area | None = None
    """A rectangle; its sides in order are south, east, north and west."""
    corners_m: Annotated[tuple[Point, ...], Field(min_length=3)] | None = None
    """A convex polygon, counter-clockwise; its first side goes from the first corner to the second."""

    def corners(self) -> tuple[Point, ...]:
        """The corners, counter-clockwise."""
        if self.corners_m is not None:
            return self.corners_m
        assert self.box is not None
        (x, y), (width, height) = self.box.center_m, self.box.size_m
        left, right, bottom, top = x - width / 2, x + width / 2, y - height / 2, y + height / 2
        return (left, bottom), (right, bottom), (right, top), (left, top)


class Gate(Section):
    """A side that robots cross; whoever is behind it belongs to another engine."""

    gate: Name
    """Name of that engine."""


Side = Literal["wall"] | Gate


class EngineSection(Section):
    """One engine and the part of the world that it owns."""

    name: Name
    """How gates and groups name it."""
    engine: str = "kinematics2d"
    """Which engine (`robonet list engines`)."""
    region: Region | None = None
    """What it owns; everything by default."""
    sides: tuple[Side, ...] = ()
    """What each side of the region does, in order: `wall`, or `{gate: other}`; all are walls by default."""
    iterations: Annotated[int, Field(ge=1, le=1000)] = 10
    """Into how many parts engines with dynamics cut a step."""
    params: Params = {}
    """Settings of an engine of your own."""
