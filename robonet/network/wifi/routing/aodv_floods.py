"""A node's part in AODV's floods: RREQs that it begins, has seen, and passes on (RFC 3561, sections 6.3 and 6.5)."""

from robonet.network.wifi.routing.aodv_messages import RouteRequest
from robonet.network.wifi.routing.aodv_table import Route, next_seqno
from robonet.network.wifi.routing.aodv_timing import Jitter
from robonet.network.wifi.routing.core import EVERYONE, Host
from robonet.scenario.wifi import Aodv as Settings

_SEEN_BEFORE_CLEANING = 512


class Floods:
    """Sends RREQs, and knows which ones it has heard."""

    def __init__(
        self, node: int, host: Host, settings: Settings, memory_ns: int, jitter: Jitter, counts: dict[str, int]
    ) -> None:
        self.seqno = 0
        """The node's own sequence number (section 6.1)."""
        self.last_broadcast: int | None = None
        """When a RREQ was last sent since the last HELLO was due: it serves as one (section 6.9)."""
        self.seen: dict[int, int] = {}
        """RREQs heard, by their key, and until when copies are to be ignored: for PATH_DISCOVERY_TIME."""
        self._node = node
        self._host = host
        self._gratuitous = settings.gratuitous_reply
        self._destination_only = settings.destination_only
        self._memory_ns = memory_ns
        self._jitter = jitter
        self._counts = counts
        self._number = 0
        self._seen_limit = _SEEN_BEFORE_CLEANING

    def begin(self, destination: int, known: Route | None, ttl: int, now: int) -> None:
        """Ask for a destination, of which an inactive route may be known (section 6.3)."""
        knows_seqno = known is not None and known.knows_seqno
        self.seqno = next_seqno(self.seqno)
        self._number = next_seqno(self._number)
        request = RouteRequest(
            self._number,
            destination,
            known.seqno if known is not None and knows_seqno else 0,
            self._node,
            self.seqno,
            unknown_seqno=not knows_seqno,
            gratuitous=self._gratuitous,
            destination_only=self._destination_only,
        )
        self.remember(request, now)
        self.send(request, ttl, now)

    def send(self, request: RouteRequest, ttl: int, now: int) -> None:
        """Broadcast a RREQ, own or passed on."""
        self.last_broadcast = now
        self._counts["rreq"] += 1
        self._host.send(request, EVERYONE, ttl, self._jitter.draw())

    def remember(self, request: RouteRequest, now: int) -> None:
        """Ignore copies of a RREQ from now on."""
        self.seen[request.key] = now + self._memory_ns
        if len(self.seen) > self._seen_limit:
            for key in [key for key, expiry in self.seen.items() if expiry < now]:
                del self.seen[key]
            self._seen_limit = 2 * len(self.seen) + _SEEN_BEFORE_CLEANING
