"""The RoboNetSim paper's performance workload (section 5.1), made from a seed with nothing but numpy.

One `Workload` says where every robot is at every step and who sends what to whom when. Whatever is measured
against ns-3 plays the same arrays: robonet reads `positions` and `transmissions`, ns-3 the file that
`write_ns3` makes of them.

The paper fixes the density (50 robots on 500 x 500 m), the speed (1 m/s), the step (0.1 s), the senders (20 % of
the robots, 5 packets/s each to one random other robot) and the stack (UDP over AODV over 802.11). It leaves open
the payload, the radio's range and the diffusion; here they are 64 B, 120 m, and straight walks that turn by
chance every 5 to 15 s and rebound from the walls.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

NS_PER_S = 1_000_000_000
PAPER_ROBOTS = 50
PAPER_SIDE_M = 500.0
SPEED_M_PER_S = 1.0
STEP_NS = NS_PER_S // 10
SENDERS_SHARE = 0.2
PACKETS_PER_S = 5
PAYLOAD_BYTES = 64
TRAFFIC_START_NS = NS_PER_S
TURN_PERIOD_S = (5.0, 15.0)
PREAMBLE_FLOOR_DBM = -82.0
"""ns-3's default."""

TRANSMISSION = np.dtype(
    [("time_ns", "<i8"), ("source", "<i4"), ("destination", "<i4"), ("payload_bytes", "<i4")]
)  # packed: the file holds the array as it lies in memory
"""One packet handed to UDP. Sorted by time, ties by source; its index in the array is the packet's identity."""


@dataclass(frozen=True)
class Radio:
    """The radio and the stack above it; what is not here keeps ns-3's default."""

    standard: str = "802.11a"
    rate: str = "OfdmRate6Mbps"
    """Mode of data, control and broadcast frames alike, in ns-3's words."""
    tx_power_dbm: float = 27.053
    """-82 dBm, ns-3's default floor of preamble detection, at 120 m."""
    path_loss_exponent: float = 3.0
    reference_loss_db: float = 46.6777
    """At 1 m."""
    aodv: bool = True
    """False: only neighbours reach each other."""
    hello: bool = True
    """AODV's hello messages."""
    arp_filled: bool = False
    """True: everyone knows everyone's MAC address from the start."""
    attributes: Mapping[str, str] = field(default_factory=dict)
    """Other defaults of ns-3 to change, such as {"ns3::WifiMacQueue::MaxDelay": "100s"}."""

    @property
    def range_m(self) -> float:
        """Where the signal falls below the floor of preamble detection; at 6 Mbit/s delivery ends there."""
        budget_db = self.tx_power_dbm - self.reference_loss_db - PREAMBLE_FLOOR_DBM
        return float(10.0 ** (budget_db / (10.0 * self.path_loss_exponent)))


@dataclass(frozen=True)
class Workload:
    """Where the robots are and what they send."""

    positions: np.ndarray
    """float64 (steps, robots, 2), metres; row k holds from k * step_ns until the next row."""
    transmissions: np.ndarray
    """dtype TRANSMISSION."""
    step_ns: int
    duration_ns: int

    @property
    def robots(self) -> int:
        """How many robots there are."""
        return self.positions.shape[1]


