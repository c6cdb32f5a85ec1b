"""Range-and-bearing, LEDs and cameras: against brute force, and by hand."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from robonet.robots.media.air import air_of
from robonet.robots.media.draws import ListNoise
from robonet.robots.media.pairs import direction
from robonet.robots.physics import Physics
from robonet.robots.placement import place_all
from robonet.robots.world import World
from robonet.scenario import devices, parse_scenario

BOX = {"box": {"center_m": [0.0, 0.0], "size_m": [0.2, 2.0]}}


def a_world(robots, size_m=10.0, **more):
    data = {"robonet": 1, "name": "media", "duration_s": 100.0, "arena": {"size_m": [size_m, size_m]}, "robots": robots}
    data["arena"].update(more.pop("arena", {}))
    world = World(parse_scenario(json.dumps(data | more)).scenario, Path())
    place_all(world)
    world.look()
    return world


def a_team(*at_m, name="bot", kind="foot-bot", **devices):
    return {
        "name": name,
        "kind": kind,
        "count": len(at_m),
        "place": {"at_m": at_m},
        "heading_deg": 0,
        "devices": devices,
    }


def device(world, name="range_and_bearing", group="bot"):
    return world.devices[group].get(name)


def tick(world, physics=None):
    """Everyone has decided: move, carry, begin the next step."""
    physics = Physics(world) if physics is None else physics
    world.look()
    physics.step()
    world.index += 1
    physics.finish()
    world.look()


# --- brute force -----------------------------------------------------------------------------------------


def outline_of(world, k):
    """Corners of a body in the world's frame, None for a disk."""
    shape = world.shape[k]
    if shape < 0:
        return None
    corners = world.shapes.corners[world.shapes.offsets[shape] : world.shapes.offsets[shape + 1]]
    c, s = math.cos(world.heading[k]), math.sin(world.heading[k])
    return corners @ np.array([[c, s], [-s, c]]) + world.xyz[k, :2]


def inside_of_disk(a, d, centre, radius):
    """Shares of the way from a along d that are within a disk."""
    f = np.asarray(a) - centre
    qa, qb, qc = d @ d, 2 * f @ d, f @ f - radius * radius
    if qa == 0:
        return (0.0, 1.0) if qc < 0 else None
    root = qb * qb - 4 * qa * qc
    if root <= 0:
        return None
    enter, leave = (-qb - math.sqrt(root)) / (2 * qa), (-qb + math.sqrt(root)) / (2 * qa)
    enter, leave = max(enter, 0.0), min(leave, 1.0)
    return (enter, leave) if enter < leave else None


def inside_of_polygon(a, d, corners):
    enter, leave = 0.0, 1.0
    for p, q in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        normal = np.array([q[1] - p[1], p[0] - q[0]])
        gap, speed = normal @ (a - p), normal @ d
        if speed == 0:
            if gap > 0:
                return None
        elif speed < 0:
            enter = max(enter, -gap / speed)
        else:
            leave = min(leave, -gap / speed)
    return (enter, leave) if enter < leave else None


def sees(world, a, b, i, j):
    """Whether nothing stands between two points, all things looked at one by one."""
    a, b = np.asarray(a), np.asarray(b)
    d = b - a
    for k in range(world.bodies):
        if k in (i, j) or world.body_m[k] <= 0:
            continue
        corners = outline_of(world, k)
        if corners is None:
            part = inside_of_disk(a[:2], d[:2], world.xyz[k, :2], world.body_m[k])
        else:
            part = inside_of_polygon(a[:2], d[:2], corners)
        if part is not None:
            heights = [a[2] + share * d[2] for share in part]
            if min(heights) < world.xyz[k, 2] + world.height_m[k] and max(heights) > world.xyz[k, 2]:
                return False
    things = world.obstacles
    for k in range(len(things)):
        first, last = things.offsets[k], things.offsets[k + 1]
        if first == last:
            part = inside_of_disk(a[:2], d[:2], things.rows[k, :2], things.rows[k, 6])
        else:
            part = inside_of_polygon(a[:2], d[:2], things.corners[first:last])
        if part is not None:
            return False
    return True


def middle(world, i):
    return world.xyz[i] + [0, 0, world.height_m[i] / 2]


