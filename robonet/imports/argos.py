"""ARGoS experiments: the arena, its things and lights, robots and engines become a scenario."""

import math
import os
from pathlib import Path
from typing import Any

from robonet.errors import UserError
from robonet.imports.argos_places import heading_of, place_of, pose_of, upright_pose, vector, yes
from robonet.imports.argos_robots import (
    FLYING,
    KINDS,
    Behaviour,
    behaviour_of,
    joined,
    own_devices,
    region_of,
)
from robonet.imports.outlines import convex_outline, inside
from robonet.imports.parts import SMALLEST, Imported, Part, without_repeats
from robonet.imports.scenario_text import Names, Note, common_stem, scenario_text
from robonet.imports.xml_parts import read_xml

ENDLESS_S = 600.0
MOST_TICKS = 1e6
GROUND_ENGINES = ("dynamics2d", "dynamics3d")
ENGINES = (*GROUND_ENGINES, "pointmass3d")
OTHERWISE = "there is nothing like it in robonet"
_IMPLICIT = "implicit: it is there wherever robots carry the device"
_DISPLAY = "only for display"
REASONS = {
    **dict.fromkeys(("visualization", "show_rays", "debug"), _DISPLAY),
    **dict.fromkeys(("range_and_bearing", "led", "directional_led", "radio"), _IMPLICIT),
    **dict.fromkeys(("positional_index", "positional_grid_size", "index", "grid_size", "spatial_hash"), "no tuning"),
    **dict.fromkeys(("factor_avg", "bias_avg", "bias_stddev", "noise_level", "noise_std_dev"), "set the noise by hand"),
    **dict.fromkeys(("top", "bottom", "elevation"), "regions have no height"),
    "loop_functions": "a program for ARGoS: write a hook in Python and name it under `hooks`",
    "params": "for a program that is not taken over",
    "profiling": "use a profiler for Python",
    "color": "lights are white",
    "leds": "only objects have a light: set `color` by hand",
    "friction": "set `friction` of objects by hand",
    "floor": 'only a floor with source="image" is taken over',
    "method": "threads have one method",
    "real_time": "pace is chosen on the command line: --realtime",
}


def import_argos(path: Path, folder: Path | None = None) -> Imported:
    """A scenario from an ARGoS file; names of pictures in it start from `folder`, the file's own by default."""
    root = read_xml(path, "argos-configuration")
    data = _Importer(root, path, folder or path.parent).scenario()
    unmapped = without_repeats(root.unmapped(REASONS, OTHERWISE), [str(path)])
    return Imported(scenario_text(data, f"{path.name}, an experiment of ARGoS,", unmapped), unmapped)


