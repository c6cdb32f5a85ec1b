"""AODV against RFC 3561, and where it is told to against ns-3: a few nodes, a fake link, timers fired by hand."""

import heapq
import random
from itertools import count, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robonet.network.ledger import Packet
from robonet.network.wifi.addresses import address_of, hardware_address_of, node_at
from robonet.network.wifi.routing.aodv import Aodv
from robonet.network.wifi.routing.aodv_messages import (
    Hello,
    RouteError,
    RouteReply,
    RouteReplyAck,
    RouteRequest,
    decode,
)
from robonet.network.wifi.routing.aodv_table import Table, newer, next_seqno
from robonet.network.wifi.routing.core import EVERYONE, Datagram
from robonet.scenario.wifi import Aodv as Settings

MS = 1_000_000
SECOND = 1000 * MS
HOP_NS = MS
QUIET = {"hello": False, "jitter_s": 0.0}


class Host:
    """A node of a team: hands everything to the team's link."""

    def __init__(self, team, node):
        self.team, self.node = team, node

    def send(self, message, next_hop, ttl=1, delay_ns=0):
        self.team.at(self.team.now + delay_ns, self.team.transmit, self.node, message, next_hop, ttl)

    def forward(self, datagram, next_hop, delay_ns=0):
        assert next_hop != self.node
        self.team.at(self.team.now + delay_ns, self.team.transmit, self.node, datagram, next_hop, 0)

    def deliver(self, datagram):
        self.team.end(datagram, "delivered")

    def drop(self, datagram, reason):
        self.team.end(datagram, reason)

    def wake(self, time, timer):
        assert time >= self.team.now
        self.team.at(time, self.team.fire, self.node, timer)


class Team:
    """Nodes on a graph. A hop takes 1 ms; a unicast over a missing link comes back after 7 ms."""

    def __init__(self, size, edges, strict=False, seed=1, **given):
        self.now = 0
        self.log = []
        """(time, node, message or datagram, next hop, ttl) of all that was transmitted."""
        self.ends = {}
        """How each datagram ended, by its number."""
        self.paths = {}
        self.watcher = None
        self.deaf = set()
        """(sender, receiver) of links that work the other way only."""
        self._heap, self._counter, self._numbers = [], count(), count()
        self._links = {frozenset(edge) for edge in edges}
        self.nodes = [
            Aodv(node, Host(self, node), Settings(**(QUIET | given)), np.random.default_rng([seed, node]), strict)
            for node in range(size)
        ]
        for node in self.nodes:
            node.start(0)

    def link(self, *edge):
        self._links.add(frozenset(edge))

    def unlink(self, *edge):
        self._links.discard(frozenset(edge))

    def linked(self, a, b):
        return frozenset((a, b)) in self._links and (a, b) not in self.deaf

    def at(self, time, call, *arguments):
        heapq.heappush(self._heap, (time, next(self._counter), call, arguments))

    def send(self, source, destination, time=None):
        number = next(self._numbers)
        self.paths[number] = []
        datagram = Datagram(Packet(number, 0, source, destination, 10), source, destination, 10, ttl=64)
        self.at(self.now if time is None else time, self._arrive, datagram, source, source)
        return number

    def _arrive(self, datagram, sender, node):
        number = datagram.packet.number
        self.paths[number].append(node)
        if datagram.ttl == 0:
            self.end(datagram, "ttl")
        else:
            self.nodes[node].handle_datagram(datagram, sender, self.now)

    def transmit(self, node, item, next_hop, ttl):
        self.log.append((self.now, node, item, next_hop, ttl))
        if next_hop == EVERYONE:
            for other in range(len(self.nodes)):
                if self.linked(node, other):
                    self.at(self.now + HOP_NS, self.receive, item, node, other, ttl)
        elif self.linked(node, next_hop):
            self.at(self.now + HOP_NS, self.receive, item, node, next_hop, ttl)
        else:
            self.at(self.now + 7 * HOP_NS, self.bounce, item, node, next_hop)

    def receive(self, item, sender, node, ttl):
        if isinstance(item, Datagram):
            item.ttl -= 1
            item.hops += 1
            self._arrive(item, sender, node)
        else:
            self.nodes[node].handle_message(decode(item.encode()), sender, ttl, self.now)

    def bounce(self, item, node, next_hop):
        self.nodes[node].handle_undelivered(item, next_hop, self.now)

    def fire(self, node, timer):
        self.nodes[node].handle_timer(timer, self.now)

    def end(self, datagram, fate):
        number = datagram.packet.number
        assert number not in self.ends, f"datagram {number} ended twice: {self.ends[number]}, {fate}"
        self.ends[number] = fate

    def run(self, until):
        while self._heap and self._heap[0][0] <= until:
            self.now, _, call, arguments = heapq.heappop(self._heap)
            call(*arguments)
            if self.watcher is not None:
                self.watcher(self)
        self.now = until

    def said(self, kind, node=None):
        """Messages of a class that were transmitted, as (time, node, message, next hop, ttl)."""
        return [row for row in self.log if type(row[2]) is kind and node in (None, row[1])]

    def next_hop(self, node, destination):
        route = self.nodes[node].route_to(destination, self.now)
        return None if route is None else route.next_hop


