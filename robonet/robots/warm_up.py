"""Compile the kernels before the first step, so that no step is a mysterious pause; cached, it takes no time."""

from pathlib import Path
from typing import Any

from robonet.errors import RobonetError
from robonet.plugins import ACTUATORS, SENSORS, attributes_used
from robonet.robots.devices import AT_ONCE
from robonet.robots.physics import Physics
from robonet.robots.placement import place_all
from robonet.robots.world import Group, World
from robonet.scenario.arena import Objects, Place, Uniform
from robonet.scenario.schema import Robots, Scenario

READINGS = ("distances_m", "brightness", "values", "touches", "charge", "heading_rad", "pose", "blobs")
"""What devices are asked for."""


def warm_up(scenario: Scenario, base: Path) -> None:
    """Move and look around once, in a small world of the same making and with the devices that controllers name."""
    world = World(_small(scenario), base)
    if any(":" in engine.engine for engine in world.engines):  # somebody's own, which may want more than two robots
        return
    try:
        place_all(world)
        physics = Physics(world)
    except RobonetError:  # the real world will say what is wrong, in its own words
        return
    world.look()
    used = [_use(world, group, scenario, base) for group in world.groups if isinstance(group.settings, Robots)]
    physics.step()
    world.index += 1
    physics.finish()
    world.look()
    for devices in used:
        for device in devices:
            _read(device)


def _small(scenario: Scenario) -> Scenario:
    """Two of everyone, anywhere, without minds."""

    def two(group: Any) -> Any:
        changes = {"count": 2, "reserve": 0, "place": Place(uniform=Uniform())}
        if isinstance(group, Robots):
            changes["controller"] = None
        return group.model_copy(update=changes)

    robots: tuple[Robots, ...] = tuple(two(group) for group in scenario.robots)
    objects: tuple[Objects, ...] = tuple(two(things) for things in scenario.objects)
    return scenario.model_copy(update={"robots": robots, "objects": objects, "traffic": (), "hooks": ()})


def _use(world: World, group: Group, scenario: Scenario, base: Path) -> list[Any]:
    """Make and touch what the real controller of a group will."""
    reference = next(robots.controller for robots in scenario.robots if robots.name == group.name)
    if reference is None:
        return []
    carried = world.devices[group.name]
    named = attributes_used(reference, "controllers", base)
    built_in = [name for name in carried.names() if name in SENSORS or name in ACTUATORS]  # no code of the user's
    devices = [carried.get(name) for name in built_in if name in named or name in AT_ONCE]
    for device in devices:
        _read(device)
        if hasattr(device, "set_speed"):
            device.set_speed(0.01, 0.005)
    return devices


def _read(device: Any) -> None:
    for name in READINGS:
        if hasattr(device, name):
            getattr(device, name)
