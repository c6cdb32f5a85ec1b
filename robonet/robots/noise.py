"""What is wrong with readings and motors: errors that a robot draws by itself, whatever the others do."""

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from robonet.kernels import bare_kernel, rows_kernel
from robonet.robots.draws import ONCE, key_of, keyed, normal, share
from robonet.scenario import devices
from robonet.space import Floats, Ints

if TYPE_CHECKING:
    from robonet.robots.world import Group, World

Codes = NDArray[np.int8]

GAUSSIAN, UNIFORM, BIAS, DRIFT, QUANTISE, DROPOUT, RAYLEIGH = range(7)
CHANNELS = 1 << 32
"""Draws of the next error in a chain are so many places farther on."""


def _coded(
    noise: tuple[devices.Noise, ...] | tuple[devices.WheelNoise, ...], step_s: float, lost: float | None = None
) -> tuple[Codes, Floats]:
    """What kernels know of a chain: one code and two numbers for each error."""
    rows: list[tuple[int, float, float]] = []
    for one in noise:
        chosen = one.chosen
        if isinstance(chosen, devices.Gaussian):
            rows.append((GAUSSIAN, 0.0, chosen.std))
        elif isinstance(chosen, devices.Uniform):
            rows.append((UNIFORM, chosen.low, chosen.high - chosen.low))
        elif isinstance(chosen, devices.Bias):
            rows.append((BIAS, chosen.mean, chosen.std))
        elif isinstance(chosen, devices.Drift):
            rows.append((DRIFT, 0.0, chosen.std_per_sqrt_s * math.sqrt(step_s)))
        elif isinstance(chosen, devices.Quantise):
            rows.append((QUANTISE, chosen.step, 0.0))
        elif isinstance(chosen, devices.Dropout):
            rows.append((DROPOUT, chosen.probability, math.nan if lost is None else lost))
        else:
            assert isinstance(chosen, devices.Rayleigh)
            rows.append((RAYLEIGH, chosen.sigma, 0.0))
    return np.array([row[0] for row in rows], dtype=np.int8), np.array([row[1:] for row in rows]).reshape(-1, 2)


class NoiseChain:
    """The errors of one device of a group, one after the other.

    An error depends on the seed, the device, the robot, the step, the channel and its place in the chain; so it
    is the same whoever else is there, on however many threads, and whether or not earlier steps were read. Only
    what fails and repeats its last reading (`dropout` without `lost`) knows which steps were read.
    """

    def __init__(
        self, world: "World", group: "Group", device: str, channels: int, noise: tuple[devices.Noise, ...],
        lost: float | None = None,
    ) -> None:  # fmt: skip
        self._world = world
        self._key = key_of(world.seed, "noise", device, group.name)
        self._codes, self._params = _coded(noise, world.step_s, lost)
        kept = np.isin(self._codes, (DRIFT, DROPOUT))
        self._slots = np.cumsum(kept) - 1
        self._kept = np.zeros((int(kept.sum()), len(group), channels))
        """Where each random walk is, and the last readings of what fails."""
        self._kept[self._slots[self._codes == DROPOUT]] = math.nan
        self._walked = 0
        """The step up to which random walks have gone."""

    def apply(self, readings: Floats) -> None:
        """Add the errors of this step to readings, one row a robot, one column a channel."""
        step = self._world.index
        work = readings if readings.flags.c_contiguous else readings.copy()

        def disturb(first: int, last: int) -> None:
            _disturb(
                first, last, self._key, step, self._walked, self._codes, self._params, self._slots, self._kept, work
            )

        self._world.threads.over_rows(len(work), disturb)
        self._walked = max(step, self._walked)
        if work is not readings:
            readings[...] = work


@bare_kernel
def _with_error(value: float, code: int, a: float, b: float, now: np.uint64, once: np.uint64, place: int) -> float:
    """A reading after an error that keeps nothing."""
    if code == GAUSSIAN:
        return value + b * normal(share(now, place))
    if code == UNIFORM:
        return value + a + b * share(now, place)
    if code == BIAS:
        return value + a + b * normal(share(once, place))
    if code == QUANTISE:
        return math.floor(value / a + 0.5) * a
    return value


