"""A whole simulation in one's own script or notebook: no processes, no files, one step at a time.

import robonet

with robonet.World("hello.yaml") as world:
while world.step():
print(world.time_s, world.xyz[0])

world = robonet.World(robots=[{"name": "scout", "count": 50}], arena={"size_m": [20, 20]}, network=None)
team = world["scout"]
team.wheels.set_speed(0.1, 0.1)
world.step(100)
print(team.proximity.distances_m.min())
"""

from pathlib import Path
from types import TracebackType
from typing import Any

import yaml

from robonet.errors import UserError
from robonet.lockstep import LockStep, Silence, network_of
from robonet.robots.controllers import Controller, SwarmController
from robonet.robots.simulator import RobonetRobots
from robonet.robots.world import World as WorldState
from robonet.scenario import LoadedScenario, load_scenario, parse_scenario

AS_THE_SCENARIO_SAYS = "as the scenario says"
LONG_S = 1e6
"""How long a world made from keywords can go on."""


class World(WorldState):
    """The world of a scenario that is stepped by its owner; hooks see the same object.

    Made from a scenario file, or from the sections of a scenario as keywords. `network` chooses another network
    model, or with None leaves radios silent, which is fastest.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        variant: str | None = None,
        overrides: tuple[str, ...] = (),
        network: str | None = AS_THE_SCENARIO_SAYS,
        **sections: Any,
    ) -> None:
        if network is not None and network != AS_THE_SCENARIO_SAYS:
            overrides = (*overrides, f"network.model={network}")
        loaded = _loaded(path, sections, overrides, variant)
        super().__init__(loaded.scenario, loaded.base)
        self._simulator = RobonetRobots(loaded.scenario, loaded.base, world=self)
        model = Silence() if network is None else network_of(loaded.scenario, loaded.base)
        self._both = LockStep(self._simulator, model)
        for carried in self.devices.values():
            carried.start()
        self._hands: dict[str, Controller | SwarmController] = {}
        self.metrics: dict[str, Any] = {}
        """What hooks measured, when it is over."""
        self.look()

    def step(self, count: int = 1) -> bool:
        """Go on by some steps; false when the simulation is over."""
        for _ in range(count):
            if self.finished:
                return False
            if not self._both.step():
                self.metrics = self._simulator.metrics
                return False
            self.look()
        return True

    def run(self) -> dict[str, Any]:
        """Go on to the end; what hooks measured."""
        while self.step():
            pass
        return self.metrics

    def __getitem__(self, name: str) -> Controller | SwarmController:
        """The sensors and actuators of a robot or of a group, as its controller would see them."""
        if name not in self._hands:
            self._hands[name] = self._simulator.minds.hand(name)
        return self._hands[name]

    @property
    def motion_digest(self) -> str:
        """A digest of where everyone was at every border so far."""
        return self._simulator.motion_digest.hexdigest()

    @property
    def keeps_digests(self) -> bool:
        """Whether a digest of all positions is kept; without, steps of many robots are faster."""
        return self._simulator.keeps_digests

    @keeps_digests.setter
    def keeps_digests(self, keeps: bool) -> None:
        self._simulator.keeps_digests = keeps

    @property
    def finished(self) -> bool:
        """Whether the scenario's time is over, or a hook or `close` ended it."""
        return self._both.finished

    def close(self) -> None:
        """End it here."""
        self._both.end()
        self.metrics = self._simulator.metrics

    def __enter__(self) -> "World":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.close()


def _loaded(
    path: str | Path | None, sections: dict[str, Any], overrides: tuple[str, ...], variant: str | None
) -> LoadedScenario:
    if path is not None:
        if sections:
            raise UserError(f"give either a file or sections, not both: {', '.join(sections)}")
        return load_scenario(Path(path), overrides, variant)
    whole = {"robonet": 1, "name": "world", "step_s": 0.1, **sections}
    whole.setdefault("duration_s", LONG_S * whole["step_s"])
    return parse_scenario(yaml.safe_dump(whole), Path("world.yaml"), overrides, variant)
