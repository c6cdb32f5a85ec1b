"""AntHocNet: routing by ants (Di Caro, Ducatelle, Gambardella 2005, European Transactions on Telecommunications 16).

Forward ants look for a destination, backward ants retrace their path and lay pheromone along it, and datagrams follow
pheromone at random: the more there is, the more likely. The pheromone of a path with h hops that takes a time T is
1 / ((T + h hop_time) / 2); half the sum in it is called the path's cost here.

What is simpler than in the paper:

- A node cannot see into its radio's queue. The time of a hop is a running average over its unicasts: each counts as
  `hop_time_s`, and as FAILED_HOPS of them when the radio has given up on it. Ants add up these estimates; no clocks of
  different nodes are compared.
- An ant with another first hop than those before it may be worse by OTHER_START_ACCEPTANCE, but only at its
  destination, where that costs one more backward ant; in the paper relays repeat such ants too.
- Greetings carry costs of paths that ants have found, not of paths known from greetings: virtual pheromone, which
  guides proactive ants only, reaches one hop beyond the path.
- A node whose best path has become worse tells its neighbours; only the loss of the last path is passed on by them.
  Delay and hops are told as one number, the cost.
- A datagram does not go back to the neighbour it came from, as long as it was not repaired here.
"""

from bisect import bisect
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

from numpy.random import Generator

from robonet.network.wifi.routing.anthocnet_messages import (
    BACKWARD,
    FORWARD,
    HELLO,
    NO_WAY,
    PROACTIVE,
    REACTIVE,
    REPAIR,
    UNLIMITED,
    AntMessage,
    BackwardAnt,
    ForwardAnt,
    Hello,
    LinkFailure,
)
from robonet.network.wifi.routing.core import EVERYONE, Datagram, Host
from robonet.scenario.wifi import AntHocNet as Settings

OTHER_START_ACCEPTANCE = 2.0
"""How much worse than the best an ant with another first hop may be (the paper's second acceptance factor)."""
PROACTIVE_BROADCASTS = 0.1
"""Probability with which a node broadcasts a proactive ant although it knows a path."""
HOP_TIME_MEMORY = 0.7
"""Weight of what was known of the time of a hop against a new sample."""
FAILED_HOPS = 7
"""What a unicast that failed has cost, in hops: as many as a radio usually tries."""
REPAIR_PATIENCE = 5
"""How long to wait for a repair, as a multiple of the time that the lost path took."""
DESTINATIONS_PER_HELLO = 10
DESTINATIONS_PER_FAILURE = 150
"""So that a message fits into a frame."""
VIRTUAL_HELD = 5
"""How long virtual pheromone lasts, in intervals of greetings."""
GENERATIONS_HELD_NS = 10_000_000_000
MOST_HOPS = 64
"""Ants that have gone so far go no farther."""

_SECOND = 1_000_000_000
_GREET = 0
_NAMES = {HELLO: "hello", FORWARD: "forward_ant", BACKWARD: "backward_ant"}


def draw(pheromone: dict[int, float], exponent: float, random: float) -> int:
    """A neighbour, with a probability that goes with its pheromone to the power of an exponent."""
    if len(pheromone) == 1:
        return next(iter(pheromone))
    best = max(pheromone.values())  # large exponents of large numbers have no float; those of ratios do
    bounds = list(accumulate((value / best) ** exponent for value in pheromone.values()))
    return list(pheromone)[min(bisect(bounds, random * bounds[-1]), len(bounds) - 1)]


class Trails:
    """The ways to one destination: pheromone by neighbour."""

    __slots__ = ("_bounds", "_neighbours", "regular", "virtual")

    def __init__(self) -> None:
        self.regular: dict[int, float] = {}
        """What ants have laid; call `forget_choices` after changing it."""
        self.virtual: dict[int, tuple[float, int]] = {}
        """What neighbours have told, and until when it is of use."""
        self._neighbours: list[int] | None = None
        self._bounds: list[float] = []

    def forget_choices(self) -> None:
        """The pheromone has changed."""
        self._neighbours = None

    def best(self) -> float:
        """Pheromone of the best way; 0 where there is none."""
        return max(self.regular.values(), default=0.0)

    def cost_us(self) -> int:
        """Cost of the best way, as messages tell it."""
        best = self.best()
        return min(round(1e6 / best), NO_WAY - 1) if best else NO_WAY

    def choose(self, exponent: float, random: Callable[[], float], banned: int) -> int | None:
        """A next hop for a datagram; always with the same exponent."""
        neighbours = self._neighbours
        if neighbours is None:
            neighbours = self._neighbours = list(self.regular)
            best = self.best()
            self._bounds = list(accumulate((value / best) ** exponent for value in self.regular.values()))
        if not neighbours:
            return None
        if len(neighbours) == 1:
            return None if neighbours[0] == banned else neighbours[0]
        bounds = self._bounds
        choice = neighbours[min(bisect(bounds, random() * bounds[-1]), len(bounds) - 1)]
        if choice != banned:
            return choice
        others = {node: value for node, value in self.regular.items() if node != banned}
        return draw(others, exponent, random())


