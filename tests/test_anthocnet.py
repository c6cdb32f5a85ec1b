"""AntHocNet: small networks by hand.

0 --- 1 --- 2 --- 3        ants go out, come back, and datagrams follow
"""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from routing_team import MILLISECOND, SECOND, Team, line, scattered

from robonet.network.ledger import Packet
from robonet.network.wifi.routing.anthocnet import AntHocNet, Trails, draw
from robonet.network.wifi.routing.anthocnet_messages import (
    NO_WAY,
    PROACTIVE,
    REACTIVE,
    REPAIR,
    UNLIMITED,
    BackwardAnt,
    ForwardAnt,
    Hello,
    LinkFailure,
    decode,
)
from robonet.network.wifi.routing.core import EVERYONE, Datagram
from robonet.scenario.wifi import AntHocNet as Settings

SETTINGS = Settings()
HOP = SETTINGS.hop_time_s


def team(size, links, seed=0, **settings):
    return Team(AntHocNet, Settings(**settings), decode, size, links, seed).start()


class Paper:
    """A host that only writes down what it is asked for."""

    def __init__(self):
        self.sent, self.forwarded, self.dropped, self.timers = [], [], [], []

    def send(self, message, next_hop, ttl=1, delay_ns=0):
        self.sent.append((message, next_hop))

    def forward(self, datagram, next_hop, delay_ns=0):
        self.forwarded.append(next_hop)

    def drop(self, datagram, reason):
        self.dropped.append(reason)

    def wake(self, time, timer):
        self.timers.append((time, timer))


def alone(node=0, **settings):
    host = Paper()
    return AntHocNet(node, host, Settings(**settings), np.random.default_rng(0)), host


def datagram(source, destination, time=0):
    return Datagram(Packet(1, time, source, destination, 10), source, destination, 10, 1)


def met(node, *neighbours, now=0):
    for neighbour in neighbours:
        node.handle_message(Hello(()), neighbour, 1, now)


def taught(node, me, destination, via, hops=2, now=0):
    """Let a node's own ant come back from a destination so many hops away."""
    path = (via, *range(90, 88 + hops))
    node.handle_message(BackwardAnt(REACTIVE, me, destination, 1, 0, hops - 1, (hops - 1) * 3000, path), via, 1, now)


def of_kind(team, kind, since=0):
    return [(sender, message) for time, sender, message, _ in team.sent if message.kind == kind and time >= since]


# --- bytes -----------------------------------------------------------------------------------------------


def test_messages_have_these_bytes():
    hello = Hello(((2, 9000), (258, 1)))
    assert hello.encode() == bytes.fromhex("01 02 0000 0a000003 00002328 0a000103 00000001")
    failure = LinkFailure(((2, NO_WAY),))
    assert failure.encode() == bytes.fromhex("04 01 0000 0a000003 ffffffff")
    forward = ForwardAnt(PROACTIVE, 0, 3, 258, broadcasts=2, time_us=6000, path=(1, 2))
    assert forward.encode() == bytes.fromhex("02 01 02 00 0102 00 02 0a000001 0a000004 00001770 0a000002 0a000003")
    backward = BackwardAnt(REACTIVE, 0, 3, 65535, position=1, time_us=3000, path=(1, 2))
    assert backward.encode() == bytes.fromhex("03 00 00 01 ffff 00 02 0a000001 0a000004 00000bb8 0a000002 0a000003")


nodes = st.integers(0, 70_000)
bytes_ = st.integers(0, 255)
numbers = st.integers(0, 2**32 - 1)


@given(st.lists(st.tuples(nodes, numbers), max_size=255), st.sampled_from((Hello, LinkFailure)))
def test_news_survive_the_air(costs, kind):
    message = kind(tuple(costs))
    back = decode(message.encode())
    assert type(back) is kind and back.costs == tuple(costs) and back.size == len(message.encode())


