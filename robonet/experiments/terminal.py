"""What a study found, in the terminal."""

from typing import Any

from robonet.experiments.findings import Findings
from robonet.experiments.wording import Verdict, number, with_unit

COLOURS = {Verdict.DIFFERS: "cyan", Verdict.CONSTANT: "cyan", Verdict.UNCERTAIN: "yellow"}
MARKS = {Verdict.DIFFERS: "●", Verdict.CONSTANT: "●", Verdict.UNCERTAIN: "◐"}


def panel(found: Findings) -> Any:
    """A table for each metric, then every comparison in words; something that rich prints."""
    from rich.console import Group
    from rich.markup import escape
    from rich.panel import Panel
    from rich.text import Text

    words: list[Any] = []
    for one in found.differences:
        mark = MARKS.get(one.verdict, "○")
        line = Text.from_markup(f"[{COLOURS.get(one.verdict, 'dim')}]{mark}[/] {escape(one.sentence)}")
        words.append(line)
    if found.tests:
        words.append(
            Text(
                f"Paired t-tests on common seeds, {found.tests} in all, p corrected for that many (Holm); "
                "intervals are of each difference alone.",
                style="dim",
            )
        )
    words += [Text.from_markup(f"[yellow]note[/] {escape(note)}") for note in found.notes]
    told = Panel(Group(*words), title=f"[bold]{escape(found.study)}[/]", title_align="left") if words else Text("")
    return Group(*(_table(found, metric) for metric in found.metrics), told)


def _table(found: Findings, metric: str) -> Any:
    from rich.markup import escape
    from rich.table import Table

    levels = [level for level in found.levels if level.metric == metric]
    axes = [axis for axis in (*found.other_axes, found.axis) if axis is not None]
    levels.sort(key=lambda level: [found.axes[axis].index(level.at[axis]) for axis in axes])
    scale, label = with_unit(metric, max(abs(level.mean or 0.0) for level in levels))
    table = Table(title=f"[bold]{escape(metric)}[/]: {escape(label)}", title_justify="left")
    for axis in axes:
        table.add_column(escape(axis), style="bold")
    for head in ("n", "mean", "95 % CI", "median", "std", "min", "max"):
        table.add_column(head, justify="right")

    def told(value: float | None) -> str:
        return number(None if value is None else value * scale, 4)

    for level in levels:
        interval = "–" if level.low is None else f"{told(level.low)} to {told(level.high)}"
        figures = (told(value) for value in (level.median, level.std, level.least, level.most))
        places = (escape(str(level.at[axis])) for axis in axes)
        table.add_row(*places, str(level.n), told(level.mean), interval, *figures)
    return table
