"""What one step of the link costs: robonet beside bare ZeroMQ, HELICS and mosaik, in one interleaved run.

Two local processes exchange one step of a simulation of N robots: everyone's position and the packets that
one robot in twenty sends go to the network; what it delivers comes back before the next step begins. Every
contender does that work from numpy arrays to numpy arrays. Their processes are all started first, then take
turns of some steps each, several times round, so that whatever else the machine does strikes all of them;
start-up and each turn's first steps do not count. A figure is the median over the turns of the median step
of a turn, in microseconds. Each side has its own half of the cores, as two simulators with work to do would
have: left free (--free), two processes that only play ping-pong often end up on one core, and the figures
jump between two levels.
"""

import argparse
import contextlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from link_peers.burn import iterations_per_ms
from link_peers.traffic import message_sizes
from link_peers.turns import Contender, ContenderFailed, Job
from rich.console import Console
from rich.table import Table

EXTRA = "pip install 'robonet[benchmarks]'"
OVERLAPS_MS = ((2.0, 2.0), (1.0, 3.0), (3.0, 1.0))
"""Busy work of the robots' and of the network's part of a step."""
OVERLAP_ROBOTS = 1000
OVERLAP_STEPS = 60


class Form(NamedTuple):
    """A contender and the form in which it does the work."""

    name: str
    module: str
    variant: str
    package: str
    text: str


FORMS = (
    Form(
        "robonet",
        "robonet_peer",
        "",
        "robonet",
        "RobotsSide and NetworkSide over ZeroMQ ipc, as in `robonet run`",
    ),
    Form("zmq", "zmq_peer", "", "zmq", "pyzmq PAIR sockets over ipc, as many bytes each way, nothing else"),
    Form(
        "helics",
        "helics_peer",
        "vector",
        "helics",
        "zmq core, vector publication of positions, raw of packets",
    ),
    Form("helics_bytes", "helics_peer", "bytes", "helics", "the same, positions packed as raw bytes by hand"),
    Form("helics_late", "helics_peer", "late", "helics", "raw bytes, and answers one step later: no round trip"),
    Form("mosaik", "mosaik_peer", "remote", "mosaik", "one entity a side with lists, both simulators remote ('cmd')"),
    Form("mosaik_beside", "mosaik_peer", "beside", "mosaik", "the same, the robots in mosaik's own process"),
)
RATIOS = (("robonet", "zmq"), ("helics", "robonet"), ("mosaik", "robonet"))


