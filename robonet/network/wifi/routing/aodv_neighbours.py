"""Which neighbours AODV counts as present (RFC 3561, sections 6.9 and 6.10)."""

from collections.abc import Callable

from robonet.network.wifi.routing.core import Host


class Neighbours:
    """Neighbours, and until when each is believed to be there without a sign of life."""

    def __init__(self, host: Host, interval_ns: int, watched: bool, lost: Callable[[int, int], None]) -> None:
        self.expiries: dict[int, int] = {}
        """By neighbour; empty unless they are watched, for without HELLOs the absent look like the silent."""
        self._host = host
        self._interval_ns = interval_ns
        self._watched = watched
        self._lost = lost
        self._next_purge = 0

    def start(self, now: int) -> None:
        """Begin to watch them."""
        if self._watched:
            self._next_purge = now + self._interval_ns
            self._host.wake(self._next_purge, self._watch)

    def meet(self, neighbour: int, until: int, now: int) -> None:
        """One is here, and missed after a time unless heard of again."""
        known = self.expiries.get(neighbour)
        if known is not None:
            self.expiries[neighbour] = max(known, until)
        elif self._watched:
            self.expiries[neighbour] = until
            self._purge(now)

    def close(self, neighbour: int, now: int) -> None:
        """Give one up that could not be reached, and with it those that are missed."""
        self.expiries.pop(neighbour, None)
        self._lost(neighbour, now)
        self._purge(now)

    def _watch(self, now: int) -> None:
        if now >= self._next_purge:
            self._purge(now)
        self._host.wake(self._next_purge, self._watch)

    def _purge(self, now: int) -> None:
        """Give up those that are missed: as in ns-3 after a new one, a broken link, or an interval without either."""
        self._next_purge = now + self._interval_ns
        for neighbour in [neighbour for neighbour, expiry in self.expiries.items() if expiry < now]:
            del self.expiries[neighbour]
            self._lost(neighbour, now)
