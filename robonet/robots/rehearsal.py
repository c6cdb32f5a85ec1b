"""What can go wrong before the first step, found without running any code of the user's."""

from pathlib import Path

from robonet.robots.placement import place_all
from robonet.robots.regions import Borders
from robonet.robots.world import World
from robonet.scenario.schema import Scenario


def rehearse(scenario: Scenario, base: Path) -> World:
    """Build the arena, place everyone and give everyone an engine; a UserError says what does not fit."""
    world = World(scenario, base)
    place_all(world)
    Borders(world).claim()
    return world
