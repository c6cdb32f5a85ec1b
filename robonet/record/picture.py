"""A picture of a run: where everyone went, and how much of what they sent arrived."""

import itertools
import math
from typing import Any, TextIO
from xml.sax.saxutils import escape

import numpy as np

from robonet.errors import UserError
from robonet.record.folder import SCENARIO, RunFolder
from robonet.record.tables import read_table
from robonet.scenario import load_recorded
from robonet.scenario.arena import Arena
from robonet.scenario.schema import Scenario

WIDTH = 960.0
MARGIN = 24.0
FOOTER = 66.0
POINTS_A_PATH = 400
SWATCH = 52
SCALE = ("#b2182b", "#ef8a62", "#d9c27c", "#7fb5a5", "#1b7f5c")
"""From nothing to everything delivered; told apart also without red and green, by lightness at both ends."""
UNKNOWN = "#8c8c8c"


def draw_run(folder: RunFolder, out: TextIO) -> int:
    """Write the picture as SVG; how many robots are in it."""
    poses = read_table(folder.tables / "poses")
    if poses is None:
        raise UserError(f"{folder.path} holds no poses")
    scenario = load_recorded(folder.path / SCENARIO)
    paths = _paths(poses, "robot")
    things = read_table(folder.tables / "objects")
    shares = _delivered_shares(read_table(folder.tables / "packets"))
    sheet = _Sheet(scenario.arena, np.stack((poses["x_m"], poses["y_m"]), axis=1))
    sheet.add_arena(scenario.arena)
    walls = read_table(folder.tables / "walls")
    if walls is not None:
        sheet.add_walls(walls)
    for name, path in (_paths(things, "object") if things is not None else {}).items():
        sheet.add_thing(path[-1], name)
    for name, path in paths.items():
        sheet.add_path(path[:: max(1, len(path) // POINTS_A_PATH)], path[-1], _colour(shares.get(name)), name)
    for station in scenario.stations:
        sheet.add_station(station.at_m, station.name)
    seconds = float(poses["time_ns"].max()) / 1e9
    out.write(sheet.text(_title(scenario, seconds)))
    return len(paths)


def _paths(poses: dict[str, Any], column: str) -> dict[str, np.ndarray[Any, Any]]:
    """Where each one was, in the order of time."""
    names, whose = np.unique(poses[column], return_inverse=True)
    order = np.argsort(whose, kind="stable")
    xy = np.stack((poses["x_m"], poses["y_m"]), axis=1)[order]
    parts = np.split(xy, np.cumsum(np.bincount(whose))[:-1])
    return dict(zip(names.tolist(), parts, strict=True))


def _title(scenario: Scenario, seconds: float) -> str:
    return f"{scenario.name} over {scenario.network.model}: paths of {seconds:g} s, seed {scenario.seed}"


def _delivered_shares(packets: dict[str, Any] | None) -> dict[str, float]:
    """What share of its unicast packets each sender got through."""
    if packets is None:
        return {}
    arrived = packets["fate"] == "delivered"
    return {name: float(arrived[packets["source"] == name].mean()) for name in np.unique(packets["source"]).tolist()}


def _colour(share: float | None) -> str:
    return UNKNOWN if share is None else SCALE[min(int(share * len(SCALE)), len(SCALE) - 1)]


class _Sheet:
    """Metres to pixels, and the elements drawn so far."""

    def __init__(self, arena: Arena, xy: np.ndarray[Any, Any]) -> None:
        low = np.minimum(arena.low_m, xy.min(axis=0))
        high = np.maximum(arena.high_m, xy.max(axis=0))
        self._low, self._high = low, high
        self._scale = (WIDTH - 2 * MARGIN) / max(float(high[0] - low[0]), 1e-9)
        self.height = float(high[1] - low[1]) * self._scale + 2 * MARGIN + FOOTER
        self._parts: list[str] = []

    def _at(self, point: Any) -> tuple[float, float]:
        x = MARGIN + (float(point[0]) - self._low[0]) * self._scale
        return x, MARGIN + (self._high[1] - float(point[1])) * self._scale

    def add_arena(self, arena: Arena) -> None:
        (left, bottom), (right, top) = self._at(arena.low_m), self._at(arena.high_m)
        dashes = "" if arena.walls else ' stroke-dasharray="6 6"'
        self._parts.append(
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{bottom - top:.1f}" '
            f'fill="#fcfcfa" stroke="#333" stroke-width="2"{dashes}/>'
        )
        for obstacle in arena.obstacles:
            if obstacle.circle is not None:
                x, y = self._at(obstacle.circle.center_m)
                radius = obstacle.circle.radius_m * self._scale
                self._parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="#c9c9c4"/>')
            elif obstacle.box is not None:
                x, y = self._at(obstacle.box.center_m)
                width, height = (size * self._scale for size in obstacle.box.size_m)
                self._parts.append(
                    f'<rect x="{x - width / 2:.1f}" y="{y - height / 2:.1f}" width="{width:.1f}" height="{height:.1f}" '
                    f'fill="#c9c9c4" transform="rotate({-obstacle.box.angle_deg:g} {x:.1f} {y:.1f})"/>'
                )
            elif obstacle.polygon is not None:
                corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(self._at, obstacle.polygon.corners_m))
                self._parts.append(f'<polygon points="{corners}" fill="#c9c9c4"/>')

    def add_walls(self, walls: dict[str, Any]) -> None:
        """The boxes that a floor plan became."""
        for x, y, width, height in zip(*(walls[key] for key in ("x_m", "y_m", "width_m", "height_m")), strict=True):
            left, top = self._at((x - width / 2, y + height / 2))
            self._parts.append(
                f'<rect x="{left:.1f}" y="{top:.1f}" width="{width * self._scale + 0.2:.1f}" '
                f'height="{height * self._scale + 0.2:.1f}" fill="#8f8f8a"/>'
            )

    def add_thing(self, point: Any, name: str) -> None:
        """Where something that can be moved was at the end."""
        x, y = self._at(point)
        self._parts.append(
            f'<path d="M{x - 4:.1f} {y:.1f}l4 -4l4 4l-4 4z" fill="#6a51a3"><title>{escape(name)}</title></path>'
        )

    def add_path(self, points: Any, last: Any, colour: str, name: str) -> None:
        corners = _corners([self._at(point) for point in points])
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
        x, y = self._at(last)
        self._parts.append(
            f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.6" opacity="0.75"/>'
        )
        self._parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{colour}"><title>{escape(name)}</title></circle>'
        )

    def add_station(self, point: Any, name: str) -> None:
        x, y = self._at(point)
        self._parts.append(f'<rect x="{x - 6:.1f}" y="{y - 6:.1f}" width="12" height="12" fill="#222"/>')
        self._parts.append(f'<text x="{x + 11:.1f}" y="{y + 5:.1f}" font-weight="bold">{escape(name)}</text>')

    def text(self, title: str) -> str:
        """The whole picture, with its legend and a bar of round length below it."""
        base = self.height - FOOTER + 18
        parts = [f'<text x="{MARGIN}" y="{base + 6:.0f}">{escape(title)}</text>']
        bar_m = 10.0 ** math.floor(math.log10(max(float(self._high[0] - self._low[0]) / 4, 1e-9)))
        bar = bar_m * self._scale
        parts.append(f'<path d="M{MARGIN} {base + 24:.0f}h{bar:.1f}" stroke="#222" stroke-width="3"/>')
        parts.append(f'<text x="{MARGIN + bar + 8:.0f}" y="{base + 29:.0f}">{bar_m:g} m</text>')
        left = WIDTH - MARGIN - SWATCH * len(SCALE)
        parts.append(f'<text x="{left - 8:.0f}" y="{base + 6:.0f}" text-anchor="end">delivered</text>')
        for index, colour in enumerate(SCALE):
            x = left + SWATCH * index
            parts.append(f'<rect x="{x:.0f}" y="{base - 7:.0f}" width="{SWATCH}" height="14" fill="{colour}"/>')
            share = f"{100 * index // len(SCALE)}–{100 * (index + 1) // len(SCALE)} %"
            parts.append(
                f'<text x="{x + SWATCH / 2:.0f}" y="{base + 24:.0f}" text-anchor="middle" font-size="9">{share}</text>'
            )
        parts.append(
            f'<text x="{WIDTH - MARGIN:.0f}" y="{base + 38:.0f}" text-anchor="end" font-size="9">'
            "dots: last positions; grey: sent no unicast packets; diamonds: objects</text>"
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:.0f} {self.height:.0f}" '
            f'font-family="sans-serif" font-size="13" fill="#222">\n<rect width="100%" height="100%" fill="#fff"/>\n'
            + "\n".join(self._parts + parts)
            + "\n</svg>\n"
        )


def _corners(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points of a line at which it bends; those between them, to a tenth of a pixel, add nothing."""
    kept = points[:1]
    for point, following in itertools.pairwise(points[1:]):
        dx, dy = following[0] - kept[-1][0], following[1] - kept[-1][1]
        off = abs(dx * (point[1] - kept[-1][1]) - dy * (point[0] - kept[-1][0]))
        if off > 0.1 * math.hypot(dx, dy):
            kept.append(point)
    return [*kept, points[-1]]
