"""OLSR: small networks by hand.

0 --- 1 --- 2 --- 3        most stories are told on a line
"""

import numpy as np
import pytest
from routing_team import SECOND, Team, line, scattered

from robonet.network.wifi.routing.core import EVERYONE, Datagram
from robonet.network.wifi.routing.olsr import Olsr, choose_relays, is_newer
from robonet.network.wifi.routing.olsr_messages import (
    ASYMMETRIC,
    DURATIONS_NS,
    LOST,
    NEIGHBOUR,
    RELAY,
    SYMMETRIC,
    Hello,
    OlsrPacket,
    TopologyControl,
    decode,
    duration_code,
)
from robonet.scenario.wifi import Olsr as Settings

SETTINGS = Settings()


def team(size, links, seed=0, special=None, settings=SETTINGS):
    return Team(Olsr, settings, decode, size, links, seed, special).start()


class Paper:
    """A host that only writes down what it is asked for."""

    def __init__(self):
        self.sent, self.forwarded, self.dropped, self.timers = [], [], [], []

    def send(self, message, next_hop, ttl=1, delay_ns=0):
        self.sent.append(message)

    def forward(self, datagram, next_hop, delay_ns=0):
        self.forwarded.append(next_hop)

    def drop(self, datagram, reason):
        self.dropped.append(reason)

    def wake(self, time, timer):
        self.timers.append((time, timer))


def alone(node=0, settings=SETTINGS):
    host = Paper()
    return Olsr(node, host, settings, np.random.default_rng(0)), host


def greeting(originator, links=(), willingness=3, number=1):
    return OlsrPacket(1, (Hello(originator, number, 0x86, 0x05, willingness, tuple(links)),))


def advertisement(originator, advertised, ansn=1, number=1, ttl=255):
    return OlsrPacket(1, (TopologyControl(originator, number, 0xE7, ttl, 0, ansn, tuple(advertised)),))


def sent_links(node, host, now):
    """The links in the greeting that a node sends now."""
    host.sent.clear()
    node.handle_timer(0, now)
    (packet,) = host.sent
    return dict(packet.messages[0].links)


# --- bytes -----------------------------------------------------------------------------------------------


def test_a_hello_has_the_bytes_of_the_rfc():
    links = ((SYMMETRIC | NEIGHBOUR << 2, (1,)), (SYMMETRIC | RELAY << 2, (2, 3)))
    packet = OlsrPacket(7, (Hello(0, 9, 0x86, 0x05, 3, links),))
    expected = bytes.fromhex(
        "0028 0007"  # packet: length 40, number 7
        "01 86 0024 0a000001 01 00 0009"  # HELLO for 6 s, 36 bytes, from 10.0.0.1, ttl 1, hops 0, number 9
        "0000 05 03"  # every 2 s, willingness 3
        "06 00 0008 0a000002"  # SYM_NEIGH, SYM_LINK
        "0a 00 000c 0a000003 0a000004"  # MPR_NEIGH, SYM_LINK
    )
    assert packet.encode() == expected
    assert packet.size == len(expected) == 40
    back = decode(expected).messages[0]
    assert (back.originator, back.sequence_number, back.willingness, back.links) == (0, 9, 3, links)
    assert (back.validity_ns, DURATIONS_NS[back.interval_code]) == (6 * SECOND, 2 * SECOND)
    assert (back.neighbours, back.strangers, back.codes[3]) == ((1, 2, 3), (), 10)


def test_a_tc_has_the_bytes_of_the_rfc_and_shares_a_packet():
    packet = OlsrPacket(
        65535,
        (Hello(4, 1, 0x86, 0x05, 7, ()), TopologyControl(1, 300, 0xE7, 254, 1, 258, (0, 2))),
    )
    expected = bytes.fromhex(
        "002c ffff"
        "01 86 0010 0a000005 01 00 0001 0000 05 07"
        "02 e7 0018 0a000002 fe 01 012c"  # TC for 15 s, 24 bytes, from 10.0.0.2, ttl 254, hops 1, number 300
        "0102 0000 0a000001 0a000003"
    )
    assert packet.encode() == expected
    assert packet.size == len(expected)
    tc = decode(expected).messages[1]
    assert (tc.originator, tc.ttl, tc.hops, tc.ansn, tc.advertised) == (1, 254, 1, 258, (0, 2))
    assert (tc.repeated().ttl, tc.repeated().hops, tc.repeated().key) == (253, 2, tc.key)


