"""A whole run in this process: the same folder, the same digests as with two, without the link between them."""

import time
from pathlib import Path
from typing import Any

from robonet.lockstep import LockStep, network_of
from robonet.record.folder import RunFolder
from robonet.record.summary import RobotsReport, compose
from robonet.record.tables import Recorder
from robonet.robots.simulator import RobonetRobots
from robonet.robots.warm_up import warm_up
from robonet.scenario import LoadedScenario


def run_here(loaded: LoadedScenario, folder: RunFolder, started: float) -> dict[str, Any]:
    """Simulate to the end and write the summary; what goes wrong is raised, and what was recorded is kept."""
    scenario = loaded.scenario
    robots_recorder, network_recorder = Recorder(folder.tables), Recorder(folder.tables)
    robots = RobonetRobots(scenario, loaded.base, robots_recorder)
    network = _Timed(network_of(scenario, loaded.base, network_recorder))
    try:
        both = LockStep(robots, network)
        began_at, began_cpu = time.monotonic(), time.process_time()
        while both.step():
            pass
        stepping_s, cpu_s = time.monotonic() - began_at, time.process_time() - began_cpu
    finally:
        robots.close()
        network_recorder.flush()
    report = RobotsReport(
        status="finished",
        steps=robots.world.index,
        step_ns=robots.world.step_ns,
        seen_delays_ns=robots.ether.seen_delays_ns,
        digests=robots.digests(),
        metrics=robots.metrics,
        wall_s=time.monotonic() - started,
        startup_s=began_at - started,
        stepping_s=stepping_s,
        cpu_s=cpu_s - network.cpu_s,
        exchange_s=0.0,
        waiting_s=0.0,
        model=both.model,
    )
    said = {**both.report, "time": {"cpu_s": network.cpu_s, "waiting_s": 0.0}}
    summary = compose(scenario, report, said, str(folder.path))
    folder.write_summary(summary)
    return summary


class _Timed:
    """A network simulator and the CPU time that it takes."""

    def __init__(self, network: Any) -> None:
        self._network = network
        self.cpu_s = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._network, name)

    def step(self, *arguments: Any) -> Any:
        """As the network does."""
        before = time.process_time()
        outcome = self._network.step(*arguments)
        self.cpu_s += time.process_time() - before
        return outcome


def warm(loaded: LoadedScenario) -> None:
    """Load what runs of a scenario need, so that children of this process have it at once."""
    warm_up(loaded.scenario, loaded.base)
    short = loaded.scenario.model_copy(
        update={"duration_s": 3 * loaded.scenario.step_s, "hooks": (), "robots": _without_minds(loaded)}
    )
    both = LockStep(RobonetRobots(short, loaded.base), network_of(short, loaded.base))
    while both.step():
        pass


def _without_minds(loaded: LoadedScenario) -> Any:
    """The same robots standing still: no code of the user's runs in the process that others are made from."""
    bare: dict[str, Any] = {"controller": None, "params": {}}
    return tuple(group.model_copy(update=bare) for group in loaded.scenario.robots)


def folder_for(path: Path) -> RunFolder:
    """A run folder that this process may write."""
    folder = RunFolder(path)
    folder.lock()
    return folder
