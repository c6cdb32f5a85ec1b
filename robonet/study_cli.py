"""The commands for studies: sweep, results, report, and comparing a study that has run."""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from robonet.errors import EXIT_DONE, EXIT_SIMULATOR, UserError

Adds = Callable[[str, Any, str], argparse.ArgumentParser]


def add_study_commands(command: Adds) -> None:
    """Make them known."""
    sweep = command("sweep", _sweep, "run a study: a scenario along axes, with seeds; goes on where it was")
    sweep.add_argument("study", type=Path, metavar="study.yaml")
    sweep.add_argument("--out", type=Path, metavar="DIR", help="folder of the study (default: studies/NAME)")
    sweep.add_argument("--jobs", type=int, metavar="N", help="runs at a time (default: as many as there are cores)")
    sweep.add_argument("--dask", metavar="ADDRESS", help="send the runs to a Dask scheduler, e.g. tcp://host:8786")
    sweep.add_argument("--quick", action="store_true", help="the smaller study that the file has for a first look")
    sweep.add_argument("--yes", action="store_true", help="do not ask, however large the study is")
    sweep.add_argument("--mix-versions", action="store_true", help="keep runs that another version of robonet made")
    sweep.add_argument("--json", action="store_true", help="print one JSON object")

    results = command("results", _results, "the results of a study as a table, or ask them in SQL")
    results.add_argument("folder", type=Path, metavar="DIR")
    results.add_argument("--sql", metavar="QUERY", help="over `results` and the runs' tables (`packets`, `poses`, ...)")
    results.add_argument("--csv", action="store_true", help="as comma-separated values")

    report = command("report", _report, "one HTML page with the findings, tables and figures of a study")
    report.add_argument("folder", type=Path, metavar="DIR")
    report.add_argument("--out", type=Path, metavar="FILE", help="default: report.html in the study's folder")
    report.add_argument("--bootstrap", action="store_true", help="intervals by bootstrap instead of Student's t")

    reproduce = command("reproduce", _reproduce, "run the studies of a paper again and set the results beside it")
    reproduce.add_argument("paper", metavar="PAPER", help="robonetsim")
    reproduce.add_argument("--part", metavar="NAME", help="one figure or table (default: all); `list` names them")
    reproduce.add_argument("--quick", action="store_true", help="smaller studies: minutes instead of hours")
    reproduce.add_argument("--out", type=Path, metavar="DIR", help="folder for the studies (default: studies/PAPER)")
    reproduce.add_argument("--jobs", type=int, metavar="N", help="runs at a time (default: as many as there are cores)")


def is_study(path: Path | None) -> bool:
    """Whether a path is the folder of a study that has run."""
    from robonet.experiments.results import STUDY

    return path is not None and (path / STUDY).is_file()


def compare_study(folder: Path, *, as_json: bool, bootstrap: bool) -> int:
    """Tell how the values of a study's compared axis differ."""
    from rich.console import Console

    from robonet.experiments.findings import findings, findings_panel
    from robonet.experiments.results import read_results

    found = findings(read_results(folder), "bootstrap" if bootstrap else "t")
    if as_json:
        print(json.dumps(found.as_json()))  # noqa: T201
    else:
        Console().print(findings_panel(found))
    return EXIT_DONE


def _sweep(options: argparse.Namespace) -> int:
    from robonet.experiments.study import make_plan
    from robonet.experiments.sweep import default_jobs, open_folder, sweep

    if options.jobs is not None and options.jobs < 1:
        raise UserError("--jobs must be at least 1")
    plan = make_plan(options.study, quick=options.quick)
    name = f"{plan.study.name}-quick" if options.quick else plan.study.name
    folder = options.out or Path("studies") / name
    if plan.is_large and not options.yes:
        _confirm(f"{len(plan.runs):,} runs, {plan.simulated_s / 3600:,.0f} simulated hours")
    missing = open_folder(plan, folder, mix_versions=options.mix_versions)
    scheduler = options.dask or plan.study.dask
    with _progress(plan.study.name, len(plan.runs)) as report:
        if scheduler is not None:
            from robonet.experiments.remote import sweep_with_dask

            outcome = sweep_with_dask(plan, folder, missing, scheduler, report)
        else:
            outcome = sweep(plan, folder, missing, options.jobs or default_jobs(), report)
    if options.json:
        print(json.dumps({**outcome._asdict(), "folder": str(folder)}))  # noqa: T201
    else:
        kept = f", {outcome.kept} were there already" if outcome.kept else ""
        print(f"{outcome.ran} of {outcome.total} runs made{kept}; results in {folder}")  # noqa: T201
    for run, error in outcome.failed:
        print(f"failed twice: {run}: {error} (see {folder / 'runs' / run / 'logs'})", file=sys.stderr)  # noqa: T201
    return EXIT_SIMULATOR if outcome.failed else EXIT_DONE


