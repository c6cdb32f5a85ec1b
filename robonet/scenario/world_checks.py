"""What types cannot say about robots, their devices, engines and the arena."""

import math
from pathlib import Path

from robonet.plugins import attributes_used, closest, problem_with
from robonet.scenario.arena import Objects, Place
from robonet.scenario.devices import COMPONENTS, Devices
from robonet.scenario.engines import EngineSection, Gate
from robonet.scenario.kinds import Kind, resolved_kinds, shipped_kinds, with_changes
from robonet.scenario.problems import Problem, Steps
from robonet.scenario.schema import Robots, Scenario
from robonet.scenario.sections import Point


def problems_with_world(scenario: Scenario, base: Path) -> list[Problem]:
    """Everything wrong with the world and who is in it."""
    found: list[Problem] = []
    _check_kinds(scenario, base, found)
    _check_engines(scenario, base, found)
    _check_arena(scenario, base, found)
    for index, things in enumerate(scenario.objects):
        _check_objects(things, ("objects", index), found)
        check_place(things, ("objects", index, "place"), scenario, found)
    for index, group in enumerate(scenario.robots):
        if group.members == 0:
            found.append(Problem(("robots", index, "count"), "there is nobody in the group: raise count or reserve"))
        check_place(group, ("robots", index, "place"), scenario, found)
    return found


# --- robots ----------------------------------------------------------------------------------------------


def _check_kinds(scenario: Scenario, base: Path, found: list[Problem]) -> None:
    own = [kind.name for kind in scenario.kinds]
    known = [*shipped_kinds(), *own]
    for index, kind in enumerate(scenario.kinds):
        steps: Steps = ("kinds", index)
        if known.count(kind.name) > 1:
            found.append(Problem((*steps, "name"), "the name is used twice, or is that of a shipped robot"))
        if kind.like is not None and kind.like not in known:
            found.append(Problem((*steps, "like"), _unknown_kind(kind.like, known), show_value=False))
        elif kind.like is not None and _is_circular(kind, scenario.kinds):
            found.append(Problem((*steps, "like"), "kinds are like each other in a circle", show_value=False))
        _check_body(kind, steps, found)
    kinds = resolved_kinds(scenario.kinds)
    for index, kind in enumerate(scenario.kinds):
        _check_devices(kinds[kind.name].devices, ("kinds", index, "devices"), base, found)
    for index, group in enumerate(scenario.robots):
        if group.kind not in kinds:
            text = _unknown_kind(group.kind, known)
            found.append(Problem(("robots", index, "kind"), text, show_value=False))
            continue
        kind = kinds[group.kind]
        carried = list(kind.devices.carried())
        for name in sorted(group.devices.model_fields_set - {"custom"}):
            if name not in carried:
                text = f"a {kind.name} carries no {name}; it carries: {', '.join(carried)}. Make a kind of your own"
                found.append(Problem(("robots", index, "devices", name), text, closest(name, carried), False))
        devices = with_changes(kind.devices, group.devices)
        _check_devices(devices, ("robots", index, "devices"), base, found)
        _check_controller(group, kind, devices, ("robots", index, "controller"), base, found)


def _unknown_kind(name: str, known: list[str]) -> str:
    return f"unknown robot '{name}'{closest(name, known)}; known: {', '.join(known)}"


def _is_circular(kind: Kind, kinds: tuple[Kind, ...]) -> bool:
    by_name = {other.name: other for other in kinds}
    seen = set()
    here: Kind | None = kind
    while here is not None and here.like is not None:
        if here.name in seen:
            return True
        seen.add(here.name)
        here = by_name.get(here.like)
    return False


def _check_body(kind: Kind, steps: Steps, found: list[Problem]) -> None:
    if kind.body.polygon is not None:
        problem = _outline_problem(kind.body.polygon.corners_m)
        if problem is None and not _is_convex(kind.body.polygon.corners_m):
            problem = "a body must be convex"
        if problem is not None:
            found.append(Problem((*steps, "body", "polygon", "corners_m"), problem, show_value=False))


