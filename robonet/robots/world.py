"""The state of everything that has a place, as arrays: one row a body, robots first, then stations, then objects."""

import math
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from robonet.clock import ns_from_s, s_from_ns
from robonet.errors import UserError
from robonet.plugins import closest
from robonet.robots.arena import all_obstacles, obstacle_arrays
from robonet.robots.devices import GroupDevices
from robonet.robots.facing import face
from robonet.robots.nearby import Nearby
from robonet.robots.reckoning import Reckoning
from robonet.robots.shapes import ROUND, ShapeTable, outline_of
from robonet.scenario.arena import Objects
from robonet.scenario.devices import FLYING, Clock, Devices, Positioning, RadioDevice
from robonet.scenario.engines import EngineSection
from robonet.scenario.kinds import Kind, resolved_kinds, with_changes
from robonet.scenario.schema import Robots, Scenario, Station
from robonet.space import Floats
from robonet.threads import Workers

OF_A_STATION = Devices(positioning=Positioning(), clock=Clock(), radio=RadioDevice())
NOBODY = -1
"""The owner of what no engine moves."""
PARKED_Z_M = -1e5
"""Where absent bodies are kept: so deep below the floor that no radio reaches anyone, and below each other."""
PARKED_GAP_M = 1e4


class Group(NamedTuple):
    """The rows of one group of robots, of one station, or of things of one sort."""

    settings: Robots | Station | Objects
    rows: slice
    kind: Kind | None
    """None for stations and objects."""
    devices: Devices
    """What its members carry."""

    @property
    def name(self) -> str:
        """The group's name."""
        return self.settings.name

    @property
    def flies(self) -> bool:
        """Whether its members leave the floor."""
        return any(getattr(self.devices, name) is not None for name in FLYING)

    def __len__(self) -> int:
        return int(self.rows.stop - self.rows.start)


def has_noisy_motors(group: Group) -> bool:
    """Whether a group's drive on the ground has errors of its own."""
    carried = group.devices
    return any(drive is not None and drive.noise for drive in (carried.wheels, carried.omni, carried.steering))


class RotorTargets(NamedTuple):
    """What flying robots are told."""

    mode: np.ndarray[Any, np.dtype[np.int8]]
    """0: nothing yet, 1: fly to a place, 2: fly with a velocity."""
    target: Floats
    """x, y, z and yaw, or their velocities, in the world's frame."""


