"""Every ray and every overlap against the same geometry done in another way."""

import math

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from worlds import (
    depth_of_polygons,
    distance_to,
    ray_hits,
    ray_to_circle,
    ray_to_outline,
    rectangle,
    turned,
)

from robonet.errors import UserError
from robonet.robots.arena import convex_parts, is_convex, obstacle_arrays, signed_area
from robonet.robots.geometry import (
    Bodies,
    beyond_plane,
    out_of_body,
    out_of_box,
    out_of_obstacle,
    out_of_polygon,
    own_edge,
    ray_to_body,
    ray_to_box,
    ray_to_disk,
    ray_to_obstacle,
    ray_to_polygon,
    ray_to_walls,
)
from robonet.robots.shapes import Shapes
from robonet.robots.trigonometry import cosine_sine
from robonet.scenario.arena import Box, Circle, Obstacle, Polygon

places = st.floats(-3, 3)
sizes = st.floats(0.05, 2)
angles = st.floats(-math.pi, math.pi)


@st.composite
def outlines(draw, around=(0.0, 0.0)):
    """Convex, counter-clockwise: points on an ellipse, turned."""
    count = draw(st.integers(3, 9))
    steps = np.array(draw(st.lists(st.floats(0.2, 1), min_size=count, max_size=count)))
    at = np.cumsum(steps) * (2 * math.pi / steps.sum())
    assume(np.diff(at, append=at[0] + 2 * math.pi).max() < 3.0)
    corners = np.stack((draw(sizes) * np.cos(at), draw(sizes) * np.sin(at)), axis=1)
    return turned(corners, draw(angles), *around)


def one_body(x, y, angle, corners=None, radius=1.0):
    """The arrays of bodies: one, a disk unless it has corners, of a cosine and a sine as they should be."""
    return bodies_of([(x, y, angle, corners, radius)])


def bodies_of(parts):
    flat = [corner for *_, corners, _ in parts if corners is not None for corner in corners]
    counts = [len(corners) for *_, corners, _ in parts if corners is not None]
    numbers = iter(range(len(parts)))
    return Bodies(
        np.array([(x, y, 0.0) for x, y, *_ in parts]),
        np.array([(math.cos(angle), math.sin(angle)) for _, _, angle, *_ in parts]),
        np.array([r if corners is None else np.hypot(*np.array(corners).T).max() for *_, corners, r in parts]),
        np.ones(len(parts)),
        np.array([-1 if corners is None else next(numbers) for *_, corners, _ in parts], dtype=np.int32),
        Shapes(
            np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
            np.array(flat, dtype=float).reshape(-1, 2),
            np.array([side for *_, corners, _ in parts if corners is not None for side in sides_of(corners)]).reshape(
                -1, 3
            ),
        ),
    )


def sides_of(corners):
    """Outward normals as long as the sides, and what they say of points on the side."""
    corners = np.array(corners, dtype=float)
    along = np.roll(corners, -1, axis=0) - corners
    normals = np.stack((along[:, 1], -along[:, 0]), axis=1)
    return [(*normal, normal @ corner) for normal, corner in zip(normals, corners, strict=True)]


def same(found, expected):
    return found == expected or abs(found - expected) < 1e-9


def is_grazing(x, y, ux, uy, corners):
    """Whether a ray passes a corner so near that rounding decides, or runs along an edge."""
    edge = np.roll(corners, -1, axis=0) - corners
    to = corners - (x, y)
    passes = np.abs(to[:, 0] * uy - to[:, 1] * ux)
    along = np.abs(ux * edge[:, 1] - uy * edge[:, 0]) / np.hypot(*edge.T)
    return passes.min() < 1e-7 or along.min() < 1e-5


# --- rays ------------------------------------------------------------------------------------------------


@given(places, places, angles, sizes)
@example(0.0, 0.0, 0.0, 1.0)
@example(2.0, 0.0, 0.0, 1.0)
@example(-2.0, 0.0, 0.0, 1.0)
def test_rays_to_disks(dx, dy, angle, radius):
    ux, uy = math.cos(angle), math.sin(angle)
    assume(abs(abs(dx * uy - dy * ux) - radius) > 1e-9)  # a ray that just touches is hit or not as rounding has it
    assume(abs(math.hypot(dx, dy) - radius) > 1e-9)
    assert same(ray_to_disk(dx, dy, ux, uy, radius), ray_to_circle(0, 0, ux, uy, dx, dy, radius))