def _check_devices(devices: Devices, steps: Steps, base: Path, found: list[Problem]) -> None:
    acting: dict[str, str] = {}
    for name in devices.carried():
        component = COMPONENTS.get(name)
        if component is None:
            continue
        if component in acting:
            text = f"{acting[component]} and {name} both act on the {component}: leave out one of the two"
            found.append(Problem((*steps, name), text, show_value=False))
        acting[component] = name
    for name, settings in devices.custom.items():
        if (problem := problem_with(settings.device, "devices", base)) is not None:
            found.append(Problem((*steps, "custom", name, "device"), problem, show_value=False))
        if name in Devices.model_fields:
            found.append(Problem((*steps, "custom", name), "is the name of a built-in device: choose another"))


def _check_controller(
    group: Robots, kind: Kind, devices: Devices, steps: Steps, base: Path, found: list[Problem]
) -> None:
    """A controller that plainly uses what its robot does not carry is refused before anything runs."""
    if group.controller is None:
        return
    carried = list(devices.carried())
    known = set(Devices.model_fields) - {"custom"}
    for name in sorted(attributes_used(group.controller, "controllers", base) & known - set(carried)):
        text = f"it uses self.{name}, which a {kind.name} does not carry; it carries: {', '.join(carried)}"
        found.append(Problem(steps, text, closest(name, carried)))


# --- engines ---------------------------------------------------------------------------------------------


def _check_engines(scenario: Scenario, base: Path, found: list[Problem]) -> None:
    names = [engine.name for engine in scenario.engines]
    if scenario.engines and "engine" in scenario.model_fields_set:
        found.append(Problem(("engine",), "give either engine or engines"))
    for index, engine in enumerate(scenario.engines):
        steps: Steps = ("engines", index)
        if names.count(engine.name) > 1:
            found.append(Problem((*steps, "name"), "the name is used twice"))
        if (problem := problem_with(engine.engine, "engines", base)) is not None:
            found.append(Problem((*steps, "engine"), problem, show_value=False))
        _check_region(engine, steps, names, found)
        _check_gates(engine, steps, scenario.engines, found)
    for index, group in enumerate(scenario.robots):
        if group.engine is not None and group.engine not in names:
            text = f"unknown engine '{group.engine}'{closest(group.engine, names)}; known: {', '.join(names) or 'none'}"
            found.append(Problem(("robots", index, "engine"), text, show_value=False))


def _check_region(engine: EngineSection, steps: Steps, names: list[str], found: list[Problem]) -> None:
    if engine.region is not None:
        corners = engine.region.corners()
        problem = _outline_problem(corners)
        if problem is None and (not _is_convex(corners) or _signed_area(corners) < 0):
            problem = "a region must be convex, with its corners counter-clockwise"
        if problem is not None:
            found.append(Problem((*steps, "region"), problem, show_value=False))
    count = len(engine.region.corners()) if engine.region is not None else 0
    if engine.sides and len(engine.sides) != count:
        text = f"has {len(engine.sides)} sides for a region of {count}"
        found.append(Problem((*steps, "sides"), text, show_value=False))
    for number, side in enumerate(engine.sides):
        if not isinstance(side, Gate):
            continue
        if side.gate not in names:
            text = f"a gate to an unknown engine '{side.gate}'{closest(side.gate, names)}; known: {', '.join(names)}"
            found.append(Problem((*steps, "sides", number, "gate"), text, show_value=False))
        elif side.gate == engine.name:
            found.append(Problem((*steps, "sides", number, "gate"), "a gate must lead to another engine"))


def _check_gates(engine: EngineSection, steps: Steps, engines: tuple[EngineSection, ...], found: list[Problem]) -> None:
    flying = {other.name for other in engines if other.engine == "pointmass3d"}
    for number, side in enumerate(engine.sides):
        if isinstance(side, Gate) and side.gate in flying and engine.engine not in ("pointmass3d", "dynamics3d"):
            text = f"'{side.gate}' is for what flies: nobody on the floor can go there"
            found.append(Problem((*steps, "sides", number, "gate"), text, show_value=False))


