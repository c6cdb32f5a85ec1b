"""The engine with masses and forces, against mechanics worked out by hand."""

import math

import numpy as np
import pytest

from robonet.errors import ControllerError
from robonet.robots.engines.dynamics2d import Dynamics2D
from robonet.robots.engines.dynamics2d_bodies import GRAVITY_M_S2, WHEEL_GRIP
from robonet.robots.physics import Physics
from robonet.robots.placement import place_all
from robonet.robots.regions import Borders
from robonet.robots.world import World
from robonet.scenario import parse_scenario
from robonet.space import NeighbourLists

RADIUS = 0.085036758
MASS = 1.6
LIMIT = WHEEL_GRIP * MASS * GRAVITY_M_S2


def world(text, **places):
    scenario = parse_scenario("robonet: 1\nname: t\nduration_s: 10\nengine: dynamics2d\n" + text).scenario
    made = World(scenario)
    place_all(made)
    for name, at_m in places.items():
        made.move(name, at_m, 0.0)
    Borders(made).claim()
    return made


def engine_of(here):
    return Dynamics2D(here, 0, here.engines[0])


def run(engine, steps):
    for _ in range(steps):
        engine.step()


NOBODY = "stations: [{name: base, at_m: [4, 4]}]\n"
ONE = "robots: [{name: a, place: {at_m: [[0, 0]]}, heading_deg: 0}]\n"


def box(mass=1.0, friction=0.5, more=""):
    return (
        "objects: [{name: box, box: {size_m: [0.2, 0.2]}, heading_deg: 0, "
        f"mass_kg: {mass}, friction: {friction}{more}}}]\n"
    )


# --- driving ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("twist", [(0.1, 0.0, 0.0), (0.0, 0.0, -0.8), (0.15, 0.0, 0.7), (0.1, -0.05, 2.0)])
def test_a_free_robot_goes_as_told_at_once_and_exactly(twist):
    here = world(ONE)
    engine = engine_of(here)
    here.twist[0] = twist
    run(engine, 50)
    forward, left, turn = twist
    angle = 5.0 * turn
    sine, cosine = (math.sin(angle) / turn, (1 - math.cos(angle)) / turn) if turn else (5.0, 0.0)
    assert np.allclose(here.xyz[0, :2], (forward * sine - left * cosine, forward * cosine + left * sine), atol=1e-9)
    assert math.remainder(here.heading[0] - angle, 2 * math.pi) == pytest.approx(0.0, abs=1e-9)
    assert abs(here.heading[0]) <= math.pi


def test_a_wall_stops_a_robot_and_without_walls_the_arena_is_open():
    for walls, expected in (("true", 1.0 - RADIUS), ("false", 5.0)):
        here = world(f"arena: {{size_m: [2, 2], walls: {walls}}}\n" + ONE)
        here.twist[0, 0] = 1.0
        run(engine_of(here), 50)
        assert here.xyz[0, 0] == pytest.approx(expected, abs=0.05 * RADIUS)


@pytest.mark.parametrize("speed", [0.3, 1.0, 20.0])
def test_nothing_passes_through_a_robot_or_a_thin_wall(speed):
    here = world(
        "arena: {size_m: [20, 20], obstacles: [{box: {center_m: [3, 0], size_m: [0.01, 20]}}]}\n"
        "robots: [{name: a, place: {at_m: [[-1, 0]]}, heading_deg: 0}, {name: b, place: {at_m: [[0, 0]]}}]\n"
    )
    engine = engine_of(here)
    here.twist[0, 0] = speed
    for _ in range(100):
        engine.step()
        assert here.xyz[:, 0].max() < 3.0 - 0.9 * RADIUS
        assert math.dist(here.xyz[0, :2], here.xyz[1, :2]) > 1.9 * RADIUS


def test_a_small_thing_that_is_kicked_hard_stays_on_its_side():
    here = world(
        "arena: {obstacles: [{box: {center_m: [1, 0], size_m: [0.01, 9]}}]}\n"
        + NOBODY
        + "objects: [{name: puck, cylinder: {radius_m: 0.02}, friction: 0.01}]\n",
        puck=(0.0, 0.0),
    )
    here.velocity[1, 0] = 30.0
    run(engine_of(here), 20)
    assert 0.9 < here.xyz[1, 0] < 1.0 - 0.005 - 0.9 * 0.02


