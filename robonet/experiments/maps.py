"""Pictures of the arena: where packets got through, and who was linked with whom over time."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robonet.experiments.canvas import (
    WIDE_IN,
    WIDTH_IN,
    Group,
    Plot,
    groups_of,
    matplotlib,
    new_figure,
    runs_at,
    style,
    words,
)
from robonet.experiments.findings import Findings
from robonet.experiments.results import Results
from robonet.experiments.traces import Moment, has_hops, moments, row_count, run_scenario_of, sends, walls
from robonet.experiments.wording import number
from robonet.scenario.arena import Arena

MOST_MODELS = 4
"""Rows of pictures of the arena."""
MOMENTS = 5
CELLS = 16
"""Along the longer side of the arena."""
FEWEST_A_CELL = 3
"""With fewer packets a cell says nothing about its share."""
MOST_POSES = 4_000_000
"""So many poses are read for one picture of the arena and one model."""


def _arena_rows(found: Findings) -> tuple[dict[str, Any], list[Group]]:
    """Where pictures of the arena are taken: at the first value of all other axes, for some compared values."""
    return {axis: values[0] for axis, values in found.other_axes.items()}, groups_of(found)[:MOST_MODELS]


def _draw_arena(panel: Any, arena: Arena, boxes: NDArray[np.float64]) -> None:
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Circle, Polygon, Rectangle

    (left, bottom), (right, top) = arena.low_m, arena.high_m
    edge = "-" if arena.walls else (0, (4, 3))
    panel.add_patch(
        Rectangle((left, bottom), right - left, top - bottom, fill=False, edgecolor="#555555", linestyle=edge, zorder=4)
    )
    look: dict[str, Any] = {"facecolor": "#d5d5d0", "edgecolor": "#8a8a85", "linewidth": 0.6, "zorder": 4}
    for obstacle in arena.obstacles:
        if obstacle.circle is not None:
            panel.add_patch(Circle(obstacle.circle.center_m, obstacle.circle.radius_m, **look))
        elif obstacle.box is not None:
            (x, y), (width, height) = obstacle.box.center_m, obstacle.box.size_m
            corner = (x - width / 2, y - height / 2)
            angle = obstacle.box.angle_deg
            panel.add_patch(Rectangle(corner, width, height, angle=angle, rotation_point="center", **look))
        elif obstacle.polygon is not None:
            panel.add_patch(Polygon(obstacle.polygon.corners_m, **look))
    plan = [Rectangle((x, y), width, height) for x, y, width, height in boxes.tolist()]
    panel.add_collection(PatchCollection(plan, facecolor="#8f8f8a", edgecolor="none", zorder=4))
    margin = 0.03 * max(right - left, top - bottom)
    panel.set_xlim(left - margin, right + margin)
    panel.set_ylim(bottom - margin, top + margin)
    panel.set_aspect("equal")
    panel.grid(visible=False)
    for side in panel.spines.values():
        side.set_visible(False)


def _metres(panel: Any, *, x: bool, y: bool) -> None:
    """Ticks in metres at the outer panels only."""
    panel.tick_params(labelsize=8, length=2, labelbottom=x, labelleft=y, bottom=x, left=y)
    panel.locator_params(nbins=5)


def delivery_map(results: Results, found: Findings) -> Plot | None:
    """Where in the arena packets were sent that arrived."""
    fixed, groups = _arena_rows(found)
    maps = []
    for group in groups:
        at = fixed if found.axis is None else fixed | {found.axis: group.value}
        gathered = _shares(runs_at(results, at))
        if gathered is not None:
            maps.append((group, *gathered))
    if not maps:
        return None
    title = "Where packets got through: share delivered by place of the sender"
    with style():
        size_m = maps[0][1].size_m
        columns = 2 if len(maps) == 4 else len(maps)
        rows = math.ceil(len(maps) / columns)
        wide = WIDE_IN if len(maps) > 1 else WIDTH_IN
        tall = size_m[1] / size_m[0] * (wide - 1.6) / columns
        figure = new_figure(title, (wide, 0.7 + rows * (min(tall, 6.5) + 0.3)))
        axes = list(figure.subplots(rows, columns, squeeze=False).flat)
        colours = matplotlib().colormaps["cividis"].with_extremes(bad="#00000000")
        mesh = None
        for index, (panel, (group, arena, boxes, shares)) in enumerate(zip(axes, maps, strict=False)):
            (left, bottom), (right, top) = arena.low_m, arena.high_m
            mesh = panel.imshow(
                np.ma.masked_invalid(shares.T * 100), origin="lower", extent=(left, right, bottom, top), cmap=colours,
                vmin=0, vmax=100, interpolation="nearest", zorder=2,
            )  # fmt: skip
            _draw_arena(panel, arena, boxes)
            _metres(panel, x=index >= len(maps) - columns, y=index % columns == 0)
            panel.set_title(group.label)
        for spare in axes[len(maps) :]:
            spare.set_visible(False)
        bar = figure.colorbar(mesh, ax=axes[: len(maps)], shrink=0.9, aspect=18 * rows, label="delivered (%)")
        bar.outline.set_visible(False)
        bar.ax.tick_params(labelsize=8)
        figure.supxlabel("x (m)", fontsize=9.5)
        figure.supylabel("y (m)", fontsize=9.5)
    where = f" At {words(fixed)}." if fixed else ""
    caption = (
        f"All seeds together.{where} White: fewer than {FEWEST_A_CELL} packets were sent from there; grey: obstacles."
        + _models_left_out(found)
    )
    return Plot("map-delivery", title, caption, figure)


def _models_left_out(found: Findings) -> str:
    total = len(found.axes[found.axis]) if found.axis is not None else 1
    return f" The first {MOST_MODELS} of {total} values are shown." if total > MOST_MODELS else ""


def _shares(runs: Sequence[Path]) -> tuple[Arena, NDArray[np.float64], Any] | None:
    """The arena, its walls, and the share delivered by cell; not a number where too little was sent."""
    arena: Arena | None = None
    read = 0
    for run in runs:
        read += row_count(run, "poses")
        if arena is not None and read > MOST_POSES:
            break
        scenario = run_scenario_of(run)
        part = sends(run, scenario)
        if part is None:
            continue
        if arena is None:
            arena, boxes = scenario.arena, walls(run)
            cell = max(arena.size_m) / CELLS
            bins = [max(1, round(side / cell)) for side in arena.size_m]
            extent = [[low, high] for low, high in zip(arena.low_m, arena.high_m, strict=True)]
            sent, arrived = np.zeros(bins), np.zeros(bins)
        inside = np.clip(part.xy_m, arena.low_m, arena.high_m)
        sent += _counts(inside, bins, extent)
        arrived += _counts(inside[part.has_arrived], bins, extent)
    if arena is None:
        return None
    return arena, boxes, np.where(sent >= FEWEST_A_CELL, arrived / np.maximum(sent, 1), np.nan)


def _counts(xy_m: Any, bins: list[int], extent: list[list[float]]) -> Any:
    return np.histogram2d(xy_m[:, 0], xy_m[:, 1], bins=bins, range=extent)[0]


def network_graph(results: Results, found: Findings) -> Plot | None:
    """Robots where they were, and lines between those that exchanged packets: a row of moments for each value."""
    fixed, groups = _arena_rows(found)
    rows: list[tuple[Group, Arena, NDArray[np.float64], list[Moment], bool]] = []
    for group in groups:
        at = fixed if found.axis is None else fixed | {found.axis: group.value}
        for run in runs_at(results, at)[:1]:
            scenario = run_scenario_of(run)
            seen = moments(run, scenario, MOMENTS)
            if any(moment.links for moment in seen):
                rows.append((group, scenario.arena, walls(run), seen, has_hops(run)))
    if not rows:
        return None
    title = "Who exchanged packets with whom, over time"
    with style():
        size_m = rows[0][1].size_m
        columns = MOMENTS
        tall = min(size_m[1] / size_m[0] * (WIDE_IN - 0.6) / columns, 3.0)
        figure = new_figure(title, (WIDE_IN, 0.6 + len(rows) * (tall + 0.02)))
        axes = figure.subplots(len(rows), columns, squeeze=False)
        for row, (group, arena, boxes, seen, _) in enumerate(rows):
            for column, moment in enumerate(seen):
                panel = axes[row][column]
                _draw_arena(panel, arena, boxes)
                _draw_moment(panel, moment, group.colour, is_named=column == 0)
                _metres(panel, x=False, y=False)
                if row == 0:
                    panel.set_title(f"{number(moment.time_s)} s", fontsize=9)
            axes[row][0].set_ylabel(group.label, fontsize=10, fontweight="bold", color=group.colour)
    window = number(rows[0][3][0].window_s)
    where = f" At {words(fixed)}." if fixed else ""
    end_to_end = [group.label for group, _, _, _, hops in rows if not hops]
    caption = (
        f"The first seed.{where} Dots are robots, squares are stations; a line joins two that exchanged packets within "
        f"{window} s around the moment, the darker the more."
        + (f" Lines are end to end, not hop by hop, for {', '.join(end_to_end)}." if end_to_end else "")
        + _models_left_out(found)
    )
    return Plot("graph-over-time", title, caption, figure)


def _draw_moment(panel: Any, moment: Moment, colour: str, *, is_named: bool) -> None:
    from matplotlib.collections import LineCollection
    from matplotlib.patheffects import withStroke

    halo = [withStroke(linewidth=2.5, foreground="white")]
    if moment.links:
        most = max(moment.links.values())
        shades = [0.25 + 0.65 * count / most for count in moment.links.values()]
        segments = [(moment.xy_m[one], moment.xy_m[other]) for one, other in moment.links]
        is_many = len(segments) > 2000
        panel.add_collection(
            LineCollection(segments, colors=colour, alpha=shades, linewidths=1.0, zorder=5, rasterized=is_many)
        )
    robots = np.array([xy for name, xy in moment.xy_m.items() if name not in moment.stations]).reshape(-1, 2)
    panel.scatter(*robots.T, s=9 if len(robots) < 60 else 3, color="#222222", linewidths=0, zorder=6)
    for name in moment.stations:
        panel.scatter(*moment.xy_m[name], s=26, marker="s", color="#222222", linewidths=0, zorder=7)
        if is_named and len(moment.stations) <= 3:
            panel.annotate(
                name,
                moment.xy_m[name],
                xytext=(5, -4),
                textcoords="offset points",
                fontsize=8,
                zorder=8,
                path_effects=halo,
            )
