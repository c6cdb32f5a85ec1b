"""Rays and overlaps between disks, boxes and convex polygons: the arithmetic of all sensing and touching."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robonet.kernels import bare_kernel
from robonet.robots.arena import BOX, DISK, POLYGON, Obstacles
from robonet.robots.shapes import Shapes
from robonet.space import Floats


class Bodies(NamedTuple):
    """What kernels know of everything solid that can move."""

    xyz: Floats
    facing: Floats
    radius: Floats
    """0 where nothing is solid."""
    height: Floats
    shape: NDArray[np.int32]
    shapes: Shapes


@bare_kernel
def at_one_height(i: int, j: int, bodies: Bodies) -> bool:
    """Whether two bodies are side by side rather than above each other."""
    low, high = bodies.xyz[i, 2], bodies.xyz[i, 2] + bodies.height[i]
    return bodies.xyz[j, 2] < high and bodies.xyz[j, 2] + bodies.height[j] > low


@bare_kernel
def ray_to_disk(dx: float, dy: float, ux: float, uy: float, radius: float) -> float:
    """How far along a ray from the origin a disk begins; 0 from within, infinite where the ray misses it."""
    along = dx * ux + dy * uy
    squared = dx * dx + dy * dy - along * along
    inside = radius * radius - squared
    if inside < 0.0:
        return math.inf
    half = math.sqrt(inside)
    if along + half < 0.0:
        return math.inf
    return max(along - half, 0.0)


@bare_kernel
def ray_to_box(u: float, v: float, along_u: float, along_v: float, half_u: float, half_v: float) -> float:
    """How far along a ray from (u, v) a box about the origin begins."""
    enter, leave = 0.0, math.inf
    if abs(along_u) < 1e-300:
        if abs(u) > half_u:
            return math.inf
    else:
        one, two = (-half_u - u) / along_u, (half_u - u) / along_u
        enter, leave = max(enter, min(one, two)), min(leave, max(one, two))
    if abs(along_v) < 1e-300:
        if abs(v) > half_v:
            return math.inf
    else:
        one, two = (-half_v - v) / along_v, (half_v - v) / along_v
        enter, leave = max(enter, min(one, two)), min(leave, max(one, two))
    return enter if enter <= leave else math.inf


@bare_kernel
def ray_to_polygon(u: float, v: float, along_u: float, along_v: float, corners: Floats, first: int, last: int) -> float:
    """How far along a ray from (u, v) a convex polygon begins, all in the polygon's frame."""
    enter, leave = 0.0, math.inf
    for k in range(first, last):
        n = k + 1 if k + 1 < last else first
        ax, ay = corners[k, 0], corners[k, 1]
        normal_u, normal_v = corners[n, 1] - ay, ax - corners[n, 0]  # outwards
        gap = normal_u * (u - ax) + normal_v * (v - ay)
        speed = normal_u * along_u + normal_v * along_v
        if speed < 0.0:
            enter = max(enter, gap / -speed)
        elif speed > 0.0:
            leave = min(leave, -gap / speed)
        elif gap > 0.0:
            return math.inf
    return enter if enter <= leave else math.inf


@bare_kernel
def ray_to_sides(u: float, v: float, along_u: float, along_v: float, sides: Floats, first: int, last: int) -> float:
    """The same for a polygon whose sides are known, without a branch that depends on where the ray goes."""
    enter, leave, missed = 0.0, math.inf, False
    for k in range(first, last):
        gap = sides[k, 0] * u + sides[k, 1] * v - sides[k, 2]
        speed = sides[k, 0] * along_u + sides[k, 1] * along_v
        at = -gap / speed
        enter = max(enter, at) if speed < 0.0 else enter
        leave = min(leave, at) if speed > 0.0 else leave
        missed = missed | ((speed == 0.0) & (gap > 0.0))
    return math.inf if missed | (enter > leave) else enter


