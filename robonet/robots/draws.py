"""Random numbers that are computed, not kept: each is a function of a key and of its place, in any order.

A generator for every robot and device would be much memory, and numbers would depend on who drew before. Here a
key stands for a device of a group; the robot, the step and the place of the draw are mixed into it (the finaliser of
splitmix64; Steele, Lea and Flood, 2014).
"""

import math
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from robonet.kernels import bare_kernel, rows_kernel
from robonet.space import Floats

if TYPE_CHECKING:
    from robonet.robots.world import Group, World

STRIDE = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
BY_30, BY_27, BY_31, BY_12 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(12)
ONCE = 0
"""The key of numbers that are drawn once; those of step s have s + 1."""


def key_of(seed: int, *name: str | int) -> np.uint64:
    """The key of one named consumer."""
    text = "/".join(str(part) for part in (seed, *name))
    digest = blake2b(text.encode(), digest_size=8).digest()
    key: np.uint64 = np.frombuffer(digest, dtype="<u8").astype(np.uint64)[0]
    return key


@bare_kernel
def keyed(key: np.uint64, number: int) -> np.uint64:
    """The key of one of many under a key."""
    word: np.uint64 = key + STRIDE * np.uint64(number + 1)
    word = (word ^ (word >> BY_30)) * FIRST
    word = (word ^ (word >> BY_27)) * SECOND
    word ^= word >> BY_31
    return word


@bare_kernel
def share(key: np.uint64, place: int) -> float:
    """A number strictly between 0 and 1."""
    return (float(keyed(key, place) >> BY_12) + 0.5) * 2.220446049250313e-16


@bare_kernel
def normal(p: float) -> float:
    """The standard normal number below which a share p of them lies (Wichura's AS 241, 16 digits)."""
    q = p - 0.5
    if abs(q) <= 0.425:
        r = 0.180625 - q * q
        above = (((((((2.5090809287301226727e3 * r + 3.3430575583588128105e4) * r + 6.7265770927008700853e4) * r
                 + 4.5921953931549871457e4) * r + 1.3731693765509461125e4) * r + 1.9715909503065514427e3) * r
                 + 1.3314166789178437745e2) * r + 3.3871328727963666080e0) * q  # fmt: skip
        below = ((((((5.2264952788528545610e3 * r + 2.8729085735721942674e4) * r + 3.9307895800092710610e4) * r
                 + 2.1213794301586595867e4) * r + 5.3941960214247511077e3) * r + 6.8718700749205790830e2) * r
                 + 4.2313330701600911252e1) * r + 1.0  # fmt: skip
        return above / below
    r = math.sqrt(-math.log(p if q < 0.0 else 1.0 - p))
    if r <= 5.0:
        r -= 1.6
        above = ((((((7.74545014278341407640e-4 * r + 2.27238449892691845833e-2) * r + 2.41780725177450611770e-1) * r
                 + 1.27045825245236838258e0) * r + 3.64784832476320460504e0) * r + 5.76949722146069140550e0) * r
                 + 4.63033784615654529590e0) * r + 1.42343711074968357734e0  # fmt: skip
        below = ((((((1.05075007164441684324e-9 * r + 5.47593808499534494600e-4) * r + 1.51986665636164571966e-2) * r
                 + 1.48103976427480074590e-1) * r + 6.89767334985100004550e-1) * r + 1.67638483018380384940e0) * r
                 + 2.05319162663775882187e0) * r + 1.0  # fmt: skip
    else:
        r -= 5.0
        above = ((((((2.01033439929228813265e-7 * r + 2.71155556874348757815e-5) * r + 1.24266094738807843860e-3) * r
                 + 2.65321895265761230930e-2) * r + 2.96560571828504891230e-1) * r + 1.78482653991729133580e0) * r
                 + 5.46378491116411436990e0) * r + 6.65790464350110377720e0  # fmt: skip
        below = ((((((2.04426310338993978564e-15 * r + 1.42151175831644588870e-7) * r + 1.84631831751005468180e-5) * r
                 + 7.86869131145613259100e-4) * r + 1.48753612908506148525e-2) * r + 1.36929880922735805310e-1) * r
                 + 5.99832206555887937690e-1) * r + 1.0  # fmt: skip
    return -above / below if q < 0.0 else above / below


class Draws:
    """Normal numbers for one device of a group, a row a robot."""

    def __init__(self, world: "World", group: "Group", device: str, channels: int) -> None:
        self._threads = world.threads
        self._key = key_of(world.seed, "noise", device, group.name)
        self._drawn = np.zeros((len(group), channels))

    def once(self) -> Floats:
        """Numbers that never change."""
        return self._fill(ONCE)

    def at_step(self, step: int) -> Floats:
        """The numbers of a step; the array is another's in the next call."""
        return self._fill(step + 1)

    def _fill(self, number: int) -> Floats:
        work = self._drawn
        self._threads.over_rows(len(work), lambda first, last: _fill_normals(first, last, self._key, number, work))
        return work


@rows_kernel
def _fill_normals(first: int, last: int, key: np.uint64, number: int, out: Floats) -> None:
    for i in range(first, last):
        own = keyed(keyed(key, i), number)
        for c in range(out.shape[1]):
            out[i, c] = normal(share(own, c))