@given(places, places, angles, sizes, sizes)
@example(3.0, 0.0, math.pi, 1.0, 1.0)
@example(0.0, 0.0, 1.0, 1.0, 1.0)
def test_rays_to_boxes(u, v, angle, half_u, half_v):
    ux, uy = math.cos(angle), math.sin(angle)
    corners = rectangle(2 * half_u, 2 * half_v)
    assume(not is_grazing(u, v, ux, uy, corners) or abs(u) < half_u > half_v > abs(v))
    assume(abs(distance_to(u, v, corners)) > 1e-9)
    assert same(ray_to_box(u, v, ux, uy, half_u, half_v), ray_to_outline(u, v, ux, uy, corners))


@pytest.mark.parametrize(("u", "v", "expected"), [(-3.0, 0.5, 2.0), (-3.0, 1.5, math.inf), (3.0, 0.0, math.inf)])
def test_rays_along_an_axis_divide_by_nothing(u, v, expected):
    assert ray_to_box(u, v, 1.0, 0.0, 1.0, 1.0) == expected
    assert ray_to_box(v, u, 0.0, 1.0, 1.0, 1.0) == expected
    square = rectangle(2.0, 2.0)
    assert ray_to_polygon(u, v, 1.0, 0.0, square, 0, 4) == expected
    assert ray_to_polygon(v, u, 0.0, 1.0, square, 0, 4) == expected


@given(places, places, angles, outlines())
def test_rays_to_polygons(x, y, angle, corners):
    ux, uy = math.cos(angle), math.sin(angle)
    assume(not is_grazing(x, y, ux, uy, corners))
    assume(abs(distance_to(x, y, corners)) > 1e-9)
    padded = np.concatenate((np.full((2, 2), 77.0), corners, np.full((1, 2), 77.0)))
    found = ray_to_polygon(x, y, ux, uy, padded, 2, 2 + len(corners))
    assert same(found, ray_to_outline(x, y, ux, uy, corners))


@given(places, places, angles, places, places, angles, outlines(), sizes)
def test_rays_to_bodies_and_from_their_edges(x, y, angle, bx, by, turn, corners, radius):
    ux, uy = math.cos(angle), math.sin(angle)
    there = turned(corners, turn, bx, by)
    assume(not is_grazing(x, y, ux, uy, there) and abs(distance_to(x, y, there)) > 1e-9)
    bodies = bodies_of([(bx, by, turn, None, radius), (bx, by, turn, corners, 0.0)])
    assert same(ray_to_body(x, y, ux, uy, 1, bodies), ray_to_outline(x, y, ux, uy, there))
    assume(abs(abs((bx - x) * uy - (by - y) * ux) - radius) > 1e-9)
    assume(abs(math.hypot(bx - x, by - y) - radius) > 1e-9)
    assert same(ray_to_body(x, y, ux, uy, 0, bodies), ray_to_circle(x, y, ux, uy, bx, by, radius))
    assert own_edge(ux, uy, 0, bodies) == radius
    if distance_to(bx, by, there) < -1e-3 and not is_grazing(bx, by, ux, uy, there):
        assert same(own_edge(ux, uy, 1, bodies), float(ray_hits(bx, by, ux, uy, there).max()))


@given(places, places, angles, outlines(), places, places, sizes, sizes, angles)
def test_rays_to_obstacles(x, y, angle, corners, cx, cy, width, height, turn):
    ux, uy = math.cos(angle), math.sin(angle)
    box = turned(rectangle(width, height), turn, cx, cy)
    obstacles = obstacle_arrays(
        (
            Obstacle(box=Box(center_m=(cx, cy), size_m=(width, height), angle_deg=math.degrees(turn))),
            Obstacle(circle=Circle(center_m=(cx, cy), radius_m=width)),
            Obstacle(polygon=Polygon(corners_m=tuple(map(tuple, corners.tolist())))),
        )
    )
    for k, there in ((0, box), (2, corners)):
        if not is_grazing(x, y, ux, uy, there) and abs(distance_to(x, y, there)) > 1e-9:
            assert same(ray_to_obstacle(x, y, ux, uy, k, obstacles), ray_to_outline(x, y, ux, uy, there))
    if abs(abs((cx - x) * uy - (cy - y) * ux) - width) > 1e-9 < abs(math.hypot(cx - x, cy - y) - width):
        assert same(ray_to_obstacle(x, y, ux, uy, 1, obstacles), ray_to_circle(x, y, ux, uy, cx, cy, width))