def heard_by_all(world, groups):
    """What everyone hears of whom, by brute force: (receiver, sender) -> range, bearing, elevation."""
    reach = {}
    for name in groups:
        group = next(g for g in world.groups if g.name == name)
        reach.update(dict.fromkeys(range(group.rows.start, group.rows.stop), group.devices.range_and_bearing))
    found = {}
    for r in reach:
        for s, settings in reach.items():
            a, b = middle(world, r), middle(world, s)
            distance = float(np.linalg.norm(b - a))
            if r == s or distance > settings.range_m:
                continue
            if settings.line_of_sight and not sees(world, a, b, r, s):
                continue
            d = b - a
            bearing = math.remainder(math.atan2(d[1], d[0]) - world.heading[r], 2 * math.pi)
            found[r, s] = distance, bearing, math.atan2(d[2], math.hypot(d[0], d[1]))
    return found


def check_against_brute_force(world, groups):
    for name in groups:  # everyone says who it is
        rows = next(g for g in world.groups if g.name == name).rows
        device(world, group=name).send([row.to_bytes(2, "little") for row in range(rows.start, rows.stop)])
    tick(world)
    expected = heard_by_all(world, groups)
    count = 0
    for name in groups:
        rows = next(g for g in world.groups if g.name == name).rows
        rab = device(world, group=name)
        for number in range(rows.stop - rows.start):
            heard = rab.one(number).receive()
            senders = [int.from_bytes(message.payload, "little") for message in heard]
            assert senders == sorted(s for r, s in expected if r == rows.start + number)
            for sender, message in zip(senders, heard, strict=True):
                assert message[:3] == pytest.approx(expected[rows.start + number, sender], abs=1e-9)
                count += 1
    assert count == len(expected) > 0
    return count


@pytest.mark.parametrize("seed", range(4))
def test_who_hears_whom_among_round_bodies(seed):
    obstacles = [
        BOX,
        {"circle": {"center_m": [1.5, 1.5], "radius_m": 0.4}},
        {"box": {"center_m": [-1.5, 1], "size_m": [1, 0.2], "angle_deg": 30}},
    ]
    world = a_world([{"name": "bot", "count": 60}], 6.0, seed=seed, arena={"obstacles": obstacles})
    check_against_brute_force(world, ["bot"])


@pytest.mark.parametrize("seed", range(4))
def test_who_hears_whom_among_bodies_with_corners_of_several_heights(seed):
    kinds = [
        {"name": "octagon", "like": "minibot", "devices": {"range_and_bearing": {"range_m": 2.5}}},
        {
            "name": "plank",
            "body": {"box": {"size_m": [0.5, 0.1]}},
            "height_m": 0.05,
            "devices": {"wheels": {}, "range_and_bearing": {"range_m": 1.5}},
        },
    ]
    robots = [
        {"name": "oct", "kind": "octagon", "count": 20}, {"name": "plank", "kind": "plank", "count": 15},
        {"name": "foot", "count": 15, "devices": {"range_and_bearing": {"range_m": 2.0}}}, {"name": "kilo", "kind": "kilobot", "count": 20},
        {"name": "pucks", "kind": "e-puck", "count": 10, "devices": {"range_and_bearing": {"line_of_sight": False, "range_m": 3.0}}},
    ]  # fmt: skip
    things = [
        {"name": "crate", "box": {"size_m": [0.4, 0.3]}, "count": 6, "height_m": 0.06},
        {"name": "slab", "box": {"size_m": [1.2, 0.1]}},
    ]
    corners = [[1.0, -2.0], [2.0, -2.0], [2.0, -1.0], [1.8, -1.0], [1.8, -1.8], [1.0, -1.8]]
    world = a_world(
        robots, 5.0, seed=seed, kinds=kinds, objects=things, arena={"obstacles": [{"polygon": {"corners_m": corners}}]}
    )
    check_against_brute_force(world, ["oct", "plank", "foot", "kilo", "pucks"])


