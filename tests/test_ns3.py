"""ns-3 as the network: what it promises, what it refuses, and that the words of `wifi` mean the same there.

Nodes stand where they are told; packets are sent at times given to the nanosecond.
"""

import math
import os
import subprocess
import sys

import numpy as np
import pytest

from bridges.ns3.model import Ns3Network
from bridges.ns3.wheel import find_wheel
from robonet.errors import UserError
from robonet.link.messages import BROADCAST, FIRST_GROUP, REASONS, Node, Obstacle
from robonet.link.simulators import Setup, Transmissions
from robonet.network.wifi.model import WifiNetwork
from robonet.record.tables import Recorder, read_table
from robonet.scenario.schema import Network
from robonet.testing import check_network, network_in_memory

SECOND, MILLISECOND, MICROSECOND = 10**9, 10**6, 10**3
STEP_NS = 100 * MILLISECOND
ROUTINGS = ("aodv", "olsr", "dsdv", "static", "flooding", "none")
LIGHT_M_NS = 0.299792458


@pytest.fixture(autouse=True)
def installed():
    need_ns3()


def need_ns3():
    try:
        find_wheel()
    except UserError as error:
        if "CI" in os.environ:
            pytest.fail(str(error))
        pytest.skip(str(error))


def network(model=Ns3Network, *, ns3=None, folder=None, **wifi):
    settings = {"model": "ns3", "wifi": {"routing": "none", **wifi}, "ns3": ns3 or {}}
    return model(Network.model_validate(settings), Recorder(folder / "tables") if folder else None)


def setup_of(nodes, *, seed=1, obstacles=(), step_ns=STEP_NS, wants=("failures", "neighbours", "queues")):
    groups = sorted({group for node in nodes for group in node.groups})
    return Setup(
        seed=seed, step_ns=step_ns, steps=10_000, arena_low_m=(-1e4, -1e4), arena_high_m=(1e4, 1e4), walls=False,
        obstacles=list(obstacles), nodes=nodes, groups=groups, wants=frozenset(wants),
    )  # fmt: skip


class World:
    """Nodes at given places, what they sent, and everything that came of it."""

    def __init__(self, places_m, *, model=Ns3Network, seed=1, groups=None, folder=None, ns3=None, **wifi):
        places_m = np.asarray(places_m, dtype=float)
        self.places_m = np.zeros((len(places_m), 3))
        self.places_m[:, : places_m.shape[1]] = places_m
        self.network = network(model, ns3=ns3, folder=folder, **wifi)
        nodes = [Node(name=f"n{i}", groups=(groups or {}).get(i, [])) for i in range(len(places_m))]
        self.network.start(setup_of(nodes, seed=seed))
        self.rows, self.arrivals, self.failures, self.outcome = [], [], {}, None

    def send(self, source, destination, at_ns=0, size=100):
        self.rows.append((len(self.rows), at_ns, source, destination, size))
        return self

    def run(self, duration_s):
        """To the end of the run; its report is kept."""
        steps = round(duration_s * SECOND / STEP_NS)
        for step in range(steps):
            begin, end = step * STEP_NS, (step + 1) * STEP_NS
            due = [row for row in self.rows if begin <= row[1] < end]
            self.outcome = self.network.step(end, self.places_m, Transmissions.of(due))
            self.arrivals += self.outcome.arrivals.tolist()
            self.failures |= {packet: REASONS[reason] for packet, reason in self.outcome.failures.tolist()}
        self.report = self.network.end(steps * STEP_NS)
        return self

    def delays_ns(self):
        return [time - self.rows[packet][1] for packet, time, *_ in self.arrivals]


def both(places_m, send, duration_s=0.5, **wifi):
    """The same on ns-3 and on `wifi`; `send` fills a world."""
    worlds = [World(places_m, model=model, **wifi) for model in (Ns3Network, WifiNetwork)]
    for world in worlds:
        send(world)
        world.run(duration_s)
    return worlds


def line(count, spacing_m=100.0):
    return [(i * spacing_m, 0.0) for i in range(count)]


# --- every network simulator ------------------------------------------------------------------------------


@pytest.mark.parametrize("routing", ROUTINGS)
def test_it_passes_the_conformance_kit(routing):
    check_network(lambda: network_in_memory(network(ns3={"routing": routing}, range_m=30.0)))


def test_it_passes_the_conformance_kit_with_arp_and_fading():
    check_network(lambda: network_in_memory(network(routing="aodv", range_m=30.0, arp=True, fading="rayleigh")))


