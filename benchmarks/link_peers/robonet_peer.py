"""robonet as in a run: both drivers, all checks, the ZeroMQ transport; only the simulators are trivial."""

from typing import Any

from link_peers.burn import burn
from link_peers.traffic import STEP_NS, Traffic, arrivals_of
from link_peers.turns import Job, Turns
from robonet.link.endpoints import parse_endpoint
from robonet.link.messages import PROTOCOL_VERSION, Hello, Node, Welcome
from robonet.link.network_side import NetworkSide
from robonet.link.robots_side import RobotsSide
from robonet.link.session import SOFTWARE
from robonet.link.simulators import Floats, Offer, Outcome, Setup, Transmissions
from robonet.link.zmq_transport import ZmqConnection, ZmqListener
from robonet.scenario.schema import Limits


class Robots:
    """Stands still, sends, and burns time where a robot simulator would move."""

    def __init__(self, job: Job, turns: Turns) -> None:
        self._job = job
        self._turns = turns
        self._traffic = Traffic(job.robots, job.total_steps)

    def hello(self) -> Hello:
        return Hello(
            version=PROTOCOL_VERSION,
            software=SOFTWARE,
            peer="robots",
            step_ns=STEP_NS,
            steps=self._job.total_steps,
            seed=1,
            arena_low_m=(0.0, 0.0),
            arena_high_m=(1000.0, 1000.0),
            walls=False,
            obstacles=[],
            nodes=[Node(name=f"robot{i}") for i in range(self._job.robots)],
        )

    def start(self, welcome: Welcome) -> None:
        pass

    def control(self, outcome: Outcome) -> tuple[Floats, Transmissions]:
        self._turns.tick()
        return self._traffic.positions_m, self._traffic.next_step()

    def advance(self) -> bool:
        burn(self._job.robots_burn)
        return True

    def end(self, outcome: Outcome, reason: str) -> None:
        self._turns.tick()


class Network:
    """Everything arrives after one hop."""

    def __init__(self, job: Job) -> None:
        self._burn = job.network_burn
        traffic = Traffic(job.robots, job.total_steps)
        self._outcomes = iter([Outcome(arrivals_of(traffic.next_step())) for _ in range(job.total_steps)])

    def start(self, setup: Setup) -> Offer:
        return Offer(model="trivial")

    def step(self, until: int, positions_m: Floats, transmissions: Transmissions) -> Outcome:
        burn(self._burn)
        return next(self._outcomes)

    def end(self, now: int) -> dict[str, Any]:
        return {}


def drive(job: Job, turns: Turns) -> None:
    connection = ZmqConnection(parse_endpoint(f"ipc://{job.folder}/link"))
    try:
        RobotsSide(Robots(job, turns), connection, Limits()).run()
    finally:
        connection.close()


def answer(job: Job) -> None:
    listener = ZmqListener(parse_endpoint(f"ipc://{job.folder}/link"))
    try:
        NetworkSide(Network(job), listener, Limits()).serve()
    finally:
        listener.close()