@pytest.mark.parametrize("kind", ["foot-bot", "octagon"])
@pytest.mark.parametrize("seed", range(2))
def test_who_hears_whom_in_a_crowd(kind, seed):
    kinds = [{"name": "octagon", "like": "minibot", "devices": {"range_and_bearing": {"range_m": 2.5}}}]
    world = a_world([{"name": "bot", "kind": kind, "count": 45}], 2.5, seed=seed, kinds=kinds)
    count = check_against_brute_force(world, ["bot"])
    assert count < 0.6 * 45 * 44 and len(air_of(world)._shade)  # most are hidden, and shadows helped


@pytest.mark.parametrize("seed", range(4))
def test_who_hears_whom_in_space(seed):
    kinds = [
        {"name": "flyer", "like": "eye-bot", "flies_at_m": 1.0, "devices": {"range_and_bearing": {"range_m": 4.0}}}
    ]
    robots = [{"name": "eye", "kind": "flyer", "count": 8}, {"name": "foot", "count": 40, "place": {"uniform": {}}}]
    world = a_world(robots, 5.0, seed=seed, kinds=kinds)
    rng = np.random.default_rng(seed)
    world.xyz[:8, 2] = rng.uniform(0.2, 3.0, 8)
    check_against_brute_force(world, ["eye", "foot"])


def test_who_hears_whom_where_there_are_no_walls():
    world = a_world([{"name": "bot", "count": 40}], 4.0, arena={"walls": False})
    rng = np.random.default_rng(5)
    world.xyz[:, :2] = rng.uniform(-8.0, 8.0, (40, 2))  # far beyond the arena
    world.edits += 1
    check_against_brute_force(world, ["bot"])


def test_someone_straight_above_is_heard_unless_something_is_between():
    kinds = [{"name": "flyer", "like": "eye-bot", "flies_at_m": 1.0}]
    robots = [a_team((0.0, 0.0), name="low"), a_team((2.0, 2.0), (-2.0, -2.0), name="eye", kind="flyer")]
    world = a_world(robots, kinds=kinds)
    world.xyz[1] = (0.0, 0.0, 1.0)
    device(world, group="eye").send(b"eye")
    device(world, group="low").send(b"low")
    for act in world.after_physics:
        act()
    (heard,) = [h for h in device(world, group="low").one(0).receive() if h.elevation_rad > 1.5]
    between = 1.0 + world.height_m[1] / 2 - world.height_m[0] / 2
    assert heard.range_m == pytest.approx(between) and heard.elevation_rad == pytest.approx(math.pi / 2)
    world.xyz[2] = (0.1, 0.0, 0.5)  # a second one slips in between
    world.xyz[1, 2] = 2.0
    world.edits += 1
    assert [round(h.range_m, 1) for h in device(world, group="low").one(0).receive()] == [0.7]


# --- messages --------------------------------------------------------------------------------------------


def test_range_bearing_and_payload_by_hand():
    world = a_world([a_team((0.0, 0.0), (1.0, 1.0), (0.0, 4.5))])
    world.heading[0] = math.pi / 2
    one, two, far = (device(world).one(k) for k in range(3))
    two.send(b"hello")
    far.send(b"too far")
    assert one.receive() == []
    tick(world)
    (heard,) = one.receive()
    assert heard.range_m == pytest.approx(math.sqrt(2), abs=1e-12)
    assert heard.bearing_rad == pytest.approx(-math.pi / 4, abs=1e-12)
    assert heard.elevation_rad == 0.0 and heard.payload == b"hello"
    assert two.receive() == [] and far.receive() == []


def test_a_message_is_repeated_until_it_is_changed_or_cleared():
    world = a_world([a_team((0.0, 0.0), (1.0, 0.0))])
    physics = Physics(world)
    one, two = device(world).one(0), device(world).one(1)
    heard = []
    for step in range(6):
        if step == 0:
            one.send(b"a longer one"[:10])
        elif step == 2:
            one.send(b"b")
        elif step == 4:
            one.clear()
        heard.append([message.payload for message in two.receive()])
        tick(world, physics)
    assert heard == [[], [b"a longer o"], [b"a longer o"], [b"b"], [b"b"], []]


def test_who_speaks_in_a_step_does_not_depend_on_who_asks_first():
    world = a_world([a_team((0.0, 0.0), (1.0, 0.0))])
    one, two = device(world).one(0), device(world).one(1)
    one.send(b"old")
    tick(world)
    one.send(b"new")  # it decides before the other one looks
    assert [message.payload for message in two.receive()] == [b"old"]