@given(st.floats(-0.99, 1.99), st.floats(0.01, 0.99), angles)
@example(0.0, 0.5, 0.0)
@example(0.0, 0.5, math.pi)
def test_rays_to_the_walls_around(x, y, angle):
    ux, uy = math.cos(angle), math.sin(angle)
    around = np.array([(-1.0, 0.0), (2.0, 0.0), (2.0, 1.0), (-1.0, 1.0)])
    assume(not is_grazing(x, y, ux, uy, around) or ux in (1, -1))
    assert same(ray_to_walls(x, y, ux, uy, -1.0, 0.0, 2.0, 1.0), float(ray_hits(x, y, ux, uy, around).max()))


# --- overlaps: the depth is right, and going out by it along the direction separates ---------------------


def is_unit(x, y):
    return math.hypot(x, y) == pytest.approx(1.0, abs=1e-9)


@given(places, places, sizes, sizes, sizes, st.floats(0, 1))
@example(0.0, 0.0, 0.1, 1.0, 1.0, 0.0)
def test_disks_get_out_of_boxes(u, v, radius, half_u, half_v, rounding):
    depth, out_u, out_v = out_of_box(u, v, radius, half_u, half_v, rounding)
    expected = radius + rounding - distance_to(u, v, rectangle(2 * half_u, 2 * half_v))
    assert depth == pytest.approx(max(expected, 0.0), abs=1e-9)
    if depth > 0.0:
        assert is_unit(out_u, out_v)
        again, _, _ = out_of_box(u + depth * out_u, v + depth * out_v, radius, half_u, half_v, rounding)
        assert again < 1e-9


@given(places, places, sizes, outlines())
def test_disks_get_out_of_polygons(u, v, radius, corners):
    depth, out_u, out_v = out_of_polygon(u, v, radius, corners, 0, len(corners))
    assert depth == pytest.approx(max(radius - distance_to(u, v, corners), 0.0), abs=1e-9)
    if depth > 1e-9:
        assert is_unit(out_u, out_v)
        again, _, _ = out_of_polygon(u + depth * out_u, v + depth * out_v, radius, corners, 0, len(corners))
        assert again < 1e-9


@st.composite
def forms(draw):
    """A disk's radius, or corners."""
    if draw(st.booleans()):
        return None, draw(sizes)
    return draw(outlines()), 0.0


@settings(max_examples=150)
@given(forms(), forms(), places, places, angles, angles)
@example((None, 1.0), (None, 0.5), 0.0, 0.0, 0.0, 0.0)
def test_bodies_get_out_of_each_other_the_same_way_for_both(one, two, x, y, turn, other_turn):
    bodies = bodies_of([(x, y, turn, *one), (0.0, 0.0, other_turn, *two)])
    pose, other = (x, y, *bodies.facing[0]), (0.0, 0.0, *bodies.facing[1])
    depth, ux, uy = out_of_body(*pose, 0, *other, 1, bodies)
    back, vx, vy = out_of_body(*other, 1, *pose, 0, bodies)
    assert back == pytest.approx(depth, abs=1e-9)
    here = None if one[0] is None else turned(one[0], turn, x, y)
    there = None if two[0] is None else turned(two[0], other_turn)
    if here is not None and there is not None:
        expected = depth_of_polygons(here, there)
    elif here is None and there is None:
        expected = one[1] + two[1] - math.hypot(x, y)
    else:
        expected = one[1] - distance_to(x, y, there) if here is None else two[1] - distance_to(0.0, 0.0, here)
    assert depth == pytest.approx(max(expected, 0.0), abs=1e-9)
    if depth > 1e-6:
        assert is_unit(ux, uy)
        for a, b in ((1.0, 0.0), (0.0, 1.0), (0.5, 0.5)):  # whoever goes, or both by half
            moved = x + a * depth * ux, y + a * depth * uy, *pose[2:]
            away = b * depth * vx, b * depth * vy, *other[2:]
            apart = out_of_body(*moved, 0, *away, 1, bodies)[0]
            assert apart < 1e-9 or (depth > 1e-6 and abs(ux + vx) + abs(uy + vy) > 1e-6 and (a, b) == (0.5, 0.5))


