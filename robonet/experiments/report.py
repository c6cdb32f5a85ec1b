"""The report of a study: one HTML file that needs nothing else, and its figures beside it."""

import base64
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import Any

import yaml

from robonet.errors import UserError
from robonet.experiments.canvas import Plot, save
from robonet.experiments.figures import study_figures
from robonet.experiments.findings import Difference, Findings, Level, Method, findings
from robonet.experiments.results import RUNS, STUDY, Results, read_results
from robonet.experiments.wording import Verdict, capital, label_of, number, p_words, with_unit
from robonet.record.folder import SCENARIO, RunFolder

REPORT = "report.html"
FIGURES = "figures"
LARGEST_SVG = 300_000
"""A larger figure goes into the report as PNG; what lies beside it is both."""
MOST_FAILURES = 50
SCENARIOS_READ = 60
"""So many points are looked at to see what the study varies."""
STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; color: #222; background: #fff;
  max-width: 62rem; margin: 2.5rem auto 5rem; padding: 0 1.5rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .3rem; }
h2 { font-size: 1.3rem; margin: 2.6rem 0 .7rem; padding-bottom: .25rem; border-bottom: 1px solid #ddd; }
h3 { font-size: 1.02rem; margin: 1.7rem 0 .4rem; }
p { max-width: 48rem; } .lead { font-size: 1.1rem; color: #444; margin-top: 0; }
.small { font-size: .87rem; color: #555; }
ul.findings { padding: 0; list-style: none; max-width: 54rem; }
ul.findings li { padding: .42rem .8rem; margin: .35rem 0; border-left: 4px solid #bbb; background: #f7f7f5; }
ul.findings li.differs { border-color: #0072B2; background: #eef5fa; }
ul.findings li.uncertain { border-color: #E69F00; background: #fdf7ea; }
.notes { border: 1px solid #D55E00; background: #fdf3ec; padding: .3rem 1rem; max-width: 52rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .24rem .9rem .24rem 0; border-bottom: 1px solid #e8e8e4; vertical-align: top; }
th { font-weight: 600; border-bottom: 1px solid #999; } td.n, th.n { text-align: right; }
td.long { overflow-wrap: anywhere; } tr.varied td { background: #eef5fa; }
figure { margin: 1.4rem 0 2.2rem; } figure img { width: 100%; max-width: 56rem; height: auto; display: block; }
figcaption { font-size: .87rem; color: #555; max-width: 52rem; margin-top: .3rem; }
pre { background: #f7f7f5; padding: .8rem 1rem; overflow-x: auto; font-size: .85rem; line-height: 1.4; }
code { font-size: .92em; } summary { cursor: pointer; color: #0072B2; margin: .5rem 0; }
@media print { body { margin: 0; max-width: none; } figure, tr { break-inside: avoid; } }
"""


def write_report(folder: Path, out: Path | None = None, method: Method = "t") -> Path:
    """Write the report of a study and its figures; where the report is."""
    results = read_results(folder)
    found = findings(results, method)
    path = out or folder / REPORT
    if path.is_dir():
        raise UserError(f"{path} is a folder; name a file, e.g. {path / REPORT}")
    try:
        figures = path.parent / FIGURES
        figures.mkdir(parents=True, exist_ok=True)
        pictures = [_picture(plot, *save(plot, figures)) for plot in study_figures(results, found)]
        hidden = path.with_name(f".{path.name}")
        hidden.write_text(_page(results, found, pictures), encoding="utf-8")
        hidden.replace(path)
    except OSError as error:
        raise UserError(f"cannot write the report: {error.filename}: {error.strerror}") from error
    return path


def _page(results: Results, found: Findings, pictures: list[str]) -> str:
    study = results.study
    lead = f'<p class="lead">{escape(study.description)}</p>' if study.description else ""
    parts = [
        f"<h1>{escape(study.name)}</h1>{lead}",
        _overview(found),
        *_notes(found),
        "<h2>Findings</h2>",
        *_findings(found),
        "<h2>Figures</h2>",
        *pictures,
        "<h2>Tables</h2>",
        *(_metric_table(found, metric) for metric in found.metrics),
        *_comparison_table(found),
        *_failures(found),
        "<h2>Scenario</h2>",
        _parameters(results, found),
        "<h2>Versions, seeds and how to reproduce</h2>",
        _reproduce(results, found),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(study.name)}</title><style>{STYLE}</style></head><body>\n"
        + "\n".join(parts)
        + "\n</body></html>\n"
    )


def _overview(found: Findings) -> str:
    rows = []
    for axis, values in found.axes.items():
        role = " (compared)" if axis == found.axis else ""
        rows.append((f"<code>{escape(axis)}</code>{role}", escape(", ".join(map(str, values)))))
    rows.append(("seeds", escape(_span(found.seeds))))
    runs = f"{found.finished} of {found.planned} finished" + (
        f", {len(found.failures)} failed" if found.failures else ""
    )
    rows.append(("runs", runs))
    rows.append(("measured", ", ".join(f"<code>{escape(metric)}</code>" for metric in found.metrics)))
    varied = "What was varied" if found.axes else "Nothing was varied but the seed"
    cells = "".join(f"<tr><td>{name}</td><td>{value}</td></tr>" for name, value in rows)
    return f"<h3>{varied}</h3><table>{cells}</table>"


def _span(seeds: list[int]) -> str:
    is_row = len(seeds) > 2 and seeds == list(range(seeds[0], seeds[-1] + 1))
    return f"{seeds[0]} to {seeds[-1]} ({len(seeds)})" if is_row else ", ".join(map(str, seeds))


def _notes(found: Findings) -> Iterator[str]:
    if found.notes:
        items = "".join(f"<li>{escape(_upper(note))}.</li>" for note in found.notes)
        yield f'<div class="notes"><h3>Read this first</h3><ul>{items}</ul></div>'


def _findings(found: Findings) -> Iterator[str]:
    if not found.differences:
        yield "<p>Nothing was compared.</p>"
        return
    yield (
        f'<p class="small">Each value of <code>{escape(str(found.axis))}</code> against '
        f"<b>{escape(str(found.differences[0].reference))}</b>, on common seeds: paired t-tests, "
        f"{found.tests} in all, with Holm's correction for that many; a difference counts below p = .05. Intervals are "
        f"of each difference alone, by {'Student’s t' if found.method == 't' else 'the bootstrap (BCa)'}; "
        "d_z is the mean difference in standard deviations of the differences. Percentages are relative to the mean "
        "of the reference.</p>"
    )
    by_metric: dict[str, list[Difference]] = {metric: [] for metric in found.metrics}
    for one in found.differences:
        by_metric[one.metric].append(one)
    for metric, all_of_it in by_metric.items():
        yield f"<h3>{escape(capital(label_of(metric)))}: <code>{escape(metric)}</code></h3>"
        told = [one for one in all_of_it if one.verdict in (Verdict.DIFFERS, Verdict.CONSTANT)]
        rest = [one for one in all_of_it if one not in told]
        if told:
            yield _sentences(told)
        if rest and (not told or len(rest) <= 4):
            yield _sentences(rest)
        elif rest:
            more = f"{len(rest)} comparisons without a sure difference"
            yield f"<details><summary>{more}</summary>{_sentences(rest)}</details>"


def _sentences(several: Iterable[Difference]) -> str:
    kind = {Verdict.DIFFERS: "differs", Verdict.CONSTANT: "differs", Verdict.UNCERTAIN: "uncertain"}
    items = (f'<li class="{kind.get(one.verdict, "none")}">{_unbroken(_upper(one.sentence))}.</li>' for one in several)
    return f'<ul class="findings">{"".join(items)}</ul>'


def _unbroken(text: str) -> str:
    """Escaped, with figures kept on one line with their units."""
    return re.sub(r"(?<=[\d=<]) (?=[\d.−%]|[mµ]?s\b|CI\b)", "\N{NO-BREAK SPACE}", escape(text))


def _upper(text: str) -> str:
    """A sentence begins with a capital, unless with a name that has none."""
    return capital(text) if text.startswith(("no ", "not ", "the ", "one ")) else text


def _table(heads: list[tuple[str, bool]], rows: Iterable[list[str]]) -> str:
    """Heads with whether their column holds figures; everything is escaped here."""
    classes = [' class="n"' if is_figure else "" for _, is_figure in heads]
    head = "".join(f"<th{kind}>{escape(name)}</th>" for (name, _), kind in zip(heads, classes, strict=True))
    body = "".join(
        "<tr>" + "".join(f"<td{kind}>{escape(cell)}</td>" for cell, kind in zip(row, classes, strict=True)) + "</tr>"
        for row in rows
    )
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _metric_table(found: Findings, metric: str) -> str:
    levels = [level for level in found.levels if level.metric == metric]
    scale, label = with_unit(metric, largest := max(abs(level.mean or 0.0) for level in levels))
    decimals = max(0, 3 - math.floor(math.log10(largest * scale))) if largest else 0
    axes = [axis for axis in (*found.other_axes, found.axis) if axis is not None]
    heads = [(axis, False) for axis in axes]
    heads += [(name, True) for name in ("n", "mean", "95 % CI", "median", "std", "min", "max")]
    levels.sort(key=lambda level: [found.axes[axis].index(level.at[axis]) for axis in axes])
    rows = (
        [*(str(level.at[axis]) for axis in axes), str(level.n), *_figures(level, scale, decimals)] for level in levels
    )
    return f"<h3>{escape(capital(label))}: <code>{escape(metric)}</code></h3>{_table(heads, rows)}"


def _figures(level: Level, scale: float, decimals: int) -> list[str]:
    def told(value: float | None) -> str:
        return "–" if value is None else f"{value * scale:,.{decimals}f}".replace("-", "−")

    interval = "–" if level.low is None else f"{told(level.low)} to {told(level.high)}"
    return [told(level.mean), interval, *map(told, (level.median, level.std, level.least, level.most))]


def _comparison_table(found: Findings) -> Iterator[str]:
    tested = [one for one in found.differences if one.p is not None]
    if not tested:
        return
    heads = [("metric", False), (f"{found.axis}", False), *((axis, False) for axis in found.other_axes)]
    heads += [(name, True) for name in ("pairs", "difference", "%", "95 % CI, %", "d_z", "t")]
    heads += [(name, True) for name in ("p", "p, Holm", "p, Wilcoxon", "Wilcoxon, Holm")]
    rows = []
    for one in tested:
        scale, unit = with_unit(one.metric, max(abs(one.value_mean or 0.0), abs(one.reference_mean or 0.0)))
        unit = unit.rpartition("(")[2].rstrip(")") if "(" in unit else ""
        interval = "–" if one.percent_low is None else f"{number(one.percent_low)} to {number(one.percent_high)}"
        p_values = (one.p, one.p_corrected, one.p_wilcoxon, one.p_wilcoxon_corrected)
        rows.append([
            one.metric, f"{one.value} − {one.reference}", *map(str, one.at.values()), str(one.pairs),
            f"{number((one.difference or 0.0) * scale)} {unit}".strip(), number(one.percent), interval,
            number(one.effect), number(one.t),
            *(p_words(p or 0.0).removeprefix("p ").removeprefix("= ") for p in p_values),
        ])  # fmt: skip
    yield f"<details><summary>All {len(tested)} tests as a table</summary>{_table(heads, rows)}</details>"


def _failures(found: Findings) -> Iterator[str]:
    if not found.failures:
        return
    rows = [[f.run, str(f.seed), f.error.strip()] for f in found.failures[:MOST_FAILURES]]
    more = len(found.failures) - len(rows)
    yield f"<h2>Failed runs</h2>{_table([('run', False), ('seed', True), ('error', False)], rows)}"
    if more:
        yield f"<p>and {more} more.</p>"


def _picture(plot: Plot, svg: Path, png: Path) -> str:
    kind, path = ("svg+xml", svg) if svg.stat().st_size <= LARGEST_SVG else ("png", png)
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    return (
        f'<figure><img alt="{escape(plot.title)}" src="data:image/{kind};base64,{data}">'
        f"<figcaption>{escape(plot.caption)} <code>{escape(f'{FIGURES}/{svg.name}')}</code></figcaption></figure>"
    )


def _parameters(results: Results, found: Findings) -> str:
    """The scenario as it ran, address by address; what differs between points is marked."""
    points = {row["point"]: row["run"] for row in reversed(results.table.to_pylist()) if row["status"] == "finished"}
    flat = [_flat(results.folder / RUNS / run) for run in list(points.values())[::-1][:SCENARIOS_READ]]
    values: dict[str, list[str]] = {}
    for one in flat:
        for address in one:
            values.setdefault(address, [])
    for address, told in values.items():
        told.extend(dict.fromkeys(one.get(address, "–") for one in flat))
    values.pop("seed", None)
    rows = ""
    for address, told in values.items():
        mark = ' class="varied"' if len(told) > 1 else ""
        cells = f'<td><code>{escape(address)}</code></td><td class="long">{escape(" | ".join(told))}</td>'
        rows += f"<tr{mark}>{cells}</tr>"
    note = "Marked: what differs between points, all values." if found.axes else ""
    changed = "".join(f"<li><code>{escape(a)} = {escape(str(v))}</code></li>" for a, v in results.study.set.items())
    changes = f"<p>In all runs of this study:</p><ul>{changed}</ul>" if changed else ""
    variant = f"<p>Variant: <code>{escape(results.study.variant)}</code></p>" if results.study.variant else ""
    return (
        f"<p><code>{escape(results.study.scenario)}</code>, as resolved for the runs. {note}</p>{variant}{changes}"
        '<div class="scroll"><table><thead><tr><th>address</th><th>value</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _flat(run: Path) -> dict[str, str]:
    """A run's scenario with the addresses that `--set` takes; not readable is not there."""
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        data = yaml.load((run / SCENARIO).read_text(encoding="utf-8"), Loader=loader)  # noqa: S506 a safe one
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return {}
    return dict(_walk(data, ""))


def _walk(data: Any, before: str) -> Iterator[tuple[str, str]]:
    if isinstance(data, dict) and data:
        for key, value in data.items():
            yield from _walk(value, f"{before}.{key}" if before else str(key))
    elif isinstance(data, list) and any(isinstance(item, dict) for item in data):
        for index, item in enumerate(data):
            named = item.get("name") if isinstance(item, dict) else None
            yield from _walk(item, f"{before}.{named or index}")
    else:
        yield before, data if isinstance(data, str) else json.dumps(data, default=str)


def _reproduce(results: Results, found: Findings) -> str:
    versions = _versions(results)
    told = ""
    for name, counts in versions.items():
        each = [f"{version} ({count} runs)" if len(counts) > 1 else version for version, count in counts.items()]
        told += f"<tr><td>{escape(name)}</td><td>{escape(', '.join(each))}</td></tr>"
    try:
        text = (results.folder / STUDY).read_text(encoding="utf-8")
    except OSError:
        text = ""
    commands = (
        f"robonet sweep {STUDY} --out {results.study.name}\nrobonet compare {results.study.name}\n"
        f"robonet report {results.study.name}"
    )
    return (
        f"<p>Seeds: {escape(_span(found.seeds))}. Runs with the same seed draw the same random numbers under "
        "every compared value. Every run is an ordinary run folder under <code>runs/</code> with its own scenario, "
        "summary, log and digest.</p>"
        f"<table><tbody>{told}</tbody></table>"
        f"<p>To make it again, save this as <code>{STUDY}</code> and run</p><pre>{escape(commands)}</pre>"
        f"<details open><summary>{STUDY}</summary><pre>{escape(text)}</pre></details>"
    )


def _versions(results: Results) -> dict[str, Counter[str]]:
    """Of robonet and what it stands on, with how many runs have each."""
    found: dict[str, Counter[str]] = {}
    for row in results.table.to_pylist():
        if row["status"] == "finished":
            summary = RunFolder(results.folder / RUNS / row["run"]).read_summary() or {}
            for name, version in (summary.get("versions") or {"robonet": row["robonet"]}).items():
                found.setdefault(name, Counter())[str(version)] += 1
    return found
