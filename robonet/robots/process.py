"""The robot simulator as a process: it owns the run's clock and writes the run's summary."""

import time
from pathlib import Path
from typing import NamedTuple

from robonet.errors import EXIT_DONE, EXIT_INTERRUPTED
from robonet.link.control import Control
from robonet.link.endpoints import parse_endpoint
from robonet.link.process import run_side
from robonet.link.robots_side import RobotsSide
from robonet.link.zmq_transport import ZmqConnection
from robonet.record.folder import RunFolder, begin_side
from robonet.record.summary import RobotsReport, compose
from robonet.record.tables import Recorder
from robonet.robots.simulator import RobonetRobots
from robonet.robots.warm_up import warm_up
from robonet.scenario import LoadedScenario


class RobotsOptions(NamedTuple):
    """How to run."""

    link: str
    keys: Path | None = None
    out: Path | None = None
    peer: str = "robots"
    real_time_factor: float | None = None
    started_at: float | None = None
    """Monotonic time at which the user asked for the run."""
    control_fd: int | None = None


def run_robots(loaded: LoadedScenario, options: RobotsOptions) -> int:
    """Run one simulation; the exit code."""
    control = Control(options.control_fd)
    started = time.monotonic() if options.started_at is None else options.started_at

    def work() -> int:
        scenario = loaded.scenario
        folder = None
        if options.out is not None:
            is_launched = options.control_fd is not None
            folder = RunFolder(options.out) if is_launched else begin_side(options.out, "robots", loaded)
        recorder = Recorder(folder.tables) if folder is not None else None
        connection = ZmqConnection(parse_endpoint(options.link), options.keys, scenario.limits.heartbeat_timeout_s)
        try:
            warm_up(scenario, loaded.base)
            simulator = RobonetRobots(scenario, loaded.base, recorder, options.peer)
            side = RobotsSide(
                simulator,
                connection,
                scenario.limits,
                control.should_stop,
                control.report_step,
                options.real_time_factor,
            )
            try:
                reason = side.run()
            except BaseException:
                simulator.close()
                raise
        finally:
            connection.close()
        if folder is not None:
            folder.write_summary(_summary(loaded, simulator, side, started, folder))
        return EXIT_DONE if reason == "finished" else EXIT_INTERRUPTED

    return run_side(control, work)


def _summary(
    loaded: LoadedScenario, simulator: RobonetRobots, side: RobotsSide, started: float, folder: RunFolder
) -> dict[str, object]:
    wall_s = time.monotonic() - started
    assert side.report is not None and side.welcome is not None
    report = RobotsReport(
        status=side.reason,
        steps=side.steps_done,
        step_ns=simulator.world.step_ns,
        seen_delays_ns=simulator.ether.seen_delays_ns,
        digests=simulator.digests(),
        metrics=simulator.metrics,
        wall_s=wall_s,
        startup_s=side.timing.began_at - started,
        stepping_s=side.timing.stepping_s,
        cpu_s=side.timing.cpu_s,
        exchange_s=side.timing.exchange_s,
        waiting_s=side.timing.waiting_s,
        model=side.welcome.model,
    )
    return compose(loaded.scenario, report, side.report, str(folder.path))