@settings(max_examples=100)
@given(forms(), places, places, angles, outlines(), sizes, sizes, angles)
def test_bodies_get_out_of_obstacles(form, x, y, turn, corners, width, height, box_turn):
    bodies = bodies_of([(x, y, turn, *form)])
    obstacles = obstacle_arrays(
        (
            Obstacle(box=Box(center_m=(0.3, -0.2), size_m=(width, height), angle_deg=math.degrees(box_turn))),
            Obstacle(circle=Circle(center_m=(0.3, -0.2), radius_m=width)),
            Obstacle(polygon=Polygon(corners_m=tuple(map(tuple, corners.tolist())))),
        )
    )
    here = None if form[0] is None else turned(form[0], turn, x, y)
    box = turned(rectangle(width, height), box_turn, 0.3, -0.2)
    for k, there in enumerate((box, None, corners)):
        depth, ux, uy = out_of_obstacle(x, y, *bodies.facing[0], 0, bodies, k, obstacles)
        if here is None and there is None:
            expected = form[1] + width - math.dist((x, y), (0.3, -0.2))
        elif here is None:
            expected = form[1] - distance_to(x, y, there)
        elif there is None:
            expected = width - distance_to(0.3, -0.2, here)
        else:
            expected = depth_of_polygons(here, there)
        assert depth == pytest.approx(max(expected, 0.0), abs=1e-9)
        if depth > 1e-6:
            assert is_unit(ux, uy)
            again = out_of_obstacle(x + depth * ux, y + depth * uy, *bodies.facing[0], 0, bodies, k, obstacles)
            assert again[0] < 1e-9


@given(forms(), places, places, angles, angles, st.floats(-2, 2))
def test_bodies_reach_beyond_planes_as_far_as_their_farthest_point(form, x, y, turn, normal, offset):
    bodies = bodies_of([(x, y, turn, *form)])
    nx, ny = math.cos(normal), math.sin(normal)
    points = turned(form[0], turn, x, y) if form[0] is not None else np.array([(x - form[1] * nx, y - form[1] * ny)])
    least = float((points @ (nx, ny)).min())
    found = beyond_plane(x, y, *bodies.facing[0], 0, bodies, nx, ny, offset)
    assert max(found, 0.0) == pytest.approx(max(offset - least, 0.0), abs=1e-9)


# --- outlines that are not convex ------------------------------------------------------------------------


STARS = (
    [(0, 0), (4, 0), (4, 1), (1, 1), (1, 4), (0, 4)],
    [(0, 0), (2, 1), (4, 0), (3, 2), (4, 4), (2, 3), (0, 4), (1, 2)],
    [(0, 0), (5, 0), (5, 3), (3, 3), (3, 1), (2, 1), (2, 3), (0, 3)],
)


@pytest.mark.parametrize("corners", STARS)
@pytest.mark.parametrize("order", [1, -1])
def test_any_outline_becomes_convex_ones_that_cover_it_once(corners, order):
    parts = convex_parts([(float(x), float(y)) for x, y in corners[::order]])
    assert len(parts) > 1
    assert all(is_convex(part) and signed_area(part) > 0 for part in parts)
    rng = np.random.default_rng(1)
    for x, y in rng.uniform(-0.5, 5.5, (400, 2)):
        inside = distance_to(x, y, np.array(corners, dtype=float)) < 0
        assert sum(distance_to(x, y, np.array(part)) < 0 for part in parts) == inside


@pytest.mark.parametrize(
    ("corners", "complaint"),
    [([(0, 0), (1, 1), (2, 2)], "has no area"), ([(0, 0), (4, 4), (4, 0), (0, 3)], "crosses itself")],
)
def test_outlines_that_enclose_nothing_or_cross_are_refused(corners, complaint):
    with pytest.raises(UserError, match=complaint):
        convex_parts([(float(x), float(y)) for x, y in corners])


# --- sine and cosine -------------------------------------------------------------------------------------


def test_cosine_and_sine_are_those_of_the_library():
    rng = np.random.default_rng(1)
    special = [k * math.pi / 8 for k in range(-32, 33)] + [0.0, -0.0, 1e-300, -1e-9]
    worst = 0.0
    for angle in [*special, *rng.uniform(-4 * math.pi, 4 * math.pi, 50_000)]:
        cosine, sine = cosine_sine(angle)
        worst = max(worst, abs(cosine - math.cos(angle)), abs(sine - math.sin(angle)))
    assert worst < 2.3e-16  # one unit in the last place of what is nearly 1, and both are rounded
    assert cosine_sine(0.0) == (1.0, 0.0)
