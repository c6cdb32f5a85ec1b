"""What coupling costs (RoboNetSim, section 5.2, tables 1 and 2): both sides together, and each one alone.

The paper's workload is run as users run it, as two processes in lock-step. Then each side does the same work alone: the
robots without a network, in one process and without a link; the network from the recorded motion and packets, in a
process of its own that knows neither robots nor links: for `ns3` a program in C++, for `wifi` a loop over the steps.
Figures are CPU seconds of the steps, without start-up, medians of the turns. `network ratio` is the network coupled
over alone; `wall ratio` is the wall time of the steps over the larger side's CPU time alone: 1 is perfect overlap.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parent.parent
SCENARIO = ROOT / "scenarios" / "robonetsim" / "workload.yaml"
sys.path.insert(0, str(ROOT))


def main() -> int:
    """Measure and show."""
    options = _options()
    if options.alone is not None:
        print(json.dumps(_alone(options.alone, options.folder)))
        return 0
    results = []
    for robots in options.robots:
        turns = []
        for turn in range(options.turns):
            turns.append(_turn(robots, options.network, options.duration))
            if not options.json:
                print(f"{robots} robots, turn {turn + 1}: {_words(turns[-1])}", file=sys.stderr, flush=True)
        results.append({"robots": robots, "network": options.network, **_medians(turns)})
    if options.json:
        print(json.dumps(results, indent=1))
    else:
        Console().print(_table(results))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", type=int, nargs="+", default=[25, 50, 100], metavar="N", help="(%(default)s)")
    parser.add_argument("--network", choices=("ns3", "wifi"), default="ns3", help="(%(default)s)")
    parser.add_argument("--duration", type=float, default=30.0, metavar="S", help="simulated seconds (%(default)s)")
    parser.add_argument("--turns", type=int, default=3, metavar="N", help="(%(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--alone", choices=("robots", "ns3", "wifi"), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def _turn(robots: int, network: str, duration_s: float) -> dict[str, float]:
    side_m = 500.0 * (robots / 50) ** 0.5
    with tempfile.TemporaryDirectory(prefix="robonet-overhead-") as folder:
        run = Path(folder) / "run"
        coupled = _python(
            "-m", "robonet", "run", str(SCENARIO), "--network", network, "--duration", str(duration_s),
            "--set", f"robots.robot.count={robots}", "--set", f"arena.size_m=[{side_m:.1f}, {side_m:.1f}]",
            "--out", str(run), "--json",
        )  # fmt: skip
        alone = {side: _python(__file__, "--alone", side, "--folder", str(run)) for side in ("robots", network)}
    wall_s = coupled["simulated_s"] / coupled["time"]["real_time_factor"]
    if alone[network]["delivered"] != coupled["packets"]["delivered"]:
        raise SystemExit("the network alone delivers something else than coupled")
    larger_s = max(alone["robots"]["cpu_s"], alone[network]["cpu_s"])
    return {
        "network_coupled_s": coupled["time"]["network_cpu_s"],
        "network_alone_s": alone[network]["cpu_s"],
        "network_ratio": coupled["time"]["network_cpu_s"] / alone[network]["cpu_s"],
        "robots_coupled_s": coupled["time"]["robots_cpu_s"],
        "robots_alone_s": alone["robots"]["cpu_s"],
        "wall_s": wall_s,
        "wall_ratio": wall_s / larger_s,
    }


def _python(*arguments: str) -> Any:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=3600)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(arguments[:3])} failed:\n{done.stderr}")
    return json.loads(done.stdout)


# --- one side alone, in a process of its own ---------------------------------------------------------------


def _alone(side: str, folder: Path) -> dict[str, Any]:
    if side == "robots":
        return _robots_alone(folder)
    setup, steps = _recorded(folder)
    return _ns3_alone(folder, setup, steps) if side == "ns3" else _wifi_alone(folder, setup, steps)


def _robots_alone(folder: Path) -> dict[str, Any]:
    from robonet.link.messages import PROTOCOL_VERSION, Welcome
    from robonet.link.simulators import Outcome
    from robonet.record.tables import Recorder
    from robonet.robots.simulator import RobonetRobots
    from robonet.scenario import load_recorded

    robots = RobonetRobots(load_recorded(folder / "scenario.yaml"), folder, Recorder(folder / "alone" / "tables"))
    robots.start(
        Welcome(
            version=PROTOCOL_VERSION, software="alone", model="none", first_node=0, first_packet=0,
            directory=robots.hello().nodes, groups=["robot"], offers=[], needs_payloads=False,
        )
    )  # fmt: skip
    outcome = Outcome()
    robots.control(outcome)
    robots.advance()  # compiles
    began = time.process_time()
    for _ in range(robots.world.steps - 1):
        robots.control(outcome)
        robots.advance()
    return {"cpu_s": time.process_time() - began}


def _recorded(folder: Path) -> tuple[Any, list[tuple[int, Any, Any]]]:
    """What the network was told: set-up, and for each step its end, the positions and the packets."""
    from robonet.clock import ns_from_s
    from robonet.link.messages import Node
    from robonet.link.simulators import Setup, Transmissions
    from robonet.record.tables import read_table
    from robonet.scenario import load_recorded

    scenario = load_recorded(folder / "scenario.yaml")
    poses, sends = read_table(folder / "tables" / "poses"), read_table(folder / "tables" / "sends")
    names = [group.member(i) for group in scenario.robots for i in range(group.count)]
    step_ns = ns_from_s(scenario.step_s)
    count = ns_from_s(scenario.duration_s) // step_ns
    low, high = scenario.arena.low_m, scenario.arena.high_m
    nodes = [Node(name=name, groups=["robot"], mobile=True, equipment={}) for name in names]
    setup = Setup(scenario.seed, step_ns, count, low, high, True, [], nodes, ["robot"], frozenset())
    places = np.stack([poses[key] for key in ("x_m", "y_m", "z_m")], axis=1).reshape(-1, len(names), 3)
    row_of = {name: row for row, name in enumerate(names)}
    packets: list[list[tuple[int, ...]]] = [[] for _ in range(count)]
    columns = (sends[key].tolist() for key in ("packet", "sent_ns", "source", "destination", "size_bytes"))
    for number, sent, source, destination, size in zip(*columns, strict=True):
        packets[sent // step_ns].append((number, sent, row_of[source], row_of[destination], size))
    return setup, [((i + 1) * step_ns, places[i], Transmissions.of(packets[i])) for i in range(count)]


def _wifi_alone(folder: Path, setup: Any, steps: list[tuple[int, Any, Any]]) -> dict[str, Any]:
    from robonet.network.wifi.model import WifiNetwork
    from robonet.record.tables import Recorder
    from robonet.scenario import load_recorded

    (folder / "alone").mkdir(exist_ok=True)
    network = WifiNetwork(load_recorded(folder / "scenario.yaml").network, Recorder(folder / "alone" / "tables"))
    network.start(setup)
    network.medium.move(steps[0][1], 0)  # compiles
    began = time.process_time()
    for until, positions, transmissions in steps:
        network.step(until, positions, transmissions)
    cpu_s = time.process_time() - began
    return {"cpu_s": cpu_s, "delivered": network.end(steps[-1][0])["packets"]["delivered"]}


def _ns3_alone(folder: Path, setup: Any, steps: list[tuple[int, Any, Any]]) -> dict[str, Any]:
    from bridges.ns3.model import Ns3Network
    from bridges.ns3.replay import Tape
    from robonet.scenario import load_recorded

    tape = Tape(Ns3Network(load_recorded(folder / "scenario.yaml").network))
    tape.start(setup)  # says what the network is; the replay builds it again by itself
    for until, positions, transmissions in steps:
        tape.moves.append((tape.now, positions))
        tape.sent += transmissions.rows.tolist()
        tape.now = until
    delivered = len({packet for packet, _, _, _ in tape.replay(folder)})
    return {"cpu_s": tape.replay_cpu_s, "delivered": delivered}


# --- showing it --------------------------------------------------------------------------------------------


def _medians(turns: list[dict[str, float]]) -> dict[str, float]:
    return {key: statistics.median(turn[key] for turn in turns) for key in turns[0]}


def _words(turn: dict[str, float]) -> str:
    return ", ".join(f"{key} {value:.3g}" for key, value in turn.items())


def _table(results: list[dict[str, Any]]) -> Table:
    table = Table(title=f"CPU seconds, coupled and alone, the paper's workload over {results[0]['network']}")
    keys = [key for key in results[0] if key not in ("robots", "network")]
    for name in ("robots", *keys):
        table.add_column(name.replace("_", " "), justify="right")
    for row in results:
        table.add_row(str(row["robots"]), *(f"{row[key]:.3g}" for key in keys))
    return table


if __name__ == "__main__":
    sys.exit(main())