@pytest.mark.parametrize("between", ["robot", "wall", "thing", "low robot"])
def test_robots_walls_and_things_are_in_the_way(between):
    robots = [a_team((-1.0, 0.0), (1.0, 0.0))]
    more = {}
    if between in ("robot", "low robot"):
        robots.append(
            a_team(
                (0.0, 0.05 if between == "robot" else 0.0),
                name="other",
                kind="foot-bot" if between == "robot" else "kilobot",
            )
        )
    elif between == "wall":
        more["arena"] = {"obstacles": [BOX]}
    else:
        more["objects"] = [
            {
                "name": "crate",
                "box": {"size_m": [0.5, 0.5]},
                "height_m": 0.1,
                "place": {"at_m": [[0.0, 0.2]]},
                "heading_deg": 0,
            }
        ]
    for sight, expected in ((True, 1 if between == "low robot" else 0), (False, 1)):
        robots[0]["devices"] = {"range_and_bearing": {"line_of_sight": sight}}
        world = a_world(robots, **more)
        device(world).send(b"x")
        tick(world)
        assert [len(device(world).one(k).receive()) for k in range(2)] == [expected, expected]


def test_range_and_sight_are_the_senders_and_groups_hear_each_other():
    kinds = [
        {
            "name": "flyer",
            "like": "eye-bot",
            "flies_at_m": 3.5,
            "devices": {"range_and_bearing": {"payload_bytes": 20, "range_m": 12.0}},
        }
    ]
    world = a_world([a_team((0.0, 0.0), name="foot"), a_team((3.0, 0.0), name="eye", kind="flyer")], kinds=kinds)
    device(world, group="foot").send(b"down here")
    device(world, group="eye").send(b"twenty bytes from me")
    for act in world.after_physics:
        act()
    (heard,) = device(world, group="foot").one(0).receive()
    up = 3.5 + world.height_m[1] / 2 - world.height_m[0] / 2
    assert heard.payload == b"twenty bytes from me" and heard.range_m == pytest.approx(math.hypot(3.0, up))
    assert heard.elevation_rad == pytest.approx(math.atan2(up, 3.0)) and heard.bearing_rad == pytest.approx(0.0)
    assert device(world, group="eye").one(0).receive() == []  # a foot-bot is heard over 3 m
    assert device(world, group="foot").payloads.shape == (1, 20)


def test_arrays_of_messages():
    world = a_world([a_team((0.0, 0.0), (1.0, 0.0), (2.0, 0.5))])
    rab = device(world)
    rab.send(np.arange(9, dtype=np.uint8).reshape(3, 3))
    tick(world)
    assert rab.offsets.tolist() == [0, 2, 4, 6]
    assert rab.payloads.shape == (6, 10) and rab.lengths.tolist() == [3] * 6
    assert rab.payloads[:, :3].tolist() == [[3, 4, 5], [6, 7, 8], [0, 1, 2], [6, 7, 8], [0, 1, 2], [3, 4, 5]]
    assert not rab.payloads[:, 3:].any()
    with pytest.raises(ValueError):
        rab.ranges_m[0] = 1.0
    rab.send([b"only me", None, None])
    tick(world)
    assert [len(rab.one(k).receive()) for k in range(3)] == [0, 1, 1]
    rab.clear()
    tick(world)
    assert rab.offsets.tolist() == [0, 0, 0, 0] and len(rab.payloads) == len(rab.ranges_m) == 0


def test_what_cannot_be_sent_is_refused_by_name():
    world = a_world([a_team((0.0, 0.0), (1.0, 0.0))])
    rab = device(world)
    with pytest.raises(ValueError, match="range_and_bearing of 'bot1' sends up to 10 bytes .*not 11"):
        rab.one(1).send(b"12345678901")
    with pytest.raises(ValueError, match="up to 10 bytes .*not 12"):
        rab.send(np.zeros((2, 12), dtype=np.uint8))
    with pytest.raises(ValueError, match="a row a robot, not of float64 with shape"):
        rab.send(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="each of the 2 robots"):
        rab.send([b"a"])
    with pytest.raises(TypeError, match="bytes, not str"):
        rab.one(0).send("hello")
    tick(world)
    assert rab.one(0).receive() == []