class _Importer:
    def __init__(self, root: Part, path: Path, folder: Path) -> None:
        self._root, self._path, self._folder = root, path, folder
        self._names = Names()
        self._behaviours: dict[str, Behaviour] = {}
        self._obstacles: list[dict[str, Any]] = []
        self._objects: list[dict[str, Any]] = []
        self._lights: list[dict[str, Any]] = []
        self._floor: dict[str, Any] = {}
        self._robots: list[dict[str, Any]] = []
        self._singles: dict[str, list[tuple[str, list[float]]]] = {}
        """Robots that stand alone, by what they have in common: names and poses."""
        self._common: dict[str, dict[str, Any]] = {}

    def scenario(self) -> dict[str, Any]:
        """Everything that maps, in the words of scenarios."""
        head = self._head()
        controllers = self._root.take_part("controllers")
        for controller in controllers.parts if controllers is not None else ():
            self._behaviours[str(controller.take("id", ""))] = behaviour_of(controller)
        arena = self._root.take_part("arena")
        if arena is None:
            raise UserError(f"{self._path}:{self._root.line}: there is no <arena> in it")
        size, center = vector(arena, "size", 3), vector(arena, "center", 3, (0.0, 0.0, 0.0))
        if min(size[:2]) < SMALLEST:
            raise arena.wrong("must be above 0", "size")
        for entity in arena.parts:
            self._add(entity)
        self._group_singles()
        if not self._robots:
            arena.remark("no robots", f"none of {', '.join(KINDS)} are in it: add `robots` by hand")
        engines = self._engines()
        media = self._root.take_part("media")
        for medium in media.parts if media is not None else ():
            medium.leave_all(_IMPLICIT)
        world: dict[str, Any] = {"size_m": list(size[:2]), "center_m": list(center[:2])}
        world["walls"] = Note(False, "in ARGoS, walls are boxes")
        found = {"obstacles": self._obstacles, "floor": self._floor, "lights": self._lights}
        world.update({key: value for key, value in found.items() if value})
        rest = {"objects": self._objects, "robots": self._robots}
        return {**head, **engines, "arena": world, **{key: value for key, value in rest.items() if value}}

    def _head(self) -> dict[str, Any]:
        framework = self._root.take_part("framework")
        experiment = framework.take_part("experiment") if framework is not None else None
        if framework is None or experiment is None:
            raise UserError(f"{self._path}:{self._root.line}: there is no <experiment> in a <framework>")
        ticks = experiment.positive("ticks_per_second", 10.0)
        if ticks > MOST_TICKS:
            raise experiment.wrong("a step is a microsecond at least", "ticks_per_second")
        length_s = experiment.number("length", 0.0)
        seed: Any = experiment.whole("random_seed", 0)
        steps = max(1, math.ceil((length_s if length_s > 0 else ENDLESS_S) * ticks - 1e-9))
        duration: Any = round(steps / ticks, 9)
        if length_s <= 0:
            duration = Note(duration, "the experiment has no end: choose how long")
        if seed <= 0:
            seed = Note(1, "in ARGoS, from the clock")
        system = framework.take_part("system")
        threads = system.whole("threads", 0) if system is not None else 0
        name = Names().fresh(self._path.stem, "experiment")
        head = {"robonet": 1, "name": name, "seed": seed, "duration_s": duration, "step_s": round(1 / ticks, 9)}
        return {**head, "threads": min(threads, 256)} if threads > 1 else head

    # --- what stands in the arena

    def _add(self, entity: Part) -> None:
        if entity.kind in KINDS:
            self._add_robot(entity.opened())
        elif entity.kind in ("box", "cylinder"):
            self._add_thing(entity.opened())
        elif entity.kind == "light":
            x, y, z, _ = upright_pose(entity.opened())
            entity.take("id")
            entity.take("medium")
            lamp = {"at_m": [x, y], "height_m": max(z, 0.0), "intensity": entity.positive("intensity", 1.0)}
            self._lights.append(lamp)
        elif entity.kind == "distribute":
            self._distribute(entity.opened())
        elif entity.kind == "floor" and "path" in entity.values:
            entity.opened().take("id")
            entity.take("source")
            picture = self._path.parent / str(entity.take("path"))
            self._floor = {"image": os.path.relpath(picture, self._folder).replace(os.sep, "/")}
            if not picture.is_file():
                entity.leave("path", f"there is no file {picture}: put it there")

    def _shape(self, thing: Part) -> tuple[dict[str, Any], float]:
        """`box` or `cylinder` of an object, and its height."""
        if thing.kind == "cylinder":
            return {"cylinder": {"radius_m": thing.positive("radius", 0.1)}}, thing.positive("height", 0.2)
        width, depth, height = vector(thing, "size", 3)
        if min(width, depth, height) < SMALLEST:
            raise thing.wrong("must be above 0", "size")
        return {"box": {"size_m": [width, depth]}}, height

    def _object(self, thing: Part) -> dict[str, Any]:
        shape, height = self._shape(thing)
        found = {**shape, "height_m": height}
        if "mass" in thing.values:
            found["mass_kg"] = thing.positive("mass", 1.0)
        return {**found, "movable": yes(thing, "movable", False)}

    def _add_thing(self, thing: Part) -> None:
        x, y, z, heading = pose_of(thing)
        if z > 0:
            thing.remark(f"{z:g} m above the floor", "things stand on the floor")
        name = str(thing.take("id", thing.kind))
        if yes(thing, "movable", False):
            found = {"name": self._names.fresh(name, "thing"), **self._object(thing)}
            self._objects.append({**found, "place": {"poses": [[x, y, heading]]}})
            return
        shape, _ = self._shape(thing)
        thing.take("mass")
        if "cylinder" in shape:
            self._obstacles.append({"circle": {"center_m": [x, y], **shape["cylinder"]}})
        else:
            turned = {"angle_deg": heading} if heading else {}
            self._obstacles.append({"box": {"center_m": [x, y], **shape["box"], **turned}})

    def _distribute(self, part: Part) -> None:
        position, orientation, entity = (part.take_part(kind) for kind in ("position", "orientation", "entity"))
        if position is None or entity is None:
            raise part.wrong("a <position> and an <entity> are expected in it")
        count, trials = entity.whole("quantity", 1), max(1, entity.whole("max_trials", 1))
        if not 1 <= count <= 1_000_000:
            raise entity.wrong("1 to 1,000,000 are expected", "quantity")
        what = next(iter(entity.parts), None)
        if what is None or what.kind not in (*KINDS, "box", "cylinder"):
            part.leave_all(f"robonet has no {what.kind if what is not None else 'such thing'}")
            return
        place, height_m = place_of(position, count, trials)
        name = str(what.opened().take("id", what.kind)) + ("0" if count == 1 else "")
        group: dict[str, Any] = {"name": self._names.fresh(name, "group", is_group=count > 1)}
        placed = {"count": count, "place": place, "heading_deg": heading_of(orientation)}
        if what.kind in KINDS:
            if height_m > 0:
                position.remark(f"{height_m:g} m above the floor", "robots start on the floor, or at their flies_at_m")
            self._robots.append({**group, **self._robot(what), **placed})
        else:
            self._objects.append({**group, **self._object(what), **placed})

    # --- robots

    def _robot(self, robot: Part) -> dict[str, Any]:
        """What a group says about its robots, beside where they are."""
        found: dict[str, Any] = {"kind": robot.kind}
        controller = robot.take_part("controller")
        config = str(controller.take("config", "")) if controller is not None else ""
        if controller is not None and config not in self._behaviours:
            raise controller.wrong("there is no controller with this id", "config")
        behaviour = self._behaviours.get(config, Behaviour({}, {}))
        found.update(behaviour.controller)
        if devices := joined(behaviour.devices, own_devices(robot)):
            found["devices"] = devices
        return found

    def _add_robot(self, robot: Part) -> None:
        x, y, z, heading = pose_of(robot)
        if z > 0:
            robot.remark(f"{z:g} m above the floor", "robots start on the floor, or at their flies_at_m")
        common = self._robot(robot)
        self._common[repr(common)] = common
        self._singles.setdefault(repr(common), []).append((str(robot.take("id", robot.kind)), [x, y, heading]))

    def _group_singles(self) -> None:
        """Robots that stand alone: one group if they are numbered from 0, else one each."""
        for key, members in self._singles.items():
            if (stem := common_stem([name for name, _ in members])) is not None:
                name, poses = self._names.fresh(stem, "group", is_group=True), [pose for _, pose in members]
                placed = {"count": len(poses), "place": {"poses": poses}}
                self._robots.append({"name": name, **self._common[key], **placed})
                continue
            for name, pose in members:
                group = {"name": self._names.fresh(name, "robot"), **self._common[key]}
                self._robots.append({**group, "place": {"poses": [pose]}})

    # --- engines

    def _engines(self) -> dict[str, Any]:
        """One engine by its name, several as a list with regions, whose common sides are gates."""
        section = self._root.take_part("physics_engines")
        known = [part.opened() for part in section.parts if part.kind in ENGINES] if section is not None else []
        ground = [part for part in known if part.kind in GROUND_ENGINES]
        regions = {id(part): convex_outline(region_of(part)) if region_of(part) else [] for part in known}
        iterations = {id(part): part.whole("iterations", 10) for part in known}
        names = Names()
        ids = {id(part): names.fresh(str(part.take("id", part.kind)), "engine") for part in known}
        if len(ground) <= 1 and all(iterations[id(part)] == 10 and not regions[id(part)] for part in ground):
            for part in known:
                if iterations[id(part)] != 10:
                    part.leave("iterations", "give it under `engines` if it matters")
            return {"engine": ground[0].kind} if ground else {}
        found = []
        for part in known:
            engine: dict[str, Any] = {"name": ids[id(part)], "engine": part.kind}
            if iterations[id(part)] != 10:
                engine["iterations"] = iterations[id(part)]
            if corners := regions[id(part)]:
                engine["region"] = {"corners_m": [list(corner) for corner in corners]}
                others = [(ids[id(other)], regions[id(other)]) for other in known if other is not part]
                engine["sides"] = _sides(part, corners, others)
            found.append(engine)
        if not any(regions.values()):
            self._assign(ground, known, ids)
        return {"engines": found}

    def _assign(self, ground: list[Part], known: list[Part], ids: dict[int, str]) -> None:
        """Without regions, say who moves whom."""
        flying = [part for part in known if part not in ground]
        for group in self._robots:
            mine = flying if group["kind"] in FLYING and flying else ground
            group["engine"] = ids[id(mine[0])]


def _sides(engine: Part, corners: list[tuple[float, float]], others: list[tuple[str, Any]]) -> list[Any]:
    """A gate where another region begins behind the middle of a side, else a wall."""
    sides: list[Any] = []
    for (ax, ay), (bx, by) in zip(corners, corners[1:] + corners[:1], strict=True):
        middle = ((ax + bx) / 2, (ay + by) / 2)
        beyond = [name for name, outline in others if outline and inside(outline, middle, 1e-6)]
        sides.append({"gate": beyond[0]} if beyond else "wall")
        if len(beyond) > 1:
            engine.remark(f"a side to {', '.join(beyond)}", f"a side leads to one engine: {beyond[0]}")
    if "wall" in sides:
        engine.remark("sides with nothing behind", "in ARGoS, robots that cross them end the run; here they are walls")
    return sides
