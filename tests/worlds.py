"""What tests of the robot simulator share: small worlds, and geometry done again in another way."""

import math
from pathlib import Path

import numpy as np

from robonet.robots.physics import Physics
from robonet.robots.placement import place_all
from robonet.robots.world import World
from robonet.scenario import parse_scenario

FOOT_BOT_M, E_PUCK_M = 0.085036758, 0.035


def world(text, threads=1, base=Path()):
    """A world with everyone in place, and facing noted."""
    scenario = parse_scenario(
        f"robonet: 1\nname: t\nduration_s: 10\nthreads: {threads}\n{text}", base / "t.yaml"
    ).scenario
    made = World(scenario, base)
    place_all(made)
    made.look()
    return made


def moving(text, threads=1, base=Path()):
    """A world and what moves everyone in it."""
    here = world(text, threads, base)
    return here, Physics(here)


def step(here, physics, count=1):
    """Go on, as the simulator does."""
    for _ in range(count):
        here.look()
        physics.step()
        here.index += 1
        physics.finish()


def worst_overlap(xy, radius):
    """How deep the deepest pair of disks overlaps: sorted along x, each against those not far behind it."""
    order = np.argsort(xy[:, 0], kind="stable")
    x, y, r = xy[order, 0], xy[order, 1], radius[order]
    widest = 2 * r.max(initial=0.0)
    worst = 0.0
    for shift in range(1, len(x)):
        dx = x[shift:] - x[:-shift]
        if dx.min() > widest:
            break
        depth = r[shift:] + r[:-shift] - np.hypot(dx, y[shift:] - y[:-shift])
        worst = max(worst, float(depth.max()))
    return worst


# --- outlines, corner by corner --------------------------------------------------------------------------


def turned(corners, angle, x=0.0, y=0.0):
    """Corners after a turn and a shift."""
    u, v = np.asarray(corners, dtype=float).T
    return np.stack(
        (x + u * math.cos(angle) - v * math.sin(angle), y + u * math.sin(angle) + v * math.cos(angle)), axis=1
    )


def rectangle(width, height):
    return np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * (width / 2, height / 2)


def outline(here, row):
    """Corners of a body where it is now; None for a disk."""
    shape = here.shape[row]
    if shape < 0:
        return None
    first, last = here.shapes.offsets[shape : shape + 2]
    return turned(here.shapes.corners[first:last], here.heading[row], *here.xyz[row, :2])


def outlines(here):
    """What stands: corners of boxes and polygons as the scenario has them, and disks."""
    polygons, disks = [], []
    for obstacle in here.solid:
        if obstacle.box:
            box = obstacle.box
            polygons.append(turned(rectangle(*box.size_m), math.radians(box.angle_deg), *box.center_m))
        elif obstacle.circle:
            disks.append((*obstacle.circle.center_m, obstacle.circle.radius_m))
        else:
            polygons.append(np.array(obstacle.polygon.corners_m))
    return polygons, disks


def is_inside(x, y, corners):
    """By counting how often a line to the right crosses the outline."""
    ahead = np.roll(corners, -1, axis=0)
    crossing = (corners[:, 1] > y) != (ahead[:, 1] > y)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        at = corners[:, 0] + (y - corners[:, 1]) * (ahead[:, 0] - corners[:, 0]) / (ahead[:, 1] - corners[:, 1])
    return bool((crossing & (at > x)).sum() % 2)


def distance_to(x, y, corners):
    """From a point to the nearest point of an outline; negative from inside."""
    ahead = np.roll(corners, -1, axis=0)
    edge = ahead - corners
    share = (((x, y) - corners) * edge).sum(axis=1) / (edge**2).sum(axis=1)
    nearest = corners + np.clip(share, 0, 1)[:, None] * edge
    distance = float(np.hypot(*(nearest - (x, y)).T).min())
    return -distance if is_inside(x, y, corners) else distance