def test_who_was_removed_is_silent_and_deaf_and_comes_back_so():
    team = a_team((0.0, 0.0), (1.0, 0.0), (0.0, 1.0))
    world = a_world([team])
    rab, physics = device(world), Physics(world)
    rab.send(b"x")
    tick(world, physics)
    assert np.diff(rab.offsets).tolist() == [2, 2, 2]
    world.remove("bot1")
    assert np.diff(rab.offsets).tolist() == [1, 0, 1]
    tick(world, physics)
    world.add("bot", (1.0, 0.0))
    assert np.diff(rab.offsets).tolist() == [1, 2, 1]  # it hears, and has said nothing yet


# --- chance ----------------------------------------------------------------------------------------------


def heard_over(world, steps, payload=b"x"):
    rab, physics = device(world), Physics(world)
    rab.send(payload)
    seen = []
    for _ in range(steps):
        tick(world, physics)
        seen.append((rab.offsets.copy(), rab.ranges_m.copy(), rab.bearings_rad.copy(), rab.payloads.copy()))
    return seen


def test_drop_probability_is_a_share():
    rows = [(0.5 * x, 0.5 * y) for x in range(6) for y in range(6)]
    world = a_world([a_team(*rows, range_and_bearing={"line_of_sight": False, "drop_probability": 0.3})])
    got = [len(ranges) for _, ranges, _, _ in heard_over(world, 50)]
    (everything,) = {
        len(r) for _, r, _, _ in heard_over(a_world([a_team(*rows, range_and_bearing={"line_of_sight": False})]), 1)
    }
    assert sum(got) / (50 * everything) == pytest.approx(0.7, abs=4 * math.sqrt(0.21 / (50 * everything)))
    assert len(set(got)) > 10


def test_another_robot_does_not_change_what_others_miss():
    rows = [(0.6 * x, 0.6 * y) for x in range(5) for y in range(5)]
    lossy = {"line_of_sight": False, "drop_probability": 0.5, "range_noise": [{"gaussian": {"std": 0.1}}]}
    both = []
    for places in (rows, [*rows, (-4.0, -4.0)]):
        world = a_world(
            [a_team((4.5, 4.5), name="early")] * (len(places) - 25) + [a_team(*places, range_and_bearing=lossy)]
        )
        both.append([(o[:26].tolist(), r[: o[25]].tolist()) for o, r, _, _ in heard_over(world, 5)])
    assert both[0] == both[1]


def test_one_thread_is_as_good_as_two():
    found = []
    for threads in (1, 2):
        noise = {"drop_probability": 0.1, "range_noise": [{"gaussian": {"std": 0.01}}], "range_m": 1.0}
        world = a_world(
            [{"name": "bot", "count": 2500, "devices": {"range_and_bearing": noise}}], 25.0, threads=threads
        )
        assert world.threads.parts(2500) == threads
        world.twist[:, 0] = 0.05
        found.append(b"".join(array.tobytes() for step in heard_over(world, 3) for array in step))
    assert found[0] == found[1]


def test_noise_on_range_and_bearing():
    rows = [(0.5 * x, 0.5 * y) for x in range(7) for y in range(7)]
    noise = {
        "range_noise": [{"gaussian": {"std": 0.02}}, {"bias": {"mean": 0.1}}],
        "bearing_noise": [{"uniform": {"low": -0.1, "high": 0.3}}],
    }
    clean = heard_over(a_world([a_team(*rows, range_and_bearing={"line_of_sight": False})]), 3)
    noisy = heard_over(a_world([a_team(*rows, range_and_bearing={"line_of_sight": False, **noise})]), 3)
    ranges = np.concatenate([b[1] - a[1] for a, b in zip(clean, noisy, strict=True)])
    assert np.mean(ranges) == pytest.approx(0.1, abs=5 * 0.02 / math.sqrt(len(ranges)))
    assert np.std(ranges) == pytest.approx(0.02, rel=0.1)
    turned = np.concatenate([b[2] - a[2] for a, b in zip(clean, noisy, strict=True)])
    turned -= 2 * np.pi * np.round(turned / (2 * np.pi))
    assert turned.min() >= -0.1 and turned.max() <= 0.3 and np.mean(turned) == pytest.approx(0.1, abs=0.02)
    assert all((abs(step[2]) <= math.pi).all() for step in noisy)


