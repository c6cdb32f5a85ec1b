"""Runs on a Dask cluster: each is one task, made by `robonet run` in a process of its own on some worker.

Workers must have the same version of robonet and see the study's folder, and the files that the scenario names,
under the same paths.
"""

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import robonet
from robonet.errors import SimulatorError, UserError
from robonet.experiments.results import write_results
from robonet.experiments.study import Plan, Planned
from robonet.experiments.sweep import Outcome, Report, State, prepare_run

LOST_WORKERS = 10
"""So many workers may die over one run before it counts as failed."""


def sweep_with_dask(plan: Plan, folder: Path, missing: list[Planned], scheduler: str, report: Report) -> Outcome:
    """Make the missing runs on a cluster."""
    try:
        import distributed
    except ImportError as error:
        raise UserError("a cluster needs Dask: pip install 'robonet[dask]'") from error
    started = time.monotonic()
    try:
        client = distributed.Client(scheduler, timeout="10s", set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise UserError(f"no Dask scheduler answers at {scheduler}: {error}") from error
    state = State(plan, folder.resolve(), missing, max(len(client.scheduler_info()["workers"]), 1), report)
    try:
        _work(state, client, distributed)
    finally:
        client.close()
        write_results(plan, folder)
    return state.outcome(time.monotonic() - started)


def _work(state: State, client: Any, distributed: Any) -> None:
    tasks = distributed.as_completed(loop=client.loop)
    sent: dict[str, Planned] = {}

    def submit(run: Planned) -> None:
        state.attempts[run.id] = state.attempts.get(run.id, 0) + 1
        path = prepare_run(run, state.folder)
        state.running[run.id] = run
        key = f"{run.id}-{state.attempts[run.id]}-{time.time_ns()}"
        task = client.submit(make_run, str(path), robonet.__version__, key=key, pure=False, retries=LOST_WORKERS)
        sent[task.key] = run
        tasks.add(task)

    while state.waiting:
        submit(state.waiting.popleft())
    state.tell(f"{len(state.running)} runs sent to the cluster")
    for task in tasks:
        run = state.running.pop(sent[task.key].id)
        if task.status == "error":
            raise SimulatorError(f"the cluster could not make {run.id}: {task.exception()}")
        state.end(run, task.result())
        while state.waiting:
            submit(state.waiting.popleft())


def make_run(folder: str, version: str) -> int:
    """On a worker: run the scenario that lies in a folder; the exit code."""
    if robonet.__version__ != version:
        raise RuntimeError(f"this worker has robonet {robonet.__version__}, the study {version}")
    path = Path(folder)
    scenario = path / "scenario.yaml"
    if not scenario.is_file():
        raise RuntimeError(f"this worker does not see {scenario}: cluster and study must share their files")
    waiting = path.with_name(f".{path.name}.yaml")
    waiting.write_bytes(scenario.read_bytes())  # the run replaces what is in its folder
    try:
        command = [sys.executable, "-m", "robonet", "run", str(waiting), "--out", folder, "--quiet"]
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode
    finally:
        waiting.unlink(missing_ok=True)