@pytest.mark.parametrize(
    "obstacle",
    [
        "{box: {center_m: [1, 0], size_m: [0.4, 0.4], angle_deg: 45}}",
        "{circle: {center_m: [1, 0], radius_m: 0.2828}}",
        "{polygon: {corners_m: [[0.7172, 0], [1.2, -0.3], [1.2, 0.3]]}}",
    ],
)
def test_obstacles_of_every_shape_stop_robots(obstacle):
    here = world(f"arena: {{obstacles: [{obstacle}]}}\n" + ONE)
    here.twist[0, 0] = 0.2
    run(engine_of(here), 100)
    assert here.xyz[0, 0] == pytest.approx(0.7172 - RADIUS, abs=0.05 * RADIUS)


def test_robots_with_corners_collide_by_their_outline():
    here = world(
        "robots: [{name: a, kind: minibot, place: {at_m: [[0, 0]]}, heading_deg: 0},"
        " {name: b, kind: minibot, place: {at_m: [[0.5, 0]]}, heading_deg: 0}]\n"
    )
    here.twist[0, 0], here.twist[1, 0] = 0.2, -0.2
    run(engine_of(here), 50)
    assert here.xyz[1, 0] - here.xyz[0, 0] == pytest.approx(0.2, abs=0.005)


# --- mechanics -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("aside", [0.0, 0.1, 0.2])
def test_a_collision_keeps_momentum_and_gains_no_energy(aside):
    here = world(
        NOBODY + "objects: [{name: a, cylinder: {radius_m: 0.1}, mass_kg: 1, friction: 0},"
        " {name: b, cylinder: {radius_m: 0.15}, mass_kg: 3, friction: 0}]\n",
        a=(0.0, 0.0),
        b=(1.0, aside),
    )
    here.velocity[1] = 1.0, 0.1, 0.0
    momentum, energy = here.velocity[1] * 1.0, 0.5 * 1.01
    engine = engine_of(here)
    for _ in range(30):
        engine.step()
        assert np.allclose((here.mass_kg[:, None] * here.velocity).sum(axis=0), momentum, atol=1e-12)
        now = 0.5 * float((here.mass_kg * (here.velocity**2).sum(axis=1)).sum())
        assert now <= energy + 1e-12
        energy = now
    assert here.velocity[2, 0] > 0.1  # they did meet


