"""The default engine: exact arcs, and nobody enters or passes through anything, however hard they push."""

import math
from pathlib import Path

import numpy as np
import pytest
from worlds import (
    E_PUCK_M,
    FOOT_BOT_M,
    depth_of,
    distance_to,
    moving,
    outline,
    outlines,
    step,
    worst_overlap,
)

from robonet.errors import ControllerError
from robonet.robots.simulator import RobonetRobots
from robonet.scenario import parse_scenario

ONE = "robots: [{name: a, place: {at_m: [[0, 0]]}, heading_deg: 0}]\n"


def exact(forward, left, turn, seconds):
    """Where a twist leads, from the origin, by the integral of the turning velocity."""
    angle = turn * seconds
    sine, cosine = (math.sin(angle) / turn, (1 - math.cos(angle)) / turn) if turn else (seconds, 0.0)
    return forward * sine - left * cosine, forward * cosine + left * sine, angle


# --- alone -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "twist",
    [
        (0.1, 0.0, 0.0),  # straight
        (0.0, 0.0, -0.8),  # on the spot
        (0.15, 0.0, 0.7),  # an arc
        (-0.2, 0.0, 1e-7),  # a very wide one
        (0.0, 0.1, 0.0),  # sideways
        (0.1, -0.05, 2.0),  # everything at once
        (0.05, 0.2, -31.0),  # half a turn a step
    ],
)
def test_arcs_are_exact(twist):
    here, physics = moving(ONE)
    odometry = here.devices["a"].get("odometry")
    here.twist[0] = twist
    step(here, physics, 50)
    x, y, angle = exact(*twist, 5.0)
    assert here.xyz[0, :2] == pytest.approx((x, y), abs=1e-9)
    assert math.remainder(here.heading[0] - angle, 2 * math.pi) == pytest.approx(0.0, abs=1e-9)
    assert -math.pi < here.heading[0] <= math.pi
    assert odometry.pose[0, :2] == pytest.approx((x, y), abs=1e-9)
    assert math.remainder(odometry.pose[0, 2] - angle, 2 * math.pi) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    ("drive", "told", "twist"),
    [
        ("wheels: {wheel_distance_m: 0.2}", ("set_speed", 0.1, 0.3), (0.2, 0.0, 1.0)),
        ("wheels: {wheel_distance_m: 0.2}", ("set_velocity", 0.2, -1.0), (0.2, 0.0, -1.0)),
        ("omni: {}", ("set_velocity", 0.1, -0.2, 0.5), (0.1, -0.2, 0.5)),
        ("steering: {wheelbase_m: 0.3}", ("set", 0.3, math.atan(0.5)), (0.3, 0.0, 0.5)),
    ],
)
def test_every_drive_is_a_twist(drive, told, twist):
    here, physics = moving(
        f"kinds: [{{name: mine, body: {{disk: {{radius_m: 0.1}}}}, devices: {{{drive}}}}}]\n"
        "robots: [{name: a, kind: mine, place: {at_m: [[0, 0]]}, heading_deg: 0}]\n"
    )
    device = here.devices["a"].get(drive.split(":", maxsplit=1)[0])
    method, *values = told
    for actuator in (device, device.one(0)):
        here.twist[:] = 0.0
        getattr(actuator, method)(*values)
        assert here.twist[0] == pytest.approx(twist, abs=1e-12)
    step(here, physics, 20)
    assert here.xyz[0, :2] == pytest.approx(exact(*twist, 2.0)[:2], abs=1e-9)


def test_odometry_begins_where_the_robot_does_and_looks_ahead():
    here, physics = moving("robots: [{name: a, place: {at_m: [[1, 2]]}, heading_deg: 90}]\n")
    odometry = here.devices["a"].get("odometry")
    here.twist[0] = 0.1, 0.0, 0.3
    step(here, physics, 30)
    assert odometry.one(0).pose == pytest.approx(exact(0.1, 0.0, 0.3, 3.0), abs=1e-9)


