"""What the robots of a group carry, made when it is first asked for."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robonet.blame import users_traceback
from robonet.errors import UserError
from robonet.plugins import ACTUATORS, SENSORS, closest, load
from robonet.scenario.devices import Custom

if TYPE_CHECKING:
    from robonet.robots.world import Group, World

AT_ONCE = ("odometry", "battery", "leds", "range_and_bearing", "wheels", "omni", "steering")
"""What has a part in every step, whether or not somebody asks."""


class GroupDevices:
    """The devices of one group, by name; each serves all of its robots."""

    def __init__(self, world: "World", group: "Group") -> None:
        self._world = world
        self.group = group
        self._settings = {name: value for name, value in group.devices.carried().items() if name != "radio"}
        self._made: dict[str, Any] = {}

    def start(self) -> None:
        """Make what must not miss a step."""
        for name, settings in self._settings.items():
            if name in AT_ONCE or isinstance(settings, Custom):
                self.get(name)

    def names(self) -> list[str]:
        """What is carried, the radio aside."""
        return list(self._settings)

    def get(self, name: str) -> Any:
        """One device for the whole group; None where it is not carried."""
        if name in self._made:
            return self._made[name]
        settings = self._settings.get(name)
        if settings is None:
            return None
        if isinstance(settings, Custom):
            device = self._custom(name, settings)
        else:
            device = _class_of(name)(self._world, self.group, settings)
        self._made[name] = device
        return device

    def _custom(self, name: str, settings: Custom) -> Any:
        kind = load(settings.device, "devices", self._world.base)
        try:
            return kind(self._world, self.group, settings.params)
        except (Exception, SystemExit) as error:
            raise UserError(
                f"device '{name}' ({settings.device}) of group '{self.group.name}' could not be made: "
                f"{type(error).__name__}: {error}\n{users_traceback(error)}"
            ) from error

    def one(self, name: str, number: int) -> Any:
        """One device of one robot; None where it is not carried."""
        device = self.get(name)
        return None if device is None else device.one(number)

    def missing(self, name: str) -> str | None:
        """Why there is no such device; None for a name that is none."""
        if name not in SENSORS and name not in ACTUATORS:
            return None
        what = "a station" if self.group.kind is None else f"a {self.group.kind.name}"
        return f"{what} has no {name}{closest(name, self.names())}; it has: {', '.join(self.names())}"


@cache
def _class_of(name: str) -> Any:
    return load(name, "sensors" if name in SENSORS else "actuators", Path())
