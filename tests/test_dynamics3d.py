"""Rigid bodies in space: what MuJoCo makes of robots that drive, push, jam, fly, and cross gates."""

import math
import sys

import numpy as np
import pytest

from robonet.errors import ControllerError, SimulatorError, UserError
from robonet.robots.engines import dynamics3d_model, pointmass3d
from robonet.robots.engines.dynamics3d_drive import GRAVITY_M_S2, WHEEL_GRIP
from robonet.robots.physics import Physics
from robonet.robots.placement import place_all
from robonet.robots.world import World
from robonet.scenario import parse_scenario

RADIUS, MASS = 0.085036758, 1.6
LIMIT = WHEEL_GRIP * MASS * GRAVITY_M_S2
ONE = "robots: [{name: a, place: {at_m: [[0, 0]]}, heading_deg: 0}]\n"
EYE = "robots: [{name: a, kind: eye-bot, place: {at_m: [[0, 0]]}, heading_deg: 0}]\n"

GATES = (
    "engines: [{name: west, engine: %s, region: {box: {center_m: [-2, 0], size_m: [4, 8]}}, sides: [wall, {gate: east}, wall, wall]},"
    " {name: east, engine: dynamics3d, region: {box: {center_m: [2, 0], size_m: [4, 8]}}, sides: [wall, wall, wall, %s]}]\n"
)


def made(text=ONE, arena="{size_m: [8, 8]}", threads=1):
    engine = "" if "engines:" in text else "engine: dynamics3d\n"
    head = f"robonet: 1\nname: t\nduration_s: 100\nthreads: {threads}\narena: {arena}\n{engine}"
    scenario = parse_scenario(head + text).scenario
    world = World(scenario)
    place_all(world)
    return world, Physics(world)


def box(mass, x=0.25, more="", form="box: {size_m: [0.2, 0.2]}", name="box"):
    return f"{{name: {name}, {form}, mass_kg: {mass}, place: {{at_m: [[{x}, 0]]}}, heading_deg: 0{more}}}"


ALONE = "stations: [{name: s, at_m: [3, 3]}]\n"
"""Something to simulate beside things: row 0."""


def objects(*each):
    return f"objects: [{', '.join(each)}]\n"


def run(world, physics, steps, control=None):
    for _ in range(steps):
        world.look()
        if control is not None:
            control()
        physics.step()
        world.index += 1
        physics.finish()


# --- driving ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("speed", [0.05, 0.3, 1.5])
def test_a_straight_drive_covers_speed_times_time(speed):
    world, physics = made(arena="{size_m: [50, 50]}")
    world.twist[0, 0] = speed
    run(world, physics, 100)
    assert world.xyz[0, 0] == pytest.approx(speed * 10.0, rel=0.01)
    assert abs(world.xyz[0, 1]) < 1e-9 and world.xyz[0, 2] == 0.0 and world.heading[0] == 0.0
    assert world.velocity[0] == pytest.approx([speed, 0.0, 0.0], abs=1e-6)


def test_it_turns_as_fast_as_it_is_told_and_drives_circles():
    world, physics = made()
    world.twist[0] = 0.2, 0.0, 0.4
    run(world, physics, 157)
    assert world.heading[0] == pytest.approx(15.7 * 0.4 - 2 * math.pi, rel=0.01, abs=0.01)
    assert world.xyz[0, :2] == pytest.approx([0.0, 0.0], abs=0.02)  # once around
    run(world, physics, 79)
    assert np.hypot(*world.xyz[0, :2]) == pytest.approx(2 * 0.5, rel=0.02)  # the diameter away


def test_robots_go_sideways_too():
    world, physics = made(ONE.replace("heading_deg: 0", "heading_deg: 90"))
    world.twist[0] = 0.1, 0.2, 0.0
    run(world, physics, 50)
    assert world.xyz[0, :2] == pytest.approx([-1.0, 0.5], rel=0.01)


def test_wheels_grip_only_so_much():
    world, physics = made(arena="{size_m: [50, 50]}")
    world.twist[0, 0] = 5.0
    run(world, physics, 1)
    assert world.velocity[0, 0] == pytest.approx(WHEEL_GRIP * GRAVITY_M_S2 * 0.1, rel=1e-6)


