"""Stage worldfiles: floor plans, solid models and robots become a scenario."""

import json
import math
import os
from pathlib import Path
from typing import Any

from robonet.imports.outlines import Outline, area, extent, moved, rectangle, round_radius
from robonet.imports.parts import SMALLEST, Imported, Part, without_repeats
from robonet.imports.scenario_text import Names, Note, common_stem, scenario_text
from robonet.imports.stage_models import Units, kind_of, outlines_of
from robonet.imports.worldfile import read_worldfile

ENDLESS_S = 600.0
"""How long to simulate what runs for ever in the original."""
SHORTEST_STEP_S = 1e-6
MARGIN_M = 1.0
"""Around everything, where there is no floor plan."""
BORDER_M = 0.01
"""How thick Stage makes the boundary of a model."""

OTHERWISE = "there is nothing like it in robonet"
_DISPLAY = "only for display"
_POWER = "energy is set by hand: devices.battery of a kind"
_SEEN = "what sensors see of a thing cannot be set"
REASONS = {
    **dict.fromkeys(("color", "color_rgba", "window", "say", "show_clock", "show_clock_interval"), _DISPLAY),
    **dict.fromkeys(("gui_nose", "gui_grid", "gui_move", "gui_outline", "trail_length", "trail_interval"), _DISPLAY),
    **dict.fromkeys(("gui_interval", "gui_disable", "confirm_on_quit", "alwayson", "debug"), _DISPLAY),
    **dict.fromkeys(("joules", "joules_capacity", "kjoules", "kjoules_capacity"), _POWER),
    **dict.fromkeys(("watts", "give_watts", "take_watts"), _POWER),
    **dict.fromkeys(("ranger_return", "laser_return", "blob_return", "fiducial_return", "gripper_return"), _SEEN),
    **dict.fromkeys(("speedup", "paused", "interval_real"), "pace is chosen on the command line: --realtime"),
    **dict.fromkeys(("resolution", "map_resolution"), "outlines are exact, there is no grid"),
    "ctrl": "a program for Stage: write a controller in Python and name it under `robots`",
    "fiducial": "there is no fiducial finder; range_and_bearing is the nearest",
    "camera": "there is no camera that makes pictures",
    "localization_origin": "positioning speaks of the arena's coordinates",
    "acceleration_bounds": "drives reach their speed at once",
    "block": "only the outline of the robot itself is solid",
    "obstacle_return": "what sensors see is solid too",
}


def import_world(path: Path, folder: Path | None = None) -> Imported:
    """A scenario from a Stage worldfile; names of pictures in it start from `folder`, the world's own by default."""
    world, files = read_worldfile(path)
    importer = _Importer(world, path, folder or path.parent)
    data = importer.scenario()
    unmapped = without_repeats(world.unmapped(REASONS, OTHERWISE), files)
    return Imported(scenario_text(data, f"{path.name}, a world of Stage,", unmapped), unmapped)


