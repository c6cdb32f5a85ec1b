"""How AODV looks for routes, in widening rings, while datagrams wait (RFC 3561, sections 6.3, 6.4 and 6.12)."""

from collections.abc import Callable
from functools import partial

from robonet.network.wifi.routing.aodv_errors import Errors
from robonet.network.wifi.routing.aodv_floods import Floods
from robonet.network.wifi.routing.aodv_table import Buffer, Route, Table
from robonet.network.wifi.routing.aodv_timing import RateLimit, Timing
from robonet.network.wifi.routing.core import Datagram, Host
from robonet.scenario.wifi import Aodv as Settings

LOCAL_ADD_TTL = 2
"""Added to the time to live of a RREQ that repairs a route (section 10)."""

_AFTER_RENEWAL_NS = 100_000


class Search:
    """A route discovery under way (section 6.3), or a repair (section 6.12)."""

    __slots__ = ("attempts", "destination", "hops_before", "repairs", "ttl")

    def __init__(self, destination: int, ttl: int, hops_before: int | None = None) -> None:
        self.destination = destination
        self.ttl = ttl
        """How far the present RREQ goes."""
        self.attempts = 0
        """RREQs sent so far that went as far as can be."""
        self.repairs = hops_before is not None
        self.hops_before = hops_before or 0
        """Of a repair: length of the route that broke."""