# --- what stands -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("speed", [0.1, 1.0, 5.0])
def test_the_walls_of_the_arena_stop_a_robot(speed):
    world, physics = made()
    world.twist[0, 0] = speed
    for _ in range(60 if speed > 0.5 else 450):
        run(world, physics, 1)
        assert world.xyz[0, 0] < 4.0 - 0.9 * RADIUS
    assert world.xyz[0, 0] == pytest.approx(4.0 - RADIUS, abs=0.01 * RADIUS)
    assert abs(world.velocity[0, 0]) < 1e-3


@pytest.mark.parametrize(
    ("obstacle", "face"),
    [
        ("{box: {center_m: [1.5, 0], size_m: [1, 3]}}", 1.0),
        ("{box: {center_m: [1.5, 0], size_m: [3, 1], angle_deg: 90}}", 1.0),
        ("{circle: {center_m: [1.5, 0], radius_m: 0.5}}", 1.0),
        ("{polygon: {corners_m: [[1, -1], [3, -2], [3, 2], [1, 1]]}}", 1.0),
    ],
)
@pytest.mark.parametrize(("kind", "front"), [("foot-bot", RADIUS), ("box", 0.2), ("wedge", 0.3)])
def test_obstacles_stop_robots_of_every_form(obstacle, face, kind, front):
    kinds = (
        "kinds: [{name: box, like: foot-bot, body: {box: {size_m: [0.4, 0.2]}}},"
        " {name: wedge, like: foot-bot, body: {polygon: {corners_m: [[0.3, 0.1], [-0.2, 0.15], [-0.2, -0.15], [0.3, -0.1]]}}}]\n"
    )
    world, physics = made(
        kinds + ONE.replace("name: a", f"name: a, kind: {kind}"), f"{{size_m: [8, 8], obstacles: [{obstacle}]}}"
    )
    world.twist[0, 0] = 0.5
    run(world, physics, 40)
    assert world.xyz[0, 0] == pytest.approx(face - front, abs=0.05 * RADIUS)
    world.twist[0, 0] = -0.5
    run(world, physics, 10)
    assert world.xyz[0, 0] == pytest.approx(face - front - 0.5, abs=0.05)  # and let them go again


def test_what_may_not_be_moved_stands_like_a_wall_until_a_hook_moves_it():
    world, physics = made(ONE + objects(box(0.1, 0.5, ", movable: false")))
    world.twist[0, 0] = 0.3
    run(world, physics, 40)
    assert world.xyz[1].tolist() == [0.5, 0.0, 0.0]
    assert world.xyz[0, 0] == pytest.approx(0.4 - RADIUS, abs=0.05 * RADIUS)
    world.move("box", (0.5, 2.0))
    run(world, physics, 40)
    assert world.xyz[0, 0] > 1.0 and world.xyz[1].tolist() == [0.5, 2.0, 0.0]


# --- pushing ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["box: {size_m: [0.2, 0.2]}", "cylinder: {radius_m: 0.1}"])
def test_light_things_are_pushed_at_the_robots_speed(form):
    world, physics = made(ONE + objects(box(0.5, form=form)))
    world.twist[0, 0] = 0.1
    run(world, physics, 50)
    assert world.xyz[0, 0] == pytest.approx(0.5, rel=0.02)
    assert world.xyz[1, 0] - world.xyz[0, 0] == pytest.approx(0.1 + RADIUS, abs=0.1 * RADIUS)
    assert abs(world.xyz[1, 2]) < 0.005
    at = world.xyz[1, 0]
    world.twist[0, 0] = -0.1
    run(world, physics, 20)
    assert world.xyz[1, 0] == pytest.approx(at, abs=0.01)  # and slide no farther than their friction lets them


def test_heavy_things_are_not_pushed():
    world, physics = made(ONE + objects(box(10.0)))
    world.twist[0, 0] = 0.1
    run(world, physics, 100)
    assert world.xyz[1, 0] == pytest.approx(0.25, abs=0.001)
    assert world.xyz[0, 0] == pytest.approx(0.15 - RADIUS, abs=0.1 * RADIUS)


def test_a_push_is_no_stronger_than_the_wheels_grip():
    world, physics = made(ONE + objects(box(50.0, 0.1 + RADIUS, ", friction: 0")), "{size_m: [50, 50]}")
    world.twist[0, 0] = 1.0
    run(world, physics, 10)
    before = world.velocity[1, 0]
    for _ in range(10):
        run(world, physics, 1)
        assert (world.velocity[1, 0] - before) * (50.0 + MASS) / 0.1 == pytest.approx(LIMIT, rel=0.02)
        before = world.velocity[1, 0]


