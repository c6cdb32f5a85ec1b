"""One root seed, many independent random streams, each found again by its name.

A stream depends on the root seed and its own name only, so adding a robot, a model or a sensor never
reshuffles the numbers that the others draw.
"""

from hashlib import blake2b

import numpy as np


def stream(seed: int, *name: str | int) -> np.random.Generator:
    """Make the random generator of one named consumer, e.g. `stream(7, "placement", "scout3")`."""
    digest = blake2b("/".join(str(part) for part in name).encode(), digest_size=16).digest()
    key = tuple(int(word) for word in np.frombuffer(digest, dtype="<u4"))
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))


class StreamPool:
    """Streams of one family, made when first asked for: most robots never draw most kinds of number."""

    def __init__(self, seed: int, *family: str) -> None:
        self._seed = seed
        self._family = family
        self._streams: dict[str, np.random.Generator] = {}

    def __getitem__(self, name: str) -> np.random.Generator:
        found = self._streams.get(name)
        if found is None:
            found = self._streams[name] = stream(self._seed, *self._family, name)
        return found