@pytest.mark.parametrize("routing", ["olsr", "dsdv"])
def test_tables_of_routes_carry_packets_once_they_are_there(routing):
    """DSDV keeps the first packet until it has a route, OLSR does not."""
    world = World(line(4), ns3={"routing": routing})
    world.send(0, 3, MILLISECOND).send(0, 3, 58 * SECOND).run(60)
    assert [(row[0], row[4]) for row in world.arrivals] == ([(0, 3), (1, 3)] if routing == "dsdv" else [(1, 3)])
    assert world.failures == ({} if routing == "dsdv" else {0: "no_route"})
    assert world.report["ns3"]["routing"] == routing


def test_another_seed_is_another_run():
    def arrivals(seed):
        world = World(line(5), seed=seed, routing="aodv")
        return world.send(0, 4, 2 * SECOND).run(4).arrivals

    assert arrivals(1) == arrivals(1) != arrivals(2)
    assert arrivals(2**63 - 1) != arrivals(2**62)


# --- the same words, the same physics ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        {},
        {"rate_mbps": 54.0},
        {"broadcast_rate_mbps": 24.0},
        {"standard": "802.11b"},
        {"standard": "802.11b", "rate_mbps": 5.5},
        {"standard": "802.11g", "rate_mbps": 12.0},
        {"mac": {"rts_threshold_bytes": 0}},
        {"frequency_mhz": 5745.0, "propagation": "friis", "tx_power_dbm": 16.0},
        {"propagation": {"two_ray_ground": {"antenna_height_m": 0.5}}},
        {"propagation": {"range": {"range_m": 60.0}}},
        {"propagation": {"log_distance": {"exponent": 2.5, "reference_loss_db": 40.0, "reference_m": 2.0}}},
        {"antenna_gain_db": 3.0, "tx_power_dbm": 10.0, "noise_figure_db": 5.0},
    ],
    ids=str,
)
def test_one_hop_takes_as_long_and_arrives_as_strong(words):
    """But for the propagation delay, which `wifi` leaves out: one a frame of the exchange."""
    distance_m = 40.0

    def send(world):
        for i, size in enumerate((1, 64, 1000, 2268)):
            world.send(0, 1, (1 + 40 * i) * MILLISECOND, size).send(0, BROADCAST, (21 + 40 * i) * MILLISECOND, size)

    ours, theirs = both(line(2, distance_m), send, **words)
    assert [row[0] for row in ours.arrivals] == [row[0] for row in theirs.arrivals] == list(range(8))
    frames = 3 if "mac" in words else 1
    for here, there in zip(ours.delays_ns(), theirs.delays_ns(), strict=True):
        assert 0 <= here - there <= math.ceil(frames * distance_m / LIGHT_M_NS)
    for here, there in zip(ours.arrivals, theirs.arrivals, strict=True):
        assert here[3] == pytest.approx(there[3], abs=0.01)
        assert here[4] == there[4] == 1


@pytest.mark.parametrize("law", ["log_distance", "friis", "two_ray_ground"])
def test_radios_end_where_those_of_wifi_end(law):
    """At 80 m and a hand's breadth: a step."""
    for distance_m, arrive in ((79.9, 2), (80.1, 0)):
        world = World(line(2, distance_m), propagation=law, range_m=80.0)
        world.send(0, 1).send(0, BROADCAST, 50 * MILLISECOND).run(0.2)
        assert len(world.arrivals) == arrive
        assert world.failures == ({} if arrive else {0: "retry_limit"})


def test_a_robot_may_have_another_range():
    nodes = [Node(name="far", equipment={"range_m": 100.0}), Node(name="near")]
    made = network(range_m=50.0)
    made.start(setup_of(nodes))
    places = np.array([[0.0, 0.0, 0.0], [90.0, 0.0, 0.0]])
    sends = Transmissions.of([(0, 0, 0, BROADCAST, 10), (1, 10 * MILLISECOND, 1, BROADCAST, 10)])
    assert made.step(STEP_NS, places, sends).arrivals["packet"].tolist() == [0]
    made.end(STEP_NS)


@pytest.mark.parametrize("routing", ["static", "aodv"])
def test_a_known_path_takes_as_long(routing):
    """34 + T + (h - 1)(94 + T) us over h hops, T the airtime, and 333 ns of propagation for each."""
    hops = 4
    ours, theirs = both(
        line(hops + 1), lambda w: [w.send(0, hops, (3000 + 500 * i) * MILLISECOND) for i in (0, 1)], 4, routing=routing
    )
    here, there = ours.delays_ns()[-1], theirs.delays_ns()[-1]
    assert there == (34 + 244 + (hops - 1) * (94 + 244)) * MICROSECOND
    assert 0 < here - there <= hops * 334
    assert [row[4] for row in ours.arrivals] == [hops] * 2
    assert ours.arrivals[-1][3] == pytest.approx(theirs.arrivals[-1][3], abs=0.01)


