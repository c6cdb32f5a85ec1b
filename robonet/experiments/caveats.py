"""What a reader of a study should know before believing it."""

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from robonet.experiments.results import RUNS, Results
from robonet.experiments.wording import subject
from robonet.plugins import closest
from robonet.record.folder import RunFolder

if TYPE_CHECKING:
    from robonet.experiments.findings import Findings

SUMMARIES_READ = 50
"""So many are looked into for metrics that are there when a study's are not."""


def no_run_has(metric: str, results: Results, finished: list[dict[str, Any]]) -> str:
    """A metric without a single value: was it misspelt, or never measured?"""
    there: dict[str, bool] = {}
    for row in finished[:SUMMARIES_READ]:
        summary = RunFolder(results.folder / RUNS / row["run"]).read_summary()
        for path, has_value in _paths(summary or {}):
            there[path] = there.get(path, False) or has_value
    if metric in there:
        return f"no run has a value of '{metric}': every summary says null, e.g. because nothing arrived"
    known = [path for path, has_value in there.items() if has_value]
    said = f"; they have {', '.join(known)}" if known else ""
    return f"no run has '{metric}'{closest(metric, known)}{said}"


def _paths(data: dict[str, Any], before: str = "") -> Iterable[tuple[str, bool]]:
    for key, value in data.items():
        if isinstance(value, dict):
            yield from _paths(value, f"{before}{key}.")
        elif value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
            yield f"{before}{key}", value is not None


def caveats(found: "Findings") -> Iterable[str]:
    """What failed, is missing or mixed, and what that means."""
    if found.failures:
        where = Counter(_where(failure.at) for failure in found.failures)
        told = ", ".join(f"{count} at {name}" if name else str(count) for name, count in where.items())
        yield (
            f"{len(found.failures)} of {found.finished + len(found.failures)} runs failed and are left out ({told}): "
            "if they failed for a reason that matters to a metric, what is said of it is too good or too bad"
        )
    absent = found.planned - found.finished - len(found.failures)
    if absent > 0:
        yield f"{absent} of {found.planned} planned runs are not there yet: `robonet sweep` goes on where it was"
    if len(found.versions) > 1:
        told = " and ".join(f"{version} ({count} runs)" for version, count in found.versions.items())
        yield f"the runs were made by different versions of robonet, {told}: a difference may be one of versions"
    for metric in found.metrics:
        empty = [level for level in found.levels if level.metric == metric and level.without]
        if empty:
            told = ", ".join(f"{level.without} at {_where(level.at)}" if level.at else "some" for level in empty)
            yield (
                f"{sum(level.without for level in empty)} finished runs have no value of {metric} ({told}): what is "
                "said of it holds for the others only"
            )
    if found.axis is None:
        yield "the study has no axis: there is nothing to compare"
    elif not found.differences:
        yield f"the axis {found.axis} has a single value: there is nothing to compare"
    if len(found.seeds) == 1:
        yield "one seed says nothing about chance: give the study five seeds or more"


def _where(at: dict[str, Any]) -> str:
    return ", ".join(subject(axis, value) for axis, value in at.items())
