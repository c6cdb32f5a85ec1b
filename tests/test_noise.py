"""Noise against its distributions, and against what it must not depend on."""

import math
import statistics

import numpy as np
import pytest

from robonet.robots.draws import Draws, key_of, normal
from robonet.robots.noise import NoiseChain
from robonet.robots.physics import Physics
from robonet.robots.placement import place_all
from robonet.robots.world import World
from robonet.scenario import devices, parse_scenario

WIDE = "arena: {size_m: [1000, 1000], walls: false}\n"


def make(count=4, rest="", seed=1, threads=1, kind="foot-bot", more=""):
    """A world of one group `a` far apart, heading along x."""
    place = "{grid: {spacing_m: 1.0}}"
    text = (
        f"robonet: 1\nname: t\nduration_s: 10\nseed: {seed}\nthreads: {threads}\n{WIDE}"
        "kinds: [{name: rolling, body: {disk: {radius_m: 0.1}}, devices: {omni: {}, odometry: {}}},\n"
        "        {name: car, body: {disk: {radius_m: 0.1}}, devices: {steering: {}, odometry: {}}}]\n"
        f"robots: [{{name: a, kind: {kind}, count: {count}, heading_deg: 0, place: {place}, devices: {{{rest}}}}}{more}]\n"
    )
    world = World(parse_scenario(text).scenario)
    place_all(world)
    world.look()
    return world


def chain(world, *noise, channels=1, lost=None, device="probe"):
    chosen = tuple(devices.Noise(**one) for one in noise)
    return NoiseChain(world, world.groups[0], device, channels, chosen, lost)


def errors(world, made, channels=1, steps=1):
    """Errors of readings that are all 0, over some steps."""
    found = []
    for _ in range(steps):
        readings = np.zeros((len(world.groups[0]), channels))
        made.apply(readings)
        found.append(readings)
        world.index += 1
    return np.array(found)


def kolmogorov(sample, cumulative):
    """How far the sample's distribution is from what it should be, times the root of its size.

    Of a right one it is above 1.95 once in a thousand times.
    """
    ordered = np.sort(sample.ravel())
    expected = np.array([cumulative(value) for value in ordered])
    ranks = np.arange(len(ordered) + 1) / len(ordered)
    return math.sqrt(len(ordered)) * max(np.abs(ranks[1:] - expected).max(), np.abs(ranks[:-1] - expected).max())


# --- distributions ---------------------------------------------------------------------------------------


def test_normal_numbers_are_those_of_the_inverse_distribution():
    exact = statistics.NormalDist().inv_cdf
    for p in (1e-16, 1e-9, 0.01, 0.0750, 0.25, 0.5, 0.7, 0.925, 0.9999, 1 - 1e-12):
        assert normal(p) == pytest.approx(exact(p), rel=1e-14, abs=1e-15)


def test_gaussian():
    world = make(100)
    drawn = errors(world, chain(world, {"gaussian": {"std": 0.5}}, channels=10), 10, steps=20)
    assert abs(drawn.mean()) < 4 * 0.5 / math.sqrt(drawn.size)
    assert drawn.std() == pytest.approx(0.5, rel=0.02)
    assert kolmogorov(drawn, statistics.NormalDist(0.0, 0.5).cdf) < 1.95


def test_uniform():
    world = make(100)
    drawn = errors(world, chain(world, {"uniform": {"low": -1.0, "high": 3.0}}, channels=10), 10, steps=20)
    assert drawn.min() > -1.0 and drawn.max() < 3.0
    assert kolmogorov(drawn, lambda value: (value + 1.0) / 4.0) < 1.95


def test_draws_of_robots_steps_channels_and_devices_are_unrelated():
    world = make(200)
    drawn = errors(world, chain(world, {"gaussian": {"std": 1.0}}, channels=8), 8, steps=30)
    other = errors(world, chain(world, {"gaussian": {"std": 1.0}}, channels=8, device="other"), 8, steps=30)
    limit = 4 / math.sqrt(drawn.size)
    for a, b in (
        (drawn[1:], drawn[:-1]),
        (drawn[:, 1:], drawn[:, :-1]),
        (drawn[:, :, 1:], drawn[:, :, :-1]),
        (drawn, other),
        (drawn[1:, 1:], drawn[:-1, :-1]),
    ):
        assert abs(np.corrcoef(a.ravel(), b.ravel())[0, 1]) < 1.1 * limit
    assert len(np.unique(drawn)) == drawn.size


