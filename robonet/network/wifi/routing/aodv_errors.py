"""Whom AODV tells of lost routes, and how often (RFC 3561, section 6.11)."""

from collections.abc import Callable, Iterable
from functools import partial

from robonet.network.wifi.routing.aodv_messages import MOST_UNREACHABLE, RouteError
from robonet.network.wifi.routing.aodv_table import Route, Table
from robonet.network.wifi.routing.aodv_timing import Jitter, RateLimit
from robonet.network.wifi.routing.core import EVERYONE, Host, Message

Unreachable = list[tuple[int, int]]
"""Destinations and their sequence numbers."""

Unicast = Callable[[Message, str, int, int, int], None]
"""Sends a message of a kind to one neighbour, with a time to live, now."""


class Errors:
    """Sends a node's RERRs."""

    def __init__(
        self, host: Host, table: Table, jitter: Jitter, limit: RateLimit, counts: dict[str, int], unicast: Unicast
    ) -> None:
        self._host = host
        self._unicast = unicast
        self._table = table
        self._jitter = jitter
        self._limit = limit
        self._counts = counts

    def audience(self, routes: Iterable[Route], now: int, but: int | None = None) -> int | None:
        """Who is to hear of lost routes: their only precursor, EVERYONE where there are more, or nobody.

        To be asked before the routes are invalidated, because a precursor counts while there is a route to it.
        """
        precursors = {precursor: None for route in routes for precursor in route.precursors}
        if but is not None:
            precursors.pop(but, None)
        if not any(self._table.find_active(precursor, now) for precursor in precursors):
            return None
        return next(iter(precursors)) if len(precursors) == 1 else EVERYONE

    def tell(self, told: int | None, unreachable: Unreachable, now: int, no_delete: bool = False) -> None:
        """Send what an audience is to hear."""
        if told is None:
            return
        for begin in range(0, len(unreachable), MOST_UNREACHABLE):
            error = RouteError(tuple(unreachable[begin : begin + MOST_UNREACHABLE]), no_delete)
            self._send(error, told, self._jitter.draw(), now)

    def refuse(self, destination: int, source: int, now: int) -> None:
        """Answer a datagram for which there is no route (case ii)."""
        route = self._table.find(destination, now)
        seqno = route.seqno if route is not None and route.knows_seqno else 0
        back = self._table.find_active(source, now)
        self._send(RouteError(((destination, seqno),)), EVERYONE if back is None else back.next_hop, None, now)

    def _send(self, error: RouteError, told: int, delay_ns: int | None, now: int) -> None:
        if self._limit.reached(now):
            return
        self._limit.count()
        if told == EVERYONE:
            self._counts["rerr"] += 1
            self._host.send(error, told, 1, delay_ns or 0)
        elif delay_ns is not None:
            self._host.wake(now + delay_ns, partial(self._unicast, error, "rerr", told, 1))
        else:
            self._unicast(error, "rerr", told, 1, now)