def test_fading_has_the_same_mean_and_spread():
    """Rayleigh over 900 broadcasts: powers are exponential around that of the distance."""
    world = World(line(2, 60.0), fading="rayleigh", range_m=120.0)
    for i in range(900):
        world.send(0, BROADCAST, i * MILLISECOND, 20)
    world.run(1)
    calm = World(line(2, 60.0)).send(0, BROADCAST).run(0.1).arrivals[0][3]
    powers = 10 ** ((np.array([row[3] for row in world.arrivals]) - calm) / 10)
    threshold = 10 ** ((-82 - calm) / 10)
    assert len(powers) / 900 == pytest.approx(math.exp(-threshold), abs=0.05)  # the others drown
    assert powers.mean() == pytest.approx(1 + threshold, abs=0.15)
    assert np.median(powers) == pytest.approx(threshold + math.log(2), abs=0.12)


def test_rates_step_up_after_ten_successes():
    def send(world):
        for i in range(60):
            world.send(0, 1, (1 + 5 * i) * MILLISECOND)  # at 0 nobody knows yet that the medium is idle

    ours, theirs = both(line(2, 10.0), send, mac={"rate_control": "arf"})
    delays = [np.round(np.array(world.delays_ns()) / MICROSECOND).tolist() for world in (ours, theirs)]
    assert len(set(delays[0])) == 6
    assert delays[0] == delays[1]


# --- what becomes of packets -------------------------------------------------------------------------------

