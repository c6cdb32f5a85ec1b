"""A co-simulation and the same motion and traffic in ns-3 alone: the RoboNetSim paper, section 5.3.

robots --positions, packets--> ns-3 in steps --> arrivals
   |                                                =
   +-- movement file, traffic file --> ns-3 alone --> arrivals     to the nanosecond
"""

import sys

import numpy as np
import pytest
from conftest import ROOT
from test_ns3 import STEP_NS, need_ns3, network, setup_of

from bridges.ns3.model import Ns3Network
from bridges.ns3.replay import Tape
from robonet.link.messages import BROADCAST, PROTOCOL_VERSION, Hello, Node
from robonet.link.robots_side import RobotsSide
from robonet.link.simulators import Transmissions
from robonet.network.wifi.model import WifiNetwork
from robonet.testing import LIMITS, network_in_memory

sys.path.insert(0, str(ROOT / "benchmarks"))

SECONDS = 8.0
SEED = 3


@pytest.fixture(autouse=True)
def installed():
    need_ns3()


class Walk:
    """The paper's robots: where they are at every step, and what they send in it."""

    def __init__(self, robots, *, broadcast=False):
        from ns3_peer.paper_workload import paper_workload

        self.workload = paper_workload(robots, SECONDS, SEED)
        self.robots = robots
        self.steps = []
        rows = self.workload.transmissions
        for step, place in enumerate(self.workload.positions):
            positions_m = np.zeros((robots, 3))
            positions_m[:, :2] = place
            first, last = np.searchsorted(rows["time_ns"], [step * STEP_NS, (step + 1) * STEP_NS])
            sends = []
            for number in range(first, last):
                time, source, destination, size = rows[number].item()
                sends.append((number, time, source, BROADCAST if broadcast else destination, size))
            # Controllers send at borders, where timers of ns-3 are due as well.
            if step % 10 == 5:
                border = (100_000 + step, step * STEP_NS, step % robots, (step + 1) % robots, 50)
                sends = [border[:3] + ((BROADCAST,) if broadcast else border[3:4]) + border[4:], *sends]
            self.steps.append((positions_m, sends))

    def setup(self):
        return setup_of([Node(name=f"r{i}") for i in range(self.robots)], seed=SEED, wants=())

    def play(self, simulator, parts=1):
        """Step by step, each cut into parts."""
        simulator.start(self.setup())
        arrivals = []
        for step, (positions_m, sends) in enumerate(self.steps):
            for part in range(parts):
                begin = step * STEP_NS + part * STEP_NS // parts
                end = step * STEP_NS + (part + 1) * STEP_NS // parts
                due = [row for row in sends if begin <= row[1] < end]
                arrivals += simulator.step(end, positions_m, Transmissions.of(due)).arrivals.tolist()
        simulator.end(len(self.steps) * STEP_NS)
        return [(row[0], row[1], row[2], row[4]) for row in arrivals]


class Robots:
    """A walk as a robot simulator, for the real link."""

    def __init__(self, walk):
        self.walk, self.step, self.arrivals = walk, 0, []

    def hello(self):
        nodes = [Node(name=f"r{i}") for i in range(self.walk.robots)]
        return Hello(
            version=PROTOCOL_VERSION, software="test", peer="walk", step_ns=STEP_NS, steps=len(self.walk.steps),
            seed=SEED, arena_low_m=(0.0, 0.0), arena_high_m=(1e4, 1e4), walls=False, obstacles=[], nodes=nodes,
        )  # fmt: skip

    def start(self, welcome):
        """There is nothing to learn."""

    def control(self, outcome):
        self._note(outcome)
        positions_m, sends = self.walk.steps[self.step]
        return positions_m, Transmissions.of(sends)

    def advance(self):
        self.step += 1
        return self.step < len(self.walk.steps)

    def end(self, outcome, reason):
        self._note(outcome)

    def _note(self, outcome):
        self.arrivals += [(row[0], row[1], row[2], row[4]) for row in outcome.arrivals.tolist()]


def over_the_link(simulator, walk):
    robots = Robots(walk)
    with network_in_memory(simulator) as connection:
        RobotsSide(robots, connection, LIMITS).run()
    return robots.arrivals


KINDS = pytest.mark.parametrize("broadcast", [False, True], ids=["AODV unicast", "broadcast"])
SIZES = pytest.mark.parametrize("robots", [10, 50])


@KINDS
@SIZES
def test_ns3_alone_delivers_the_same_at_the_same_nanosecond(tmp_path, robots, broadcast):
    tape = Tape(network(routing="aodv"))
    arrivals = Walk(robots, broadcast=broadcast).play(tape)
    assert len(arrivals) > 3 * robots
    assert tape.replay(tmp_path) == arrivals


def test_a_program_that_shares_no_line_with_the_bridge_delivers_the_same(tmp_path):
    """The benchmark's ns-3 program schedules the whole run before it begins."""
    from ns3_peer import peer
    from ns3_peer.paper_workload import Radio, write_ns3

    radio = Radio(arp_filled=True)
    walk = Walk(50)
    walk.steps = [(place, [row for row in sends if row[0] < 100_000]) for place, sends in walk.steps]
    found = walk.play(network(routing="aodv", tx_power_dbm=radio.tx_power_dbm))
    peer.run(write_ns3(tmp_path / "workload", walk.workload, radio), SEED, packets_file=tmp_path / "packets")
    theirs = peer.read_packets(tmp_path / "packets").tolist()
    assert len(found) > 100
    assert {packet: [time, hops] for packet, time, _, hops in found} == {
        packet: row for packet, row in enumerate(theirs) if row[0] >= 0
    }


@pytest.mark.parametrize("model", [Ns3Network, WifiNetwork])
@KINDS
@SIZES
def test_steps_do_not_show(robots, broadcast, model):
    """By hand, in halves of steps, and over the real link: the same arrivals."""
    walk = Walk(robots, broadcast=broadcast)
    alone = walk.play(network(model, routing="aodv"))
    assert len(alone) > 3 * robots
    assert walk.play(network(model, routing="aodv"), parts=2) == alone
    total = 0
    for _, sends in walk.steps:  # the link wants numbers ascending
        sends[:] = [(total + index, *row[1:]) for index, row in enumerate(sends)]
        total += len(sends)
    assert over_the_link(network(model, routing="aodv"), walk) == walk.play(network(model, routing="aodv"))
