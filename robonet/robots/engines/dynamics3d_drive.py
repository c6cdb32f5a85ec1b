"""What the motors of `dynamics3d` press, and what its solver has made of it.

Every substep each motor presses with what resisted it before, and with what makes good a part of the speed that is
missing; but with no more than wheels can hold on the floor, or than rotors can accelerate.
"""

import math

import numpy as np
from numpy.typing import NDArray

from robonet.kernels import bare_kernel
from robonet.robots.engines.dynamics3d_model import FLYER, FREE, GROUND
from robonet.robots.engines.pointmass3d import (
    ACCELERATION,
    BRAKE,
    TO_PLACE,
    TURN,
    WITH_VELOCITY,
    Flags,
    Indices,
    Modes,
    approach_speed,
    is_order,
    turned,
    wish,
)
from robonet.space import Floats

GRAVITY_M_S2 = 9.81
WHEEL_GRIP = 0.8
"""Friction of wheels on the floor: a robot pushes with at most this share of its weight."""
EAGER = 0.5
"""Part of the speed that is missing which wheels make good in a substep: less is sluggish, more bounces off things."""
LEARNED = 0.1
"""Part of a new resistance that wheels believe in a substep."""
PRESSED, WAS, RESISTED = 0, 3, 6
"""Columns of what motors remember, three each: force and torque, velocity and turning rate, resistance."""

Slots = NDArray[np.int64]
Motions = NDArray[np.int8]


@bare_kernel
def look(
    number: int, robots: int, owner: Indices, radius: Floats, xyz: Floats, heading: Floats, velocity: Floats,
    twist: Floats, mode: Modes, target: Floats, motion: Motions, held: Flags, written: Floats,
) -> tuple[bool, bool, int]:  # fmt: skip
    """Whether bodies came or went, whether some were moved by others, and who has or is told what is no number."""
    changed, moved, bad = False, False, -1
    for i in range(len(owner)):
        mine = owner[i] == number and radius[i] > 0.0
        if mine != held[i]:
            changed = True
        if not mine:
            continue
        sum_of_all = xyz[i, 0] + xyz[i, 1] + xyz[i, 2] + heading[i] + velocity[i, 0] + velocity[i, 1] + velocity[i, 2]
        told = twist[i, 0] + twist[i, 1] + twist[i, 2] if i < robots else 0.0
        if bad < 0 and not (math.isfinite(sum_of_all + told) and (motion[i] != FLYER or is_order(i, mode, target))):
            bad = i
        if held[i] and is_moved(i, robots, xyz, heading, velocity, written):
            moved = True
    return changed, moved, bad


@bare_kernel
def is_moved(i: int, robots: int, xyz: Floats, heading: Floats, velocity: Floats, written: Floats) -> bool:
    """Whether others have put a body somewhere else, or pushed a thing."""
    same = xyz[i, 0] == written[i, 0] and xyz[i, 1] == written[i, 1] and xyz[i, 2] == written[i, 2]
    same = same and heading[i] == written[i, 3]
    if i >= robots:
        same = same and velocity[i, 0] == written[i, 4] and velocity[i, 1] == written[i, 5]
        same = same and velocity[i, 2] == written[i, 6]
    return not same


@bare_kernel
def fastest(
    rows: Slots, speed_at: Slots, motion: Motions, qvel: Floats, twist: Floats, limits: Floats, radius: Floats
) -> float:
    """The greatest speed at which an edge moves or will move."""
    most = 0.0
    for s in range(len(rows)):
        i, v = rows[s], speed_at[s]
        speed = math.sqrt(qvel[v] * qvel[v] + qvel[v + 1] * qvel[v + 1])
        if motion[i] == GROUND:
            speed = max(speed, abs(twist[i, 0]) + abs(twist[i, 1])) + abs(twist[i, 2]) * radius[i]
        elif motion[i] == FLYER:
            speed = max(speed + abs(qvel[v + 2]), limits[i, 0])
        else:
            speed += abs(qvel[v + 2])
        most = max(most, speed)
    return most


@bare_kernel
def press(
    rows: Slots, pose_at: Slots, speed_at: Slots, motion: Motions, qpos: Floats, qvel: Floats, force: Floats,
    twist: Floats, mode: Modes, target: Floats, limits: Floats, planes: Floats, radius: Floats, mass: Floats,
    inertia: Floats, errors: Floats, memory: Floats, dt: float, elapsed: float,
) -> None:  # fmt: skip
    """Set the forces of all motors for the next substep."""
    for s in range(len(rows)):
        i, q, v = rows[s], pose_at[s], speed_at[s]
        if motion[i] == GROUND:
            _drive(i, q, v, qpos, qvel, force, twist, radius[i], mass[i], inertia[i, 2], memory, dt)
        elif motion[i] == FLYER:
            _fly(
                i, q, v, qpos, qvel, force, mode, target, limits, planes, radius[i], mass[i], inertia[i, 2], errors,
                dt, elapsed,
            )  # fmt: skip