@pytest.mark.parametrize("column", [0, 1, 2])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_refused_with_robot_and_time(column, value):
    """By the name of who was told so, not of whoever it touches."""
    here, physics = moving("robots: [{name: a, count: 3, place: {line: {spacing_m: 0.175}}}]\n")
    here.twist[:, 0] = 0.1
    step(here, physics, 3)
    here.twist[1, column] = value
    with pytest.raises(ControllerError, match=r"'a1' at .* at simulated time 0\.300 s: not finite"):
        step(here, physics)


# --- walls and things ------------------------------------------------------------------------------------


def test_a_wall_stops_the_body_and_not_the_odometry():
    here, physics = moving("arena: {size_m: [2, 2]}\n" + ONE)
    odometry = here.devices["a"].get("odometry")
    here.twist[0, 0] = 1.0
    step(here, physics, 50)
    assert here.devices["a"].get("positioning").one(0).x_m == pytest.approx(1.0 - FOOT_BOT_M, abs=1e-9)
    assert odometry.one(0).pose[0] == pytest.approx(5.0)


def test_a_robot_slides_along_a_wall_that_it_drives_into_at_an_angle():
    here, physics = moving("arena: {size_m: [40, 2]}\nrobots: [{name: a, place: {at_m: [[0, 0]]}, heading_deg: 45}]\n")
    here.twist[0, 0] = 1.0
    step(here, physics, 50)
    assert here.xyz[0, :2] == pytest.approx((5 / math.sqrt(2), 1.0 - FOOT_BOT_M), abs=1e-9)


def test_without_walls_the_arena_is_open():
    here, physics = moving("arena: {size_m: [2, 2], walls: false}\n" + ONE)
    here.twist[0, 0] = 1.0
    step(here, physics, 50)
    assert here.xyz[0, 0] == pytest.approx(5.0)


@pytest.mark.parametrize("kind", ["foot-bot", "pioneer"])
@pytest.mark.parametrize("speed", [1.0, 20.0])
def test_no_robot_passes_through_another_or_a_thin_box(speed, kind):
    """a> . b | : a is far faster than its own size a step."""
    here, physics = moving(
        "arena: {size_m: [20, 20], obstacles: [{box: {center_m: [3, 0], size_m: [0.01, 20]}}]}\n"
        f"robots: [{{name: a, kind: {kind}, place: {{at_m: [[-3, 0]]}}, heading_deg: 0}}, {{name: b, place: {{at_m: [[0, 0]]}}}}]\n"
    )
    here.twist[0, 0] = speed
    nose = outline(here, 0)[:, 0].max() + 3.0 if kind == "pioneer" else FOOT_BOT_M
    for _ in range(100):
        step(here, physics)
        assert here.xyz[0, 0] < 3.0 - 0.99 * nose
        assert here.xyz[1, 0] < 3.0 - 0.99 * FOOT_BOT_M
        assert depth_of(here, 0, 1) < 0.1 * FOOT_BOT_M
    assert max(here.xyz[0, 0] + nose, here.xyz[1, 0] + FOOT_BOT_M) > 2.95  # they did get there


@pytest.mark.parametrize(
    "thing",
    [
        "{box: {center_m: [1, 0], size_m: [0.2, 1], angle_deg: 30}}",
        "{circle: {center_m: [1, 0], radius_m: 0.4}}",
        "{polygon: {corners_m: [[0.8, -0.5], [1.4, 0], [0.8, 0.5], [1, 0]]}}",
    ],
)
@pytest.mark.parametrize("kind", ["e-puck", "minibot"])
def test_nobody_enters_what_stands(thing, kind):
    here, physics = moving(
        f"arena: {{size_m: [6, 6], obstacles: [{thing}]}}\n"
        f"robots: [{{name: a, kind: {kind}, place: {{line: {{start_m: [-1, -0.6], spacing_m: 0.25, angle_deg: 90}}}}, count: 6, heading_deg: 0}}]\n"
    )
    here.twist[:, 0] = 0.5
    polygons, disks = outlines(here)
    touched = False
    for index in range(100):
        here.twist[:, 2] = 2 * math.cos(index / 5)
        step(here, physics)
        for row in range(6):
            own = outline(here, row)
            points = np.array([here.xyz[row, :2]]) if own is None else own
            round_m = here.body_m[row] if own is None else 0.0
            gaps = [distance_to(*point, corners) - round_m for point in points for corners in polygons]
            gaps += [math.dist(point, disk[:2]) - disk[2] - round_m for point in points for disk in disks]
            assert min(gaps) > -0.1 * here.body_m[row]
            touched |= min(gaps) < 0.01
    assert touched


