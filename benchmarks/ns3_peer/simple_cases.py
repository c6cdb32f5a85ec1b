"""Small cases with published or known answers, asked of ns-3: saturated senders in one place, and chains of nodes.

Run as `python -m ns3_peer.simple_cases` from benchmarks/ for a table. Everything is 802.11a at 6 Mbit/s with
16.0206 dBm, which ends at 51.5 m.
"""

import tempfile
from pathlib import Path

import numpy as np

from . import peer
from .paper_workload import NS_PER_S, TRANSMISSION, Radio, Workload, write_ns3

TX_POWER_DBM = 16.0206
CHAIN_SPACING_M = 40.0
WARM_UP_S = 1.0


def standing(places: np.ndarray, transmissions: np.ndarray, duration_s: float) -> Workload:
    """A workload of nodes that never move, all transmissions sorted."""
    duration_ns = round(duration_s * NS_PER_S)
    transmissions = np.sort(transmissions, order=["time_ns", "source"])
    return Workload(places[None], transmissions, step_ns=duration_ns, duration_ns=duration_ns)


def stream(source: int, destination: int, payload_bytes: int, start_s: float, end_s: float, rate: float) -> np.ndarray:
    """Packets at `rate` a second."""
    count = max(0, int((end_s - start_s) * rate))
    transmissions = np.zeros(count, TRANSMISSION)
    transmissions["time_ns"] = np.round((start_s + np.arange(count) / rate) * NS_PER_S)
    transmissions["source"] = source
    transmissions["destination"] = destination
    transmissions["payload_bytes"] = payload_bytes
    return transmissions


def saturated_mbps(senders: int, payload_bytes: int, rts: bool, seed: int, duration_s: float = 5.0) -> float:
    """Goodput at one receiver of senders around it that always have a packet waiting."""
    angles = 2 * np.pi * np.arange(senders) / senders
    places = np.concatenate([np.zeros((1, 2)), 5.0 * np.stack([np.cos(angles), np.sin(angles)], axis=1)])
    rate = 6e6 / (8 * (payload_bytes + 64))  # more than fits beside preambles, gaps and ACKs
    # 0.1 ms apart, or the first packets of all would collide.
    offers = [stream(1 + i, 0, payload_bytes, 0.1 + 1e-4 * i, duration_s, rate) for i in range(senders)]
    attributes = {"ns3::WifiRemoteStationManager::RtsCtsThreshold": "0"} if rts else {}
    radio = Radio(tx_power_dbm=TX_POWER_DBM, aodv=False, arp_filled=True, attributes=attributes)
    return _goodput_mbps(standing(places, np.concatenate(offers), duration_s), radio, seed, WARM_UP_S)


def chain_first_ms(hops: int, seed: int) -> float | None:
    """Delay of the first packet over a chain, AODV's discovery included; None if it was lost."""
    duration_s = 8.0
    workload = standing(_chain(hops), stream(0, hops, 64, 5.0, duration_s, 4.0), duration_s)
    arrivals = _arrivals_ns(workload, Radio(tx_power_dbm=TX_POWER_DBM), seed)
    return None if arrivals[0] < 0 else float(arrivals[0] - workload.transmissions["time_ns"][0]) / 1e6


def chain_steady_ms(hops: int, seed: int) -> float:
    """Median delay over a chain whose route is known."""
    duration_s = 8.0
    workload = standing(_chain(hops), stream(0, hops, 64, 3.0, duration_s, 4.0), duration_s)
    arrivals = _arrivals_ns(workload, Radio(tx_power_dbm=TX_POWER_DBM), seed)
    return float(np.median((arrivals - workload.transmissions["time_ns"])[arrivals >= 0])) / 1e6


def chain_mbps(hops: int, seed: int, duration_s: float = 12.0) -> float:
    """Goodput of a chain that is offered 6 Mbit/s in packets of 1000 B."""
    workload = standing(_chain(hops), stream(0, hops, 1000, 1.0, duration_s, 750.0), duration_s)
    return _goodput_mbps(workload, Radio(tx_power_dbm=TX_POWER_DBM), seed, 4.0)


def _chain(hops: int) -> np.ndarray:
    return np.stack([CHAIN_SPACING_M * np.arange(hops + 1), np.zeros(hops + 1)], axis=1)


def _goodput_mbps(workload: Workload, radio: Radio, seed: int, from_s: float) -> float:
    arrivals = _arrivals_ns(workload, radio, seed)
    seconds = workload.duration_ns / NS_PER_S - from_s
    counted = workload.transmissions["payload_bytes"][arrivals >= from_s * NS_PER_S]
    return float(8e-6 * counted.sum() / seconds)


def _arrivals_ns(workload: Workload, radio: Radio, seed: int) -> np.ndarray:
    with tempfile.TemporaryDirectory(prefix="robonet-ns3-") as folder:
        file = write_ns3(Path(folder) / "workload", workload, radio)
        packets = Path(folder) / "packets"
        peer.run(file, seed, packets_file=packets)
        return peer.read_packets(packets)[:, 0]


def main() -> None:
    """Print all cases."""
    for payload in (64, 256, 1000, 1472):
        print(f"one saturated sender, {payload:4d} B: {saturated_mbps(1, payload, False, 1):.3f} Mbit/s", flush=True)
    for rts in (False, True):
        for senders in (2, 5, 10, 20):
            goodput = np.mean([saturated_mbps(senders, 1000, rts, seed) for seed in (1, 2)])
            print(f"{senders:2d} saturated senders, 1000 B, RTS {rts:d}: {goodput:.3f} Mbit/s", flush=True)
    for hops in (1, 2, 3, 5):
        firsts = [first for seed in range(1, 11) if (first := chain_first_ms(hops, seed)) is not None]
        steady = chain_steady_ms(hops, 1)
        print(
            f"{hops} hops: first packet {np.median(firsts):.2f} ms ({len(firsts)}/10), steady {steady:.4f} ms",
            flush=True,
        )
    for hops in range(1, 6):
        goodput = np.mean([chain_mbps(hops, seed) for seed in (1, 2)])
        print(f"{hops}-hop chain, 6 Mbit/s offered: {goodput:.3f} Mbit/s", flush=True)


if __name__ == "__main__":
    main()