@rows_kernel
def _disturb(
    first: int, last: int, key: np.uint64, step: int, walked: int, codes: Codes, params: Floats, slots: Ints,
    kept: Floats, readings: Floats,
) -> None:  # fmt: skip
    channels = readings.shape[1]
    for i in range(first, last):
        robot = keyed(key, i)
        now, once = keyed(robot, step + 1), keyed(robot, ONCE)
        for p in range(len(codes)):
            code, a, b, slot = codes[p], params[p, 0], params[p, 1], slots[p]
            if code == DRIFT:
                for s in range(walked + 1, step + 1):
                    then = keyed(robot, s + 1)
                    for c in range(channels):
                        kept[slot, i, c] += b * normal(share(then, p * CHANNELS + c))
                for c in range(channels):
                    readings[i, c] += kept[slot, i, c]
            elif code == DROPOUT:
                for c in range(channels):
                    if share(now, p * CHANNELS + c) < a:
                        if not math.isnan(b):
                            readings[i, c] = b
                        elif not math.isnan(kept[slot, i, c]):
                            readings[i, c] = kept[slot, i, c]
                    kept[slot, i, c] = readings[i, c]
            else:
                for c in range(channels):
                    readings[i, c] = _with_error(readings[i, c], code, a, b, now, once, p * CHANNELS + c)


# --- motors ----------------------------------------------------------------------------------------------


class MotorNoise:
    """Turns what wheels are told into what they do, before everyone moves."""

    def __init__(self, world: "World", group: "Group", settings: devices.Wheels) -> None:
        world.keep_intentions()
        self._world, self._rows, self._count = world, group.rows, len(group)
        self._half_m = settings.wheel_distance_m / 2
        self._key = key_of(world.seed, "noise", "wheels", group.name)
        self._codes, self._params = _coded(settings.noise, world.step_s)
        self._watches_grips = RAYLEIGH in self._codes and group.devices.gripper is not None
        self._gripped = np.zeros(self._count, dtype=np.int64)
        """How often each robot took hold of something: that changes its treels."""
        self._held = np.zeros(self._count, dtype=np.bool_)
        world.before_physics.append(self._turn)

    def _turn(self) -> None:
        world = self._world
        if self._watches_grips:
            holds = world.grips[self._rows] >= 0
            self._gripped += holds & ~self._held
            self._held = holds
        world.threads.over_rows(
            self._count,
            lambda first, last: _turn_wheels(
                first, last, self._rows.start, self._key, world.index, self._codes, self._params, self._half_m,
                self._gripped, world.intended, world.twist,
            ),
        )  # fmt: skip


@rows_kernel
def _turn_wheels(
    first: int, last: int, offset: int, key: np.uint64, step: int, codes: Codes, params: Floats, half_m: float,
    gripped: Ints, intended: Floats, twist: Floats,
) -> None:  # fmt: skip
    for i in range(first, last):
        robot = keyed(key, i)
        now, once = keyed(robot, step + 1), keyed(robot, ONCE)
        forward, turn = intended[offset + i, 0], intended[offset + i, 2]
        left, right = forward - turn * half_m, forward + turn * half_m
        for p in range(len(codes)):
            code, a, b, place = codes[p], params[p, 0], params[p, 1], p * CHANNELS
            if code == RAYLEIGH:
                faster = a * math.sqrt(-2.0 * math.log(share(once, place + gripped[i])))
                if forward > 0.0:
                    right += right * faster
                elif forward < 0.0:
                    left += left * faster
            else:
                left *= _with_error(1.0, code, a, b, now, once, place)
                right *= _with_error(1.0, code, a, b, now, once, place + 1)
        twist[offset + i, 0] = 0.5 * (left + right)
        twist[offset + i, 2] = 0.5 * (right - left) / half_m


class SpeedNoise:
    """Adds errors to the forward and, where there is one, the sideways speed of drives; who stands, stands still."""

    def __init__(
        self, world: "World", group: "Group", device: str, noise: tuple[devices.Noise, ...], *, turns_along: bool
    ) -> None:
        world.keep_intentions()
        self._world, self._rows = world, group.rows
        self._turns_along = turns_along
        """Whether a faster robot turns faster, on the same circle, and never goes sideways."""
        self._chain = NoiseChain(world, group, device, 1 if turns_along else 2, noise)
        world.before_physics.append(self._change)

    def _change(self) -> None:
        wanted, twist = self._world.intended[self._rows], self._world.twist[self._rows]
        columns = 1 if self._turns_along else 2
        speeds = wanted[:, :columns].copy()
        moves = speeds.any(axis=1)
        self._chain.apply(speeds)
        twist[:, :columns] = np.where(moves[:, None], speeds, 0.0)
        if self._turns_along:
            twist[:, 2] = wanted[:, 2] * np.divide(twist[:, 0], wanted[:, 0], out=np.zeros(len(moves)), where=moves)
