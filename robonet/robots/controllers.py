"""What robots think with: user classes that see a control interface and nothing else of the world."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from robonet.blame import users_traceback
from robonet.clock import s_from_ns
from robonet.errors import ControllerError, UserError
from robonet.link.session import FEEDBACK
from robonet.plugins import closest, load
from robonet.robots.radio import Ether, Radio, SwarmRadio
from robonet.robots.sensors.odometry import Odometry
from robonet.robots.sensors.positioning import Positioning
from robonet.robots.sensors.proximity import Proximity, ProximityRing
from robonet.robots.wheels import Wheels
from robonet.robots.world import Group, World
from robonet.streams import stream


class _Control:
    """What controllers of one robot and of a whole group have in common."""

    feedback: tuple[str, ...] = ()
    """What else the network is asked for: any of "neighbours", "queues"."""

    positioning: Positioning
    """True position and heading."""
    odometry: Odometry
    """Pose since the start, as the wheels believe it; not for stations."""
    proximity: Proximity
    """Distances along short rays; not for stations."""
    wheels: Wheels
    """The motors; not for stations."""
    rng: np.random.Generator
    """Random numbers of its own: use these for repeatable runs."""
    _world: World

    @property
    def now(self) -> int:
        """Simulated time in ns."""
        return self._world.now

    @property
    def time_s(self) -> float:
        """Simulated time in seconds."""
        return self._world.time_s

    @property
    def step_s(self) -> float:
        """Length of a step in seconds."""
        return self._world.step_s

    def start(self, **params: Any) -> None:
        """Prepare; `params` of the scenario arrive as keyword arguments."""
        if params:
            raise TypeError(f"this controller takes no params, got {', '.join(params)}")

    def step(self) -> None:
        """Read sensors, decide, set actuators; called once a step."""

    def __getattr__(self, name: str) -> Any:
        if name in ("wheels", "odometry", "proximity"):
            raise AttributeError(f"a station has no {name}")
        known = [*_Control.__annotations__, *Controller.__annotations__, "radio", "time_s", "now", "step_s"]
        raise AttributeError(f"'{type(self).__name__}' has no attribute '{name}'{closest(name, known)}")


class Controller(_Control):
    """The mind of one robot: subclass it and write `step`, and `start` if it has params."""

    name: str
    """The robot's name."""
    index: int
    """Its place in its group, from 0."""
    radio: Radio
    """Its radio."""


class SwarmController(_Control):
    """One mind for a whole group: readings are arrays with one item a robot."""

    names: list[str]
    """The robots' names."""
    radio: SwarmRadio
    """The group's radios."""

    def __len__(self) -> int:
        return len(self.names)


Step = Callable[[], None]


def _check_class(kind: type[_Control], reference: str) -> None:
    """Refuse what would fail later, or silently do nothing."""
    if kind.step is _Control.step:
        methods = [name for name in vars(kind) if callable(getattr(kind, name))]
        raise UserError(f"controller {reference} has no method `step`; it has: {', '.join(methods) or 'none'}")
    for name in kind.feedback:
        if name not in FEEDBACK:
            known = f"{closest(name, list(FEEDBACK))}; known: {', '.join(FEEDBACK)}"
            raise UserError(f"controller {reference} asks for unknown feedback '{name}'{known}")


class Minds:
    """All controllers of a world."""

    def __init__(self, world: World, ether: Ether, base: Path) -> None:
        self._world = world
        self._ether = ether
        self._steps: list[tuple[Step, str, str]] = []
        self._starts: list[tuple[Callable[..., None], dict[str, Any], str, str]] = []
        self.wants: set[str] = {"failures"}
        self._unstarted: list[tuple[Group, type[_Control], str]] = []
        for group in world.groups:
            reference = group.settings.controller
            if reference is not None:
                kind = load(reference, "controllers", base)
                if not (isinstance(kind, type) and issubclass(kind, (Controller, SwarmController))):
                    raise UserError(f"'{reference}' is neither a robonet.Controller nor a robonet.SwarmController")
                _check_class(kind, reference)
                self.wants |= set(kind.feedback)
                self._unstarted.append((group, kind, reference))

    def start(self) -> None:
        """Make the controllers and start them."""
        for group, kind, reference in self._unstarted:
            ring = ProximityRing(self._world, group) if group.kind is not None else None
            if issubclass(kind, SwarmController):
                self._add(self._swarm(kind, group, ring), f"group '{group.name}'", reference, group)
            else:
                for number in range(len(group)):
                    row = group.rows.start + number
                    mind = self._single(kind, group, ring, row, number)
                    self._add(mind, f"robot '{self._world.names[row]}'", reference, group)

    def step(self) -> None:
        """Let every controller decide."""
        for step, who, reference in self._steps:
            try:
                step()
            except (Exception, SystemExit) as error:
                raise self._blamed(error, who, reference) from error

    def _add(self, mind: _Control, who: str, reference: str, group: Group) -> None:
        try:
            mind.start(**group.settings.params)
        except (Exception, SystemExit) as error:
            raise self._blamed(error, who, reference) from error
        self._steps.append((mind.step, who, reference))

    def _blamed(self, error: BaseException, who: str, reference: str) -> ControllerError:
        trace = users_traceback(error)
        return ControllerError(
            f"controller {reference} of {who} raised at simulated time {s_from_ns(self._world.now):.3f} s: "
            f"{type(error).__name__}: {error}\n{trace}"
        )

    def _single(
        self, kind: type[_Control], group: Group, ring: ProximityRing | None, row: int, number: int
    ) -> Controller:
        mind = kind.__new__(kind)
        assert isinstance(mind, Controller)
        mind._world = self._world
        mind.name, mind.index = self._world.names[row], number
        mind.positioning = Positioning(self._world, row)
        mind.radio = Radio(self._ether, row, kind.feedback)
        mind.rng = stream(self._world.seed, "controller", self._world.stream_keys[row])
        if ring is not None:
            mind.odometry = Odometry(self._world, row)
            mind.wheels = Wheels(self._world, row)
            mind.proximity = Proximity(ring, number)
        mind.__init__()  # type: ignore[misc]  # the interface is there before the user's own __init__ runs
        return mind

    def _swarm(self, kind: type[_Control], group: Group, ring: ProximityRing | None) -> SwarmController:
        mind = kind.__new__(kind)
        assert isinstance(mind, SwarmController)
        mind._world = self._world
        mind.names = self._world.names[group.rows]
        mind.positioning = Positioning(self._world, group.rows)
        mind.radio = SwarmRadio(self._ether, group.rows, kind.feedback)
        mind.rng = stream(self._world.seed, "controller", group.name)
        if ring is not None:
            mind.odometry = Odometry(self._world, group.rows)
            mind.wheels = Wheels(self._world, group.rows)
            mind.proximity = Proximity(ring, None)
        mind.__init__()  # type: ignore[misc]
        return mind
