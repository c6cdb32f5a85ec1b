"""Lists of who and what is near: all within reach, by looking at everything, after any moves."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import distance_to, moving, outlines, step, world

KINDS = (
    "kinds: [{name: crumb, body: {disk: {radius_m: 0.01}}, devices: {proximity: {range_m: 0.3}, wheels: {}}},"
    " {name: giant, body: {disk: {radius_m: 0.6}}, devices: {wheels: {}}},"
    " {name: wedge, body: {polygon: {corners_m: [[0.3, 0], [-0.1, 0.1], [-0.1, -0.1]]}}, devices: {sonar: {range_m: 0.5}, wheels: {}}}]\n"
)
TEAM = (
    "robots: [{name: f, count: 30}, {name: e, kind: e-puck, count: 20}, {name: c, kind: crumb, count: 20},"
    " {name: g, kind: giant, count: 2}, {name: w, kind: wedge, count: 10},"
    " {name: ghost, count: 2, motion: {random_walk: {}}}]\n"
    "objects: [{name: box, box: {size_m: [0.3, 0.2]}, count: 5}, {name: post, cylinder: {radius_m: 0.2}, count: 5, reserve: 2}]\n"
    "stations: [{name: base, at_m: [0, 0]}]\n"
)
THINGS = (
    "obstacles: [{box: {center_m: [2, 2], size_m: [3, 0.1], angle_deg: 37}}, {box: {center_m: [-2, 0], size_m: [0.02, 4]}},"
    " {circle: {center_m: [2, -2], radius_m: 0.5}}, {circle: {center_m: [-3, 3], radius_m: 0.01}},"
    " {polygon: {corners_m: [[-3, -3], [0, -3], [0, -2.8], [-2.8, -2.8], [-2.8, -1], [-3, -1]]}}]"
)
REACH = {"f": 0.1, "e": 0.1, "c": 0.3, "w": 0.5}
"""What short sensors see beyond the body; others touch only."""


def reach_of(here):
    reach = np.zeros(here.bodies)
    for group in here.groups:
        reach[group.rows] = REACH.get(group.name, 0.0)
    return reach


def ask_short_sensors(here):
    """Sonars make themselves known when they are first used."""
    here.devices["w"].get("sonar")


def check_lists(here):
    """The lists, cut down to who truly is within reach, are exactly those."""
    nearby, solid = here.nearby, here.body_m > 0
    reach = reach_of(here)
    xy = here.xyz[:, :2]
    apart = np.linalg.norm(xy[:, None] - xy[None], axis=2) - here.body_m[None] - here.body_m[:, None]
    polygons, disks = outlines(here)
    found_somebody = found_something = 0
    for row in range(here.robots):
        near = nearby.near[nearby.begin[row] : nearby.end[row]]
        things = nearby.things[nearby.thing_begin[row] : nearby.thing_end[row]]
        assert len(set(near.tolist())) == len(near) and row not in near
        assert len(set(things.tolist())) == len(things)
        if not solid[row]:
            assert not len(near) and not len(things)
            continue
        assert solid[near].all()
        expected = {j for j in np.flatnonzero(solid) if j != row and apart[row, j] < reach[row] - 1e-12}
        assert {j for j in near.tolist() if apart[row, j] < reach[row] - 1e-12} == expected
        found_somebody += len(expected)
        wide = here.body_m[row] + reach[row] - 1e-12
        close = sum(distance_to(*xy[row], corners) < wide for corners in polygons)
        close += sum(math.dist(xy[row], disk[:2]) - disk[2] < wide for disk in disks)
        found_something += close
        assert len(things) >= close
    return found_somebody, found_something


@pytest.mark.parametrize("walls", ["true", "false"])
@pytest.mark.parametrize("seed", range(2))
def test_lists_name_all_within_reach_after_any_moves(seed, walls):
    here, physics = moving(f"seed: {seed}\narena: {{size_m: [8, 8], walls: {walls}, {THINGS}}}\n{KINDS}{TEAM}")
    ask_short_sensors(here)
    rng = np.random.default_rng(seed)
    here.nearby.refresh()
    found = np.array(check_lists(here))
    for index in range(30):
        slow = 0.05 if index % 3 else 3.0
        here.twist[: here.robots] = rng.uniform(-slow, slow, (here.robots, 3))
        step(here, physics)
        if index == 20:  # somebody is put elsewhere by hand
            here.xyz[:5, :2] += rng.uniform(-1, 1, (5, 2))
        if index == 25:
            here.move("box1", (1.0, 1.0))
            here.remove("f3")
            assert here.add("post", (-1.0, 2.0)) == "post5"
        here.nearby.refresh()
        found += check_lists(here)
    assert (found > 100).all()


@settings(max_examples=8)
@given(st.integers(0, 2**32), st.floats(0.0, 0.02))
def test_lists_hold_until_they_are_made_again(seed, far):
    """Whoever moves by less than its leeway, in any direction, changes nothing in what lists must name."""
    here = world(f"seed: {seed % 1000}\narena: {{size_m: [8, 8], {THINGS}}}\n{KINDS}{TEAM}")
    ask_short_sensors(here)
    here.nearby.refresh()
    rng = np.random.default_rng(seed)
    for _ in range(5):
        here.xyz[: here.robots, :2] += rng.normal(0.0, 1.0, (here.robots, 2)) * far
        here.nearby.refresh()
        check_lists(here)


@pytest.mark.parametrize("where", [(50.0, 0.0), (-3000.0, 2000.0), (8.0, 8.0)])
def test_without_walls_lists_follow_far_outside(where):
    here, physics = moving("arena: {size_m: [8, 8], walls: false}\n" + KINDS + TEAM)
    ask_short_sensors(here)
    here.nearby.refresh()
    cells = here.nearby.grid
    for row in range(20):
        here.move(here.names[row], (where[0] + 0.2 * (row % 5), where[1] + 0.2 * (row // 5)))
    step(here, physics)
    here.nearby.refresh()
    check_lists(here)
    if abs(where[0]) > 8:
        assert here.nearby.grid != cells
        assert all(here.nearby.end[row] > here.nearby.begin[row] for row in range(20))


def test_lists_do_not_depend_on_threads():
    found = []
    for threads in (1, 2):
        here, physics = moving(
            f"arena: {{size_m: [30, 30], {THINGS}}}\nrobots: [{{name: a, count: 3000}}]\n", threads=threads
        )
        here.twist[:, 0] = 0.3
        step(here, physics, 10)
        here.nearby.refresh()
        assert here.threads.parts(here.robots) == threads
        nearby = here.nearby
        found.append(
            [
                [
                    nearby.near[nearby.begin[row] : nearby.end[row]].tolist(),
                    nearby.things[nearby.thing_begin[row] : nearby.thing_end[row]].tolist(),
                ]
                for row in range(3000)
            ]
        )
    assert found[0] == found[1]
    assert sum(len(near) for near, _ in found[0]) > 1000


def test_slow_robots_share_one_search_for_many_steps():
    here, physics = moving("arena: {size_m: [20, 20]}\nrobots: [{name: a, count: 500}]\n")
    sensor = here.devices["a"].get("proximity")
    here.twist[:, 0] = 0.05
    step(here, physics)
    before = here.nearby.rebuilt
    for _ in range(60):
        assert sensor.distances_m is not None
        step(here, physics)
    assert 2 <= here.nearby.rebuilt - before <= 8


def test_who_stands_needs_no_search_and_who_turns_neither():
    here, physics = moving("robots: [{name: a, count: 50}]\n")
    step(here, physics)
    before = here.nearby.rebuilt
    here.twist[:, 2] = 3.0
    step(here, physics, 50)
    assert here.nearby.rebuilt == before


def test_fast_robots_are_looked_for_in_every_step():
    here, physics = moving("arena: {size_m: [40, 40]}\nrobots: [{name: a, count: 5}]\n")
    step(here, physics)
    before = here.nearby.rebuilt
    here.twist[:, 0] = 10.0
    step(here, physics, 10)
    assert here.nearby.rebuilt - before >= 5


def test_a_crowd_in_one_spot_has_room_for_all():
    here, physics = moving("arena: {size_m: [20, 20]}\nrobots: [{name: a, count: 120}]\n")
    rng = np.random.default_rng(1)
    for row in range(120):
        here.move(f"a{row}", tuple(rng.uniform(-0.02, 0.02, 2)))
    here.nearby.refresh()
    assert (here.nearby.end[:120] - here.nearby.begin[:120] == 119).all()
