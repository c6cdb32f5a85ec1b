"""Several engines in one world: walls hold, gates hand over, bodies of different engines see and do not touch."""

import numpy as np
import pytest
from worlds import FOOT_BOT_M, depth_of, moving, step, worst_overlap

from robonet.errors import RobonetError, UserError
from robonet.scenario import parse_scenario

WIDE = "arena: {size_m: [12, 8]}\n"


def engine(name, x, width, east="wall", west="wall"):
    return f"{{name: {name}, region: {{box: {{center_m: [{x}, 0], size_m: [{width}, 8]}}}}, sides: [wall, {east}, wall, {west}]}}"


def two(east="{gate: east}", west="{gate: west}"):
    return WIDE + f"engines: [{engine('west', -3, 6, east=east)}, {engine('east', 3, 6, west=west)}]\n"


def one_at(x, y=0.0, heading=0, more=""):
    return f"robots: [{{name: a, place: {{at_m: [[{x}, {y}]]}}, heading_deg: {heading}{more}}}]\n"


def test_each_engine_claims_what_starts_in_its_region():
    here, _ = moving(
        two() + "robots: [{name: a, count: 40}]\nobjects: [{name: box, box: {size_m: [0.2, 0.2]}, count: 10}]\n"
        "stations: [{name: base, at_m: [0, 0]}]\n"
    )
    for name, row in ((name, here.row_of(name)) for name in here.names):
        expected = -1 if name == "base" else int(here.xyz[row, 0] > 0)
        assert here.owner[row] == expected


def test_a_robot_goes_through_gates_and_back_by_itself():
    here, physics = moving(two() + one_at(-1))
    for speed, owner, x in ((0.5, 1, 1.5), (-0.5, 0, -1.0)):
        here.twist[0, 0] = speed
        owners = []
        for _ in range(50):
            step(here, physics)
            owners.append(int(here.owner[0]))
            assert owners[-1] == int(here.xyz[0, 0] > 0)
        assert here.xyz[0, 0] == pytest.approx(x, abs=1e-9)  # nothing slowed it down
        assert owners[-1] == owner


@pytest.mark.parametrize(("start", "heading", "stop"), [(-1, 0, -FOOT_BOT_M), (1, 180, FOOT_BOT_M)])
def test_a_wall_between_regions_holds_from_both_sides(start, heading, stop):
    here, physics = moving(two(east="wall", west="wall") + one_at(start, heading=heading))
    here.twist[0, 0] = 1.0
    step(here, physics, 50)
    assert here.xyz[0, 0] == pytest.approx(stop, abs=1e-9)
    assert here.owner[0] == int(start > 0)


def test_a_gate_may_lead_one_way_only():
    here, physics = moving(two(west="wall") + one_at(-0.5))
    here.twist[0, 0] = 0.5
    step(here, physics, 30)
    assert here.owner[0] == 1 and here.xyz[0, 0] > 0.9
    here.twist[0, 0] = -0.5
    step(here, physics, 60)
    assert here.owner[0] == 1 and here.xyz[0, 0] == pytest.approx(FOOT_BOT_M, abs=1e-9)


def test_the_other_sides_stay_walls():
    here, physics = moving("arena: {size_m: [12, 12]}\n" + two().removeprefix(WIDE) + one_at(-1, heading=90))
    here.twist[0, 0] = 1.0
    step(here, physics, 60)
    assert here.xyz[0, :2] == pytest.approx((-1.0, 4.0 - FOOT_BOT_M), abs=1e-9)


def test_three_regions_in_a_row():
    """west | middle | east: one robot walks through all of them, quickly and slowly."""
    engines = (
        f"engines: [{engine('west', -4, 4, east='{gate: middle}')},"
        f" {engine('middle', 0, 4, east='{gate: east}', west='{gate: west}')}, {engine('east', 4, 4, west='{gate: middle}')}]\n"
    )
    for speed in (0.4, 15.0):
        here, physics = moving(WIDE + engines + one_at(-5))
        here.twist[0, 0] = speed
        owners = []
        for _ in range(300):
            step(here, physics)
            owners.append(int(here.owner[0]))
        assert here.xyz[0, 0] == pytest.approx(6.0 - FOOT_BOT_M, abs=1e-6)
        assert sorted(owners) == owners and set(owners) == {0, 1, 2}


