"""The state of everything that has a place, as arrays: one row a node, robots first, stations last."""

from typing import NamedTuple

import numpy as np

from robonet.clock import ns_from_s, s_from_ns
from robonet.robots.arena import obstacle_rows, obstacles_in_cells
from robonet.robots.kinds import RobotKind
from robonet.scenario.schema import Robots, Scenario, Station
from robonet.space import Floats, Grid


class Group(NamedTuple):
    """The rows of one group of robots, or of one station."""

    settings: Robots | Station
    rows: slice
    kind: RobotKind | None
    """None for stations."""

    @property
    def name(self) -> str:
        """The group's name."""
        return self.settings.name

    def __len__(self) -> int:
        return int(self.rows.stop - self.rows.start)


class World:
    """Where everything is, how fast the wheels turn, and what stands in the way."""

    def __init__(self, scenario: Scenario, kinds: dict[str, RobotKind]) -> None:
        self.scenario = scenario
        self.arena = scenario.arena
        self.seed = scenario.seed
        self.step_ns = ns_from_s(scenario.step_s)
        self.steps = ns_from_s(scenario.duration_s) // self.step_ns
        self.index = 0
        """Number of the step at hand."""
        self.groups: list[Group] = []
        self.names: list[str] = []
        self.stream_keys: list[str] = []
        """What names each node's random streams: unlike its name, it does not change with the group's size."""
        first = 0
        for robots in scenario.robots:
            self.groups.append(Group(robots, slice(first, first + robots.count), kinds[robots.kind]))
            self.names += [robots.member(i) for i in range(robots.count)]
            self.stream_keys += [f"{robots.name}/{i}" for i in range(robots.count)]
            first += robots.count
        self.robots = first
        for station in scenario.stations:
            self.groups.append(Group(station, slice(first, first + 1), None))
            self.names.append(station.name)
            self.stream_keys.append(f"{station.name}/0")
            first += 1
        self.xyz = np.zeros((first, 3))
        self.heading = np.zeros(first)
        self.left_m_s = np.zeros(first)
        self.right_m_s = np.zeros(first)
        self.odometry = np.zeros((first, 3))
        """x, y and heading since the start, as the wheels believe it."""
        self.wheel_distance_m = np.ones(first)
        self.body_m = np.zeros(first)
        """Radius of what is solid; 0 for stations and for robots on a prescribed motion."""
        for group in self.groups:
            if group.kind is not None and isinstance(group.settings, Robots):
                self.wheel_distance_m[group.rows] = group.kind.wheel_distance_m
                if group.settings.motion is None:
                    self.body_m[group.rows] = group.kind.radius_m
            if isinstance(group.settings, Station):
                self.xyz[group.rows] = (*group.settings.at_m, group.settings.height_m)
        self._lay_out_cells(max((g.kind.proximity_range_m for g in self.groups if g.kind), default=0.0))

    def _lay_out_cells(self, ray_m: float) -> None:
        widest = float(self.body_m.max()) if len(self.body_m) else 0.0
        self.obstacles: Floats = obstacle_rows(self.arena)
        self.grid = Grid.covering(
            *self.arena.low_m,
            *self.arena.high_m,
            2 * widest + ray_m,
            max(self.robots, 4 * len(self.obstacles)),
        )
        self.cell_starts = np.zeros(self.grid.columns * self.grid.rows + 1, dtype=np.int64)
        self.cell_order = np.zeros(len(self.xyz), dtype=np.int64)
        self.obstacle_offsets, self.obstacle_lists = obstacles_in_cells(self.obstacles, self.grid, widest + ray_m)

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