@given(
    st.sampled_from((ForwardAnt, BackwardAnt)), st.integers(0, 2), nodes, nodes, st.integers(0, 65535),
    bytes_, bytes_, numbers, st.lists(nodes, max_size=64),
)  # fmt: skip
def test_ants_survive_the_air(kind, purpose, source, destination, generation, broadcasts, position, time, path):
    ant = kind(purpose, source, destination, generation, broadcasts, position, time, tuple(path))
    back = decode(ant.encode())
    assert type(back) is kind and ant.size == len(ant.encode())
    assert all(getattr(back, name) == getattr(ant, name) for name in kind.__mro__[1].__slots__)


def test_torn_messages_are_refused():
    for message in (Hello(((1, 2),)), ForwardAnt(REACTIVE, 0, 3, 1, path=(1, 2))):
        data = message.encode()
        for cut in range(len(data)):
            with pytest.raises(ValueError):
                decode(data[:cut])
    with pytest.raises(ValueError):
        decode(b"\x09" + bytes(19))
    with pytest.raises(ValueError):
        Hello(((1, 1),) * 256)


# --- finding paths ---------------------------------------------------------------------------------------


def test_a_path_is_found_and_the_datagram_arrives():
    path = team(4, line(4))
    number = path.ask(0, 3)
    assert path.waiting() == [number]
    path.run(0.2)
    assert path.ends[number] == ["delivered"]
    assert path.hops[number] == 3
    assert path.waiting() == []
    assert [sender for sender, _ in of_kind(path, 3)] == [3, 2, 1]


def test_pheromone_is_that_of_the_paper():
    path = team(4, line(4))
    path.ask(0, 3)
    path.run(0.1)
    for node, hops in ((0, 3), (1, 2), (2, 1)):
        expected = 1 / ((hops * HOP + hops * HOP) / 2)
        assert path.nodes[node].pheromone(3)[node + 1] == pytest.approx(expected)
    assert path.nodes[3].pheromone(0) == {}  # nothing is laid towards the source


def test_new_pheromone_is_mixed_with_the_old():
    node, _ = alone(pheromone_memory=0.75)
    taught(node, 0, 5, via=1, hops=2)
    taught(node, 0, 5, via=1, hops=4)
    assert node.pheromone(5)[1] == pytest.approx(0.75 / (2 * HOP) + 0.25 / (4 * HOP))


def test_a_second_datagram_needs_no_ants():
    path = team(4, line(4), hello_interval_s=100, proactive_interval_s=100)
    path.ask(0, 3)
    path.run(0.2)
    ants = len(path.sent)
    number = path.ask(0, 3)
    path.run(0.2)
    assert path.ends[number] == ["delivered"]
    assert len(path.sent) == ants


def test_an_ant_follows_pheromone_where_there_is_some():
    node, host = alone(node=1)
    taught(node, 1, 9, via=2, hops=2)
    met(node, 3)
    node.handle_message(ForwardAnt(REACTIVE, 0, 9, 1, UNLIMITED, time_us=3000), 0, 1, 1)
    ((ant, next_hop),) = host.sent
    assert next_hop == 2
    assert (ant.path, ant.time_us, ant.broadcasts) == ((1,), 6000, UNLIMITED)
    host.sent.clear()
    node.handle_message(ForwardAnt(REACTIVE, 0, 9, 2, UNLIMITED, path=(2,)), 2, 1, 1)  # not back to where it was
    assert host.sent[0][1] == EVERYONE


@pytest.mark.parametrize(
    ("hops", "time_us", "goes_on"),
    [(10, 30_000, False), (9, 27_000, True), (9, 27_001, False), (10, 20_000, False), (11, 33_000, False)],
)
def test_later_ants_of_a_generation_must_be_better(hops, time_us, goes_on):
    node, host = alone(node=50)
    first = ForwardAnt(REACTIVE, 0, 9, 1, UNLIMITED, 0, 30_000, tuple(range(20, 29)))
    node.handle_message(first, 28, 1, 0)
    assert len(host.sent) == 1
    path = tuple(range(20, 19 + hops))
    node.handle_message(ForwardAnt(REACTIVE, 0, 9, 1, UNLIMITED, 0, time_us, path), path[-1], 1, 1)
    assert len(host.sent) == 1 + goes_on
    node.handle_message(ForwardAnt(REACTIVE, 0, 9, 2, UNLIMITED, 0, 90_000, path), path[-1], 1, 2)
    assert len(host.sent) == 2 + goes_on  # a new generation begins anew


