"""What robots think with: user classes that see a control interface and nothing else of the world."""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from robonet.blame import users_traceback
from robonet.clock import s_from_ns
from robonet.errors import ControllerError, UserError
from robonet.link.session import FEEDBACK
from robonet.plugins import closest, load
from robonet.robots.devices import GroupDevices
from robonet.robots.radio import Ether, Radio, SwarmRadio
from robonet.robots.world import Group, World
from robonet.scenario.arena import Objects
from robonet.streams import stream


class _Control:
    """What controllers of one robot and of a whole group have in common."""

    feedback: tuple[str, ...] = ()
    """What else the network is asked for: any of "neighbours", "queues"."""

    _world: World
    _devices: GroupDevices
    _number: int | None = None

    @cached_property
    def rng(self) -> np.random.Generator:
        """Random numbers of its own: use these for repeatable runs."""
        group = self._devices.group
        whose = group.name if self._number is None else f"{group.name}/{self._number}"
        return stream(self._world.seed, "controller", whose)

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
        """The devices that the robot carries: made when first asked for, and then plain attributes."""
        carried = self.__dict__.get("_devices")
        if carried is not None and not name.startswith("_"):
            device = carried.get(name) if self._number is None else carried.one(name, self._number)
            if device is not None:
                self.__dict__[name] = device
                return device
            if (why := carried.missing(name)) is not None:
                raise AttributeError(why)
        known = [*_Control.__annotations__, *Controller.__annotations__, "rng", "radio", "time_s", "now", "step_s"]
        known += carried.names() if carried is not None else []
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
        self._steps: list[Step] = []
        self._rows: list[int] = []
        """The row of the robot whose step it is; -1 for a whole group."""
        self._who: list[tuple[str, str]] = []
        self.wants: set[str] = {"failures"}
        self._unstarted: list[tuple[Group, type[_Control], str]] = []
        for group in world.groups:
            reference = None if isinstance(group.settings, Objects) else group.settings.controller
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
            carried = self._world.devices[group.name]
            carried.start()
            if issubclass(kind, SwarmController):
                self._add(self._swarm(kind, group, carried), f"group '{group.name}'", reference, group)
            else:
                for number in range(len(group)):
                    row = group.rows.start + number
                    mind = self._single(kind, group, carried, row, number)
                    self._add(mind, f"robot '{self._world.names[row]}'", reference, group, row)

    def step(self) -> None:
        """Let every controller of somebody who is there decide."""
        at = 0
        try:
            if self._world.absent:
                present = self._world.present
                for at, (step, row) in enumerate(zip(self._steps, self._rows, strict=True)):  # noqa: B007
                    if row < 0 or present[row]:
                        step()
            else:
                for at, step in enumerate(self._steps):  # noqa: B007  (whose step failed)
                    step()
        except (Exception, SystemExit) as error:
            raise self._blamed(error, *self._who[at]) from error

    def _add(self, mind: _Control, who: str, reference: str, group: Group, row: int = -1) -> None:
        try:
            assert not isinstance(group.settings, Objects)
            mind.start(**group.settings.params)
        except (Exception, SystemExit) as error:
            raise self._blamed(error, who, reference) from error
        self._steps.append(mind.step)
        self._rows.append(row)
        self._who.append((who, reference))

    def _blamed(self, error: BaseException, who: str, reference: str) -> ControllerError:
        trace = users_traceback(error)
        return ControllerError(
            f"controller {reference} of {who} raised at simulated time {s_from_ns(self._world.now):.3f} s: "
            f"{type(error).__name__}: {error}\n{trace}"
        )

    def hand(self, name: str) -> "Controller | SwarmController":
        """The control interface of a robot or of a group, for code that is no controller."""
        world = self._world
        for group in world.groups:
            if group.name == name and len(group) > 1:
                return self._swarm(SwarmController, group, world.devices[name])
        row = world.row_of(name)
        group = world.group_of(row)
        return self._single(Controller, group, world.devices[group.name], row, row - group.rows.start)

    def _single(self, kind: type[_Control], group: Group, carried: GroupDevices, row: int, number: int) -> Controller:
        mind = kind.__new__(kind)
        assert isinstance(mind, Controller)
        mind._world = self._world
        mind._devices, mind._number = carried, number
        mind.name, mind.index = self._world.names[row], number
        if group.devices.radio is not None:
            mind.radio = Radio(self._ether, row, kind.feedback)
        mind.__init__()  # type: ignore[misc]  # the interface is there before the user's own __init__ runs
        return mind

    def _swarm(self, kind: type[_Control], group: Group, carried: GroupDevices) -> SwarmController:
        mind = kind.__new__(kind)
        assert isinstance(mind, SwarmController)
        mind._world = self._world
        mind._devices = carried
        mind.names = self._world.names[group.rows]
        if group.devices.radio is not None:
            mind.radio = SwarmRadio(self._ether, group.rows, kind.feedback)
        mind.__init__()  # type: ignore[misc]
        return mind