def test_unknown_messages_are_passed_over_and_torn_ones_refused():
    mid = bytes.fromhex("03 e7 0010 0a000005 ff 00 0001 0a000105")
    whole = advertisement(1, (2,)).encode()[4:]
    assert len(decode((4 + len(mid + whole)).to_bytes(2, "big") + b"\0\0" + mid + whole).messages) == 1
    data = greeting(1, [(6, (2, 3))]).encode()
    for cut in range(len(data)):
        with pytest.raises(ValueError):
            decode(data[:cut])
    for wrong in (b"\x00\x07", b"\xff\xff"):  # sizes of the message, and of its block of links
        with pytest.raises(ValueError):
            decode(data[:6] + wrong + data[8:])
        with pytest.raises(ValueError):
            decode(data[:22] + wrong + data[24:])


@pytest.mark.parametrize(("seconds", "code"), [(2, 0x05), (5, 0x46), (6, 0x86), (15, 0xE7), (30, 0xE8), (0.0625, 0)])
def test_durations_have_the_codes_of_the_rfc(seconds, code):
    assert duration_code(round(seconds * SECOND)) == code
    assert DURATIONS_NS[code] == round(seconds * SECOND)


def test_durations_are_rounded_up_and_bounded():
    for code in range(255):
        duration = DURATIONS_NS[code]
        assert duration_code(duration) == code
        assert DURATIONS_NS[duration_code(duration + 1)] > duration
    assert duration_code(1) == 0
    assert duration_code(10**15) == 0xFF


def test_sequence_numbers_wrap_around():
    assert is_newer(1, 0) and is_newer(0, 65535) and is_newer(32767, 0)
    assert not is_newer(0, 0) and not is_newer(0, 1) and not is_newer(65535, 0)


# --- links -----------------------------------------------------------------------------------------------


def test_a_link_is_symmetric_once_each_has_heard_that_it_is_heard():
    node, host = alone()
    node.handle_message(greeting(1), 1, 1, now=0)
    assert node.neighbours(0) == []
    assert sent_links(node, host, 0) == {ASYMMETRIC: (1,)}
    node.handle_message(greeting(1, [(ASYMMETRIC, (0,))]), 1, 1, now=SECOND)
    assert node.neighbours(SECOND) == [1]
    assert sent_links(node, host, SECOND) == {SYMMETRIC | NEIGHBOUR << 2: (1,)}


def test_a_silent_neighbour_is_told_as_lost_and_then_forgotten():
    node, host = alone()
    node.handle_message(greeting(1, [(ASYMMETRIC, (0,))]), 1, 1, now=0)
    assert node.neighbours(6 * SECOND - 1) == [1]
    assert node.neighbours(6 * SECOND) == []
    assert sent_links(node, host, 6 * SECOND) == {LOST: (1,)}
    assert sent_links(node, host, 12 * SECOND) == {}


def test_a_neighbour_that_hears_but_is_not_heard_back_stays_asymmetric():
    node, host = alone()
    for second in range(20):
        node.handle_message(greeting(1, [(6, (2,))]), 1, 1, now=second * SECOND)
        assert node.neighbours(second * SECOND) == []
        assert node.routes(second * SECOND) == {}


def test_a_neighbour_that_lost_this_node_is_no_neighbour():
    node, host = alone()
    node.handle_message(greeting(1, [(ASYMMETRIC, (0,)), (6, (2,))]), 1, 1, now=0)
    assert node.routes(0) == {1: (1, 1), 2: (1, 2)}
    node.handle_message(greeting(1, [(LOST, (0,)), (6, (2,))]), 1, 1, now=SECOND)
    assert node.routes(SECOND) == {}
    assert sent_links(node, host, SECOND) == {ASYMMETRIC: (1,)}


def test_nodes_two_hops_away_go_when_a_neighbour_says_so_or_falls_silent_about_them():
    node, _ = alone()
    node.handle_message(greeting(1, [(SYMMETRIC | NEIGHBOUR << 2, (0, 2, 3))]), 1, 1, now=0)
    assert node.routes(0) == {1: (1, 1), 2: (1, 2), 3: (1, 2)}
    node.handle_message(greeting(1, [(SYMMETRIC | NEIGHBOUR << 2, (0,)), (LOST, (2,))]), 1, 1, now=2 * SECOND)
    assert node.routes(2 * SECOND) == {1: (1, 1), 3: (1, 2)}
    assert node.routes(6 * SECOND) == {1: (1, 1)}


