"""The network simulator as a process."""

from pathlib import Path
from typing import NamedTuple

from robonet.errors import EXIT_DONE, EXIT_INTERRUPTED
from robonet.link.control import Control
from robonet.link.endpoints import parse_endpoint
from robonet.link.network_side import NetworkSide
from robonet.link.process import run_side
from robonet.link.zmq_transport import ZmqListener
from robonet.plugins import load
from robonet.record.folder import RunFolder, begin_side
from robonet.record.tables import Recorder
from robonet.scenario import LoadedScenario

ROBOTS_FIRST_S = 5.0
"""When the launcher dies, the robots end the run; the network waits this long for their End."""


class NetworkOptions(NamedTuple):
    """How to serve."""

    link: str
    keys: Path | None = None
    out: Path | None = None
    peers: int = 1
    private_folder: Path | None = None
    """Made by the launcher for this run's socket alone."""
    control_fd: int | None = None


def run_network(loaded: LoadedScenario, options: NetworkOptions) -> int:
    """Serve one simulation; the exit code."""
    control = Control(options.control_fd, stop_delay_s=ROBOTS_FIRST_S)

    def work() -> int:
        scenario = loaded.scenario
        recorder = None
        if options.out is not None:
            is_launched = options.control_fd is not None
            folder = RunFolder(options.out) if is_launched else begin_side(options.out, "network", loaded)
            recorder = Recorder(folder.tables)
        model = load(scenario.network.model, "networks", loaded.base)
        listener = ZmqListener(
            parse_endpoint(options.link),
            options.keys,
            scenario.limits.heartbeat_timeout_s,
            options.private_folder,
        )
        try:
            side = NetworkSide(
                model(scenario.network, recorder),
                listener,
                scenario.limits,
                options.peers,
                control.should_stop,
                control.report_step,
            )
            try:
                reason = side.serve()
            finally:
                if recorder is not None:
                    recorder.flush()
        finally:
            listener.close()
        return EXIT_DONE if reason == "finished" else EXIT_INTERRUPTED

    return run_side(control, work)