def crossings(x, y, ux, uy, begin, end):
    """All distances at which a ray crosses edges, each by Cramer's rule."""
    edge, to = end - begin, begin - (x, y)
    determinant = ux * edge[:, 1] - uy * edge[:, 0]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        along = (to[:, 0] * edge[:, 1] - to[:, 1] * edge[:, 0]) / determinant
        on_edge = (to[:, 0] * uy - to[:, 1] * ux) / determinant
    return along[(determinant != 0) & (along >= 0) & (on_edge >= 0) & (on_edge <= 1)]


def ray_hits(x, y, ux, uy, corners):
    """All distances at which a ray crosses an outline."""
    return crossings(x, y, ux, uy, corners, np.roll(corners, -1, axis=0))


def ray_to_outline(x, y, ux, uy, corners):
    """Where a ray first meets an outline of any form; 0 from within."""
    if is_inside(x, y, corners):
        return 0.0
    return float(ray_hits(x, y, ux, uy, corners).min(initial=math.inf))


def ray_to_circle(x, y, ux, uy, cx, cy, radius):
    """Where a ray first meets a circle, by the roots of the quadratic; 0 from within."""
    if math.hypot(cx - x, cy - y) <= radius:
        return 0.0
    half, rest = (x - cx) * ux + (y - cy) * uy, (x - cx) ** 2 + (y - cy) ** 2 - radius**2
    if half * half < rest or half > 0:
        return math.inf
    return rest / (-half + math.sqrt(half * half - rest))


def seen(here, row, angles, reach):
    """What the rays of a body read, looking at everything there is."""
    x, y = here.xyz[row, :2].tolist()
    own = outline(here, row)
    polygons, disks = outlines(here)
    for other in np.flatnonzero(here.body_m > 0):
        if other != row:
            corners = outline(here, other)
            if corners is None:
                disks.append((*here.xyz[other, :2].tolist(), float(here.body_m[other])))
            else:
                polygons.append(corners)
    (left, bottom), (right, top) = here.arena.low_m, here.arena.high_m
    walls = np.array([(left, bottom), (right, bottom), (right, top), (left, top)])
    touched = any(is_inside(x, y, corners) for corners in polygons)
    edges = np.concatenate([np.stack((c, np.roll(c, -1, axis=0)), axis=1) for c in polygons]) if polygons else None
    found = []
    for angle in angles:
        ux, uy = math.cos(angle), math.sin(angle)
        edge = here.body_m[row] if own is None else ray_hits(x, y, ux, uy, own).max()
        hits = [ray_to_circle(x, y, ux, uy, *disk) for disk in disks]
        if edges is not None:
            hits.append(0.0 if touched else crossings(x, y, ux, uy, edges[:, 0], edges[:, 1]).min(initial=math.inf))
        if here.arena.walls:
            hits.append(ray_hits(x, y, ux, uy, walls).max())
        found.append(min(max(min(hits, default=math.inf) - edge, 0.0), reach))
    return np.array(found)


def depth_of_polygons(one, two):
    """How far two convex outlines overlap along the direction where they do least; negative or 0: not at all."""
    least = math.inf
    for corners in (one, two):
        edge = np.roll(corners, -1, axis=0) - corners
        normals = np.stack((edge[:, 1], -edge[:, 0]), axis=1) / np.hypot(*edge.T)[:, None]
        of_one, of_two = one @ normals.T, two @ normals.T
        least = min(least, float(np.minimum(of_one.max(0) - of_two.min(0), of_two.max(0) - of_one.min(0)).min()))
    return least


def depth_of(here, a, b):
    """How far two bodies overlap, at most 0 where they do not."""
    one, two = outline(here, a), outline(here, b)
    if one is None and two is None:
        return here.body_m[a] + here.body_m[b] - math.dist(here.xyz[a, :2], here.xyz[b, :2])
    if one is not None and two is not None:
        return depth_of_polygons(one, two)
    disk, corners = (a, two) if one is None else (b, one)
    return here.body_m[disk] - distance_to(*here.xyz[disk, :2], corners)