def test_two_push_what_one_cannot():
    moved = []
    for helpers in (1, 2):
        text = ONE.replace("[[0, 0]]", "[[0, -0.1], [0, 0.1]]").replace("name: a", "name: a, count: 2")
        world, physics = made(text + objects(box(3.5, 0.3, form="box: {size_m: [0.2, 0.5]}")))
        world.twist[:helpers, 0] = 0.1
        run(world, physics, 50)
        moved.append(world.xyz[2, 0] - 0.3)
    assert moved[0] < 0.05 and moved[1] > 0.2


def test_momentum_is_kept_and_energy_does_not_grow():
    """
    [2 kg] 0.5 m/s ->   [1 kg]   without friction, without motors
    """
    each = box(2.0, 0.0, ", friction: 0", name="b"), box(1.0, 0.5, ", friction: 0", name="c")
    world, physics = made(ALONE + objects(*each), "{size_m: [50, 50]}")
    world.velocity[1, 0] = 0.5
    energy = 0.5 * 2.0 * 0.25
    for _ in range(30):
        run(world, physics, 1)
        assert 2.0 * world.velocity[1, 0] + world.velocity[2, 0] == pytest.approx(1.0, rel=1e-3)
        assert abs(world.velocity[:, 1]).max() < 1e-3
        now = 0.5 * (2.0 * (world.velocity[1, :2] ** 2).sum() + (world.velocity[2, :2] ** 2).sum())
        assert now <= energy * 1.001
        energy = min(now, energy)
    assert world.velocity[2, 0] >= world.velocity[1, 0] - 1e-3 and world.xyz[2, 0] > 0.8
    assert energy > 0.5 * 3.0 * (1.0 / 3.0) ** 2 * 0.99  # no less than if they stuck together


def test_friction_stops_what_slides_where_it_should():
    world, physics = made(ALONE + objects(box(1.0, 0.0, ", friction: 0.4")))
    world.velocity[1, 0] = 1.5
    run(world, physics, 20)
    assert world.xyz[1, 0] == pytest.approx(1.5**2 / (2 * 0.4 * GRAVITY_M_S2), rel=0.1)
    assert abs(world.velocity[1]).max() < 1e-3


def test_things_fall_and_lie():
    world, physics = made(ALONE + objects(box(1.0, 0.0)))
    world.xyz[1, 2] = 3.0
    run(world, physics, 5)
    assert world.velocity[1, 2] == pytest.approx(-GRAVITY_M_S2 * 0.5, rel=0.01)
    assert world.xyz[1, 2] == pytest.approx(3.0 - 0.5 * GRAVITY_M_S2 * 0.25, rel=0.03)
    run(world, physics, 30)
    assert world.xyz[1, 2] == pytest.approx(0.0, abs=0.002) and abs(world.velocity[1]).max() < 0.01


# --- crowds ----------------------------------------------------------------------------------------------


def test_fifty_in_a_jam_stay_apart():
    world, physics = made("robots: [{name: a, count: 50, place: {grid: {spacing_m: 0.2}}}]\n")

    def to_the_middle():
        middle = np.arctan2(-world.xyz[:, 1], -world.xyz[:, 0]) - world.heading
        world.twist[:, 0], world.twist[:, 2] = 0.3, np.clip(3 * np.arctan2(np.sin(middle), np.cos(middle)), -1, 1)

    for _ in range(150):
        run(world, physics, 1, to_the_middle)
        apart = np.linalg.norm(world.xyz[:, None, :2] - world.xyz[None, :, :2], axis=2) + np.eye(50)
        assert apart.min() > 1.9 * RADIUS
    assert np.linalg.norm(world.xyz[:, :2], axis=1).max() < 1.0


