"""Range finders against rays that look at everything, outline by outline, as the scenario has it."""

import math

import numpy as np
import pytest
from PIL import Image
from worlds import FOOT_BOT_M, moving, seen, step, world

from robonet.robots import rays
from robonet.robots.rays import RayFan

THINGS = (
    "obstacles: [{box: {center_m: [0.5, 0.3], size_m: [0.4, 0.1], angle_deg: 25}}, {box: {center_m: [-1, 0], size_m: [0.01, 0.8]}},"
    " {circle: {center_m: [-0.4, 0.5], radius_m: 0.15}}, {polygon: {corners_m: [[0.9, -0.9], [1.3, -0.5], [0.7, -0.6]]}},"
    " {polygon: {corners_m: [[-1.3, -1.3], [-0.3, -1.3], [-0.3, -1.2], [-1.2, -1.2], [-1.2, -0.6], [-1.3, -0.6]]}}]"
)
TEAM = (
    "kinds: [{name: wedge, body: {polygon: {corners_m: [[0.2, 0], [-0.1, 0.1], [-0.1, -0.1]]}}, devices: {wheels: {}}}]\n"
    "robots: [{name: f, count: 6}, {name: e, kind: e-puck, count: 6}, {name: m, kind: minibot, count: 4},"
    " {name: w, kind: wedge, count: 4}, {name: g, motion: {random_walk: {}}}]\n"
    "objects: [{name: box, box: {size_m: [0.2, 0.1]}, count: 3}, {name: post, cylinder: {radius_m: 0.05}, count: 3, reserve: 1}]\n"
)
ANGLES = np.linspace(-3.0, 3.1, 19)


def readings(here, name, reach):
    fan = RayFan(here, next(group for group in here.groups if group.name == name), ANGLES, reach)
    fan.cast()
    return fan


def check(here, reach):
    hits = 0
    for group in here.groups:
        if group.name not in "femw":
            continue
        fan = readings(here, group.name, reach)
        for number, row in enumerate(range(group.rows.start, group.rows.stop)):
            expected = np.full(len(ANGLES), reach)
            if here.body_m[row] > 0:
                expected = seen(here, row, here.heading[row] + ANGLES, reach)
            assert fan.distances_m[number] == pytest.approx(expected, abs=1e-9), here.names[row]
            assert (fan.distances_m[number][expected == reach] == reach).all()
            assert fan.hits[number] or (expected == reach).all()
            hits += (expected < reach).sum()
    return hits


@pytest.fixture(params=["lists", "cells"])
def caster(request, monkeypatch):
    """Either of the two ways to cast rays, whatever their range."""
    monkeypatch.setattr(rays, "LONG_REACH_M", 100.0 if request.param == "lists" else 0.0)


@pytest.mark.parametrize("walls", ["true", "false"])
@pytest.mark.parametrize("reach", [0.1, 2.5])
def test_rays_see_what_is_there(caster, reach, walls):
    here, physics = moving(f"arena: {{size_m: [3, 3], walls: {walls}, {THINGS}}}\n{TEAM}")
    rng = np.random.default_rng(1)
    hits = check(here, reach)
    for _ in range(4):
        here.twist[: here.robots] = rng.uniform(-0.5, 0.5, (here.robots, 3))
        step(here, physics, 3)
        here.look()
        hits += check(here, reach)
    here.move("box0", (0.1, 0.1), 0.3)
    here.remove("f2")
    here.look()
    assert hits + check(here, reach) > 100


@pytest.mark.parametrize("seed", range(2))
def test_both_casters_agree(seed, monkeypatch):
    here, physics = moving(f"seed: {seed}\narena: {{size_m: [4, 4], {THINGS}}}\n{TEAM}")
    rng = np.random.default_rng(seed)
    for _ in range(10):
        here.twist[: here.robots] = rng.uniform(-0.5, 0.5, (here.robots, 3))
        step(here, physics, 2)
        here.look()
        for name in "fem":
            monkeypatch.setattr(rays, "LONG_REACH_M", 100.0)
            short = readings(here, name, 0.7).distances_m.copy()
            monkeypatch.setattr(rays, "LONG_REACH_M", 0.0)
            assert readings(here, name, 0.7).distances_m == pytest.approx(short, abs=1e-9)


def test_rays_see_the_walls_of_a_bitmap(caster, tmp_path):
    """Every dark pixel is a box for the reference, whatever rectangles they became."""
    rng = np.random.default_rng(2)
    dark = rng.random((12, 12)) < 0.15
    dark[4:8, 3:9] = False
    Image.fromarray(np.where(dark, 0, 255).astype(np.uint8)).save(tmp_path / "plan.png")
    here = world(
        "arena: {size_m: [6, 6], bitmap: {file: plan.png}}\n"
        "robots: [{name: f, count: 6, place: {uniform: {size_m: [2, 1.5]}}}]\n",
        base=tmp_path,
    )
    pixels = "".join(
        f"{{box: {{center_m: [{-2.75 + 0.5 * column}, {2.75 - 0.5 * row}], size_m: [0.5, 0.5]}}}},"
        for row, column in np.argwhere(dark)
    )
    again = world(f"arena: {{size_m: [6, 6], obstacles: [{pixels}]}}\nrobots: [{{name: f, count: 6}}]\n")
    again.xyz[:], again.heading[:] = here.xyz, here.heading
    assert len(here.solid) < dark.sum()
    found = readings(here, "f", 4.0).distances_m
    for row in range(6):
        assert found[row] == pytest.approx(seen(again, row, here.heading[row] + ANGLES, 4.0), abs=1e-9)


