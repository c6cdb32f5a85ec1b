"""One run from a loaded scenario to its summary, and finding a run again."""

import shutil
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from robonet.clock import ns_from_s
from robonet.errors import EXIT_USER, RecordError, UserError
from robonet.link.endpoints import parse_endpoint
from robonet.link.launch import SIDES, Launcher, Verdict, private_endpoint
from robonet.record.folder import SCENARIO, RunFolder, create_run_folder
from robonet.scenario import LoadedScenario


class PreparedRun(NamedTuple):
    """A run whose folder is made and whose scenario is written down."""

    loaded: LoadedScenario
    folder: RunFolder
    link: str | None
    real_time_factor: float | None
    started_at: float
    steps: int
    is_new_folder: bool


def prepare(
    loaded: LoadedScenario,
    out: Path | None,
    link: str | None,
    real_time_factor: float | None,
    started_at: float,
) -> PreparedRun:
    """Check what can be checked and make the run folder."""
    if link is not None and parse_endpoint(link).is_public:
        raise UserError(f"--link {link}: `robonet run` stays on this machine; start the two sides by hand for others")
    folder = create_run_folder(loaded.scenario, out)
    folder.write_scenario(loaded)
    steps = ns_from_s(loaded.scenario.duration_s) // ns_from_s(loaded.scenario.step_s)
    return PreparedRun(loaded, folder, link, real_time_factor, started_at, steps, out is None)


def run_scenario(run: PreparedRun, on_progress: Callable[[int], None] | None = None) -> tuple[Verdict, dict[str, Any]]:
    """Start both simulators, wait for them, and see that there is a summary whatever happened."""
    folder = run.folder
    with ExitStack() as stack:
        common = [str(folder.path / SCENARIO), "--out", str(folder.path)]
        network, robots = list(common), [*common, "--started-at", repr(run.started_at)]
        link = run.link
        if link is None:
            link = stack.enter_context(private_endpoint())
            network += ["--private-folder", str(Path(link[6:]).parent)]
        if run.real_time_factor is not None:
            robots += ["--realtime", repr(run.real_time_factor)]
        arguments = {"network": [*network, "--link", link], "robots": [*robots, "--link", link]}
        verdict = Launcher(on_progress).run(arguments, {side: folder.log(side) for side in SIDES})
    summary = folder.read_summary()
    if summary is not None and verdict.status != "failed":
        return verdict, summary
    if verdict.exit_code == EXIT_USER and run.is_new_folder:
        shutil.rmtree(folder.path, ignore_errors=True)  # nothing was simulated
        return verdict, {"status": "failed", "error": verdict.message}
    from robonet.record.recover import recover_summary  # needs pyarrow, which is slow to import

    summary = recover_summary(folder, verdict.status, time.monotonic() - run.started_at)
    summary["error"] = verdict.message
    try:
        folder.write_summary(summary)
    except RecordError as error:
        verdict = verdict._replace(message=verdict.message or str(error))
    return verdict, summary


def run_folder(path: Path) -> RunFolder:
    """The folder of an earlier run."""
    if not (path / SCENARIO).is_file():
        raise UserError(f"{path} is not a run folder: there is no {SCENARIO} in it")
    return RunFolder(path)


def summary_of(path: Path) -> dict[str, Any]:
    """The summary of an earlier run, read or worked out."""
    folder = run_folder(path)
    summary = folder.read_summary()
    if summary is None:
        from robonet.record.recover import recover_summary

        is_running = folder.is_in_use
        summary = recover_summary(folder, "running" if is_running else "failed")
        if not is_running:
            summary["error"] = "the run was killed before it could write a summary"
    summary["run_dir"] = str(path)  # it may have been moved or copied
    return summary
