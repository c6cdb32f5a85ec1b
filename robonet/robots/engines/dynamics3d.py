"""`dynamics3d`: rigid bodies in space, by MuJoCo: robots push things, which slide, turn over, and pile up.

Robots on the floor cannot tip over; things can. Things rub on the floor and on each other; the sides of robots,
walls and obstacles are smooth. Who belongs to the engine is built into MuJoCo's model, so the model is made anew
whenever a body comes or goes, which takes milliseconds: gates that many cross are slow.
"""

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from robonet.errors import ControllerError, SimulatorError
from robonet.robots.engines import dynamics3d_drive as drive
from robonet.robots.engines.dynamics3d_model import COORDINATES, GROUND, SPEEDS, Scene, build, forms_of, mujoco
from robonet.robots.engines.pointmass3d import rotor_limits, rotor_noise
from robonet.robots.geometry import beyond_plane
from robonet.robots.regions import planes_of
from robonet.scenario.engines import EngineSection
from robonet.space import Ints

if TYPE_CHECKING:
    from robonet.robots.world import World

LARGEST_MOVE = 0.05
"""A substep moves no body by more than this part of the smallest half extent: overlaps stay small, nothing tunnels."""
MOST_SUBSTEPS = 1000
STIFFNESS_SUBSTEPS = 2.0
"""Overlaps vanish within about this many substeps; MuJoCo allows no fewer."""


