"""Busy work that is the same work wherever it runs: a number of iterations, not a span of time."""

import time


def burn(iterations: int) -> int:
    """Compute something of no use, in registers and first-level cache."""
    value = 1
    for _ in range(iterations):
        value = (value * 69069 + 1) & 0xFFFFFFFF
    return value


def iterations_per_ms() -> float:
    """On this machine; the best of some attempts, because whatever disturbs makes it slower."""
    best_s = float("inf")
    for _ in range(50):
        before = time.perf_counter()
        burn(20_000)
        best_s = min(best_s, time.perf_counter() - before)
    return 20_000 / (best_s * 1000)