def test_what_was_behind_a_lost_neighbour_does_not_come_back_with_it():
    node, _ = alone()
    node.handle_message(greeting(1, [(SYMMETRIC | NEIGHBOUR << 2, (0, 2))]), 1, 1, now=0)
    node.handle_undelivered(None, 1, now=1)
    node.handle_message(greeting(1, [(SYMMETRIC | NEIGHBOUR << 2, (0,))]), 1, 1, now=2)
    assert node.routes(2) == {1: (1, 1)}


# --- relays ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reach", "willingness", "relays"),
    [
        ({}, {}, set()),
        ({1: set(), 2: set()}, {}, set()),  # nobody behind them
        ({1: {10}, 2: {10, 11}}, {}, {2}),  # 11 is behind 2 only
        ({1: {10, 11}, 2: {11, 12}, 3: {12, 13}}, {}, {1, 3}),  # 10 and 13 need 1 and 3; nothing is left for 2
        ({1: {10, 11}, 2: {10, 11, 12}, 3: {12}, 4: {10, 12}}, {}, {2}),  # greatest reach
        ({1: {10, 11}, 2: {10, 11}}, {}, {1}),  # equal in all: the lower
        ({1: {10}, 2: {10, 11}, 3: {11}}, {1: 6, 3: 6}, {1, 3}),  # willingness before reach
        ({1: {10}, 2: {10}}, {1: 0}, {2}),
        ({1: {10}}, {1: 0}, set()),  # only through one that never is willing
        ({1: set(), 2: {10}, 3: {10}}, {1: 7, 3: 7}, {1, 3}),  # always willing: always relays
        # Of equal reach (11 and 12 are left for both), the higher degree.
        ({1: {10}, 2: {11, 12}, 3: {10, 11, 12}, 4: {10, 13}}, {4: 7}, {3, 4}),
    ],
)
def test_relays_on_textbook_graphs(reach, willingness, relays):
    assert choose_relays(reach, {node: willingness.get(node, 3) for node in reach}) == relays


@pytest.mark.parametrize("seed", range(30))
def test_relays_cover_everyone_and_none_is_idle(seed):
    rng = np.random.default_rng(seed)
    reach = {node: {int(x) for x in rng.integers(100, 112, rng.integers(0, 6))} for node in range(8)}
    relays = choose_relays(reach, dict.fromkeys(reach, 3))
    everyone = set().union(*reach.values())
    assert set().union(*(reach[node] for node in relays)) == everyone
    assert all(reach[node] for node in relays)


def test_the_middle_of_a_star_relays_for_all_its_ends():
    star = team(5, [(0, end) for end in range(1, 5)]).run(12)
    assert [node.relays(star.now) for node in star.nodes] == [[], [0], [0], [0], [0]]
    assert star.nodes[0].selectors(star.now) == [1, 2, 3, 4]


def test_everyone_a_neighbour_of_everyone_needs_no_relays_and_no_tc():
    clique = team(4, [(a, b) for a in range(4) for b in range(a)]).run(20)
    assert all(node.relays(clique.now) == [] and node.counts["tc"] == 0 for node in clique.nodes)
    assert all(node.counts["hello"] >= 10 for node in clique.nodes)


# --- flooding --------------------------------------------------------------------------------------------


def test_tc_travel_through_relays_only():
    #   0 - 1 - 3        1 and 2 both reach 3 from 0: one of them is enough.
    #    \     /
    #     - 2 -
    diamond = team(5, [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)]).run(30)
    assert diamond.nodes[3].relays(diamond.now) == [1]
    repeaters = {
        sender
        for time, sender, packet, _ in diamond.sent
        for message in packet.messages
        if message.kind == 2 and message.originator == 3 and time > 15 * SECOND and message.hops
    }
    assert repeaters == {1}
    assert diamond.nodes[0].routes(diamond.now)[4] == (1, 3)


