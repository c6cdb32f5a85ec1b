"""Sensors and actuators against numbers worked out by hand."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from robonet.errors import UserError
from robonet.robots.physics import Physics
from robonet.robots.placement import place_all
from robonet.robots.world import World
from robonet.scenario import parse_scenario

KINDS = """
kinds:
  - {name: square, body: {box: {size_m: [0.4, 0.2]}}, height_m: 0.1, devices: {omni: {max_speed_m_s: 2}, contact: {}, light: {sensors: 4}}}
  - {name: car, body: {box: {size_m: [0.4, 0.2]}}, devices: {steering: {wheelbase_m: 0.5, max_speed_m_s: 3}, odometry: {}}}
  - {name: lifted, body: {disk: {radius_m: 0.2}}, flies_at_m: 2, devices: {quadrotor_position: {}}}
  - {name: flier, body: {disk: {radius_m: 0.2}}, flies_at_m: 2, devices: {quadrotor_velocity: {max_speed_m_s: 2}, battery: {}, contact: {}}}
"""


def make(text, base=Path()):
    text = f"robonet: 1\nname: t\nduration_s: 100\n{KINDS}{text}"
    world = World(parse_scenario(text, base / "scenario.yaml").scenario, base)
    place_all(world)
    world.look()
    return world


def team(poses, kind="foot-bot", devices="", name="a", more=""):
    listed = ", ".join(f"[{x}, {y}, {angle}]" for x, y, angle in poses)
    return f"{{name: {name}, kind: {kind}, count: {len(poses)}, place: {{poses: [{listed}]}}, devices: {{{devices}}}{more}}}"


def run(world, steps=1, physics=None):
    physics = physics or Physics(world)
    for _ in range(steps):
        world.look()
        physics.step()
        world.index += 1
        physics.finish()
    world.look()
    return physics


# --- compass and clock -----------------------------------------------------------------------------------


def test_compass():
    world = make(f"robots: [{team([(0, 0, 90), (1, 0, 180), (2, 0, -45)])}]")
    compass = world.devices["a"].get("compass")
    assert compass.heading_rad == pytest.approx([math.pi / 2, math.pi, -math.pi / 4])
    assert compass.one(0).heading_rad == pytest.approx(math.pi / 2)
    with pytest.raises(ValueError, match="read-only"):
        compass.heading_rad[0] = 1.0
    world.move("a0", (0, 0), 0.5)
    assert compass.one(0).heading_rad == 0.5


def test_compass_noise_is_wrapped_and_the_same_for_all_readers():
    world = make(f"robots: [{team([(0, 0, 180), (1, 0, 0)], devices='compass: {noise: [{bias: {mean: 0.5}}]}')}]")
    compass = world.devices["a"].get("compass")
    assert compass.heading_rad == pytest.approx([-math.pi + 0.5, 0.5])
    assert compass.one(0).heading_rad == compass.heading_rad[0]


def test_clock():
    world = make(
        f"robots: [{team([(0, 0, 0)], devices='clock: {offset_s: 2, drift_ppm: 100}')}]\n"
        "stations: [{name: base, at_m: [3, 3]}]"
    )
    clock = world.devices["a"].get("clock")
    assert clock.time_s.tolist() == [2.0]
    world.index = 500
    assert clock.time_s[0] == clock.one(0).time_s == pytest.approx(2.0 + 50.0 * 1.0001, abs=1e-12)
    assert world.devices["base"].one("clock", 0).time_s == 50.0


def test_clocks_differ_and_stay_when_robots_are_added():
    settings = "devices: {clock: {offset_std_s: 0.5, drift_std_ppm: 20}}"
    few, many = (
        make(f"arena: {{size_m: [99, 99]}}\nrobots: [{{name: a, count: {count}, place: {{grid: {{}}}}, {settings}}}]")
        for count in (5, 2000)
    )
    clock = many.devices["a"].get("clock")
    offsets = clock.time_s.copy()
    many.index = few.index = 1000
    rates = (clock.time_s - offsets) / 100.0
    assert offsets.std() == pytest.approx(0.5, rel=0.06) and abs(offsets.mean()) < 0.05
    assert rates.std() == pytest.approx(20e-6, rel=0.06)
    assert few.devices["a"].get("clock").time_s.tolist() == clock.time_s[:5].tolist()


# --- battery ---------------------------------------------------------------------------------------------

SMALL = "battery: {capacity_j: 100, idle_w: 2, drive_w_per_m_s: 10, charge: 0.5, send_j: 0.25}"


def test_battery_falls_with_time_and_motion():
    world = make(f"robots: [{team([(0, 0, 0), (0, 1, 0)], devices=SMALL)}]")
    carried = world.devices["a"]
    battery = carried.get("battery")
    assert battery.charge.tolist() == [0.5, 0.5]
    carried.one("wheels", 0).set_speed(0.2, 0.2)
    run(world, 10)
    assert battery.energy_j == pytest.approx([50 - 2 - 10 * 0.2, 50 - 2])
    assert battery.one(0).charge == pytest.approx(0.46)
    assert battery.one(0).energy_j == pytest.approx(46)


def test_an_empty_battery_stops_the_motors_until_it_is_recharged():
    world = make(f"robots: [{team([(0, 0, 0)], devices=SMALL)}]")
    carried = world.devices["a"]
    battery, odometry = carried.get("battery"), carried.get("odometry")
    wheels, physics = carried.get("wheels"), None
    battery.spend(np.array([49.5]))
    assert battery.one(0).energy_j == pytest.approx(0.5)
    for _ in range(5):
        wheels.set_speed(0.2, 0.2)
        physics = run(world, 1, physics)
    assert battery.charge[0] == 0.0
    assert world.xyz[0, 0] == pytest.approx(0.04)  # it had enough for one step and began another
    assert odometry.pose[0, 0] == pytest.approx(0.04)
    battery.recharge(0, 1000.0)
    assert battery.one(0).charge == 1.0
    wheels.set_speed(0.2, 0.2)
    run(world, 1, physics)
    assert world.xyz[0, 0] == pytest.approx(0.06)


def test_an_empty_battery_beats_motor_noise():
    noisy = SMALL + ", wheels: {noise: [{gaussian: {std: 0.5}}]}"
    world = make(f"robots: [{team([(0, 0, 0)], devices=noisy)}]")
    carried = world.devices["a"]
    carried.start()
    carried.get("battery").spend(1e9)
    carried.get("wheels").set_speed(0.2, 0.2)
    run(world)
    assert world.xyz[0, 0] == 0.0


def test_batteries_in_reserve_keep_their_charge_and_fliers_pay_for_real_speed():
    text = "{name: a, kind: flier, count: 1, reserve: 1, place: {poses: [[0, 0, 0]]}, heading_deg: 0}"
    world = make(f"robots: [{text}]")
    carried = world.devices["a"]
    battery, rotors = carried.get("battery"), carried.get("quadrotor_velocity")
    world.velocity[0] = (3.0, 0.0, 4.0)
    world.before_physics[0]()
    assert battery.energy_j == pytest.approx([36_000 - 0.1 * (1 + 50), 36_000])
    rotors.one(0).set_velocity(1.0, 0.0, 0.0)
    battery.spend(np.array([1e6, 0.0]))
    world.before_physics[0]()
    assert world.rotors.mode[0] == 2 and world.rotors.target[0].tolist() == [0.0, 0.0, -2.0, 0.0]


@pytest.mark.parametrize("joule", [-1.0, math.nan])
def test_batteries_refuse_nonsense(joule):
    battery = make(f"robots: [{team([(0, 0, 0)])}]").devices["a"].get("battery")
    with pytest.raises(ValueError, match=r"robot 0 of the group .*(-1|nan)"):
        battery.recharge(0, joule)
    with pytest.raises(ValueError, match=r"robot 0 of the group .*(-1|nan)"):
        battery.spend(joule)


# --- contact ---------------------------------------------------------------------------------------------

RADIUS = 0.085036758


def touched(world, group="a"):
    """The sectors that are touched, robot by robot."""
    sensor = world.devices[group].get("contact")
    found = [np.flatnonzero(row).tolist() for row in sensor.touches]
    assert [one for one in range(len(found)) if found[one]] == np.flatnonzero(sensor.touched).tolist()
    assert sensor.one(0).touches == sensor.touches[0].tolist()
    assert sensor.one(0).touched == bool(found[0])
    return found


def test_contact_between_disks():
    near, far = 2 * RADIUS + 0.001, 2 * RADIUS + 0.003
    world = make(f"robots: [{team([(0, 0, 0), (near, 0, 90), (0, -near, 0), (-far, 0, 0)])}]")
    assert touched(world) == [[0, 6], [2], [2], []]


def test_contact_with_walls_obstacles_and_corners():
    edge = 2 - RADIUS - 0.001
    world = make(
        "arena: {size_m: [4, 4], obstacles: [{box: {center_m: [0, 0], size_m: [1, 1], angle_deg: 45}}, "
        "{circle: {center_m: [-1, -1], radius_m: 0.2}}, {polygon: {corners_m: [[1, -1.5], [1.5, -1], [1.5, -1.5]]}}]}\n"
        f"robots: [{team([(edge, 1, 0), (edge, edge, 45), (0, 0.5**0.5 + RADIUS + 0.001, 0)])},"
        f" {team([(-1, -0.8 + RADIUS + 0.001, 0), (1.5 + RADIUS + 0.001, -1.2, 0), (-1, 1.5, 0)], name='b')}]"
    )
    assert touched(world) == [[0], [1, 7], [6]]
    assert touched(world, "b") == [[6], [4], []]


def test_contact_of_boxes():
    """A body with corners is touched all along its edge: the front of this one is three sectors wide."""
    world = make(
        "arena: {size_m: [4, 4], obstacles: [{box: {center_m: [0, 0.6], size_m: [1, 1]}}]}\n"
        f"robots: [{team([(1.799, 1, 0), (0, -0.001, 0), (0, -0.202, 0), (1, -1, 0)], 'square')},"
        f" {team([(1.2 + RADIUS + 0.001, -1, 0)], name='b')}]"
    )
    front = [0, 1, 7]
    found = touched(world)
    assert found[0] == [one for one in front if one in found[0]] == [0, 1, 7]
    assert found[1] == [1, 2, 3, 5, 6, 7]
    assert found[2] == [1, 2, 3]
    assert found[3] == [0]
    assert touched(world, "b") == [[4]]


def outline(half_x, half_y, x, y, angle, count=400):
    """Points on the edge of a box, or of a disk where it has no second extent."""
    along = np.arange(count) / count
    if half_y is None:
        points = half_x * np.stack((np.cos(2 * np.pi * along), np.sin(2 * np.pi * along)), axis=1)
    else:
        corners = np.array([(-half_x, -half_y), (half_x, -half_y), (half_x, half_y), (-half_x, half_y)])
        side, share = (4 * along).astype(int), 4 * along % 1
        points = corners[side] * (1 - share[:, None]) + corners[(side + 1) % 4] * share[:, None]
    turn = np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])
    return points @ turn + (x, y)


@pytest.mark.parametrize(("other", "shape"), [("square", (0.2, 0.1)), ("foot-bot", (RADIUS, None))])
def test_contact_against_brute_force(other, shape):
    """Pairs of bodies at random distances, each pair alone: edges are near, or they are not."""
    count, reach = 150, 0.03
    world = make(
        "arena: {size_m: [120, 120], walls: false}\nrobots: ["
        f"{{name: a, kind: square, count: {count}, place: {{grid: {{spacing_m: 2}}}}, devices: {{contact: {{reach_m: {reach}}}}}}},"
        f"{{name: b, kind: {other}, count: {count}, place: {{grid: {{center_m: [50, 50]}}}}, "
        f"devices: {{contact: {{reach_m: {reach}}}}}}}]"
    )
    rng = np.random.default_rng(5)
    bearing, away = rng.uniform(-np.pi, np.pi, count), rng.uniform(0.25, 0.5, count)
    world.xyz[count:, :2] = world.xyz[:count, :2] + (away * np.array([np.cos(bearing), np.sin(bearing)])).T
    world.heading[:] = rng.uniform(-np.pi, np.pi, 2 * count)
    world.edits += 1
    world.look()
    by_a, by_b = (world.devices[name].get("contact") for name in "ab")
    checked = 0
    for i in range(count):
        mine, its = (*world.xyz[i, :2], world.heading[i]), (*world.xyz[count + i, :2], world.heading[count + i])
        edge = outline(0.2, 0.1, *mine)
        gaps = np.linalg.norm(edge[:, None] - outline(*shape, *its)[None], axis=2).min(axis=1)
        if abs(gaps.min() - reach) < 0.002:
            continue
        checked += 1
        assert by_a.touched[i] == by_b.touched[i] == (gaps.min() < reach)
        nearest = edge[gaps.argmin()] - world.xyz[i, :2]
        angle = math.atan2(nearest[1], nearest[0]) - world.heading[i]
        if by_a.touched[i] and abs(angle / (np.pi / 4) % 1 - 0.5) > 0.05 and gaps.min() > 0.005:
            assert by_a.touches[i, round(angle / (np.pi / 4)) % 8]
    assert checked > 120 and 20 < by_a.touched.sum() < 130


def test_what_flies_above_does_not_touch():
    world = make(f"robots: [{team([(0, 0, 0)])}, {team([(1, 0, 0), (1.401, 0, 0)], 'flier', name='b')}]")
    world.move("b0", (0.0, 0.0))
    world.move("b1", (0.401, 0.0))
    assert touched(world) == [[]]
    assert touched(world, "b") == [[0], [4]]
    world.xyz[2, 2] = 0.1
    world.move("b1", (0.2 + RADIUS, 0.0))
    assert touched(world) == [[0]]
    assert touched(world, "b") == [[], [4]]


def test_whoever_is_absent_touches_nobody():
    world = make(f"robots: [{team([(0, 0, 0), (2 * RADIUS, 0, 0)])}]")
    assert touched(world) == [[0], [4]]
    world.remove("a1")
    assert touched(world) == [[], []]


# --- ground ----------------------------------------------------------------------------------------------

POINTS = "ground: {points_m: [[0, 0], [0.5, 0], [0, 0.5]]}"


def test_floor_patches_later_ones_on_top():
    world = make(
        "arena: {floor: {brightness: 0.9, patches: [{center_m: [0, 0], size_m: [2, 2], brightness: 0.5}, "
        "{center_m: [0, 1], radius_m: 0.6, brightness: 0.1}]}}\n"
        f"robots: [{team([(0, 0.2, 0), (0.8, 0, 0), (0.2, 0.2, 90), (3, 3, 0)], devices=POINTS)}]"
    )
    ground = world.devices["a"].get("ground")
    assert ground.brightness.tolist() == [[0.5, 0.5, 0.1], [0.5, 0.9, 0.5], [0.5, 0.1, 0.5], [0.9, 0.9, 0.9]]
    assert ground.one(1).brightness == [0.5, 0.9, 0.5]
    assert ground.one(1).points_m == [[0.0, 0.0], [0.5, 0.0], [0.0, 0.5]]


def test_floor_picture(tmp_path):
    """Two by two pixels over four by four metres: black at the upper left, grey at the lower right."""
    picture = Image.new("RGBA", (2, 2), (255, 255, 255, 255))
    picture.putpixel((0, 0), (0, 0, 0, 255))
    picture.putpixel((1, 1), (51, 51, 51, 255))
    picture.putpixel((1, 0), (0, 0, 0, 0))
    picture.save(tmp_path / "floor.png")
    text = (
        "arena: {size_m: [4, 4], floor: {image: floor.png, brightness: 0.6, "
        "patches: [{center_m: [-1.5, 1.5], radius_m: 0.3, brightness: 0.7}]}}\n"
        f"robots: [{team([(-1, 1, 0), (1, 1, 0), (-1, -1, 0), (1, -1, 0)], devices='ground: {points_m: [[0, 0], [-0.5, 0.5]]}')}]"
    )
    brightness = make(text, tmp_path).devices["a"].get("ground").brightness
    assert brightness[:, 0] == pytest.approx([0.0, 0.6, 1.0, 0.2])
    assert brightness[0, 1] == 0.7
    with pytest.raises(UserError, match=r"there is no file .*floor\.png"):
        make(text, tmp_path / "elsewhere")


def test_ground_noise_stays_within_black_and_white():
    noisy = "ground: {noise: [{gaussian: {std: 0.5}}]}"
    world = make(
        f"arena: {{size_m: [50, 50]}}\nrobots: [{{name: a, count: 500, place: {{grid: {{}}}}, devices: {{{noisy}}}}}]"
    )
    brightness = world.devices["a"].get("ground").brightness
    assert brightness.min() >= 0.0 and brightness.max() == 1.0
    assert (brightness == 1.0).mean() == pytest.approx(0.5, abs=0.05)


# --- light -----------------------------------------------------------------------------------------------

FOUR = "light: {angles_deg: [0, 90, 180, 270]}"


def test_light_falls_with_the_square_of_distance_and_the_cosine_of_the_angle():
    half = 0.146899733 / 2
    world = make(
        f"arena: {{lights: [{{at_m: [2, 0], height_m: {half}, intensity: 0.5}}]}}\n"
        f"robots: [{team([(0, 0, 0), (2, -1, 60), (1.6, 0, 0), (2, 0, 30)], devices=FOUR[:-1] + ', occlusion: false}')}]"
    )
    light = world.devices["a"].get("light")
    assert light.values[0] == pytest.approx([0.0625, 0, 0, 0], abs=1e-12)
    full = 0.25
    ahead = math.radians(30)
    assert light.values[1] == pytest.approx([full * math.cos(ahead), full * math.sin(ahead), 0, 0])
    assert light.values[2] == pytest.approx([1.0, 0, 0, 0], abs=1e-12)
    assert light.values[3].tolist() == [1.0, 1.0, 1.0, 1.0]
    assert light.one(1).values == light.values[1].tolist()
    assert light.one(1).angles_rad == pytest.approx([0, math.pi / 2, math.pi, 1.5 * math.pi])


def test_lamps_add_up_and_their_height_counts():
    half = 0.146899733 / 2
    world = make(
        f"arena: {{lights: [{{at_m: [3, 0], height_m: {half + 4}}}, {{at_m: [-2, 0], height_m: {half}}}, "
        f"{{at_m: [0, 2], height_m: {half}}}]}}\nrobots: [{team([(0, 0, 0)], devices=FOUR)}]"
    )
    assert world.devices["a"].get("light").values[0] == pytest.approx([1 / 25, 0.25, 0.25, 0], abs=1e-12)


def test_shadows():
    low, high = "{at_m: [2, 0], height_m: 0.07}", "{at_m: [2, 0], height_m: 3}"

    def front(lamp, poses, obstacle="", devices=FOUR):
        text = f"arena: {{lights: [{lamp}], obstacles: [{obstacle}]}}\nrobots: [{team(poses, devices=devices)}]"
        return make(text).devices["a"].get("light").values[0, 0]

    box = "{box: {center_m: [1, 0], size_m: [0.1, 0.5]}}"
    assert front(low, [(0, 0, 0)]) == pytest.approx(0.25, rel=1e-4)
    assert front(low, [(0, 0, 0), (1, 0, 0)]) == 0.0
    assert front(low, [(0, 0, 0), (1, 0.2, 0), (-1, 0, 0), (2.5, 0, 0)]) > 0.0
    assert front(high, [(0, 0, 0), (1, 0, 0)]) > 0.0
    assert front(low, [(0, 0, 0)], box) == front(high, [(0, 0, 0)], box) == 0.0
    blind = "light: {angles_deg: [0], occlusion: false}"
    assert front(low, [(0, 0, 0), (0.5, 0, 0)], box, blind) == pytest.approx(0.25, rel=1e-4)


def test_a_light_that_fails_repeats_its_reading():
    noisy = "light: {noise: [{dropout: {probability: 1}}]}"
    world = make(f"arena: {{lights: [{{at_m: [2, 0]}}]}}\nrobots: [{team([(0, 0, 0)], devices=noisy)}]")
    light = world.devices["a"].get("light")
    first = light.values.copy()
    world.move("a", (-1.0, 0.0))
    world.index += 1
    assert first.any() and (light.values == first).all()


def test_without_lamps_it_is_dark():
    world = make(f"robots: [{team([(0, 0, 0)])}]")
    assert world.devices["a"].get("light").values.tolist() == [[0.0] * 24]


# --- drives ----------------------------------------------------------------------------------------------


def test_omni():
    world = make(f"robots: [{team([(0, 0, 90), (2, 0, 0)], 'square')}]")
    omni = world.devices["a"].get("omni")
    omni.set_velocity([0.3, 0.0], [0.4, -0.5], 0.0)
    run(world, 10)
    assert world.xyz[:, :2] == pytest.approx(np.array([[-0.4, 0.3], [2.0, -0.5]]))
    omni.set_velocity(0.0, 0.0)
    omni.one(1).set_velocity(1.0, 0.5, 0.25)
    assert world.twist.tolist() == [[0.0, 0.0, 0.0], [1.0, 0.5, 0.25]]
    omni.set_velocity(2.0 * math.cos(0.3), 2.0 * math.sin(0.3))
    omni.one(0).set_velocity(2.0 * math.cos(0.3), 2.0 * math.sin(0.3))


def test_a_car_drives_circles():
    world = make(f"robots: [{team([(0, 0, 0), (0, 3, 0)], 'car')}]")
    car = world.devices["a"].get("steering")
    angle = math.atan(0.5)  # a circle of 1 m
    car.set([0.5, -0.5], [angle, 0.0])
    assert world.twist[0].tolist() == pytest.approx([0.5, 0.0, 0.5])
    run(world, 10)
    assert world.xyz[0, :2] == pytest.approx([math.sin(0.5), 1 - math.cos(0.5)])
    assert world.heading[0] == pytest.approx(0.5)
    assert world.xyz[1, :2] == pytest.approx([-0.5, 3.0])
    car.one(1).set(1.0, 2.0)
    assert world.twist[1].tolist() == pytest.approx([1.0, 0.0, math.tan(math.radians(35)) / 0.5])
    car.set(1.0, -2.0)
    assert world.twist[1].tolist() == pytest.approx([1.0, 0.0, -math.tan(math.radians(35)) / 0.5])
    assert car.one(0).max_steering_rad == pytest.approx(math.radians(35))


def test_rotors_are_told():
    world = make(
        f"robots: [{team([(0, 0, 0), (2, 0, 0)], 'eye-bot')}, {team([(4, 0, 0), (4, 2, 0)], 'flier', name='b')}]"
    )
    position, velocity = world.devices["a"].get("quadrotor_position"), world.devices["b"].get("quadrotor_velocity")
    velocity.set_velocity([1.0, 0.0], 0.5, -0.5, 0.1)
    velocity.one(1).set_velocity(0.0, 0.0, 2.0)
    position.fly_to(1.0, [2.0, 3.0], 1.5)
    position.one(1).fly_to(4.0, 5.0, 6.0, 0.5)
    assert world.rotors.mode.tolist() == [1, 1, 2, 2]
    assert world.rotors.target[:2].tolist() == [[1.0, 2.0, 1.5, 0.0], [4.0, 5.0, 6.0, 0.5]]
    assert world.rotors.target[2:].tolist() == [[1.0, 0.5, -0.5, 0.1], [0.0, 0.0, 2.0, 0.0]]


def test_gripper():
    world = make(
        f"objects: [{{name: box, cylinder: {{radius_m: 0.1}}, place: {{at_m: [[2, 2]]}}}}]\n"
        f"robots: [{team([(0, 0, 0), (1, 0, 0), (2, 0, 0)])}]"
    )
    gripper = world.devices["a"].get("gripper")
    assert gripper.holds.tolist() == [-1, -1, -1] and gripper.one(1).holds is None
    gripper.close()
    gripper.open(np.array([False, True, False]))
    assert world.grip_wish[:3].tolist() == [True, False, True] == gripper.is_closed.tolist()
    gripper.open([0])
    gripper.one(1).close()
    assert world.grip_wish[:3].tolist() == [False, True, True] and gripper.one(1).is_closed
    world.grips[1] = world.row_of("box")
    assert gripper.one(1).holds == "box" and gripper.holds.tolist() == [-1, 3, -1]
    gripper.one(1).open()
    assert not world.grip_wish[1]
    with pytest.raises(ValueError, match="read-only"):
        gripper.holds[0] = 1


# --- misuse ----------------------------------------------------------------------------------------------

NAN = math.nan


@pytest.mark.parametrize(
    ("kind", "drive", "method", "good", "bad"),
    [
        ("foot-bot", "wheels", "set_speed", (0.1, 0.1), (NAN, 0.1)),
        ("foot-bot", "wheels", "set_speed", (0.1, 0.1), (0.1, 101.0)),
        ("square", "omni", "set_velocity", (0.1, 0.1, 0.1), (0.1, NAN, 0.1)),
        ("square", "omni", "set_velocity", (0.1, 0.1, 0.1), (0.1, 0.1, math.inf)),
        ("square", "omni", "set_velocity", (0.1, 0.1, 0.1), (1.5, 1.5, 0.1)),
        ("car", "steering", "set", (0.1, 0.1), (0.1, NAN)),
        ("car", "steering", "set", (0.1, 0.1), (-3.1, 0.1)),
        ("flier", "quadrotor_velocity", "set_velocity", (0.1, 0.1, 0.1, 0.1), (0.1, 0.1, NAN, 0.1)),
        ("flier", "quadrotor_velocity", "set_velocity", (0.1, 0.1, 0.1, 0.1), (1.5, 1.5, 0.1, 0.1)),
        ("flier", "quadrotor_velocity", "set_velocity", (0.1, 0.1, 0.1, 0.1), (0.1, 0.1, 0.1, 2.5)),
        ("lifted", "quadrotor_position", "fly_to", (0.1, 0.1, 0.1, 0.1), (0.1, 0.1, 0.1, NAN)),
        ("lifted", "quadrotor_position", "fly_to", (0.1, 0.1, 0.1, 0.1), (-math.inf, 0.1, 0.1, 0.1)),
    ],
)
def test_nonsense_is_refused_by_name(kind, drive, method, good, bad):
    """The robot and what it was told are named, and it is not told."""
    world = make(f"robots: [{team([(0, 0, 0), (1, 0, 0)], kind)}]")
    device = world.devices["a"].get(drive)
    columns = [[one, other] for one, other in zip(good, bad, strict=True)]
    wrong = next(other for one, other in zip(good, bad, strict=True) if one != other)
    with pytest.raises(ValueError, match=r"'a1'.*" + re.escape(str(wrong))):
        getattr(device, method)(*columns)
    with pytest.raises(ValueError, match=str(wrong)):
        getattr(device.one(0), method)(*bad)
    assert not world.twist[1].any() and not world.rotors.mode.any()
    getattr(device, method)(*good)
    getattr(device.one(0), method)(*good)