def test_a_crowd_of_every_form_stays_inside():
    world, physics = made(
        "robots: [{name: a, count: 20}, {name: p, kind: pioneer, count: 4}, {name: m, kind: minibot, count: 6},"
        " {name: e, kind: eye-bot, count: 3, place: {at_m: [[-1, 2.5], [0, 2.5], [1, 2.5]]}}]\n"
        "objects: [{name: c, cylinder: {radius_m: 0.1}, count: 10, mass_kg: 0.5},"
        " {name: b, box: {size_m: [0.3, 0.1]}, count: 5, mass_kg: 0.5}]\n",
        "{size_m: [6, 6]}",
    )
    rng = np.random.default_rng(1)
    flies = world.row_of("e0")

    def wander():
        world.twist[:flies, 0], world.twist[:flies, 2] = 0.4, rng.normal(0.0, 1.0, flies)
        if world.index % 10 == 0:
            world.rotors.mode[flies : flies + 3] = 1
            world.rotors.target[flies : flies + 3] = rng.uniform(-4, 4, (3, 4))

    for _ in range(100):
        run(world, physics, 1, wander)
        assert np.abs(world.xyz[:, :2]).max() < 3.0 - 0.02
        assert world.xyz[:, 2].min() > -0.02


def test_the_same_bits_in_every_run_and_on_every_number_of_threads():
    def digest(threads):
        world, physics = made(
            GATES % ("dynamics3d", "{gate: west}") + "robots: [{name: a, count: 40}]\n"
            "objects: [{name: c, cylinder: {radius_m: 0.1}, count: 8, mass_kg: 0.5}]\n",
            threads=threads,
        )
        rng = np.random.default_rng(1)
        owners = world.owner.copy()

        def wander():
            world.twist[:40, 0], world.twist[:40, 2] = 0.4, rng.normal(0.0, 1.0, 40)

        run(world, physics, 60, wander)
        assert (world.owner != owners).sum() >= 3
        return world.xyz.tobytes() + world.heading.tobytes() + world.velocity.tobytes()

    assert digest(1) == digest(1) == digest(2)


# --- flying ----------------------------------------------------------------------------------------------


def test_an_eye_bot_hovers_flies_to_a_place_and_turns():
    world, physics = made(EYE)
    run(world, physics, 10)
    assert world.xyz[0] == pytest.approx([0.0, 0.0, 0.0], abs=1e-3)
    world.rotors.mode[0], world.rotors.target[0] = 1, (2.0, 1.0, 1.5, -3.0)
    farthest, fastest = 0.0, 0.0
    for _ in range(60):
        run(world, physics, 1)
        farthest = max(farthest, world.xyz[0] @ np.array((2.0, 1.0, 1.5)) / np.linalg.norm((2.0, 1.0, 1.5)))
        fastest = max(fastest, np.linalg.norm(world.velocity[0]))
    assert world.xyz[0] == pytest.approx([2.0, 1.0, 1.5], abs=1e-4) and world.heading[0] == pytest.approx(
        -3.0, abs=1e-3
    )
    assert farthest < np.linalg.norm((2.0, 1.0, 1.5)) + 1e-4 and 1.5 < fastest <= 2.0 + 1e-6
    world.rotors.mode[0], world.rotors.target[0] = 2, (-0.5, 0.2, 0.1, 0.3)
    run(world, physics, 20)
    assert world.velocity[0] == pytest.approx([-0.5, 0.2, 0.1], abs=1e-4)
    world.rotors.mode[0] = 0
    run(world, physics, 20)
    assert world.velocity[0] == pytest.approx([0.0, 0.0, 0.0], abs=1e-4)


def test_an_eye_bot_lands_on_a_box_and_is_stopped_by_walls():
    world, physics = made(EYE + objects(box(5.0, 2.0, form="box: {size_m: [0.8, 0.8]}", more=", height_m: 0.4")))
    for target in ((2.0, 0.0, 2.0, 0.0), (2.0, 0.0, 0.0, 0.0)):
        world.rotors.mode[0], world.rotors.target[0] = 1, target
        run(world, physics, 40)
    assert world.xyz[0] == pytest.approx([2.0, 0.0, 0.4], abs=0.02)
    world.rotors.mode[0], world.rotors.target[0] = 2, (0.0, 2.0, 0.5, 0.0)
    for _ in range(40):
        run(world, physics, 1)
        assert world.xyz[0, 1] < 4.0 - 0.9 * 0.25


