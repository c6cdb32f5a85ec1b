"""A few nodes with one routing protocol and a fake radio between them; its clock moves only when told to.

Links are pairs of nodes. A broadcast reaches everyone linked to the sender; a unicast reaches its receiver, or comes
back undelivered. All messages travel as bytes: what does not survive `encode` and `decode` does not arrive.
"""

import heapq
from collections import defaultdict, deque
from itertools import count

import numpy as np

from robonet.network.ledger import Packet
from robonet.network.wifi.routing.core import EVERYONE, Datagram

MILLISECOND = 1_000_000
SECOND = 1_000_000_000
AIRTIME = MILLISECOND
GIVING_UP = 5 * MILLISECOND


class Host:
    def __init__(self, team, node):
        self.team = team
        self.node = node

    def send(self, message, next_hop, ttl=1, delay_ns=0):
        data = message.encode()
        assert len(data) == message.size
        self.team.sent.append((self.team.now, self.node, message, next_hop))
        self.team.at(self.team.now + delay_ns, self.team.transmit, self.node, message, data, next_hop, ttl)

    def forward(self, datagram, next_hop, delay_ns=0):
        assert next_hop != self.node
        self.team.forwarded.append((self.node, next_hop, datagram.identification))
        self.team.at(self.team.now + delay_ns, self.team.transmit, self.node, datagram, None, next_hop, 0)

    def deliver(self, datagram):
        assert datagram.destination == self.node
        self.team.ends[datagram.identification].append("delivered")
        self.team.hops[datagram.identification] = datagram.hops

    def drop(self, datagram, reason):
        self.team.ends[datagram.identification].append(reason)

    def wake(self, time, timer):
        assert time >= self.team.now
        self.team.at(time, lambda: self.team.nodes[self.node].handle_timer(timer, self.team.now))


class Team:
    def __init__(self, protocol, settings, decode, size, links, seed=0, special=None):
        """`special`: settings of single nodes."""
        self.now = 0
        self.links = {frozenset(link) for link in links}
        self.sent, self.forwarded = [], []
        self.ends, self.hops = defaultdict(list), {}
        self.decode = decode
        self._events, self._counter, self._numbers = [], count(), count(1)
        generators = np.random.default_rng(seed).spawn(size)
        self.nodes = [
            protocol(node, Host(self, node), (special or {}).get(node, settings), generators[node])
            for node in range(size)
        ]

    def start(self):
        for node in self.nodes:
            node.start(self.now)
        return self

    def at(self, time, action, *arguments):
        heapq.heappush(self._events, (time, next(self._counter), action, arguments))

    def run(self, seconds):
        until = self.now + round(seconds * SECOND)
        while self._events and self._events[0][0] <= until:
            self.now, _, action, arguments = heapq.heappop(self._events)
            action(*arguments)
        self.now = until
        return self

    def transmit(self, sender, item, data, next_hop, ttl):
        if next_hop == EVERYONE:
            for receiver in range(len(self.nodes)):
                if frozenset((sender, receiver)) in self.links and sender != receiver:
                    self.at(self.now + AIRTIME, self.arrive, sender, receiver, item, data, ttl)
        elif frozenset((sender, next_hop)) in self.links:
            self.at(self.now + AIRTIME, self.arrive, sender, next_hop, item, data, ttl)
        else:
            self.at(
                self.now + GIVING_UP,
                lambda: self.nodes[sender].handle_undelivered(item, next_hop, self.now),
            )

    def arrive(self, sender, receiver, item, data, ttl):
        if data is not None:
            self.nodes[receiver].handle_message(self.decode(data), sender, ttl, self.now)
            return
        copy = Datagram(
            item.packet, item.source, item.destination, item.size, item.identification, item.ttl - 1, item.hops + 1
        )
        if copy.ttl <= 0 and receiver != copy.destination:
            self.ends[copy.identification].append("ttl")
        else:
            self.nodes[receiver].handle_datagram(copy, sender, self.now)

    def ask(self, source, destination):
        """Send a datagram; its number."""
        number = next(self._numbers)
        self.ends[number] = []
        packet = Packet(number, self.now, source, destination, 100)
        self.nodes[source].handle_datagram(Datagram(packet, source, destination, 100, number), source, self.now)
        return number

    def waiting(self):
        return [datagram.identification for node in self.nodes for datagram in node.pending()]

    def cut(self, *links):
        self.links -= {frozenset(link) for link in links}

    def join(self, *links):
        self.links |= {frozenset(link) for link in links}

    def distances(self, start):
        """Hops to all nodes in reach of one, by breadth first search."""
        hops, queue = {start: 0}, deque([start])
        while queue:
            node = queue.popleft()
            for other in range(len(self.nodes)):
                if other not in hops and frozenset((node, other)) in self.links:
                    hops[other] = hops[node] + 1
                    queue.append(other)
        del hops[start]
        return hops


def line(size):
    return [(node, node + 1) for node in range(size - 1)]


def scattered(size, seed):
    """Links of a random connected graph: a tree, and some more."""
    rng = np.random.default_rng(seed)
    links = {(int(rng.integers(node)), node) for node in range(1, size)}
    for _ in range(size):
        a, b = sorted(map(int, rng.choice(size, 2, replace=False)))
        links.add((a, b))
    return sorted(links)
