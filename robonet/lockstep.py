"""Both simulators in one process, taking turns: the steps of the link without the link."""

from pathlib import Path
from typing import Any

from robonet.link.messages import PROTOCOL_VERSION, Hello, Welcome
from robonet.link.session import SOFTWARE
from robonet.link.simulators import Floats, NetworkSimulator, Offer, Outcome, Setup, Transmissions
from robonet.plugins import load
from robonet.record.tables import Recorder
from robonet.robots.simulator import RobonetRobots
from robonet.scenario.schema import Scenario


class Silence:
    """A network that carries nothing."""

    def start(self, setup: Setup) -> Offer:
        """Take in nothing."""
        return Offer("none", feedback=setup.wants)

    def step(self, until: int, positions_m: Floats, transmissions: Transmissions) -> Outcome:
        """Carry nothing."""
        return Outcome()

    def end(self, now: int) -> dict[str, Any]:
        """Report nothing."""
        return {}


class LockStep:
    """A robot simulator and a network simulator, one step after the other.

    What arrives in a step is handed to the robots at its end, so that it can be read between two steps.
    """

    def __init__(self, robots: RobonetRobots, network: NetworkSimulator) -> None:
        self.robots = robots
        self.network = network
        self.finished = False
        self.report: dict[str, Any] = {}
        """What the network said at the end."""
        hello = robots.hello()
        self._steps = hello.steps
        setup = setup_of(hello)
        offer = network.start(setup)
        self.model = offer.model
        robots.start(_welcome(setup, offer))
        robots.deliver(Outcome())

    def step(self) -> bool:
        """One step of both; whether there are more."""
        world = self.robots.world
        positions_m, sent = self.robots.decide()
        outcome = self.network.step(world.now + world.step_ns, positions_m, sent)
        if not self.robots.advance() or world.index >= self._steps:
            self.end(outcome)
            return False
        self.robots.deliver(outcome)
        return True

    def end(self, outcome: Outcome | None = None, reason: str = "finished") -> None:
        """No more steps."""
        if not self.finished:
            self.finished = True
            self.robots.end(outcome or Outcome(), reason)
            self.report = self.network.end(self.robots.world.now)


def network_of(scenario: Scenario, base: Path, recorder: Recorder | None = None) -> NetworkSimulator:
    """The network model that a scenario names."""
    model: NetworkSimulator = load(scenario.network.model, "networks", base)(scenario.network, recorder)
    return model


def setup_of(hello: Hello) -> Setup:
    """What a network is told when there is one robot simulator."""
    return Setup(
        seed=hello.seed,
        step_ns=hello.step_ns,
        steps=hello.steps,
        arena_low_m=hello.arena_low_m,
        arena_high_m=hello.arena_high_m,
        walls=hello.walls,
        obstacles=hello.obstacles,
        nodes=hello.nodes,
        groups=sorted({group for node in hello.nodes for group in node.groups}),
        wants=frozenset(hello.wants),
    )


def _welcome(setup: Setup, offer: Offer) -> Welcome:
    return Welcome(
        version=PROTOCOL_VERSION,
        software=SOFTWARE,
        model=offer.model,
        first_node=0,
        first_packet=0,
        directory=setup.nodes,
        groups=setup.groups,
        offers=sorted(offer.feedback & setup.wants),
        needs_payloads=offer.needs_payloads,
        longest_life_ns=offer.longest_life_ns,
    )