def test_a_destination_answers_other_first_hops_more_generously():
    node, host = alone(node=9)
    node.handle_message(ForwardAnt(REACTIVE, 0, 9, 1, UNLIMITED, 0, 6000, (1,)), 1, 1, 0)
    node.handle_message(ForwardAnt(REACTIVE, 0, 9, 1, UNLIMITED, 0, 6000, (1,)), 1, 1, 0)
    node.handle_message(ForwardAnt(REACTIVE, 0, 9, 1, UNLIMITED, 0, 9000, (2, 3)), 3, 1, 0)
    node.handle_message(ForwardAnt(REACTIVE, 0, 9, 1, UNLIMITED, 0, 9000, (2, 4)), 4, 1, 0)
    node.handle_message(ForwardAnt(REACTIVE, 0, 9, 1, UNLIMITED, 0, 15000, (5, 6, 7, 8)), 8, 1, 0)
    assert [(ant.path, next_hop) for ant, next_hop in host.sent] == [((1,), 1), ((2, 3), 3)]


def test_ants_die_in_cycles():
    node, host = alone(node=2)
    node.handle_message(ForwardAnt(REACTIVE, 0, 9, 1, UNLIMITED, path=(1, 2, 3)), 3, 1, 0)
    node.handle_message(ForwardAnt(REACTIVE, 2, 9, 1, UNLIMITED, path=(1,)), 1, 1, 0)
    node.handle_message(ForwardAnt(REACTIVE, 0, 9, 2, UNLIMITED, path=tuple(range(10, 73))), 72, 1, 0)
    assert host.sent == []


def test_a_backward_ant_of_another_path_lays_nothing():
    node, host = alone(node=7)
    node.handle_message(BackwardAnt(REACTIVE, 0, 9, 1, position=0, path=(1, 2)), 2, 1, 0)
    node.handle_message(BackwardAnt(REACTIVE, 0, 9, 1, position=9, path=(1, 7)), 2, 1, 0)
    assert node.pheromone(9) == {}
    assert host.sent == []


def test_a_search_is_repeated_and_then_given_up():
    pair = team(3, [(0, 1)], setup_retries=2, setup_wait_s=0.5, hello_interval_s=100)
    number = pair.ask(0, 2)
    pair.run(1.4)
    assert pair.waiting() == [number]
    pair.run(0.2)
    assert pair.ends[number] == ["no_route"]
    assert pair.nodes[0].counts["forward_ant"] == 3
    assert pair.nodes[1].counts["forward_ant"] == 3
    assert pair.waiting() == []


def test_the_buffer_is_as_large_as_it_is_said_to_be():
    pair = team(3, [(0, 1)], buffer_packets=3)
    numbers = [pair.ask(0, 2) for _ in range(4)]
    assert [pair.ends[number] for number in numbers] == [[], [], [], ["no_route"]]
    pair.join((1, 2))
    pair.run(3)
    assert [pair.ends[number] for number in numbers] == [["delivered"]] * 3 + [["no_route"]]
    assert pair.nodes[0]._held == 0


# --- datagrams follow pheromone --------------------------------------------------------------------------


@pytest.mark.parametrize(("exponent", "share"), [(1, 2 / 3), (2, 4 / 5), (20, 1 - 2**-20)])
def test_shares_go_with_pheromone_to_the_power_of_the_exponent(exponent, share):
    rng = np.random.default_rng(1)
    drawn = Counter(draw({4: 200.0, 5: 100.0}, exponent, rng.random()) for _ in range(20_000))
    assert drawn[4] / 20_000 == pytest.approx(share, abs=0.015)
    trails = Trails()
    trails.regular.update({4: 200.0, 5: 100.0})
    drawn = Counter(trails.choose(exponent, rng.random, -1) for _ in range(20_000))
    assert drawn[4] / 20_000 == pytest.approx(share, abs=0.015)