# --- the arena and what is in it -------------------------------------------------------------------------


def _check_arena(scenario: Scenario, base: Path, found: list[Problem]) -> None:
    arena = scenario.arena
    for index, obstacle in enumerate(arena.obstacles):
        if obstacle.polygon is not None and (problem := _outline_problem(obstacle.polygon.corners_m)) is not None:
            steps: Steps = ("arena", "obstacles", index, "polygon", "corners_m")
            found.append(Problem(steps, problem, show_value=False))
    for file, steps in (
        (arena.bitmap.file if arena.bitmap is not None else None, ("arena", "bitmap", "file")),
        (arena.floor.image, ("arena", "floor", "image")),
    ):
        if file is not None and not (base / file).is_file():
            found.append(Problem(steps, f"there is no file {base / file}", "", False))
    for index, patch in enumerate(arena.floor.patches):
        if (patch.size_m is None) == (patch.radius_m is None):
            found.append(Problem(("arena", "floor", "patches", index), "give size_m or radius_m", show_value=False))


def _check_objects(things: Objects, steps: Steps, found: list[Problem]) -> None:
    if (things.box is None) == (things.cylinder is None):
        found.append(Problem(steps, "give exactly one of box, cylinder", show_value=False))
    if things.members == 0:
        found.append(Problem((*steps, "count"), "there are none: raise count or reserve"))


def check_place(group: Robots | Objects, steps: Steps, scenario: Scenario, found: list[Problem]) -> None:
    """Points must be as many as robots, and in the arena."""
    low, high = scenario.arena.low_m, scenario.arena.high_m
    walls = scenario.arena.walls
    place: Place = group.place

    def inside(point: tuple[float, ...]) -> bool:
        return low[0] <= point[0] <= high[0] and low[1] <= point[1] <= high[1]

    area = f"the arena, which spans [{low[0]:g}, {low[1]:g}] to [{high[0]:g}, {high[1]:g}]"
    for key in ("at_m", "poses"):
        points: tuple[tuple[float, ...], ...] | None = getattr(place, key)
        if points is None:
            continue
        if len(points) != group.count:
            text = f"has {len(points)} points for {group.count} {'robots' if isinstance(group, Robots) else 'objects'}"
            found.append(Problem((*steps, key), text, show_value=False))
        for number, point in enumerate(points):
            if walls and not inside(point):
                found.append(Problem((*steps, key, number), f"lies outside {area}"))
    if place.uniform is not None and walls:
        center, size = place.uniform.center_m or scenario.arena.center_m, place.uniform.size_m or (0.0, 0.0)
        corners = [(center[0] + sign * size[0] / 2, center[1] + sign * size[1] / 2) for sign in (-1, 1)]
        if not all(inside(corner) for corner in corners):
            found.append(Problem((*steps, "uniform"), f"reaches outside {area}", "", False))


def _signed_area(corners: tuple[Point, ...]) -> float:
    return sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(corners, corners[1:] + corners[:1], strict=True))


def _outline_problem(corners: tuple[Point, ...]) -> str | None:
    if len(corners) < 3:
        return "an outline has three corners at least"
    if len(set(corners)) < len(corners):
        return "the same corner appears twice"
    if abs(_signed_area(corners)) < 1e-12:
        return "the outline has no area"
    return None


def _is_convex(corners: tuple[Point, ...]) -> bool:
    """Whether an outline turns one way only, and once around."""
    total = 0.0
    signs = set()
    for a, b, c in zip(corners, corners[1:] + corners[:1], corners[2:] + corners[:2], strict=True):
        one, two = (b[0] - a[0], b[1] - a[1]), (c[0] - b[0], c[1] - b[1])
        cross = one[0] * two[1] - one[1] * two[0]
        total += math.atan2(cross, one[0] * two[0] + one[1] * two[1])
        if abs(cross) > 1e-12:
            signs.add(cross > 0)
    return len(signs) == 1 and abs(abs(total) - 2 * math.pi) < 1e-6
