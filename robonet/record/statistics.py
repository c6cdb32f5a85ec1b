"""The few figures that a summary gives of a distribution."""

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def delay_figures(delays_ns: "Sequence[int] | array[int] | NDArray[Any]") -> dict[str, float | None]:
    """Mean, median, 95th percentile and maximum in seconds; nulls where nothing arrived."""
    if not len(delays_ns):
        return {"mean": None, "p50": None, "p95": None, "max": None}
    delays_s = np.asarray(delays_ns, dtype=np.float64) / 1e9
    p50, p95 = np.percentile(delays_s, (50, 95))
    return {
        "mean": float(delays_s.mean()),
        "p50": float(p50),
        "p95": float(p95),
        "max": float(delays_s.max()),
    }


def hop_figures(hops: "Sequence[int] | array[int] | NDArray[Any]") -> dict[str, float | int | None]:
    """Mean and maximum; nulls where nothing arrived."""
    if not len(hops):
        return {"mean": None, "max": None}
    return {"mean": float(np.mean(hops)), "max": int(np.max(hops))}
