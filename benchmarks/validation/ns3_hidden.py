"""Hidden terminals with Poisson traffic, measured with ns-3 for longer than the reference rows were.

Run as `python -m validation.ns3_hidden` from benchmarks/ for the rows of `reference.HIDDEN_POISSON_LONG`. Both
simulators are given the same packets at the same times.
"""

import tempfile
from pathlib import Path

import numpy as np
from ns3_peer import peer
from ns3_peer.paper_workload import TRANSMISSION, Radio, write_ns3
from ns3_peer.simple_cases import TX_POWER_DBM, standing

from .stage import line, poisson_sends

SPACING_M = 40.0
SECONDS = 40.0
SEEDS = tuple(range(1, 11))
LOADS_MBPS = (0.25, 0.5, 1.0, 1.5)
PAYLOAD_BYTES = 1000


def hidden_poisson(load_mbps: float, rts: bool, seed: int, seconds: float = SECONDS) -> tuple[float, float]:
    """Goodput in Mbit/s, and the share of attempts without an answer."""
    sends = poisson_sends(((0, 1), (2, 1)), load_mbps, PAYLOAD_BYTES, seconds, seed)
    rows = np.array([(time, source, to, PAYLOAD_BYTES) for time, source, to in sends], TRANSMISSION)
    attributes = {"ns3::WifiMacQueue::MaxDelay": "100s"}
    if rts:
        attributes["ns3::WifiRemoteStationManager::RtsCtsThreshold"] = "0"
    radio = Radio(tx_power_dbm=TX_POWER_DBM, aodv=False, arp_filled=True, attributes=attributes)
    with tempfile.TemporaryDirectory(prefix="robonet-ns3-") as folder:
        file = write_ns3(Path(folder) / "workload", standing(line(3, SPACING_M)[:, :2], rows, seconds), radio)
        counts = peer.run(file, seed)
    frames = counts["frames_by_kind"]
    attempts = frames["rts"] if rts else frames["data"]
    return 8e-6 * PAYLOAD_BYTES * counts["received"] / seconds, 1 - frames["ack"] / attempts


def main() -> None:
    """Print a row for each load."""
    for rts in (False, True):
        for load in LOADS_MBPS:
            rows = np.array([hidden_poisson(load, rts, seed) for seed in SEEDS])
            goodput, collision = rows.mean(axis=0)
            print(f"    ({load}, {rts}): ({goodput:.4f}, {collision:.4f}),", flush=True)


if __name__ == "__main__":
    main()
