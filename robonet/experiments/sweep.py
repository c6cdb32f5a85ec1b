"""Run a study: what is missing, on all cores, going on where it was, whatever happened before."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import yaml

import robonet
from robonet.errors import Interrupted, SimulatorError, UserError
from robonet.experiments.results import RUNS, STUDY, write_results
from robonet.experiments.study import Plan, Planned, Study
from robonet.record.folder import RunFolder, create_run_folder

ATTEMPTS = 2
"""A run that fails is tried once more."""
WRITE_EVERY_S = 10.0
START = f"import sys; sys.path[:1] = [{str(Path(robonet.__file__).parent.parent)!r}]; "
SPARE_MEMORY = 1.2


class Progress(NamedTuple):
    """How far a sweep is."""

    total: int
    done: int
    """Finished before or now."""
    running: int
    failed: int
    left_s: float | None
    """Estimated time left; None while nothing is known."""
    last: str
    """What happened last."""


class Outcome(NamedTuple):
    """What came of a sweep."""

    folder: Path
    total: int
    ran: int
    kept: int
    failed: list[tuple[str, str]]
    """Runs that failed twice, each with the first line of its error."""
    wall_s: float
    busy_share: float
    """CPU time of the runs for each second and job."""


Report = Callable[[Progress], None]


def open_folder(plan: Plan, folder: Path, *, mix_versions: bool = False) -> list[Planned]:
    """Make or take up the folder of a study; the runs that are still to be made."""
    if folder.exists() and any(folder.iterdir()) and not (folder / STUDY).is_file():
        raise UserError(f"{folder} holds something else: name another folder")
    (folder / RUNS).mkdir(parents=True, exist_ok=True)
    missing = []
    for run in plan.runs:
        _find_again(run, folder)
        summary = RunFolder(folder / RUNS / run.id).read_summary() if (folder / RUNS / run.id).is_dir() else None
        if summary is None or summary["status"] != "finished":
            missing.append(run)
            continue
        made_by = summary.get("versions", {}).get("robonet")
        if made_by != robonet.__version__ and not mix_versions:
            raise UserError(
                f"{folder} holds runs of robonet {made_by}, and this is {robonet.__version__}: their results should "
                "not be mixed. Use another folder, or --mix-versions"
            )
    _write_study(plan.study, plan.path, folder)
    return missing


def _find_again(run: Planned, folder: Path) -> None:
    """The same run may be there under another name, from before an axis was added."""
    path = folder / RUNS / run.id
    mark = "-".join(run.id.split("-")[-2:])
    for other in folder.glob(f"{RUNS}/*-{mark}"):
        if not path.exists():
            other.rename(path)


def _write_study(study: Study, path: Path, folder: Path) -> None:
    data = json.loads(study.model_dump_json(exclude_unset=True))
    data["scenario"] = str((path.parent / study.scenario).resolve())
    (folder / STUDY).write_text(yaml.safe_dump(data, sort_keys=False, allow_unicode=True), encoding="utf-8")


def default_jobs() -> int:
    """As many runs at a time as there are cores to use."""
    return len(os.sched_getaffinity(0))


def sweep(plan: Plan, folder: Path, missing: list[Planned], jobs: int, report: Report = lambda _: None) -> Outcome:
    """Make the missing runs on this machine."""
    started = time.monotonic()
    state = State(plan, folder, missing, jobs, report)
    try:
        if missing:
            with _Nursery(folder) as nursery:
                _work(state, nursery)
    finally:
        write_results(plan, folder)
    wall_s = time.monotonic() - started
    return state.outcome(wall_s)


class State:
    """Which runs are where."""

    def __init__(self, plan: Plan, folder: Path, missing: list[Planned], jobs: int, report: Report) -> None:
        self.plan, self.folder, self.jobs, self._report = plan, folder, jobs, report
        self.waiting = deque(missing)
        self.running: dict[str, Planned] = {}
        self.attempts: dict[str, int] = {}
        self.failed: list[tuple[str, str]] = []
        self.ended = 0
        self.peak_bytes = 0
        self.cpu_s = 0.0
        self._kept = len(plan.runs) - len(missing)
        self._began = time.monotonic()
        self.last_written = time.monotonic()

    def may_start(self) -> bool:
        """Whether there is a job and the memory for one more."""
        if not self.waiting or len(self.running) >= self.jobs:
            return False
        return not self.running or SPARE_MEMORY * self.peak_bytes < _available_bytes()

    def tell(self, last: str) -> None:
        """Report how far things are."""
        done = self.ended - len(self.failed)
        left = None
        if self.ended:
            pace_s = (time.monotonic() - self._began) / self.ended
            left = pace_s * (len(self.waiting) + len(self.running))
        total = len(self.plan.runs)
        self._report(Progress(total, self._kept + done, len(self.running), len(self.failed), left, last))

    def end(self, run: Planned, code: int) -> None:
        """A run is over: done, to be tried again, or failed."""
        summary = RunFolder(self.folder / RUNS / run.id).read_summary()
        if code == 0 and summary is not None and summary["status"] == "finished":
            self.ended += 1
            self.tell(f"{run.id} done")
            return
        if self.attempts[run.id] < ATTEMPTS:
            self.waiting.append(run)
            self.tell(f"{run.id} failed, to be tried again")
            return
        error = (summary or {}).get("error") or f"its process ended with {_words(code)}"
        if summary is None:
            _note_failure(self.folder / RUNS / run.id, error)
        self.failed.append((run.id, error.splitlines()[0]))
        self.ended += 1
        self.tell(f"{run.id} failed: {error.splitlines()[0]}")

    def outcome(self, wall_s: float) -> Outcome:
        """What came of it."""
        busy = self.cpu_s / max(wall_s * self.jobs, 1e-9)
        ran = self.ended - len(self.failed)
        return Outcome(self.folder, len(self.plan.runs), ran, self._kept, self.failed, wall_s, busy)


def _words(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"code {code}"


def _note_failure(path: Path, error: str) -> None:
    """A run that was killed could not say so itself."""
    from robonet.record.recover import recover_summary

    folder = RunFolder(path)
    summary = recover_summary(folder, "failed")
    summary["error"] = error
    folder.write_summary(summary)


def _available_bytes() -> int:
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 1 << 62


def _work(state: State, nursery: "_Nursery") -> None:
    warm: set[str] = set()
    while state.waiting or state.running:
        while state.may_start():
            run = state.waiting.popleft()
            state.attempts[run.id] = state.attempts.get(run.id, 0) + 1
            path = prepare_run(run, state.folder)
            kind = run.loaded.scenario.network.model
            if kind not in warm:
                state.tell(f"getting ready for {kind}")
                nursery.say(order="warm", scenario=str(path / "scenario.yaml"))
                warm.add(kind)
            state.running[run.id] = run
            nursery.say(order="run", run=run.id, folder=str(path))
            state.tell(f"{run.id} started")
        for event in nursery.hear():
            if event["event"] == "ended":
                run = state.running.pop(event["run"])
                state.peak_bytes = max(state.peak_bytes, event["peak_bytes"])
                state.cpu_s += event["cpu_s"]
                state.end(run, event["code"])
        if time.monotonic() - state.last_written > WRITE_EVERY_S:
            write_results(state.plan, state.folder)
            state.last_written = time.monotonic()


def prepare_run(run: Planned, folder: Path) -> Path:
    """A fresh folder with the run's scenario; what an earlier attempt left is replaced, its log is kept."""
    path = folder / RUNS / run.id
    log, kept = path / "logs" / "run.log", folder / RUNS / f".{run.id}.log"
    if log.is_file():
        shutil.copy(log, kept)
    made = create_run_folder(run.loaded.scenario, path)
    made.write_scenario(run.loaded)
    made.release()
    if kept.is_file():
        kept.replace(path / "logs" / "first-attempt.log")
    return path