def test_errors_of_lists_are_as_told():
    world = a_world([a_team(*[(0.5 * x - 4, 0.0) for x in range(16)])])
    chain = tuple(
        devices.Noise.model_validate(one)
        for one in (
            {"bias": {"std": 1.0}},
            {"drift": {"std_per_sqrt_s": 2.0}},
            {"quantise": {"step": 0.5}},
            {"dropout": {"probability": 0.5}},
        )
    )
    noise = ListNoise(world, world.groups[0], "test", chain)
    offsets, senders = np.arange(17) * 3, np.zeros(48, dtype=np.uint64)
    values = np.zeros(48)
    noise.apply(values, offsets, senders)
    first = values.reshape(16, 3)
    assert (first == first[:, :1]).all() and len(set(first[:, 0].tolist())) > 4
    assert np.array_equal(first, np.round(first * 2) / 2)
    world.index = 100
    later = np.zeros(48)
    noise.apply(later, offsets, senders)
    way = (later - values).reshape(16, 3)[:, 0]
    expected = 2.0 * math.sqrt(100 * world.step_s)
    assert 0.5 * expected < np.std(way) < 1.6 * expected


def test_directions_are_those_of_the_library():
    rng = np.random.default_rng(1)
    points = [
        *rng.normal(size=(2000, 2)).tolist(),
        (0.0, 0.0),
        (1.0, 0.0),
        (-1.0, 0.0),
        (0.0, 1.0),
        (0.0, -1.0),
        (1.0, 1.0),
        (-1.0, -1e-30),
    ]
    for x, y in points:
        assert direction(x, y) == pytest.approx(math.atan2(y, x), abs=1e-15)


# --- lights and cameras ----------------------------------------------------------------------------------

RADIUS = 0.085


def blobs(world, number=0, group="bot"):
    return device(world, "camera", group).one(number).blobs


def test_a_camera_sees_the_near_side_of_a_ring():
    ring = {"count": 12, "ring_m": RADIUS, "height_m": 0.1146, "beacon": True}
    world = a_world([a_team((0.0, 0.0), (1.0, 0.0), leds=ring)])
    device(world, "leds").one(1).set_all("red")
    assert blobs(world) == []
    tick(world)
    seen = blobs(world)
    assert {blob.color for blob in seen} == {(1.0, 0.0, 0.0)}
    # Lights at multiples of 30 degrees: 120 to 240 face the camera (90 and 270 look past it), and the beacon.
    rise = 0.1146 - world.height_m[0] / 2
    expected = []
    for degrees in (120, 150, 180, 210, 240):
        x, y = 1.0 + RADIUS * math.cos(math.radians(degrees)), RADIUS * math.sin(math.radians(degrees))
        expected.append((math.sqrt(x * x + y * y + rise * rise), math.atan2(y, x)))
    expected.append((math.hypot(1.0, rise), 0.0))
    assert [(blob.distance_m, blob.angle_rad) for blob in seen] == [pytest.approx(pair, abs=1e-6) for pair in expected]
    assert blobs(world, 1) == []  # nobody sees its own


def test_single_lights_and_colors():
    world = a_world([a_team((0.0, 0.0), (0.0, 1.0))])
    leds = device(world, "leds").one(1)
    assert len(leds) == 13
    leds.set(12, (0.25, 0.5, 1.0))
    leds.set(9, "green")  # at 270 degrees: faces the camera
    leds.set(3, "green")  # on the far side
    tick(world)
    assert [blob.color for blob in blobs(world)] == [(0.0, 1.0, 0.0), (0.25, 0.5, 1.0)]
    assert blobs(world)[0].angle_rad == pytest.approx(math.pi / 2)
    world.heading[1] = math.pi  # it turns: now the other one faces the camera, at the same place
    before = blobs(world)
    world.edits += 1
    world.look()
    assert [blob.angle_rad for blob in blobs(world)] == pytest.approx([blob.angle_rad for blob in before])
    leds.set_all("off")
    tick(world)
    assert blobs(world) == []


