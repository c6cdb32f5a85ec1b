"""What motors believe: where they have brought each robot, and how far it has gone."""

import math
from typing import TYPE_CHECKING

import numpy as np

from robonet.kernels import rows_kernel
from robonet.robots.trigonometry import cosine_sine
from robonet.space import Floats

if TYPE_CHECKING:
    from robonet.robots.world import World


class Reckoning:
    """Dead reckoning of all robots, one step after the other, by what their motors were told."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self.pose = np.zeros((world.robots, 3))
        """X, y and heading in the frame of the start."""
        self.travelled_m = np.zeros(world.robots)
        """Length of the way."""
        self._frame = np.full((world.robots, 3), np.nan)
        """How far a belief is turned against the truth, with cosine and sine: it seldom changes."""
        world.before_physics.append(self._step)

    def _step(self) -> None:
        world = self._world
        world.threads.over_rows(
            world.robots,
            lambda first, last: _reckon(
                first, last, world.intended, world.heading, world.facing, world.step_s,
                self.pose, self.travelled_m, self._frame,
            ),
            is_light=True,
        )  # fmt: skip


@rows_kernel
def _reckon(
    first: int, last: int, intended: Floats, heading: Floats, facing: Floats, dt: float,
    pose: Floats, travelled: Floats, frame: Floats,
) -> None:  # fmt: skip
    for i in range(first, last):
        forward, sideways, turn = intended[i, 0] * dt, intended[i, 1] * dt, intended[i, 2] * dt
        if forward == 0.0 and sideways == 0.0 and turn == 0.0:
            continue
        turned = pose[i, 2] - heading[i]
        off = abs(turned - frame[i, 0])
        if not (off < 1e-12 or abs(off - 2 * math.pi) < 1e-12):
            frame[i, 0] = turned
            frame[i, 1], frame[i, 2] = cosine_sine(turned)
        cosine = facing[i, 0] * frame[i, 1] - facing[i, 1] * frame[i, 2]
        sine = facing[i, 1] * frame[i, 1] + facing[i, 0] * frame[i, 2]
        if turn != 0.0:
            half = 0.5 * turn
            half_cosine, half_sine = cosine_sine(half)
            cosine, sine = cosine * half_cosine - sine * half_sine, sine * half_cosine + cosine * half_sine
            if abs(half) > 1e-9:
                forward, sideways = forward * half_sine / half, sideways * half_sine / half
            angle = pose[i, 2] + turn
            while angle > math.pi:
                angle -= 2 * math.pi
            while angle <= -math.pi:
                angle += 2 * math.pi
            pose[i, 2] = angle
        pose[i, 0] += forward * cosine - sideways * sine
        pose[i, 1] += forward * sine + sideways * cosine
        travelled[i] += math.sqrt(forward * forward + sideways * sideways)
