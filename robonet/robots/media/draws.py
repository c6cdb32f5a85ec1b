"""Random numbers that are found again by who draws, of whom and when: nobody reshuffles anybody else's.

Readings of media come in lists that change from step to step. So their errors are not drawn from streams but are
made of keys: a receiver's, a sender's, and the number of the step.
"""

import math
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from robonet.kernels import bare_kernel, rows_kernel
from robonet.scenario import devices
from robonet.space import Floats, Ints

if TYPE_CHECKING:
    from robonet.robots.world import Group, World

Keys = NDArray[np.uint64]

GAUSSIAN, UNIFORM, STEADY, QUANTISE = range(4)


def key_of(*name: str | int) -> np.uint64:
    """A number for a name."""
    return np.uint64(int.from_bytes(blake2b("/".join(map(str, name)).encode(), digest_size=8).digest(), "little"))


def keys_of(world: "World") -> Keys:
    """A number for every body, which stays whatever else there is."""
    found: Keys | None = world.media.get("keys")
    if found is None:
        names = [f"{group.name}/{number}" for group in world.groups for number in range(len(group))]
        found = world.media["keys"] = np.array([key_of(name) for name in names], dtype=np.uint64)
    return found


def chance_of_dropout(*chains: tuple[devices.Noise, ...]) -> float:
    """Chance that one of several chains of errors loses a reading."""
    kept = 1.0
    for noise in (noise for chain in chains for noise in chain):
        if noise.dropout is not None:
            kept *= 1.0 - noise.dropout.probability
    return 1.0 - kept


@bare_kernel
def mixed(number: np.uint64, other: np.uint64) -> np.uint64:
    """Two numbers stirred into one (the finaliser of splitmix64)."""
    h = (number ^ other) + np.uint64(0x9E3779B97F4A7C15)
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    h ^= h >> np.uint64(31)
    return h + number


@bare_kernel
def share(number: np.uint64) -> float:
    """A number from 0 up to but not including 1."""
    return float(number >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@bare_kernel
def normal(number: np.uint64) -> float:
    """A standard normal number (Box and Muller)."""
    return math.sqrt(-2.0 * math.log(1.0 - share(number))) * math.cos(
        2.0 * math.pi * share(mixed(number, np.uint64(1)))
    )


@rows_kernel
def _disturb(
    first: int, last: int, offsets: Ints, receivers: Keys, senders: Keys, salts: Keys, step: int,
    kinds: NDArray[np.int8], params: Floats, steady: Floats, values: Floats,
) -> None:  # fmt: skip
    """Apply all errors to the readings of some rows."""
    for row in range(first, last):
        for e in range(offsets[row], offsets[row + 1]):
            value = values[e]
            for k in range(len(kinds)):
                if kinds[k] == STEADY:
                    value += steady[k, row]
                elif kinds[k] == QUANTISE:
                    value = math.floor(value / params[k, 0] + 0.5) * params[k, 0]
                else:
                    drawn = mixed(mixed(mixed(salts[k], receivers[row]), senders[e]), np.uint64(step))
                    if kinds[k] == GAUSSIAN:
                        value += params[k, 0] * normal(drawn)
                    else:
                        value += params[k, 0] + (params[k, 1] - params[k, 0]) * share(drawn)
            values[e] = value


@rows_kernel
def _normals(first: int, last: int, salt: np.uint64, keys: Keys, step: int, out: Floats) -> None:
    for row in range(first, last):
        out[row] = normal(mixed(mixed(salt, keys[row]), np.uint64(step)))


class ListNoise:
    """Errors of readings that come in lists, one list a robot of a group; lost readings are the medium's matter."""

    def __init__(self, world: "World", group: "Group", device: str, chain: tuple[devices.Noise, ...]) -> None:
        self._world = world
        self._keys = keys_of(world)[group.rows]
        parts = [part.chosen for part in chain if part.dropout is None]
        self._parts = parts
        self._salts = np.array([key_of(world.seed, device, k) for k in range(len(parts))], dtype=np.uint64)
        self._kinds = np.zeros(len(parts), dtype=np.int8)
        self._params = np.zeros((len(parts), 2))
        self._steady = np.zeros((len(parts), len(group)))
        """What is added to all readings of a robot."""
        self._walked = 0
        """Up to which step errors have wandered."""
        for k, part in enumerate(parts):
            if isinstance(part, devices.Gaussian):
                self._kinds[k], self._params[k, 0] = GAUSSIAN, part.std
            elif isinstance(part, devices.Uniform):
                self._kinds[k], self._params[k] = UNIFORM, (part.low, part.high)
            elif isinstance(part, devices.Quantise):
                self._kinds[k], self._params[k, 0] = QUANTISE, part.step
            else:
                self._kinds[k] = STEADY
                if isinstance(part, devices.Bias):
                    self._steady[k] = part.mean + part.std * self._drawn(k, 0)

    def _drawn(self, part: int, step: int) -> Floats:
        out = np.zeros(len(self._keys))
        _normals(0, len(out), self._salts[part], self._keys, step, out)
        return out

    def apply(self, values: Floats, offsets: Ints, senders: Keys) -> None:
        """Add the errors of this step to readings, those of robot i from `offsets[i]` to `offsets[i + 1]`."""
        step = self._world.index
        if step > self._walked:
            for k, part in enumerate(self._parts):
                if isinstance(part, devices.Drift):
                    way = part.std_per_sqrt_s * math.sqrt((step - self._walked) * self._world.step_s)
                    self._steady[k] += way * self._drawn(k, step)
            self._walked = step

        def work(first: int, last: int) -> None:
            _disturb(
                first, last, offsets, self._keys, senders, self._salts, step,
                self._kinds, self._params, self._steady, values,
            )  # fmt: skip

        self._world.threads.over_rows(len(self._keys), work)
