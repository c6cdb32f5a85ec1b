"""Compile the kernels before the first step, so that no step is a mysterious pause; cached, it takes no time."""

from robonet.robots.engines.kinematics2d import Kinematics2D
from robonet.robots.kinds import FOOT_BOT
from robonet.robots.sensors.proximity import ProximityRing
from robonet.robots.world import World
from robonet.scenario.schema import Arena, Box, Obstacle, Robots, Scenario


def warm_up() -> None:
    """Move and look around once in a world of its own."""
    box = Obstacle(box=Box(center_m=(2.0, 2.0), size_m=(1.0, 1.0)))
    team = Robots(name="robot", count=2)
    scenario = Scenario(robonet=1, name="warm-up", duration_s=1.0, arena=Arena(obstacles=(box,)), robots=(team,))
    world = World(scenario, {"foot-bot": FOOT_BOT})
    world.xyz[1, 0] = 1.0
    world.left_m_s[:] = 0.1
    Kinematics2D(world).step()
    assert ProximityRing(world, world.groups[0]).distances_m.shape == (2, 24)