class _Nursery:
    """The line to the process that makes a child for every run."""

    def __init__(self, folder: Path) -> None:
        self._line, far_end = socket.socketpair()
        self._log = (folder / "nursery.log").open("ab")
        code = f"{START}from robonet.experiments.nursery import main; main({far_end.fileno()})"
        self._process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            pass_fds=(far_end.fileno(),),
            start_new_session=True,
        )
        far_end.close()
        self._buffer = b""

    def say(self, **order: Any) -> None:
        """Give an order."""
        try:
            self._line.sendall(json.dumps(order).encode() + b"\n")
        except OSError as error:
            raise SimulatorError(f"the process that makes the runs is gone: see {self._log.name}") from error

    def hear(self, timeout_s: float = 0.5) -> list[dict[str, Any]]:
        """What happened, after a short wait at most."""
        self._line.settimeout(timeout_s)
        try:
            data = self._line.recv(1 << 16)
        except TimeoutError:
            return []
        except OSError as error:
            raise Interrupted(str(error)) from error
        if not data:
            raise SimulatorError(f"the process that makes the runs has died: see {self._log.name}")
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        return [json.loads(line) for line in lines]

    def __enter__(self) -> "_Nursery":
        return self

    def __exit__(self, *_: object) -> None:
        self._line.close()  # at which the nursery ends its children and itself
        try:
            self._process.wait(10.0)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            self._process.wait()
        self._log.close()