FATES = {
    "nobody answers": (line(2, 500.0), [(0, 1)], {}, {"retry_limit": 1}),
    "the queue is full": (line(2, 30.0), [(0, 1)] * 20, {"mac": {"queue_packets": 5}}, {"queue_full": 15}),
    "waited too long": (line(2, 30.0), [(0, 1)] * 20, {"mac": {"queue_lifetime_s": 0.005}}, {"lifetime": 16}),
    "too many hops": (line(4), [(0, 3)], {"routing": "static", "max_hops": 2}, {"ttl": 1}),
    "no path there": (line(2, 500.0), [(0, 1)], {"routing": "static"}, {"no_route": 1}),
    "no path found": (line(2, 500.0), [(0, 1)], {"routing": "aodv"}, {"no_route": 1}),
    "no address": (line(2, 500.0), [(0, 1)], {"arp": True}, {"no_route": 1}),
    "the flood dies out": (line(2, 500.0), [(0, 1)], {"routing": "flooding"}, {"lost": 1}),
    "the flood may not go on": (
        line(4), [(0, 3)], {"routing": "flooding", "flooding": {"max_hops": 2}}, {"ttl": 1},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FATES)
def test_fates_are_those_of_wifi(case):
    places_m, pairs, words, dropped = FATES[case]
    ours, theirs = both(places_m, lambda w: [w.send(*pair, MILLISECOND, 1000) for pair in pairs], 12, **words)
    for world in (ours, theirs):
        assert world.report["packets"]["dropped"] == dropped
        assert world.report["packets"]["delivered"] == len(pairs) - sum(dropped.values())
    assert ours.failures == theirs.failures


def test_what_is_under_way_at_the_end_is_told_so():
    world = World(line(2, 500.0), routing="aodv").send(0, 1).run(0.2)
    assert world.failures == {} and world.report["packets"]["dropped"] == {"run_ended": 1}


def test_longest_payload_oneself_and_groups():
    world = World(line(4, 10.0), groups={1: ["odd"], 3: ["odd"]}, routing="aodv")
    world.send(0, 1, 0, 2268).send(0, 1, 10 * MILLISECOND, 2269).send(2, 2, 2 * SECOND)
    world.send(0, FIRST_GROUP, 3 * SECOND).send(1, FIRST_GROUP, 4 * SECOND).send(2, BROADCAST, 5 * SECOND).run(6)
    heard = sorted((row[0], row[2]) for row in world.arrivals)
    assert heard == [(0, 1), (2, 2), (3, 1), (3, 3), (4, 3), (5, 0), (5, 1), (5, 3)]
    itself = next(row for row in world.arrivals if row[0] == 2)
    assert itself[1] == 2 * SECOND and math.isnan(itself[3])
    assert world.failures == {1: "too_long"}
    assert world.report["multicasts"] == {"sent": 2, "receptions": 3}


def test_a_frame_whose_ack_was_lost_does_not_end_its_packet():
    """Everyone shouts at the middle: many ACKs are lost, and no packet has two ends (the ledger would complain)."""
    places_m = [(0.0, 0.0), *((100 * math.cos(a), 100 * math.sin(a)) for a in np.linspace(0, 6, 9))]
    world = World(places_m, routing="aodv", mac={"retry_limit": 2})
    rng = np.random.default_rng(3)
    for time in np.sort(rng.integers(0, 2 * SECOND, 800)).tolist():
        ends = rng.choice(10, 2, replace=False).tolist()
        world.send(*ends, time, 500)
    world.run(5)
    packets = world.report["packets"]
    assert packets["sent"] == 800 == packets["delivered"] + sum(packets["dropped"].values())
    assert packets["dropped"]["retry_limit"] > 20
    assert "unknown" not in packets["dropped"]


# --- what else is told -------------------------------------------------------------------------------------


def test_neighbours_and_queues_are_told():
    world = World(line(3, 100.0))
    for _ in range(50):
        world.send(0, 1, 95 * MILLISECOND, 2000)
    world.run(0.1)
    found = world.outcome.neighbours
    assert found.offsets.tolist() == [0, 1, 3, 4] and found.nodes.tolist() == [1, 0, 2, 1]
    assert found.quality.min() > 0.9 and found.signal_dbm[0] == pytest.approx(-79.62, abs=0.01)
    assert 40 <= world.outcome.queues[0] <= 50 and world.outcome.queues[1:].tolist() == [0, 0]


def test_the_report_and_the_record_are_those_of_wifi(tmp_path):
    world = World(line(3), routing="static", folder=tmp_path)
    for i in range(10):
        world.send(0, 2, i * 10 * MILLISECOND)
    world.run(0.2)
    radios = world.report["ns3"]
    assert (radios["frames"], radios["unicast_frames"], radios["answer_frames"]) == (40, 20, 20)
    assert radios["airtime_s"] == pytest.approx(20 * (244 + 44) * 1e-6)
    assert read_table(tmp_path / "tables" / "packets")["fate"].tolist() == ["delivered"] * 10
    assert read_table(tmp_path / "tables" / "flows")["received_packets"].tolist() == [10]
    assert (tmp_path / "flows.xml").exists()


# --- refusals ----------------------------------------------------------------------------------------------

WALL = Obstacle(corners_m=[(0, 0), (1, 0), (1, 1)], material="brick")


@pytest.mark.parametrize(
    ("words", "obstacles", "named"),
    [
        ({"shadowing": {}}, (), "network.wifi.shadowing"),
        ({"fading": "rician"}, (), "network.wifi.fading.rician"),
        ({}, (WALL,), "network.wifi.materials.brick"),
        ({"routing": "anthocnet"}, (), "no 'anthocnet'; known here: aodv, olsr, dsdv"),
        ({"routing": "aodv", "aodv": {"local_repair": True}}, (), "network.wifi.aodv.local_repair"),
        ({"routing": "aodv", "aodv": {"jitter_s": 0.5}}, (), "network.wifi.aodv.jitter_s"),
        ({"routing": "olsr", "olsr": {"willingness": 4}}, (), "network.wifi.olsr.willingness"),
        ({"standard": "802.11g", "mac": {"rate_control": "arf"}}, (), "network.wifi.mac.rate_control"),
        ({"rate_mbps": 54.0, "mac": {"rate_control": "arf"}}, (), "network.wifi.rate_mbps"),
        ({"frequency_mhz": 5183.0}, (), "network.wifi.frequency_mhz: 5183"),
    ],
    ids=str,
)
def test_what_ns3_lacks_is_refused_by_name(words, obstacles, named):
    with pytest.raises(UserError) as error:
        network(**words).start(setup_of([Node(name="a"), Node(name="b")], obstacles=obstacles))
    assert named in str(error.value)


def test_obstacles_that_let_signals_pass_are_no_matter():
    for made in (network(materials={"brick": {}}), network(ns3={"obstacles": "transparent"})):
        made.start(setup_of([Node(name="a"), Node(name="b")], obstacles=(WALL,)))
        made.end(0)


def test_without_the_wheel_the_error_says_what_to_install():
    code = """
    import importlib.metadata as metadata
    def missing(name):
        raise metadata.PackageNotFoundError(name)
    metadata.distribution = missing
    from bridges.ns3.wheel import find_wheel
    find_wheel()
    """
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(row[4:] for row in code.splitlines())],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert "pip install 'robonet[ns3]'" in done.stderr.splitlines()[-1]