class Dynamics3D:
    """Moves every body that it owns by one step, in `iterations` substeps or more if something is very fast."""

    def __init__(self, world: "World", number: int, settings: EngineSection) -> None:
        self._world, self._number, self._iterations = world, number, settings.iterations
        self._mujoco = mujoco()
        # The world makes these when first asked: here, not in a step, which may run on a thread beside others.
        self._velocity, self._rotors = world.velocity, world.rotors
        self._planes, self._limits, self._noise = planes_of(world, number), rotor_limits(world), rotor_noise(world)
        self._forms = forms_of(world)
        self._errors = np.zeros((world.bodies, 3))
        self._held = np.zeros(world.bodies, dtype=np.bool_)
        self._pose, self._speed = np.zeros((world.bodies, 7)), np.zeros((world.bodies, 6))
        """The whole state of each body, of which the world knows less."""
        self._written = np.full((world.bodies, 7), np.nan)
        """Place, heading and velocity as last told to the world or taken from it."""
        self._memory = np.zeros((world.bodies, 9))
        self._dt = 0.0
        """Length of a substep; 0 before the first."""
        self._make_scene()

    def step(self) -> None:
        """Move to the next border."""
        world = self._world
        self._catch_up()
        scene = self._scene
        if not len(scene.rows):
            self._dt = self._dt or world.step_s / self._iterations
            return
        substeps = self._cut()
        self._draw_errors()
        model, data, forms = scene.model, scene.data, self._forms
        qpos, qvel, force = data.qpos, data.qvel, data.qfrc_applied
        for part in range(substeps):
            drive.press(
                scene.rows, scene.pose_at, scene.speed_at, forms.motion, qpos, qvel, force, world.twist,
                self._rotors.mode, self._rotors.target, self._limits, self._planes, world.body_m, world.mass_kg,
                forms.inertia, self._errors, self._memory, self._dt, part * self._dt,
            )  # fmt: skip
            self._mujoco.mj_step(model, data)
        self._check()
        drive.write(
            scene.rows, scene.pose_at, scene.speed_at, forms.motion, qpos, qvel, world.xyz, world.heading,
            self._velocity, self._pose, self._speed, self._written,
        )  # fmt: skip

    def _cut(self) -> int:
        """Into how many parts the step is cut; tells MuJoCo how long they are."""
        world, scene, forms = self._world, self._scene, self._forms
        fastest = drive.fastest(
            scene.rows, scene.speed_at, forms.motion, scene.data.qvel, world.twist, self._limits, world.body_m
        )
        needed = fastest * world.step_s / (LARGEST_MOVE * float(forms.inner_m[scene.rows].min()))
        substeps = max(self._iterations, math.ceil(min(needed, MOST_SUBSTEPS)))
        if self._dt != (dt := world.step_s / substeps):
            self._dt = dt
            self._tell_dt()
        return substeps

    def _tell_dt(self) -> None:
        model = self._scene.model
        model.opt.timestep = self._dt
        model.geom_solref[:] = STIFFNESS_SUBSTEPS * self._dt, 1.0

    def _draw_errors(self) -> None:
        for rows, chain in self._noise:
            self._errors[rows] = self._velocity[rows]
            chain.apply(self._errors[rows])
            self._errors[rows] -= self._velocity[rows]

    # --- what others change ------------------------------------------------------------------------------

    def _catch_up(self) -> None:
        """Take over what others changed since the last step."""
        world = self._world
        changed, moved, bad = drive.look(
            self._number, world.robots, world.owner, world.body_m, world.xyz, world.heading, self._velocity,
            world.twist, self._rotors.mode, self._rotors.target, self._forms.motion, self._held, self._written,
        )  # fmt: skip
        if bad >= 0:
            told = world.rotors.target[bad] if world.group_of(bad).flies else world.twist[bad]
            raise ControllerError(
                f"dynamics3d: '{world.names[bad]}' is somewhere or is told something that is no number "
                f"{self._where(bad)}, told to move with {told.tolist()}"
            )
        if changed:
            self._make_scene()
        elif moved:
            rows = np.flatnonzero(self._held & self._moved())
            self._take_over(rows)
            if self._forms.fixed[rows].any():
                self._make_scene()
            else:
                self._put(rows)

    def _make_scene(self) -> None:
        """Build those who belong here now; who was here before goes on as it was."""
        world = self._world
        mine = (world.owner == self._number) & (world.body_m > 0.0)
        came = mine & ~self._held
        if self._dt:
            self._let_in(np.flatnonzero(came))
        self._take_over(np.flatnonzero(mine & (came | self._moved())))
        self._held[:] = mine
        self._scene: Scene = build(world, self._number, np.flatnonzero(mine), self._forms)
        if self._dt:
            self._tell_dt()
        self._put(self._scene.rows)

    def _let_in(self, rows: Ints) -> None:
        """Who comes while the run goes on need not stop at the gate; a wall behind it is behind them at once."""
        world = self._world
        for row in rows.tolist():
            cosine, sine = math.cos(world.heading[row]), math.sin(world.heading[row])
            if self._forms.motion[row] == GROUND:
                forward, sideways, _ = world.twist[row].tolist()
                self._velocity[row, :2] = forward * cosine - sideways * sine, forward * sine + sideways * cosine
            for nx, ny, offset in self._planes.tolist():
                x, y, _ = world.xyz[row].tolist()
                beyond = beyond_plane(x, y, cosine, sine, row, world.nearby.bodies, nx, ny, offset)
                if beyond > 0.0:
                    world.xyz[row, :2] += beyond * nx, beyond * ny

    def _take_over(self, rows: Ints) -> None:
        """Those rows are where the world says."""
        world = self._world
        for row in rows.tolist():
            drive.place(row, self._forms.motion, world.xyz, world.heading, self._velocity, self._pose, self._speed)
            self._written[row] = *world.xyz[row], world.heading[row], *self._velocity[row]
            self._memory[row] = 0.0
            self._memory[row, drive.WAS : drive.WAS + 2] = self._velocity[row, :2]

    def _moved(self) -> NDArray[np.bool_]:
        world, written = self._world, self._written
        moved = (world.xyz != written[:, :3]).any(axis=1) | (world.heading != written[:, 3])
        pushed = (self._velocity != written[:, 4:]).any(axis=1)
        pushed[: world.robots] = False
        changed: NDArray[np.bool_] = moved | pushed
        return changed

    def _put(self, rows: Ints) -> None:
        """Tell MuJoCo the state of those rows."""
        scene = self._scene
        slots = np.flatnonzero(np.isin(scene.rows, rows))
        for row, q, v in zip(scene.rows[slots], scene.pose_at[slots], scene.speed_at[slots], strict=True):
            motion = self._forms.motion[row]
            coordinates, speeds = COORDINATES[motion], SPEEDS[motion]
            scene.data.qpos[q : q + coordinates] = self._pose[row, :coordinates]
            scene.data.qvel[v : v + speeds] = self._speed[row, :speeds]

    # --- what can go wrong -------------------------------------------------------------------------------

    def _check(self) -> None:
        """Blame whom MuJoCo warns of."""
        data, kinds = self._scene.data, self._mujoco.mjtWarning
        counts = data.warning.number
        if not counts.any() and np.isfinite(data.qpos.sum() + data.qvel.sum()):
            return
        scene, world = self._scene, self._world
        for kind, starts in (
            (kinds.mjWARN_BADQPOS, scene.pose_at),
            (kinds.mjWARN_BADQVEL, scene.speed_at),
            (kinds.mjWARN_BADQACC, scene.speed_at),
        ):
            if counts[int(kind)]:
                slot = int(np.searchsorted(starts, int(data.warning.lastinfo[int(kind)]), side="right")) - 1
                self._lost(int(scene.rows[slot]))
        for state, starts in ((data.qpos, scene.pose_at), (data.qvel, scene.speed_at)):
            if not np.isfinite(state).all():
                at = int(np.flatnonzero(~np.isfinite(state))[0])
                self._lost(int(scene.rows[int(np.searchsorted(starts, at, side="right")) - 1]))
        name = next(
            str(kind.name) for kind in kinds.__members__.values() if int(kind) < len(counts) and counts[int(kind)]
        )
        raise SimulatorError(
            f"dynamics3d: MuJoCo warns of {name} with {data.ncon} contacts between {len(scene.rows)} bodies "
            f"at simulated time {world.time_s:.3f} s: too many touch at once for one engine"
        )

    def _lost(self, row: int) -> None:
        raise SimulatorError(
            f"dynamics3d: the solver lost '{self._world.names[row]}' {self._where(row)}: "
            "raise the engine's `iterations`, or make masses and sizes less unequal"
        )

    def _where(self, row: int) -> str:
        world = self._world
        return (
            f"at simulated time {world.time_s:.3f} s; position {world.xyz[row].tolist()} m, "
            f"heading {world.heading[row]:g}"
        )