def test_huge_exponents_do_not_overflow():
    assert draw({1: 300.0, 2: 299.0}, 100_000, 0.5) == 1


def test_a_choice_leaves_out_where_the_datagram_came_from():
    rng = np.random.default_rng(1)
    trails = Trails()
    trails.regular.update({4: 1.0, 5: 1.0, 6: 1.0})
    drawn = Counter(trails.choose(1, rng.random, 5) for _ in range(3000))
    assert set(drawn) == {4, 6}
    assert drawn[4] == pytest.approx(1500, abs=150)
    only = Trails()
    only.regular[4] = 1.0
    assert only.choose(1, rng.random, 4) is None
    assert only.choose(1, rng.random, 5) == 4
    assert Trails().choose(1, rng.random, 5) is None


def test_two_equal_paths_share_the_datagrams():
    #   0 - 1 - 3
    #    \- 2 -/
    node, host = alone()
    taught(node, 0, 3, via=1)
    taught(node, 0, 3, via=2)
    for _ in range(600):
        node.handle_datagram(datagram(0, 3), 0, 0)
    shares = Counter(host.forwarded)
    assert shares[1] + shares[2] == 600
    assert 230 < shares[1] < 370


def test_the_shorter_path_is_preferred():
    #   0 - 1 - 5          both are found, in whatever order
    #    \- 2 - 3 - 4 - 5
    links = [(0, 1), (1, 5), (0, 2), (2, 3), (3, 4), (4, 5)]
    for seed in range(5):
        both = team(6, links, seed, proactive_interval_s=0.1)
        numbers = []
        for _ in range(200):
            numbers.append(both.ask(0, 5))
            both.run(0.02)
        assert all(both.ends[number] == ["delivered"] for number in numbers)
        hops = Counter(both.hops[number] for number in numbers[20:])
        assert hops[2] > 170
        pheromone = both.nodes[0].pheromone(5)
        assert pheromone[1] == max(pheromone.values())


def test_a_better_path_is_found_while_data_flow():
    path = team(5, line(5), proactive_interval_s=0.2)
    path.ask(0, 4)
    path.run(0.5)
    path.join((0, 4))  # they meet
    for _ in range(30):
        last = path.ask(0, 4)
        path.run(0.1)
    assert path.hops[last] == 1


def test_ants_of_a_session_end_with_it():
    path = team(3, line(3), proactive_interval_s=0.5)
    path.ask(0, 2)
    path.run(0.1)
    begun = path.now
    path.run(20)
    proactive = [ant for sender, ant in of_kind(path, 2, begun) if sender == 0]
    assert len(proactive) == 1
    assert proactive[0].purpose == PROACTIVE
    assert path.nodes[0]._sessions == {}


def test_a_proactive_ant_is_broadcast_only_so_often():
    node, host = alone(node=1)
    node.handle_message(ForwardAnt(PROACTIVE, 0, 9, 1, broadcasts=1), 0, 1, 0)
    ((ant, next_hop),) = host.sent
    assert (next_hop, ant.broadcasts) == (EVERYONE, 0)
    node.handle_message(ForwardAnt(PROACTIVE, 0, 9, 2, broadcasts=0), 0, 1, 0)
    assert len(host.sent) == 1


def test_proactive_ants_are_now_and_then_broadcast():
    node, host = alone(node=1)
    taught(node, 1, 9, via=2)
    for generation in range(1000):
        node.handle_message(ForwardAnt(PROACTIVE, 0, 9, generation, broadcasts=2), 0, 1, 0)
    kinds = Counter(next_hop for _, next_hop in host.sent)
    assert kinds[EVERYONE] + kinds[2] == 1000
    assert 60 < kinds[EVERYONE] < 140