@bare_kernel
def ray_to_obstacle(x: float, y: float, ux: float, uy: float, k: int, obstacles: Obstacles) -> float:
    """How far along a ray an obstacle begins."""
    rows = obstacles.rows
    kind = obstacles.kind[k]
    if kind == BOX:
        dx, dy, cosine, sine = x - rows[k, 0], y - rows[k, 1], rows[k, 4], rows[k, 5]
        return ray_to_box(
            dx * cosine + dy * sine, dy * cosine - dx * sine, ux * cosine + uy * sine, uy * cosine - ux * sine,
            rows[k, 2], rows[k, 3],
        )  # fmt: skip
    if kind == DISK:
        return ray_to_disk(rows[k, 0] - x, rows[k, 1] - y, ux, uy, rows[k, 6])
    return ray_to_polygon(x, y, ux, uy, obstacles.corners, obstacles.offsets[k], obstacles.offsets[k + 1])


@bare_kernel
def ray_to_body(x: float, y: float, ux: float, uy: float, j: int, bodies: Bodies) -> float:
    """How far along a ray a body begins."""
    dx, dy = bodies.xyz[j, 0] - x, bodies.xyz[j, 1] - y
    shape = bodies.shape[j]
    if shape < 0:
        return ray_to_disk(dx, dy, ux, uy, bodies.radius[j])
    cosine, sine = bodies.facing[j, 0], bodies.facing[j, 1]
    offsets = bodies.shapes.offsets
    return ray_to_sides(
        -dx * cosine - dy * sine, dx * sine - dy * cosine, ux * cosine + uy * sine, uy * cosine - ux * sine,
        bodies.shapes.sides, offsets[shape], offsets[shape + 1],
    )  # fmt: skip


@bare_kernel
def ray_to_walls(
    x: float, y: float, ux: float, uy: float, left: float, bottom: float, right: float, top: float
) -> float:
    """How far along a ray from within a rectangle its border is."""
    nearest = math.inf
    if ux > 0.0:
        nearest = min(nearest, (right - x) / ux)
    elif ux < 0.0:
        nearest = min(nearest, (left - x) / ux)
    if uy > 0.0:
        nearest = min(nearest, (top - y) / uy)
    elif uy < 0.0:
        nearest = min(nearest, (bottom - y) / uy)
    return nearest


@bare_kernel
def own_edge(ux: float, uy: float, i: int, bodies: Bodies) -> float:
    """How far it is from a body's centre to its edge along a direction in the world's frame."""
    shape = bodies.shape[i]
    if shape < 0:
        return bodies.radius[i]
    cosine, sine = bodies.facing[i, 0], bodies.facing[i, 1]
    u, v = ux * cosine + uy * sine, uy * cosine - ux * sine
    offsets, corners = bodies.shapes.offsets, bodies.shapes.corners
    first, last = offsets[shape], offsets[shape + 1]
    leave = math.inf
    for k in range(first, last):
        n = k + 1 if k + 1 < last else first
        normal_u, normal_v = corners[n, 1] - corners[k, 1], corners[k, 0] - corners[n, 0]
        speed = normal_u * u + normal_v * v
        if speed > 0.0:
            leave = min(leave, (normal_u * corners[k, 0] + normal_v * corners[k, 1]) / speed)
    return leave


@bare_kernel
def out_of_box(
    u: float, v: float, radius: float, half_u: float, half_v: float, rounding: float
) -> tuple[float, float, float]:
    """Depth of a disk in a rounded box about the origin, and the direction out of it; no depth: they do not touch."""
    near_u, near_v = min(max(u, -half_u), half_u), min(max(v, -half_v), half_v)
    out_u, out_v = u - near_u, v - near_v
    touch = radius + rounding
    squared = out_u * out_u + out_v * out_v
    if squared >= touch * touch:
        return 0.0, 0.0, 0.0
    distance = math.sqrt(squared)
    if distance > 1e-12:
        return touch - distance, out_u / distance, out_v / distance
    if half_u - abs(u) < half_v - abs(v):  # the centre is inside: leave by the nearest side
        return half_u - abs(u) + touch, math.copysign(1.0, u), 0.0
    return half_v - abs(v) + touch, 0.0, math.copysign(1.0, v)


