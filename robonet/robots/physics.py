"""The part of a step in which everyone moves: engines side by side, then gates, then media."""

import numpy as np

from robonet.errors import ControllerError
from robonet.plugins import load
from robonet.robots.regions import Borders
from robonet.robots.world import World


class Physics:
    """All engines of a world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._borders = Borders(world)
        self._borders.claim()
        if len(world.engines) > 1:  # made now, by one thread, and not by several at once
            assert world.velocity is not None and world.grips is not None
            assert world.grip_wish is not None and world.rotors is not None
        self._engines = [
            load(settings.engine, "engines", world.base)(world, number, settings)
            for number, settings in enumerate(world.engines)
        ]

    def step(self) -> None:
        """Let devices act and engines move everyone to the next border."""
        world = self._world
        for act in world.before_physics:
            act()
        self._borders.claim()
        world.nearby.refresh(ahead=True)
        world.threads.each([engine.step for engine in self._engines])
        self._borders.cross()

    def finish(self) -> None:
        """Everyone is where the next step begins: let media carry what was said."""
        self.refuse_nowhere()
        for carry in self._world.after_physics:
            carry()

    def refuse_nowhere(self) -> None:
        """Whoever is at no place at all is named, before anybody is told."""
        world = self._world
        if not np.isfinite(world.xyz.sum()):
            row = int(np.flatnonzero(~np.isfinite(world.xyz).all(axis=1))[0])
            raise ControllerError(
                f"'{world.names[row]}' is at {world.xyz[row].tolist()} m at simulated time {world.time_s:.3f} s: "
                "an engine, a hook or a device put it there"
            )
