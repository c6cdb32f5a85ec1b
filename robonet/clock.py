"""Simulated time: an int of nanoseconds everywhere; seconds only where people read or write them."""

NS_PER_S = 1_000_000_000


def ns_from_s(seconds: float) -> int:
    """Nanoseconds nearest to a number of seconds."""
    return round(seconds * NS_PER_S)


def s_from_ns(time: int) -> float:
    """Seconds, for people."""
    return time / NS_PER_S
