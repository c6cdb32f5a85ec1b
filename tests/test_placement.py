"""Where everyone starts: as the scenario says, never overlapping, and nobody because of others."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import FOOT_BOT_M, depth_of, distance_to, outline, outlines, world, worst_overlap

from robonet.errors import UserError

OBSTACLES = (
    "obstacles: [{box: {center_m: [0, 0], size_m: [1, 1], angle_deg: 20}}, {circle: {center_m: [-1.2, 1], radius_m: 0.3}},"
    " {polygon: {corners_m: [[1, -1], [1.8, -1], [1.8, -0.2]]}}]"
)


def check_free(here, low=-2.0, high=2.0):
    """Nobody overlaps anybody or anything, and all are inside."""
    polygons, disks = outlines(here)
    for row in np.flatnonzero(here.body_m > 0).tolist():
        own = outline(here, row)
        points = np.array([here.xyz[row, :2]]) if own is None else own
        wide = here.body_m[row] if own is None else 0.0
        assert (points >= low + wide - 1e-9).all() and (points <= high - wide + 1e-9).all()
        for point in points:
            assert all(distance_to(*point, corners) >= wide - 1e-9 for corners in polygons)
            assert all(math.dist(point, disk[:2]) - disk[2] >= wide - 1e-9 for disk in disks)
        for other in range(row):
            if here.body_m[other] > 0:
                assert depth_of(here, row, other) <= 1e-9


@settings(max_examples=25)
@given(
    st.integers(0, 2**31),
    st.integers(1, 25),
    st.sampled_from(
        [
            "uniform: {}",
            "gaussian: {mean_m: [0.5, 0.5], std_m: [1, 0.5]}",
            "cluster: {center_m: [1.4, 1.3], range_m: 0.9, density: 4}",
            "scale_free: {center_m: [-1.5, -1.5], range_m: 1}",
        ]
    ),
)
def test_scattered_placement_never_overlaps(seed, count, place):
    here = world(
        f"seed: {seed}\narena: {{size_m: [4, 4], {OBSTACLES}}}\n"
        f"robots: [{{name: a, count: {count}, place: {{{place}}}}}, {{name: p, kind: pioneer, count: 3}},"
        f" {{name: e, kind: e-puck, count: {count}}}]\n"
        "objects: [{name: box, box: {size_m: [0.3, 0.2]}, count: 4}, {name: post, cylinder: {radius_m: 0.1}, count: 4}]\n"
    )
    check_free(here)


def test_uniform_fills_the_arena_evenly_or_the_area_it_is_given():
    here = world("arena: {size_m: [40, 20]}\nrobots: [{name: a, count: 1600}]\n")
    counts, _, _ = np.histogram2d(here.xyz[:, 0], here.xyz[:, 1], bins=(4, 2), range=((-20, 20), (-10, 10)))
    assert np.abs(counts - 200).max() < 5 * math.sqrt(200)
    headings = np.histogram(here.heading, bins=4, range=(-math.pi, math.pi))[0]
    assert np.abs(headings - 400).max() < 5 * math.sqrt(400)
    here = world("robots: [{name: a, count: 30, place: {uniform: {center_m: [2, -3], size_m: [2, 3]}}}]\n")
    assert (np.abs(here.xyz[:, :2] - (2, -3)) <= np.array([1, 1.5]) - FOOT_BOT_M).all()
    assert np.ptp(here.xyz[:, 1]) > 1.5


def test_a_gaussian_is_as_wide_as_told():
    here = world(
        "arena: {size_m: [100, 100]}\nrobots: [{name: a, count: 800, place: {gaussian: {mean_m: [3, -4], std_m: [8, 4]}}}]\n"
    )
    assert here.xyz[:, :2].mean(axis=0) == pytest.approx([3, -4], abs=1.0)
    assert here.xyz[:, :2].std(axis=0) == pytest.approx([8, 4], rel=0.15)


def test_a_grid_is_centred_and_a_line_begins_where_told():
    here = world("robots: [{name: a, count: 9, place: {grid: {center_m: [1, 2], spacing_m: 1}}}]\n")
    assert here.xyz[:, :2].mean(axis=0) == pytest.approx([1, 2])
    assert here.xyz[0, :2].tolist() == [0, 1]
    here = world("robots: [{name: a, count: 4, place: {line: {start_m: [-1, 1], spacing_m: 0.5, angle_deg: 90}}}]\n")
    assert here.xyz[:, :2] == pytest.approx(np.array([[-1, 1], [-1, 1.5], [-1, 2], [-1, 2.5]]))


def test_points_and_poses_are_kept():
    here = world(
        "robots: [{name: a, count: 2, place: {at_m: [[1, 2], [-3, 0.5]]}, heading_deg: 90},"
        " {name: b, count: 2, place: {poses: [[0, 0, 45], [1, 0, 270]]}}]\n"
    )
    assert here.xyz[:, :2].tolist() == [[1, 2], [-3, 0.5], [0, 0], [1, 0]]
    assert here.heading == pytest.approx([math.pi / 2, math.pi / 2, math.pi / 4, -math.pi / 2])


@pytest.mark.parametrize("count", [20, 200])
def test_a_cluster_has_the_density_that_it_is_told(count):
    """Areas that n radios of range r cover, for each area of the square."""
    here = world(
        "arena: {size_m: [100, 100]}\n"
        f"robots: [{{name: a, count: {count}, place: {{cluster: {{center_m: [10, 5], range_m: 2, density: 4}}}}}}]\n"
    )
    side = math.sqrt(count * math.pi * 4 / 4)
    offsets = np.abs(here.xyz[:, :2] - (10, 5))
    assert offsets.max() <= side / 2 - FOOT_BOT_M
    assert offsets.max() > side / 2 * 0.8
    assert offsets.mean() == pytest.approx(side / 4, rel=0.3)


def test_scale_free_teams_have_hubs():
    """Each joins one that is there already: by preference, a few are joined by very many, unlike in a random tree."""
    largest, chance = [], []
    for seed in range(5):
        here = world(
            f"seed: {seed}\narena: {{size_m: [400, 400]}}\n"
            "robots: [{name: a, count: 500, place: {scale_free: {range_m: 5}}}]\n"
        )
        xy = here.xyz[:, :2]
        assert xy[0].tolist() == [0, 0]
        assert worst_overlap(xy, here.body_m) <= 0
        apart = np.linalg.norm(xy[:, None] - xy[None], axis=2)
        np.fill_diagonal(apart, math.inf)
        for row in range(1, 500):
            assert apart[row, :row].min() <= 5.0  # everyone joined somebody
        degree = (apart <= 5.0).sum(axis=1)
        largest.append(np.sort(degree)[-25:].mean())
        rng = np.random.default_rng(seed)
        points = [np.zeros(2)]
        for _ in range(499):  # the same without preference
            angle, far = rng.uniform(-math.pi, math.pi), 5.0 * math.sqrt(rng.random())
            points.append(points[rng.integers(len(points))] + far * np.array([math.cos(angle), math.sin(angle)]))
        apart = np.linalg.norm(np.array(points)[:, None] - np.array(points)[None], axis=2)
        degree = (apart <= 5.0).sum(axis=1) - 1
        chance.append(np.sort(degree)[-25:].mean())
    assert np.mean(largest) > 1.3 * np.mean(chance), (largest, chance)


def test_joining_prefers_whom_many_joined():
    """The rule itself: how often each was joined has the heavy tail of Barabasi and Albert's trees."""
    from robonet.robots.placement import _Joined
    from robonet.robots.world import World
    from robonet.scenario import parse_scenario

    text = "robonet: 1\nname: t\nduration_s: 1\nrobots: [{name: a, count: 3000, place: {scale_free: {}}}]\n"
    made = World(parse_scenario(text).scenario)
    joined, rng = _Joined(made, made.groups[0]), np.random.default_rng(1)
    chosen = Counter()
    for number in range(3000):
        pivot = joined.draw(rng)
        if pivot is not None:
            chosen[pivot] += 1
        joined.add(number, (float(number), 0.0))
    most = [count for _, count in chosen.most_common(5)]
    assert most[0] > 40  # a random tree's largest is about 10, a preferential one's grows with the root: 55 to 100
    few = sum(count <= 1 for count in chosen.values()) + 3000 - len(chosen)
    assert 0.75 < few / 3000 < 0.9  # P(degree 1 or 2) = 2/3 + 1/6