def test_errors_of_rotors_are_in_the_speed(monkeypatch):
    class Shaky:
        def __init__(self, world, group, device, channels, noise, lost=None):
            pass

        def apply(self, readings):
            readings[:, 0] += 0.25

    monkeypatch.setattr(pointmass3d, "NoiseChain", Shaky)
    noise = "devices: {quadrotor_position: {noise: [{gaussian: {std: 0.1}}]}}"
    world, physics = made(EYE.replace("}]", f", {noise}}}]"))
    world.rotors.mode[0], world.rotors.target[0] = 2, (0.0, 0.5, 0.5, 0.0)
    run(world, physics, 20)
    assert world.velocity[0] == pytest.approx([0.25, 0.5, 0.5], abs=0.01)


@pytest.mark.parametrize("engine", ["pointmass3d", "dynamics3d"])
def test_rotors_in_all_engines_are_as_noisy_as_they_are_told(engine):
    noise = "devices: {quadrotor_position: {noise: [{gaussian: {std: 0.05}}]}}"
    world, physics = made(
        f"engines: [{{name: sky, engine: {engine}}}]\n"
        f"robots: [{{name: a, kind: eye-bot, count: 36, place: {{grid: {{spacing_m: 1}}}}, {noise}}}]\n"
    )
    world.xyz[:, 2] = 1.0
    world.rotors.target[:, :3] = world.xyz
    world.rotors.mode[:] = 1
    away = []
    for _ in range(100):
        run(world, physics, 1)
        away.append(world.xyz - world.rotors.target[:, :3])
    assert np.std(away[10:]) == pytest.approx(0.05 * 0.1, rel=0.2)  # what one step does is made good in the next
    world.rotors.mode[:], world.rotors.target[:] = 2, (0.02, 0.0, 0.03, 0.0)
    reached = []
    for _ in range(50):
        run(world, physics, 1)
        reached.append(world.velocity.copy())
    assert np.std(reached[10:], axis=(0, 1)) == pytest.approx([0.05, 0.05, 0.05], rel=0.05)
    assert np.mean(reached[10:], axis=(0, 1)) == pytest.approx([0.02, 0.0, 0.03], abs=0.005)


# --- who comes and goes ----------------------------------------------------------------------------------


@pytest.mark.parametrize("west", ["kinematics2d", "dynamics3d"])
def test_a_robot_comes_through_a_gate_without_stopping_and_pushes_what_is_there(west):
    """
    kinematics2d |gate     dynamics3d
            a>   |      [b]
    """
    world, physics = made(
        GATES % (west, "{gate: west}") + ONE.replace("[[0, 0]]", "[[-0.5, 0]]") + objects(box(0.3, 0.5))
    )
    assert world.owner.tolist() == [0, 1]
    world.twist[0, 0] = 0.2
    places = [world.xyz[0, 0]]
    for _ in range(60):
        run(world, physics, 1)
        places.append(world.xyz[0, 0])
    assert world.owner.tolist() == [1, 1]
    assert np.diff(places)[5:40] == pytest.approx(np.full(35, 0.02), rel=0.01)
    assert world.xyz[0, 0] == pytest.approx(0.7, rel=0.02) and world.xyz[1, 0] > 0.75


def test_a_wall_behind_a_gate_is_behind_who_came_at_once():
    world, physics = made(GATES % ("kinematics2d", "wall") + ONE.replace("[[0, 0]]", "[[-0.5, 0]]"))
    world.twist[0, 0] = 0.2
    for _ in range(60):
        came = world.owner[0] == 1
        run(world, physics, 1)
        assert not came or (world.xyz[0, 0] > RADIUS and world.velocity[0, 0] == pytest.approx(0.2, rel=0.01))
    assert world.owner[0] == 1 and world.xyz[0, 0] == pytest.approx(0.7 + RADIUS, abs=0.03)
    world.twist[0, 0] = -0.2
    run(world, physics, 60)
    assert world.owner[0] == 1 and world.xyz[0, 0] == pytest.approx(RADIUS, abs=0.1 * RADIUS)


def test_a_robot_goes_back_through_a_gate_and_what_stays_goes_on_sliding():
    world, physics = made(
        GATES % ("kinematics2d", "{gate: west}")
        + ONE.replace("[[0, 0]]", "[[0.3, 0]]")
        + objects(box(1.0, 1.0, ", friction: 0"))
    )
    world.velocity[1] = 0.0, 0.3, 0.0
    world.twist[0, 0] = -0.2
    run(world, physics, 40)
    assert world.owner.tolist() == [0, 1]
    assert world.xyz[0, 0] == pytest.approx(-0.5, abs=0.02)
    assert world.xyz[1, :2] == pytest.approx([1.0, 1.2], abs=0.01)