def test_greetings_guide_proactive_ants_but_no_datagrams():
    node, host = alone(node=1, setup_retries=0)
    node.handle_message(Hello(((9, 6000),)), 2, 1, 0)
    assert node.pheromone(9) == {}
    node.handle_message(ForwardAnt(PROACTIVE, 0, 9, 1, broadcasts=0), 0, 1, 0)
    assert [next_hop for _, next_hop in host.sent] == [2]
    node.handle_message(ForwardAnt(PROACTIVE, 0, 9, 2, broadcasts=0), 0, 1, 5 * SECOND)  # that was long ago
    assert len(host.sent) == 1
    node.handle_datagram(datagram(1, 9), 1, 0)
    assert host.forwarded == []
    assert len(node.pending()) == 1


def test_greetings_renew_pheromone_on_paths_through_the_neighbour():
    node, _ = alone()
    taught(node, 0, 9, via=2, hops=2)
    before = node.pheromone(9)[2]
    node.handle_message(Hello(((9, 30_000),)), 2, 1, 0)
    assert node.pheromone(9)[2] == pytest.approx(0.7 * before + 0.3 / (0.03 + HOP))


def test_greetings_tell_all_destinations_in_turn():
    node, host = alone()
    for destination in range(30, 53):
        taught(node, 0, destination, via=2)
    told = []
    for _ in range(3):
        host.sent.clear()
        node.handle_timer(0, 0)
        ((hello, _),) = host.sent
        assert len(hello.costs) == 10
        told += [destination for destination, _ in hello.costs]
    assert set(told) == set(range(30, 53))
    assert hello.costs[0][1] == 6000


# --- what breaks -----------------------------------------------------------------------------------------


def test_another_path_is_taken_at_once_and_neighbours_are_told():
    node, host = alone()
    taught(node, 0, 9, via=1, hops=2)
    taught(node, 0, 9, via=2, hops=3)
    lost = datagram(0, 9)
    node.handle_undelivered(lost, 1, 0)
    assert host.forwarded == [2]
    ((failure, next_hop),) = host.sent
    assert next_hop == EVERYONE
    assert failure.costs == ((9, 9000),)
    assert node.pheromone(9).keys() == {2}
    assert node.pheromone(1) == {}


def test_the_loss_of_a_worse_path_is_not_worth_a_word():
    node, host = alone()
    taught(node, 0, 9, via=1, hops=2)
    taught(node, 0, 9, via=2, hops=3)
    taught(node, 0, 9, via=3, hops=2)
    node.handle_undelivered(Hello(()), 2, 0)
    node.handle_undelivered(Hello(()), 1, 0)  # 3 is as good
    assert host.sent == []


def test_a_source_that_does_not_find_its_lost_destination_warns_those_who_went_through_it():
    node, host = alone(setup_retries=0)
    taught(node, 0, 9, via=1)
    node.handle_undelivered(datagram(0, 9), 1, 0)
    assert [message.kind for message, _ in host.sent] == [2]  # it looks for it first
    node.handle_timer(host.timers[-1][1], SECOND)
    assert host.dropped == ["retry_limit"]
    assert host.sent[-1][0].costs == ((9, NO_WAY),)


def test_a_node_with_datagrams_of_its_own_goes_on_after_a_failed_repair():
    node, host = alone(node=1)
    node.handle_datagram(datagram(0, 9), 0, 0)
    node.handle_datagram(datagram(1, 9), 1, 0)
    search = host.timers[0][1]
    node.handle_timer(search, SECOND)
    assert host.dropped == []
    assert [message.purpose for message, _ in host.sent] == [REPAIR, REACTIVE]


def test_the_loss_of_the_last_path_is_passed_on():
    node, host = alone()
    taught(node, 0, 9, via=1)
    taught(node, 0, 8, via=1)
    taught(node, 0, 8, via=2)
    node.handle_message(LinkFailure(((9, NO_WAY), (8, NO_WAY), (7, NO_WAY))), 1, 1, 0)
    assert node.pheromone(9) == {}
    assert node.pheromone(8).keys() == {2}
    assert [message.costs for message, _ in host.sent] == [((9, NO_WAY),)]


