"""robonet's own robot simulator, phase by phase."""

from hashlib import blake2b
from pathlib import Path

import numpy as np

from robonet.link.messages import PROTOCOL_VERSION, Hello, Node, Welcome
from robonet.link.session import SOFTWARE
from robonet.link.simulators import Floats, Outcome, Transmissions
from robonet.plugins import load
from robonet.record.tables import Recorder
from robonet.robots.arena import for_the_network
from robonet.robots.controllers import Minds
from robonet.robots.hooks import HookChain
from robonet.robots.motion import PrescribedMotion
from robonet.robots.placement import place_all
from robonet.robots.radio import Ether
from robonet.robots.traffic import BackgroundTraffic
from robonet.robots.world import World
from robonet.scenario.schema import Robots, Scenario


class RobonetRobots:
    """A `RobotSimulator` (robonet.link.simulators) made of a scenario."""

    def __init__(self, scenario: Scenario, base: Path, recorder: Recorder | None = None, peer: str = "robots") -> None:
        kinds = {group.kind: load(group.kind, "robots", base) for group in scenario.robots}
        self.world = World(scenario, kinds)
        self._peer = peer
        self._recorder = recorder
        place_all(self.world)
        self._motion = PrescribedMotion(self.world, base)
        self._engine = load(scenario.engine, "engines", base)(self.world)
        groups_first = [group.rows.start for group in self.world.groups for _ in range(len(group))]
        self.ether = Ether(self.world.names, groups_first, self.world.step_ns, recorder)
        self._minds = Minds(self.world, self.ether, base)
        self._hooks = HookChain(self.world, base)
        self.motion_digest = blake2b(digest_size=16)
        self._record_every = max(1, round((scenario.record.poses_every_s or scenario.step_s) / scenario.step_s))
        if recorder is not None:
            self._poses = recorder.table(
                "poses",
                {"time_ns": "i8", "robot": "i4", "x_m": "f8", "y_m": "f8", "z_m": "f8", "heading_rad": "f8"},
                {"robot": self.world.names},
            )

    # --- what the link calls -----------------------------------------------------------------------------

    def hello(self) -> Hello:
        """Introduce the robots, their radios and the arena."""
        world = self.world
        nodes = []
        for group in world.groups:
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
            obstacles=[for_the_network(obstacle) for obstacle in world.arena.obstacles],
            nodes=nodes,
            wants=sorted(self._minds.wants),
        )

    def start(self, welcome: Welcome) -> None:
        """Start controllers, traffic and hooks."""
        self.ether.join(welcome)
        self._traffic = BackgroundTraffic(self.world, self.ether)
        self._minds.start()
        self._hooks.call("on_start")

    def control(self, outcome: Outcome) -> tuple[Floats, Transmissions]:
        """Deliver, sense, control, send."""
        world = self.world
        self.ether.deliver(outcome, world.now)
        self._hooks.call("before_step")
        self._record_poses()
        self._minds.step()
        self._traffic.send(world.now + world.step_ns)
        return world.xyz, self.ether.collect()

    def advance(self) -> bool:
        """Act and move; false when a hook ends the run."""
        self._engine.step()
        self.world.index += 1
        self._motion.step(self.world.now)
        self._hooks.call("after_step")
        if self._recorder is not None:
            self._recorder.tick()
        return not self._hooks.call("is_finished")

    def end(self, outcome: Outcome, reason: str) -> None:
        """Count what arrived in the last step, and close the record."""
        self.ether.deliver(outcome, self.world.now)
        self._record_poses(is_last=True)
        self._hooks.call("on_end")
        self.metrics = self._hooks.metrics()
        self.close()

    def close(self) -> None:
        """Write out what is recorded so far."""
        if self._recorder is not None:
            self._recorder.flush()

    # --- what it keeps -----------------------------------------------------------------------------------

    def _record_poses(self, *, is_last: bool = False) -> None:
        world = self.world
        self.motion_digest.update(world.xyz.data)
        self.motion_digest.update(world.heading.data)
        if self._recorder is None or (world.index % self._record_every and not is_last):
            return
        xyz = world.xyz[: world.robots].T.copy()
        time = np.full(world.robots, world.now, dtype=np.int64)
        rows = np.arange(world.robots, dtype=np.int32)
        self._poses.add_block((time, rows, *xyz, world.heading[: world.robots].copy()))