def test_a_quadrotor_flies_from_points_into_bodies():
    world, physics = made(GATES % ("pointmass3d", "{gate: west}") + EYE.replace("[[0, 0]]", "[[-1, 0]]"))
    world.rotors.mode[0], world.rotors.target[0] = 2, (1.0, 0.0, 0.5, 0.0)
    run(world, physics, 5)
    places = []
    for _ in range(20):
        run(world, physics, 1)
        places.append(world.xyz[0].copy())
    assert world.owner[0] == 1
    assert np.diff(places, axis=0) == pytest.approx(np.tile((0.1, 0.0, 0.05), (19, 1)), abs=0.002)


def test_what_hooks_move_remove_and_add_is_taken_over():
    world, physics = made(
        ONE
        + "objects: [{name: box, box: {size_m: [0.2, 0.2]}, heading_deg: 0, reserve: 1, place: {at_m: [[0.25, 0]]}}]\n"
    )
    world.twist[0, 0] = 0.1
    run(world, physics, 10)
    world.move("box0", (2.0, 0.0), 0.5)
    run(world, physics, 5)
    assert world.xyz[1] == pytest.approx([2.0, 0.0, 0.0], abs=1e-3) and world.heading[1] == pytest.approx(0.5, abs=1e-3)
    world.remove("box0")
    run(world, physics, 5)
    ahead = float(world.xyz[0, 0]) + 0.3
    added = world.add("box", (ahead, 0.0))
    run(world, physics, 30)
    assert world.xyz[world.row_of(added), 0] > ahead + 0.05
    world.xyz[0, :2] = -1.0, -1.0  # by hand, without a word
    run(world, physics, 10)
    assert world.xyz[0, :2] == pytest.approx((-0.9, -1.0), abs=0.005)


def test_an_engine_without_bodies_does_nothing():
    world, physics = made(GATES % ("kinematics2d", "wall") + ONE.replace("[[0, 0]]", "[[-1, 0]]"))
    run(world, physics, 3)
    assert world.owner[0] == 0


# --- what can go wrong -----------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["twist", "heading", "xyz"])
def test_what_is_no_number_is_refused_by_name_and_time(what):
    world, physics = made()
    run(world, physics, 3)
    getattr(world, what)[0] = math.nan
    with pytest.raises(ControllerError, match=r"'a' .* simulated time 0\.300 s"):
        physics._engines[0].step()


def test_a_quadrotor_that_is_told_what_is_no_number_is_refused():
    world, physics = made(EYE)
    world.rotors.mode[0], world.rotors.target[0] = 1, (0.0, 0.0, math.inf, 0.0)
    with pytest.raises(ControllerError, match=r"'a' .* simulated time 0\.000 s.*inf"):
        run(world, physics, 1)


@pytest.mark.parametrize("state", ["qpos", "qvel"])
def test_what_the_solver_loses_is_named_with_the_time(state, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # MuJoCo leaves a log of its own where it stands
    world, physics = made(ONE.replace("name: a", "name: a, count: 2").replace("[[0, 0]]", "[[0, 0], [1, 0]]"))
    run(world, physics, 2)
    getattr(physics._engines[0]._scene.data, state)[4] = math.nan
    with pytest.raises(SimulatorError, match=r"lost 'a1' at simulated time 0\.200 s.*iterations"):
        run(world, physics, 1)


def test_too_many_contacts_are_an_error_and_not_a_silent_mistake(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    world, physics = made(ONE)
    kinds = physics._engines[0]._mujoco.mjtWarning
    run(world, physics, 1)
    physics._engines[0]._scene.data.warning[int(kinds.mjWARN_CONTACTFULL)].number = 1
    with pytest.raises(SimulatorError, match=r"mjWARN_CONTACTFULL .* at simulated time 0\.100 s"):
        run(world, physics, 1)


def test_without_mujoco_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(UserError, match=r"pip install 'robonet\[mujoco\]'"):
        dynamics3d_model.mujoco()


def test_mujoco_is_loaded_only_for_engines_that_need_it():
    import subprocess

    code = "import robonet.robots.engines.dynamics3d, sys; print('mujoco' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
