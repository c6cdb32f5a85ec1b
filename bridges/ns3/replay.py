"""A co-simulation on tape, and the same run again in a program of ns-3 alone (the RoboNetSim paper, section 5.3)."""

import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from robonet.clock import s_from_ns
from robonet.errors import SimulatorError
from robonet.link.simulators import Floats, Offer, Outcome, Setup, Transmissions

from .compiled import compiled
from .model import Ns3Network
from .wheel import find_wheel

Arrival = tuple[int, int, int, int]
"""Packet, time in ns, receiver, hops."""


@dataclass
class Tape:
    """A network simulator that notes what it is told, and what arrives."""

    network: Ns3Network
    moves: list[tuple[int, Floats]] = field(default_factory=list)
    """When everyone went where."""
    sent: list[tuple[int, ...]] = field(default_factory=list)
    arrivals: list[Arrival] = field(default_factory=list)
    now: int = 0
    replay_cpu_s: float = 0.0
    """CPU seconds of the replay's simulation, without its start."""

    def start(self, setup: Setup) -> Offer:
        """Pass it on."""
        return self.network.start(setup)

    def step(self, until: int, positions_m: Floats, transmissions: Transmissions) -> Outcome:
        """Note it and pass it on."""
        self.moves.append((self.now, positions_m.copy()))
        self.sent += transmissions.rows.tolist()
        outcome = self.network.step(until, positions_m, transmissions)
        self.arrivals += [(row[0], row[1], row[2], row[4]) for row in outcome.arrivals.tolist()]
        self.now = until
        return outcome

    def end(self, now: int) -> dict[str, Any]:
        """Pass it on."""
        return self.network.end(now)

    def replay(self, folder: Path) -> list[Arrival]:
        """The same again in a process of ns-3 alone, from files in a folder."""
        files = [folder / name for name in ("description", "motion.ns2", "traffic", "arrivals")]
        files[0].write_text(self.network.description, encoding="utf-8")
        files[1].write_text(ns2_places(self.moves), encoding="utf-8")
        files[2].write_text("".join(f"{' '.join(map(str, row))}\n" for row in self.sent), encoding="utf-8")
        program = compiled(find_wheel(), "replay.cpp", is_library=False)
        command = [str(program), *map(str, files[:3]), str(self.now), str(files[3])]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SimulatorError(f"the replay in ns-3 ended with status {done.returncode}:\n{done.stderr.strip()}")
        self.replay_cpu_s = float(done.stdout)
        lines = files[3].read_text(encoding="utf-8").splitlines()
        return [(int(a), int(b), int(c), int(d)) for a, b, c, d in (line.split() for line in lines)]


def ns2_places(moves: list[tuple[int, Floats]]) -> str:
    """Places as an ns-2 movement file, to the last bit."""
    lines = []
    for time, positions_m in moves:
        for node, place in enumerate(positions_m.tolist()):
            for axis, value in zip("XYZ", place, strict=True):
                order = f"$node_({node}) set {axis}_ {value!r}"
                lines.append(order if time == 0 else f'$ns_ at {s_from_ns(time)!r} "{order}"')
    return "\n".join([*lines, ""])
