"""Optimized link state routing: RFC 3626, for nodes with one interface.

One interface makes a link and a neighbour the same thing, and leaves no use for MID, HNA and the sets behind them
(5, 12). Links are sensed without hysteresis (14); the radio's own reports of broken links are used (13). Everything
that runs out is looked at when something is asked of it, once the earliest of these times has come.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from numpy.random import Generator

from robonet.network.wifi.routing.core import EVERYONE, Datagram, Host
from robonet.network.wifi.routing.olsr_messages import (
    ASYMMETRIC,
    HELLO,
    LOST,
    NEIGHBOUR,
    NOT_NEIGHBOUR,
    PACKET_BYTES,
    RELAY,
    SYMMETRIC,
    Hello,
    OlsrPacket,
    TopologyControl,
    duration_code,
)
from robonet.scenario.wifi import Olsr as Settings

NEVER_WILLING, ALWAYS_WILLING = 0, 7
"""WILL_NEVER and WILL_ALWAYS (18.8)."""
DUPLICATES_HELD_NS = 30_000_000_000
"""DUP_HOLD_TIME (18.3)."""
FLOOD_TTL = 255
MAX_PACKET_BYTES = 1400
"""Messages that wait are put into one packet up to this, so that it fits into a frame."""

_SECOND = 1_000_000_000
_LONG_PAST = -1
_NEVER = 1 << 62
_GREET, _ADVERTISE, _ADVERTISE_EARLY, _FLUSH = range(4)


class Link:
    """A neighbour, and what it has told (4.2, 4.3)."""

    __slots__ = ("heard_until", "is_symmetric", "selector_until", "symmetric_until", "two_hop", "until", "willingness")

    def __init__(self, willingness: int) -> None:
        self.symmetric_until = _LONG_PAST
        """L_SYM_time."""
        self.heard_until = _LONG_PAST
        """L_ASYM_time."""
        self.until = _LONG_PAST
        """L_time: until then others are told of it, even as lost."""
        self.is_symmetric = False
        """N_status, as last looked at."""
        self.willingness = willingness
        self.two_hop: dict[int, int] = {}
        """Its symmetric neighbours, and until when that holds (4.3.2)."""
        self.selector_until = _LONG_PAST
        """MS_time: until then it has this node as a relay (4.3.4)."""


class Advertised:
    """What one node has advertised in its TC messages (4.4): always its whole set, so that one time is enough."""

    __slots__ = ("ansn", "neighbours", "until")

    def __init__(self, ansn: int, neighbours: tuple[int, ...], until: int) -> None:
        self.ansn = ansn
        self.neighbours = neighbours
        self.until = until


def choose_relays(reach: Mapping[int, set[int]], willingness: Mapping[int, int]) -> set[int]:
    """Neighbours through which all nodes two hops away are reached (8.3.1).

    `reach` has, for each symmetric neighbour, the strict two-hop neighbours behind it.
    """
    relays = {node for node in reach if willingness[node] == ALWAYS_WILLING}
    willing = [node for node in sorted(reach) if willingness[node] != NEVER_WILLING]
    providers: dict[int, list[int]] = {}
    for node in willing:
        for target in reach[node]:
            providers.setdefault(target, []).append(node)
    relays.update(nodes[0] for nodes in providers.values() if len(nodes) == 1)
    uncovered = set(providers).difference(*(reach[node] for node in relays))
    while uncovered:
        best = max(
            (node for node in willing if not uncovered.isdisjoint(reach[node])),
            key=lambda node: (willingness[node], len(uncovered & reach[node]), len(reach[node]), -node),
        )
        relays.add(best)
        uncovered -= reach[best]
    return relays


def is_newer(number: int, other: int) -> bool:
    """Whether one sequence number comes after another, which may be past the wraparound (19)."""
    return 0 < ((number - other) & 0xFFFF) <= 0x7FFF


class Olsr:
    """One node's end of OLSR."""

    def __init__(self, node: int, host: Host, settings: Settings, rng: Generator) -> None:
        self.counts: dict[str, int] = Counter()
        """Messages sent, by kind: its own and those of others."""
        self._node = node
        self._host = host
        self._rng = rng
        self._randoms: list[float] = []
        self._willingness = settings.willingness
        self._hello_interval = round(settings.hello_interval_s * _SECOND)
        self._tc_interval = round(settings.tc_interval_s * _SECOND)
        self._max_jitter = self._hello_interval // 4  # MAXJITTER (18.9)
        self._neighbour_hold = 3 * self._hello_interval  # NEIGHB_HOLD_TIME (18.3)
        self._topology_hold = 3 * self._tc_interval  # TOP_HOLD_TIME (18.3)
        self._hello_code = duration_code(self._hello_interval)
        self._neighbour_code = duration_code(self._neighbour_hold)
        self._topology_code = duration_code(self._topology_hold)
        self._links: dict[int, Link] = {}
        self._relays: set[int] = set()
        self._relays_are_stale = False
        self._topology: dict[int, Advertised] = {}
        self._routes: dict[int, tuple[int, int]] = {}
        self._routes_are_stale = False
        self._next_expiry = _NEVER
        self._packet_number = 0
        self._message_number = 0
        self._ansn = 0
        self._advertise_until = _LONG_PAST
        self._is_early_tc_due = False
        self._outbox: list[TopologyControl] = []
        self._flush_at = _NEVER
        self._seen: set[int] = set()
        self._seen_before: set[int] = set()
        self._forget_at = 0

    # --- what the host calls -----------------------------------------------------------------------------

    def start(self, now: int) -> None:
        """Greet soon, but not all nodes at once."""
        self._host.wake(now + self._jitter(), _GREET)
        self._host.wake(now + self._tc_interval - self._jitter(), _ADVERTISE)

    def handle_datagram(self, datagram: Datagram, sender: int, now: int) -> None:
        """Pass it on along the table, as it is now."""
        destination = datagram.destination
        if destination == self._node:
            self._host.deliver(datagram)
            return
        if self._routes_are_stale or now >= self._next_expiry:
            self._refresh(now)
        route = self._routes.get(destination)
        if route is None:
            self._host.drop(datagram, "no_route")
        else:
            self._host.forward(datagram, route[0])

    def handle_message(self, message: OlsrPacket, sender: int, ttl: int, now: int) -> None:
        """Read each message of a packet, and send on what a neighbour relies on this node for (3.4)."""
        if now >= self._next_expiry:
            self._expire(now)
        for part in message.messages:
            if part.originator == self._node:
                continue
            if part.kind == HELLO:
                self._handle_hello(part, now)
            else:
                self._handle_tc(part, sender, now)

    def handle_undelivered(self, item: Any, next_hop: int, now: int) -> None:
        """Take the link for lost (13); a datagram goes another way if there is one."""
        link = self._links.get(next_hop)
        if link is not None and link.is_symmetric:
            link.symmetric_until = link.heard_until = _LONG_PAST
            link.until = now + self._neighbour_hold
            self._next_expiry = min(self._next_expiry, link.until)
            self._lose(link, now)
        if not isinstance(item, Datagram):
            return
        route = self.routes(now).get(item.destination)
        if route is None:
            self._host.drop(item, "retry_limit")
        else:
            self._host.forward(item, route[0])

    def handle_timer(self, timer: int, now: int) -> None:
        """Send what is due."""
        if now >= self._next_expiry:
            self._expire(now)
        if timer == _GREET:
            self._send(self._make_hello(now))
            self._host.wake(now + self._hello_interval - self._jitter(), _GREET)  # 3.5
        elif timer == _ADVERTISE:
            self._advertise(now)
            self._host.wake(now + self._tc_interval - self._jitter(), _ADVERTISE)
        elif timer == _ADVERTISE_EARLY:
            self._is_early_tc_due = False
            self._advertise(now)
        elif now >= self._flush_at:  # else what was to be sent has left in company
            self._send()

    def pending(self) -> list[Datagram]:
        """None: a table knows a route, or does not."""
        return []

    # --- what it knows -----------------------------------------------------------------------------------

    def routes(self, now: int) -> Mapping[int, tuple[int, int]]:
        """Next hop and hops, by destination."""
        if self._routes_are_stale or now >= self._next_expiry:
            self._refresh(now)
        return self._routes

    def neighbours(self, now: int) -> list[int]:
        """Those with a symmetric link."""
        if now >= self._next_expiry:
            self._expire(now)
        return sorted(node for node, link in self._links.items() if link.is_symmetric)

    def relays(self, now: int) -> list[int]:
        """The neighbours chosen to repeat this node's messages (MPR set)."""
        if now >= self._next_expiry:
            self._expire(now)
        if self._relays_are_stale:
            self._choose_relays()
        return sorted(self._relays)

    def selectors(self, now: int) -> list[int]:
        """The neighbours that have chosen this node (MPR selector set)."""
        if now >= self._next_expiry:
            self._expire(now)
        return sorted(node for node, link in self._links.items() if link.selector_until > now)

    # --- links and neighbours ----------------------------------------------------------------------------

    def _handle_hello(self, hello: Hello, now: int) -> None:
        until = now + hello.validity_ns
        link = self._links.get(hello.originator)
        if link is None:
            link = self._links[hello.originator] = Link(hello.willingness)
        self._next_expiry = min(self._next_expiry, until)
        # Link sensing (7.1.1)
        link.heard_until = until
        code = hello.codes.get(self._node)
        if code is not None:
            if code & 3 == LOST:
                link.symmetric_until = _LONG_PAST
                if link.is_symmetric:
                    self._lose(link, now)
            elif code & 3 in (SYMMETRIC, ASYMMETRIC):
                link.symmetric_until = until
                link.until = until + self._neighbour_hold
                if not link.is_symmetric:
                    link.is_symmetric = True
                    self._relays_are_stale = self._routes_are_stale = True
        link.until = max(link.until, until)
        if link.willingness != hello.willingness:
            link.willingness = hello.willingness
            self._relays_are_stale = self._routes_are_stale = True
        if not link.is_symmetric:
            return
        # Its neighbours (8.2.1)
        two_hop = link.two_hop
        known = len(two_hop)
        two_hop.update(dict.fromkeys(hello.neighbours, until))
        two_hop.pop(self._node, None)
        is_changed = len(two_hop) != known
        for node in hello.strangers:
            if two_hop.pop(node, None) is not None:
                is_changed = True
        if is_changed:
            self._relays_are_stale = self._routes_are_stale = True
        # Those who rely on this node (8.4.1)
        if code is not None and code >> 2 == RELAY:
            if link.selector_until <= now:
                self._ansn = (self._ansn + 1) & 0xFFFF
            link.selector_until = until

    def _lose(self, link: Link, now: int) -> None:
        """A link is no longer symmetric: with it go the nodes behind it, and its trust in this node (8.5)."""
        link.is_symmetric = False
        link.two_hop.clear()
        self._relays_are_stale = self._routes_are_stale = True
        if link.selector_until > _LONG_PAST:
            link.selector_until = _LONG_PAST
            self._ansn = (self._ansn + 1) & 0xFFFF
            if not self._is_early_tc_due:  # a broken link is worth a TC before its time (9.3)
                self._is_early_tc_due = True
                self._host.wake(now + self._jitter(), _ADVERTISE_EARLY)

    def _choose_relays(self) -> None:
        self._relays_are_stale = False
        symmetric = {node: link for node, link in self._links.items() if link.is_symmetric}
        reach = {node: link.two_hop.keys() - symmetric.keys() for node, link in symmetric.items()}
        self._relays = choose_relays(reach, {node: link.willingness for node, link in symmetric.items()})

    def _make_hello(self, now: int) -> Hello:
        """All links with their state, by link code (6.2)."""
        if self._relays_are_stale:
            self._choose_relays()
        blocks: dict[int, list[int]] = {}
        for node, link in sorted(self._links.items()):
            if link.is_symmetric:
                code = SYMMETRIC | (RELAY if node in self._relays else NEIGHBOUR) << 2
            else:
                code = (ASYMMETRIC if link.heard_until > now else LOST) | NOT_NEIGHBOUR << 2
            blocks.setdefault(code, []).append(node)
        return Hello(
            self._node,
            self._next_message_number(),
            self._neighbour_code,
            self._hello_code,
            self._willingness,
            tuple((code, tuple(nodes)) for code, nodes in sorted(blocks.items())),
        )

    # --- topology ----------------------------------------------------------------------------------------

    def _advertise(self, now: int) -> None:
        """Tell everyone of the nodes that rely on this one (9.3); for a while also that there are none any more."""
        selectors = tuple(self.selectors(now))
        if selectors:
            self._advertise_until = now + self._topology_hold
        elif now >= self._advertise_until:
            return
        number = self._next_message_number()
        self._send(TopologyControl(self._node, number, self._topology_code, FLOOD_TTL, 0, self._ansn, selectors))

    def _handle_tc(self, tc: TopologyControl, sender: int, now: int) -> None:
        link = self._links.get(sender)
        if link is None or not link.is_symmetric:  # 3.4.1 and 9.5: not even remembered
            return
        key = tc.key
        if now >= self._forget_at:
            self._seen, self._seen_before = set(), self._seen
            self._forget_at = now + DUPLICATES_HELD_NS
        if key in self._seen or key in self._seen_before:
            return
        self._seen.add(key)
        self._learn(tc, now)
        if tc.ttl > 1 and link.selector_until > now:
            if not self._outbox:
                self._flush_at = now + self._jitter()
                self._host.wake(self._flush_at, _FLUSH)
            self._outbox.append(tc.repeated())

    def _learn(self, tc: TopologyControl, now: int) -> None:
        """Take over what a node advertises, unless something newer is known (9.5)."""
        until = now + tc.validity_ns
        known = self._topology.get(tc.originator)
        if known is None:
            self._topology[tc.originator] = Advertised(tc.ansn, tc.advertised, until)
            self._routes_are_stale = True
            self._next_expiry = min(self._next_expiry, until)
        elif known.ansn == tc.ansn:
            known.until = until
        elif is_newer(tc.ansn, known.ansn):
            known.ansn = tc.ansn
            known.until = until
            if known.neighbours != tc.advertised:
                known.neighbours = tc.advertised
                self._routes_are_stale = True

    # --- routes ------------------------------------------------------------------------------------------

    def _refresh(self, now: int) -> None:
        if now >= self._next_expiry:
            self._expire(now)
        if self._routes_are_stale:
            self._routes_are_stale = False
            self._routes = self._shortest_paths()

    def _shortest_paths(self) -> dict[int, tuple[int, int]]:
        """The routing table (10): hop by hop outwards; of equals, through the more willing neighbour."""
        links = self._links
        nearest = sorted(
            (node for node, link in links.items() if link.is_symmetric),
            key=lambda node: (-links[node].willingness, node),
        )
        routes = {node: (node, 1) for node in nearest}
        routes[self._node] = (self._node, 0)
        edge = []
        for node in nearest:
            link = links[node]
            if link.willingness != NEVER_WILLING:
                for target in link.two_hop:
                    if target not in routes:
                        routes[target] = (node, 2)
                        edge.append(target)
        topology = self._topology
        hops = 2
        while edge:
            hops += 1
            beyond = []
            for last in edge:
                advertised = topology.get(last)
                if advertised is not None:
                    next_hop = routes[last][0]
                    for target in advertised.neighbours:
                        if target not in routes:
                            routes[target] = (next_hop, hops)
                            beyond.append(target)
            edge = beyond
        del routes[self._node]
        return routes

    def _expire(self, now: int) -> None:
        """Remove all that has run out, and find the time of the next."""
        earliest = _NEVER
        for node, link in list(self._links.items()):
            if link.is_symmetric:
                if link.symmetric_until <= now:
                    self._lose(link, now)
                else:
                    earliest = min(earliest, link.symmetric_until)
            if link.until <= now:
                del self._links[node]
                continue
            earliest = min(earliest, link.until)
            if link.selector_until > _LONG_PAST:
                if link.selector_until <= now:
                    link.selector_until = _LONG_PAST
                    self._ansn = (self._ansn + 1) & 0xFFFF
                else:
                    earliest = min(earliest, link.selector_until)
            two_hop = link.two_hop
            if two_hop:
                gone = [target for target, until in two_hop.items() if until <= now]
                if gone:
                    for target in gone:
                        del two_hop[target]
                    self._relays_are_stale = self._routes_are_stale = True
                if two_hop:
                    earliest = min(earliest, *two_hop.values())
        for node, advertised in list(self._topology.items()):
            if advertised.until <= now:
                del self._topology[node]
                self._routes_are_stale = True
            elif advertised.until < earliest:
                earliest = advertised.until
        self._next_expiry = earliest

    # --- sending -----------------------------------------------------------------------------------------

    def _send(self, *own: Hello | TopologyControl) -> None:
        """Send a packet now, with all that waits to be repeated in it (3.4.1, 3.5)."""
        messages: list[Hello | TopologyControl] = []
        size = PACKET_BYTES
        for message in (*own, *self._outbox):
            if messages and size + message.size > MAX_PACKET_BYTES:
                self._send_packet(messages)
                messages, size = [], PACKET_BYTES
            messages.append(message)
            size += message.size
            self.counts["hello" if message.kind == HELLO else "tc"] += 1
        self._outbox.clear()
        if messages:
            self._send_packet(messages)

    def _send_packet(self, messages: list[Hello | TopologyControl]) -> None:
        self._packet_number = (self._packet_number + 1) & 0xFFFF
        self._host.send(OlsrPacket(self._packet_number, tuple(messages)), EVERYONE)

    def _next_message_number(self) -> int:
        self._message_number = (self._message_number + 1) & 0xFFFF
        return self._message_number

    def _jitter(self) -> int:
        if not self._randoms:
            self._randoms = self._rng.random(64).tolist()
        return int(self._randoms.pop() * self._max_jitter)