def test_a_polygon_does_not_turn_into_a_wall():
    here, physics = moving(
        "arena: {size_m: [4, 4]}\nrobots: [{name: a, kind: pioneer, place: {at_m: [[0, -1.809]]}, heading_deg: 0}]\n"
    )
    here.twist[0, 2] = 1.0
    for _ in range(60):
        step(here, physics)
        assert outline(here, 0)[:, 1].min() > -2.0 - 1e-9
    assert here.heading[0] != 0.0  # it gives way instead
    assert here.xyz[0, 1] > -1.809 + 0.01


def test_things_stand():
    here, physics = moving(
        ONE + "objects: [{name: box, box: {size_m: [0.2, 0.2]}, heading_deg: 45, place: {at_m: [[1, 0]]}},"
        " {name: post, cylinder: {radius_m: 0.1}, place: {at_m: [[-1, 0]]}}]\n"
    )
    before = here.xyz[1:].copy()
    here.twist[0, 0] = 0.4
    step(here, physics, 50)
    assert 0.9 < here.xyz[0, 0] + FOOT_BOT_M - (1 - 0.1 * math.sqrt(2)) + 0.9 < 0.91  # at the box's corner
    here.twist[0, 0] = -0.4
    step(here, physics, 60)
    assert here.xyz[0, 0] == pytest.approx(-0.9 + FOOT_BOT_M, abs=1e-3 * FOOT_BOT_M)
    assert (here.xyz[1:] == before).all() and (here.heading[1] == math.radians(45))


# --- crowds ----------------------------------------------------------------------------------------------


def is_in(here, low, high):
    xy, radius = here.xyz[: here.robots, :2], here.body_m[: here.robots, None]
    return (xy >= low + 0.999 * radius).all() and (xy <= high - 0.999 * radius).all()


@pytest.mark.parametrize("seed", range(2))
def test_a_crowd_neither_overlaps_nor_leaves_nor_enters_obstacles(seed):
    here, physics = moving(
        f"seed: {seed}\n"
        "arena: {size_m: [6, 4], obstacles: [{box: {center_m: [1, 0], size_m: [1, 0.6], angle_deg: 30}}, "
        "{circle: {center_m: [-1.5, 0.5], radius_m: 0.4}}]}\n"
        "robots: [{name: a, count: 150}, {name: b, kind: e-puck, count: 50}]\n"
    )
    rng = np.random.default_rng(seed)
    box = outlines(here)[0][0]
    for index in range(200):
        here.twist[:, 0], here.twist[:, 2] = rng.uniform(-0.5, 1.0, 200), rng.uniform(-5.0, 5.0, 200)
        step(here, physics)
        xy, radius = here.xyz[:, :2], here.body_m
        assert is_in(here, np.array([-3.0, -2.0]), np.array([3.0, 2.0]))
        assert worst_overlap(xy, radius) < 0.1 * E_PUCK_M
        assert (np.linalg.norm(xy - (-1.5, 0.5), axis=1) > 0.4 + 0.9 * radius).all()
        if index % 10 == 0:
            assert min(distance_to(*point, box) - 0.9 * own for point, own in zip(xy, radius, strict=True)) > 0


