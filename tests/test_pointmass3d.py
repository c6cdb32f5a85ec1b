"""Quadrotors as point masses: they arrive, within what their rotors can do, and stay between walls and floor."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robonet.errors import ControllerError, UserError
from robonet.robots.engines import pointmass3d
from robonet.robots.engines.pointmass3d import BRAKE, approach_speed, turned
from robonet.robots.physics import Physics
from robonet.robots.placement import place_all
from robonet.robots.world import World
from robonet.scenario import parse_scenario

SPEED, ACCELERATION, TURN = 2.0, 4.0, 2.0
RADIUS = 0.25
ONE = "robots: [{name: a, kind: eye-bot, place: {at_m: [[0, 0]]}, heading_deg: 0}]\n"
HOVER, TO_PLACE, WITH_VELOCITY = 0, 1, 2


def made(text=ONE, arena="{size_m: [40, 40]}", step_s=0.1, threads=1):
    head = f"robonet: 1\nname: t\nduration_s: 100\nstep_s: {step_s}\nthreads: {threads}\narena: {arena}\n"
    scenario = parse_scenario(head + text).scenario
    world = World(scenario)
    place_all(world)
    return world, Physics(world)


def tick(world, physics):
    world.look()
    physics.step()
    world.index += 1
    physics.finish()


def tell(world, mode, *target, row=0):
    world.rotors.mode[row], world.rotors.target[row] = mode, target


def flight(world, physics, steps):
    """Place and velocity at every border, the first included."""
    places, velocities = [world.xyz[0].copy()], [world.velocity[0].copy()]
    for _ in range(steps):
        tick(world, physics)
        places.append(world.xyz[0].copy())
        velocities.append(world.velocity[0].copy())
    return np.array(places), np.array(velocities)


# --- to a place ------------------------------------------------------------------------------------------


def test_it_hovers_until_it_is_told_something():
    world, physics = made()
    assert world.engines[int(world.owner[0])].engine == "pointmass3d"
    places, _ = flight(world, physics, 20)
    assert (places == 0.0).all()


def test_it_arrives_in_about_the_least_time_and_stays():
    """
    speed  ____
          /    \\      4 m/s2 up, 0.8 of it down, 2 m/s in between
         /      \\
    """
    world, physics = made()
    tell(world, TO_PLACE, 3.0, 4.0, 12.0, 0.0)
    places, velocities = flight(world, physics, 100)
    assert places[-1] == pytest.approx([3.0, 4.0, 12.0], abs=1e-12)
    assert velocities[-1] == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)
    away = np.linalg.norm(places - (3.0, 4.0, 12.0), axis=1)
    arrived = np.flatnonzero(away < 1e-6)[0] * 0.1
    least = 13.0 / SPEED + SPEED / ACCELERATION / 2 + SPEED / (BRAKE * ACCELERATION) / 2
    assert least - 0.2 < arrived < least + 0.3


corner = st.floats(-15.0, 15.0)
height = st.floats(0.0, 15.0)


@settings(max_examples=150, deadline=None)
@given(
    st.tuples(corner, corner, height), st.tuples(corner, corner, height),
    st.sampled_from([0.01, 0.05, 0.1, 0.25, 1.0]), st.floats(0.1, 5.0), st.floats(0.1, 10.0),
)  # fmt: skip
def test_from_rest_it_flies_straight_within_its_limits_and_never_past_the_place(
    start, goal, step_s, speed, acceleration
):
    drive = f"devices: {{quadrotor_position: {{max_speed_m_s: {speed}, max_acceleration_m_s2: {acceleration}}}}}"
    world, physics = made(ONE.replace("}]", f", {drive}}}]"), step_s=step_s)
    world.xyz[0] = start
    tell(world, TO_PLACE, *goal, 0.0)
    way = np.array(goal) - start
    length = float(np.linalg.norm(way))
    needed = length / speed + 2 * speed / acceleration + 2 * math.sqrt(length / acceleration) + 4 * step_s
    places, velocities = flight(world, physics, min(math.ceil(needed / step_s), 400))
    assert np.linalg.norm(velocities, axis=1).max() <= speed * (1 + 1e-9)
    assert np.linalg.norm(np.diff(velocities, axis=0), axis=1).max() <= acceleration * step_s * (1 + 1e-9)
    assert np.diff(places, axis=0) == pytest.approx(velocities[1:] * step_s, abs=1e-9)
    if length > 0:
        along = (places - start) @ (way / length)
        assert (np.diff(along) >= -1e-9).all() and along.max() <= length + 1e-9
        beside = np.linalg.norm(places - start - np.outer(along, way / length), axis=1)
        assert beside.max() < 1e-7
    if needed / step_s <= 400:
        assert places[-1] == pytest.approx(goal, abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(st.tuples(*[st.floats(-1.1, 1.1)] * 3), st.tuples(*[st.floats(-5.0, 5.0)] * 2, st.floats(3.0, 8.0)))
def test_with_any_velocity_at_the_start_it_arrives_within_its_limits(velocity, goal):
    world, physics = made()
    world.xyz[0], world.velocity[0] = (0.0, 0.0, 5.0), velocity
    tell(world, TO_PLACE, *goal, 0.0)
    places, velocities = flight(world, physics, 120)
    assert np.linalg.norm(velocities, axis=1).max() <= SPEED * (1 + 1e-9)
    assert np.linalg.norm(np.diff(velocities, axis=0), axis=1).max() <= ACCELERATION * 0.1 * (1 + 1e-9)
    assert places[-1] == pytest.approx(goal, abs=1e-9)


@settings(deadline=None)
@given(st.floats(0.0, 1e3), st.floats(0.1, 10.0), st.floats(0.1, 10.0), st.floats(0.001, 1.0))
def test_the_speed_is_the_greatest_from_which_it_stops_in_time(distance, most, brake, dt):
    speed = approach_speed(distance, most, brake, dt)
    way, left = 0.0, speed
    while left > 0:
        way, left = way + left * dt, left - brake * dt
    assert way <= distance * (1 + 1e-9) + 1e-12
    if speed < most:
        assert way == pytest.approx(distance, rel=1e-6, abs=1e-9)


# --- velocity and yaw ------------------------------------------------------------------------------------


def test_a_velocity_is_reached_as_fast_as_rotors_allow_and_kept():
    world, physics = made()
    world.xyz[0, 2] = 5.0
    tell(world, WITH_VELOCITY, 1.0, -0.5, 0.25, 0.5)
    _, velocities = flight(world, physics, 20)
    steps = math.ceil(math.hypot(1.0, 0.5, 0.25) / (ACCELERATION * 0.1))
    assert (velocities[steps:] == (1.0, -0.5, 0.25)).all()
    assert np.linalg.norm(velocities[1]) == pytest.approx(ACCELERATION * 0.1)
    assert world.heading[0] == pytest.approx(1.0)
    tell(world, WITH_VELOCITY, 30.0, 40.0, 0.0, 100.0)
    flight(world, physics, 20)
    assert world.velocity[0] == pytest.approx([0.6 * SPEED, 0.8 * SPEED, 0.0])
    assert world.heading[0] == pytest.approx(turned(1.0 + 2.0 * TURN))
    tell(world, HOVER, 0.0, 0.0, 0.0, 0.0)
    flight(world, physics, 20)
    assert (world.velocity[0] == 0.0).all()


def test_yaw_takes_the_short_way_around():
    world, physics = made()
    world.heading[0] = 3.0
    tell(world, TO_PLACE, 0.0, 0.0, 0.0, -3.0)
    tick(world, physics)
    assert world.heading[0] == pytest.approx(3.0 + 0.2 - 2 * math.pi)
    tick(world, physics)
    assert world.heading[0] == pytest.approx(-3.0)
    tell(world, TO_PLACE, 0.0, 0.0, 0.0, 1.0 + 20 * math.pi)
    for _ in range(40):
        tick(world, physics)
        assert -math.pi < world.heading[0] <= math.pi
    assert world.heading[0] == pytest.approx(1.0)


@given(st.floats(-1e15, 1e15))
def test_angles_stay_within_a_turn(angle):
    assert -math.pi < turned(angle) <= math.pi
    assert turned(math.pi) == math.pi and turned(-math.pi) == math.pi


# --- floor and walls -------------------------------------------------------------------------------------


def test_the_floor_holds_it():
    world, physics = made()
    world.xyz[0, 2] = 1.0
    tell(world, WITH_VELOCITY, 0.5, 0.0, -1.5, 0.0)
    places, _ = flight(world, physics, 30)
    assert places[:, 2].min() == 0.0 and world.velocity[0] == pytest.approx([0.5, 0.0, 0.0])
    tell(world, TO_PLACE, 0.0, 0.0, -5.0, 0.0)
    flight(world, physics, 60)
    assert world.xyz[0].tolist() == pytest.approx([0.0, 0.0, 0.0], abs=1e-9)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([1, 2]), *[st.floats(-9, 9)] * 4), min_size=1, max_size=5))
def test_walls_hold_it_whatever_it_is_told(orders):
    world, physics = made(arena="{size_m: [4, 4]}")
    for order in orders:
        tell(world, *order)
        places, _ = flight(world, physics, 25)
        assert np.abs(places[:, :2]).max() <= 2.0 - RADIUS + 1e-9
        assert places[:, 2].min() >= 0.0


def test_it_brakes_for_a_place_behind_a_wall_and_slides_along_a_wall():
    world, physics = made(arena="{size_m: [4, 4]}")
    tell(world, TO_PLACE, 9.0, 1.0, 1.0, 0.0)
    _, velocities = flight(world, physics, 60)
    assert world.xyz[0] == pytest.approx([2.0 - RADIUS, 1.0, 1.0])
    assert np.linalg.norm(np.diff(velocities, axis=0), axis=1).max() <= ACCELERATION * 0.1 * (1 + 1e-9)
    tell(world, WITH_VELOCITY, 1.0, -0.5, 0.0, 0.0)
    flight(world, physics, 20)
    assert world.xyz[0, 0] == pytest.approx(2.0 - RADIUS)
    assert world.velocity[0, 0] == pytest.approx(0.0) and world.velocity[0, 1] < -0.2


def test_without_walls_it_flies_out_of_the_arena():
    world, physics = made(arena="{size_m: [4, 4], walls: false}")
    tell(world, TO_PLACE, 9.0, 0.0, 1.0, 0.0)
    flight(world, physics, 100)
    assert world.xyz[0] == pytest.approx([9.0, 0.0, 1.0])


def test_the_walls_of_a_region_hold_it_in_an_acute_corner():
    region = "{corners_m: [[0, 0], [8, 0], [8, 2]]}"
    text = f"engines: [{{name: sky, engine: pointmass3d, region: {region}}}]\n" + ONE.replace("[[0, 0]]", "[[7, 0.8]]")
    world, physics = made(text)
    slope = np.array((-1.0, 4.0)) / math.sqrt(17.0)
    for target in ((-9.0, 0.3), (-9.0, -9.0), (9.0, 9.0), (-9.0, 9.0)):
        tell(world, TO_PLACE, *target, 1.0, 0.0)
        places, _ = flight(world, physics, 100)
        assert places[:, 1].min() > RADIUS - 1e-6 and places[:, 0].max() < 8.0 - RADIUS + 1e-6
        assert (places[:, :2] @ slope).max() < -RADIUS + 1e-6


# --- others ----------------------------------------------------------------------------------------------


def test_they_fly_through_each_other_and_through_obstacles():
    text = ONE.replace("[[0, 0]]", "[[0, 0], [3, 0]]").replace("kind:", "count: 2, kind:")
    world, physics = made(text, "{size_m: [40, 40], obstacles: [{box: {center_m: [1.5, 0], size_m: [0.5, 5]}}]}")
    tell(world, TO_PLACE, 3.0, 0.0, 0.0, 0.0)
    tell(world, TO_PLACE, 0.0, 0.0, 0.0, 0.0, row=1)
    flight(world, physics, 40)
    assert world.xyz[:, 0] == pytest.approx([3.0, 0.0])


def test_what_was_removed_and_added_flies_again():
    world, physics = made(ONE.replace("kind:", "reserve: 1, kind:"))
    tell(world, WITH_VELOCITY, 1.0, 0.0, 0.0, 0.0)
    flight(world, physics, 10)
    world.remove("a0")
    deep = world.xyz[0].copy()
    flight(world, physics, 3)
    assert (world.xyz[0] == deep).all()
    assert world.add("a", (5.0, 5.0)) == "a0"
    tell(world, TO_PLACE, 5.0, 6.0, 1.0, 0.0)
    flight(world, physics, 40)
    assert world.xyz[0] == pytest.approx([5.0, 6.0, 1.0])


def test_two_threads_give_the_same_bits_as_one():
    def digest(threads):
        world, physics = made(
            "engine: pointmass3d\nrobots: [{name: a, kind: eye-bot, count: 4000, place: {grid: {spacing_m: 0.6}}}]\n",
            threads=threads,
        )
        assert world.threads.parts(world.robots) == threads and len(world.engines) == 1
        rng = np.random.default_rng(1)
        for index in range(40):
            if index % 10 == 0:
                world.rotors.mode[:] = rng.integers(0, 3, 4000)
                world.rotors.target[:] = rng.uniform(-25, 25, (4000, 4))
            tick(world, physics)
        assert np.abs(world.xyz[:, :2]).max() <= 20.0 - RADIUS + 1e-9
        return world.xyz.tobytes() + world.heading.tobytes() + world.velocity.tobytes()

    assert digest(1) == digest(1) == digest(2)


class Shaky:
    """Stands in for errors: a constant push along x for everyone."""

    def __init__(self, world, group, device, channels, noise, lost=None):
        assert (device, channels, len(noise)) == ("quadrotor_position", 3, 1)

    def apply(self, readings):
        readings[:, 0] += 0.25


def test_errors_are_in_the_speed_that_is_reached_and_not_in_what_rotors_believe(monkeypatch):
    monkeypatch.setattr(pointmass3d, "NoiseChain", Shaky)
    noise = "devices: {quadrotor_position: {noise: [{gaussian: {std: 0.1}}]}}"
    world, physics = made(ONE.replace("}]", f", {noise}}}]"))
    places, velocities = flight(world, physics, 10)
    assert places[-1] == pytest.approx([0.25, 0.0, 0.0])
    assert velocities[1:] == pytest.approx(np.tile((0.25, 0.0, 0.0), (10, 1)))
    tell(world, TO_PLACE, 3.0, 0.0, 2.0, 0.0)
    flight(world, physics, 60)
    assert world.xyz[0] == pytest.approx([3.025, 0.0, 2.0], abs=1e-6)  # blown off by one step, and back again


@pytest.mark.parametrize("mode", [TO_PLACE, WITH_VELOCITY])
def test_what_is_no_number_is_refused_by_name_and_time(mode):
    world, physics = made()
    for _ in range(3):
        tick(world, physics)
    tell(world, mode, 0.0, math.nan, 0.0, 0.0)
    with pytest.raises(ControllerError, match=r"'a' is told .*nan.* simulated time 0\.300 s"):
        tick(world, physics)


def test_huge_numbers_do_no_harm():
    world, physics = made()
    tell(world, TO_PLACE, 1e300, -1e300, 1e300, 1e15)
    flight(world, physics, 30)
    tell(world, WITH_VELOCITY, 1e300, -1e300, 1e300, 1e300)
    flight(world, physics, 30)
    assert np.isfinite(world.xyz).all() and np.isfinite(world.heading).all()


def test_robots_on_wheels_are_refused():
    with pytest.raises(UserError, match=r"'b' is in the engine 'sky' .*only quadrotors"):
        made(
            "engines: [{name: floor}, {name: sky, engine: pointmass3d}]\n"
            "robots: [{name: b, engine: sky, place: {at_m: [[0, 0]]}}]\n"
        )
