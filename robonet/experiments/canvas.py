"""What all figures share: the look, panels, legends, and files; matplotlib without any global state."""

import itertools
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from robonet.errors import UserError
from robonet.experiments.findings import Findings
from robonet.experiments.results import RUNS, Results
from robonet.experiments.wording import subject
from robonet.record.folder import SCENARIO

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#333333")
"""Okabe and Ito's: told apart by all kinds of eyes; markers and dashes tell them apart once more."""
MARKERS = "osD^vPX"
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))
WIDTH_IN, WIDE_IN = 7.6, 9.5
MOST_PANELS = 6
MOST_LINES = 14
LONGEST_TITLE = 26
STYLE = {
    "font.size": 9.5, "axes.titlesize": 10, "axes.titlelocation": "left", "axes.spines.top": False,
    "axes.spines.right": False, "axes.grid": True, "axes.grid.axis": "y", "grid.color": "#e4e4e0",
    "axes.axisbelow": True,
    "axes.edgecolor": "#777777", "xtick.color": "#444444", "ytick.color": "#444444", "text.color": "#222222",
    "legend.frameon": False, "figure.facecolor": "white", "svg.hashsalt": "robonet", "svg.fonttype": "path",
    "figure.titlesize": 11, "figure.titleweight": "bold",
}  # fmt: skip


class Plot(NamedTuple):
    """A figure with what it is called."""

    name: str
    """For files."""
    title: str
    caption: str
    """How to read it."""
    figure: Any


class Group(NamedTuple):
    """One value of the compared axis as it is drawn."""

    value: Any
    label: str
    colour: str
    marker: str
    dashes: Any
    width: float
    """Thinner from one to the next: lines that lie on each other are all seen."""


def matplotlib() -> Any:
    """The module, if it is there."""
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise UserError("figures need Matplotlib: pip install 'robonet[study]'") from error
    return mpl


@contextmanager
def style() -> Iterator[None]:
    """The look of all figures, for as long as one is drawn or saved."""
    with matplotlib().rc_context(STYLE):
        yield


def new_figure(title: str, size: tuple[float, float]) -> Any:
    """An empty one with its title; the size is in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(title, x=0.01, ha="left")
    return figure


def save(plot: Plot, folder: Path) -> tuple[Path, Path]:
    """Write a figure as SVG and PNG; the same study always makes the same files."""
    paths = folder / f"{plot.name}.svg", folder / f"{plot.name}.png"
    with style():
        plot.figure.draw_without_rendering()
        plot.figure.set_layout_engine("none")  # places are found once, not once a file
        plot.figure.savefig(paths[0], metadata={"Date": None})
        plot.figure.savefig(paths[1], dpi=150)
    return paths


def groups_of(found: Findings) -> list[Group]:
    """The compared values, each with its look."""
    values = found.axes[found.axis][:MOST_LINES] if found.axis is not None else [None]
    return [
        Group(
            value,
            "all runs" if found.axis is None else subject(found.axis, value),
            PALETTE[i % len(PALETTE)],
            MARKERS[i % len(MARKERS)],
            DASHES[i % len(DASHES)],
            max(3.0 - 0.7 * i, 1.5),
        )
        for i, value in enumerate(values)
    ]


def panels_of(axes: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Every combination of the axes that have no place inside a panel."""
    combined = [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]
    return combined[:MOST_PANELS]


def left_out(axes: dict[str, list[Any]]) -> str:
    """What a caption has to say if there are more combinations than panels."""
    total = math.prod(len(values) for values in axes.values())
    return f" The first {MOST_PANELS} of {total} combinations are shown." if total > MOST_PANELS else ""


def words(at: dict[str, Any]) -> str:
    """A place on the axes."""
    return ", ".join(f"{axis} = {value}" for axis, value in at.items())


def name_panel(panel: Any, at: dict[str, Any]) -> None:
    """Write above it where it is, an axis a line if it would not fit into one."""
    told = words(at)
    is_long = len(told) > LONGEST_TITLE and len(at) > 1
    panel.set_title(told.replace(", ", "\n") if is_long else told, fontsize=9)


def grid_of_panels(title: str, panels: Sequence[Any], height_in: float = 3.6) -> tuple[Any, list[Any]]:
    """A figure with one set of axes a panel, all with the same limits."""
    columns = min(len(panels), 3 if len(panels) > 4 or len(panels) == 3 else 2)
    rows = math.ceil(len(panels) / columns)
    size = (WIDTH_IN, height_in if len(panels) == 1 else 0.6 + 2.6 * rows)
    figure = new_figure(title, size)
    axes = list(figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).flat)
    for spare in axes[len(panels) :]:
        spare.set_visible(False)
    return figure, axes[: len(panels)]


def label_axes(figure: Any, axes: Sequence[Any], x: str, y: str) -> None:
    """Name the axes once: below the lowest panel of every column, and left of all."""
    for panel in axes:
        spec = panel.get_subplotspec()
        if spec.rowspan.stop == spec.get_gridspec().nrows or len(axes) <= axes.index(panel) + spec.get_gridspec().ncols:
            panel.set_xlabel(x)
            panel.tick_params(labelbottom=True)
    figure.supylabel(y, fontsize=9.5)


def add_legend(figure: Any, axes: Sequence[Any], groups: Sequence[Group]) -> None:
    """One for all panels, below them; a single group needs none."""
    if len(groups) < 2:
        return
    handles, labels = axes[0].get_legend_handles_labels()
    shown = dict(zip(labels, handles, strict=True))
    for other in axes[1:]:
        shown |= {label: handle for handle, label in zip(*other.get_legend_handles_labels(), strict=True)}
    longest = max(map(len, shown), default=1)
    columns = max(1, min(len(shown), int(95 / (longest + 7))))
    figure.legend(shown.values(), shown, loc="outside lower center", ncols=columns, handlelength=2.6)


def runs_at(results: Results, at: dict[str, Any]) -> list[Path]:
    """Folders of the finished runs at a point that are still there, in the order of seeds."""
    rows = [row for row in results.table.to_pylist() if row["status"] == "finished"]
    rows = [row for row in rows if all(row[axis] == value for axis, value in at.items())]
    folders = (results.folder / RUNS / row["run"] for row in sorted(rows, key=lambda row: row["seed"]))
    return [folder for folder in folders if (folder / SCENARIO).is_file()]
