"""`ideal` and `disk` against what they promise, worked out here by other means (networkx-free, brute force)."""

from collections import Counter, deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robonet.link.messages import BROADCAST, FIRST_GROUP, REASONS, Node
from robonet.link.simulators import Setup, Transmissions
from robonet.network.disk import DiskNetwork
from robonet.network.events import EventLoop
from robonet.network.ideal import IdealNetwork
from robonet.scenario.schema import Disk, Ideal, Network
from robonet.space import NeighbourLists
from robonet.testing import check_network, network_in_memory

STEP_NS = 100_000_000


def setup(nodes, seed=1, wants=()):
    return Setup(
        seed=seed, step_ns=STEP_NS, steps=1000, arena_low_m=(-1e3, -1e3), arena_high_m=(1e3, 1e3), walls=True,
        obstacles=[], nodes=nodes, groups=sorted({g for n in nodes for g in n.groups}), wants=frozenset(wants),
    )  # fmt: skip


def named(count, **equipment):
    return [Node(name=f"n{i}", equipment=equipment) for i in range(count)]


def sends(*rows):
    """Packets as (source, destination, time)."""
    return Transmissions.of([(i, time, source, destination, 10) for i, (source, destination, time) in enumerate(rows)])


class Seen:
    """An outcome as plain lists."""

    def __init__(self, outcome):
        for name, column in (("packets", "packet"), ("receivers", "receiver"), ("times", "time"), ("hops", "hops")):
            setattr(self, name, outcome.arrivals[column].tolist())
        self.failed = outcome.failures["packet"].tolist()
        self.failed_reasons = [REASONS[reason] for reason in outcome.failures["reason"].tolist()]


def line(count, spacing=10.0):
    return np.column_stack((np.arange(count) * spacing, np.zeros(count), np.zeros(count)))


