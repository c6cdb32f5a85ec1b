"""The robot simulator as a whole: what robots carry, and that it keeps the rules that all robot simulators share."""

import math
from pathlib import Path

import numpy as np
import pytest
from worlds import FOOT_BOT_M, world

from robonet.plugins import ROBOTS
from robonet.robots.simulator import RobonetRobots
from robonet.scenario import parse_scenario
from robonet.scenario.kinds import shipped_kinds
from robonet.testing import check_robots, robots_in_memory


def test_every_robot_that_is_listed_is_shipped_and_stands_in_a_world():
    assert set(ROBOTS) == set(shipped_kinds())
    here = world(f"robots: [{', '.join(f'{{name: r{n}, kind: {kind}}}' for n, kind in enumerate(ROBOTS))}]\n")
    assert (here.body_m > 0).all() and (here.mass_kg > 0).all() and (here.height_m > 0).all()
    assert here.body_m[0] == FOOT_BOT_M


def test_wheels_of_one_and_of_many():
    here = world("robots: [{name: a, count: 3}]\n")
    wheels = here.devices["a"].get("wheels")
    wheels.set_velocity(np.array([0.1, 0.2, 0.3]), 0.0)
    assert here.twist[:, 0].tolist() == [0.1, 0.2, 0.3] and not here.twist[:, 1:].any()
    wheels.one(1).set_velocity(0.0, 2.0)
    assert here.twist[1] == pytest.approx([0.0, 0.0, 2.0])
    wheels.one(2).set_speed(0.1, 0.24)
    assert here.twist[2] == pytest.approx([0.17, 0.0, 1.0])
    wheels.set_speed(np.array([0.1, 0.1, 0.2]), 0.1)
    assert here.twist[2] == pytest.approx([0.15, 0.0, -0.1 / 0.14])


def test_a_group_of_one_is_called_by_its_name_and_reserves_count():
    here = world(
        "robots: [{name: a}, {name: b, reserve: 1}, {name: c, count: 2}]\nstations: [{name: s, at_m: [0, 0]}]\n"
    )
    assert here.names == ["a", "b0", "b1", "c0", "c1", "s"]
    assert (here.robots, here.nodes, here.bodies) == (5, 6, 6)
    assert here.present.tolist() == [True, True, False, True, True, True]


def test_kinds_are_built_on_others_and_groups_change_devices():
    here = world(
        "kinds: [{name: mine, like: foot-bot, body: {box: {size_m: [0.4, 0.2]}}, devices: {proximity: {rays: 6}, sonar: {}}},"
        " {name: deaf, like: mine, devices: {range_and_bearing: null}}]\n"
        "robots: [{name: a, kind: deaf, devices: {proximity: {range_m: 0.2}}}]\n"
    )
    carried = here.groups[0].devices
    assert (carried.proximity.rays, carried.proximity.range_m, carried.proximity.response) == (6, 0.2, "inverse")
    assert carried.sonar.rays == 16 and carried.wheels.wheel_distance_m == 0.14
    assert carried.range_and_bearing is None
    assert here.body_m[0] == pytest.approx(math.hypot(0.2, 0.1))
    assert here.devices["a"].get("proximity").distances_m.shape == (1, 6)
    assert here.devices["a"].get("range_and_bearing") is None


def test_a_device_of_ones_own(tmp_path):
    (tmp_path / "mine.py").write_text(
        "class Nose:\n"
        "    def __init__(self, world, group, params):\n"
        "        self.world, self.rows, self.gain = world, group.rows, params['gain']\n"
        "    @property\n"
        "    def smells(self): return self.gain * self.world.xyz[self.rows, 0]\n"
        "    def one(self, number): return self.smells[number]\n"
    )
    here = world(
        "robots: [{name: a, place: {at_m: [[2, 0]]}, devices: {custom: {nose: {device: 'mine.py:Nose', params: {gain: 3}}}}}]\n",
        base=tmp_path,
    )
    assert here.devices["a"].get("nose").smells.tolist() == [6.0]
    assert here.devices["a"].one("nose", 0) == 6.0


SMALL_TEAM = """
robonet: 1
name: team
duration_s: 3
arena: {size_m: [10, 10]}
robots: [{name: a, count: 6, controller: diffusion, params: {speed_m_s: 0.5}}]
stations: [{name: s, at_m: [0, 0], controller: beacon, params: {rate_hz: 3}}]
traffic: [{poisson: {senders: 0.5, to: random, rate_hz: 10}}, {cbr: {senders: 2, to: a, rate_hz: 3}}]
"""


@pytest.mark.parametrize("more", ["", "objects: [{name: box, box: {size_m: [1, 1]}, count: 3}]\n", "threads: 2\n"])
def test_the_simulator_passes_the_conformance_kit(more):
    loaded = parse_scenario(SMALL_TEAM + more)
    check_robots(lambda: robots_in_memory(RobonetRobots(loaded.scenario, Path())))


def test_the_kit_notices_robots_that_differ():
    loaded = parse_scenario(SMALL_TEAM)
    offsets = iter((0.0, 1e-9))

    def make():
        robots = RobonetRobots(loaded.scenario, Path())
        robots.world.xyz[0, 0] += next(offsets)
        return robots_in_memory(robots)

    with pytest.raises(AssertionError, match="differ in motion"):
        check_robots(make)
