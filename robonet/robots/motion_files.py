"""Motion from files: ns-2 movement scripts (BonnMotion, SUMO, setdest) and CSV."""

import csv
import math
import re
from pathlib import Path
from typing import NamedTuple

from robonet.clock import NS_PER_S, ns_from_s
from robonet.errors import UserError

LATEST_NS = 9 * 10**18
_NUMBER = r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
_NODE = r"\$node_\(\s*(\d+)\s*\)"
_SET = re.compile(rf"^{_NODE}\s+set\s+([XYZ])_\s+{_NUMBER}$")
_AT = re.compile(rf'^\$(?:ns_?)\s+at\s+{_NUMBER}\s+"(.*)"$')
_SETDEST = re.compile(rf"^{_NODE}\s+setdest\s+{_NUMBER}\s+{_NUMBER}\s+{_NUMBER}$")


class Track(NamedTuple):
    """Where one node starts, and (time in ns, x, y) of the ends of its legs."""

    start: tuple[float, float]
    legs: list[tuple[int, float, float]]


class _Order(NamedTuple):
    """From a time on: go to a point at a speed, or (speed None) be there at once."""

    time_s: float
    x: float | None
    y: float | None
    speed_m_s: float | None


def read_ns2(path: Path, corner_m: tuple[float, float]) -> dict[str, Track]:
    """The tracks of an ns-2 movement file by node number; its origin becomes the arena's lower left corner."""
    starts: dict[str, dict[str, float]] = {}
    orders: dict[str, list[_Order]] = {}
    for number, line in enumerate(_lines(path), start=1):
        text = line.split("#", 1)[0].strip().rstrip(";").strip()
        if not text or text.startswith(("set ", "$god_", "puts ")):
            continue
        if placed := _SET.match(text):
            starts.setdefault(placed[1], {})[placed[2]] = float(placed[3])
            continue
        timed = _AT.match(text)
        inner = timed[2].strip() if timed else ""
        if timed and inner.startswith("$god_"):
            continue
        if timed and (move := _SETDEST.match(inner)):
            order = _Order(float(timed[1]), float(move[2]), float(move[3]), float(move[4]))
            orders.setdefault(move[1], []).append(order)
        elif timed and (jump := _SET.match(inner)):
            if jump[2] != "Z":
                x, y = (float(jump[3]), None) if jump[2] == "X" else (None, float(jump[3]))
                orders.setdefault(jump[1], []).append(_Order(float(timed[1]), x, y, None))
        else:
            raise UserError(f"{path}:{number}: not a line of an ns-2 movement file: {line.strip()[:80]}")
    tracks = {}
    for node in {**starts, **orders}:
        place = starts.get(node, {})
        if "X" not in place or "Y" not in place:
            raise UserError(f"{path}: node {node} has no initial X_ and Y_")
        start = (place["X"] + corner_m[0], place["Y"] + corner_m[1])
        ordered = sorted(orders.get(node, []), key=lambda order: order.time_s)
        shifted = [
            order._replace(
                x=None if order.x is None else order.x + corner_m[0],
                y=None if order.y is None else order.y + corner_m[1],
            )
            for order in ordered
        ]
        tracks[node] = Track(start, _legs(start, shifted))
    return tracks


def _legs(start: tuple[float, float], orders: list[_Order]) -> list[tuple[int, float, float]]:
    """Straight legs from orders, where a later order cuts an earlier one short."""
    legs: list[tuple[int, float, float]] = []
    (x, y), time_s = start, 0.0
    for index, order in enumerate(orders):
        if order.time_s > time_s:  # waiting for the order
            legs.append((ns_from_s(order.time_s), x, y))
            time_s = order.time_s
        if order.speed_m_s is None:
            x, y = x if order.x is None else order.x, y if order.y is None else order.y
            legs.append((ns_from_s(time_s), x, y))
            continue
        assert order.x is not None and order.y is not None
        distance = math.hypot(order.x - x, order.y - y)
        if order.speed_m_s <= 0.0 or distance == 0.0:
            continue
        arrival_s = min(time_s + distance / order.speed_m_s, LATEST_NS / NS_PER_S)
        end_s = min(arrival_s, orders[index + 1].time_s) if index + 1 < len(orders) else arrival_s
        share = 1.0 if end_s >= arrival_s else (end_s - time_s) / (arrival_s - time_s)
        x, y = x + share * (order.x - x), y + share * (order.y - y)
        legs.append((ns_from_s(end_s), x, y))
        time_s = end_s
    return legs


def read_csv(path: Path) -> dict[str, Track]:
    """The tracks of a CSV file with the columns robot, time_s, x_m, y_m, in metres of the arena."""
    rows = csv.DictReader(_lines(path))
    wanted = ["robot", "time_s", "x_m", "y_m"]
    missing = [name for name in wanted if name not in (rows.fieldnames or ())]
    if missing:
        raise UserError(f"{path}:1: the first line must name the columns {', '.join(wanted)}; missing: {missing[0]}")
    points: dict[str, list[tuple[int, float, float]]] = {}
    for row in rows:
        try:
            point = (ns_from_s(float(row["time_s"])), float(row["x_m"]), float(row["y_m"]))
        except (TypeError, ValueError, OverflowError) as error:
            raise UserError(f"{path}:{rows.line_num}: time_s, x_m and y_m must be numbers") from error
        if not (0 <= point[0] <= LATEST_NS and math.isfinite(point[1]) and math.isfinite(point[2])):
            raise UserError(f"{path}:{rows.line_num}: time_s, x_m and y_m must be numbers, time from 0 to 9e9")
        points.setdefault(row["robot"], []).append(point)
    for track in points.values():
        track.sort(key=lambda point: point[0])
    return {robot: Track(track[0][1:], track) for robot, track in points.items()}


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {path}: {error}") from error
