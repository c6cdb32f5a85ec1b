"""How `dynamics2d` drives robots: kernels between the world's arrays and the solver's.

A robot that nothing touched during the last step has the velocity that it wants at once, and follows its arc exactly.
One that was touched, or holds something, is driven by a force: as much as brings it to the wanted velocity within a
substep if it were alone, and a share more in each substep as long as it lags behind, never more than the wheels'
grip on the floor. The solver then weighs that force against everything else.
"""

import math

import numpy as np
from numpy.typing import NDArray

from robonet.kernels import rows_kernel
from robonet.space import Floats, Ints

Indices = NDArray[np.int32]
Bools = NDArray[np.bool_]

X, Y, ANGLE, VX, VY, SPIN = range(6)
"""Columns of the state of a body in the solver, in the order in which `pymunk.batch` writes them."""
MASS, INERTIA, FORCE, TORQUE, LOAD_X, LOAD_Y, LOAD_TURN, WANT_X, WANT_Y, WANT_SPIN, TOUCHED, DRIVEN = range(12)
"""Columns of the drive of a row: mass, largest force and torque, the load that it has been seen to carry, the velocity
that it has unless something touches it, for how many more steps it counts as touched, and whether it drives at all."""
BAD, CAME_OR_WENT, MOVED, GRIPS = range(4)
"""What `look` finds: a row whose numbers are not finite (or -1), and how many rows want attention."""

LEARNT = 0.05
"""Share of the missing force that is added to the load in a substep; more would overshoot with heavy loads."""
SAME_M_S = 1e-9
"""Velocities no farther apart than this are the same."""


@rows_kernel
def look(
    number: int, robots: int, owner: Indices, body: Floats, shape: Indices, xyz: Floats, heading: Floats,
    velocity: Floats, twist: Floats, held: Bools, written: Floats, grips: Indices, wish: Bools, found: Ints,
) -> float:  # fmt: skip
    """Compare the world with what the engine wrote last; return the largest speed that anything may have."""
    found[BAD], found[CAME_OR_WENT], found[MOVED], found[GRIPS] = -1, 0, 0, 0
    fastest = 0.0
    for i in range(len(owner)):
        mine = owner[i] == number and body[i] > 0.0
        if mine != held[i]:
            found[CAME_OR_WENT] += 1
        if not mine:
            continue
        total = xyz[i, 0] + xyz[i, 1] + heading[i] + velocity[i, 0] + velocity[i, 1]
        speed = math.hypot(velocity[i, 0], velocity[i, 1])
        if i < robots:
            total += twist[i, 0] + twist[i, 1] + twist[i, 2]
            edge = abs(twist[i, 2]) * body[i] if shape[i] >= 0 else 0.0
            speed = max(speed, math.hypot(twist[i, 0], twist[i, 1]) + edge)
            if wish[i] != (grips[i] >= 0):
                found[GRIPS] += 1
        elif velocity[i, 0] != written[i, 3] or velocity[i, 1] != written[i, 4]:
            found[MOVED] += 1
        if not math.isfinite(total) and found[BAD] < 0:
            found[BAD] = i
        if xyz[i, 0] != written[i, 0] or xyz[i, 1] != written[i, 1] or heading[i] != written[i, 2]:
            found[MOVED] += 1
        fastest = max(fastest, speed)
    return fastest


@rows_kernel
def begin(rows: Ints, state: Floats, twist: Floats, drive: Floats, orders: Floats, step_s: float, dt: float) -> None:
    """Velocities and forces for the first substep."""
    for s in range(len(rows)):
        i = rows[s]
        order = orders[s]
        order[0], order[1], order[2] = state[s, VX], state[s, VY], state[s, SPIN]
        order[3], order[4], order[5] = 0.0, 0.0, 0.0
        if drive[i, DRIVEN] == 0.0:
            continue
        if drive[i, TOUCHED] > 0.0:
            drive[i, TOUCHED] -= 1.0
        if drive[i, TOUCHED] > 0.0:
            _press(state[s], twist[i], drive[i], order[3:], dt)
            continue
        half = 0.5 * twist[i, 2] * step_s
        chord = 1.0 if abs(half) < 1e-9 else math.sin(half) / half
        cosine, sine = math.cos(state[s, ANGLE] + half), math.sin(state[s, ANGLE] + half)
        order[0] = chord * (twist[i, 0] * cosine - twist[i, 1] * sine)
        order[1] = chord * (twist[i, 0] * sine + twist[i, 1] * cosine)
        order[2] = twist[i, 2]
        drive[i, WANT_X], drive[i, WANT_Y], drive[i, WANT_SPIN] = order[0], order[1], order[2]
        drive[i, LOAD_X], drive[i, LOAD_Y], drive[i, LOAD_TURN] = 0.0, 0.0, 0.0