@bare_kernel
def out_of_polygon(
    u: float, v: float, radius: float, corners: Floats, first: int, last: int
) -> tuple[float, float, float]:
    """Depth of a disk in a convex polygon, and the direction out of it, in the polygon's frame."""
    deepest, side = -math.inf, first
    for k in range(first, last):
        n = k + 1 if k + 1 < last else first
        normal_u, normal_v = corners[n, 1] - corners[k, 1], corners[k, 0] - corners[n, 0]
        length = math.sqrt(normal_u * normal_u + normal_v * normal_v)
        gap = (normal_u * (u - corners[k, 0]) + normal_v * (v - corners[k, 1])) / length
        if gap >= radius:
            return 0.0, 0.0, 0.0
        if gap > deepest:
            deepest, side = gap, k
    n = side + 1 if side + 1 < last else first
    ax, ay, bx, by = corners[side, 0], corners[side, 1], corners[n, 0], corners[n, 1]
    edge_u, edge_v = bx - ax, by - ay
    length = math.sqrt(edge_u * edge_u + edge_v * edge_v)
    if deepest <= 0.0:  # the centre is inside
        return radius - deepest, edge_v / length, -edge_u / length
    along = ((u - ax) * edge_u + (v - ay) * edge_v) / length
    if 0.0 <= along <= length:
        return radius - deepest, edge_v / length, -edge_u / length
    corner_u, corner_v = (ax, ay) if along < 0.0 else (bx, by)
    out_u, out_v = u - corner_u, v - corner_v
    distance = math.sqrt(out_u * out_u + out_v * out_v)
    if distance >= radius:
        return 0.0, 0.0, 0.0
    return radius - distance, out_u / distance, out_v / distance


@bare_kernel
def _faces(
    a: Floats, a_first: int, a_last: int, ax: float, ay: float, ac: float, as_: float,
    b: Floats, b_first: int, b_last: int, bx: float, by: float, bc: float, bs: float,
) -> tuple[float, float, float]:  # fmt: skip
    """How deep polygon b is behind the face of polygon a that it is least behind, and that face's normal."""
    least, least_x, least_y = math.inf, 0.0, 0.0
    for k in range(a_first, a_last):
        n = k + 1 if k + 1 < a_last else a_first
        normal_u, normal_v = a[n, 1] - a[k, 1], a[k, 0] - a[n, 0]
        length = math.sqrt(normal_u * normal_u + normal_v * normal_v)
        nx, ny = (normal_u * ac - normal_v * as_) / length, (normal_u * as_ + normal_v * ac) / length
        px, py = ax + a[k, 0] * ac - a[k, 1] * as_, ay + a[k, 0] * as_ + a[k, 1] * ac
        gap = math.inf
        for m in range(b_first, b_last):
            qx, qy = bx + b[m, 0] * bc - b[m, 1] * bs, by + b[m, 0] * bs + b[m, 1] * bc
            gap = min(gap, nx * (qx - px) + ny * (qy - py))
        if gap >= 0.0:
            return 0.0, 0.0, 0.0
        if -gap < least:
            least, least_x, least_y = -gap, nx, ny
    return least, least_x, least_y


@bare_kernel
def out_of_each_other(
    a: Floats, a_first: int, a_last: int, ax: float, ay: float, ac: float, as_: float,
    b: Floats, b_first: int, b_last: int, bx: float, by: float, bc: float, bs: float,
) -> tuple[float, float, float]:  # fmt: skip
    """Depth of convex polygon a in b, and the direction in which a gets out."""
    of_a, x, y = _faces(a, a_first, a_last, ax, ay, ac, as_, b, b_first, b_last, bx, by, bc, bs)
    if of_a == 0.0:
        return 0.0, 0.0, 0.0
    of_b, u, v = _faces(b, b_first, b_last, bx, by, bc, bs, a, a_first, a_last, ax, ay, ac, as_)
    if of_b == 0.0:
        return 0.0, 0.0, 0.0
    return (of_b, u, v) if of_b <= of_a else (of_a, -x, -y)


