"""AODV's parameters (RFC 3561, section 10) in nanoseconds, its jitter and its rate limits."""

from dataclasses import dataclass

import numpy as np

from robonet.scenario.wifi import Aodv as Settings

SECOND = 1_000_000_000
MILLISECOND = 1_000_000

_BLOCK = 64
_JITTER_STEPS = 10


@dataclass(frozen=True)
class Timing:
    """Times that follow from the settings."""

    hello_interval: int
    hello_lifetime: int
    """ALLOWED_HELLO_LOSS * HELLO_INTERVAL."""
    active_route_timeout: int
    delete_period: int
    my_route_timeout: int
    node_traversal: int
    net_traversal: int
    path_discovery: int
    next_hop_wait: int
    blacklist_timeout: int
    buffer_timeout: int

    @classmethod
    def of(cls, settings: Settings) -> "Timing":
        """Those given, and the others by the formulas of section 10."""
        hello = _ns(settings.hello_interval_s)
        active = _ns(settings.active_route_timeout_s)
        node_traversal = _ns(settings.node_traversal_time_s)
        net_traversal = 2 * node_traversal * settings.net_diameter
        path_discovery = 2 * net_traversal
        return cls(
            hello_interval=hello,
            hello_lifetime=settings.allowed_hello_loss * hello,
            active_route_timeout=active,
            delete_period=_ns_or(settings.delete_period_s, 5 * max(active, hello)),
            my_route_timeout=_ns_or(settings.my_route_timeout_s, 2 * max(active, path_discovery)),
            node_traversal=node_traversal,
            net_traversal=net_traversal,
            path_discovery=path_discovery,
            next_hop_wait=_ns_or(settings.next_hop_wait_s, node_traversal + 10 * MILLISECOND),
            blacklist_timeout=_ns_or(settings.blacklist_timeout_s, settings.rreq_retries * net_traversal),
            buffer_timeout=_ns(settings.buffer_timeout_s),
        )


def _ns(seconds: float) -> int:
    return round(seconds * SECOND)


def _ns_or(seconds: float | None, default: int) -> int:
    return default if seconds is None else _ns(seconds)


class Jitter:
    """Random delays of broadcasts, drawn many at once because single draws are slow.

    As in ns-3 there are eleven of them, 0, 1, ... 10 ms by default: neighbours that hear the same flood choose the
    same one rather often and then collide, which a finer grain would hide.
    """

    def __init__(self, longest_s: float, rng: np.random.Generator) -> None:
        self._longest_ns = _ns(longest_s)
        self._rng = rng
        self._drawn: list[int] = []

    def draw(self) -> int:
        """One delay in nanoseconds."""
        if not self._drawn:
            steps = self._rng.integers(0, _JITTER_STEPS, _BLOCK, endpoint=True)
            self._drawn = (steps * self._longest_ns // _JITTER_STEPS).tolist()
        return self._drawn.pop()


class RateLimit:
    """So many messages a second, in seconds counted from the start as in ns-3."""

    def __init__(self, per_second: int) -> None:
        self._per_second = per_second
        self._count = 0
        self._start = 0
        self.renewal = 0
        """When the present second ends; after that, the past one."""

    def start(self, now: int) -> None:
        """Begin the first second."""
        self._start = now
        self._count = 0
        self.renewal = now + SECOND

    def reached(self, now: int) -> bool:
        """Whether nothing more may be sent before `renewal`."""
        if now >= self.renewal:
            self._count = 0
            self.renewal = now + SECOND - (now - self._start) % SECOND
        return self._count >= self._per_second

    def count(self) -> None:
        """One was sent."""
        self._count += 1
