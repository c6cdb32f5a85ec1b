"""What a robot simulator and a network simulator are to robonet: a few methods each.

A robot simulator has five, because control and motion are apart: while it moves, the network simulates the
same step. Everything is handed over as arrays; neither side knows about processes or sockets.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from robonet.clock import NS_PER_S
from robonet.link.messages import ARRIVAL, FAILURE, TRANSMISSION, Hello, Node, Obstacle, Welcome

Floats = NDArray[np.float64]


Records = NDArray[np.void]


class Transmissions(NamedTuple):
    """Packets handed to the network in one step."""

    rows: Records
    """TRANSMISSION records (robonet.link.messages), their numbers ascending."""
    payloads: list[memoryview] | None = None
    """Their bytes, where the network asked for them."""

    @staticmethod
    def of(rows: list[tuple[int, int, int, int, int]], payloads: list[memoryview] | None = None) -> "Transmissions":
        """From rows of (packet, time, source, destination, size)."""
        return Transmissions(np.array(rows, TRANSMISSION) if rows else NO_ROWS, payloads)


NO_ROWS: Records = np.empty(0, TRANSMISSION)
NO_ARRIVALS: Records = np.empty(0, ARRIVAL)
NO_FAILURES: Records = np.empty(0, FAILURE)


@dataclass(slots=True)
class Outcome:
    """What one step of the network brought."""

    arrivals: Records = field(default_factory=lambda: NO_ARRIVALS)
    """ARRIVAL records, in the order of arrival."""
    failures: Records = field(default_factory=lambda: NO_FAILURES)
    """FAILURE records of packets given up in this step."""
    neighbours: "Neighbours | None" = None
    queues: NDArray[np.uint32] | None = None
    payloads: list[memoryview] | None = None
    """Filled in by the link where packets come from another robot simulator, with the next one."""
    origins: Records | None = None
    """ORIGIN records of what arrived."""


class Neighbours(NamedTuple):
    """Who each node can reach: row i is `nodes[offsets[i]:offsets[i + 1]]`."""

    offsets: NDArray[np.uint32]
    nodes: NDArray[np.uint32]
    quality: NDArray[np.float32]
    """From 0 to 1."""
    signal_dbm: NDArray[np.float32] | None = None
    """How strongly each is received, where the model knows."""


class Setup(NamedTuple):
    """What the network simulator is told before the first step."""

    seed: int
    step_ns: int
    steps: int
    arena_low_m: tuple[float, float]
    arena_high_m: tuple[float, float]
    walls: bool
    obstacles: list[Obstacle]
    nodes: list[Node]
    groups: list[str]
    wants: frozenset[str]


class Offer(NamedTuple):
    """What the network simulator answers."""

    model: str
    feedback: frozenset[str] = frozenset()
    needs_payloads: bool = False
    longest_life_ns: int = 120 * NS_PER_S
    """No packet arrives later than this after it was sent: for so long its bytes are kept."""


class NetworkSimulator(Protocol):
    """Moves packets."""

    def start(self, setup: Setup) -> Offer:
        """Build the network."""
        ...

    def step(self, until: int, positions_m: Floats, transmissions: Transmissions) -> Outcome:
        """Simulate up to and including `until` with everyone at the given positions."""
        ...

    def end(self, now: int) -> dict[str, Any]:
        """Account for what is under way, close the record, report (docs/protocol.md, Ended)."""
        ...


class RobotSimulator(Protocol):
    """Moves robots."""

    def hello(self) -> Hello:
        """Introduce itself."""
        ...

    def start(self, welcome: Welcome) -> None:
        """Take in who there is and what the network offers."""
        ...

    def control(self, outcome: Outcome) -> tuple[Floats, Transmissions]:
        """At a step's border: take what arrived, sense, decide; say where everyone is and what is sent."""
        ...

    def advance(self) -> bool:
        """Move to the next border; whether the run should go on."""
        ...

    def end(self, outcome: Outcome, reason: str) -> None:
        """Take what arrived in the last step, finish."""
        ...