def test_a_region_of_any_convex_outline():
    """A triangle with walls inside a world that another engine has."""
    here, physics = moving(
        "arena: {size_m: [12, 12]}\nengines: [{name: tent, region: {corners_m: [[-3, -2], [3, -2], [0, 3]]}}, {name: rest}]\n"
        "robots: [{name: a, count: 2, place: {poses: [[0, 0, 30], [4, 4, 0]]}}]\n"
    )
    assert here.owner[:2].tolist() == [0, 1]
    here.twist[:2, 0] = 0.5
    step(here, physics, 100)
    x, y = here.xyz[0, :2]
    normal = np.array([-5.0, -3.0]) / np.hypot(5, 3)  # of the right side, inwards
    assert normal @ ((x, y) - np.array([3.0, -2.0])) == pytest.approx(FOOT_BOT_M, abs=1e-3 * FOOT_BOT_M)
    assert here.xyz[1, :2] == pytest.approx((6.0 - FOOT_BOT_M, 4.0), abs=1e-9)


def test_bodies_of_different_engines_see_and_do_not_touch_each_other():
    """Head on, along the border between two engines whose regions overlap: they pass through each other."""
    engines = f"engines: [{engine('low', 0, 12)}, {engine('high', 0, 12)}]\n"
    here, physics = moving(
        WIDE + engines + "robots: [{name: a, engine: low, place: {at_m: [[-1, 0]]}, heading_deg: 0},"
        " {name: b, engine: high, place: {at_m: [[1, 0]]}, heading_deg: 180}]\n"
    )
    assert here.owner.tolist() == [0, 1]
    here.twist[:, 0] = 0.2
    nearest, deepest = 1.0, 0.0
    for _ in range(100):
        step(here, physics)
        here.look()
        if here.xyz[0, 0] < here.xyz[1, 0]:
            ahead = here.devices["a"].get("proximity").distances_m[0]
            gap = here.xyz[1, 0] - here.xyz[0, 0] - 2 * FOOT_BOT_M
            if 0.0 < gap < 0.09:
                assert ahead.min() == pytest.approx(gap, abs=0.005)
            nearest = min(nearest, float(ahead.min()))
        deepest = max(deepest, depth_of(here, 0, 1))
    assert nearest == 0.0 and deepest > FOOT_BOT_M
    assert here.xyz[:, 0] == pytest.approx([1.0, -1.0], abs=1e-9)
    same = (WIDE + engines).replace("engine: high", "engine: low")
    here, physics = moving(
        same + "robots: [{name: a, engine: low, place: {at_m: [[-1, 0]]}, heading_deg: 0},"
        " {name: b, engine: low, place: {at_m: [[1, 0]]}, heading_deg: 180}]\n"
    )
    here.twist[:, 0] = 0.2
    step(here, physics, 100)
    assert here.xyz[0, 0] < here.xyz[1, 0] and depth_of(here, 0, 1) < 0.01 * FOOT_BOT_M


def test_what_stands_holds_in_every_region():
    here, physics = moving(
        two().replace(
            "{size_m: [12, 8]}", "{size_m: [12, 8], obstacles: [{box: {center_m: [0, 2], size_m: [8, 0.2]}}]}"
        )
        + "robots: [{name: a, count: 2, place: {poses: [[-3, 0, 90], [3, 0, 90]]}}]\n"
    )
    here.twist[:, 0] = 0.5
    step(here, physics, 60)
    assert here.xyz[:2, 1] == pytest.approx(1.9 - FOOT_BOT_M, abs=1e-3 * FOOT_BOT_M)