def chain(size):
    return [(node, node + 1) for node in range(size - 1)]


def asks(team, node):
    """(milliseconds, ttl) of the RREQs that a node began."""
    return [(time / MS, ttl) for time, _, message, _, ttl in team.said(RouteRequest, node) if message.origin == node]


# --- bytes on the air (RFC 3561, section 5) ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "data"),
    [
        (
            RouteRequest(0x01020304, 4, 0x0A0B0C0D, 0, 9, 3, unknown_seqno=True, gratuitous=True),
            "01 28 00 03  01 02 03 04  0a 00 00 05  0a 0b 0c 0d  0a 00 00 01  00 00 00 09",
        ),
        (
            RouteRequest(1, 2, 0, 0, 1, destination_only=True),
            "01 10 00 00  00 00 00 01  0a 00 00 03  00 00 00 00  0a 00 00 01  00 00 00 01",
        ),
        (
            RouteReply(299, 0xFFFFFFFF, 1, 11200, 2, acknowledge=True),
            "02 40 00 02  0a 00 01 2c  ff ff ff ff  0a 00 00 02  00 00 2b c0",
        ),
        (Hello(6, 17, 2000), "02 00 00 00  0a 00 00 07  00 00 00 11  0a 00 00 07  00 00 07 d0"),
        (RouteError(((2, 5), (3, 6)), no_delete=True), "03 80 00 02  0a 00 00 03 00 00 00 05  0a 00 00 04 00 00 00 06"),
        (RouteReplyAck(), "04 00"),
    ],
)
def test_bytes_are_those_of_the_rfc(message, data):
    data = bytes.fromhex(data)
    assert message.encode() == data
    assert message.size == len(data)
    again = decode(data)
    assert type(again) is type(message)
    assert again.encode() == data
    for slots in type(message).__mro__[:-1]:
        for name in slots.__slots__:
            assert getattr(again, name) == getattr(message, name)


@pytest.mark.parametrize("data", [b"", b"\x05\x00", b"\x01\x00", b"\x03\x00\x00\x02" + bytes(8), b"\x02" + bytes(19)])
def test_other_bytes_are_refused(data):
    with pytest.raises(ValueError, match=r"AODV|RERR|address"):
        decode(data)


def test_addresses():
    assert address_of(0) == bytes([10, 0, 0, 1])
    assert address_of(299) == bytes([10, 0, 1, 44])
    assert hardware_address_of(299) == bytes([2, 0, 0, 0, 1, 44])
    assert [node_at(address_of(node)) for node in (0, 255, 70_000)] == [0, 255, 70_000]
    for nonsense in (
        lambda: address_of(-1),
        lambda: node_at(bytes([10, 0, 0, 0])),
        lambda: node_at(bytes([192, 168, 0, 1])),
    ):
        with pytest.raises(ValueError, match="address"):
            nonsense()


# --- sequence numbers and routes ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seqno", "than", "is_newer"),
    [(1, 0, True), (0, 1, False), (7, 7, False), (0, 0xFFFFFFFF, True), (0xFFFFFFFF, 0, False), (5, 0xFFFFFFF0, True)],
)
def test_sequence_numbers_wrap_around(seqno, than, is_newer):
    assert newer(seqno, than) is is_newer


def test_the_sequence_number_after_the_last_is_zero():
    assert next_seqno(0xFFFFFFFF) == 0


@pytest.mark.parametrize(("raises", "seqno"), [(False, 0xFFFFFFFF), (True, 0)])
def test_routes_expire_in_time_though_nobody_looks(raises, seqno):
    table = Table(10, raises_seqnos=raises)
    for destination in (1, 2):
        table.add(destination, 5, 3, 100).replace(5, 3, 0xFFFFFFFF, 100)
    assert table.find(1, 100).expiry == 100
    route = table.find(1, 101)
    assert (route.expiry, route.forgotten, route.hops, route.seqno) == (-1, 110, 3, seqno)
    assert table.find_active(1, 101) is None
    assert table.find(1, 110) is route
    assert table.find(1, 111) is None
    assert table.find(2, 111) is None, "seen for the first time after it was to be forgotten"
    assert table.routes == {}