MODELS = {
    "ideal": lambda: IdealNetwork(Network(ideal=Ideal(delay_s=0.15))),
    "disk": lambda: DiskNetwork(Network(disk=Disk(range_m=12, delivery_probability=0.7))),
    "disk, shortest path": lambda: DiskNetwork(Network(disk=Disk(range_m=12, delivery_probability=0.7, multihop=True))),
    "disk, flooding": lambda: DiskNetwork(
        Network(disk=Disk(range_m=12, delivery_probability=0.7, multihop=True, routing="flooding", delay_s=0.06))
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_every_model_passes_the_conformance_kit(name):
    check_network(lambda: network_in_memory(MODELS[name]()))


def test_the_kit_notices_what_is_wrong():
    class Duplicating(IdealNetwork):
        def step(self, until, positions_m, transmissions):
            outcome = super().step(until, positions_m, transmissions)
            outcome.arrivals = np.concatenate((outcome.arrivals, outcome.arrivals[:1]))
            return outcome

    class Forgetful(IdealNetwork):
        def end(self, now):
            report = super().end(now)
            report["packets"]["delivered"] -= 1
            return report

    class Moody(IdealNetwork):
        count = 0

        def start(self, setup):
            Moody.count += 1
            self._delay_ns = Moody.count
            return super().start(setup)

    for model, text in (
        (Duplicating, "more than once|twice"),
        (Forgetful, "accounted for"),
        (Moody, "same seed differ"),
    ):
        with pytest.raises(AssertionError, match=text):
            check_network(lambda model=model: network_in_memory(model(Network())))


def test_ideal_delivers_at_the_nanosecond_and_in_the_right_step():
    network = IdealNetwork(Network(ideal=Ideal(delay_s=0.1)))
    nodes = [Node(name="a"), Node(name="b", groups=["g"]), Node(name="c", groups=["g"])]
    network.start(setup(nodes))
    xyz = np.zeros((3, 3))
    first = Seen(network.step(STEP_NS, xyz, sends((0, 1, 0), (0, 2, 1), (1, BROADCAST, 50), (1, FIRST_GROUP, 60))))
    # Arrival exactly at the border belongs to the step that ends there; a nanosecond later does not.
    assert (first.packets, first.times) == ([0], [STEP_NS])
    second = Seen(network.step(2 * STEP_NS, xyz, sends()))
    arrivals = list(zip(second.packets, second.receivers, second.times, strict=True))
    assert arrivals == [(1, 2, STEP_NS + 1), (2, 0, STEP_NS + 50), (2, 2, STEP_NS + 50), (3, 2, STEP_NS + 60)]
    report = network.end(2 * STEP_NS)
    assert report["packets"] == {"sent": 2, "delivered": 2, "dropped": {}}
    assert report["broadcasts"] == {"sent": 1, "receptions": 2}
    assert report["multicasts"] == {"sent": 1, "receptions": 1}
    assert report["delay_s"]["mean"] == report["delay_s"]["max"] == 0.1


def test_what_is_under_way_at_the_end_ended_with_the_run():
    network = IdealNetwork(Network(ideal=Ideal(delay_s=5)))
    network.start(setup(named(2)))
    network.step(STEP_NS, np.zeros((2, 3)), sends((0, 1, 0)))
    assert network.end(STEP_NS)["packets"] == {"sent": 1, "delivered": 0, "dropped": {"run_ended": 1}}


def disk(**settings):
    return DiskNetwork(Network(disk=Disk(**settings)))


def test_disk_reaches_exactly_its_range():
    network = disk(range_m=10, delay_s=0.001)
    network.start(setup(named(3)))
    xyz = np.array([[0, 0, 0], [10, 0, 0], [0, 10.000001, 0]], dtype=float)
    outcome = Seen(network.step(STEP_NS, xyz, sends((0, 1, 0), (0, 2, 0), (0, BROADCAST, 0))))
    assert (outcome.packets, outcome.receivers) == ([0, 2], [1, 1])
    assert outcome.times == [1_000_000] * 2
    assert (outcome.failed, outcome.failed_reasons) == ([1], ["out_of_range"])


def test_disk_knows_height():
    network = disk(range_m=10)
    network.start(setup(named(2)))
    outcome = Seen(network.step(STEP_NS, np.array([[0, 0, 0], [8, 0, 8.0]]), sends((0, 1, 0))))
    assert outcome.failed_reasons == ["out_of_range"]


def test_a_radio_of_longer_range_is_heard_but_does_not_hear():
    nodes = [Node(name="far", equipment={"range_m": 100.0}), Node(name="near")]
    network = disk(range_m=10, multihop=True)
    network.start(setup(nodes))
    outcome = Seen(network.step(STEP_NS, line(2, 50.0), sends((0, 1, 0), (1, 0, 0))))
    assert outcome.packets == [0]
    assert outcome.failed_reasons == ["no_route"]


@pytest.mark.parametrize("routing", ["shortest-path", "flooding"])
def test_a_chain_takes_one_delay_a_hop(routing):
    network = disk(range_m=12, delay_s=0.002, multihop=True, routing=routing)
    network.start(setup(named(6)))
    outcome = Seen(network.step(STEP_NS, line(6), sends((0, 5, 1000))))
    assert (outcome.receivers, outcome.hops, outcome.times) == ([5], [5], [1000 + 5 * 2_000_000])


def test_each_hop_uses_the_graph_of_its_moment():
    """The relay walks away between two hops: the packet is stranded."""
    network = disk(range_m=12, delay_s=0.06, multihop=True)
    network.start(setup(named(4)))
    network.step(STEP_NS, line(4), sends((0, 3, 0)))  # reaches node 1 at 60 ms, node 2 at 120 ms
    moved = line(4)
    moved[3] = 100.0
    outcome = Seen(network.step(2 * STEP_NS, moved, sends()))
    assert outcome.failed_reasons == ["no_route"]
    assert network.end(2 * STEP_NS)["packets"]["dropped"] == {"no_route": 1}


@pytest.mark.parametrize("routing", ["shortest-path", "flooding"])
def test_a_packet_is_given_up_after_max_hops(routing):
    network = disk(range_m=12, multihop=True, max_hops=3, routing=routing)
    network.start(setup(named(6)))
    outcome = Seen(network.step(STEP_NS, line(6), sends((0, 5, 0), (0, 3, 0))))
    assert outcome.failed_reasons == ["ttl"]
    assert outcome.packets == [1]


def test_groups_are_reached_over_several_hops():
    nodes = [Node(name=f"n{i}", groups=["odd"] if i % 2 else []) for i in range(6)]
    network = disk(range_m=12, multihop=True)
    network.start(setup(nodes))
    outcome = Seen(network.step(STEP_NS, line(6), sends((1, FIRST_GROUP, 0))))
    assert sorted(zip(outcome.receivers, outcome.hops, strict=True)) == [(3, 2), (5, 4)]


@pytest.mark.parametrize("probability", [0.2, 0.75])
def test_one_hop_succeeds_as_often_as_it_should(probability):
    network = disk(range_m=12, delivery_probability=probability)
    network.start(setup(named(2)))
    trials = 4000
    outcome = Seen(network.step(STEP_NS, line(2), sends(*[(0, 1, i) for i in range(trials)])))
    sigma = (trials * probability * (1 - probability)) ** 0.5
    assert abs(len(outcome.packets) - trials * probability) < 4 * sigma
    assert Counter(outcome.failed_reasons) == {"lost": trials - len(outcome.packets)}


def test_the_dice_of_one_sender_are_its_own():
    """Another node that sends does not change what happens to the first one's packets."""
    fates = []
    for extra in ([], [(1, 2, 5)] * 50):
        network = disk(range_m=12, delivery_probability=0.5)
        network.start(setup(named(3)))
        rows = [(0, 1, 10 * i) for i in range(100)] + extra
        outcome = Seen(network.step(STEP_NS, line(3), sends(*rows)))
        fates.append(sorted(packet for packet in outcome.packets if packet < 100))
    assert fates[0] == fates[1]


def brute_hops(xyz, ranges, source, target):
    """Breadth first with no index and no kernel."""
    queue, hops = deque([source]), {source: 0}
    while queue:
        node = queue.popleft()
        for other in range(len(xyz)):
            if other not in hops and np.linalg.norm(xyz[node] - xyz[other]) <= ranges[node]:
                hops[other] = hops[node] + 1
                queue.append(other)
    return hops.get(target)


@settings(max_examples=40)
@given(st.integers(2, 25), st.integers(0, 2**32 - 1), st.sampled_from(["shortest-path", "flooding"]), st.booleans())
def test_without_loss_hops_are_those_of_breadth_first_search(count, seed, routing, is_mixed):
    rng = np.random.default_rng(seed)
    xyz = rng.uniform(0, 100, (count, 3)) * (1, 1, 0)
    ranges = rng.uniform(5, 60, count) if is_mixed else np.full(count, 30.0)
    nodes = [Node(name=f"n{i}", equipment={"range_m": r}) for i, r in enumerate(ranges.tolist())]
    network = disk(delay_s=0.0001, multihop=True, routing=routing)
    network.start(setup(nodes))
    pairs = [tuple(rng.choice(count, 2, replace=False).tolist()) for _ in range(5)]
    outcome = Seen(network.step(STEP_NS, xyz, sends(*[(a, b, 0) for a, b in pairs])))
    found = dict(zip(outcome.packets, outcome.hops, strict=True))
    expected = {i: brute_hops(xyz, ranges, a, b) for i, (a, b) in enumerate(pairs)}
    assert found == {i: hops for i, hops in expected.items() if hops is not None}
    assert set(outcome.failed_reasons) <= {"no_route"}


def test_one_that_reaches_far_does_not_make_everyone_look_far():
    """Neighbour lists of 4,000 points with one long range stay linear: a few rows of cells each, not all points."""
    rng = np.random.default_rng(1)
    xyz = rng.uniform(0, 1000, (4000, 3)) * (1, 1, 0)
    ranges = np.full(4000, 10.0)
    ranges[7] = 5000.0
    lists = NeighbourLists(ranges)
    lists.update(xyz)
    assert len(lists.of(7)) == 3999
    assert lists._usual_m == 10.0
    near = np.flatnonzero(np.linalg.norm(xyz - xyz[0], axis=1) <= 10.0).tolist()
    assert lists.of(0).tolist() == [node for node in near if node != 0]


@settings(max_examples=60)
@given(st.integers(1, 80), st.integers(0, 2**32 - 1), st.floats(0.1, 300))
def test_neighbours_are_exactly_those_within_range(count, seed, scale):
    rng = np.random.default_rng(seed)
    xyz = rng.uniform(-scale, scale, (count, 3))
    ranges = rng.uniform(0, scale, count)
    lists = NeighbourLists(ranges)
    lists.update(xyz)
    distances = np.linalg.norm(xyz[:, None] - xyz[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    for i in range(count):
        assert lists.of(i).tolist() == np.flatnonzero(distances[i] <= ranges[i]).tolist()


def test_neighbours_are_told_when_asked_for():
    network = disk(range_m=12, delivery_probability=0.5)
    offer = network.start(setup(named(3), wants=("neighbours",)))
    assert "neighbours" in offer.feedback
    told = network.step(STEP_NS, line(3), sends()).neighbours
    assert told.offsets.tolist() == [0, 1, 3, 4]
    assert told.nodes.tolist() == [1, 0, 2, 1]
    assert told.quality.tolist() == [0.5] * 4


@given(st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 5)), max_size=30))
def test_events_come_in_the_order_of_time_and_then_of_asking(asked):
    loop, seen = EventLoop(), []
    for number, (time, _) in enumerate(asked):
        loop.at(time, seen.append, (time, number))
    loop.run_through(500)
    assert seen == sorted((time, number) for number, (time, _) in enumerate(asked) if time <= 500)
    loop.run_through(1000)
    assert len(seen) == len(asked)
