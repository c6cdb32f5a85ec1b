"""What studies cost beside simulating: how busy the cores are, and the fixed cost of a run, alone and within a sweep.

    python benchmarks/sweep.py [--runs 200] [--jobs N] [--json]

Runs of the tutorial's scenario, two seconds each, over `disk`. Cores are busy when the runs' processes use them; the
fixed cost of a run is its time before the first and after the last step.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from robonet.experiments.study import make_plan
from robonet.experiments.sweep import default_jobs, open_folder, sweep
from robonet.record.folder import RunFolder

ROOT = Path(__file__).parent.parent
HELLO = ROOT / "scenarios" / "tutorial" / "hello.yaml"
SIMULATED_S = 2


def fixed_cost_s(summary):
    """What is not stepping."""
    stepping_s = summary["simulated_s"] / summary["time"]["real_time_factor"]
    return summary["time"]["wall_s"] - stepping_s


def alone(folder, repeats=5):
    """Runs by `robonet run`: the fixed cost, command to prompt."""
    found = []
    for number in range(repeats + 1):
        command = [sys.executable, "-m", "robonet", "run", str(HELLO), "--duration", str(SIMULATED_S), "--json"]
        started = time.monotonic()
        done = subprocess.run(
            [*command, "--out", str(folder / "alone")], cwd=ROOT, capture_output=True, text=True, check=True
        )
        wall_s = time.monotonic() - started
        summary = json.loads(done.stdout)
        if number:  # the first one may compile
            found.append(wall_s - summary["simulated_s"] / summary["time"]["real_time_factor"])
    return statistics.median(found)


def within(folder, runs, jobs):
    """A sweep: how busy it keeps the cores, and the fixed cost of its runs."""
    study = folder / "study.yaml"
    study.write_text(
        f"study: 1\nname: bench\nscenario: {HELLO}\nset: {{duration_s: {SIMULATED_S}}}\nseeds: {runs}\n"
        "axes: {network.model: [disk]}\n"
    )
    plan = make_plan(study)
    out = folder / "out"
    outcome = sweep(plan, out, open_folder(plan, out), jobs)
    assert outcome.ran == runs, outcome.failed
    costs = [fixed_cost_s(RunFolder(out / "runs" / run.id).read_summary()) for run in plan.runs]
    return outcome, statistics.median(costs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=default_jobs())
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        single_s = alone(folder)
        outcome, fixed_s = within(folder, options.runs, options.jobs)
    found = {
        "runs": options.runs,
        "jobs": options.jobs,
        "wall_s": outcome.wall_s,
        "busy_share": outcome.busy_share,
        "fixed_cost_alone_s": single_s,
        "fixed_cost_in_sweep_s": fixed_s,
    }
    if options.json:
        print(json.dumps(found))
        return
    table = Table("what", "measured", "aim")
    table.add_row(f"{options.runs} runs on {options.jobs} jobs", f"{outcome.wall_s:.1f} s", "")
    table.add_row("cores busy", f"{100 * outcome.busy_share:.0f} %", "over 90 %")
    table.add_row("fixed cost of a run alone", f"{single_s:.2f} s", "under 1.5 s")
    table.add_row("fixed cost of a run in a sweep", f"{fixed_s:.3f} s", "under 0.1 s")
    Console().print(table)


if __name__ == "__main__":
    main()
