"""What the figures come to: rows, growth, a table."""

import math
import statistics
from typing import Any

from rich.console import Console
from rich.table import Table

from robots_bench.ours import Run
from robots_bench.peers import Peer
from robots_bench.worlds import BENCHMARKS, SIDE_M, STEP_S


def row_of(
    benchmark: str, robots: int, engine: str, threads: int, controllers: str, steps: int, side_m: float,
    runs: list[Run], others: dict[str, list[Peer]], memory: dict[str, float] | None, overhead: dict[str, float] | None,
) -> dict[str, Any]:  # fmt: skip
    """All that was measured of one number of robots."""
    ms = statistics.median(run.wall_ms for run in runs)
    row: dict[str, Any] = {
        "benchmark": benchmark,
        "robots": robots,
        "engine": engine,
        "threads": threads,
        "controllers": controllers,
        "side_m": side_m,
        "steps": steps,
        "repeats": len(runs),
        "ms_per_tick": ms,
        "best_ms_per_tick": min(run.wall_ms for run in runs),
        "cpu_ms_per_tick": statistics.median(run.cpu_ms for run in runs),
        "ns_per_robot": 1e6 * ms / robots,
        "real_time_factor": 1e3 * STEP_S / ms,
        "setup_s": min(run.setup_s for run in runs),
        "memory": memory,
        "python_us_per_robot": overhead,
    }
    for name, turns in others.items():
        theirs = statistics.median(turn.wall_ms for turn in turns)
        told = [turn.controller_ms for turn in turns if turn.controller_ms is not None]
        ratios = [turn.wall_ms / run.wall_ms for turn, run in zip(turns, runs, strict=True)]
        row[name] = {
            "ms_per_tick": theirs,
            "cpu_ms_per_tick": statistics.median(turn.cpu_ms for turn in turns),
            "controller_ms_per_tick": statistics.median(told) if told else None,
            "ticks": turns[0].ticks,
            "ratio": statistics.median(ratios),
            "cpu_ratio": statistics.median(turn.cpu_ms / run.cpu_ms for turn, run in zip(turns, runs, strict=True)),
        }
    return row


def growth(rows: list[dict[str, Any]]) -> dict[str, float]:
    """By engine, threads and controllers: slope of the logarithm of time over that of the number of robots."""
    found = {}
    for key in dict.fromkeys(_setting(row) for row in rows):
        points = [(math.log(row["robots"]), math.log(row["ms_per_tick"])) for row in rows if _setting(row) == key]
        if len({x for x, _ in points}) > 1:
            found[key] = statistics.linear_regression(*zip(*points, strict=True)).slope
    return found


def _setting(row: dict[str, Any]) -> str:
    return f"{row['engine']}, {row['threads']} threads, {row['controllers']}"


FIGURES = (
    ("engine", "engine"),
    ("threads", "threads"),
    ("controllers", "controllers"),
    ("ms a tick", "ms_per_tick"),
    ("best", "best_ms_per_tick"),
    ("of CPU", "cpu_ms_per_tick"),
    ("ns a robot", "ns_per_robot"),
    ("times real time", "real_time_factor"),
    ("set-up s", "setup_s"),
    ("bytes a robot", "memory.bytes_per_robot"),
    ("beside readings", "memory.beside_readings_bytes_per_robot"),
    ("us a Python controller", "python_us_per_robot.control"),
    ("of which its own", "python_us_per_robot.own_code"),
    ("not its own", "python_us_per_robot.overhead"),
    ("one that does nothing", "python_us_per_robot.empty"),
    ("ARGoS ms a tick", "argos3.ms_per_tick"),
    ("of which Lua's sums", "argos3.controller_ms_per_tick"),
    ("ARGoS / robonet", "argos3.ratio"),
    ("of CPU time", "argos3.cpu_ratio"),
    ("Stage ms a tick", "stage.ms_per_tick"),
    ("Stage / robonet", "stage.ratio"),
    ("of CPU time", "stage.cpu_ratio"),
)
"""What the table shows, and where it stands in a row of the result."""


def show(result: dict[str, Any]) -> None:
    """A table for people: a column a run."""
    console = Console()
    rows = result["rows"]
    table = Table(title=f"{result['benchmark']}: {BENCHMARKS[result['benchmark']].text}")
    table.add_column("robots")
    for row in rows:
        table.add_column(f"{row['robots']:,}", justify="right")
    for text, key in FIGURES:
        values = [_found(row, key) for row in rows]
        if any(value is not None for value in values):
            table.add_row(text, *(_cell(value) for value in values))
    console.print(table)
    for setting, slope in result["growth_exponent"].items():
        console.print(f"  grows as robots^{slope:.2f} ({setting})", highlight=False, markup=False)
    for note in result["notes"]:
        console.print(f"  {note}", highlight=False, markup=False)


def _found(row: dict[str, Any], key: str) -> Any:
    value: Any = row
    for part in key.split("."):
        value = (value or {}).get(part)
    return value


def notes(rows: list[dict[str, Any]]) -> list[str]:
    """What a reader must know to read the figures."""
    found = ["ms: wall time of a whole tick, median over repeats of the mean over the middle half of the steps"]
    found += [
        f"{row['robots']:,} robots stand in {row['side_m']:.0f} x {row['side_m']:.0f} m, as dense as "
        f"{BENCHMARKS[row['benchmark']].fits:,} in {SIDE_M:g} x {SIDE_M:g} m: there they would not fit"
        for row in rows
        if row["side_m"] > SIDE_M
    ]
    if any("argos3" in row for row in rows):
        found.append(
            "Lua's sums: the rule's arithmetic; handing readings over to Lua costs ARGoS more (see --argos-controller)"
        )
    return list(dict.fromkeys(found))


def _cell(value: Any) -> str:
    if not isinstance(value, float):
        return "–" if value is None else str(value)
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