@pytest.mark.parametrize("x", [-90.0, -1.0])
def test_at_and_beyond_the_border_of_an_open_arena_robots_see_each_other(caster, x):
    """All in one column, and rays that go up and a little outwards."""
    here = world("arena: {size_m: [2, 20], walls: false}\nrobots: [{name: f, count: 4}, {name: e, kind: e-puck}]\n")
    for number, (at_x, y) in enumerate([(x, 0.0), (x, 3.0), (x, 6.0), (0.0, -9.0)]):
        here.move(f"f{number}", (at_x, y), 0.0)
    here.look()
    fan = RayFan(here, here.groups[0], np.array([math.pi / 2, math.pi / 2 + 1e-3, math.pi / 2 - 1e-3]), 9.0)
    fan.cast()
    for row in range(4):
        assert fan.distances_m[row] == pytest.approx(seen(here, row, fan.angles_rad, 9.0), abs=1e-9)
    assert fan.distances_m[0] == pytest.approx(3.0 - 2 * FOOT_BOT_M, abs=1e-3)


def test_a_grid_of_rays_along_the_axes(caster):
    """Rays that run exactly along cells' borders and boxes' sides."""
    here = world(
        "arena: {size_m: [8, 8], obstacles: [{box: {center_m: [3, 0], size_m: [2, 2]}}, {box: {center_m: [0, -3], size_m: [2, 2]}}]}\n"
        "robots: [{name: f, place: {at_m: [[0, 0]]}, heading_deg: 0}]\n"
    )
    fan = RayFan(here, here.groups[0], np.array([0, 1, 2, 3]) * (math.pi / 2), 10.0)
    fan.cast()
    assert fan.distances_m[0] == pytest.approx(np.array([2, 4, 4, 2]) - FOOT_BOT_M, abs=1e-9)


# --- the sensors -----------------------------------------------------------------------------------------


def test_short_sonars_and_lasers_see_as_far_as_they_say():
    """Lists are as wide as the farthest-looking short sensor needs, not only the proximity ring."""
    for device in (
        "sonar: {rays: 4, range_m: 0.7}",
        "laser: {beams: 3, range_m: 0.7}",
        "proximity: {angles_deg: [0, 90], range_m: 0.7}",
    ):
        here = world(
            f"kinds: [{{name: mine, body: {{disk: {{radius_m: 0.1}}}}, devices: {{wheels: {{}}, {device}}}}}]\n"
            "robots: [{name: a, kind: mine, count: 2, place: {poses: [[0, 0, 0], [0.8, 0, 0]]}}]\n"
        )
        sensor = here.devices["a"].get(device.split(":", maxsplit=1)[0])
        ahead = np.abs(sensor.angles_rad).argmin()
        assert sensor.distances_m[0, ahead] == pytest.approx(0.6, abs=1e-9)
        assert sensor.one(0).distances_m[ahead] == sensor.distances_m[0, ahead]


def test_values_are_one_at_the_body_and_zero_out_of_range():
    here = world("arena: {size_m: [0.1701, 5]}\nrobots: [{name: a, place: {at_m: [[0, 0]]}, heading_deg: 0}]\n")
    values = here.devices["a"].get("proximity").one(0).values
    assert 0.9 < max(values) <= 1.0
    assert min(values) == 0.0


def test_what_a_controller_holds_cannot_spoil_the_world():
    here = world("robots: [{name: a, count: 3}]\n")
    before = here.xyz.copy()
    devices = here.devices["a"]
    for readings_of in (devices.get("positioning").x_m, devices.get("proximity").distances_m):
        with pytest.raises(ValueError, match="read-only"):
            readings_of[:] = 99
    devices.get("proximity").one(1).distances_m[0] = 99
    devices.get("odometry").pose[:] = 99
    assert (here.xyz == before).all()
    assert devices.get("proximity").distances_m.max() <= 0.1
    assert devices.get("odometry").pose.max() == 0.0


def test_readings_are_of_now_also_after_a_hand_moved_somebody():
    here, physics = moving("robots: [{name: a, count: 2, place: {poses: [[0, 0, 7.5], [1, 0, 0]]}}]\n")
    sensor = here.devices["a"].get("proximity")
    assert sensor.distances_m[0].min() == 0.1
    here.move("a1", (2 * FOOT_BOT_M + 0.05, 0.0))
    assert sensor.distances_m[0].min() == pytest.approx(0.05, abs=1e-3)
    here.twist[1, 0] = 0.3
    step(here, physics)
    assert sensor.distances_m[0].min() == pytest.approx(0.08, abs=2e-3)
