"""Who could decode whom at this moment, and shortest paths over that: what an all-knowing router would use."""

import numpy as np

from robonet.network.wifi.propagation import LinkTable
from robonet.space import Ints, Search

SEARCHES_KEPT = 256


class ReachGraph:
    """The graph of all links over which most frames are decoded, as of the last move."""

    def __init__(self, links: LinkTable, least_mw: float) -> None:
        self._links = links
        self._least_mw = least_mw
        self._version = -1
        self._searches: dict[int, Search] = {}
        self._rows: tuple[Ints, Ints] = (np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64))
        self._reverse = self._rows

    def next_hop(self, node: int, destination: int) -> int | None:
        """The first node of a shortest path; None where there is no path."""
        self._refresh()
        search = self._searches.get(destination)
        if search is None:
            if len(self._searches) >= SEARCHES_KEPT:
                del self._searches[next(iter(self._searches))]
            search = self._searches[destination] = Search(destination, len(self._rows[0]) - 1)
        search.reach(node, *self._reverse)
        path = search.path_from(node, *self._rows)
        return path[-1] if path else None

    def _refresh(self) -> None:
        if self._version == self._links.version:
            return
        self._version = self._links.version
        self._searches.clear()
        offsets, nodes, powers = self._links.heard_rows()
        is_good = powers >= self._least_mw
        kept = np.concatenate(([0], np.cumsum(is_good)))
        offsets, nodes = kept[offsets], nodes[is_good]
        self._rows = (offsets, nodes)
        sources = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        order = np.argsort(nodes, kind="stable")
        counts = np.bincount(nodes, minlength=len(offsets) - 1)
        self._reverse = (np.concatenate(([0], np.cumsum(counts))), sources[order])
