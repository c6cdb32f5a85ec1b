"""Shapes in the plane: where they are, how they are turned, and the convex outline around them."""

import math

Point = tuple[float, float]
Outline = list[Point]


def moved(points: Outline, x: float, y: float, angle_deg: float) -> Outline:
    """The points, turned about the origin and then shifted."""
    cos, sin = math.cos(math.radians(angle_deg)), math.sin(math.radians(angle_deg))
    return [(x + cos * px - sin * py, y + sin * px + cos * py) for px, py in points]


def extent(points: Outline) -> tuple[float, float, float, float]:
    """The least and greatest x and y, as left, bottom, right, top."""
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return min(xs), min(ys), max(xs), max(ys)


def rectangle(width: float, depth: float) -> Outline:
    """The corners of a rectangle about the origin, counter-clockwise."""
    x, y = width / 2, depth / 2
    return [(-x, -y), (x, -y), (x, y), (-x, y)]


def convex_outline(points: Outline) -> Outline:
    """The corners of the convex hull, counter-clockwise (Andrew's chains)."""
    ordered = sorted(set(points))

    def chain(candidates: Outline) -> Outline:
        found: Outline = []
        for point in candidates:
            while len(found) > 1 and _turn(found[-2], found[-1], point) <= 1e-12:
                found.pop()
            found.append(point)
        return found[:-1]

    return chain(ordered) + chain(ordered[::-1])


def is_convex(outline: Outline) -> bool:
    """Whether the outline, in whichever sense it goes, has all its corners on its hull."""
    return len(convex_outline(outline)) == len(set(outline))


def area(outline: Outline) -> float:
    """The area inside of an outline that does not cross itself."""
    pairs = zip(outline, outline[1:] + outline[:1], strict=True)
    return abs(sum(ax * by - bx * ay for (ax, ay), (bx, by) in pairs)) / 2


def round_radius(outline: Outline) -> float | None:
    """The radius of an outline that is meant to be a disk about the origin: many corners, all as far."""
    distances = [math.hypot(x, y) for x, y in outline]
    if len(outline) < 12 or max(distances) - min(distances) > 0.03 * max(distances):
        return None
    return max(distances)


def inside(outline: Outline, point: Point, slack: float) -> bool:
    """Whether a point is in a convex counter-clockwise outline, or out of it by no more than the slack."""
    for (ax, ay), (bx, by) in zip(outline, outline[1:] + outline[:1], strict=True):
        length = math.hypot(bx - ax, by - ay)
        if length > 0 and _turn((ax, ay), (bx, by), point) < -slack * length:
            return False
    return True


def _turn(a: Point, b: Point, c: Point) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