def test_a_bias_is_drawn_once():
    world = make(2000)
    drawn = errors(world, chain(world, {"bias": {"mean": 2.0, "std": 0.5}}, channels=3), 3, steps=3)
    assert (drawn[0] == drawn[1]).all() and (drawn[0] == drawn[2]).all()
    assert kolmogorov(drawn[0], statistics.NormalDist(2.0, 0.5).cdf) < 1.95


def test_drift_grows_with_the_square_root_of_time():
    world = make(4000)
    drawn = errors(world, chain(world, {"drift": {"std_per_sqrt_s": 0.3}}), steps=41)[:, :, 0]
    assert (drawn[0] == 0.0).all()
    for step in (1, 10, 40):
        assert kolmogorov(drawn[step], statistics.NormalDist(0.0, 0.3 * math.sqrt(0.1 * step)).cdf) < 1.95
    later, earlier = drawn[40] - drawn[20], drawn[20]
    assert abs(np.corrcoef(later, earlier)[0, 1]) < 4 / math.sqrt(4000)


def test_drift_does_not_depend_on_who_reads():
    always, seldom = make(5), make(5)
    noise = {"drift": {"std_per_sqrt_s": 1.0}}
    read = errors(always, chain(always, noise, channels=2), 2, steps=30)
    late = chain(seldom, noise, channels=2)
    for step in (3, 4, 29):
        seldom.index = step
        readings = np.zeros((5, 2))
        late.apply(readings)
        assert (readings == read[step]).all()
        again = np.zeros((5, 2))
        late.apply(again)
        assert (again == readings).all()


def test_quantisation():
    world = make(1)
    readings = np.array([[0.12, 0.13, -0.12, 1.0, 0.125]])
    chain(world, {"quantise": {"step": 0.25}}, channels=5).apply(readings)
    assert readings.tolist() == [[0.0, 0.25, 0.0, 1.0, 0.25]]


def test_errors_are_applied_in_order():
    rounded, rough = make(50), make(50)
    noise, step = {"gaussian": {"std": 1.0}}, {"quantise": {"step": 0.5}}
    assert (errors(rounded, chain(rounded, noise, step)) % 0.5 == 0).all()
    assert (errors(rough, chain(rough, step, noise)) % 0.5 != 0).all()


def test_dropout_share_and_lost_value():
    world = make(100)
    drawn = errors(world, chain(world, {"dropout": {"probability": 0.2}}, channels=24, lost=7.0), 24, steps=20)
    assert set(np.unique(drawn)) == {0.0, 7.0}
    assert (drawn == 7.0).mean() == pytest.approx(0.2, abs=4 * math.sqrt(0.16 / drawn.size))


def test_dropout_repeats_the_last_reading():
    world = make(500)
    made = chain(world, {"dropout": {"probability": 0.3}})
    shown = []
    for step in range(20):
        readings = np.full((500, 1), float(step))
        made.apply(readings)
        shown.append(readings[:, 0])
        world.index += 1
    assert (shown[0] == 0.0).all()
    for step in range(1, 20):
        fresh = shown[step] == step
        assert (shown[step][~fresh] == shown[step - 1][~fresh]).all()
        assert fresh.mean() == pytest.approx(0.7, abs=0.1)


# --- what it must not depend on --------------------------------------------------------------------------

EVERYTHING = (
    {"gaussian": {"std": 1.0}},
    {"uniform": {"low": -1.0, "high": 1.0}},
    {"bias": {"std": 1.0}},
    {"drift": {"std_per_sqrt_s": 1.0}},
    {"dropout": {"probability": 0.1}},
)


def test_more_robots_do_not_reshuffle():
    few, many = make(3), make(50, more=", {name: b, count: 2, place: {line: {start_m: [30, 30]}}}")
    of_few = errors(few, chain(few, *EVERYTHING, channels=4), 4, steps=6)
    assert (errors(many, chain(many, *EVERYTHING, channels=4), 4, steps=6)[:, :3] == of_few).all()


def test_threads_do_not_matter():
    single, double = make(4000), make(4000, threads=2)
    of_one = errors(single, chain(single, *EVERYTHING, channels=4), 4, steps=4)
    assert (errors(double, chain(double, *EVERYTHING, channels=4), 4, steps=4) == of_one).all()