def _confirm(what: str) -> None:
    if not sys.stdin.isatty():
        raise UserError(f"this study has {what}: say --yes if that is meant")
    if input(f"This study has {what}. Go on? [y/N] ").strip().lower() not in ("y", "yes"):
        raise UserError("not started")


@contextmanager
def _progress(name: str, total: int) -> Iterator[Callable[[Any], None]]:
    """A bar with what is done, running and failed, and the time left; plain lines where there is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda progress: None if "started" in progress.last else console.print(_line(progress), highlight=False)
        return
    columns = (
        TextColumn("[bold]{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        TextColumn("{task.fields[said]}"),
    )  # fmt: skip
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(name, total=total, said="")

        def report(progress: Any) -> None:
            left = "" if progress.left_s is None else f", {_span(progress.left_s)} left"
            failed = f", [red]{progress.failed} failed[/]" if progress.failed else ""
            said = f"{progress.running} running{failed}{left}"
            bar.update(task, completed=progress.done + progress.failed, said=said)

        yield report


def _line(progress: Any) -> str:
    left = "" if progress.left_s is None else f", {_span(progress.left_s)} left"
    return f"{progress.done + progress.failed}/{progress.total}{left}: {progress.last}"


def _span(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def _results(options: argparse.Namespace) -> int:
    from robonet.experiments.results import query, read_results

    if options.sql is not None:
        found = query(options.folder, options.sql)
        table = found.to_arrow_table() if hasattr(found, "to_arrow_table") else found.arrow()
    else:
        table = read_results(options.folder).table
    if options.csv:
        from pyarrow import csv

        csv.write_csv(table, sys.stdout.buffer)
        return EXIT_DONE
    from rich.console import Console
    from rich.table import Table

    shown = Table(*table.column_names)
    for row in table.to_pylist():
        shown.add_row(*("" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
                        for value in row.values()))  # fmt: skip
    Console().print(shown)
    return EXIT_DONE


def _report(options: argparse.Namespace) -> int:
    from robonet.experiments.report import write_report

    written = write_report(options.folder, options.out, "bootstrap" if options.bootstrap else "t")
    print(f"wrote {written}")  # noqa: T201
    return EXIT_DONE


def _reproduce(options: argparse.Namespace) -> int:
    from rich.console import Console

    from robonet.experiments.findings import findings, findings_panel
    from robonet.experiments.report import write_report
    from robonet.experiments.reproduce import parts_of
    from robonet.experiments.results import read_results
    from robonet.experiments.study import make_plan
    from robonet.experiments.sweep import default_jobs, open_folder, sweep

    parts = parts_of(options.paper)
    if options.part == "list":
        for name, part in parts.items():
            print(f"{name}: {part.asks}")  # noqa: T201
        return EXIT_DONE
    if options.part is not None and options.part not in parts:
        raise UserError(f"{options.paper} has no part '{options.part}'; parts: {', '.join(parts)}")
    console = Console()
    failed = 0
    for name in [options.part] if options.part else list(parts):
        part = parts[name]
        plan = make_plan(part.study, quick=options.quick)
        folder = (options.out or Path("studies") / options.paper) / (f"{name}-quick" if options.quick else name)
        missing = open_folder(plan, folder)
        with _progress(f"{options.paper} {name}", len(plan.runs)) as report:
            outcome = sweep(plan, folder, missing, options.jobs or default_jobs(), report)
        failed += len(outcome.failed)
        console.rule(f"{name}: {part.asks}")
        console.print(f"the paper: {part.says}", highlight=False)
        console.print(findings_panel(findings(read_results(folder))))
        console.print(f"report: {write_report(folder)}", highlight=False)
    return EXIT_SIMULATOR if failed else EXIT_DONE