def test_lights_of_a_group_are_arrays():
    world = a_world([a_team((0.0, 0.0), (1.0, 0.0), (0.0, 1.0))])
    leds = device(world, "leds")
    leds.set_all(np.eye(3))
    leds.set(12, "white")
    assert leds.colors.shape == (3, 13, 3) and leds.colors[1, 4].tolist() == [0.0, 1.0, 0.0]
    assert leds.colors[:, 12].tolist() == [[1.0, 1.0, 1.0]] * 3
    tick(world)
    camera = device(world, "camera")
    assert len(camera.offsets) == 4 and camera.offsets[-1] == len(camera.distances_m) == len(camera.colors) == len(
        camera.angles_rad
    )
    seen = camera.colors[camera.offsets[0] : camera.offsets[1]].tolist()
    assert {tuple(color) for color in seen} == {(0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 1.0, 1.0)}


@pytest.mark.parametrize("between", ["robot", "wall", "nothing"])
def test_what_is_in_between_hides_lights(between):
    robots = [a_team((-1.0, 0.0), (1.0, 0.0))]
    more = {}
    if between == "robot":
        robots.append(a_team((0.5, 0.0), name="other"))
    elif between == "wall":
        more["arena"] = {"obstacles": [BOX]}
    for occlusion in (True, False):
        robots[0]["devices"] = {"camera": {"occlusion": occlusion}}
        world = a_world(robots, **more)
        device(world, "leds").one(1).set(12, "red")
        tick(world)
        assert len(blobs(world)) == (0 if occlusion and between != "nothing" else 1)


def test_range_and_field_of_view():
    robots = [
        a_team((0.0, 0.0), camera={"range_m": 2.0, "field_of_view_deg": 90}),
        a_team((1.0, 0.9), (1.0, -1.1), (-1.0, 0.0), (2.5, 0.5), name="lamps"),
    ]
    world = a_world(robots)
    device(world, "leds", "lamps").set(12, "blue")
    tick(world)
    (seen,) = blobs(world)
    assert seen.angle_rad == pytest.approx(math.atan2(0.9, 1.0))


def test_from_above_all_lights_of_a_ring_are_seen_and_things_shine_too():
    kinds = [{"name": "flyer", "like": "eye-bot", "flies_at_m": 2.0}]
    things = [
        {
            "name": "can",
            "cylinder": {"radius_m": 0.1},
            "height_m": 0.3,
            "color": [1.0, 0.5, 0.0],
            "place": {"at_m": [[-1.0, 0.0]]},
        }
    ]
    world = a_world(
        [a_team((0.0, 0.0), name="eye", kind="flyer"), a_team((1.0, 0.0), (-1.8, 0.0))], kinds=kinds, objects=things
    )
    device(world, "leds").one(0).set_all("cyan")
    for act in world.after_physics:
        act()
    seen = blobs(world, group="eye")
    assert sum(blob.color == (0.0, 1.0, 1.0) for blob in seen) == 13
    (can,) = [blob for blob in seen if blob.color == (1.0, 0.5, 0.0)]
    assert can.distance_m == pytest.approx(math.hypot(1.0, 2.0 + world.height_m[0] / 2 - 0.3)) and abs(
        can.angle_rad
    ) == pytest.approx(math.pi)
    # The can hides the foot-bot's lights from the foot-bot behind it, and shines on both.
    assert [blob.color for blob in blobs(world, 1)] == [(1.0, 0.5, 0.0)]
    world.remove("can")
    assert len(blobs(world, 1)) == 6