@bare_kernel
def out_of_body(
    x: float, y: float, cosine: float, sine: float, i: int,
    other_x: float, other_y: float, other_cosine: float, other_sine: float, j: int, bodies: Bodies,
) -> tuple[float, float, float]:  # fmt: skip
    """Depth of body i, posed as told, in body j, posed as told, and the direction in which i gets out."""
    dx, dy = x - other_x, y - other_y
    own, other = bodies.radius[i], bodies.radius[j]
    squared, touch = dx * dx + dy * dy, own + other
    if squared >= touch * touch:
        return 0.0, 0.0, 0.0
    offsets, corners = bodies.shapes.offsets, bodies.shapes.corners
    of_i, of_j = bodies.shape[i], bodies.shape[j]
    if of_i < 0 and of_j < 0:
        distance = math.sqrt(squared)
        if distance < 1e-12:  # on the same spot: part along x, the lower row to the left
            return touch, (-1.0 if i < j else 1.0), 0.0
        return touch - distance, dx / distance, dy / distance
    if of_i < 0:
        u, v = dx * other_cosine + dy * other_sine, dy * other_cosine - dx * other_sine
        depth, out_u, out_v = out_of_polygon(u, v, own, corners, offsets[of_j], offsets[of_j + 1])
        return depth, out_u * other_cosine - out_v * other_sine, out_u * other_sine + out_v * other_cosine
    if of_j < 0:
        u, v = -dx * cosine - dy * sine, dx * sine - dy * cosine
        depth, out_u, out_v = out_of_polygon(u, v, other, corners, offsets[of_i], offsets[of_i + 1])
        return depth, out_v * sine - out_u * cosine, -out_u * sine - out_v * cosine
    if i < j:
        return out_of_each_other(
            corners, offsets[of_i], offsets[of_i + 1], x, y, cosine, sine,
            corners, offsets[of_j], offsets[of_j + 1], other_x, other_y, other_cosine, other_sine,
        )  # fmt: skip
    depth, out_u, out_v = out_of_each_other(  # where two ways are equally short, both must mean the same one
        corners, offsets[of_j], offsets[of_j + 1], other_x, other_y, other_cosine, other_sine,
        corners, offsets[of_i], offsets[of_i + 1], x, y, cosine, sine,
    )  # fmt: skip
    return depth, -out_u, -out_v


@bare_kernel
def out_of_obstacle(
    x: float, y: float, cosine: float, sine: float, i: int, bodies: Bodies, k: int, obstacles: Obstacles
) -> tuple[float, float, float]:
    """Depth of body i, posed as told, in an obstacle, and the direction out of it."""
    rows, own = obstacles.rows, bodies.radius[i]
    bounds = obstacles.bounds
    if x + own <= bounds[k, 0] or y + own <= bounds[k, 1] or x - own >= bounds[k, 2] or y - own >= bounds[k, 3]:
        return 0.0, 0.0, 0.0
    shape, kind = bodies.shape[i], obstacles.kind[k]
    first, last = obstacles.offsets[k], obstacles.offsets[k + 1]
    if shape < 0:
        if kind != POLYGON:
            c, s = rows[k, 4], rows[k, 5]
            dx, dy = x - rows[k, 0], y - rows[k, 1]
            depth, u, v = out_of_box(dx * c + dy * s, dy * c - dx * s, own, rows[k, 2], rows[k, 3], rows[k, 6])
            return depth, u * c - v * s, u * s + v * c
        return out_of_polygon(x, y, own, obstacles.corners, first, last)
    offsets, corners = bodies.shapes.offsets, bodies.shapes.corners
    if kind == DISK:
        dx, dy = rows[k, 0] - x, rows[k, 1] - y
        u, v = dx * cosine + dy * sine, dy * cosine - dx * sine
        depth, out_u, out_v = out_of_polygon(u, v, rows[k, 6], corners, offsets[shape], offsets[shape + 1])
        return depth, out_v * sine - out_u * cosine, -out_u * sine - out_v * cosine
    return out_of_each_other(
        corners, offsets[shape], offsets[shape + 1], x, y, cosine, sine,
        obstacles.corners, first, last, 0.0, 0.0, 1.0, 0.0,
    )  # fmt: skip


@bare_kernel
def beyond_plane(
    x: float, y: float, cosine: float, sine: float, i: int, bodies: Bodies, nx: float, ny: float, offset: float
) -> float:
    """How far body i, posed as told, reaches beyond a plane whose normal points to the allowed side."""
    shape = bodies.shape[i]
    if shape < 0:
        return offset + bodies.radius[i] - nx * x - ny * y
    if offset + bodies.radius[i] <= nx * x + ny * y:
        return 0.0
    offsets, corners = bodies.shapes.offsets, bodies.shapes.corners
    least = math.inf
    for k in range(offsets[shape], offsets[shape + 1]):
        px = x + corners[k, 0] * cosine - corners[k, 1] * sine
        py = y + corners[k, 0] * sine + corners[k, 1] * cosine
        least = min(least, nx * px + ny * py)
    return offset - least