@pytest.mark.parametrize(
    "place",
    ["uniform: {max_trials: 7}", "gaussian: {std_m: [0.01, 0.01], max_trials: 7}", "cluster: {range_m: 0.2, max_trials: 7}", "scale_free: {range_m: 0.01, max_trials: 7}"],
)  # fmt: skip
def test_a_full_arena_is_refused_with_advice(place):
    kind = place.split(":", maxsplit=1)[0]
    with pytest.raises(
        UserError,
        match=rf"no free place for a\d+ of group 'a' after 7 trials: use fewer, a larger area, or raise place\.{kind}\.max_trials",
    ):
        world(f"arena: {{size_m: [1, 1]}}\nrobots: [{{name: a, count: 100, place: {{{place}}}}}]\n")


def test_an_area_smaller_than_the_robot_is_refused():
    with pytest.raises(UserError, match="no free place for a of group 'a'"):
        world("robots: [{name: a, place: {uniform: {size_m: [0.1, 5]}}}]\n")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("robots: [{name: a, count: 2, place: {at_m: [[0, 0], [0.1, 0]]}}]\n", r"'a1' at \(0\.1, 0\) m overlaps 'a0'"),
        ("robots: [{name: a, count: 4, place: {grid: {spacing_m: 0.1}}}]\n", r"'a1' at .* overlaps 'a0'"),
        ("robots: [{name: a, count: 2, place: {line: {spacing_m: 0.1}}}]\n", r"'a1' at .* overlaps 'a0'"),
        ("robots: [{name: a, place: {at_m: [[0, 0]]}}, {name: b, kind: pioneer, place: {poses: [[0.3, 0, 180]]}}]\n", r"'b' at \(0\.3, 0\) m overlaps 'a'"),
        ("robots: [{name: a, place: {at_m: [[0, 0]]}}]\nobjects: [{name: box, box: {size_m: [1, 1]}, place: {at_m: [[0.5, 0]]}}]\n", r"'box' at .* overlaps 'a'"),
        ("arena: {obstacles: [{circle: {center_m: [0, 0], radius_m: 1}}]}\nrobots: [{name: a, place: {at_m: [[1, 0]]}}]\n", r"'a' at \(1, 0\) m overlaps an obstacle"),
        ("robots: [{name: a, place: {at_m: [[4.95, 0]]}}]\n", r"'a' at \(4\.95, 0\) m does not fit into the arena"),
    ],
)  # fmt: skip
def test_overlapping_explicit_places_are_refused_by_name(text, complaint):
    with pytest.raises(UserError, match=complaint):
        world(text)