class _Importer:
    def __init__(self, world: Part, path: Path, folder: Path) -> None:
        self._world, self._path, self._folder = world, path, folder
        self._units = Units(*self._read_units())
        self._names = Names()
        self._kind_names = Names()
        self._obstacles: list[dict[str, Any]] = []
        self._objects: list[dict[str, Any]] = []
        self._robots: list[Part] = []
        self._corners: Outline = []
        """Of everything solid, and the places of robots: what the arena must hold."""

    def _read_units(self) -> tuple[float, float]:
        lengths, angles = {"m": 1.0, "cm": 0.01, "mm": 0.001}, {"degrees": 1.0, "radians": math.degrees(1.0)}
        length, angle = self._world.take("unit_length", "m"), self._world.take("unit_angle", "degrees")
        for name, value, known in (("unit_length", length, lengths), ("unit_angle", angle, angles)):
            if value not in known:
                raise self._world.wrong(f"{' or '.join(known)} is expected", name)
        return lengths[length], angles[angle]

    def scenario(self) -> dict[str, Any]:
        """Everything that maps, in the words of scenarios."""
        head = self._head()
        plans = [part for part in self._world.parts if part.kind in ("model", "map") and "bitmap" in part.values]
        plan = max(plans, key=self._floor_area, default=None)
        for part in self._world.parts:
            if part.kind == "position":
                if part.number("obstacle_return", 1.0) == 0:
                    part.leave("obstacle_return", "robots are solid")
                self._robots.append(part.opened())
                self._corners.append(self._units.pose(part)[:2])
            elif part.kind in ("model", "map") and part is not plan:
                self._add_model(part, (0.0, 0.0, 0.0))
        arena = self._arena(plan)
        kinds, robots = self._kinds_and_robots()
        if not robots:
            self._world.remark("no robots", "there are no position models in it: add `robots` by hand")
        found = {**head, "arena": arena, "kinds": kinds, "robots": robots, "objects": self._objects}
        return {key: value for key, value in found.items() if value not in ([], {})}

    def _head(self) -> dict[str, Any]:
        world = self._world
        step_s = world.positive("interval_sim", 100.0) / 1000.0
        if step_s < SHORTEST_STEP_S:
            raise world.wrong("a step is a microsecond at least", "interval_sim")
        wanted_s = world.number("quit_time", 0.0)
        steps = max(1, math.ceil((wanted_s if wanted_s > 0 else ENDLESS_S) / step_s - 1e-9))
        duration: Any = round(steps * step_s, 9)
        if wanted_s <= 0:
            duration = Note(duration, "the world has no quit_time: choose how long")
        name = Names().fresh(str(world.take("name", self._path.stem)), "world")
        head = {"robonet": 1, "name": name, "duration_s": duration, "step_s": step_s}
        threads = min(256, max(1, world.whole("threads", 1)))
        return head if threads == 1 else {**head, "threads": threads}

    # --- the arena

    def _floor_area(self, part: Part) -> float:
        width, depth, _ = self._units.size(part)
        return width * depth

    def _arena(self, plan: Part | None) -> dict[str, Any]:
        if plan is None:
            left, bottom, right, top = extent(self._corners or [(0.0, 0.0)])
            center, size = [(left + right) / 2, (bottom + top) / 2], [right - left, top - bottom]
            size = [extent_m + 2 * MARGIN_M for extent_m in size]
            note = Note(size, "the world has no floor plan: all that is in it, and a margin")
            return {"size_m": note, "center_m": center, "walls": False, **self._with_obstacles()}
        plan.opened()
        width, depth, _ = self._units.size(plan)
        x, y, _, angle = self._units.pose(plan)
        if abs(math.remainder(angle, 360.0)) > 1e-9:
            self._add_boxes(plan, (x, y, angle))
            bitmap: dict[str, Any] = {}
        else:
            bitmap = {"bitmap": self._bitmap(plan, (x, y), (width, depth))}
        outline = moved(rectangle(width, depth), x, y, angle)
        has_border = bool(plan.number("boundary", 0.0))
        left, bottom, right, top = extent(outline)
        around = extent(outline + self._corners)
        holds_all = around == (left, bottom, right, top)
        is_border = has_border and holds_all and bool(bitmap)
        if has_border and not is_border:
            self._add_border(width, depth, (x, y, angle))
        left, bottom, right, top = around
        size, center = [right - left, top - bottom], [(left + right) / 2, (bottom + top) / 2]
        for part in plan.parts:
            self._add_model(part, (x, y, angle))
        plan.take("name")
        return {"size_m": size, "center_m": center, "walls": is_border, **bitmap, **self._with_obstacles()}

    def _with_obstacles(self) -> dict[str, Any]:
        return {"obstacles": self._obstacles} if self._obstacles else {}

    def _picture(self, part: Part) -> Path:
        name = part.take("bitmap")
        if not isinstance(name, str) or not name:
            raise part.wrong("the name of a picture is expected", "bitmap")
        return self._path.parent / name

    def _bitmap(self, plan: Part, center: tuple[float, float], size: tuple[float, float]) -> dict[str, Any]:
        picture = self._picture(plan)
        center, size = self._spread(plan, picture, center, size)
        file = os.path.relpath(picture, self._folder).replace(os.sep, "/")
        return {"file": file, "size_m": list(size), "center_m": list(center)}

    def _spread(
        self, part: Part, picture: Path, center: tuple[float, float], size: tuple[float, float]
    ) -> tuple[tuple[float, float], tuple[float, float]]:
        """Stage stretches the dark pixels, not the picture, over a model's size: where the picture is then."""
        from robonet.scenario.bitmap import occupied_cells

        if not picture.is_file():
            part.leave("bitmap", f"there is no file {picture}: put it there")
            return center, size
        cells = occupied_cells(picture)
        columns, rows = cells.any(axis=0).nonzero()[0], cells.any(axis=1).nonzero()[0]
        spans = ((columns[0], columns[-1] + 1, cells.shape[1]), (rows[0], rows[-1] + 1, cells.shape[0]))
        places, sizes = [], []
        for (first, last, count), middle, length in zip(spans, center, size, strict=True):
            pixel = length / float(last - first)
            sizes.append(pixel * float(count))
            places.append(middle + pixel * (float(count) - float(first + last)) / 2)
        return (places[0], places[1]), (sizes[0], sizes[1])

    # --- things that stand there

    def _add_model(self, part: Part, frame: tuple[float, float, float]) -> None:
        """A model and those in it, unless nothing can touch or see it."""
        if part.kind == "block":
            return
        if part.kind not in ("model", "map"):
            part.leave_all("only models are looked for here")
            return
        is_solid = part.number("obstacle_return", 1.0) != 0
        is_seen = part.number("ranger_return", 1.0) >= 0
        if not is_solid and not is_seen:
            part.leave_all("neither solid nor seen by rangers: a mark on the floor")
            return
        part.opened()
        if not is_solid:
            part.leave("obstacle_return", REASONS["obstacle_return"])
        x, y, _, angle = self._units.pose(part)
        ((x, y),) = moved([(x, y)], *frame)
        here = (x, y, frame[2] + angle)
        part.take("name")
        if "bitmap" in part.values:
            self._add_boxes(part, here)
            if part.number("boundary", 0.0):
                width, depth, _ = self._units.size(part)
                self._add_border(width, depth, here)
        elif part.number("gripper_return", 0.0):
            self._add_object(part, here)
        else:
            for outline in outlines_of(part, self._units):
                self._add_outline(part, outline, here)
        for below in part.parts:
            self._add_model(below, here)

    def _add_outline(self, part: Part, outline: Outline, here: tuple[float, float, float]) -> None:
        placed = moved(outline, *here)
        if area(outline) < SMALLEST**2:
            raise part.wrong("a block has no area")
        if (radius := round_radius(outline)) is not None:
            self._obstacles.append({"circle": {"center_m": list(here[:2]), "radius_m": radius}})
        elif len(outline) == 4 and not part.values.get("origin") and not any(p.kind == "block" for p in part.parts):
            width, depth, _ = self._units.size(part)
            self._obstacles.append(_box(here, width, depth))
        else:
            self._obstacles.append({"polygon": {"corners_m": [list(point) for point in placed]}})
        self._corners += placed

    def _add_boxes(self, part: Part, here: tuple[float, float, float]) -> None:
        """A picture that is not the floor plan: its dark parts as boxes."""
        from robonet.scenario.bitmap import boxes

        picture = self._picture(part)
        width, depth, _ = self._units.size(part)
        if not picture.is_file():
            part.leave("bitmap", f"there is no file {picture}")
            return
        center, size = self._spread(part, picture, (0.0, 0.0), (width, depth))
        for x, y, box_width, box_depth in boxes(picture, size, center):
            ((box_x, box_y),) = moved([(x, y)], *here)
            self._obstacles.append(_box((box_x, box_y, here[2]), box_width, box_depth))
        self._corners += moved(rectangle(width, depth), *here)

    def _add_border(self, width: float, depth: float, here: tuple[float, float, float]) -> None:
        for x, y, box_width, box_depth in (
            (0.0, (BORDER_M - depth) / 2, width, BORDER_M),
            (0.0, (depth - BORDER_M) / 2, width, BORDER_M),
            ((BORDER_M - width) / 2, 0.0, BORDER_M, depth),
            ((width - BORDER_M) / 2, 0.0, BORDER_M, depth),
        ):
            ((box_x, box_y),) = moved([(x, y)], *here)
            self._obstacles.append(_box((box_x, box_y, here[2]), box_width, box_depth))

    def _add_object(self, part: Part, here: tuple[float, float, float]) -> None:
        width, depth, height = self._units.size(part)
        thing: dict[str, Any] = {"box": {"size_m": [width, depth]}, "height_m": height}
        if (mass := part.number("mass", 0.0)) >= SMALLEST:
            thing["mass_kg"] = mass
        outlines_of(part, self._units)
        if any(below.kind == "block" for below in part.parts):
            part.remark("its blocks", "things that can be gripped are boxes here")
        alike = next((one for one in self._objects if {key: one.get(key) for key in thing} == thing), None)
        if alike is None:
            name = self._names.fresh(part.title, "thing", is_group=True)
            alike = {"name": name, **thing, "movable": True, "count": 0, "place": {"poses": []}}
            self._objects.append(alike)
        alike["count"] += 1
        alike["place"]["poses"].append(_rounded(here))
        self._corners.append(here[:2])

    # --- robots

    def _kinds_and_robots(self) -> tuple[list[Any], list[Any]]:
        groups: dict[str, list[Part]] = {}
        for robot in self._robots:
            groups.setdefault(json.dumps(kind_of(robot, self._units)), []).append(robot)
        kinds, robots = [], []
        for text, members in groups.items():
            shared = [name for name in members[0].names if all(name in robot.names for robot in members)]
            kind = self._kind_names.fresh(shared[0] if shared else "robot", "robot")
            name, note = self._group_name(members, kind)
            kinds.append({"name": _own(kind), **json.loads(text)})
            group: dict[str, Any] = {"name": Note(name, note) if note else name, "kind": _own(kind)}
            if len(members) > 1:
                group["count"] = len(members)
            group["place"] = {"poses": [self._pose(robot) for robot in members]}
            robots.append(group)
        return kinds, robots

    def _group_name(self, members: list[Part], kind: str) -> tuple[str, str]:
        given = [str(robot.take("name", "")) for robot in members]
        if len(members) == 1:
            return self._names.fresh(given[0] or kind, "robot"), ""
        if (stem := common_stem(given)) is not None:
            return self._names.fresh(stem, "robot", is_group=True), ""
        note = "in Stage: " + ", ".join(name or "?" for name in given) if any(given) else ""
        return self._names.fresh(kind, "robot", is_group=True), note[:200]

    def _pose(self, robot: Part) -> list[float]:
        x, y, z, heading = self._units.pose(robot)
        if z != 0:
            robot.leave("pose", f"robots stand on the floor, not at {z:g} m")
        return _rounded((x, y, heading))


def _own(kind: str) -> str:
    """A name for a kind that is not one of those that come with robonet."""
    from robonet.plugins import FAMILIES

    return f"{kind}_of_stage" if kind in FAMILIES["robots"] else kind


def _box(here: tuple[float, float, float], width: float, depth: float) -> dict[str, Any]:
    box: dict[str, Any] = {"center_m": _rounded(here[:2]), "size_m": _rounded((width, depth))}
    angle = math.remainder(here[2], 360.0)
    return {"box": {**box, "angle_deg": round(angle, 9)} if abs(angle) > 1e-9 else box}


def _rounded(numbers: tuple[float, ...]) -> list[float]:
    return [round(number, 9) for number in numbers]
