"""Plays a workload on robonet's `wifi` model, with the same words for its results as ns3_peer has."""

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from ns3_peer.paper_workload import Radio, Workload

from robonet.link.messages import Node
from robonet.link.simulators import Setup, Transmissions
from robonet.network.wifi.model import WifiNetwork
from robonet.record.tables import Recorder, read_table
from robonet.scenario.schema import Network
from robonet.scenario.wifi import Aodv, LogDistance, Propagation, Wifi

KINDS = {
    "RouteRequest": "rreq",
    "RouteReply": "rrep",
    "RouteError": "rerr",
    "Hello": "hello",
    "RouteReplyAck": "rrep_ack",
    "Datagram": "data",
}


def wifi_settings(radio: Radio, rules: str = "rfc3561") -> Wifi:
    """The same radio in the words of a scenario; AODV by the RFC, or with ns-3's liberties."""
    law = LogDistance(exponent=radio.path_loss_exponent, reference_loss_db=radio.reference_loss_db)
    return Wifi(
        tx_power_dbm=radio.tx_power_dbm,
        propagation=Propagation(log_distance=law),
        arp=not radio.arp_filled,
        routing="aodv" if radio.aodv else "none",
        aodv=Aodv(rules=rules, hello=radio.hello),
    )


def play(workload: Workload, radio: Radio, seed: int, rules: str = "rfc3561") -> dict[str, Any]:
    """Play a workload with everything that a run writes; CPU seconds are those of the steps."""
    settings = wifi_settings(radio, rules)
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(Path(folder) / "tables")
        network = WifiNetwork(Network(model="wifi", wifi=settings), recorder)
        network.start(_setup(workload, seed))
        cpu_s = _steps(network, workload)
        report = network.end(workload.duration_ns)
        packets = read_table(Path(folder) / "tables" / "packets")
    return _row(workload, seed, report, packets or {}, cpu_s)


def _setup(workload: Workload, seed: int) -> Setup:
    nodes = [Node(name=f"robot{i}", groups=[], mobile=True, equipment={}) for i in range(workload.robots)]
    steps = len(workload.positions)
    return Setup(seed, workload.step_ns, steps, (0.0, 0.0), (1.0, 1.0), False, [], nodes, [], frozenset())


def _steps(network: WifiNetwork, workload: Workload) -> float:
    sends = workload.transmissions
    borders = np.searchsorted(sends["time_ns"], np.arange(len(workload.positions) + 1) * workload.step_ns)
    cpu_s = 0.0
    for step, place in enumerate(workload.positions):
        positions = np.zeros((workload.robots, 3))
        positions[:, :2] = place
        rows = [
            (number, *(int(value) for value in sends[number].item()))
            for number in range(int(borders[step]), int(borders[step + 1]))
        ]
        transmissions = Transmissions.of(rows)
        began = time.process_time()
        network.step((step + 1) * workload.step_ns, positions, transmissions)
        cpu_s += time.process_time() - began
    return cpu_s


def _row(
    workload: Workload, seed: int, report: dict[str, Any], packets: dict[str, Any], cpu_s: float
) -> dict[str, Any]:
    duration_s = workload.duration_ns / 1e9
    is_delivered = packets["fate"] == "delivered" if packets else np.zeros(0, bool)
    delays_ms = (packets["ended_ns"] - packets["sent_ns"])[is_delivered] / 1e6 if packets else np.zeros(0)
    radios = report["wifi"]
    sent = report["packets"]["sent"]
    return {
        "robots": workload.robots,
        "workload_seed": seed,
        "duration_s": duration_s,
        "sent": sent,
        "received": report["packets"]["delivered"],
        "delivery_ratio": report["packets"]["delivered"] / sent if sent else None,
        "delay_mean_ms": float(delays_ms.mean()) if len(delays_ms) else None,
        "delay_median_ms": statistics.median(delays_ms.tolist()) if len(delays_ms) else None,
        "hops_mean": report["hops"]["mean"],
        "frames": radios["frames"],
        "frames_by_kind": {KINDS.get(kind, kind): count for kind, count in radios["frames_by_content"].items()},
        "mac_retries": radios["retries"],
        "drops": report["packets"]["dropped"],
        "cpu_s": cpu_s,
    }