def test_those_that_just_do_not_touch_are_not_refused():
    here = world(
        "robots: [{name: a, count: 2, place: {at_m: [[0, 0], [0.1701, 0]]}},"
        " {name: p, kind: pioneer, count: 2, place: {poses: [[2, 0, 0], [2, 0.381, 0]]}}]\n"
    )
    assert depth_of(here, 2, 3) < 0 < 2 * here.body_m[2] - 0.381  # their circles overlap, they do not


def test_adding_robots_does_not_move_the_others():
    few, many = (world(f"robots: [{{name: a, count: {n}}}, {{name: b, count: 3}}]\n") for n in (5, 20))
    assert (few.xyz[:5] == many.xyz[:5]).all()
    assert (few.heading[5:] == many.heading[20:]).all()
    more = world("robots: [{name: a, count: 5}, {name: new, count: 9}, {name: b, count: 3}]\n")
    assert (few.xyz[:5] == more.xyz[:5]).all()


def test_another_seed_is_another_placement():
    one, two = (world(f"seed: {seed}\nrobots: [{{name: a, count: 5}}]\n") for seed in (1, 2))
    assert (one.xyz[:, :2] != two.xyz[:, :2]).all()
    again = world("seed: 1\nrobots: [{name: a, count: 5}]\n")
    assert (one.xyz == again.xyz).all() and (one.heading == again.heading).all()


def test_fixed_places_come_first_whatever_the_order_in_the_file():
    here = world("arena: {size_m: [1, 1]}\nrobots: [{name: a, count: 4}, {name: b, place: {at_m: [[0, 0]]}}]\n")
    check_free(here, -0.5, 0.5)
    assert here.xyz[4, :2].tolist() == [0, 0]


def test_ten_thousand_are_placed_at_once():
    here = world("arena: {size_m: [40, 40]}\nrobots: [{name: a, count: 10000}]\n")
    assert worst_overlap(here.xyz[:, :2], here.body_m) <= 0
    assert np.abs(here.xyz[:, :2]).max() <= 20 - FOOT_BOT_M