def paper_workload(robots: int, duration_s: float, seed: int) -> Workload:
    """The paper's workload for that many robots; equal arguments give equal arrays."""
    if robots < 2:
        raise ValueError(f"robots is {robots}: a sender needs another robot to send to")
    duration_ns = round(duration_s * NS_PER_S)
    steps = -(-duration_ns // STEP_NS)
    # Two generators: the same walks whatever the traffic is.
    walk, traffic = (np.random.default_rng(child) for child in np.random.SeedSequence((robots, seed)).spawn(2))
    return Workload(
        positions=diffusion(robots, steps, arena_side_m(robots), walk),
        transmissions=cbr_traffic(robots, duration_ns, traffic),
        step_ns=STEP_NS,
        duration_ns=duration_ns,
    )


def arena_side_m(robots: int) -> float:
    """Side of the square that keeps the paper's density."""
    return PAPER_SIDE_M * float(np.sqrt(robots / PAPER_ROBOTS))


def diffusion(robots: int, steps: int, side_m: float, rng: np.random.Generator) -> np.ndarray:
    """Robots that start anywhere, walk straight, turn by chance and rebound from the walls: (steps, robots, 2)."""
    step_s = STEP_NS / NS_PER_S
    place = rng.uniform(0.0, side_m, (robots, 2))
    direction = _unit_vectors(rng, robots)
    turn_s = rng.uniform(0.0, TURN_PERIOD_S[1], robots)  # not all at once
    positions = np.empty((steps, robots, 2))
    for step in range(steps):
        positions[step] = place
        # Drawn for all at every step, so that one robot's turns never shift another's numbers.
        new_direction = _unit_vectors(rng, robots)
        new_period_s = rng.uniform(*TURN_PERIOD_S, robots)
        is_turning = turn_s <= step * step_s
        direction = np.where(is_turning[:, None], new_direction, direction)
        turn_s = np.where(is_turning, step * step_s + new_period_s, turn_s)
        place = place + SPEED_M_PER_S * step_s * direction
        is_outside = (place < 0.0) | (place > side_m)
        place = np.where(is_outside, 2.0 * np.clip(place, 0.0, side_m) - place, place)
        direction = np.where(is_outside, -direction, direction)
    return positions


def _unit_vectors(rng: np.random.Generator, count: int) -> np.ndarray:
    angles = rng.uniform(-np.pi, np.pi, count)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def cbr_traffic(robots: int, duration_ns: int, rng: np.random.Generator) -> np.ndarray:
    """Every fifth robot sends at a constant rate to one other robot, each with a phase of its own."""
    senders = np.sort(rng.choice(robots, max(1, round(SENDERS_SHARE * robots)), replace=False))
    others = rng.integers(0, robots - 1, senders.size)
    destinations = others + (others >= senders)  # anyone but the sender itself
    period_ns = NS_PER_S // PACKETS_PER_S
    starts_ns = TRAFFIC_START_NS + rng.integers(0, period_ns, senders.size)
    rounds = max(0, -(-(duration_ns - TRAFFIC_START_NS) // period_ns))
    times_ns = starts_ns[None, :] + period_ns * np.arange(rounds)[:, None]
    transmissions = np.zeros(times_ns.shape, TRANSMISSION)
    transmissions["time_ns"] = times_ns
    transmissions["source"] = senders
    transmissions["destination"] = destinations
    transmissions["payload_bytes"] = PAYLOAD_BYTES
    transmissions = transmissions[times_ns < duration_ns]
    return np.sort(transmissions, order=["time_ns", "source"])


def shortest_hops(workload: Workload, range_m: float) -> np.ndarray:
    """For each transmission the fewest hops to its destination when it is sent, 0 where there is no path.

    No routing can deliver at once what has no path, so this bounds the delivery ratio whatever is measured.
    """
    hops = np.zeros(workload.transmissions.size, np.int64)
    steps = workload.transmissions["time_ns"] // workload.step_ns
    for step in np.unique(steps):
        place = workload.positions[min(int(step), len(workload.positions) - 1)]
        is_link = np.square(place[:, None] - place[None]).sum(axis=2) <= range_m**2
        for index in np.flatnonzero(steps == step):
            source, destination = (int(workload.transmissions[index][end]) for end in ("source", "destination"))
            hops[index] = _hops_between(is_link, source, destination)
    return hops


def _hops_between(is_link: np.ndarray, source: int, destination: int) -> int:
    is_reached = is_link[source].copy()
    hops = 1
    while not is_reached[destination]:
        is_next = is_link[is_reached].any(axis=0)
        if (is_next == is_reached).all():
            return 0
        is_reached = is_next
        hops += 1
    return hops


def write_ns3(path: str | Path, workload: Workload, radio: Radio | None = None) -> Path:
    """Write the workload as workload.cpp reads it: lines of text, `data`, then the two arrays."""
    radio = Radio() if radio is None else radio
    steps, robots, _ = workload.positions.shape
    header = {
        "nodes": robots,
        "step_ns": workload.step_ns,
        "steps": steps,
        "duration_ns": workload.duration_ns,
        "transmissions": workload.transmissions.size,
        "standard": radio.standard,
        "rate": radio.rate,
        "tx_power_dbm": repr(radio.tx_power_dbm),
        "path_loss_exponent": repr(radio.path_loss_exponent),
        "reference_loss_db": repr(radio.reference_loss_db),
        "aodv": int(radio.aodv),
        "hello": int(radio.hello),
        "arp_filled": int(radio.arp_filled),
    }
    lines = ["robonet-ns3-workload 1", *(f"{key} {value}" for key, value in header.items())]
    lines += [f"attribute {name} {value}" for name, value in radio.attributes.items()]
    path = Path(path)
    with path.open("wb") as file:
        file.write(("\n".join([*lines, "data"]) + "\n").encode())
        file.write(np.ascontiguousarray(workload.positions, "<f8").tobytes())
        file.write(np.ascontiguousarray(workload.transmissions, TRANSMISSION).tobytes())
    return path