@bare_kernel
def _drive(
    i: int, q: int, v: int, qpos: Floats, qvel: Floats, force: Floats, twist: Floats, radius: float, mass: float,
    inertia: float, memory: Floats, dt: float,
) -> None:  # fmt: skip
    for k in range(3):
        weight = mass if k < 2 else inertia
        resisted = memory[i, PRESSED + k] - weight * (qvel[v + k] - memory[i, WAS + k]) / dt
        memory[i, RESISTED + k] += LEARNED * (resisted - memory[i, RESISTED + k])
    angle = qpos[q + 2] + 0.5 * twist[i, 2] * dt
    cosine, sine = math.cos(angle), math.sin(angle)
    eager = EAGER * mass / dt
    fx = memory[i, RESISTED] + eager * (twist[i, 0] * cosine - twist[i, 1] * sine - qvel[v])
    fy = memory[i, RESISTED + 1] + eager * (twist[i, 0] * sine + twist[i, 1] * cosine - qvel[v + 1])
    torque = memory[i, RESISTED + 2] + inertia * (twist[i, 2] - qvel[v + 2]) / dt
    most = WHEEL_GRIP * mass * GRAVITY_M_S2
    share = min(1.0, most / max(math.sqrt(fx * fx + fy * fy), 1e-300))
    force[v], force[v + 1] = fx * share, fy * share
    force[v + 2] = min(max(torque, -most * radius), most * radius)
    for k in range(3):
        memory[i, PRESSED + k], memory[i, WAS + k] = force[v + k], qvel[v + k]


@bare_kernel
def _fly(
    i: int, q: int, v: int, qpos: Floats, qvel: Floats, force: Floats, mode: Modes, target: Floats, limits: Floats,
    planes: Floats, radius: float, mass: float, inertia: float, errors: Floats, dt: float, elapsed: float,
) -> None:  # fmt: skip
    ex, ey, ez = errors[i, 0], errors[i, 1], errors[i, 2]  # not noticed before the step is over
    wx, wy, wz = wish(
        i, dt, qpos[q] - ex * elapsed, qpos[q + 1] - ey * elapsed, qpos[q + 2] - ez * elapsed,
        qvel[v] - ex, qvel[v + 1] - ey, qvel[v + 2] - ez, radius, mode, target, limits, planes,
    )  # fmt: skip
    most = mass * limits[i, ACCELERATION]
    fx = mass * (wx + ex - qvel[v]) / dt
    fy = mass * (wy + ey - qvel[v + 1]) / dt
    fz = mass * (wz + ez - qvel[v + 2]) / dt
    share = min(1.0, most / max(math.sqrt(fx * fx + fy * fy + fz * fz), 1e-300))
    force[v], force[v + 1], force[v + 2] = fx * share, fy * share, fz * share
    turn, lever = 0.0, most * radius
    if mode[i] == TO_PLACE:
        angle = turned(target[i, 3] - qpos[q + 3])
        turn = math.copysign(approach_speed(abs(angle), limits[i, TURN], BRAKE * lever / inertia, dt), angle)
    elif mode[i] == WITH_VELOCITY:
        turn = min(max(target[i, 3], -limits[i, TURN]), limits[i, TURN])
    force[v + 3] = min(max(inertia * (turn - qvel[v + 3]) / dt, -lever), lever)


@bare_kernel
def write(
    rows: Slots, pose_at: Slots, speed_at: Slots, motion: Motions, qpos: Floats, qvel: Floats, xyz: Floats,
    heading: Floats, velocity: Floats, pose: Floats, speed: Floats, written: Floats,
) -> None:  # fmt: skip
    """Tell the world where everyone is, and remember the whole state for when the model is made anew."""
    for s in range(len(rows)):
        i, q, v = rows[s], pose_at[s], speed_at[s]
        xyz[i, 0], xyz[i, 1] = qpos[q], qpos[q + 1]
        velocity[i, 0], velocity[i, 1], velocity[i, 2] = qvel[v], qvel[v + 1], 0.0
        if motion[i] == GROUND:
            coordinates, speeds = 3, 3
            heading[i] = turned(qpos[q + 2])
        elif motion[i] == FLYER:
            coordinates, speeds = 4, 4
            heading[i] = turned(qpos[q + 3])
        else:
            coordinates, speeds = 7, 6
            a, b, c, d = qpos[q + 3], qpos[q + 4], qpos[q + 5], qpos[q + 6]
            heading[i] = math.atan2(2.0 * (a * d + b * c), 1.0 - 2.0 * (c * c + d * d))
        if motion[i] != GROUND:
            xyz[i, 2], velocity[i, 2] = qpos[q + 2], qvel[v + 2]
        for k in range(coordinates):
            pose[i, k] = qpos[q + k]
        for k in range(speeds):
            speed[i, k] = qvel[v + k]
        for k in range(3):
            written[i, k], written[i, 4 + k] = xyz[i, k], velocity[i, k]
        written[i, 3] = heading[i]


@bare_kernel
def place(i: int, motion: Motions, xyz: Floats, heading: Floats, velocity: Floats, pose: Floats, speed: Floats) -> None:
    """The state of a body that stands upright where the world says, with the velocity that the world knows."""
    pose[i, 0], pose[i, 1], pose[i, 2] = xyz[i, 0], xyz[i, 1], xyz[i, 2]
    speed[i, :] = 0.0
    speed[i, 0], speed[i, 1] = velocity[i, 0], velocity[i, 1]
    if motion[i] == GROUND:
        pose[i, 2] = heading[i]
        return
    speed[i, 2] = velocity[i, 2]
    if motion[i] == FREE:
        pose[i, 3], pose[i, 4], pose[i, 5], pose[i, 6] = math.cos(heading[i] / 2), 0.0, 0.0, math.sin(heading[i] / 2)
    else:
        pose[i, 3] = heading[i]