@pytest.mark.parametrize("speed", [0.05, 0.3, 1.5])
@pytest.mark.parametrize("obstacle", ["", ", obstacles: [{box: {center_m: [4.75, 0], size_m: [0.5, 4]}}]"])
def test_a_crowd_that_pushes_against_a_wall_or_a_box_stays_apart(speed, obstacle):
    """Rows behind each other, all at one speed: who is stopped must stop whoever is behind it, in the same step."""
    here, physics = moving(
        f"arena: {{size_m: [{10 if obstacle else 9}, 4]{obstacle}}}\n"
        "robots: [{name: a, count: 49, heading_deg: 0, place: {grid: {center_m: [3, 0], spacing_m: 0.172}}}]\n"
    )
    here.twist[:, 0] = speed
    for _ in range(200 if speed == 0.05 else 100):
        step(here, physics)
        assert worst_overlap(here.xyz[:, :2], here.body_m) < 0.05 * FOOT_BOT_M
        assert here.xyz[:, 0].max() < 4.5 - 0.99 * FOOT_BOT_M
    assert here.xyz[:, 0].max() > 4.49 - FOOT_BOT_M


def corner_jam(robots):
    here, physics = moving(
        "arena: {size_m: [12, 12]}\n"
        f"robots: [{{name: a, {robots}, place: {{grid: {{center_m: [3.4, 3.4], spacing_m: 0.25}}}}}}]\n"
    )

    def heading_for(x, y, speed):
        wish = np.arctan2(y - here.xyz[:, 1], x - here.xyz[:, 0]) - here.heading
        here.twist[:, 0] = speed
        here.twist[:, 2] = np.clip(5 * (np.remainder(wish + math.pi, 2 * math.pi) - math.pi), -3, 3)

    return here, physics, heading_for


def test_a_jam_in_a_corner_stays_solid_and_dissolves():
    """Three hundred drive into one corner for 30 s; afterwards all can turn and get out again."""
    here, physics, heading_for = corner_jam("count: 300")
    worst = 0.0
    for _ in range(300):
        heading_for(6.0, 6.0, 0.5)
        step(here, physics)
        worst = max(worst, worst_overlap(here.xyz[:, :2], here.body_m))
        assert is_in(here, -6.0, 6.0)
    assert worst < 0.1 * FOOT_BOT_M
    packed = np.linalg.norm(here.xyz[:, :2] - 6.0, axis=1)
    assert packed.mean() < 3.5  # it is a jam
    for _ in range(200):
        heading_for(-1e3, -1e3, 0.5)
        step(here, physics)
        worst = max(worst, worst_overlap(here.xyz[:, :2], here.body_m))
    assert worst < 0.1 * FOOT_BOT_M
    assert (np.linalg.norm(here.xyz[:, :2] - 6.0, axis=1) > packed + 8).all()  # of ten metres


def test_who_is_wedged_in_can_still_turn():
    here, physics, heading_for = corner_jam("count: 100")
    for _ in range(150):
        heading_for(6.0, 6.0, 0.5)
        step(here, physics)
    before = here.heading.copy()
    here.twist[:] = 0.0, 0.0, 1.0
    step(here, physics, 10)
    assert np.remainder(here.heading - before, 2 * math.pi) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("kind", ["pioneer", "minibot"])
def test_a_crowd_of_polygons_stays_apart_and_inside(kind):
    here, physics = moving(f"arena: {{size_m: [5, 5]}}\nrobots: [{{name: a, kind: {kind}, count: 40}}]\n")
    rng = np.random.default_rng(3)
    inner = np.abs(np.array(here.shapes.corners)).min() if kind == "pioneer" else 0.1
    worst = 0.0
    for index in range(200):
        if index % 10 == 0:
            here.twist[:, 0], here.twist[:, 2] = rng.uniform(-0.2, 0.8, 40), rng.uniform(-2.0, 2.0, 40)
        if index >= 100:  # and now all into a corner
            wish = np.arctan2(2.5 - here.xyz[:, 1], 2.5 - here.xyz[:, 0]) - here.heading
            here.twist[:, 0] = 0.3
            here.twist[:, 2] = np.clip(np.remainder(wish + math.pi, 2 * math.pi) - math.pi, -1, 1)
        step(here, physics)
        for row in range(40):
            assert np.abs(outline(here, row)).max() < 2.5 + 0.01 * inner
        near = np.linalg.norm(here.xyz[:, None, :2] - here.xyz[None, :, :2], axis=2) < 2 * here.body_m[0]
        worst = max([worst, *(depth_of(here, a, b) for a, b in np.argwhere(np.triu(near, 1)))])
    assert worst < 0.1 * 0.1