def test_a_worse_path_of_a_neighbour_is_noted():
    node, host = alone()
    taught(node, 0, 9, via=1)
    node.handle_message(LinkFailure(((9, 50_000),)), 1, 1, 0)
    assert node.pheromone(9)[1] == pytest.approx(1 / (0.05 + HOP))
    assert host.sent == []


def test_a_failed_hop_makes_paths_through_this_node_worse_for_a_while():
    node, host = alone()
    met(node, 1, 2)
    node.handle_undelivered(Hello(()), 2, 0)
    node.handle_message(ForwardAnt(REACTIVE, 5, 9, 1, UNLIMITED), 1, 1, 0)
    assert host.sent[-1][0].time_us == pytest.approx(3000 * (1 + 0.3 * 6), abs=1)
    for _ in range(30):
        node.handle_datagram(datagram(5, 1), 2, 0)
    node.handle_message(ForwardAnt(REACTIVE, 5, 9, 2, UNLIMITED), 1, 1, 0)
    assert host.sent[-1][0].time_us == pytest.approx(3000, abs=5)


def test_a_node_in_the_middle_repairs_a_path():
    #   0 - 1 - 2 - 3 - 4
    #        \- 5 -/
    path = team(6, line(5))
    first = path.ask(0, 4)
    path.run(0.2)
    assert path.ends[first] == ["delivered"]
    path.join((1, 5), (5, 3))
    path.cut((1, 2))
    begun = path.now
    second = path.ask(0, 4)
    path.run(0.2)
    assert path.ends[second] == ["delivered"]
    ants = [ant for _, ant in of_kind(path, 2, begun) if ant.purpose != PROACTIVE]
    assert {(ant.purpose, ant.source) for ant in ants} == {(REPAIR, 1)}
    assert max(len(ant.path) for ant in ants) <= 3
    assert set(path.nodes[1].pheromone(4)) == {5}


def test_a_repair_that_fails_ends_the_datagram_and_warns_the_source():
    path = team(5, line(5), hello_interval_s=100, proactive_interval_s=100)
    path.ask(0, 4)
    path.run(0.2)
    path.cut((3, 4))
    first = path.ask(0, 4)
    path.run(0.9)
    assert path.ends[first] == ["retry_limit"]
    assert path.nodes[0].pheromone(4) == {}  # the warning came up the whole path
    assert [sender for sender, _ in of_kind(path, 4)] == [3, 2, 1, 0]
    second = path.ask(0, 4)
    path.run(5)
    assert path.ends[second] == ["no_route"]
    path.join((3, 4))
    third = path.ask(0, 4)
    path.run(0.5)
    assert path.ends[third] == ["delivered"]


def test_what_cannot_be_repaired_is_not_tried_again_at_once():
    node, host = alone(node=1)
    node.handle_datagram(datagram(0, 9), 0, 0)
    assert [(message.purpose, next_hop) for message, next_hop in host.sent] == [(REPAIR, EVERYONE)]
    (time, search) = host.timers[-1]
    node.handle_timer(search, time)
    assert host.dropped == ["no_route"]
    sent = len(host.sent)
    node.handle_datagram(datagram(0, 9), 0, time)
    assert host.dropped == ["no_route"] * 2
    assert len(host.sent) == sent
    node.handle_datagram(datagram(0, 9), 0, time + SECOND)
    assert len(node.pending()) == 1


def test_a_datagram_does_not_bounce_between_two_nodes_that_trust_each_other():
    node, host = alone(node=1)
    taught(node, 1, 9, via=0)
    node.handle_datagram(datagram(0, 9), 0, 0)
    assert host.forwarded == []
    assert len(node.pending()) == 1


def test_a_datagram_that_has_waited_too_long_waits_no_more():
    node, host = alone(setup_retries=1, setup_wait_s=0.5)
    node.handle_undelivered(datagram(0, 9, time=0), 1, SECOND + 1)
    assert host.dropped == ["no_route"]
    node.handle_undelivered(datagram(0, 9, time=0), 1, SECOND)
    assert len(node.pending()) == 1