def test_a_crowd_in_two_regions_keeps_apart_in_each():
    here, physics = moving(two() + "robots: [{name: a, count: 200}]\n")
    rng = np.random.default_rng(1)
    crossed = 0
    for index in range(150):
        if index % 10 == 0:
            here.twist[:, 0], here.twist[:, 2] = 0.4, rng.normal(0, 1, 200)
        before = here.owner.copy()
        step(here, physics)
        crossed += (here.owner != before).sum()
        assert (np.abs(here.xyz[:, :2]) <= np.array([6.0, 4.0]) - 0.999 * FOOT_BOT_M).all()
        assert ((here.owner == 1) == (here.xyz[:, 0] > 0)).all()
    assert crossed > 20
    here.twist[:] = 0.0
    step(here, physics, 20)
    for number in range(2):  # whoever came through a gate onto another has been pushed off it
        rows = here.owner == number
        assert worst_overlap(here.xyz[rows, :2], here.body_m[rows]) < 0.1 * FOOT_BOT_M


def test_a_group_may_name_its_engine():
    engines = "engines: [{name: low}, {name: high}]\n"
    here, _ = moving(WIDE + engines + one_at(0, more=", engine: high"))
    assert here.owner[0] == 1
    assert moving(WIDE + engines + one_at(0))[0].owner[0] == 0


def test_whom_a_hook_puts_into_another_region_belongs_there():
    here, physics = moving(two(east="wall", west="wall") + one_at(-3))
    here.move("a", (3.0, 1.0), 0.0)
    step(here, physics)
    assert here.owner[0] == 1 and here.xyz[0, :2].tolist() == [3.0, 1.0]


def test_outside_every_region_is_refused_by_name():
    with pytest.raises(UserError, match=r"'a' at \(5, 0\) m is in no engine's region"):
        moving(WIDE + f"engines: [{engine('west', -3, 6)}]\n" + one_at(5))
    with pytest.raises(UserError, match=r"'a' at \(5, 0\) m is outside the region of its engine 'west'"):
        moving(two() + one_at(5, more=", engine: west"))


def test_who_is_added_later_gets_an_engine_too():
    here, physics = moving(two() + "robots: [{name: a, count: 1, reserve: 2}]\n")
    assert here.owner[1:].tolist() == [-1, -1]
    here.add("a", (4.0, 3.0))
    step(here, physics)
    assert here.owner[1:].tolist() == [1, -1]
    here.remove("a1")
    assert here.owner[1] == -1


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (two(east="{gate: eats}"), "engines[0].sides[1].gate: a gate to an unknown engine 'eats' (did you mean 'east'?)"),
        (two(east="{gate: west}"), "engines[0].sides[1].gate: a gate must lead to another engine"),
        (two().replace("[wall, {gate: east}, wall, wall]", "[wall, {gate: east}]"), "engines[0].sides: has 2 sides for a region of 4"),
        (two().replace("name: east,", "name: west,"), "the name is used twice"),
        (two() + "engine: kinematics2d\n", "engine: give either engine or engines"),
        ("engines: [{name: a, region: {corners_m: [[0, 0], [0, 1], [1, 0]]}}]\n", "a region must be convex, with its corners counter-clockwise"),
        ("engines: [{name: a, region: {corners_m: [[0, 0], [2, 0], [1, 0.1], [0, 2]]}}]\n", "a region must be convex"),
        ("engines: [{name: a, sides: [wall]}]\n", "has 1 sides for a region of 0"),
        ("engines: [{name: a, engine: kinematics3d}]\n", "unknown engine 'kinematics3d' (did you mean 'kinematics2d'?)"),
        (two() + one_at(0, more=", engine: eats"), "robots[0].engine: unknown engine 'eats' (did you mean 'east'?); known: west, east"),
    ],
)  # fmt: skip
def test_wrong_engines_are_refused_when_the_scenario_is_read(text, complaint):
    with pytest.raises(RobonetError) as caught:
        parse_scenario("robonet: 1\nname: t\nduration_s: 1\n" + text)
    assert complaint in str(caught.value)