class World:
    """Where everything is, what it is told to do, and what stands in the way."""

    def __init__(self, scenario: Scenario, base: Path = Path()) -> None:
        self.scenario = scenario
        self.base = base
        self.arena = scenario.arena
        self.seed = scenario.seed
        self.threads = Workers(scenario.threads)
        self.step_ns = ns_from_s(scenario.step_s)
        self.steps = ns_from_s(scenario.duration_s) // self.step_ns
        self.index = 0
        """Number of the step at hand."""
        self.edits = 0
        """How often bodies were added, moved or removed by hand."""
        self.before_physics: list[Callable[[], None]] = []
        """What devices do between control and motion."""
        self.after_physics: list[Callable[[], None]] = []
        """What media do when everyone has moved."""
        self.media: dict[str, Any] = {}
        """What the devices of all groups share, by name; whoever needs it first makes it."""
        self._list_groups()
        self.engines = self._list_engines()
        self._make_arrays()
        if any(has_noisy_motors(group) for group in self.groups):
            self.keep_intentions()
        self.solid = all_obstacles(self.arena, base)
        """What stands in the arena, the boxes of its bitmap included."""
        self.obstacles = obstacle_arrays(self.solid)
        self.nearby = Nearby(self)
        self.devices = {group.name: GroupDevices(self, group) for group in self.groups}
        """What each group carries, by the group's name."""

    # --- how it is made ----------------------------------------------------------------------------------

    def _list_groups(self) -> None:
        kinds = resolved_kinds(self.scenario.kinds)
        self.groups: list[Group] = []
        self.names: list[str] = []
        for robots in self.scenario.robots:
            kind = kinds[robots.kind]
            self._append(robots, robots.members, kind, with_changes(kind.devices, robots.devices))
        self.robots = len(self.names)
        """How many rows are robots, reserves included."""
        for station in self.scenario.stations:
            self._append(station, 1, None, OF_A_STATION)
        self.nodes = len(self.names)
        """How many rows have radios: robots and stations."""
        for things in self.scenario.objects:
            self._append(things, things.members, None, Devices())
        self.bodies = len(self.names)
        """How many rows there are."""

    def _append(self, settings: Robots | Station | Objects, count: int, kind: Kind | None, devices: Devices) -> None:
        first = len(self.names)
        self.groups.append(Group(settings, slice(first, first + count), kind, devices))
        if isinstance(settings, Station):
            self.names.append(settings.name)
        else:
            self.names += [settings.member(i) for i in range(count)]

    def _list_engines(self) -> list[EngineSection]:
        engines = list(self.scenario.engines) or [EngineSection(name="floor", engine=self.scenario.engine)]
        if any(group.flies for group in self.groups) and not any(e.engine.endswith("3d") for e in engines):
            engines.append(EngineSection(name="sky", engine="pointmass3d"))
        return engines

    def _make_arrays(self) -> None:
        rows = self.bodies
        self.xyz = np.zeros((rows, 3))
        self.heading = np.zeros(rows)
        self.twist = np.zeros((rows, 3))
        """Forward and sideways (left) speed and turning rate of each body in its own frame, as its motors turn."""
        self.intended = self.twist
        """The same as controllers asked for it: what drives and hooks set. Another array where motors have noise."""
        self.facing = np.zeros((rows, 2))
        """Cosine and sine of the heading, as of the beginning of the step."""
        self.body_m = np.zeros(rows)
        """Radius of what is solid; 0 for stations, for robots on a prescribed motion and for what is absent."""
        self.height_m = np.zeros(rows)
        self.mass_kg = np.ones(rows)
        self.shape = np.full(rows, ROUND, dtype=np.int32)
        self.owner = np.full(rows, NOBODY, dtype=np.int32)
        """Number of the engine that moves a body."""
        self.present = np.ones(rows, dtype=np.bool_)
        self.absent = 0
        """How many are in reserve or were removed."""
        table = ShapeTable()
        for group in self.groups:
            settings, part = group.settings, group.rows
            if isinstance(settings, Station):
                self.xyz[part] = (*settings.at_m, settings.height_m)
                continue
            form = group.kind if isinstance(settings, Robots) else settings
            assert form is not None
            outline = outline_of(form)
            self.height_m[part], self.mass_kg[part] = form.height_m, form.mass_kg
            self.shape[part] = table.number(outline)
            if isinstance(settings, Robots) and settings.motion is not None:
                continue
            self.body_m[part] = outline.radius_m
        self.shapes = table.table()
        self._solid_m = self.body_m.copy()
        for group in self.groups:
            if not isinstance(group.settings, Station):
                for row in range(group.rows.start + group.settings.count, group.rows.stop):
                    self._park(row)

    def keep_intentions(self) -> None:
        """Motors turn otherwise than they are told; said before any drive is made, for drives hold on to the array."""
        if self.intended is self.twist:
            self.intended = self.twist.copy()
            self.before_physics.insert(0, self._obey)

    def _obey(self) -> None:
        """Turn all motors as they are told; those with noise come after this."""
        np.copyto(self.twist, self.intended)

    @cached_property
    def velocity(self) -> Floats:
        """Velocity in the world's frame over the last step, where an engine has dynamics."""
        return np.zeros((self.bodies, 3))

    @cached_property
    def reckoning(self) -> Reckoning:
        """What motors believe."""
        return Reckoning(self)

    @cached_property
    def rotors(self) -> RotorTargets:
        """What flying robots are told."""
        return RotorTargets(np.zeros(self.bodies, dtype=np.int8), np.zeros((self.bodies, 4)))

    @cached_property
    def grip_wish(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Whose grippers are closed."""
        return np.zeros(self.bodies, dtype=np.bool_)

    @cached_property
    def grips(self) -> np.ndarray[Any, np.dtype[np.int32]]:
        """The row of what each gripper holds, -1 for nothing."""
        return np.full(self.bodies, NOBODY, dtype=np.int32)

    @cached_property
    def is_flat(self) -> bool:
        """Whether everything stands on the floor, so that heights play no part."""
        return not any(group.flies for group in self.groups)

    # --- time --------------------------------------------------------------------------------------------

    @property
    def now(self) -> int:
        """Simulated time in ns."""
        return self.index * self.step_ns

    @property
    def time_s(self) -> float:
        """Simulated time in seconds."""
        return s_from_ns(self.now)

    @property
    def step_s(self) -> float:
        """Length of a step in seconds."""
        return s_from_ns(self.step_ns)

    def look(self) -> None:
        """A step begins: note where everyone faces, before anyone senses or moves."""
        self.threads.over_rows(
            self.bodies, lambda first, last: face(first, last, self.heading, self.facing), is_light=True
        )

    # --- names -------------------------------------------------------------------------------------------

    def row_of(self, name: str) -> int:
        """The row of a robot, a station or a thing."""
        try:
            return self._rows_by_name[name]
        except KeyError:
            raise UserError(f"there is no '{name}'{closest(name, self.names)}") from None

    @cached_property
    def _rows_by_name(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.names)}

    def group_of(self, row: int) -> Group:
        """The group that a row belongs to."""
        return next(group for group in self.groups if group.rows.start <= row < group.rows.stop)

    def stream_key(self, row: int) -> str:
        """What names a body's random streams: unlike its name, it does not change with the group's size."""
        group = self.group_of(row)
        return f"{group.name}/{row - group.rows.start}"

    # --- what hooks change -------------------------------------------------------------------------------

    def add(self, group: str, at_m: tuple[float, float], heading_rad: float = 0.0) -> str:
        """Bring one of a group's reserve, or one that was removed, into the arena; its name."""
        found = next((g for g in self.groups if g.name == group), None)
        if found is None:
            raise UserError(f"there is no group '{group}'{closest(group, [g.name for g in self.groups])}")
        for row in range(found.rows.start, found.rows.stop):
            if not self.present[row]:
                self._refuse_nowhere(row, at_m, heading_rad)
                self.present[row] = True
                self.absent -= 1
                self.body_m[row] = self._solid_m[row]
                self.xyz[row, 2] = found.kind.flies_at_m if found.kind is not None else 0.0
                self._put(row, at_m, heading_rad)
                return self.names[row]
        raise UserError(f"all {len(found)} of '{group}' are in the arena: raise its `reserve`")

    def remove(self, name: str) -> None:
        """Take a robot or a thing out of the arena: it neither moves, senses, speaks, nor is in the way."""
        row = self.row_of(name)
        if isinstance(self.group_of(row).settings, Station):
            raise UserError(f"'{name}' is a station: only robots and objects can be removed")
        self._park(row)
        self.edits += 1

    def move(self, name: str, at_m: tuple[float, float], heading_rad: float | None = None) -> None:
        """Put a robot or a thing somewhere else."""
        row = self.row_of(name)
        if not self.present[row]:
            raise UserError(f"'{name}' is not in the arena: add it first")
        self._put(row, at_m, float(self.heading[row]) if heading_rad is None else heading_rad)

    def _refuse_nowhere(self, row: int, at_m: tuple[float, float], heading_rad: float) -> None:
        if not (math.isfinite(at_m[0]) and math.isfinite(at_m[1]) and math.isfinite(heading_rad)):
            raise UserError(f"'{self.names[row]}' cannot be at {at_m} m, heading {heading_rad}")

    def _put(self, row: int, at_m: tuple[float, float], heading_rad: float) -> None:
        self._refuse_nowhere(row, at_m, heading_rad)
        self.xyz[row, :2] = at_m
        self.heading[row] = math.remainder(heading_rad, 2 * math.pi)
        self.edits += 1

    def _park(self, row: int) -> None:
        self.absent += bool(self.present[row])
        self.present[row] = False
        self.body_m[row] = 0.0
        self.twist[row] = self.intended[row] = 0.0
        self.owner[row] = NOBODY
        for lazily_made in ("velocity", "grip_wish"):
            if lazily_made in self.__dict__:
                getattr(self, lazily_made)[row] = 0
        if "rotors" in self.__dict__:
            self.rotors.mode[row] = 0
        self.xyz[row, 2] = PARKED_Z_M - PARKED_GAP_M * row