def test_seeds_groups_and_devices_differ():
    keys = {key_of(seed, "noise", device, "a") for seed in (1, 2) for device in ("compass", "light")}
    assert len(keys | {key_of(1, "noise", "compass", "b")}) == 5
    first, second = make(4), make(4, seed=2)
    assert (Draws(first, first.groups[0], "x", 2).once() != Draws(second, second.groups[0], "x", 2).once()).all()


def test_readings_that_are_parts_of_arrays():
    world = make(4)
    whole, part = np.zeros((4, 3)), np.zeros((4, 1))
    chain(world, {"gaussian": {"std": 1.0}}).apply(whole[:, 1:2])
    chain(world, {"gaussian": {"std": 1.0}}).apply(part)
    assert (whole[:, 1:2] == part).all() and (whole[:, [0, 2]] == 0.0).all()


# --- motors ----------------------------------------------------------------------------------------------


def driven(world, steps=1):
    """The twists of some steps, as motors really turn."""
    physics, found = Physics(world), []
    for _ in range(steps):
        world.look()
        physics.step()
        found.append(world.twist.copy())
        world.index += 1
        physics.finish()
    return np.array(found)


def wheel_speeds(twist):
    return twist[..., 0] - 0.07 * twist[..., 2], twist[..., 0] + 0.07 * twist[..., 2]


def test_wheel_factors():
    world = make(500, "wheels: {noise: [{gaussian: {std: 0.1}}]}")
    world.devices["a"].get("wheels").set_speed(0.2, -0.1)
    left, right = wheel_speeds(driven(world, 10))
    assert kolmogorov(left / 0.2, statistics.NormalDist(1.0, 0.1).cdf) < 1.95
    assert kolmogorov(right / -0.1, statistics.NormalDist(1.0, 0.1).cdf) < 1.95
    assert abs(np.corrcoef(left.ravel(), right.ravel())[0, 1]) < 4 / math.sqrt(left.size)
    assert world.intended[:, 0] == pytest.approx(0.05)


def test_wheel_bias_stays_and_uniform_does_not():
    world = make(50, "wheels: {noise: [{bias: {mean: 0.5, std: 0.1}}]}")
    world.devices["a"].get("wheels").set_speed(0.1, 0.1)
    left, right = wheel_speeds(driven(world, 3))
    assert left[0] == pytest.approx(left[2]) and (left[0] != right[0]).all()
    assert left.mean() == pytest.approx(0.15, rel=0.1)
    world = make(50, "wheels: {noise: [{uniform: {low: 0.0, high: 0.2}}]}")
    world.devices["a"].get("wheels").set_speed(0.1, 0.1)
    left, _ = wheel_speeds(driven(world, 3))
    assert (left[0] != left[1]).all() and left.min() >= 0.1 and left.max() <= 0.12


def test_rayleigh_treels():
    world = make(4000, "wheels: {noise: [{rayleigh: {}}]}")
    wheels = world.devices["a"].get("wheels")
    wheels.set_speed(0.1, 0.1)
    left, right = wheel_speeds(driven(world, 2))
    assert left == pytest.approx(0.1)
    assert (right[0] == right[1]).all()
    faster = right[0] / 0.1 - 1.0
    assert faster.mean() == pytest.approx(0.0134 * math.sqrt(math.pi / 2), rel=0.04)
    assert kolmogorov(faster, lambda value: 1 - math.exp(-(value**2) / (2 * 0.0134**2))) < 1.95
    wheels.set_speed(-0.1, -0.1)
    left, right = wheel_speeds(driven(world))
    assert right == pytest.approx(-0.1)
    assert left[0] == pytest.approx(-0.1 * (1.0 + faster))
    wheels.set_speed(-0.1, 0.1)
    left, right = wheel_speeds(driven(world))
    assert left == pytest.approx(-0.1) and right == pytest.approx(0.1)


