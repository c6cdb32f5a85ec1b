"""Figures of a study: one function a figure."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from robonet.experiments.canvas import (
    PALETTE,
    Group,
    Plot,
    add_legend,
    grid_of_panels,
    groups_of,
    label_axes,
    left_out,
    name_panel,
    panels_of,
    runs_at,
    style,
)
from robonet.experiments.findings import Findings, Level
from robonet.experiments.maps import delivery_map, network_graph
from robonet.experiments.results import Results
from robonet.experiments.traces import delays
from robonet.experiments.wording import capital, label_of, number, scale_of, with_unit

CURVE_POINTS = 400
LONGEST_NAME = 18


def study_figures(results: Results, found: Findings) -> Iterator[Plot]:
    """All figures that this study has data for."""
    across = _numeric_axis(found)
    for metric in found.metrics:
        if across is not None:
            yield curves(found, metric, across)
        else:
            yield boxes(found, metric)
    for metric in found.metrics:
        if _varies(found, metric):
            yield metric_cdf(found, metric)
    makers: tuple[Callable[[Results, Findings], Plot | None], ...] = (delay_cdf, delivery_map, network_graph)
    for make in makers:
        plot = make(results, found)
        if plot is not None:
            yield plot


def _numeric_axis(found: Findings) -> str | None:
    """The axis to draw curves along: one of numbers, not the compared one if there is another."""
    numeric = [
        axis
        for axis, values in found.axes.items()
        if len(values) > 1 and all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values)
    ]
    others = [axis for axis in numeric if axis != found.axis]
    return next(iter(others or numeric), None)


def _varies(found: Findings, metric: str) -> bool:
    """Whether there is a distribution over runs to show."""
    return any(level.n >= 3 and level.std for level in found.levels if level.metric == metric)


def _largest(levels: Sequence[Level]) -> float:
    return max((abs(bound) for level in levels for bound in (level.most, level.least) if bound is not None), default=0)


def _of(found: Findings, metric: str) -> list[Level]:
    return [level for level in found.levels if level.metric == metric]


def curves(found: Findings, metric: str, across: str) -> Plot:
    """A metric along an axis of numbers, a line with its confidence band for each compared value."""
    others = {axis: values for axis, values in found.other_axes.items() if axis != across}
    groups = groups_of(found) if across != found.axis else [Group(None, "", PALETTE[0], "o", "-", 2.0)]
    scale, label = with_unit(metric, _largest(_of(found, metric)))
    title = f"{capital(label_of(metric))} by {across}"
    with style():
        panels = panels_of(others)
        figure, axes = grid_of_panels(title, panels)
        for panel, at in zip(axes, panels, strict=True):
            for group in groups:
                fixed = at if group.value is None or found.axis is None else at | {found.axis: group.value}
                _curve(panel, found, metric, across, fixed, group, scale)
            if len(panels) > 1:
                name_panel(panel, at)
            xs = found.axes[across]
            if len(xs) <= 8 and min(np.diff(sorted(xs))) > 0.04 * (max(xs) - min(xs)):
                panel.set_xticks(xs, [number(x) for x in xs])
        _keep_from_zoom(axes)
        label_axes(figure, axes, across, label)
        add_legend(figure, axes, groups)
    caption = f"Means over seeds; bands are 95 % confidence intervals ({_method(found)})." + left_out(others)
    return Plot(f"curve-{_stem(metric)}", title, caption, figure)


def _curve(
    panel: Any, found: Findings, metric: str, across: str, fixed: dict[str, Any], group: Group, scale: float
) -> None:
    levels = [
        found.level(metric, {a: (fixed | {across: x})[a] for a in found.axes}) for x in sorted(found.axes[across])
    ]
    there = [level for level in levels if level is not None and level.mean is not None]
    if not there:
        return
    x = [level.at[across] for level in there]
    panel.plot(
        x, [(level.mean or 0.0) * scale for level in there],
        color=group.colour, marker=group.marker, linestyle=group.dashes, linewidth=group.width,
        markersize=3 + 1.8 * group.width, label=group.label,
    )  # fmt: skip
    low = [math.nan if level.low is None else level.low * scale for level in there]
    high = [math.nan if level.high is None else level.high * scale for level in there]
    panel.fill_between(x, low, high, color=group.colour, alpha=0.16, linewidth=0)


def _keep_from_zoom(axes: Sequence[Any]) -> None:
    """A flat line must not look like a mountain: an axis spans at least a hundredth of what it shows."""
    low, high = axes[0].get_ylim()
    middle = (low + high) / 2
    if high - low < 0.01 * abs(middle):
        axes[0].set_ylim(middle - 0.005 * abs(middle), middle + 0.005 * abs(middle))


def _method(found: Findings) -> str:
    return "Student's t" if found.method == "t" else "bootstrap, BCa"


def boxes(found: Findings, metric: str) -> Plot:
    """A box for each compared value, with every run as a dot."""
    groups = groups_of(found)
    scale, label = with_unit(metric, _largest(_of(found, metric)))
    title = capital(label_of(metric)) + (f" by {found.axis}" if found.axis is not None else " of all runs")
    with style():
        panels = panels_of(found.other_axes)
        figure, axes = grid_of_panels(title, panels)
        for panel, at in zip(axes, panels, strict=True):
            for place, group in enumerate(groups):
                fixed = at if found.axis is None else at | {found.axis: group.value}
                level = found.level(metric, {axis: fixed[axis] for axis in found.axes})
                if level is not None and level.n:
                    _box(panel, place, np.array(list(level.by_seed.values())) * scale, group)
            names = [_short(str(group.value)) if found.axis is not None else group.label for group in groups]
            slanted = sum(map(len, names)) > 60 / min(len(panels), 3)
            panel.set_xticks(
                range(len(groups)), names, rotation=30 if slanted else 0, ha="right" if slanted else "center"
            )
            panel.set_xlim(-0.6, len(groups) - 0.4)
            panel.tick_params(axis="x", length=0)
            if len(panels) > 1:
                name_panel(panel, at)
        _keep_from_zoom(axes)
        label_axes(figure, axes, found.axis or "", label)
    caption = (
        "Each dot is a run. Boxes span the middle half of the runs, with the median as a line; whiskers reach to the "
        "last run within 1.5 times the box." + left_out(found.other_axes)
    )
    return Plot(f"box-{_stem(metric)}", title, caption, figure)


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def _box(panel: Any, place: int, values: Any, group: Group) -> None:
    line = {"color": group.colour, "linewidth": 1.3}
    panel.boxplot(
        [values], positions=[place], widths=0.5, showfliers=False, patch_artist=True, manage_ticks=False,
        boxprops={"facecolor": group.colour + "22", "edgecolor": group.colour}, whiskerprops=line, capprops=line,
        medianprops=line | {"linewidth": 2.2},
    )  # fmt: skip
    shifts = (np.arange(len(values)) * 0.381966 % 1 - 0.5) * 0.3  # spread evenly, the same in every report
    panel.scatter(place + shifts, values, s=15, color=group.colour, alpha=0.75, linewidths=0, zorder=3)


def metric_cdf(found: Findings, metric: str) -> Plot:
    """The empirical distribution of a metric over runs."""
    groups = groups_of(found)
    scale, label = with_unit(metric, _largest(_of(found, metric)))
    title = f"Distribution over runs: {label_of(metric)}"
    every = np.array([value for level in _of(found, metric) for value in level.by_seed.values()]) * scale
    margin = 0.04 * float(np.ptp(every))
    limits = (float(every.min()) - margin, float(every.max()) + margin)
    with style():
        panels = panels_of(found.other_axes)
        figure, axes = grid_of_panels(title, panels)
        for panel, at in zip(axes, panels, strict=True):
            for group in groups:
                fixed = at if found.axis is None else at | {found.axis: group.value}
                level = found.level(metric, {axis: fixed[axis] for axis in found.axes})
                if level is not None and level.n:
                    _steps(panel, np.sort(list(level.by_seed.values())) * scale, level.n, group, limits)
            panel.set_xlim(limits)
            panel.set_ylim(0, 1.02)
            if len(panels) > 1:
                name_panel(panel, at)
        label_axes(figure, axes, label, "share of runs with this or less")
        add_legend(figure, axes, groups)
    caption = "Empirical cumulative distribution: each step is a run." + left_out(found.other_axes)
    return Plot(f"cdf-{_stem(metric)}", title, caption, figure)


def _steps(panel: Any, ordered: Any, total: int, group: Group, limits: tuple[float, float]) -> None:
    """Steps up at every value, from the left edge of the panel to its right edge."""
    share = np.arange(1, len(ordered) + 1) / total
    if len(ordered) > CURVE_POINTS:
        kept = np.unique(np.linspace(0, len(ordered) - 1, CURVE_POINTS).astype(int))
        ordered, share = ordered[kept], share[kept]
    before = share[ordered <= limits[0]][-1:] if np.any(ordered <= limits[0]) else [0.0]
    inside = ordered > limits[0]
    x = np.concatenate((limits[:1], ordered[inside], limits[1:]))
    y = np.concatenate((before, share[inside], share[-1:] if len(share) else [0.0]))
    panel.step(x, y, where="post", color=group.colour, linestyle=group.dashes, linewidth=group.width, label=group.label)


def delay_cdf(results: Results, found: Findings) -> Plot | None:
    """What share of all packets sent had arrived after a time, for each compared value."""
    groups, panels = groups_of(found), panels_of(found.other_axes)
    pooled: list[list[tuple[Group, Any, int]]] = []
    for at in panels:
        here = []
        for group in groups:
            fixed = at if found.axis is None else at | {found.axis: group.value}
            parts = [part for run in runs_at(results, fixed) if (part := delays(run)) is not None]
            if parts:
                arrived = np.sort(np.concatenate([part.arrived_s for part in parts]))
                here.append((group, arrived, sum(part.sent for part in parts)))
        pooled.append(here)
    drawn = [entry for here in pooled for entry in here]
    if not drawn:
        return None
    every = np.concatenate([arrived for _, arrived, _ in drawn])
    positive = every[every > 0]
    if not len(positive):
        return None
    title = "Delay of packets: how many had arrived after a time"
    low, high = (float(end) for end in np.quantile(positive, (0.001, 0.999)))
    is_log = high / low > 30
    scale, unit = scale_of("s", high)
    limits = (low / 1.6 * scale, 1.3 * high * scale) if is_log else (-0.03 * high * scale, 1.03 * high * scale)
    with style():
        figure, axes = grid_of_panels(title, panels)
        for panel, at, here in zip(axes, panels, pooled, strict=True):
            for group, arrived, sent in here:
                _steps(panel, arrived * scale, sent, group, limits)
            if is_log:
                panel.set_xscale("log")
                panel.xaxis.set_major_formatter(lambda x, _: number(x))
            panel.set_xlim(limits)
            panel.set_ylim(0, 1.02)
            if len(panels) > 1:
                name_panel(panel, at)
        label_axes(figure, axes, f"delay ({unit})", "share of packets sent")
        add_legend(figure, axes, groups)
    caption = (
        "Packets of all seeds together, end to end. A curve that stays below 1 shows how many never arrived"
        + ("; one that begins above 0 had packets without any delay." if is_log else ".")
        + left_out(found.other_axes)
    )
    return Plot("cdf-packet-delay", title, caption, figure)


def _stem(metric: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in metric)