class Discovery:
    """A node's searches, and the datagrams that wait for them to end."""

    def __init__(
        self,
        node: int,
        host: Host,
        settings: Settings,
        timing: Timing,
        table: Table,
        floods: Floods,
        errors: Errors,
        forgets: bool,
    ) -> None:
        self.searches: dict[int, Search] = {}
        """By destination."""
        self.buffer = Buffer(settings.buffer_packets)
        self.limit = RateLimit(settings.rreq_rate_limit_hz)
        self._node = node
        self._host = host
        self._settings = settings
        self._timing = timing
        self._table = table
        self._floods = floods
        self._errors = errors
        self._forgets = forgets
        """Whether destinations that were not found are forgotten at once."""
        self._buffer_watched = False
        self._callbacks: dict[int, list[Callable[[int], None]]] = {}
        """What is to be called when a neighbour is found."""

    def seek(self, datagram: Datagram, now: int) -> None:
        """Keep a datagram, and look for a route unless that is under way."""
        self.keep(datagram, now)
        destination = datagram.destination
        if destination not in self.searches:
            self._begin(Search(destination, self._first_ttl(destination, now)), now)

    def seek_neighbour(self, neighbour: int, then: Callable[[int], None], now: int) -> None:
        """Look for a neighbour that a message is for, and call back when it is one again."""
        self._callbacks.setdefault(neighbour, []).append(then)
        if neighbour not in self.searches:
            self._begin(Search(neighbour, self._first_ttl(neighbour, now)), now)

    def narrow(self, destination: int, hops: int) -> None:
        """A destination has been heard of at a distance: as in ns-3, the next ring is just wider than that."""
        search = self.searches.get(destination)
        if search is not None and search.attempts == 0:
            search.ttl = hops

    def repairs(self, destination: int) -> bool:
        """Whether the route to a destination is being repaired from here."""
        search = self.searches.get(destination)
        return search is not None and search.repairs

    def begin_repair(self, datagram: Datagram, route: Route, hops_back: int, now: int) -> None:
        """Look from here for the destination of a datagram whose route has just broken."""
        self.keep(datagram, now)
        ttl = min(max(route.hops, hops_back // 2) + LOCAL_ADD_TTL, self._settings.net_diameter)
        self._begin(Search(route.destination, ttl, route.hops), now)

    def keep(self, datagram: Datagram, now: int) -> None:
        """Have a datagram wait for the search that is under way for its destination."""
        expiry = now + self._timing.buffer_timeout
        displaced = self.buffer.put(datagram, expiry)
        if displaced is not None:
            self._host.drop(displaced, "no_route")  # the oldest, as in ns-3; it waited for a route in vain
        if not self._buffer_watched:
            self._buffer_watched = True
            self._host.wake(expiry, self._clear_buffer)

    def end(self, route: Route, now: int) -> None:
        """There is a route: send what has waited for it, if anything has."""
        search = self.searches.pop(route.destination, None)
        if search is None:
            return
        route.refresh(now + self._timing.active_route_timeout, now)
        for datagram in self.buffer.take(route.destination):
            self._host.forward(datagram, route.next_hop)
        callbacks = self._callbacks.pop(route.destination, ())
        if route.hops == 1:
            for callback in callbacks:
                callback(now)
        if search.repairs and route.hops > search.hops_before:
            # Section 6.12: those upstream keep their routes, and hear that they are longer than they think.
            told = self._errors.audience((route,), now, but=route.next_hop)
            self._errors.tell(told, [(route.destination, route.seqno)], now, no_delete=True)

    def _first_ttl(self, destination: int, now: int) -> int:
        """Section 6.4: begin near by, or where the destination was last known to be."""
        settings = self._settings
        if not settings.expanding_ring:
            return settings.net_diameter
        route = self._table.find(destination, now)
        ttl = settings.ttl_start if route is None else route.hops + settings.ttl_increment
        return min(ttl, settings.net_diameter)

    def _begin(self, search: Search, now: int) -> None:
        self.searches[search.destination] = search
        self._ask(search, now)

    def _ask(self, search: Search, now: int) -> None:
        """Send a RREQ as soon as the rate limit allows, and wait for a RREP (section 6.3)."""
        destination = search.destination
        if self.searches.get(destination) is not search:
            return
        if self.limit.reached(now):
            self._host.wake(self.limit.renewal + _AFTER_RENEWAL_NS, partial(self._ask, search))
            return
        self.limit.count()
        timing, settings = self._timing, self._settings
        route = self._table.find(destination, now)
        if route is not None:
            route.forgotten = max(route.forgotten, now + timing.path_discovery)
        self._floods.begin(destination, route, search.ttl, now)
        if search.ttl < settings.net_diameter:
            wait = 2 * timing.node_traversal * (search.ttl + settings.timeout_buffer)  # RING_TRAVERSAL_TIME
        else:
            wait = timing.net_traversal << search.attempts
            search.attempts += 1
        self._host.wake(now + wait, partial(self._look_farther, search))

    def _look_farther(self, search: Search, now: int) -> None:
        """No RREP has come: try the next ring, or give up after RREQ_RETRIES RREQs through the whole network."""
        if self.searches.get(search.destination) is not search:
            return
        settings = self._settings
        if search.repairs:
            self._give_up_repair(search, now)
        elif search.attempts >= settings.rreq_retries:
            self._give_up(search)
        else:
            ttl = search.ttl + settings.ttl_increment
            search.ttl = settings.net_diameter if ttl > settings.ttl_threshold else min(ttl, settings.net_diameter)
            self._ask(search, now)

    def _give_up(self, search: Search) -> None:
        del self.searches[search.destination]
        self._callbacks.pop(search.destination, None)
        if self._forgets:
            self._table.forget(search.destination)
        for datagram in self.buffer.take(search.destination):
            self._host.drop(datagram, "no_route")

    def _give_up_repair(self, search: Search, now: int) -> None:
        """Tell those upstream at last (section 6.12); for own datagrams the search goes on as usual."""
        del self.searches[search.destination]
        route = self._table.find(search.destination, now)
        if route is not None:
            told = self._errors.audience((route,), now, but=route.next_hop)
            self._errors.tell(told, [(route.destination, route.seqno)], now)
        self._callbacks.pop(search.destination, None)
        for datagram in self.buffer.take(search.destination):
            if datagram.source == self._node:
                self.seek(datagram, now)
            else:
                self._host.drop(datagram, "no_route")

    def _clear_buffer(self, now: int) -> None:
        for datagram in self.buffer.take_expired(now):
            self._host.drop(datagram, "no_route")
        expiry = self.buffer.next_expiry()
        self._buffer_watched = expiry is not None
        if expiry is not None:
            self._host.wake(expiry, self._clear_buffer)
