"""`dynamics2d`: rigid bodies in the plane, by pymunk: robots push and grip things, and things slide until they rest."""

import math
from typing import TYPE_CHECKING

import numpy as np

from robonet.clock import s_from_ns
from robonet.errors import ControllerError, SimulatorError
from robonet.robots.engines.dynamics2d_bodies import Plane
from robonet.robots.engines.dynamics2d_drive import BAD, CAME_OR_WENT, GRIPS, MOVED, begin, look, respond, write
from robonet.robots.engines.dynamics2d_grips import Grips
from robonet.scenario.engines import EngineSection

if TYPE_CHECKING:
    from robonet.robots.world import World

MOST_SUBSTEPS = 1000
"""However fast something is."""


class Dynamics2D:
    """Moves every body that it owns by one step, in `iterations` substeps or more if something is very fast."""

    def __init__(self, world: "World", number: int, settings: EngineSection) -> None:
        self._world, self._number, self._iterations = world, number, settings.iterations
        # The world makes these when first asked: here, not in a step, which may run on a thread beside others.
        self._velocity, self._grip_of, self._grip_wish = world.velocity, world.grips, world.grip_wish
        self._plane = Plane(world, number)
        self._grips = Grips(world, number, self._plane)
        self._found = np.zeros(4, dtype=np.int64)
        self._edits = world.edits
        self._touched = 0

    def step(self) -> None:
        """Move to the next border."""
        world, plane = self._world, self._plane
        fastest = self._catch_up()
        if not len(plane.rows):
            return
        needed = min(fastest * world.step_s / plane.reach_m, MOST_SUBSTEPS)
        substeps = max(self._iterations, math.ceil(needed))
        dt = world.step_s / substeps
        plane.prepare(dt, self._touched > 0)
        begin(plane.rows, plane.state, world.twist, plane.drive, plane.orders, world.step_s, dt)
        plane.order()
        for left in range(substeps - 1, -1, -1):
            plane.substep(dt)
            plane.read()
            self._touched = respond(plane.rows, plane.state, world.twist, plane.drive, plane.forces, dt, left > 0)
            if left and self._touched:
                plane.press()
        bad = write(plane.rows, plane.state, world.xyz, world.heading, self._velocity, plane.written)
        if bad >= 0:
            raise SimulatorError(f"dynamics2d: the solver lost '{world.names[bad]}' {self._where(bad)}")

    def _catch_up(self) -> float:
        """Take over what others changed since the last step; the largest speed that anything may have."""
        world, plane, found = self._world, self._plane, self._found
        fastest = look(
            self._number, world.robots, world.owner, world.body_m, world.shape, world.xyz, world.heading,
            self._velocity, world.twist, plane.held, plane.written, self._grip_of, self._grip_wish, found,
        )  # fmt: skip
        if found[BAD] >= 0:
            bad = int(found[BAD])
            raise ControllerError(f"dynamics2d: '{world.names[bad]}' is asked for what is no number {self._where(bad)}")
        changed = found[CAME_OR_WENT] or found[MOVED] or world.edits != self._edits
        if changed:
            self._edits = world.edits
            self._exchange()
        if changed or found[GRIPS]:
            self._grips.attend()
        return fastest

    def _exchange(self) -> None:
        world, plane = self._world, self._plane
        mine = (world.owner == self._number) & (world.body_m > 0.0)
        for row in np.flatnonzero(plane.held & ~mine | plane.changed()).tolist():
            self._grips.let_go(row)
            plane.remove(row)
        moved = (np.column_stack((world.xyz[:, :2], world.heading)) != plane.written[:, :3]).any(axis=1)
        pushed = (self._velocity[:, :2] != plane.written[:, 3:]).any(axis=1)
        pushed[: world.robots] = False
        for row in np.flatnonzero(mine & (moved | pushed | ~plane.held)).tolist():
            if not plane.held[row]:
                self._grip_of[row] = -1
                plane.add(row)
                continue
            if moved[row]:
                self._grips.let_go(row)
            plane.place(row)
        plane.index()

    def _where(self, row: int) -> str:
        world = self._world
        return (
            f"at simulated time {s_from_ns(world.now):.3f} s; position {world.xyz[row, :2].tolist()} m, "
            f"heading {world.heading[row]:g}, told to move with {world.twist[row].tolist()}"
        )