@pytest.mark.parametrize(
    ("seqno", "hops", "active", "known", "taken"),
    [
        (6, 9, True, True, True),  # newer
        (5, 2, True, True, True),  # as new, and shorter
        (5, 3, True, True, False),
        (5, 9, False, True, True),  # as new, and the old one is broken
        (4, 1, True, True, False),  # older
        (4, 9, False, True, False),
        (4, 9, True, False, True),  # nothing known to compare with
    ],
)
def test_which_news_are_taken(seqno, hops, active, known, taken):
    """Sections 6.2 and 6.7."""
    route = Table(10, True).add(1, 2, 3, 100)
    route.seqno, route.knows_seqno = 5, known
    assert route.is_worse_than(seqno, hops, 50 if active else 150) is taken


# --- looking for a route (sections 6.3 and 6.4) --------------------------------------------------------------


def test_rings_widen_until_the_search_is_given_up():
    team = Team(2, [])
    number = team.send(0, 1)
    team.run(30 * SECOND)
    assert asks(team, 0) == [(0, 1), (240, 3), (640, 5), (1200, 7), (1920, 35), (4720, 35)]
    requests = [message for _, _, message, _, _ in team.said(RouteRequest)]
    assert [request.identification for request in requests] == [1, 2, 3, 4, 5, 6]
    assert [request.origin_seqno for request in requests] == [1, 2, 3, 4, 5, 6]
    assert all(request.unknown_seqno and request.gratuitous and not request.destination_only for request in requests)
    assert team.ends == {number: "no_route"}
    assert team.nodes[0].counts["rreq"] == 6


def test_the_search_ends_when_its_last_wait_does():
    team = Team(2, [])
    number = team.send(0, 1)
    team.run(10_319 * MS)
    assert team.ends == {}
    assert [datagram.packet.number for datagram in team.nodes[0].pending()] == [number]
    team.run(10_320 * MS)
    assert team.ends == {number: "no_route"}
    assert team.nodes[0].pending() == []


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"expanding_ring": False}, [(0, 35), (2800, 35)]),
        ({"expanding_ring": False, "rreq_retries": 3, "net_diameter": 10}, [(0, 10), (800, 10), (2400, 10)]),
        ({"ttl_start": 2, "ttl_increment": 3, "ttl_threshold": 5, "rreq_retries": 1}, [(0, 2), (320, 5), (880, 35)]),
        ({"timeout_buffer": 0, "node_traversal_time_s": 0.01, "rreq_retries": 1}, [(0, 1), (20, 3), (80, 5), (180, 7), (320, 35)]),
    ],
)  # fmt: skip
def test_rings_by_settings(given, expected):
    team = Team(2, [], **given)
    team.send(0, 1)
    team.run(30 * SECOND)
    assert asks(team, 0) == expected


def test_data_follow_the_reply():
    r"""0 - 1 - 2 - 3 - 4"""
    team = Team(5, chain(5))
    number = team.send(0, 4)
    team.run(2 * SECOND)
    assert asks(team, 0) == [(0, 1), (240, 3), (640, 5)]
    assert [(node, told, ttl, reply.hop_count) for _, node, reply, told, ttl in team.said(RouteReply)] == [
        (4, 3, 4, 0), (3, 2, 3, 1), (2, 1, 2, 2), (1, 0, 1, 3)
    ]  # fmt: skip
    assert team.ends == {number: "delivered"}
    assert team.paths[number] == [0, 1, 2, 3, 4]
    back = team.send(4, 0)
    team.run(2100 * MS)
    assert team.ends[back] == "delivered"
    assert asks(team, 4) == [], "the RREQ has left a route back"


def test_packets_to_itself_are_delivered():
    team = Team(1, [])
    number = team.send(0, 0)
    team.run(1)
    assert team.ends == {number: "delivered"}
    assert team.log == []


def test_copies_of_a_request_are_ignored():
    r"""A square with its diagonals: everyone hears everyone, and passes each RREQ on once."""
    team = Team(5, [(a, b) for a in range(4) for b in range(a)])
    team.send(0, 4)
    team.run(30 * SECOND)
    for node in (1, 2, 3):
        assert len(team.said(RouteRequest, node)) == 5, "all but the one with TTL 1"