def test_a_search_for_a_neighbour_ends_when_it_greets():
    node, host = alone()
    node.handle_datagram(datagram(0, 9), 0, 0)
    met(node, 9)
    assert host.forwarded == [9]
    assert node.pending() == []


def test_a_forward_ant_that_was_not_delivered_goes_another_way():
    node, host = alone(node=1)
    taught(node, 1, 9, via=2, hops=2)
    node.handle_message(ForwardAnt(REACTIVE, 0, 9, 1, UNLIMITED), 0, 1, 0)
    ant, _ = host.sent.pop()
    node.handle_undelivered(ant, 2, 1)
    assert (ant, EVERYONE) in host.sent


def test_silent_neighbours_are_gone_after_so_many_greetings():
    path = team(3, line(3), hello_interval_s=0.5, allowed_hello_loss=3)
    path.ask(0, 2)
    path.run(2)
    path.cut((1, 2))
    cut_at = path.now
    path.run(1.4)
    assert 2 in path.nodes[1]._neighbours
    path.run(1.2)
    assert 2 not in path.nodes[1]._neighbours
    assert path.nodes[0].pheromone(2) == {}
    assert (1, ((2, NO_WAY),)) in [(sender, message.costs) for sender, message in of_kind(path, 4, cut_at)]


def test_greetings_come_at_their_interval():
    pair = team(2, line(2), hello_interval_s=0.5, jitter_s=0).run(10)
    for node in range(2):
        times = [time for time, sender, message, _ in pair.sent if sender == node and message.kind == 1]
        assert len(times) == 20
        assert set(np.diff(times)) == {SECOND // 2}
    assert pair.nodes[0].counts == {"hello": 20}


# --- all together ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_on_any_connected_graph_everything_arrives(seed):
    size = 4 + seed
    graph = team(size, scattered(size, seed), seed)
    numbers = [graph.ask(a, b) for a in range(size) for b in range(size)]
    graph.run(4)
    assert [graph.ends[number] for number in numbers] == [["delivered"]] * size**2


@pytest.mark.parametrize("seed", range(12))
def test_every_datagram_ends_once_whatever_breaks(seed):
    rng = np.random.default_rng(seed)
    size = 9
    links = scattered(size, seed)
    graph = team(size, links, seed, buffer_packets=5, setup_wait_s=0.3, setup_retries=1, proactive_interval_s=0.3)
    numbers = []
    for _ in range(200):
        link = links[rng.integers(len(links))]
        (graph.cut if rng.random() < 0.5 else graph.join)(link)
        source, destination = map(int, rng.choice(size, 2, replace=False))
        numbers.append(graph.ask(source, destination))
        graph.run(0.04)
        waiting = graph.waiting()
        assert len(waiting) == len(set(waiting))
        assert not any(graph.ends[number] for number in waiting)
    graph.run(10)
    assert graph.waiting() == []
    assert all(len(graph.ends[number]) == 1 for number in numbers)
    fates = Counter(graph.ends[number][0] for number in numbers)
    assert set(fates) <= {"delivered", "no_route", "queue_full", "retry_limit", "lifetime", "ttl"}
    assert fates["delivered"] > 60
    assert all(node._held == 0 for node in graph.nodes)


def test_the_same_seed_gives_the_same_story():
    def story(seed):
        graph = team(8, scattered(8, 1), seed)
        for _ in range(30):
            graph.ask(0, 7)
            graph.run(0.1)
        return [(time, sender, message.encode(), next_hop) for time, sender, message, next_hop in graph.sent]

    assert story(1) == story(1) != story(2)


def test_jitter_is_within_its_bounds():
    delays = []
    node, host = alone(jitter_s=0.02)
    host.send = lambda message, next_hop, ttl=1, delay_ns=0: delays.append(delay_ns)
    for _ in range(200):
        node.handle_timer(0, 0)
    assert 0 <= min(delays) < MILLISECOND
    assert 19 * MILLISECOND < max(delays) < 20 * MILLISECOND
