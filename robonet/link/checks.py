"""What a step's arrays must agree with, looked at in one compiled pass each: cheaper than a numpy call a rule."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from robonet.kernels import kernel
from robonet.link.messages import ARRIVAL, BROADCAST, FIRST_GROUP, TRANSMISSION

GOOD = 0


def warm_up() -> None:
    """Compile the checks before the first step."""
    problem_with_step(np.zeros(3, np.uint64), _read_only(TRANSMISSION), -1, 0, 1, 1, FIRST_GROUP, 0, 1)
    problem_with_arrivals(_read_only(ARRIVAL), 0, 1, 0, 1)


def _read_only(dtype: "np.dtype[Any]") -> NDArray[Any]:
    """An empty array of the kind that views of received bytes are."""
    return np.frombuffer(b"", dtype)


PROBLEMS = (
    "",
    "a position is not a finite number",
    "packet numbers must ascend from one step to the next and stay below 2^63",
    "a source is not a node of this peer",
    "a destination is neither a node nor a group nor broadcast",
    "a packet is sent outside of the step",
    "a receiver is not a node of this side",
    "an arrival lies outside of the step",
)
"""By the number that a check returns."""

_EXPONENT = np.uint64(0x7FF0_0000_0000_0000)
_GROUPS, _EVERYONE = np.uint32(FIRST_GROUP), np.uint32(BROADCAST)


@kernel
def problem_with_step(
    words: NDArray[np.uint64],
    rows: NDArray[Any],
    last_packet: int,
    low: int,
    high: int,
    all_nodes: int,
    groups_end: int,
    begin: int,
    end: int,
) -> int:
    """Look at positions, as the words that hold them, and at TRANSMISSION records; the number of the first problem."""
    strange = 0
    for i in range(len(words)):  # all ones in the exponent: infinite, or not a number
        strange |= (words[i] & _EXPONENT) == _EXPONENT
    if strange:
        return 1
    for i in range(len(rows)):
        row = rows[i]
        packet = np.int64(row["packet"])
        if packet <= last_packet:
            return 2
        last_packet = packet
        if row["source"] < low or row["source"] >= high:
            return 3
        destination = row["destination"]
        if destination >= all_nodes and not (_GROUPS <= destination < groups_end or destination == _EVERYONE):
            return 4
        if row["time"] < begin or row["time"] >= end:
            return 5
    return GOOD


@kernel
def problem_with_arrivals(rows: NDArray[Any], low: int, high: int, begin: int, end: int) -> int:
    """Look at ARRIVAL records; the number of the first problem."""
    for i in range(len(rows)):
        row = rows[i]
        if row["receiver"] < low or row["receiver"] >= high:
            return 6
        if row["time"] < begin or row["time"] > end:
            return 7
    return GOOD