def test_a_route_once_known_is_looked_for_at_its_distance():
    team = Team(4, chain(4))
    team.send(0, 3)
    team.run(SECOND)
    team.unlink(0, 1)
    team.run(13 * SECOND)
    number = team.send(0, 3)
    team.run(14 * SECOND)
    assert asks(team, 0)[-2:] == [(13_000, 5), (13_560, 7)]
    team.run(60 * SECOND)
    assert team.ends[number] == "no_route"
    team.send(0, 3)
    team.run(61 * SECOND)
    assert (60_000, 1) in asks(team, 0), "forgotten by now"


def test_requests_are_rationed():
    team = Team(30, [])
    for destination in range(1, 16):
        team.send(0, destination, time=SECOND // 2 + destination)
    team.run(SECOND)
    assert len(asks(team, 0)) == 10
    team.run(1050 * MS)
    assert len(asks(team, 0)) == 20, "ten more, of those that waited and those with a second ring"
    assert min(time for time, _ in asks(team, 0)[10:]) == 1000.1
    team.run(90 * SECOND)
    assert sorted(team.ends.values()) == ["no_route"] * 15


# --- waiting datagrams ---------------------------------------------------------------------------------------


def test_the_oldest_makes_place():
    team = Team(3, [], buffer_packets=2)
    numbers = [team.send(0, destination) for destination in (1, 2, 1)]
    team.run(SECOND)
    assert team.ends == {numbers[0]: "no_route"}
    team.run(60 * SECOND)
    assert team.ends == {numbers[0]: "no_route", numbers[1]: "no_route", numbers[2]: "no_route"}


def test_waiting_has_an_end():
    team = Team(2, [], buffer_timeout_s=1.5)
    early, late = team.send(0, 1), team.send(0, 1, time=SECOND)
    team.run(1500 * MS)
    assert team.ends == {early: "no_route"}
    team.run(2500 * MS)
    assert team.ends == {early: "no_route", late: "no_route"}


# --- answers of others (section 6.6) ---------------------------------------------------------------------------


def test_who_knows_the_way_answers_and_tells_the_destination():
    r"""0 - 1 - 2 - 3, where 1 has a route to 3."""
    team = Team(4, chain(4))
    team.send(1, 3)
    team.run(SECOND)
    number, begin = team.send(0, 3), len(team.log)
    team.run(2 * SECOND)
    assert team.ends[number] == "delivered"
    assert asks(team, 0) == [(1000, 1)]
    replies = [row for row in team.log[begin:] if type(row[2]) is RouteReply]
    answer, news, forwarded = replies
    assert (answer[1], answer[3], answer[2].destination, answer[2].origin, answer[2].hop_count) == (1, 0, 3, 0, 2)
    assert answer[2].lifetime_ms == 11_200 + 244 - 1001, "what is left of the route, which 3 offered for 11.2 s"
    assert (news[1], news[3], news[2].destination, news[2].origin, news[2].hop_count) == (1, 2, 0, 3, 1)
    assert (forwarded[1], forwarded[3], forwarded[2].hop_count) == (2, 3, 2)
    assert [team.next_hop(node, 0) for node in (1, 2, 3)] == [0, 1, 2]


def test_destinations_may_insist_on_answering_themselves():
    team = Team(4, chain(4), destination_only=True, gratuitous_reply=False)
    team.send(1, 3)
    team.run(SECOND)
    team.send(0, 3)
    team.run(2 * SECOND)
    assert [reply.origin for _, node, reply, _, _ in team.said(RouteReply, 3)] == [1, 0]


def test_a_reply_for_a_neighbour_asks_for_acknowledgement():
    r"""0 - 1 - 2, where 1 knows 2 from its HELLOs."""
    team = Team(3, chain(3), hello=True)
    team.run(SECOND)
    number = team.send(0, 2)
    team.run(1020 * MS)
    (reply,) = [message for _, _, message, told, _ in team.said(RouteReply, 1) if told == 0]
    assert reply.acknowledge
    assert [(node, told) for _, node, _, told, _ in team.said(RouteReplyAck)] == [(0, 1)]
    assert team.nodes[0].counts["rrep_ack"] == 1
    assert team.ends[number] == "delivered"


def test_own_sequence_numbers_follow_those_asked_for():
    """Section 6.6.1."""
    team = Team(2, chain(2), strict=True)
    node = team.nodes[1]
    node.handle_message(RouteRequest(1, 1, 0xFFFFFFFE, 0, 1), 0, 1, 0)
    node.handle_message(RouteRequest(2, 1, 3, 0, 2, unknown_seqno=True), 0, 1, 0)
    team.run(2 * MS)
    assert [reply.destination_seqno for _, _, reply, _, _ in team.said(RouteReply)] == [0, 0]  # FFFFFFFE is older
    node.handle_message(RouteRequest(3, 1, 1, 0, 3), 0, 1, 2 * MS)
    team.run(4 * MS)
    assert team.said(RouteReply)[-1][2].destination_seqno == 1


def test_a_search_goes_on_though_the_destination_is_heard_of():
    r"""0 - 1 - 2 - 3: 3 looks for 0 while 0 looks for someone else; as in ns-3 only a RREP ends that."""
    team = Team(5, chain(4))
    team.send(0, 4)
    number = team.send(3, 0, time=100 * MS)
    team.run(3 * SECOND)
    assert asks(team, 0)[:3] == [(0, 1), (240, 3), (640, 5)]
    assert asks(team, 3) == [(100, 1), (340, 5)], "heard of 0 at 243 ms, three hops away, and looks two farther"
    assert team.ends[number] == "delivered"
    strict = Team(5, chain(4), strict=True)
    strict.send(0, 4)
    number = strict.send(3, 0, time=100 * MS)
    strict.run(3 * SECOND)
    assert asks(strict, 3) == [(100, 1)], "section 6.5: a reverse route is as good as any"
    assert strict.ends[number] == "delivered"


@pytest.mark.parametrize("strict", [False, True])
def test_messages_to_a_neighbour_need_a_route_as_data_do(strict):
    """In ns-3; by the RFC they just go to where they are to go."""
    team = Team(2, chain(2), strict, hello=True)
    team.run(950 * MS)
    team.nodes[0].handle_undelivered(RouteReplyAck(), 1, team.now)
    assert team.next_hop(0, 1) is None
    team.nodes[0].handle_message(RouteReply(5, 1, 0, 1000, 1, acknowledge=True), 1, 1, team.now)
    team.run(960 * MS)
    assert [ttl for _, ttl in asks(team, 0)] == ([] if strict else [3])
    assert [told for _, _, _, told, _ in team.said(RouteReplyAck, 0)] == [1]


def test_nothing_is_told_of_a_source_that_cannot_be_reached():
    r"""1 knows of a later break of its route to 0 than 0's RREQ, and has a route to 2 (found by random search)."""
    team = Team(3, [(1, 2)], strict=True)
    node = team.nodes[1]
    node._table.add(2, 2, 2, SECOND).replace(2, 2, 7, SECOND)
    broken = node._table.add(0, 2, 2, 0)
    broken.replace(2, 2, 5, 0)
    node._table.invalidate(broken, 0)
    node.handle_message(RouteRequest(1, 2, 0, 0, 3, 1, unknown_seqno=True, gratuitous=True), 9, 5, 1)
    team.run(SECOND // 2)
    assert team.said(RouteReply) == []


# --- broken links (section 6.11) -------------------------------------------------------------------------------


@pytest.mark.parametrize("strict", [False, True])
def test_a_broken_link_is_told_to_the_only_precursor(strict):
    r"""0 - 1 - 2 -x- 3"""
    team = Team(4, chain(4), strict)
    team.send(0, 3)
    team.run(SECOND)
    seqno = team.nodes[0].route_to(3, SECOND).seqno
    team.unlink(2, 3)
    number = team.send(0, 3)
    team.run(2 * SECOND)
    assert team.ends[number] == "retry_limit"
    reported = ((3, seqno + strict),)
    assert [(node, told, error.unreachable) for _, node, error, told, _ in team.said(RouteError)] == [
        (2, 1, reported), (1, 0, reported)
    ]  # fmt: skip
    assert [team.next_hop(node, 3) for node in range(3)] == [None, None, None]
    team.send(0, 3)
    team.run(2200 * MS)
    request = team.said(RouteRequest, 0)[-1][2]
    assert (request.destination_seqno, request.unknown_seqno) == (seqno + strict, False)


def test_a_broken_link_is_told_to_all_when_there_are_more_precursors():
    r"""0 and 1 send through 2 and 3 to 4 and 5; what 3 has lost are both."""
    team = Team(6, [(0, 2), (1, 2), (2, 3), (3, 4), (3, 5)], strict=True)
    for source, destination in ((0, 4), (1, 5)):
        team.send(source, destination, time=SECOND * source)
    team.run(3 * SECOND)
    team.unlink(2, 3)
    lost = team.send(0, 4)
    team.run(4 * SECOND)
    assert team.ends[lost] == "retry_limit"
    (row,) = team.said(RouteError, 2)
    assert row[3] == EVERYONE
    assert [destination for destination, _ in row[2].unreachable] == [3, 4, 5]
    assert team.said(RouteError, 0) == team.said(RouteError, 1) == []
    assert [team.next_hop(0, 4), team.next_hop(1, 5)] == [None, None]


def test_frames_that_waited_for_a_broken_link_break_it_once():
    team = Team(3, chain(3))
    team.send(0, 2)
    team.run(SECOND)
    team.unlink(1, 2)
    numbers = [team.send(0, 2, time=SECOND + n) for n in range(5)]
    team.run(1050 * MS)
    assert [team.ends[number] for number in numbers] == ["retry_limit"] * 5
    assert len(team.said(RouteError)) == 1


def test_a_link_broken_by_a_message_counts_as_well():
    team = Team(3, chain(3))
    team.send(0, 2)
    team.run(SECOND)
    team.nodes[1].handle_undelivered(RouteReplyAck(), 2, team.now)
    assert team.next_hop(1, 2) is None
    team.run(1100 * MS)
    assert team.next_hop(0, 2) is None


def test_datagrams_without_a_route_are_refused():
    r"""0 - 1 - 2, where 1 has lost its route and 0 does not know."""
    team = Team(3, chain(3))
    team.send(0, 2)
    team.run(SECOND)
    team.nodes[1]._table.forget(2)
    number = team.send(0, 2)
    team.run(1010 * MS)
    assert team.ends[number] == "no_route"
    assert [(node, told, error.unreachable) for _, node, error, told, _ in team.said(RouteError)] == [(1, 0, ((2, 0),))]
    assert team.next_hop(0, 2) is None


def test_errors_are_rationed():
    team = Team(3, chain(3))
    for n in range(30):
        packet = Packet(n, 0, 0, 2, 1)
        team.nodes[1].handle_datagram(Datagram(packet, 0, 2, 1), 0, n * MS)
    team.run(900 * MS)
    assert len(team.said(RouteError)) == team.nodes[1].counts["rerr"] == 10
    assert len(team.ends) == 30


def test_errors_from_elsewhere_are_none_of_our_business():
    team = Team(4, [*chain(3), (0, 3)])
    team.send(0, 2)
    team.run(SECOND)
    team.nodes[0].handle_message(RouteError(((2, 9),)), 3, 1, team.now)
    assert team.next_hop(0, 2) == 1


# --- HELLO (section 6.9) ---------------------------------------------------------------------------------------


def test_everyone_says_hello_unless_a_request_served_as_one():
    team = Team(2, chain(2), hello=True)
    team.send(0, 1, time=3_500 * MS)
    team.send(0, 1, time=10 * SECOND)
    team.unlink(0, 1)
    team.send(0, 1, time=4 * SECOND)
    team.run(3_400 * MS)
    hellos = [time for time, *_ in team.said(Hello, 0)]
    assert hellos[0] <= 100 * MS
    assert [b - a for a, b in pairwise(hellos)] == [SECOND] * 3
    team.run(20 * SECOND)
    asked = asks(team, 0)
    later = [time / MS for time, *_ in team.said(Hello, 0) if time > 3_400 * MS]
    # rings at 3500 (+240, 400, 560, 720), then at 5420 and 8220; the next HELLO is due a second after the last of them
    assert [time for time, _ in asked[:6]] == [3500, 3740, 4140, 4700, 5420, 8220]
    assert later[0] == 6420
    assert later[1] == 7420
    assert later[2] == 9220


def test_hellos_make_neighbours():
    team = Team(2, chain(2), hello=True)
    team.run(SECOND)
    route = team.nodes[0].route_to(1, team.now)
    assert (route.next_hop, route.hops, route.knows_seqno) == (1, 1, True)
    number = team.send(0, 1)
    team.run(1010 * MS)
    assert team.ends[number] == "delivered"
    assert asks(team, 0) == []


def test_a_neighbour_that_falls_silent_is_told_to_precursors():
    r"""0 - 1 - 2 -x- 3: nothing is sent, but 2 misses the HELLOs of 3."""
    team = Team(4, chain(4), hello=True)
    team.send(0, 3, time=500 * MS)
    team.run(SECOND)
    assert team.next_hop(0, 3) == 1
    team.unlink(2, 3)
    team.run(6 * SECOND)
    (row,) = team.said(RouteError, 2)
    assert (row[3], [destination for destination, _ in row[2].unreachable]) == (1, [3])
    assert 3 * SECOND < row[0] < 5 * SECOND, "three seconds after the datagram, seen within a HELLO interval"
    assert team.said(RouteError, 1)[0][3] == 0
    assert team.next_hop(0, 3) is None


def test_jitter_has_eleven_steps():
    delays = set()
    team = Team(1, [], hello=True, jitter_s=0.01)
    draw = team.nodes[0]._jitter.draw
    delays = {draw() for _ in range(2000)}
    assert delays == {step * MS for step in range(11)}


# --- links that work one way only (section 6.8) ----------------------------------------------------------------


def test_whoever_cannot_be_answered_is_ignored_for_a_while():
    r"""0 is heard by 1 but does not hear it."""
    team = Team(2, chain(2), strict=True)
    team.deaf.add((1, 0))
    team.send(0, 1)
    team.run(30 * SECOND)
    # RREQs at 0, 240 ... 1920 and 4720 ms; the answer to the first fails at 8 ms and 5.6 s of silence follow
    assert len(team.said(RouteReply, 1)) == 1
    team.deaf.clear()
    number = team.send(0, 1)
    team.run(31 * SECOND)
    assert team.ends[number] == "delivered"


def test_missing_acknowledgements_are_noticed():
    team = Team(3, chain(3), strict=True, hello=True)
    team.run(SECOND)
    node = team.nodes[1]
    node.handle_message(RouteRequest(1, 2, 0, 0, 1, unknown_seqno=True), 0, 1, team.now)
    team.nodes[0].handle_message = lambda *_: None
    team.run(1049 * MS)
    assert node._blacklist == {}
    team.run(1051 * MS)
    assert node._blacklist == {0: 1050 * MS + 5600 * MS}
    node.handle_message(RouteReplyAck(), 0, 1, team.now)
    assert node._blacklist == {}, "late is better than never"


# --- local repair (section 6.12) -------------------------------------------------------------------------------

DETOUR = [*chain(4), (2, 4), (4, 5), (5, 3)]
r"""0 - 1 - 2 - 3, and from 2 to 3 also by way of 4 and 5."""


@pytest.mark.parametrize("strict", [False, True])
def test_a_route_is_repaired_where_it_broke(strict):
    team = Team(6, DETOUR, strict, local_repair=True)
    team.send(0, 3)
    team.run(SECOND)
    team.unlink(2, 3)
    numbers = [team.send(0, 3, time=SECOND + n * MS) for n in range(5)]
    team.run(2 * SECOND)
    assert [team.ends[number] for number in numbers] == ["delivered"] * 5
    assert team.paths[numbers[0]] == [0, 1, 2, 4, 5, 3]
    assert asks(team, 0) == [(0, 1), (240, 3)], "the source need not look again"
    assert asks(team, 2) == [(1009, 3)], "as far as the destination was, and two more"
    assert [(node, told, error.no_delete) for _, node, error, told, _ in team.said(RouteError)] == [
        (2, 1, True), (1, 0, True)
    ]  # fmt: skip
    assert team.next_hop(0, 3) == 1


def test_a_failed_repair_is_told():
    team = Team(4, chain(4), local_repair=True)
    team.send(0, 3)
    team.run(SECOND)
    team.unlink(2, 3)
    number = team.send(0, 3)
    team.run(1408 * MS)
    assert number not in team.ends
    assert team.said(RouteError) == []
    team.run(1500 * MS)
    assert team.ends[number] == "no_route"
    assert [(node, told, error.no_delete) for _, node, error, told, _ in team.said(RouteError)] == [
        (2, 1, False), (1, 0, False)
    ]  # fmt: skip
    assert team.next_hop(0, 3) is None


def test_what_is_too_far_is_not_repaired():
    team = Team(6, DETOUR, local_repair=True, max_repair_ttl=1)
    team.send(0, 3)
    team.run(SECOND)
    team.unlink(1, 2)
    number = team.send(0, 3)
    team.run(2 * SECOND)
    assert team.ends[number] == "retry_limit"
    assert asks(team, 1) == []


# --- ns-3's own regression: a chain that loses its middle -------------------------------------------------------


def test_a_chain_that_breaks():
    r"""0 - 1 - 2 - 3 - 4, a ping each second from 0 to 4, node 2 gone at 3.33 s; times as in ns-3 but for the radio's."""
    team = Team(5, chain(5), hello=True)
    team.at(3330 * MS, lambda: (team.unlink(1, 2), team.unlink(2, 3)))
    # Pings begin when HELLOs have been heard; in ns-3 the first one waits for them in the first ring.
    pings = [team.send(0, 4, time=n * SECOND) for n in range(10)]
    team.run(9990 * MS)
    assert [ttl for _, ttl in asks(team, 0)] == [1, 3, 6, 35, 35]
    assert [time for time, _ in asks(team, 0)] == [0, 240, 5000, 5640, 8440]
    first = team.said(RouteReply, 3)[0]
    assert (first[2].destination, first[2].hop_count, first[2].acknowledge) == (4, 1, True), "3 has heard 4's HELLO"
    assert [team.ends.get(ping) for ping in pings] == ["delivered"] * 4 + ["retry_limit"] + [None] * 5
    (error,) = team.said(RouteError, 1)
    assert (error[0], error[3], [destination for destination, _ in error[2].unreachable]) == (4008 * MS, 0, [2, 4])
    assert len(team.nodes[0].pending()) == 5


# --- what always holds -------------------------------------------------------------------------------------------


def find_loop(team, destination):
    """A node from which following next hops to a destination comes back to it, if there is one."""
    for begin in range(len(team.nodes)):
        node, seen = begin, set()
        while node is not None and node != destination:
            if node in seen:
                return begin
            seen.add(node)
            node = team.next_hop(node, destination)
    return None


def watch_for_loops(team):
    for destination in range(len(team.nodes)):
        assert find_loop(team, destination) is None, f"loop towards {destination} at {team.now}"


def trouble_of(seed):
    """A sparse graph, links that come and go, and datagrams, some destinations more popular than others."""
    dice = random.Random(seed)
    size = dice.randint(4, 9)
    pairs = [(a, b) for a in range(size) for b in range(a)]
    edges = dice.sample(pairs, min(len(pairs), round(size * dice.uniform(1, 1.8))))
    sends = [
        (dice.randint(0, 15_000), dice.randrange(size), dice.choice([0, 1, dice.randrange(size)]))
        for _ in range(dice.randint(10, 80))
    ]
    flips = [(dice.randint(0, 15_000), dice.choice(pairs)) for _ in range(dice.randint(3, 40))]
    given = {
        "hello": dice.random() < 0.5,
        "local_repair": dice.random() < 0.3,
        "jitter_s": dice.choice([0.0, 0.01]),
        "gratuitous_reply": dice.random() < 0.7,
        "destination_only": dice.random() < 0.2,
        "active_route_timeout_s": dice.choice([0.5, 3.0]),
        "delete_period_s": 15.0,
        "buffer_packets": dice.choice([2, 64]),
    }
    return size, edges, sends, flips, given


def troubled(seed, strict, watcher=None):
    size, edges, sends, flips, given = trouble_of(seed)
    team = Team(size, edges, strict, **given)
    team.watcher = watcher
    for time, source, destination in sends:
        team.send(source, destination, time * MS)
    for time, (a, b) in flips:
        team.at(time * MS, lambda a=a, b=b: team.unlink(a, b) if team.linked(a, b) else team.link(a, b))
    team.run(40 * SECOND)
    return team, sends


SEEDS = st.integers(0, 2**32 - 1)


def test_loops_would_be_seen():
    team = Team(4, [])
    for node, next_hop in ((0, 1), (1, 2), (2, 1)):
        team.nodes[node]._table.add(3, next_hop, 2, SECOND)
    assert find_loop(team, 3) == 0
    assert find_loop(team, 2) is None


@settings(max_examples=50, deadline=None)
@given(SEEDS)
def test_strictly_there_are_no_loops(seed):
    team, sends = troubled(seed, True, watch_for_loops)
    assert len(team.ends) == len(sends)
    assert "ttl" not in team.ends.values()


@settings(max_examples=50, deadline=None)
@given(SEEDS, st.booleans())
def test_every_datagram_ends_once(seed, strict):
    team, sends = troubled(seed, strict)
    assert len(team.ends) == len(sends)
    assert all(node.pending() == [] for node in team.nodes)
    assert all(a != b for path in team.paths.values() for a, b in pairwise(path))


def test_runs_repeat():
    edges = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (1, 3)]
    logs = []
    for _ in range(2):
        team = Team(5, edges, hello=True, jitter_s=0.01)
        for n in range(20):
            team.send(n % 5, (n * 3 + 1) % 5, time=n * 300 * MS)
        team.at(3 * SECOND, team.unlink, 1, 2)
        team.run(10 * SECOND)
        logs.append(
            [
                (time, node, getattr(item, "encode", str)(), hop)
                for time, node, item, hop, _ in team.log
                if not isinstance(item, Datagram)
            ]
        )
    assert logs[0] == logs[1]
