"""AODV, ad hoc on-demand distance vector routing (RFC 3561), as the core of one node.

With `rules: ns3` it does as ns-3 does where that shows in delivery, delay or the number of messages:

- a route that breaks or expires keeps its destination's sequence number, which 6.11 has incremented, so that others
  may answer the next RREQ with what they knew before; and a RERR's numbers are not taken over;
- neighbours whose RREQ is passed on count as having no sequence number until their next HELLO (6.2: it is kept),
  and a RREQ is dropped by a node whose own route leads to where the RREQ comes from (6.5: passed on);
- a reverse route that had become inactive leads RREPs back but stays inactive for data (6.5: it becomes active);
- RREPs are passed on even when they are no news (6.7: only news are);
- what is learned of a route again begins with no precursors (6.2: they are kept), while routes that are inactive
  still have theirs told of errors (6.11: only active ones have);
- a destination that was not found is forgotten at once (6.4: remembered for DELETE_PERIOD);
- messages to one neighbour are routed as data are: if the route to it is inactive, it is looked for with RREQs first;
- RREP-ACKs are asked for, but nobody is blacklisted for their absence (6.8), and every node says HELLO (6.9: only
  those on an active route do).

With `rules: rfc3561` (`strict`) all of that is as the RFC has it, but for HELLOs, and routes are free of loops,
provided that DELETE_PERIOD is longer than MY_ROUTE_TIMEOUT as it is by default: who forgets a route must not be used
for it.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from robonet.network.wifi.routing.aodv_discovery import Discovery
from robonet.network.wifi.routing.aodv_errors import Errors
from robonet.network.wifi.routing.aodv_floods import Floods
from robonet.network.wifi.routing.aodv_messages import (
    ACKNOWLEDGEMENT,
    HELLO,
    REPLY,
    REQUEST,
    Hello,
    RouteError,
    RouteReply,
    RouteReplyAck,
    RouteRequest,
)
from robonet.network.wifi.routing.aodv_neighbours import Neighbours
from robonet.network.wifi.routing.aodv_table import Route, Table, newer, next_seqno
from robonet.network.wifi.routing.aodv_timing import MILLISECOND, Jitter, RateLimit, Timing
from robonet.network.wifi.routing.core import EVERYONE, Datagram, Host, Message
from robonet.scenario.wifi import Aodv as Settings

_FIRST_HELLO_MS = 100


class Aodv:
    """One node's end of AODV."""

    def __init__(
        self, node: int, host: Host, settings: Settings, rng: np.random.Generator, strict: bool = False
    ) -> None:
        self.counts = {"rreq": 0, "rrep": 0, "rerr": 0, "hello": 0, "rrep_ack": 0}
        """Messages handed to the radio, originated and forwarded, by kind."""
        self._node = node
        self._host = host
        self._settings = settings
        self._strict = strict
        self._timing = timing = Timing.of(settings)
        self._active_route_timeout = timing.active_route_timeout
        self._hello_lifetime = timing.hello_lifetime
        self._rng = rng
        self._jitter = Jitter(settings.jitter_s, rng)
        self._error_limit = RateLimit(settings.rerr_rate_limit_hz)
        self._table = Table(timing.delete_period, raises_seqnos=strict)
        self._floods = Floods(node, host, settings, timing.path_discovery, self._jitter, self.counts)
        self._errors = Errors(host, self._table, self._jitter, self._error_limit, self.counts, self._tell)
        self._discovery = Discovery(
            node, host, settings, timing, self._table, self._floods, self._errors, forgets=not strict
        )
        self._neighbours = Neighbours(host, timing.hello_interval, settings.hello, self._lose)
        # What fast paths look into themselves, which calls would slow down.
        self._routes = self._table.routes
        self._seen = self._floods.seen
        self._present = self._neighbours.expiries
        self._searches = self._discovery.searches
        self._blacklist: dict[int, int] = {}
        """Until when RREQs of neighbours that do not hear this node are ignored."""
        self._awaited: dict[int, int] = {}
        """Until when neighbours are to acknowledge a RREP."""

    # --- as Routing ------------------------------------------------------------------------------------------

    def start(self, now: int) -> None:
        """Begin to greet and to watch the neighbours."""
        self._discovery.limit.start(now)
        self._error_limit.start(now)
        self._neighbours.start(now)
        if self._settings.hello:
            first = int(self._rng.integers(0, _FIRST_HELLO_MS, endpoint=True)) * MILLISECOND
            self._host.wake(now + first, self._greet)

    def handle_datagram(self, datagram: Datagram, sender: int, now: int) -> None:
        """Deliver it, send it on, or keep it while a route is looked for."""
        routes = self._routes
        destination = datagram.destination
        until = now + self._active_route_timeout
        if destination == self._node:
            if sender != self._node and self._table.find_active(datagram.source, now) is not None:
                self._refresh_way_back(datagram.source, until, now)
            self._host.deliver(datagram)
            return
        route = routes.get(destination)
        if route is None or route.expiry < now:
            self._handle_routeless(datagram, sender, now)
            return
        # Section 6.2: data keep alive the routes to both ends of their path and to the neighbours on it.
        next_hop = route.next_hop
        route.expiry = max(route.expiry, until)
        if next_hop != destination:
            first = routes.get(next_hop)
            if first is not None and now <= first.expiry < until:
                first.expiry = until
        if sender != self._node:
            if datagram.source == self._node:
                self._host.drop(datagram, "no_route")  # it went in a circle
                return
            known = self._present.get(next_hop)
            if known is None:
                self._neighbours.meet(next_hop, until, now)
            elif known < until:
                self._present[next_hop] = until
            self._refresh_way_back(datagram.source, until, now)
        self._host.forward(datagram, next_hop)

    def handle_message(self, message: Any, sender: int, ttl: int, now: int) -> None:
        """Take up what a neighbour says."""
        route = self._routes.get(sender)
        until = now + self._active_route_timeout
        if route is None or route.hops != 1 or not route.knows_seqno or route.expiry < now:
            route = self._hear(sender, now)
        elif route.expiry < until:
            route.expiry = until
        kind = message.kind
        if kind == REQUEST:
            # Section 6.5: copies of a RREQ are ignored.
            if self._seen.get(message.key, -1) < now:
                self._handle_request(message, sender, ttl, now)
            return
        if kind == HELLO:
            # Section 6.9, on the spot because nothing is heard more often.
            until = now + self._hello_lifetime
            if route.expiry < now:
                route.expiry = until
            if route.seqno != message.destination_seqno or not route.knows_seqno:
                self._take_over_hello(route, message)
            if sender in self._searches:
                self._discovery.end(route, now)
        # Section 6.10: HELLOs are signs of life, and so is, as in ns-3, what is sent to this node alone.
        known = self._present.get(sender)
        if known is None:
            if route.expiry >= now:
                self._neighbours.meet(sender, until, now)
        elif known < until and route.expiry >= now:
            self._present[sender] = until
        if kind == HELLO:
            return
        if kind == REPLY:
            self._handle_reply(message, sender, ttl, now)
        elif kind == ACKNOWLEDGEMENT:
            self._awaited.pop(sender, None)
            self._blacklist.pop(sender, None)
        else:
            self._handle_error(message, sender, now)

    def handle_undelivered(self, item: Any, next_hop: int, now: int) -> None:
        """The link to a neighbour is broken, so are the routes that use it (section 6.11, case i)."""
        if isinstance(item, Datagram):
            if self._repair(item, next_hop, now):
                return
            self._host.drop(item, "retry_limit")
        elif self._strict and item.kind == REPLY:
            self._blacklist[next_hop] = now + self._timing.blacklist_timeout  # section 6.8
        # More frames for the same neighbour may have waited at the radio: they come back to a link known as broken.
        if next_hop in self._present or self._table.is_used(next_hop, now):
            self._neighbours.close(next_hop, now)

    def handle_timer(self, timer: Callable[[int], None], now: int) -> None:
        """Timers are what is to be called."""
        timer(now)

    def pending(self) -> list[Datagram]:
        """Datagrams that wait for a route."""
        return self._discovery.buffer.datagrams()

    def route_to(self, destination: int, now: int) -> Route | None:
        """The active route to a destination, for whoever looks on from outside."""
        return self._table.find_active(destination, now)

    def _handle_routeless(self, datagram: Datagram, sender: int, now: int) -> None:
        """Look for a route for own datagrams; refuse those of others (section 6.11, case ii)."""
        if sender == self._node:
            self._discovery.seek(datagram, now)
        elif datagram.source == self._node:
            self._host.drop(datagram, "no_route")  # it went in a circle
        elif self._discovery.repairs(datagram.destination):
            self._discovery.keep(datagram, now)
        else:
            self._host.drop(datagram, "no_route")
            self._errors.refuse(datagram.destination, datagram.source, now)

    # --- neighbours (sections 6.2, 6.9 and 6.10) ---------------------------------------------------------------

    def _hear(self, sender: int, now: int) -> Route:
        """Whoever is heard is a neighbour (section 6.2); the route to it."""
        until = now + self._active_route_timeout
        route = self._table.find(sender, now)
        if route is None:
            route = self._table.add(sender, sender, 1, until)
        elif route.hops != 1 or not route.knows_seqno:
            if not self._strict:
                route.knows_seqno = False
                route.precursors.clear()
            route.hops = 1
            route.next_hop = sender
            route.expiry = max(route.expiry, until)
        else:
            # As in ns-3: a link that broke is good again only after a HELLO or a new RREQ.
            return route
        if sender in self._searches:
            self._discovery.end(route, now)
        return route

    def _tell(self, message: Message, kind: str, neighbour: int, ttl: int, now: int) -> None:
        """Send a message to one neighbour; where ns-3 is followed, only if there is a route, as for data."""
        route = self._table.find_active(neighbour, now)
        if route is None and not self._strict:
            self._discovery.seek_neighbour(neighbour, partial(self._tell, message, kind, neighbour, ttl), now)
            return
        if route is not None:
            route.refresh(now + self._active_route_timeout, now)
        self.counts[kind] += 1
        self._host.send(message, neighbour, ttl)

    def _take_over_hello(self, route: Route, hello: Hello) -> None:
        """Learn a neighbour's sequence number from itself; never an older one where loops are to be ruled out."""
        if not self._strict or not route.knows_seqno or newer(hello.destination_seqno, route.seqno):
            route.seqno = hello.destination_seqno
            route.knows_seqno = True

    def _greet(self, now: int) -> None:
        """Say HELLO unless a RREQ was as good since the last time (section 6.9)."""
        begin = now
        if self._floods.last_broadcast is None:
            hello = Hello(self._node, self._floods.seqno, self._hello_lifetime // MILLISECOND)
            self.counts["hello"] += 1
            self._host.send(hello, EVERYONE, 1, self._jitter.draw())
        else:
            begin = self._floods.last_broadcast
            self._floods.last_broadcast = None
        self._host.wake(max(now, begin + self._timing.hello_interval), self._greet)

    def _refresh_way_back(self, source: int, until: int, now: int) -> None:
        """Data came from a source: make the route there and its first hop last (section 6.2)."""
        back = self._routes.get(source)
        if back is None:
            return
        if now <= back.expiry < until:
            back.expiry = until
        previous = back.next_hop
        if previous != source:
            hop = self._routes.get(previous)
            if hop is not None and now <= hop.expiry < until:
                hop.expiry = until
        known = self._present.get(previous)
        if known is None:
            self._neighbours.meet(previous, until, now)
        elif known < until:
            self._present[previous] = until

    # --- RREQ (sections 6.5 and 6.6) -------------------------------------------------------------------------------

    def _handle_request(self, request: RouteRequest, sender: int, ttl: int, now: int) -> None:
        """A RREQ heard for the first time: answer it or pass it on."""
        if self._blacklist.get(sender, -1) >= now or request.origin == self._node:
            return
        self._floods.remember(request, now)
        back = self._learn_way_back(request, sender, now)
        self._neighbours.meet(sender, now + self._hello_lifetime, now)
        if self._searches:
            self._discovery.narrow(request.origin, request.hop_count + 1)
            for found in dict.fromkeys((request.origin, sender)):
                route = self._table.find_active(found, now)
                if found in self._searches and route is not None:
                    self._discovery.end(route, now)
        seqno, unknown = request.destination_seqno, request.unknown_seqno
        if request.destination == self._node:
            if not unknown and newer(seqno, self._floods.seqno):
                self._floods.seqno = seqno  # section 6.6.1
            lifetime_ms = self._timing.my_route_timeout // MILLISECOND
            self._reply(RouteReply(self._node, self._floods.seqno, request.origin, lifetime_ms), back, now)
            return
        route = self._table.find(request.destination, now)
        if route is not None:
            if not self._strict and route.next_hop == sender:
                return
            if route.knows_seqno and (unknown or not newer(seqno, route.seqno)):
                if route.expiry >= now and not request.destination_only and route.next_hop != sender:
                    self._reply_for(route, back, request.gratuitous, now)
                    return
                seqno, unknown = route.seqno, False
        if ttl > 1:
            self._floods.send(request.forwarded(seqno, unknown), ttl - 1, now)

    def _learn_way_back(self, request: RouteRequest, sender: int, now: int) -> Route:
        """The reverse route to a RREQ's originator, and the one to the neighbour that it came from (section 6.5)."""
        hops = request.hop_count + 1
        timing = self._timing
        until = now + 2 * timing.net_traversal - 2 * hops * timing.node_traversal
        back = self._table.find(request.origin, now)
        if back is None:
            back = self._table.add(request.origin, sender, hops, until)
            back.replace(sender, hops, request.origin_seqno, until)
            if request.origin in self._searches and not self._strict:
                self._table.invalidate(back, now)
        elif back.expiry < now and not self._strict:
            back.replace(sender, hops, self._latest(back, request), back.expiry)
            back.forgotten = max(back.forgotten, until)
        elif back.is_worse_than(request.origin_seqno, hops, now) or not self._strict:
            back.replace(sender, hops, self._latest(back, request), max(back.expiry, until))
        else:
            back.refresh(until, now)
        near = self._table.find(sender, now) or self._table.add(sender, sender, 1, now)
        near.hops = 1
        near.next_hop = sender
        if self._strict:
            near.expiry = max(near.expiry, now + timing.active_route_timeout)
        else:
            near.expiry = now + timing.active_route_timeout
            near.knows_seqno = False
        return back

    @staticmethod
    def _latest(back: Route, request: RouteRequest) -> int:
        """The later sequence number of a RREQ's originator: from the RREQ or known before."""
        outdated = back.knows_seqno and newer(back.seqno, request.origin_seqno)
        return back.seqno if outdated else request.origin_seqno

    def _reply_for(self, route: Route, back: Route, gratuitous: bool, now: int) -> None:
        """Answer a RREQ in place of its destination (section 6.6.2), and tell that as well (section 6.6.3)."""
        route.precursors[back.next_hop] = None
        back.precursors[route.next_hop] = None
        lifetime_ms = (route.expiry - now) // MILLISECOND
        # As in ns-3, acknowledgement is asked for where the destination is near, and did not answer itself.
        reply = RouteReply(
            route.destination, route.seqno, back.destination, lifetime_ms, route.hops, acknowledge=route.hops == 1
        )
        self._reply(reply, back, now)
        if gratuitous and (back.expiry >= now or not self._strict):
            lifetime_ms = ((back.expiry if back.expiry >= now else back.forgotten) - now) // MILLISECOND
            news = RouteReply(back.destination, back.seqno, route.destination, lifetime_ms, back.hops)
            self._reply(news, route, now)

    def _reply(self, reply: RouteReply, back: Route, now: int) -> None:
        if self._strict and back.expiry < now:
            return
        if reply.acknowledge and self._strict:
            deadline = now + self._timing.next_hop_wait
            self._awaited[back.next_hop] = deadline
            self._host.wake(deadline, partial(self._miss_acknowledgement, back.next_hop))
        self._tell(reply, "rrep", back.next_hop, back.hops, now)

    def _miss_acknowledgement(self, neighbour: int, now: int) -> None:
        """Section 6.8: whoever does not hear this node is not to send it RREQs for a while."""
        if self._awaited.get(neighbour) == now:
            del self._awaited[neighbour]
            self._blacklist[neighbour] = now + self._timing.blacklist_timeout

    # --- RREP (section 6.7) ------------------------------------------------------------------------------------------

    def _handle_reply(self, reply: RouteReply, sender: int, ttl: int, now: int) -> None:
        """Learn a route from a RREP and pass it on towards the originator of the RREQ."""
        if reply.acknowledge:
            self._tell(RouteReplyAck(), "rrep_ack", sender, 1, now)
        destination = reply.destination
        if destination == self._node:
            return
        hops = reply.hop_count + 1
        expiry = now + reply.lifetime_ms * MILLISECOND
        route = self._table.find(destination, now)
        is_news = route is None or route.is_worse_than(reply.destination_seqno, hops, now)
        if route is None:
            route = self._table.add(destination, sender, hops, expiry)
        if is_news:
            route.replace(sender, hops, reply.destination_seqno, expiry)
            if not self._strict and destination not in self._searches:
                route.precursors.clear()
            if destination in self._searches:
                self._discovery.end(route, now)
        if reply.origin == self._node or (self._strict and not is_news):
            return
        back = self._table.find(reply.origin, now)
        if back is None or (back.expiry < now and (self._strict or reply.origin in self._searches)):
            return
        back.refresh(now + self._active_route_timeout, now)
        if route.expiry >= now:
            self._pair(route, back)
        if ttl > 1:
            self._tell(reply.forwarded(), "rrep", back.next_hop, ttl - 1, now)

    def _pair(self, route: Route, back: Route) -> None:
        """Both ways of a path have the neighbours of the other as their precursors."""
        for one, other in ((route, back), (back, route)):
            one.precursors[other.next_hop] = None
            first = self._routes.get(one.next_hop)
            if first is not None:
                first.precursors[other.next_hop] = None

    # --- RERR (section 6.11) -----------------------------------------------------------------------------------------

    def _lose(self, neighbour: int, now: int) -> None:
        """Invalidate what goes through a neighbour that is gone, and tell those who used it (case i)."""
        lost = self._table.through(neighbour, now)
        if self._strict:
            lost = [route for route in lost if route.expiry >= now]
        reported = [route for route in lost if self._concerns_others(route)]
        told = self._errors.audience(reported, now, neighbour if self._strict else None)
        for route in lost:
            if route.expiry >= now:
                self._table.invalidate(route, now)
        self._errors.tell(told, [(route.destination, route.seqno) for route in reported], now)

    def _concerns_others(self, route: Route) -> bool:
        """Whether the loss of a route is to be told: not while it is being repaired."""
        if self._discovery.repairs(route.destination):
            return False
        return bool(route.precursors) or not self._strict

    def _handle_error(self, error: RouteError, sender: int, now: int) -> None:
        """Give up routes through the sender that it has given up (case iii)."""
        lost = []
        for destination, seqno in error.unreachable:
            route = self._table.find(destination, now)
            if route is None or route.next_hop != sender or (self._strict and route.expiry < now):
                continue
            lost.append((route, seqno))
        told = self._errors.audience((route for route, _ in lost), now, sender if self._strict else None)
        if not error.no_delete:  # section 6.12
            for route, seqno in lost:
                if route.expiry >= now:
                    self._table.invalidate(route, now)
                if self._strict and newer(seqno, route.seqno):
                    route.seqno = seqno
        unreachable = [
            (route.destination, route.seqno if self._strict else seqno)
            for route, seqno in lost
            if self._concerns_others(route)
        ]
        self._errors.tell(told, unreachable, now, error.no_delete)

    # --- local repair (section 6.12) -----------------------------------------------------------------------------

    def _repair(self, datagram: Datagram, next_hop: int, now: int) -> bool:
        """Look for the destination from here if it is near enough, and keep its datagrams meanwhile."""
        settings = self._settings
        if not settings.local_repair or datagram.source == self._node:
            return False
        if self._discovery.repairs(datagram.destination):
            self._discovery.keep(datagram, now)
            return True
        route = self._table.find_active(datagram.destination, now)
        most = settings.max_repair_ttl if settings.max_repair_ttl is not None else settings.net_diameter * 3 // 10
        if route is None or route.next_hop != next_hop or route.hops > most:
            return False
        back = self._table.find_active(datagram.source, now)
        self._table.invalidate(route, now)
        if not self._strict:
            route.seqno = next_seqno(route.seqno)  # or those upstream would offer the way through here
        self._discovery.begin_repair(datagram, route, back.hops if back is not None else 0, now)
        self._neighbours.close(next_hop, now)
        return True
