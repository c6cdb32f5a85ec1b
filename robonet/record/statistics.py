"""The few figures that a summary gives of a distribution."""

from array import array
from collections.abc import Sequence
from typing import Any, NamedTuple

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


STUDENT = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
"""Student's t for a two-sided interval of 95 %, from one degree of freedom."""


class Interval(NamedTuple):
    """A mean and half the width of its 95 % confidence interval; none where there is too little to say."""

    mean: float | None
    half_width: float | None
    values: int


def mean_interval(values: Sequence[float]) -> Interval:
    """By Student's distribution, as if the values were independent and normal."""
    if not len(values):
        return Interval(None, None, 0)
    mean = float(np.mean(values))
    if len(values) == 1:
        return Interval(mean, None, 1)
    freedom = len(values) - 1
    t = STUDENT[freedom - 1] if freedom <= len(STUDENT) else 1.96 + 2.4 / freedom
    return Interval(mean, float(t * np.std(values, ddof=1) / len(values) ** 0.5), len(values))
