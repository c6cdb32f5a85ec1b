"""AODV's routes (RFC 3561, section 2), which run out without a timer, and its datagrams that wait for one."""

from collections import deque

from robonet.network.wifi.routing.core import Datagram

_MODULUS = 1 << 32
_INACTIVE = -1


def newer(seqno: int, than: int) -> bool:
    """Whether one sequence number is later than another, by their signed difference (section 6.1)."""
    return 0 < (seqno - than) % _MODULUS < _MODULUS // 2


def next_seqno(seqno: int) -> int:
    """The sequence number after one."""
    return (seqno + 1) % _MODULUS


class Route:
    """What a node knows of the way to a destination."""

    __slots__ = ("destination", "expiry", "forgotten", "hops", "knows_seqno", "next_hop", "precursors", "seqno")

    def __init__(self, destination: int, next_hop: int, hops: int, expiry: int) -> None:
        self.destination = destination
        self.next_hop = next_hop
        self.hops = hops
        """Hops to the destination; of an inactive route, as last known."""
        self.seqno = 0
        self.knows_seqno = False
        """Whether the sequence number is one of the destination's."""
        self.expiry = expiry
        """Last time at which it is active: it is so exactly if `expiry >= now`."""
        self.forgotten = expiry
        """Of an inactive route: last time at which it is remembered."""
        self.precursors: dict[int, None] = {}
        """Neighbours likely to send through here to the destination, in the order in which they came up."""

    def refresh(self, until: int, now: int) -> None:
        """Make it last, if it is active, at least until a time."""
        if now <= self.expiry < until:
            self.expiry = until

    def is_worse_than(self, seqno: int, hops: int, now: int) -> bool:
        """Whether news of a destination are to replace it (sections 6.2 and 6.7)."""
        if not self.knows_seqno or newer(seqno, self.seqno):
            return True
        return seqno == self.seqno and (self.expiry < now or hops < self.hops)

    def replace(self, next_hop: int, hops: int, seqno: int, expiry: int) -> None:
        """Go another way, with a sequence number of the destination."""
        self.next_hop = next_hop
        self.hops = hops
        self.seqno = seqno
        self.knows_seqno = True
        self.expiry = expiry


class Table:
    """A node's routes. They expire when looked at, with the effect of having done so in time."""

    def __init__(self, delete_period_ns: int, raises_seqnos: bool) -> None:
        self.routes: dict[int, Route] = {}
        """By destination, as last looked at; for fast paths, which compare `expiry` themselves."""
        self._delete_period_ns = delete_period_ns
        self._raises_seqnos = raises_seqnos

    def find(self, destination: int, now: int) -> Route | None:
        """The route to a destination, active or still remembered, as of now."""
        route = self.routes.get(destination)
        if route is None or route.expiry >= now:
            return route
        if route.expiry != _INACTIVE:
            self.invalidate(route, route.expiry)
        if route.forgotten < now:
            del self.routes[destination]
            return None
        return route

    def find_active(self, destination: int, now: int) -> Route | None:
        """The route to a destination, if it can be used."""
        route = self.routes.get(destination)
        return route if route is not None and route.expiry >= now else None

    def is_used(self, neighbour: int, now: int) -> bool:
        """Whether any active route goes through a neighbour."""
        return any(route.next_hop == neighbour and route.expiry >= now for route in self.routes.values())

    def add(self, destination: int, next_hop: int, hops: int, expiry: int) -> Route:
        """A new route, its sequence number unknown."""
        route = self.routes[destination] = Route(destination, next_hop, hops, expiry)
        return route

    def invalidate(self, route: Route, time: int) -> None:
        """Mark a route as inactive since a time (section 6.11); it is remembered for DELETE_PERIOD."""
        if self._raises_seqnos and route.knows_seqno:
            route.seqno = next_seqno(route.seqno)
        route.expiry = _INACTIVE
        route.forgotten = time + self._delete_period_ns

    def forget(self, destination: int) -> None:
        """Remove the route to a destination, if there is one."""
        self.routes.pop(destination, None)

    def through(self, next_hop: int, now: int) -> list[Route]:
        """All routes by way of a neighbour, active or not, in the order of their destinations."""
        candidates = sorted(destination for destination, route in self.routes.items() if route.next_hop == next_hop)
        return [route for destination in candidates if (route := self.find(destination, now)) is not None]


class Buffer:
    """Datagrams that wait for a route, oldest first."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._waiting: deque[tuple[int, Datagram]] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, datagram: Datagram, expiry: int) -> Datagram | None:
        """Keep one until a time, later than those before; what is returned had to make place for it."""
        displaced = self._waiting.popleft()[1] if len(self._waiting) == self._capacity else None
        self._waiting.append((expiry, datagram))
        return displaced

    def take(self, destination: int) -> list[Datagram]:
        """Remove and return those for a destination."""
        taken = [datagram for _, datagram in self._waiting if datagram.destination == destination]
        if taken:
            self._waiting = deque(entry for entry in self._waiting if entry[1].destination != destination)
        return taken

    def take_expired(self, now: int) -> list[Datagram]:
        """Remove and return those that have waited for too long."""
        taken = []
        while self._waiting and self._waiting[0][0] <= now:
            taken.append(self._waiting.popleft()[1])
        return taken

    def next_expiry(self) -> int | None:
        """When the oldest has waited for too long."""
        return self._waiting[0][0] if self._waiting else None

    def datagrams(self) -> list[Datagram]:
        """All of them."""
        return [datagram for _, datagram in self._waiting]