def test_a_message_is_repeated_once_and_only_for_a_selector():
    node, host = alone()
    relied = [(SYMMETRIC | RELAY << 2, (0,))]
    node.handle_message(greeting(1, relied), 1, 1, now=0)
    node.handle_message(greeting(2, [(SYMMETRIC | NEIGHBOUR << 2, (0,))]), 2, 1, now=0)
    for sender in (1, 2, 1):
        node.handle_message(advertisement(9, [8], number=1), sender, 1, now=1)
    for sender in (2, 1):  # heard first from one that does not rely on this node
        node.handle_message(advertisement(9, [8], number=2), sender, 1, now=2)
    node.handle_message(advertisement(9, [8], number=3, ttl=1), 1, 1, now=3)
    node.handle_message(advertisement(0, [8], number=4), 1, 1, now=3)  # its own, come back
    node.handle_message(advertisement(9, [8], number=5), 7, 1, now=3)  # from no neighbour: as if not heard
    node.handle_message(advertisement(9, [8], number=5), 1, 1, now=3)
    ((flush_at, timer),) = host.timers
    assert 1 <= flush_at <= 1 + SECOND // 2  # MAXJITTER
    node.handle_timer(timer, flush_at)
    (packet,) = host.sent
    assert [(message.sequence_number, message.ttl, message.hops) for message in packet.messages] == [
        (1, 254, 1),
        (5, 254, 1),
    ]
    assert node.counts == {"tc": 2}


def test_what_waits_to_be_repeated_leaves_with_the_next_greeting():
    node, host = alone()
    node.handle_message(greeting(1, [(SYMMETRIC | RELAY << 2, (0,))]), 1, 1, now=0)
    node.handle_message(advertisement(9, [8]), 1, 1, now=1)
    ((flush_at, timer),) = host.timers
    node.handle_timer(0, 2)
    assert [message.kind for message in host.sent[0].messages] == [1, 2]
    node.handle_timer(timer, flush_at)
    assert len(host.sent) == 1


def test_much_that_waits_is_split_into_packets_that_fit():
    node, host = alone()
    node.handle_message(greeting(1, [(SYMMETRIC | RELAY << 2, (0,))]), 1, 1, now=0)
    for number in range(100):
        node.handle_message(advertisement(9, range(10, 20), number=number), 1, 1, now=1)
    node.handle_timer(*reversed(host.timers[0]))
    assert sum(len(packet.messages) for packet in host.sent) == 100
    assert len(host.sent) == 5
    assert all(packet.size == len(packet.encode()) <= 1400 for packet in host.sent)


def test_old_news_changes_nothing_and_newer_news_replaces():
    node, _ = alone()
    node.handle_message(greeting(1, [(SYMMETRIC | NEIGHBOUR << 2, (0, 2))]), 1, 1, now=0)
    node.handle_message(advertisement(2, [3], ansn=65535, number=1), 1, 1, now=0)
    assert node.routes(0)[3] == (1, 3)
    node.handle_message(advertisement(2, [4], ansn=0, number=2), 1, 1, now=1)
    assert 3 not in node.routes(1) and node.routes(1)[4] == (1, 3)
    node.handle_message(advertisement(2, [3], ansn=65535, number=3), 1, 1, now=2)
    assert 3 not in node.routes(2)


def test_news_from_a_neighbour_that_may_not_hear_back_is_not_even_remembered():
    node, _ = alone()
    node.handle_message(greeting(1, [(6, (0, 2))]), 1, 1, now=0)
    node.handle_message(greeting(5), 5, 1, now=0)
    node.handle_message(advertisement(2, [3]), 5, 1, now=0)
    assert 3 not in node.routes(0)
    node.handle_message(advertisement(2, [3]), 1, 1, now=0)
    assert 3 in node.routes(0)


def test_topology_is_held_for_its_validity():
    node, _ = alone()
    for second in (0, 5, 10, 15):
        node.handle_message(greeting(1, [(6, (0, 2))]), 1, 1, now=second * SECOND)
    node.handle_message(advertisement(2, [3]), 1, 1, now=15 * SECOND)
    for second in (20, 25, 29):
        node.handle_message(greeting(1, [(6, (0, 2))]), 1, 1, now=second * SECOND)
    assert 3 in node.routes(30 * SECOND - 1)
    assert 3 not in node.routes(30 * SECOND)
    assert 2 in node.routes(30 * SECOND)


# --- routes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_routes_are_shortest_paths(seed):
    size = 5 + seed
    graph = team(size, scattered(size, seed), seed).run(25)
    for start, node in enumerate(graph.nodes):
        assert {target: hops for target, (_, hops) in node.routes(graph.now).items()} == graph.distances(start)
    numbers = {graph.ask(a, b): graph.distances(a)[b] for a in range(size) for b in range(size) if a != b}
    graph.run(1)
    assert all(graph.ends[number] == ["delivered"] for number in numbers)
    assert {number: graph.hops[number] for number in numbers} == numbers