def test_treels_change_when_something_is_gripped():
    world = make(20, "wheels: {noise: [{rayleigh: {}}]}")
    world.devices["a"].get("wheels").set_speed(0.1, 0.1)
    physics = Physics(world)
    physics.step()
    before = world.twist.copy()
    world.grips[3] = 7
    physics.step()
    physics.step()
    assert np.flatnonzero((world.twist != before).any(axis=1)).tolist() == [3]
    held = world.twist.copy()
    world.grips[3] = -1
    physics.step()
    assert (world.twist == held).all()
    world.grips[3] = 7
    physics.step()
    assert np.flatnonzero((world.twist != held).any(axis=1)).tolist() == [3]


def test_noise_of_one_group_leaves_the_others_alone():
    """The group without noise is made first, and must not hold on to an array that nobody reads any more."""
    text = (
        f"robonet: 1\nname: t\nduration_s: 10\n{WIDE}"
        "robots: [{name: exact, count: 2, heading_deg: 0, place: {line: {}}},\n"
        "  {name: rough, count: 2, heading_deg: 0, place: {line: {start_m: [0, 5]}},\n"
        "   devices: {wheels: {noise: [{gaussian: {std: 0.1}}]}}}]\n"
    )
    world = World(parse_scenario(text).scenario)
    place_all(world)
    single = world.devices["exact"].one("wheels", 0)
    world.devices["exact"].get("wheels").set_speed(0.2, 0.2)
    world.devices["rough"].get("wheels").set_speed(0.2, 0.2)
    single.set_speed(0.3, 0.3)
    twist = driven(world)[0]
    assert twist[0].tolist() == [0.3, 0.0, 0.0] and twist[1].tolist() == [0.2, 0.0, 0.0]
    assert (twist[2:, 0] != 0.2).all()
    assert world.xyz[0, 0] == pytest.approx(0.03)
    single.set_speed(0.0, 0.0)
    assert driven(world)[0][0].tolist() == [0.0, 0.0, 0.0]


def test_without_noise_there_is_one_array():
    world = make(2)
    assert world.intended is world.twist


def test_omni_and_car_noise():
    world = make(2000, "omni: {noise: [{gaussian: {std: 0.05}}]}", kind="rolling")
    world.devices["a"].get("omni").set_velocity(0.3, np.where(np.arange(2000) < 1000, 0.1, 0.0), 0.2)
    twist = driven(world)[0]
    assert kolmogorov(twist[:, 0], statistics.NormalDist(0.3, 0.05).cdf) < 1.95
    assert kolmogorov(twist[:1000, 1], statistics.NormalDist(0.1, 0.05).cdf) < 1.95
    assert (twist[:, 2] == 0.2).all()
    world.devices["a"].get("omni").set_velocity(0.0, 0.0, 0.2)
    assert (driven(world)[0] == (0.0, 0.0, 0.2)).all()

    world = make(2000, "steering: {noise: [{gaussian: {std: 0.05}}]}", kind="car")
    world.devices["a"].get("steering").set(0.5, 0.1)
    twist = driven(world)[0]
    assert kolmogorov(twist[:, 0], statistics.NormalDist(0.5, 0.05).cdf) < 1.95
    assert twist[:, 2] == pytest.approx(twist[:, 0] * math.tan(0.1) / 0.3)
    assert (twist[:, 1] == 0.0).all()
    world.devices["a"].get("steering").set(0.0, 0.1)
    assert (driven(world)[0] == 0.0).all()


def test_odometry_noise():
    world = make(3000, "odometry: {distance_noise: 0.1, turn_noise: 0.2}")
    carried = world.devices["a"]
    odometry = carried.get("odometry")
    carried.get("wheels").set_velocity(1.0, 0.0)
    driven(world)
    assert kolmogorov(odometry.pose[:, 0], statistics.NormalDist(0.1, 0.01).cdf) < 1.95
    assert (odometry.pose[:, 1:] == 0.0).all()
    carried.get("wheels").set_velocity(0.0, 1.0)
    driven(world)
    assert kolmogorov(odometry.pose[:, 2], statistics.NormalDist(0.1, 0.02).cdf) < 1.95
    fewer = make(10, "odometry: {distance_noise: 0.1, turn_noise: 0.2}")
    fewer.devices["a"].start()
    fewer.devices["a"].get("wheels").set_velocity(1.0, 0.0)
    driven(fewer)
    fewer.devices["a"].get("wheels").set_velocity(0.0, 1.0)
    driven(fewer)
    assert (fewer.devices["a"].get("odometry").pose == odometry.pose[:10]).all()
