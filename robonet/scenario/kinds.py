"""Robots as compositions: a body, and the devices that it carries; shipped ones are files beside this one."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from robonet.scenario.devices import Devices
from robonet.scenario.sections import Choice, Name, NonNegative, Point, Positive, Section, as_tuples

SHIPPED = Path(__file__).parent / "robots"


class DiskBody(Section):
    """A round body."""

    radius_m: Positive
    """Its radius."""


class BoxBody(Section):
    """A rectangular body."""

    size_m: tuple[Positive, Positive]
    """Its extent forward and sideways."""


class PolygonBody(Section):
    """A convex body with corners."""

    corners_m: tuple[Point, ...]
    """The corners, forward and to the left of the centre, in order around the body."""


class Body(Choice):
    """The outline of a robot, seen from above."""

    disk: DiskBody | None = None
    """Round."""
    box: BoxBody | None = None
    """A rectangle."""
    polygon: PolygonBody | None = None
    """Any convex outline."""


class Kind(Section):
    """A robot to be named in `robots`."""

    name: Name
    """How groups name it."""
    like: str | None = None
    """Another kind that this one starts from; what is said here is changed or added."""
    description: str = ""
    """What it is, in one line."""
    body: Body = Body(disk=DiskBody(radius_m=0.1))
    """Its outline."""
    height_m: Positive = 0.15
    """Its height."""
    mass_kg: Positive = 1.0
    """Its mass."""
    flies_at_m: NonNegative = 0.0
    """Height of the underside at the start, for robots that fly."""
    devices: Devices = Devices()
    """What it carries."""


@cache
def shipped_kinds() -> dict[str, Kind]:
    """All robots that come with robonet, by name."""
    found = {}
    for path in sorted(SHIPPED.glob("*.yaml")):
        kind = Kind.model_validate(as_tuples(yaml.safe_load(path.read_text(encoding="utf-8"))))
        found[kind.name] = kind
    return found


def resolved_kinds(own: tuple[Kind, ...]) -> dict[str, Kind]:
    """Shipped and own kinds by name; `like` is followed, unknown or circular ones are left as they are written."""
    written = {**shipped_kinds(), **{kind.name: kind for kind in own}}
    done: dict[str, Kind] = {}

    def resolve(name: str, under_way: tuple[str, ...]) -> Kind:
        if name in done:
            return done[name]
        kind = written[name]
        if kind.like is not None and kind.like in written and kind.like not in (*under_way, name):
            base = resolve(kind.like, (*under_way, name))
            said = {key: getattr(kind, key) for key in kind.model_fields_set if key != "devices"}
            kind = base.model_copy(update={**said, "devices": with_changes(base.devices, kind.devices)})
        done[name] = kind
        return kind

    for name in written:
        resolve(name, ())
    return done


def with_changes(devices: Devices, changes: Devices) -> Devices:
    """The devices with what the changes say about each of them; new ones are added."""
    update: dict[str, Any] = {}
    for name in changes.model_fields_set:
        changed, before = getattr(changes, name), getattr(devices, name)
        if name == "custom":
            update[name] = {**before, **changed}
        elif before is None or changed is None:
            update[name] = changed
        else:
            said = {key: getattr(changed, key) for key in changed.model_fields_set}
            update[name] = before.model_copy(update=said)
    return devices.model_copy(update=update)
