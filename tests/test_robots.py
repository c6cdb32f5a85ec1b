"""The robot simulator against geometry worked out by hand or by brute force."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robonet.errors import UserError
from robonet.plugins import load
from robonet.robots.engines.kinematics2d import Kinematics2D
from robonet.robots.kinds import FOOT_BOT
from robonet.robots.placement import place_all
from robonet.robots.sensors.odometry import Odometry
from robonet.robots.sensors.positioning import Positioning
from robonet.robots.sensors.proximity import Proximity, ProximityRing
from robonet.robots.simulator import RobonetRobots
from robonet.robots.wheels import Wheels
from robonet.robots.world import World
from robonet.scenario import parse_scenario
from robonet.testing import check_robots, robots_in_memory

KINDS = {name: load(name, "robots", Path()) for name in ("foot-bot", "e-puck")}


def world(text, place=True):
    scenario = parse_scenario("robonet: 1\nname: t\nduration_s: 10\n" + text).scenario
    made = World(scenario, KINDS)
    if place:
        place_all(made)
    return made


ONE = "robots: [{name: a, place: {at_m: [[0, 0]]}, heading_deg: 0}]\n"


def test_straight_turning_and_arcs_are_exact():
    for left, right in ((0.1, 0.1), (-0.05, 0.05), (0.1, 0.2)):
        here = world(ONE)
        engine = Kinematics2D(here)
        here.left_m_s[:], here.right_m_s[:] = left, right
        for _ in range(50):
            engine.step()
        turn = (right - left) / FOOT_BOT.wheel_distance_m * 5.0
        forward = (right + left) / 2 * 5.0
        radius = forward / turn if turn else math.inf
        expected = (forward, 0.0) if not turn else (radius * math.sin(turn), radius * (1 - math.cos(turn)))
        assert np.allclose(here.xyz[0, :2], expected, atol=1e-9)
        assert math.isclose(math.remainder(here.heading[0] - turn, 2 * math.pi), 0.0, abs_tol=1e-9)
        assert Odometry(here, 0).pose == pytest.approx((*expected, here.heading[0]), abs=1e-9)


def test_a_wall_stops_the_body_and_not_the_odometry():
    here = world("arena: {size_m: [2, 2]}\n" + ONE)
    engine = Kinematics2D(here)
    here.left_m_s[:] = here.right_m_s[:] = 1.0
    for _ in range(50):
        engine.step()
    assert Positioning(here, 0).x_m == pytest.approx(1.0 - FOOT_BOT.radius_m)
    assert Odometry(here, 0).pose[0] == pytest.approx(5.0)


def test_without_walls_the_arena_is_open():
    here = world("arena: {size_m: [2, 2], walls: false}\n" + ONE)
    engine = Kinematics2D(here)
    here.left_m_s[:] = here.right_m_s[:] = 1.0
    for _ in range(50):
        engine.step()
    assert here.xyz[0, 0] == pytest.approx(5.0)


@pytest.mark.parametrize("speed", [1.0, 20.0])
def test_no_robot_passes_through_another_or_a_thin_box(speed):
    here = world(
        "arena: {size_m: [20, 20], obstacles: [{box: {center_m: [3, 0], size_m: [0.01, 20]}}]}\n"
        "robots: [{name: a, place: {at_m: [[-3, 0]]}, heading_deg: 0}, {name: b, place: {at_m: [[0, 0]]}}]\n"
    )
    engine = Kinematics2D(here)
    here.left_m_s[0] = here.right_m_s[0] = speed
    for _ in range(100):
        engine.step()
        assert here.xyz[0, 0] < 3.0 - FOOT_BOT.radius_m + 1e-6
        assert math.dist(here.xyz[0, :2], here.xyz[1, :2]) > 1.9 * FOOT_BOT.radius_m


@pytest.mark.parametrize("seed", range(3))
def test_a_crowd_neither_overlaps_nor_leaves_nor_enters_obstacles(seed):
    here = world(
        f"seed: {seed}\n"
        "arena: {size_m: [6, 4], obstacles: [{box: {center_m: [1, 0], size_m: [1, 0.6], angle_deg: 30}}, "
        "{circle: {center_m: [-1.5, 0.5], radius_m: 0.4}}]}\n"
        "robots: [{name: a, count: 150}, {name: b, kind: e-puck, count: 50}]\n"
    )
    engine = Kinematics2D(here)
    rng = np.random.default_rng(seed)
    worst = 0.0
    for _ in range(200):
        here.left_m_s[:] = rng.uniform(-0.5, 1.0, 200)
        here.right_m_s[:] = rng.uniform(-0.5, 1.0, 200)
        engine.step()
        xy, radius = here.xyz[:, :2], here.body_m
        assert (np.abs(xy[:, 0]) <= 3.0 - radius + 1e-12).all()
        assert (np.abs(xy[:, 1]) <= 2.0 - radius + 1e-12).all()
        gap = np.linalg.norm(xy[:, None] - xy[None], axis=2) - (radius[:, None] + radius[None])
        np.fill_diagonal(gap, 1.0)
        worst = max(worst, float(-gap.min()))
        assert (np.linalg.norm(xy - (-1.5, 0.5), axis=1) > 0.4 + 0.9 * radius).all()
    assert worst < 0.1 * KINDS["e-puck"].radius_m


def test_a_crowd_that_pushes_against_a_box_stays_apart():
    here = world(
        "arena: {size_m: [10, 4], obstacles: [{box: {center_m: [4, 0], size_m: [0.5, 4]}}]}\n"
        "robots: [{name: a, count: 45, heading_deg: 0, place: {grid: {center_m: [2.5, 0], spacing_m: 0.18}}}]\n"
    )
    engine = Kinematics2D(here)
    here.left_m_s[:] = here.right_m_s[:] = 0.3
    radius = FOOT_BOT.radius_m
    for _ in range(100):
        engine.step()
        xy = here.xyz[:, :2]
        gap = np.linalg.norm(xy[:, None] - xy[None], axis=2)
        np.fill_diagonal(gap, 9.0)
        assert gap.min() > 1.9 * radius
        assert xy[:, 0].max() < 3.75 - 0.9 * radius


def brute_ray(here, row, angle, reach):
    """March along a ray in tenths of a millimetre and look at everything."""
    x, y = here.xyz[row, :2]
    own = here.body_m[row]
    for distance in np.arange(own, own + reach, 1e-4):
        px, py = x + distance * math.cos(angle), y + distance * math.sin(angle)
        (left, bottom), (right, top) = here.arena.low_m, here.arena.high_m
        if not (left <= px <= right and bottom <= py <= top):
            return distance - own
        for other in range(len(here.xyz)):
            if other != row and math.dist((px, py), here.xyz[other, :2]) <= here.body_m[other]:
                return distance - own
        for obstacle in here.arena.obstacles:
            if obstacle.circle and math.dist((px, py), obstacle.circle.center_m) <= obstacle.circle.radius_m:
                return distance - own
            if obstacle.box:
                dx, dy = px - obstacle.box.center_m[0], py - obstacle.box.center_m[1]
                turn = math.radians(obstacle.box.angle_deg)
                u, v = dx * math.cos(turn) + dy * math.sin(turn), dy * math.cos(turn) - dx * math.sin(turn)
                if abs(u) <= obstacle.box.size_m[0] / 2 and abs(v) <= obstacle.box.size_m[1] / 2:
                    return distance - own
    return reach


@pytest.mark.parametrize("seed", range(4))
def test_rays_see_what_marching_along_them_finds(seed):
    here = world(
        f"seed: {seed}\n"
        "arena: {size_m: [1.2, 1.2], obstacles: [{box: {center_m: [0.2, 0.1], size_m: [0.3, 0.1], angle_deg: 25}}, "
        "{circle: {center_m: [-0.3, 0.2], radius_m: 0.1}}]}\n"
        "robots: [{name: a, count: 5}]\n"
    )
    ring = ProximityRing(here, here.groups[0])
    distances = ring.distances_m
    hits = 0
    for row in range(5):
        for ray, angle in enumerate(ring.angles_rad):
            expected = brute_ray(here, row, here.heading[row] + angle, ring.range_m)
            hits += expected < ring.range_m
            assert distances[row, ray] == pytest.approx(expected, abs=2e-4)
    assert hits > 10


def test_readings_are_one_at_the_body_and_zero_out_of_range():
    here = world("arena: {size_m: [0.171, 5]}\n" + ONE)
    values = Proximity(ProximityRing(here, here.groups[0]), 0).values
    assert values.max() > 0.9
    assert values.min() == 0.0


def test_what_a_controller_holds_is_its_own():
    here = world("robots: [{name: a, count: 3}]\n")
    before = here.xyz.copy()
    Positioning(here, slice(0, 3)).x_m[:] = 99
    Proximity(ProximityRing(here, here.groups[0]), None).distances_m[:] = 99
    assert (here.xyz == before).all()
    assert Proximity(ProximityRing(here, here.groups[0]), 1).distances_m.max() <= FOOT_BOT.proximity_range_m


def test_wheels_of_one_and_of_many():
    here = world("robots: [{name: a, count: 3}]\n")
    Wheels(here, slice(0, 3)).set_velocity(np.array([0.1, 0.2, 0.3]), 0.0)
    assert here.left_m_s.tolist() == here.right_m_s.tolist() == [0.1, 0.2, 0.3]
    Wheels(here, 1).set_velocity(0.0, 2.0)
    assert here.right_m_s[1] == -here.left_m_s[1] == FOOT_BOT.wheel_distance_m
    with pytest.raises(ValueError, match="robot 2 of the group"):
        Wheels(here, slice(0, 3)).set_speed(np.array([0.0, 0.0, np.nan]), 0.0)
    for speed in (math.inf, math.nan, 1e9):
        with pytest.raises(ValueError, match="finite and up to 100 m/s"):
            Wheels(here, 0).set_speed(speed, 0.0)


@settings(max_examples=25)
@given(st.integers(0, 2**31), st.integers(1, 60))
def test_uniform_placement_never_overlaps(seed, count):
    here = world(
        f"seed: {seed}\narena: {{size_m: [4, 4], obstacles: [{{box: {{center_m: [0, 0], size_m: [1, 1]}}}}]}}\n"
        f"robots: [{{name: a, count: {count}}}]\n"
    )
    xy = here.xyz[:, :2]
    gap = np.linalg.norm(xy[:, None] - xy[None], axis=2)
    np.fill_diagonal(gap, 9.0)
    assert gap.min() >= 2 * FOOT_BOT.radius_m
    assert (np.abs(xy) <= 2 - FOOT_BOT.radius_m).all()
    assert (np.abs(xy).max(axis=1) >= 0.5).all()


def test_adding_robots_does_not_move_the_others():
    few, many = (world(f"robots: [{{name: a, count: {n}}}, {{name: b, count: 3}}]\n") for n in (5, 20))
    assert (few.xyz[:5] == many.xyz[:5]).all()
    assert (few.heading[5:] == many.heading[20:]).all()


def test_a_full_arena_is_refused_with_advice():
    with pytest.raises(UserError, match="no free place for a robot of group 'a' in 1 x 1 m after 1000 trials"):
        world("arena: {size_m: [1, 1]}\nrobots: [{name: a, count: 100}]\n")


@pytest.mark.parametrize(
    "robots",
    ["{name: a, count: 2, place: {at_m: [[0, 0], [0.1, 0]]}}", "{name: a, count: 4, place: {grid: {spacing_m: 0.1}}}"],
)
def test_overlapping_explicit_places_are_refused(robots):
    with pytest.raises(UserError, match="overlaps another robot"):
        world(f"robots: [{robots}]\n")


def test_a_grid_is_centred():
    here = world("robots: [{name: a, count: 9, place: {grid: {center_m: [1, 2], spacing_m: 1}}}]\n")
    assert here.xyz[:, :2].mean(axis=0).tolist() == pytest.approx([1, 2])
    assert here.xyz[0, :2].tolist() == [0, 1]


SMALL_TEAM = """
robonet: 1
name: team
duration_s: 3
arena: {size_m: [10, 10]}
robots: [{name: a, count: 6, controller: diffusion, params: {speed_m_s: 0.5}}]
stations: [{name: s, at_m: [0, 0], controller: beacon, params: {rate_hz: 3}}]
traffic: [{poisson: {senders: 0.5, to: random, rate_hz: 10}}, {cbr: {senders: 2, to: a, rate_hz: 3}}]
"""


def test_the_simulator_passes_the_conformance_kit():
    loaded = parse_scenario(SMALL_TEAM)
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
