"""What every contender exchanges: some robots stand somewhere, one in twenty sends each step."""

from typing import NamedTuple

import numpy as np

from robonet.link.messages import ARRIVAL, TRANSMISSION, Step, Stepped, encode
from robonet.link.simulators import Transmissions

STEP_NS = 100_000_000
PACKET_BYTES = 100


class Traffic:
    """The robots' half of a step, renewed in place in a microsecond: the link is what is timed."""

    def __init__(self, robots: int) -> None:
        generator = np.random.default_rng(robots)
        self.senders = max(1, robots // 20)
        self.positions_m = generator.uniform(0.0, 1000.0, (robots, 3))
        self._rows = np.zeros(self.senders, TRANSMISSION)
        self._rows["packet"] = np.arange(self.senders)
        self._rows["source"] = generator.choice(robots, self.senders, replace=False)
        self._rows["destination"] = generator.integers(0, robots, self.senders)
        self._rows["size"] = PACKET_BYTES
        self._rows["time"] = np.sort(generator.integers(0, STEP_NS // 2, self.senders))
        self._is_first = True

    def next_step(self) -> Transmissions:
        """What is sent in the next step."""
        if not self._is_first:
            self._rows["packet"] += self.senders
            self._rows["time"] += STEP_NS
        self._is_first = False
        return Transmissions(self._rows)


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


def deliver(data: bytes, out: np.ndarray) -> bytes:
    """The network's half of a step, for links that carry bytes: everything arrives after one hop."""
    sent = np.frombuffer(data, TRANSMISSION)
    out["packet"], out["receiver"], out["time"] = sent["packet"], sent["destination"], sent["time"]
    out["hops"], out["signal_dbm"] = 1, -60.0
    return out.tobytes()
