"""What every contender exchanges: some robots stand somewhere, one in twenty sends each step."""

from typing import NamedTuple

import numpy as np

from robonet.link.messages import ARRIVAL, TRANSMISSION, Step, Stepped, encode
from robonet.link.simulators import Transmissions

STEP_NS = 100_000_000
PACKET_BYTES = 100


class Traffic:
    """The robots' half of a step, made ready beforehand: the link is what is timed."""

    def __init__(self, robots: int, steps: int = 1) -> None:
        generator = np.random.default_rng(robots)
        self.senders = max(1, robots // 20)
        self.positions_m = generator.uniform(0.0, 1000.0, (robots, 3))
        first = np.zeros(self.senders, TRANSMISSION)
        first["packet"] = np.arange(self.senders)
        first["source"] = generator.choice(robots, self.senders, replace=False)
        first["destination"] = generator.integers(0, robots, self.senders)
        first["size"] = PACKET_BYTES
        first["time"] = np.sort(generator.integers(0, STEP_NS // 2, self.senders))
        rows = np.tile(first, (steps, 1))
        rows["packet"] += self.senders * np.arange(steps, dtype="<u8")[:, None]
        rows["time"] += STEP_NS * np.arange(steps)[:, None]
        self._steps = iter([Transmissions(part) for part in rows])

    def next_step(self) -> Transmissions:
        """What is sent in the next step."""
        return next(self._steps)


class Sizes(NamedTuple):
    """Bytes of robonet's two messages of a step."""

    step: int
    stepped: int


def message_sizes(robots: int, index: int = 1000) -> Sizes:
    """What robonet puts on the wire, so that bare ZeroMQ can carry as much."""
    traffic = Traffic(robots)
    sent = traffic.next_step()
    time = index * STEP_NS
    step = Step(index=index, time=time, positions=traffic.positions_m.data, packets=sent.rows.data)
    stepped = Stepped(index=index, time=time, arrivals=np.zeros(traffic.senders, ARRIVAL).data)
    return Sizes(len(encode(step)), len(encode(stepped)))


def pack(sent: Transmissions) -> bytes:
    """Transmissions as one run of bytes, for links that carry bytes."""
    return sent.rows.tobytes()


def arrivals_of(sent: Transmissions) -> np.ndarray:
    """What the network answers: everything arrives after one hop."""
    arrived = np.zeros(len(sent.rows), ARRIVAL)
    arrived["packet"], arrived["time"], arrived["receiver"] = (sent.rows[k] for k in ("packet", "time", "destination"))
    arrived["hops"], arrived["signal_dbm"] = 1, -60.0
    return arrived