@pytest.mark.parametrize("speed", [0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("friction", [0.2, 0.5])
def test_a_kicked_box_slides_as_far_as_friction_lets_it(speed, friction):
    here = world(NOBODY + box(friction=friction), box=(0.0, 0.0))
    here.velocity[1, 0] = speed
    run(engine_of(here), 60)
    assert here.xyz[1, 0] == pytest.approx(speed**2 / (2 * friction * GRAVITY_M_S2), abs=speed * 0.006)
    assert not here.velocity[1].any()


def test_a_robot_pushes_what_its_wheels_can_and_no_more():
    """Within the limit a box moves as fast as the robot wants to go, later the heavier it is; beyond, not at all."""
    moved = []
    for mass in (0.2, 1.0, 2.4, 2.7, 20.0):
        here = world(ONE + box(mass), box=(0.3, 0.0))
        here.twist[0, 0] = 0.1
        engine = engine_of(here)
        run(engine, 100)
        moved.append(here.xyz[1, 0] - 0.3)
        can = 0.5 * mass * GRAVITY_M_S2 < LIMIT
        assert here.velocity[1, 0] == pytest.approx(0.1 if can else 0.0, abs=1e-6)
        assert (moved[-1] > 0.8) == can
        assert can or moved[-1] < 0.002
    assert moved == sorted(moved, reverse=True)


def test_the_force_of_a_robot_is_what_accelerates_a_frictionless_box():
    here = world(ONE + box(50.0, friction=0.0), box=(0.1 + RADIUS, 0.0))
    here.twist[0, 0] = 1.0
    engine = engine_of(here)
    engine.step()
    before = here.velocity[1, 0]
    assert before * 51.6 <= MASS * 1.0 + LIMIT * 0.1  # no more than its momentum and what it pushed since
    for _ in range(10):
        engine.step()
        assert (here.velocity[1, 0] - before) * 51.6 / 0.1 == pytest.approx(LIMIT, rel=0.01)
        before = here.velocity[1, 0]


def test_what_may_not_be_moved_stands_like_a_wall():
    here = world(ONE + box(0.1, more=", movable: false"), box=(0.5, 0.0))
    here.twist[0, 0] = 0.3
    engine = engine_of(here)
    run(engine, 50)
    assert here.xyz[1].tolist() == [0.5, 0.0, 0.0]
    assert here.xyz[0, 0] == pytest.approx(0.4 - RADIUS, abs=0.05 * RADIUS)
    here.move("box", (0.5, 2.0))
    run(engine, 50)
    assert here.xyz[0, 0] > 1.0
    assert here.xyz[1].tolist() == [0.5, 2.0, 0.0]


# --- gripping --------------------------------------------------------------------------------------------


def test_a_gripped_box_follows_until_it_is_let_go():
    here = world(ONE + box(0.3), box=(0.2, 0.0))
    engine = engine_of(here)
    here.grip_wish[0] = True
    here.twist[0, 0] = -0.1
    run(engine, 30)
    assert here.grips[0] == 1
    assert here.xyz[1, 0] - here.xyz[0, 0] == pytest.approx(0.2, abs=1e-3)
    here.twist[0] = 0.0, 0.0, 0.5
    run(engine, 30)
    offset = here.xyz[1, :2] - here.xyz[0, :2]
    assert math.atan2(offset[1], offset[0]) == pytest.approx(here.heading[0], abs=0.02)
    assert here.heading[1] == pytest.approx(here.heading[0], abs=0.02) and here.heading[0] > 1.0
    here.grip_wish[0] = False
    here.twist[0] = -0.1, 0.0, 0.0
    run(engine, 5)
    left = here.xyz[1].copy()
    run(engine, 30)
    assert here.grips[0] == -1
    assert (here.xyz[1] == left).all()


@pytest.mark.parametrize(
    ("at_m", "held"), [((0.2, 0.0), True), ((0.2, 0.05), True), ((0.25, 0.0), False), ((-0.2, 0.0), False)]
)
def test_a_gripper_reaches_only_what_is_right_ahead(at_m, held):
    here = world(ONE + box(0.3), box=at_m)
    engine = engine_of(here)
    here.grip_wish[0] = True
    engine.step()
    assert (here.grips[0] == 1) == held


def test_two_robots_pull_what_one_cannot():
    """
    a> [box] <b : a goes back, b goes forward
    """
    two = "robots: [{name: a, place: {at_m: [[-0.2, 0]]}, heading_deg: 0}, {name: b, place: {at_m: [[0.2, 0]]}, heading_deg: 180}]\n"
    moved = []
    for helpers in (1, 2):
        here = world(two + box(3.0), box=(0.0, 0.0))
        engine = engine_of(here)
        here.grip_wish[:2] = True, helpers == 2
        engine.step()
        assert here.grips[:2].tolist() == [2, 2 if helpers == 2 else -1]
        here.twist[0, 0] = -0.1
        here.twist[1, 0] = 0.1 if helpers == 2 else -0.1
        run(engine, 50)
        moved.append(-here.xyz[2, 0])
    assert moved[0] < 0.01 and moved[1] > 0.3


def test_walls_are_not_gripped_and_robots_are():
    here = world(
        "robots: [{name: a, place: {at_m: [[0, 0]]}, heading_deg: 0}, {name: b, place: {at_m: [[0.19, 0]]}}]\n"
        + box(1.0, more=", movable: false"),
        box=(0.0, 0.2),
    )
    engine = engine_of(here)
    here.grip_wish[0] = True
    engine.step()
    assert here.grips[0] == 1
    here.grip_wish[0] = False
    engine.step()
    here.move("a", (0.0, 0.0), math.pi / 2)
    here.grip_wish[0] = True
    engine.step()
    assert here.grips[0] == -1


# --- what others change ----------------------------------------------------------------------------------


def test_what_hooks_move_remove_and_add_is_taken_over():
    here = world(
        "robots: [{name: a, place: {at_m: [[0, 0]]}, heading_deg: 0}]\n"
        "objects: [{name: box, box: {size_m: [0.2, 0.2]}, heading_deg: 0, count: 1, reserve: 1}]\n",
        box0=(0.2, 0.0),
    )
    borders = Borders(here)
    engine = engine_of(here)
    here.grip_wish[0] = True
    engine.step()
    assert here.grips[0] == 1
    here.move("box0", (2.0, 0.0))
    engine.step()
    assert here.grips[0] == -1 and here.xyz[1, 0] == 2.0
    here.remove("box0")
    engine.step()
    added = here.add("box", (0.2, 0.0))
    borders.claim()
    engine.step()
    assert here.grips[0] == here.row_of(added)
    here.remove(added)
    engine.step()
    assert here.grips[0] == -1
    here.xyz[0, :2] = 1.0, 1.0  # by hand, without a word
    here.twist[0, 0] = 0.1
    engine.step()
    assert here.xyz[0, :2] == pytest.approx((1.01, 1.0))


def test_walls_stand_still_when_others_leave():
    """pymunk lets every body be told a velocity, the ground too: what a robot left behind there would move all walls."""
    here = world(
        "arena: {size_m: [4, 4]}\nrobots: [{name: a, place: {at_m: [[1.8, 0]]}, heading_deg: 0},"
        " {name: b, count: 4, place: {at_m: [[-1, -1], [-1, 0], [-1, 1], [0, 0]]}, heading_deg: 180}]\n"
    )
    engine = engine_of(here)
    here.twist[:, 0] = 0.05
    run(engine, 60)
    for name in ("b0", "b1", "b2", "b3"):
        here.remove(name)
        for _ in range(10):
            engine.step()
            assert abs(here.velocity[0, :2]).max() < 1e-6
    assert here.xyz[0, 0] == pytest.approx(2.0 - RADIUS, abs=0.05 * RADIUS)


TWO_ENGINES = (
    "engines: [{name: west, engine: dynamics2d, region: {box: {center_m: [-2, 0], size_m: [4, 8]}}, sides: [wall, {gate: east}, wall, wall]},"
    " {name: east, engine: dynamics2d, region: {box: {center_m: [2, 0], size_m: [4, 8]}}, sides: [wall, wall, wall, %s]}]\n"
)


def on_both(text, threads=1):
    scenario = parse_scenario(
        f"robonet: 1\nname: t\nduration_s: 10\nthreads: {threads}\narena: {{size_m: [8, 8]}}\n" + text
    ).scenario
    made = World(scenario)
    place_all(made)
    return made, Physics(made)


def test_a_robot_goes_through_a_gate_and_not_through_a_wall():
    start = "robots: [{name: a, place: {at_m: [[-0.5, 0]]}, heading_deg: 0}]\n"
    here, physics = on_both(TWO_ENGINES % "{gate: west}" + start)
    for twist, owner, x_m in ((0.3, 1, 1.0), (-0.3, 0, -0.5)):
        here.twist[0, 0] = twist
        for _ in range(50):
            physics.step()
        assert here.owner[0] == owner and here.xyz[0, 0] == pytest.approx(x_m)
    here, physics = on_both(TWO_ENGINES % "wall" + start)
    here.move("a", (0.5, 0.0), 0.0)
    here.owner[0] = 1
    here.twist[0, 0] = -0.3
    for _ in range(50):
        physics.step()
    assert here.owner[0] == 1 and here.xyz[0, 0] == pytest.approx(RADIUS, abs=0.05 * RADIUS)


def test_a_hold_ends_where_the_robot_changes_engines_and_begins_anew_there():
    here, physics = on_both(
        TWO_ENGINES % "{gate: west}" + "robots: [{name: a, place: {at_m: [[0.5, 0]]}, heading_deg: 0}]\n"
        "objects: [{name: box, box: {size_m: [0.2, 0.2]}, count: 2, heading_deg: 0, place: {at_m: [[-0.5, 0], [0.7, 0]]}}]\n"
    )
    here.move("box0", (-0.5, 0.0), 0.0)
    here.move("box1", (0.7, 0.0), 0.0)
    here.owner[:] = 1, 0, 1
    here.grip_wish[0] = True
    physics.step()
    assert here.grips[0] == 2
    here.move("a", (-0.7, 0.0), 0.0)
    here.owner[0] = 0
    physics.step()
    assert here.grips[0] == 1
    here.twist[0, 0] = -0.1
    for _ in range(20):
        physics.step()
    assert here.grips[0] == 1 and here.xyz[1, 0] < -0.65 and here.xyz[2, 0] == pytest.approx(0.7)


def test_the_same_bits_in_every_run_and_on_every_number_of_threads():
    def digest(threads):
        here, physics = on_both(
            TWO_ENGINES % "{gate: west}" + "robots: [{name: a, count: 150}]\n"
            "objects: [{name: c, cylinder: {radius_m: 0.1}, count: 20, mass_kg: 0.5}]\n",
            threads,
        )
        rng = np.random.default_rng(1)
        here.xyz[150:, :2] = rng.uniform(-3.5, 3.5, (20, 2))
        here.grip_wish[:30] = True
        owners = here.owner.copy()
        for _ in range(80):
            here.twist[:150, 0], here.twist[:150, 2] = 0.3, rng.normal(0.0, 0.5, 150)
            physics.step()
        assert (here.owner != owners).any() and (here.grips >= 0).any()
        return here.xyz.tobytes() + here.heading.tobytes() + here.velocity.tobytes()

    assert digest(1) == digest(1) == digest(2)


@pytest.mark.parametrize("what", ["twist", "heading", "xyz"])
def test_what_is_no_number_is_refused_by_name_and_time(what):
    here = world(ONE)
    engine = engine_of(here)
    engine.step()
    here.index = 3
    getattr(here, what)[0] = math.nan
    with pytest.raises(ControllerError, match=r"'a' .* simulated time 0\.300 s"):
        engine.step()


# --- crowds ----------------------------------------------------------------------------------------------


def worst_overlap(here):
    lists = NeighbourLists(np.full(here.robots, 2 * RADIUS))
    lists.update(here.xyz[: here.robots] * (1.0, 1.0, 0.0))
    one = np.repeat(np.arange(here.robots), np.diff(lists.offsets))
    apart = np.linalg.norm(here.xyz[one, :2] - here.xyz[lists.nodes, :2], axis=1)
    return float((2 * RADIUS - apart).max(initial=0.0))


def test_a_jam_in_a_corner_stays_solid():
    here = world(
        "arena: {size_m: [12, 12]}\n"
        "robots: [{name: a, count: 400, place: {grid: {center_m: [3.4, 3.4], spacing_m: 0.25}}}]\n"
    )
    engine = engine_of(here)
    here.twist[:, 0] = 0.3
    for _ in range(200):
        to_corner = np.arctan2(6.0 - here.xyz[:, 1], 6.0 - here.xyz[:, 0])
        here.twist[:, 2] = np.clip(
            3 * np.remainder(to_corner - here.heading + math.pi, 2 * math.pi) - 3 * math.pi, -1, 1
        )
        engine.step()
        assert worst_overlap(here) < 0.1 * RADIUS
        assert np.abs(here.xyz[:, :2]).max() < 6.0 - 0.9 * RADIUS
    assert np.hypot(*here.velocity[:, :2].T).mean() < 0.02  # and comes to rest


@pytest.mark.timeout(600)
def test_ten_thousand_stay_apart_and_inside():
    here = world(
        "arena: {size_m: [40, 40], obstacles: [{box: {center_m: [0, 5], size_m: [0.2, 12]}}]}\n"
        "robots: [{name: a, count: 10000}]\n"
    )
    engine = engine_of(here)
    rng = np.random.default_rng(1)
    for index in range(600):
        if index % 10 == 0:  # bump into someone, turn for a second, go on
            stuck = np.hypot(*here.velocity[:, :2].T) < 0.025
            here.twist[:, 0] = np.where(stuck & (index > 0), 0.0, 0.05)
            here.twist[:, 2] = rng.normal(0.0, np.where(stuck, 2.0, 0.3))
        engine.step()
        assert np.abs(here.xyz[:, :2]).max() < 20.0 - 0.9 * RADIUS
        if index % 10 == 9:
            assert worst_overlap(here) < 0.1 * RADIUS
    beside = np.abs(here.xyz[:, 0]) - 0.1, np.abs(here.xyz[:, 1] - 5) - 6
    assert np.hypot(np.maximum(beside[0], 0), np.maximum(beside[1], 0)).min() > 0.9 * RADIUS