def test_nobody_goes_through_one_that_never_is_willing():
    #   0 - 1 - 3 - 4 - 5     1 is never willing
    #    \ 2 - - /
    never = Settings(willingness=0)
    links = [(0, 1), (1, 3), (0, 2), (2, 3), (3, 4), (4, 5)]
    detour = team(6, links, special={1: never}).run(30)
    assert detour.nodes[0].routes(detour.now)[5] == (2, 4)
    assert detour.nodes[5].routes(detour.now)[1] == (4, 3)  # but to it
    detour.cut((0, 2))
    assert set(detour.run(30).nodes[0].routes(detour.now)) == {1}


def test_a_broken_path_is_left_for_another_at_once():
    ring = team(5, [*line(5), (4, 0)]).run(25)
    assert ring.nodes[0].routes(ring.now)[2] == (1, 2)
    ring.cut((0, 1))
    number = ring.ask(0, 2)
    ring.run(0.1)
    assert ring.ends[number] == ["delivered"]
    assert ring.hops[number] == 3
    assert ring.nodes[0].neighbours(ring.now) == [4]


def test_a_datagram_without_another_way_ends_at_the_break():
    path = team(4, line(4)).run(25)
    path.cut((2, 3))
    first = path.ask(0, 3)
    path.run(0.1)
    assert path.ends[first] == ["retry_limit"]
    path.run(20)
    second = path.ask(0, 3)
    assert path.ends[second] == ["no_route"]
    path.join((2, 3))
    path.run(20)
    third = path.ask(0, 3)
    path.run(1)
    assert path.ends[third] == ["delivered"]


@pytest.mark.parametrize("seed", range(6))
def test_after_breaks_the_routes_are_shortest_paths_again(seed):
    graph = team(10, scattered(10, seed), seed).run(20)
    gone = sorted(map(sorted, graph.links))[:: 3 + seed % 2]
    graph.cut(*gone)
    graph.run(40)
    for start, node in enumerate(graph.nodes):
        assert {target: hops for target, (_, hops) in node.routes(graph.now).items()} == graph.distances(start)


def test_losing_a_selector_is_told_before_its_time():
    node, host = alone()
    node.handle_message(greeting(1, [(SYMMETRIC | RELAY << 2, (0,))]), 1, 1, now=0)
    node.handle_undelivered(None, 1, now=SECOND)
    ((time, timer),) = host.timers
    assert SECOND <= time <= SECOND + SECOND // 2
    assert sent_links(node, host, SECOND) == {LOST: (1,)}


def test_that_nobody_relies_on_a_node_any_more_is_told_for_a_while():
    path = team(3, line(3)).run(20)
    path.cut((0, 1))
    path.run(40)
    advertised = [
        (time / SECOND, message.advertised, message.ansn)
        for time, sender, packet, _ in path.sent
        for message in packet.messages
        if message.kind == 2 and message.originator == 1
    ]
    full = [ansn for _, nodes, ansn in advertised if nodes == (0, 2)]
    empty = [(time, ansn) for time, nodes, ansn in advertised if not nodes]
    assert full and empty
    assert all(is_newer(ansn, full[-1]) for _, ansn in empty)
    assert empty[-1][0] < 20 + 6 + 6 + 15 + 5


def test_intervals_are_those_of_the_settings_and_jittered():
    settings = Settings(hello_interval_s=0.5, tc_interval_s=1.0)
    pair = team(3, line(3), settings=settings).run(30)
    for node in range(3):
        times = [
            time / SECOND for time, sender, packet, _ in pair.sent if sender == node and packet.messages[0].kind == 1
        ]
        gaps = np.diff(times)
        assert 0.375 <= gaps.min() < 0.41 and 0.46 < gaps.max() <= 0.5
        assert times[0] <= 0.125
    assert 30 <= pair.nodes[1].counts["tc"] <= 36
    assert {next_hop for _, _, _, next_hop in pair.sent} == {EVERYONE}


def test_a_datagram_for_oneself_is_delivered():
    pair = team(2, line(2))
    assert pair.ends[pair.ask(1, 1)] == ["delivered"]
    assert pair.nodes[0].pending() == []


def test_the_same_seed_gives_the_same_story():
    def story(seed):
        graph = team(9, scattered(9, 1), seed).run(15)
        return [(time, sender, packet.encode()) for time, sender, packet, _ in graph.sent]

    assert story(1) == story(1) != story(2)


def test_undelivered_datagrams_without_a_link_are_dropped():
    node, host = alone()
    node.handle_undelivered(Datagram(None, 0, 5, 1), 3, now=0)
    assert host.dropped == ["retry_limit"]