def main() -> int:
    """Measure, then print a table or JSON."""
    options = _options()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # clears up as after Ctrl-C
    notes = Console(stderr=True)
    missing = {form.package for form in FORMS if importlib.util.find_spec(form.package) is None}
    if "robonet" in missing:
        notes.print("robonet is not installed: run this in its repository after `pip install -e '.[benchmarks]'`")
        return 2
    if missing:
        notes.print(f"{' and '.join(sorted(missing))} not installed, left out: {EXTRA}", markup=False)
    forms = [form for form in FORMS if form.package not in missing]
    try:
        link = [_measure_link(robots, forms, options, notes) for robots in options.robots]
        overlap = [] if options.no_overlap else _measure_overlap(options, notes)
    except ContenderFailed as error:
        notes.print(f"error: {error}", markup=False)
        return 1
    except KeyboardInterrupt:
        return 130
    result = {
        **(link[0] if len(link) == 1 else {}),  # for scripts that ask for one number of robots
        "link": link,
        "overlap": overlap,
        "forms": {form.name: form.text for form in forms},
        "versions": _versions(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "steps": options.steps,
        "repeats": options.repeats,
        "pinned": not options.free,
    }
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        _print_tables(result)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog=f"HELICS and mosaik come with {EXTRA}; what is not installed is left out. Takes two minutes.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    default = [10, 100, 1000, 10000]
    parser.add_argument(
        "--robots",
        type=_positive,
        nargs="+",
        default=default,
        metavar="N",
        help="numbers of robots (%(default)s)",
    )
    parser.add_argument(
        "--steps",
        type=_positive,
        default=200,
        metavar="N",
        help="steps of a turn; slow contenders get fewer (%(default)s)",
    )
    parser.add_argument(
        "--repeats", type=_positive, default=9, metavar="N", help="turns of each contender (%(default)s)"
    )
    parser.add_argument(
        "--free",
        action="store_true",
        help="let the system place the processes; otherwise each side has its half of the cores",
    )
    parser.add_argument("--no-overlap", action="store_true", help="leave out the test with both sides busy")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    return parser.parse_args()


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


# --- measuring -------------------------------------------------------------------------------------------


def _measure_link(robots: int, forms: list[Form], options: argparse.Namespace, notes: Console) -> dict[str, Any]:
    """All contenders with one number of robots."""
    jobs = {}
    for form in forms:
        steps = min(options.steps, max(8, 20_000 // robots)) if form.package == "mosaik" else options.steps
        jobs[form] = {
            "robots": robots,
            "steps": steps,
            "turns": options.repeats,
            "variant": form.variant,
            "is_pinned": not options.free,
        }
    turns = _take_turns({form.name: (form.module, job) for form, job in jobs.items()}, notes, f"{robots} robots")
    sizes = message_sizes(robots)
    row: dict[str, Any] = {"robots": robots, "step_bytes": sizes.step, "stepped_bytes": sizes.stepped}
    for form in FORMS:
        row[f"{form.name}_us"] = _median(turns.get(form.name))
    for above, below in RATIOS:
        row[f"{above}_over_{below}"] = _ratio(row[f"{above}_us"], row[f"{below}_us"])
    row["quartiles_us"] = {
        name: [round(float(q), 1) for q in np.percentile(medians, (25, 75))]
        for name, medians in turns.items()
        if medians
    }
    return row


def _measure_overlap(options: argparse.Namespace, notes: Console) -> list[dict[str, Any]]:
    """Both sides busy: does a step cost what the slower side costs?"""
    rate = iterations_per_ms()
    rows = []
    for robots_ms, network_ms in OVERLAPS_MS:
        job = {
            "robots": OVERLAP_ROBOTS,
            "steps": min(options.steps, OVERLAP_STEPS),
            "turns": options.repeats,
            "is_pinned": not options.free,
            "robots_burn": round(robots_ms * rate),
            "network_burn": round(network_ms * rate),
        }
        plan = {
            "together": ("robonet_peer", job),
            "alone": ("burn_peer", {**job, "variant": "alone"}),
            "apart": ("burn_peer", {**job, "variant": "apart"}),
        }
        turns = _take_turns(plan, notes, f"overlap of {robots_ms:g} and {network_ms:g} ms")
        wall_us, alone_us, apart_us = (_median(turns[name]) for name in ("together", "alone", "apart"))
        rows.append(
            {
                "robots": OVERLAP_ROBOTS,
                "robots_ms": robots_ms,
                "network_ms": network_ms,
                "step_us": wall_us,
                "larger_alone_us": alone_us,
                "larger_beside_other_us": apart_us,
                "overlap_ratio": _ratio(wall_us, alone_us),
                "machine_ratio": _ratio(apart_us, alone_us),
            }
        )
    return rows


def _take_turns(plan: dict[str, tuple[str, dict[str, Any]]], notes: Console, what: str) -> dict[str, list[float]]:
    """Start all contenders, let them take turns, end them: the median step of each turn, in us."""
    notes.print(what, highlight=False)  # no spinner: it would need a share of the cores that are measured
    with _contenders(plan) as contenders:
        medians: dict[str, list[float]] = {contender.name: [] for contender in contenders}
        turns = next(iter(plan.values()))[1]["turns"]
        for number in range(turns):
            first = number % len(contenders)  # nobody always runs after the same other
            for contender in contenders[first:] + contenders[:first]:
                medians[contender.name].append(float(np.median(contender.take_turn())) / 1000)
    return medians


@contextlib.contextmanager
def _contenders(plan: dict[str, tuple[str, dict[str, Any]]]) -> Iterator[list[Contender]]:
    contenders: list[Contender] = []
    with tempfile.TemporaryDirectory(prefix="robonet-bench-") as folder:
        try:
            for name, (module, job) in plan.items():
                private = Path(folder) / str(len(contenders))
                private.mkdir(mode=0o700)
                contenders.append(Contender(name, module, Job(folder=private, **job)))
                contenders[-1].await_ready()  # before the next one, so that none takes another's free port
            yield contenders
            for contender in contenders:
                contender.end()
        finally:
            for contender in contenders:
                contender.kill()


# --- reporting -------------------------------------------------------------------------------------------


def _median(values: list[float] | None) -> float | None:
    return round(float(np.median(values)), 1) if values else None


def _ratio(above: float | None, below: float | None) -> float | None:
    return round(above / below, 3) if above and below else None


def _versions() -> dict[str, str | None]:
    versions: dict[str, str | None] = {"python": platform.python_version()}
    for package in ("robonet", "numpy", "pyzmq", "msgspec", "helics", "mosaik"):
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = None
    if versions["robonet"] is None:
        versions["robonet"] = importlib.import_module("robonet").__version__
    return versions


def _print_tables(result: dict[str, Any]) -> None:
    console = Console()
    table = Table(title="One step of the link, in microseconds")
    table.add_column("robots")
    for row in result["link"]:
        table.add_column(str(row["robots"]), justify="right")
    for form in FORMS:
        table.add_row(form.name, *(_cell(row[f"{form.name}_us"]) for row in result["link"]))
    table.add_section()
    for above, below in RATIOS:
        ratios = [row[f"{above}_over_{below}"] for row in result["link"]]
        table.add_row(f"{above} / {below}", *("–" if ratio is None else f"{ratio:.2f}" for ratio in ratios))
    table.add_section()
    for key, text in (("step_bytes", "bytes to the network"), ("stepped_bytes", "bytes back")):
        table.add_row(text, *(str(row[key]) for row in result["link"]))
    console.print(table)
    for name, text in result["forms"].items():
        console.print(f"  {name}: {text}", markup=False, highlight=False)
    if result["overlap"]:
        table = Table(title=f"Both sides busy, {OVERLAP_ROBOTS} robots")
        headings = (
            "robots ms",
            "network ms",
            "step us",
            "larger side alone us",
            "overlap ratio",
            "machine ratio",
        )
        for heading in headings:
            table.add_column(heading, justify="right")
        for row in result["overlap"]:
            cells = (row["robots_ms"], row["network_ms"], row["step_us"], row["larger_alone_us"])
            table.add_row(
                *(_cell(cell) for cell in cells), f"{row['overlap_ratio']:.3f}", f"{row['machine_ratio']:.3f}"
            )
        console.print(table)
        console.print("  machine ratio: the same two loads in two processes that exchange nothing", highlight=False)
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items() if version)
    console.print(f"  {versions}; {result['cores']} cores, load {result['load']:.1f}", highlight=False)


def _cell(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.0f}" if isinstance(value, int) or value >= 1000 else f"{value:g}"


if __name__ == "__main__":
    sys.exit(main())
