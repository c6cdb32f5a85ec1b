"""Where ARGoS puts things: vectors, bodies, and the distributions of `<distribute>`."""

import math
from typing import Any

from robonet.imports.parts import LARGEST_NUMBER, Part

MOST_POSES = 50_000
NARROWEST_M = 0.001
"""What is used for an extent of nothing."""


def vector(part: Part, name: str, count: int, default: tuple[float, ...] | None = None) -> tuple[float, ...]:
    """An attribute with numbers apart by commas, taken over."""
    text = part.take(name)
    if text is None and default is not None:
        return default
    if text is None:
        raise part.wrong(f"the attribute {name} is missing")
    try:
        found = tuple(float(word) for word in str(text).split(","))
    except ValueError:
        found = ()
    if len(found) != count or not all(abs(number) <= LARGEST_NUMBER for number in found):
        raise part.wrong(f"{count} numbers apart by commas are expected", name)
    return found


def yes(part: Part, name: str, default: bool) -> bool:
    """An attribute that is true or false, taken over."""
    word = part.take(name)
    if word is None:
        return default
    if word not in ("true", "false", "1", "0"):
        raise part.wrong("true or false is expected", name)
    return word in ("true", "1")


def upright_pose(body: Part) -> tuple[float, float, float, float]:
    """x, y, z and heading of a body or a light; other turns are left."""
    x, y, z = vector(body, "position", 3, (0.0, 0.0, 0.0))
    heading, *others = vector(body, "orientation", 3, (0.0, 0.0, 0.0))
    if any(others):
        body.leave("orientation", "only the turn about the vertical axis is taken over")
    return x, y, z, heading


def pose_of(thing: Part) -> tuple[float, float, float, float]:
    """Where an entity is, by its body."""
    body = thing.take_part("body")
    return (0.0, 0.0, 0.0, 0.0) if body is None else upright_pose(body)


def heading_of(orientation: Part | None) -> Any:
    """The heading of what is distributed: degrees, or `random`."""
    if orientation is None:
        return 0.0
    method = orientation.take("method")
    if method == "constant":
        turn = vector(orientation, "values", 3)
        if any(turn[1:]):
            orientation.leave("values", "only the turn about the vertical axis is taken over")
        return turn[0]
    if method == "uniform":
        low, high = vector(orientation, "min", 3), vector(orientation, "max", 3)
        if high[0] - low[0] < 360.0:
            orientation.leave("max", "headings are random all around, or all the same: all around is used")
        return "random"
    if method == "gaussian":
        vector(orientation, "mean", 3)
        if vector(orientation, "std_dev", 3)[0] < 180.0:
            orientation.leave("std_dev", "headings are random all around, or all the same: all around is used")
        return "random"
    raise orientation.wrong("uniform, gaussian or constant is expected", "method")


def place_of(position: Part, count: int, trials: int) -> tuple[dict[str, Any], float]:
    """The `place` of a group and the height that it starts at."""
    method = position.take("method")
    if method == "uniform":
        low, high = vector(position, "min", 3), vector(position, "max", 3)
        if any(one > other for one, other in zip(low, high, strict=True)):
            raise position.wrong("min is above max", "min")
        center = [(low[k] + high[k]) / 2 for k in (0, 1)]
        if low[:2] == high[:2] and count == 1:
            return {"at_m": [center]}, low[2]
        if low[0] == high[0] or low[1] == high[1]:
            position.leave("max", f"an area needs an extent: {NARROWEST_M:g} m is used")
        if low[2] != high[2]:
            position.leave("min", "all start at one height")
        size = [max(high[k] - low[k], NARROWEST_M) for k in (0, 1)]
        return {"uniform": {"center_m": center, "size_m": size, "max_trials": trials}}, low[2]
    if method == "gaussian":
        mean, spread = vector(position, "mean", 3), vector(position, "std_dev", 3)
        if min(spread[:2]) <= 0:
            position.leave("std_dev", f"a spread must be above 0: {NARROWEST_M:g} m is used")
        std = [max(spread[k], NARROWEST_M) for k in (0, 1)]
        return {"gaussian": {"mean_m": list(mean[:2]), "std_m": std, "max_trials": trials}}, mean[2]
    if method == "constant":
        values = vector(position, "values", 3)
        return {"at_m": [list(values[:2])] * count}, values[2]
    if method == "grid":
        return _grid(position, count)
    raise position.wrong("uniform, gaussian, grid or constant is expected", "method")


def _grid(position: Part, count: int) -> tuple[dict[str, Any], float]:
    """A grid of robonet where it is the same; else the points that ARGoS computes, which start at the far corner."""
    center, gap = vector(position, "center", 3), vector(position, "distances", 3)
    columns, rows, levels = (int(number) for number in vector(position, "layout", 3))
    if min(columns, rows, levels) < 1 or columns * rows * levels < count:
        raise position.wrong(f"there is no room for {count}", "layout")
    if levels > 1:
        position.leave("layout", "all start at one height")
    if gap[0] == gap[1] >= NARROWEST_M and columns == math.ceil(math.sqrt(count)) and columns * rows == count:
        return {"grid": {"center_m": list(center[:2]), "spacing_m": gap[0]}}, center[2]
    if count > MOST_POSES:
        raise position.wrong(f"more than {MOST_POSES:,} places that are no square grid", "layout")
    points = [
        [
            center[0] + ((columns - 1) / 2 - number % columns) * gap[0],
            center[1] + ((rows - 1) / 2 - number // columns % rows) * gap[1],
        ]
        for number in range(count)
    ]
    return {"at_m": points}, center[2]