class Ancestry:
    """The best ant of a generation that was here so far, and with which first hops they came."""

    __slots__ = ("hops", "starts", "time_us")

    def __init__(self, hops: int, time_us: int, start: int) -> None:
        self.hops = hops
        self.time_us = time_us
        self.starts = [start]


class Search:
    """A destination that is looked for, and the datagrams that wait for it with the reason to drop them for."""

    __slots__ = ("destination", "held", "is_repair", "owes_warning", "tries_left", "wait_ns")

    def __init__(self, destination: int, is_repair: bool, tries_left: int, wait_ns: int) -> None:
        self.destination = destination
        self.is_repair = is_repair
        self.tries_left = tries_left
        self.wait_ns = wait_ns
        self.owes_warning = is_repair
        """Whether others may still believe that this node knows a way."""
        self.held: list[tuple[Datagram, str]] = []


class Session:
    """A destination that this node sends datagrams to."""

    __slots__ = ("destination", "is_used")

    def __init__(self, destination: int) -> None:
        self.destination = destination
        self.is_used = True


class AntHocNet:
    """One node's end of AntHocNet."""

    def __init__(self, node: int, host: Host, settings: Settings, rng: Generator) -> None:
        self.counts: dict[str, int] = Counter()
        """Messages sent, by kind: its own and those of others."""
        self._node = node
        self._host = host
        self._rng = rng
        self._randoms: list[float] = []
        self._settings = settings
        self._memory = settings.pheromone_memory
        self._data_exponent = settings.data_exponent
        self._hello_interval = round(settings.hello_interval_s * _SECOND)
        self._proactive_interval = round(settings.proactive_interval_s * _SECOND)
        self._setup_wait = round(settings.setup_wait_s * _SECOND)
        self._max_jitter = round(settings.jitter_s * _SECOND)
        # A greeting may be late by its jitter while the one before it was not.
        self._neighbour_hold = settings.allowed_hello_loss * self._hello_interval + 2 * self._max_jitter
        self._virtual_hold = VIRTUAL_HELD * self._hello_interval
        self._patience = (settings.setup_retries + 1) * self._setup_wait
        self._max_broadcasts = min(settings.max_broadcasts, UNLIMITED - 1)
        self._hop_time = settings.hop_time_s
        """The running average of the time of a hop from here."""
        self._neighbours: dict[int, int] = {}
        self._table: dict[int, Trails] = {}
        self._told: dict[int, None] = {}
        """Destinations to which ants have laid paths through this node, of which neighbours are told in turn."""
        self._told_next = 0
        self._searches: dict[int, Search] = {}
        self._hopeless: dict[int, int] = {}
        """Destinations that could not be repaired, and until when that is not tried again."""
        self._sessions: dict[int, Session] = {}
        self._held = 0
        self._generation = 0
        self._ancestry: dict[int, Ancestry] = {}
        self._ancestry_before: dict[int, Ancestry] = {}
        self._forget_at = 0

    # --- what the host calls -----------------------------------------------------------------------------

    def start(self, now: int) -> None:
        """Greet within the first interval, but not all nodes at once."""
        self._host.wake(now + int(self._random() * self._hello_interval), _GREET)

    def handle_datagram(self, datagram: Datagram, sender: int, now: int) -> None:
        """Let it follow the pheromone, or wait for some."""
        destination = datagram.destination
        if destination == self._node:
            self._host.deliver(datagram)
            return
        if sender == self._node:
            session = self._sessions.get(destination)
            if session is None:
                session = self._sessions[destination] = Session(destination)
                self._host.wake(now + self._proactive_interval, session)
            session.is_used = True
        self._forward_or_hold(datagram, sender, now, "no_route", self._setup_wait)

    def handle_message(self, message: AntMessage, sender: int, ttl: int, now: int) -> None:
        """An ant, a greeting or a warning: all of them show that the neighbour is there."""
        if sender not in self._neighbours:
            self._meet(sender)
        self._neighbours[sender] = now + self._neighbour_hold
        if message.kind == FORWARD:
            self._handle_forward(message, now)
        elif message.kind == BACKWARD:
            self._handle_backward(message, sender, now)
        elif message.kind == HELLO:
            self._handle_hello(message, sender, now)
        else:
            self._handle_failure(message, sender)

    def handle_undelivered(self, item: Any, next_hop: int, now: int) -> None:
        """The neighbour is gone; datagrams and forward ants go another way, or wait for one."""
        self._sample_hop(FAILED_HOPS)
        if isinstance(item, Datagram):
            trails = self._table.get(item.destination)
            lost = trails.regular.get(next_hop) if trails is not None else None
            self._lose(next_hop, spared=item.destination)
            wait = self._setup_wait
            if lost is not None:
                wait = min(wait, REPAIR_PATIENCE * (round(_SECOND / lost) + self._max_jitter))
            self._forward_or_hold(item, self._node, now, "retry_limit", wait)
        else:
            self._lose(next_hop)
            if item.kind == FORWARD:
                self._relay(item, now)

    def handle_timer(self, timer: Any, now: int) -> None:
        """A greeting, an ant of a session, or the end of the patience with a search is due."""
        if isinstance(timer, Search):
            if self._searches.get(timer.destination) is timer:
                if timer.is_repair or not timer.tries_left:
                    self._give_up(timer, now)
                else:
                    timer.tries_left -= 1
                    self._seek(timer, now)
        elif isinstance(timer, Session):
            if timer.is_used:
                timer.is_used = False
                self._improve(timer.destination, now)
                self._host.wake(now + self._proactive_interval, timer)
            else:
                del self._sessions[timer.destination]
        else:
            for neighbour in [node for node, until in self._neighbours.items() if until <= now]:
                self._lose(neighbour)
            self._greet()
            self._host.wake(now + self._hello_interval, _GREET)

    def pending(self) -> list[Datagram]:
        """Those that wait for a path."""
        return [datagram for search in self._searches.values() for datagram, _ in search.held]

    def pheromone(self, destination: int) -> dict[int, float]:
        """What ants have laid towards a destination, by neighbour."""
        trails = self._table.get(destination)
        return dict(trails.regular) if trails is not None else {}

    # --- datagrams ---------------------------------------------------------------------------------------

    def _forward_or_hold(self, datagram: Datagram, banned: int, now: int, reason: str, wait_ns: int) -> None:
        trails = self._table.get(datagram.destination)
        next_hop = None if trails is None else trails.choose(self._data_exponent, self._random, banned)
        if next_hop is None:
            self._hold(datagram, now, reason, wait_ns)
        else:
            self._sample_hop(1)
            self._host.forward(datagram, next_hop)

    def _hold(self, datagram: Datagram, now: int, reason: str, wait_ns: int) -> None:
        """Keep a datagram and look for its destination: from the source with all means, elsewhere near by."""
        destination = datagram.destination
        is_own = datagram.source == self._node
        if now - datagram.packet.time > self._patience or self._held >= self._settings.buffer_packets:
            self._host.drop(datagram, "no_route")
        elif not is_own and self._hopeless.get(destination, -1) > now:
            self._host.drop(datagram, reason)
        else:
            search = self._searches.get(destination)
            if search is None:
                wait = self._setup_wait if is_own else wait_ns
                search = Search(destination, not is_own, self._settings.setup_retries, wait)
                self._searches[destination] = search
                self._seek(search, now)
            elif is_own:
                search.is_repair = False
            if reason == "retry_limit":
                search.owes_warning = True
            search.held.append((datagram, reason))
            self._held += 1

    def _release(self, destination: int, trails: Trails) -> None:
        """A path was found: what has waited for it goes."""
        search = self._searches.pop(destination, None)
        if search is not None:
            self._held -= len(search.held)
            for datagram, _ in search.held:
                next_hop = trails.choose(self._data_exponent, self._random, self._node)
                assert next_hop is not None
                self._sample_hop(1)
                self._host.forward(datagram, next_hop)

    def _give_up(self, search: Search, now: int) -> None:
        destination = search.destination
        del self._searches[destination]
        self._held -= len(search.held)
        if search.is_repair:
            self._hopeless[destination] = now + self._setup_wait
        if search.owes_warning:
            self._send(LinkFailure(((destination, NO_WAY),)), EVERYONE)
        for datagram, reason in search.held:
            self._host.drop(datagram, reason)

    # --- ants --------------------------------------------------------------------------------------------

    def _seek(self, search: Search, now: int) -> None:
        """Broadcast an ant for a destination that no path is known to."""
        if search.is_repair:
            ant = self._make_ant(REPAIR, search.destination, self._max_broadcasts)
        else:
            ant = self._make_ant(REACTIVE, search.destination, UNLIMITED)
            search.wait_ns = self._setup_wait
        self._send(ant, EVERYONE)
        self._host.wake(now + search.wait_ns, search)

    def _improve(self, destination: int, now: int) -> None:
        """Send an ant along the paths of a session."""
        trails = self._table.get(destination)
        if trails is not None and trails.regular:
            self._relay(self._make_ant(PROACTIVE, destination, self._max_broadcasts), now)

    def _make_ant(self, purpose: int, destination: int, broadcasts: int) -> ForwardAnt:
        self._generation = (self._generation + 1) & 0xFFFF
        return ForwardAnt(
            purpose, self._node, destination, self._generation, broadcasts, time_us=round(self._hop_time * 1e6)
        )

    def _handle_forward(self, ant: ForwardAnt, now: int) -> None:
        node = self._node
        if ant.source == node or node in ant.path or not self._is_accepted(ant, now):
            return
        if ant.destination == node:
            back = BackwardAnt(ant.purpose, ant.source, node, ant.generation, path=ant.path)
            self._send(back, ant.path[-1] if ant.path else ant.source)
        elif len(ant.path) + 1 < MOST_HOPS:
            time_us = min(ant.time_us + round(self._hop_time * 1e6), NO_WAY)
            path = (*ant.path, node)
            self._relay(
                ForwardAnt(ant.purpose, ant.source, ant.destination, ant.generation, ant.broadcasts, 0, time_us, path),
                now,
            )

    def _is_accepted(self, ant: ForwardAnt, now: int) -> bool:
        """Whether an ant is the first of its generation, or enough better than those before."""
        hops, start = len(ant.path) + 1, ant.path[0] if ant.path else self._node
        if now >= self._forget_at:
            self._ancestry, self._ancestry_before = {}, self._ancestry
            self._forget_at = now + GENERATIONS_HELD_NS
        key = ant.source << 16 | ant.generation
        best = self._ancestry.get(key) or self._ancestry_before.get(key)
        if best is None:
            self._ancestry[key] = Ancestry(hops, ant.time_us, start)
            return True
        factor = self._settings.acceptance
        is_new_start = start not in best.starts
        if is_new_start and ant.destination == self._node:
            factor = max(factor, OTHER_START_ACCEPTANCE)
        if hops > factor * best.hops or ant.time_us > factor * best.time_us:
            return False
        best.hops = min(best.hops, hops)
        best.time_us = min(best.time_us, ant.time_us)
        if is_new_start:
            best.starts.append(start)
        return True

    def _relay(self, ant: ForwardAnt, now: int) -> None:
        """Send an ant on, along pheromone where there is some, else to everyone if it may be."""
        trails = self._table.get(ant.destination)
        ways: dict[int, float] = {}
        if trails is not None:
            ways.update(trails.regular)
            if ant.purpose == PROACTIVE:
                for neighbour, (value, until) in trails.virtual.items():
                    if until > now and value > ways.get(neighbour, 0.0):
                        ways[neighbour] = value
            ways.pop(ant.source, None)
            for visited in ant.path:
                ways.pop(visited, None)
        if ways and not (ant.purpose == PROACTIVE and ant.broadcasts and self._random() < PROACTIVE_BROADCASTS):
            self._send(ant, draw(ways, self._settings.ant_exponent, self._random()))
        elif ant.broadcasts == UNLIMITED:
            self._send(ant, EVERYONE)
        elif ant.broadcasts:
            left = ant.broadcasts - 1
            self._send(
                ForwardAnt(ant.purpose, ant.source, ant.destination, ant.generation, left, 0, ant.time_us, ant.path),
                EVERYONE,
            )

    def _handle_backward(self, ant: BackwardAnt, sender: int, now: int) -> None:
        """Lay pheromone towards the destination, and pass the ant on towards the source."""
        hops = ant.position + 1
        line = (ant.source, *ant.path)
        index = len(line) - hops
        if index < 0 or line[index] != self._node:
            return
        time_us = min(ant.time_us + round(self._hop_time * 1e6), NO_WAY)
        cost = (time_us * 1e-6 + hops * self._settings.hop_time_s) / 2
        trails = self._trails(ant.destination)
        self._mix(trails, sender, 1 / cost)
        self._told[ant.destination] = None
        self._hopeless.pop(ant.destination, None)
        if index > 0:
            self._send(
                BackwardAnt(ant.purpose, ant.source, ant.destination, ant.generation, 0, hops, time_us, path=ant.path),
                line[index - 1],
            )
        self._release(ant.destination, trails)

    # --- neighbours --------------------------------------------------------------------------------------

    def _meet(self, neighbour: int) -> None:
        """A new neighbour is a destination, one hop away."""
        trails = self._trails(neighbour)
        trails.regular[neighbour] = 1 / self._hop_cost()
        trails.forget_choices()
        self._release(neighbour, trails)

    def _greet(self) -> None:
        """Tell everyone in reach of some destinations, others each time."""
        told = list(self._told)
        if len(told) > DESTINATIONS_PER_HELLO:
            first = self._told_next % len(told)
            self._told_next = first + DESTINATIONS_PER_HELLO
            told = (told[first:] + told[:first])[:DESTINATIONS_PER_HELLO]
        self._send(Hello(tuple((destination, self._table[destination].cost_us()) for destination in told)), EVERYONE)

    def _handle_hello(self, hello: Hello, sender: int, now: int) -> None:
        """Take over what a neighbour tells: as pheromone on paths through it, else as virtual pheromone."""
        direct = self._table[sender]
        value = 1 / self._hop_cost()
        if direct.regular.get(sender) != value:
            direct.regular[sender] = value
            direct.forget_choices()
        for destination, cost_us in hello.costs:
            if destination not in (self._node, sender):
                trails = self._trails(destination)
                value = 1 / (cost_us * 1e-6 + self._hop_cost())
                if sender in trails.regular:
                    self._mix(trails, sender, value)
                else:
                    trails.virtual[sender] = (value, now + self._virtual_hold)

    def _lose(self, neighbour: int, spared: int | None = None) -> None:
        """A link is gone, and all pheromone on it; neighbours hear for which destinations that was the best.

        The loss of all paths to `spared` is not told: it is about to be repaired.
        """
        if self._neighbours.pop(neighbour, None) is None:
            return
        news = []
        for destination, trails in list(self._table.items()):
            trails.virtual.pop(neighbour, None)
            lost = trails.regular.pop(neighbour, None)
            if lost is None:
                continue
            trails.forget_choices()
            if destination in self._told:
                best = trails.best()
                if best < lost and (best or destination != spared):
                    news.append((destination, trails.cost_us()))
                if not best:
                    del self._told[destination]
        self._warn(news)

    def _handle_failure(self, failure: LinkFailure, sender: int) -> None:
        """A neighbour's paths have become worse or are gone; pass on only that there is no way left from here."""
        news = []
        for destination, cost_us in failure.costs:
            trails = self._table.get(destination)
            if trails is None or destination == sender:
                continue
            trails.virtual.pop(sender, None)
            if sender in trails.regular:
                if cost_us == NO_WAY:
                    del trails.regular[sender]
                    if not trails.regular:
                        self._told.pop(destination, None)
                        news.append((destination, NO_WAY))
                else:
                    trails.regular[sender] = 1 / (cost_us * 1e-6 + self._hop_cost())
                trails.forget_choices()
        self._warn(news)

    def _warn(self, news: Sequence[tuple[int, int]]) -> None:
        for first in range(0, len(news), DESTINATIONS_PER_FAILURE):
            self._send(LinkFailure(tuple(news[first : first + DESTINATIONS_PER_FAILURE])), EVERYONE)

    # --- small things ------------------------------------------------------------------------------------

    def _trails(self, destination: int) -> Trails:
        trails = self._table.get(destination)
        if trails is None:
            trails = self._table[destination] = Trails()
        return trails

    def _mix(self, trails: Trails, neighbour: int, value: float) -> None:
        """Lay pheromone on what is there; where nothing is, all of it."""
        old = trails.regular.get(neighbour)
        trails.regular[neighbour] = value if old is None else self._memory * old + (1 - self._memory) * value
        trails.forget_choices()

    def _hop_cost(self) -> float:
        return (self._hop_time + self._settings.hop_time_s) / 2

    def _sample_hop(self, hops: int) -> None:
        self._hop_time += (1 - HOP_TIME_MEMORY) * (hops * self._settings.hop_time_s - self._hop_time)

    def _send(self, message: AntMessage, next_hop: int) -> None:
        self.counts[_NAMES.get(message.kind, "link_failure")] += 1
        if next_hop == EVERYONE:
            self._host.send(message, EVERYONE, delay_ns=int(self._random() * self._max_jitter))
        else:
            self._sample_hop(1)
            self._host.send(message, next_hop)

    def _random(self) -> float:
        if not self._randoms:
            self._randoms = self._rng.random(64).tolist()
        return self._randoms.pop()