@pytest.mark.parametrize("kind", ["foot-bot", "minibot"])
def test_whom_a_hook_put_into_each_other_part_again(kind):
    here, physics = moving(f"robots: [{{name: a, kind: {kind}, count: 5}}]\n")
    for number, (x, y) in enumerate([(0.0, 0.0), (0.0, 0.0), (0.05, 0.0), (0.0, 0.03), (-0.02, -0.02)]):
        here.move(f"a{number}", (x, y), 0.0)
    step(here, physics, 30)
    assert max(depth_of(here, a, b) for a in range(5) for b in range(a)) < 0.01 * here.body_m[0]
    assert np.abs(here.xyz).max() < 1.0  # without a bang
    step(here, physics, 5)
    settled = here.xyz.copy()
    step(here, physics, 5)
    assert here.xyz == pytest.approx(settled, abs=1e-4)


def test_whom_a_hook_put_into_a_thing_gets_out():
    here, physics = moving("arena: {obstacles: [{box: {center_m: [0, 0], size_m: [2, 1]}}]}\nrobots: [{name: a}]\n")
    here.move("a", (0.1, 0.2))
    step(here, physics, 10)
    assert here.xyz[0, :2] == pytest.approx((0.1, 0.5 + FOOT_BOT_M), abs=1e-3 * FOOT_BOT_M)


def test_prescribed_robots_are_not_in_the_way():
    here, physics = moving(
        "robots: [{name: a, place: {at_m: [[0, 0]]}, heading_deg: 0},"
        " {name: ghost, motion: {path: {points_m: [[0.3, 0], [0.4, 0]]}}}]\n"
    )
    here.twist[0, 0] = 0.5
    step(here, physics, 20)
    assert here.xyz[0, 0] == pytest.approx(1.0)


# --- ten thousand ----------------------------------------------------------------------------------------


def diffusing(count, text):
    scenario = parse_scenario(
        f"robonet: 1\nname: t\nduration_s: 60\n{text}robots: [{{name: a, count: {count}, controller: diffusion}}]\n"
    ).scenario
    robots = RobonetRobots(scenario, Path())
    robots.minds.start()
    return robots.world, robots._physics, robots.minds


def test_ten_thousand_diffuse_for_a_minute_apart_and_inside():
    crosses = [
        f"{{box: {{center_m: [{x}, {y}], size_m: [{w}, {h}]}}}}"
        for x, y, w, h in ((10, 0, 16, 0.1), (-10, 0, 16, 0.1), (0, 10, 0.1, 16), (0, -10, 0.1, 16))
    ]
    here, physics, mind = diffusing(10_000, "arena: {size_m: [40, 40], obstacles: [" + ", ".join(crosses) + "]}\n")
    start = here.xyz.copy()
    for index in range(600):
        here.look()
        mind.step()
        physics.step()
        here.index += 1
        if index % 20 == 19:
            xy = here.xyz[:, :2]
            assert worst_overlap(xy, here.body_m) < 0.1 * FOOT_BOT_M
            assert np.abs(xy).max() <= 20.0 - 0.999 * FOOT_BOT_M
            for corners in outlines(here)[0]:
                half = np.ptp(corners, axis=0) / 2
                beside = np.maximum(np.abs(xy - corners.mean(axis=0)) - half, 0.0)
                assert np.hypot(*beside.T).min() > 0.9 * FOOT_BOT_M
    assert np.linalg.norm(here.xyz - start, axis=1).mean() > 0.3
