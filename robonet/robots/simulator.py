"""robonet's own robot simulator, phase by phase."""

from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from robonet.link.messages import PROTOCOL_VERSION, Hello, Node, Welcome
from robonet.link.session import SOFTWARE
from robonet.link.simulators import Floats, Outcome, Transmissions
from robonet.record.tables import Recorder
from robonet.robots.arena import for_the_network
from robonet.robots.controllers import Minds
from robonet.robots.hooks import HookChain
from robonet.robots.motion import PrescribedMotion
from robonet.robots.physics import Physics
from robonet.robots.placement import place_all
from robonet.robots.radio import Ether
from robonet.robots.traffic import BackgroundTraffic
from robonet.robots.world import World
from robonet.scenario.arena import Objects
from robonet.scenario.schema import Robots, Scenario
from robonet.space import Ints


class RobonetRobots:
    """A `RobotSimulator` (robonet.link.simulators) made of a scenario."""

    def __init__(
        self, scenario: Scenario, base: Path, recorder: Recorder | None = None, peer: str = "robots",
        world: World | None = None,
    ) -> None:  # fmt: skip
        self.world = World(scenario, base) if world is None else world
        self._peer = peer
        self._recorder = recorder
        place_all(self.world)
        self._motion = PrescribedMotion(self.world, base)
        self._physics = Physics(self.world)
        groups_first = [group.rows.start for group in self.world.groups for _ in range(len(group))]
        nodes, names = self.world.nodes, self.world.names
        self.ether = Ether(names[:nodes], groups_first[:nodes], self.world.step_ns, recorder, self.world.present)
        self.minds = Minds(self.world, self.ether, base)
        self._hooks = HookChain(self.world, base)
        self.motion_digest = blake2b(digest_size=16)
        self.keeps_digests = True
        """Whether every position of everyone goes into a digest, which shows that two runs were the same."""
        self._record_every = max(1, round((scenario.record.poses_every_s or scenario.step_s) / scenario.step_s))
        if recorder is not None:
            columns = {"x_m": "f8", "y_m": "f8", "z_m": "f8", "heading_rad": "f8"}
            robots, objects = names[: self.world.robots], names[nodes:]
            self._poses = recorder.table("poses", {"time_ns": "i8", "robot": "i4", **columns}, {"robot": robots})
            if scenario.arena.bitmap is not None:
                _record_walls(self.world, recorder)
            if objects:
                self._things = recorder.table(
                    "objects", {"time_ns": "i8", "object": "i4", **columns}, {"object": objects}
                )

    # --- what the link calls -----------------------------------------------------------------------------

    def hello(self) -> Hello:
        """Introduce the robots, their radios and the arena."""
        world = self.world
        nodes = []
        for group in world.groups:
            if isinstance(group.settings, Objects):
                continue
            radio = {key: value for key, value in group.settings.radio.model_dump().items() if value is not None}
            member_of = [group.name] if len(group) > 1 else []
            mobile = isinstance(group.settings, Robots)
            nodes += [
                Node(name=name, groups=member_of, mobile=mobile, equipment=radio) for name in world.names[group.rows]
            ]
        return Hello(
            version=PROTOCOL_VERSION,
            software=SOFTWARE,
            peer=self._peer,
            step_ns=world.step_ns,
            steps=world.steps,
            seed=world.seed,
            arena_low_m=world.arena.low_m,
            arena_high_m=world.arena.high_m,
            walls=world.arena.walls,
            obstacles=[part for obstacle in world.solid for part in for_the_network(obstacle)],
            nodes=nodes,
            wants=sorted(self.minds.wants),
        )

    def start(self, welcome: Welcome) -> None:
        """Start controllers, traffic and hooks."""
        self.ether.join(welcome)
        self._traffic = BackgroundTraffic(self.world, self.ether)
        self.minds.start()
        self._paying = [
            (group.rows, self.world.devices[group.name].get("battery"))
            for group in self.world.groups
            if group.devices.battery is not None and group.devices.battery.send_j > 0
        ]
        """Whose batteries are drawn on by radios."""
        self._hooks.call("on_start")

    def control(self, outcome: Outcome) -> tuple[Floats, Transmissions]:
        """Deliver, sense, control, send."""
        self.deliver(outcome)
        return self.decide()

    def deliver(self, outcome: Outcome) -> None:
        """Let radios have what arrived."""
        self.ether.deliver(outcome, self.world.now)

    def decide(self) -> tuple[Floats, Transmissions]:
        """Sense, control, send."""
        world = self.world
        self._hooks.call("before_step")
        if world.scenario.hooks:  # which may put robots anywhere
            self._physics.refuse_nowhere()
        self._record_poses()
        world.look()
        self.minds.step()
        self._traffic.send(world.now + world.step_ns)
        sent = self.ether.collect()
        if self._paying and len(sent.rows):
            counts = self.ether.counts(sent)
            for rows, battery in self._paying:
                battery.spend(counts[rows] * battery.send_j)
        return world.xyz[: world.nodes], sent

    def advance(self) -> bool:
        """Act and move; false when a hook ends the run."""
        self._physics.step()
        self.world.index += 1
        self._motion.step(self.world.now)
        self._physics.finish()
        self._hooks.call("after_step")
        if self._recorder is not None:
            self._recorder.tick()
        return not self._hooks.call("is_finished")

    def end(self, outcome: Outcome, reason: str) -> None:
        """Count what arrived in the last step, and close the record."""
        self.deliver(outcome)
        self._record_poses(is_last=True)
        self._hooks.call("on_end")
        self.metrics = self._hooks.metrics()
        self.close()

    def close(self) -> None:
        """Write out what is recorded so far."""
        if self._recorder is not None:
            self._recorder.flush()

    def digests(self) -> dict[str, str]:
        """What shows that two runs were the same, as far as robots know."""
        return {
            "motion": self.motion_digest.hexdigest(),
            "traffic": self.ether.sent_digest.hexdigest(),
            "arrivals": self.ether.heard_digest.hexdigest(),
        }

    # --- what it keeps -----------------------------------------------------------------------------------

    def _record_poses(self, *, is_last: bool = False) -> None:
        world = self.world
        if self.keeps_digests:
            self.motion_digest.update(world.xyz.data)
            self.motion_digest.update(world.heading.data)
        if self._recorder is None or (world.index % self._record_every and not is_last):
            return
        robots = np.flatnonzero(world.present[: world.robots])
        self._poses.add_block(_poses_of(world, robots, 0))
        if world.bodies > world.nodes:
            objects = np.flatnonzero(world.present[world.nodes :]) + world.nodes
            self._things.add_block(_poses_of(world, objects, world.nodes))


def _poses_of(world: World, rows: Ints, first: int) -> tuple[Any, ...]:
    time = np.full(len(rows), world.now, dtype=np.int64)
    return (time, (rows - first).astype(np.int32), *world.xyz[rows].T.copy(), world.heading[rows])


def _record_walls(world: World, recorder: Recorder) -> None:
    """The boxes that the floor plan became, so that a run can be drawn without the plan."""
    walls = recorder.table("walls", {"x_m": "f8", "y_m": "f8", "width_m": "f8", "height_m": "f8"}, {})
    boxes = [obstacle.box for obstacle in world.solid[len(world.arena.obstacles) :] if obstacle.box is not None]
    rows = np.array([(*box.center_m, *box.size_m) for box in boxes])
    walls.add_block(tuple(rows.T.copy()))