@rows_kernel
def respond(rows: Ints, state: Floats, twist: Floats, drive: Floats, forces: Floats, dt: float, more: bool) -> int:
    """See who was touched in the last substep and, if there are more to come, how hard they press; how many were."""
    touched = 0
    for s in range(len(rows)):
        i = rows[s]
        forces[s, 0], forces[s, 1], forces[s, 2] = 0.0, 0.0, 0.0
        if drive[i, DRIVEN] == 0.0:
            continue
        if (
            abs(state[s, VX] - drive[i, WANT_X]) > SAME_M_S
            or abs(state[s, VY] - drive[i, WANT_Y]) > SAME_M_S
            or abs(state[s, SPIN] - drive[i, WANT_SPIN]) > SAME_M_S
        ):
            drive[i, TOUCHED] = 2.0
        elif drive[i, TOUCHED] > 0.0:
            drive[i, LOAD_X], drive[i, LOAD_Y], drive[i, LOAD_TURN] = 0.0, 0.0, 0.0
        if drive[i, TOUCHED] > 0.0:
            touched += 1
            if more:
                _press(state[s], twist[i], drive[i], forces[s], dt)
    return touched


@rows_kernel
def _press(state: Floats, twist: Floats, drive: Floats, force: Floats, dt: float) -> None:
    """The force on a robot that is not free, and the velocity that this alone would give it."""
    cosine, sine = math.cos(state[ANGLE]), math.sin(state[ANGLE])
    lack_x = (twist[0] * cosine - twist[1] * sine - state[VX]) * drive[MASS] / dt
    lack_y = (twist[0] * sine + twist[1] * cosine - state[VY]) * drive[MASS] / dt
    x, y = drive[LOAD_X] + lack_x, drive[LOAD_Y] + lack_y
    shrink = min(1.0, drive[FORCE] / max(math.hypot(x, y), 1e-300))
    force[0], force[1] = x * shrink, y * shrink
    drive[LOAD_X] += LEARNT * lack_x
    drive[LOAD_Y] += LEARNT * lack_y
    shrink = min(1.0, drive[FORCE] / max(math.hypot(drive[LOAD_X], drive[LOAD_Y]), 1e-300))
    drive[LOAD_X] *= shrink
    drive[LOAD_Y] *= shrink
    lack = (twist[2] - state[SPIN]) * drive[INERTIA] / dt
    force[2] = min(max(drive[LOAD_TURN] + lack, -drive[TORQUE]), drive[TORQUE])
    drive[LOAD_TURN] = min(max(drive[LOAD_TURN] + LEARNT * lack, -drive[TORQUE]), drive[TORQUE])
    drive[WANT_X] = state[VX] + force[0] / drive[MASS] * dt
    drive[WANT_Y] = state[VY] + force[1] / drive[MASS] * dt
    drive[WANT_SPIN] = state[SPIN] + force[2] / drive[INERTIA] * dt


@rows_kernel
def write(rows: Ints, state: Floats, xyz: Floats, heading: Floats, velocity: Floats, written: Floats) -> int:
    """Tell the world where everything is now; a row whose numbers are not finite, or -1."""
    for s in range(len(rows)):
        i = rows[s]
        if not math.isfinite(state[s, X] + state[s, Y] + state[s, ANGLE] + state[s, VX] + state[s, VY]):
            return int(i)
        angle = state[s, ANGLE]
        xyz[i, 0] = written[i, 0] = state[s, X]
        xyz[i, 1] = written[i, 1] = state[s, Y]
        heading[i] = written[i, 2] = angle - 2 * math.pi * round(angle / (2 * math.pi))
        velocity[i, 0] = written[i, 3] = state[s, VX]
        velocity[i, 1] = written[i, 4] = state[s, VY]
    return -1