@pytest.mark.parametrize("seed", range(3))
def test_cameras_against_brute_force(seed):
    things = [{"name": "crate", "box": {"size_m": [0.4, 0.3]}, "count": 6, "height_m": 0.09, "color": [1.0, 1.0, 1.0]}]
    robots = [
        {"name": "bot", "count": 25},
        {"name": "puck", "kind": "e-puck", "count": 15, "devices": {"camera": {"range_m": 1.5}}},
    ]
    world = a_world(robots, 4.0, seed=seed, objects=things, arena={"obstacles": [BOX]})
    device(world, "leds").set_all("red")
    device(world, "leds", "puck").set(3, "blue")
    tick(world)
    lights = []
    for name in ("bot", "puck"):
        group = next(g for g in world.groups if g.name == name)
        leds = device(world, "leds", name)
        for i in range(len(group)):
            row = group.rows.start + i
            c, s = math.cos(world.heading[row]), math.sin(world.heading[row])
            for k, (u, v, h) in enumerate(leds.places):
                if leds.colors[i, k].any():
                    out = np.array([u * c - v * s, u * s + v * c, 0.0])
                    lights.append((row, world.xyz[row] + out + [0, 0, h], out, k < 12))
    lights += [(row, world.xyz[row] + [0, 0, 0.09], np.zeros(3), False) for row in range(world.nodes, world.bodies)]
    for name, reach in (("bot", 3.0), ("puck", 1.5)):
        group = next(g for g in world.groups if g.name == name)
        for i in range(len(group)):
            row = group.rows.start + i
            eye = middle(world, row)
            expected = []
            for body, point, out, is_ring in lights:
                d = point - eye
                angle = math.remainder(math.atan2(d[1], d[0]) - world.heading[row], 2 * math.pi)
                view = math.pi if name == "bot" else math.radians(28)
                if body == row or np.linalg.norm(d) > reach or abs(angle) > view or (is_ring and out @ d >= 0):
                    continue
                if sees(world, eye, point, row, body):
                    expected.append((np.linalg.norm(d), angle))
            seen = blobs(world, i, name)
            assert [(blob.distance_m, blob.angle_rad) for blob in seen] == [
                pytest.approx(pair, abs=1e-9) for pair in expected
            ]


def test_noise_of_cameras():
    def seen(**settings):
        world = a_world(
            [a_team((0.0, 0.0), camera=settings), a_team(*[(0.5 * k - 3, 1.0) for k in range(12)], name="lamps")]
        )
        device(world, "leds", "lamps").set_all("red")
        physics, found = Physics(world), []
        for _ in range(20):
            tick(world, physics)
            found.append([(blob.distance_m, blob.angle_rad) for blob in blobs(world)])
        return found

    exact, noisy = (
        seen(),
        seen(noise=[{"gaussian": {"std": 0.05}}], angle_noise=[{"uniform": {"low": 0.0, "high": 0.1}}]),
    )
    difference = np.concatenate([np.array(b) - np.array(a) for a, b in zip(exact, noisy, strict=True)])
    assert np.std(difference[:, 0]) == pytest.approx(0.05, rel=0.15)
    assert (
        difference[:, 1].min() >= 0.0
        and difference[:, 1].max() <= 0.1
        and np.mean(difference[:, 1]) == pytest.approx(0.05, abs=0.01)
    )
    missed = 1 - sum(map(len, seen(noise=[{"dropout": {"probability": 0.25}}]))) / sum(map(len, exact))
    assert missed == pytest.approx(0.25, abs=0.06)


def test_wrong_colors_are_refused():
    world = a_world([a_team((0.0, 0.0), (1.0, 0.0))])
    leds = device(world, "leds")
    with pytest.raises(ValueError, match="unknown color 'grean' .did you mean 'green'"):
        leds.set_all("grean")
    with pytest.raises(ValueError, match="from 0 to 1"):
        leds.one(0).set_all((2.0, 0.0, 0.0))
    with pytest.raises(ValueError, match="from 0 to 1"):
        leds.one(0).set(1, (math.nan, 0.0, 0.0))
    with pytest.raises(IndexError, match="'bot' has 13 leds, numbered from 0: there is no 13"):
        leds.one(0).set(13, "red")


def test_cameras_on_two_threads_see_the_same():
    found = []
    for threads in (1, 2):
        world = a_world(
            [{"name": "bot", "count": 2200, "devices": {"camera": {"range_m": 0.8}}}], 25.0, threads=threads
        )
        device(world, "leds").set_all("red")
        tick(world)
        camera = device(world, "camera")
        found.append(
            b"".join(a.tobytes() for a in (camera.offsets, camera.distances_m, camera.angles_rad, camera.colors))
        )
    assert found[0] == found[1]
