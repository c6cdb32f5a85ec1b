"""ns-2 as the network: what it promises, what it refuses, and that it never hangs nor stays behind."""

import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import psutil
import pytest
from conftest import ROOT, run_json, wait_until

from bridges.ns2 import child
from bridges.ns2.model import LARGEST_PAYLOAD_BYTES, Ns2Network
from robonet.errors import SimulatorError, UserError
from robonet.link.messages import BROADCAST, FIRST_GROUP, REASONS, Node
from robonet.link.simulators import Setup, Transmissions
from robonet.scenario.ns2 import Ns2
from robonet.scenario.schema import Network
from robonet.scenario.wifi import Wifi
from robonet.testing import check_network, network_in_memory

STEP_NS = 100_000_000
LAWS = [Ns2(propagation="two_ray_ground"), Ns2(propagation="friis"), Ns2(propagation="range")]


@pytest.fixture(autouse=True)
def installed():
    if shutil.which("ns") is None:
        if "CI" in os.environ:
            pytest.fail("ns-2 is not installed: apt-get install ns2")
        pytest.skip("ns-2 is not installed")


@pytest.fixture(autouse=True)
def nothing_left(installed):
    yield
    wait_until(lambda: not running(), 10, "the end of every ns")


def running():
    """Processes of ns-2 below this one."""
    return [p for p in psutil.Process().children(recursive=True) if p.status() != "zombie" and p.name() == "ns"]


def model(wifi=None, **ns2):
    return Ns2Network(Network(ns2=Ns2(**ns2), wifi=Wifi.model_validate(wifi or {})))


def setup(nodes, seed=1, wants=(), step_ns=STEP_NS):
    nodes = [Node(name=f"n{i}") for i in range(nodes)] if isinstance(nodes, int) else nodes
    return Setup(
        seed=seed, step_ns=step_ns, steps=1000, arena_low_m=(-1e3, -1e3), arena_high_m=(1e3, 1e3), walls=True,
        obstacles=[], nodes=nodes, groups=sorted({g for n in nodes for g in n.groups}), wants=frozenset(wants),
    )  # fmt: skip


def line(count, spacing=100.0):
    return np.column_stack((np.arange(count) * spacing, np.zeros(count), np.zeros(count)))


class Story:
    """A network that is driven by hand; packets are (time, source, destination) or with a size."""

    def __init__(self, network, nodes, step_ns=STEP_NS, **more):
        self.network, self.step_ns, self.now, self.sent = network, step_ns, 0, 0
        self.arrivals, self.failures = [], []
        self.offer = network.start(setup(nodes, step_ns=step_ns, **more))

    def run(self, steps, xyz, *sends):
        first = len(self.arrivals)
        for _ in range(steps):
            until = self.now + self.step_ns
            due = [send for send in sends if self.now <= send[0] < until]
            rows = [(self.sent + i, *send[:3], send[3] if len(send) > 3 else 64) for i, send in enumerate(due)]
            self.sent += len(rows)
            self.outcome = self.network.step(until, np.asarray(xyz, dtype=float), Transmissions.of(rows))
            self.arrivals += [(p, r, t, h) for p, t, r, _, h in self.outcome.arrivals.tolist()]
            self.failures += [(p, REASONS[reason]) for p, reason in self.outcome.failures.tolist()]
            self.now = until
        return self.arrivals[first:]

    def end(self):
        return self.network.end(self.now)


# --- what it does ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("routing", ["aodv", "dsdv", "none"])
def test_it_passes_the_conformance_kit(routing):
    check_network(lambda: network_in_memory(model(routing=routing)))


def test_one_hop_takes_as_long_as_its_frames():
    """ARP first; then 50 us of DIFS, up to 30 slots of 20 us, 192 us of preamble, 128 bytes, and LL's 25 us twice."""
    story = Story(model(rate_mbps=11), 2)
    story.run(20, line(2), (1_000_000_000, 0, 1), (1_500_000_000, 0, 1))
    (_, _, first, hops), (_, _, second, _) = story.arrivals
    assert hops == 1
    assert 2e-3 < first / 1e9 - 1.0 < 20e-3
    least = 50e-6 + 192e-6 + 128 * 8 / 11e6 + 50e-6
    assert least < second / 1e9 - 1.5 < least + 31 * 20e-6
    assert story.end()["packets"] == {"sent": 2, "delivered": 2, "dropped": {}}


def test_a_chain_is_found_and_used():
    """0 - 1 - 2 - 3 - 4, each hearing the next only."""
    story = Story(model(), 5)
    story.run(20, line(5), (0, 0, 4), (1_000_000_000, 0, 4), (1_500_000_000, 4, 0))
    assert [(packet, receiver, hops) for packet, receiver, _, hops in story.arrivals] == [
        (0, 4, 4),
        (1, 4, 4),
        (2, 0, 4),
    ]
    delays = [arrival[2] / 1e9 - sent for arrival, sent in zip(story.arrivals, (0.0, 1.0, 1.5), strict=True)]
    assert 10e-3 < delays[0] < 0.5  # a route is looked for
    assert 4 * 0.9e-3 < delays[1] < 4 * 1.6e-3  # 128 bytes at 2 Mbit/s, preamble, backoff: four times
    assert story.end()["hops"]["max"] == 4


def test_nobody_beyond_the_range_receives_anything():
    story = Story(model(), 2)
    story.run(250, line(2, 121.0), (0, 0, 1), (0, 1, BROADCAST))  # AODV asks for 19 s
    assert not story.arrivals
    assert story.failures == [(0, "no_route")]
    assert story.end()["packets"] == {"sent": 1, "delivered": 0, "dropped": {"no_route": 1}}


@pytest.mark.parametrize("ns2", LAWS, ids=lambda ns2: ns2.propagation)
@pytest.mark.parametrize("wifi", [{}, {"range_m": 60.0}], ids=["120 m", "60 m"])
def test_the_range_is_a_sharp_border(ns2, wifi):
    """Around a sender: on the border, just outside, and far away."""
    range_m = wifi.get("range_m", 120.0)
    xyz = [(0, 0, 0), (range_m, 0, 0), (0, range_m + 1e-4, 0), (-range_m, 0, 0), (0, -500, 0)]
    story = Story(Ns2Network(Network(ns2=ns2, wifi=Wifi(**wifi))), 5, wants=("neighbours",))
    story.run(2, xyz, (0, 0, BROADCAST))
    assert sorted((receiver, hops) for _, receiver, _, hops in story.arrivals) == [(1, 1), (3, 1)]
    offsets = story.outcome.neighbours.offsets
    assert story.outcome.neighbours.nodes[offsets[0] : offsets[1]].tolist() == [1, 3]
    story.end()


def test_log_distance_as_in_wifi():
    """The same words, the same reach: 16.02 dBm, exponent 3, 46.68 dB at 1 m, -82 dBm: 51.5 m."""
    wifi = {"tx_power_dbm": 16.0206, "propagation": {"log_distance": {"exponent": 3.0}}}
    story = Story(model(wifi), 3)
    story.run(2, [(0, 0, 0), (51.4, 0, 0), (0, 51.6, 0)], (0, 0, BROADCAST))
    assert [receiver for _, receiver, _, _ in story.arrivals] == [1]
    story.end()


def test_robots_with_a_range_of_their_own():
    """Who shouts is heard afar, whoever sends first."""
    nodes = [
        Node(name="weak", equipment={"range_m": 30.0}),
        Node(name="usual"),
        Node(name="strong", equipment={"range_m": 800.0}),
    ]
    story = Story(model(), nodes)
    xyz = [(0, 0, 0), (100, 0, 0), (600, 0, 0)]
    story.run(3, xyz, (0, 0, BROADCAST), (100_000_000, 1, BROADCAST), (200_000_000, 2, BROADCAST))
    assert sorted(arrival[:2] for arrival in story.arrivals) == [(1, 0), (2, 0), (2, 1)]
    story.end()


def test_groups_self_and_what_is_too_long():
    nodes = [Node(name=f"n{i}", groups=["odd"] if i % 2 else []) for i in range(4)]
    story = Story(model(), nodes)
    largest = LARGEST_PAYLOAD_BYTES
    sends = ((0, 1, FIRST_GROUP), (5, 2, 2), (6, 2, 3, largest + 1), (7, 0, BROADCAST, largest + 1), (8, 3, 2, largest))
    story.run(10, line(4), *sends)
    assert sorted(story.arrivals)[0][:2] == (0, 3)
    assert sorted(story.arrivals)[0][3] == 2
    assert (1, 2, 5, 0) in story.arrivals
    assert [arrival[1] for arrival in story.arrivals if arrival[0] == 4] == [2]
    assert len(story.arrivals) == 3
    assert story.failures == [(2, "too_long")]
    report = story.end()
    assert report["packets"] == {"sent": 3, "delivered": 2, "dropped": {"too_long": 1}}
    assert report["multicasts"] == {"sent": 1, "receptions": 1}


def test_a_node_walks_out_of_range_and_back():
    story = Story(model(), 2)
    heard = []
    for step in range(40):
        distance = 100 + 2.0 * step if step < 20 else 100 + 2.0 * (40 - step)
        heard.append(bool(story.run(1, [(0, 0, 0), (distance, 0, 0)], (story.now, 0, BROADCAST))))
    assert heard == [True] * 11 + [False] * 19 + [True] * 10
    story.end()


def test_a_broken_link_is_noticed():
    """The receiver is gone between two packets: its frames are not answered."""
    story = Story(model(routing="aodv"), 2)
    story.run(5, line(2), (0, 0, 1))
    story.run(5, line(2, 300.0), (500_000_000, 0, 1))
    assert [arrival[0] for arrival in story.arrivals] == [0]
    assert story.failures == [(1, "retry_limit")]
    story.end()


def test_queues_overflow():
    story = Story(model(queue_packets=5), 2)
    story.run(3, line(2), (0, 0, 1), *[(200_000_000, 0, 1)] * 40)
    assert {reason for _, reason in story.failures} == {"queue_full"}
    assert len(story.arrivals) + len(story.failures) == 41
    story.end()


def test_what_ns2_never_mentions_again_is_unknown():
    """Nobody answers ARP, and there is no routing to ask again."""
    story = Story(model(routing="none"), 2, step_ns=1_000_000_000)
    story.run(70, line(2, 500.0), (0, 0, 1))
    assert story.failures == [(0, "unknown")]
    story.end()


TRAFFIC = [(i * 7_000_001, i % 10, (3 * i + 1) % 10) for i in range(250)]


def arrivals_of(seed=1, step_ns=STEP_NS):
    rng = np.random.default_rng(4)
    xyz = np.column_stack((rng.uniform(0, 250, (10, 2)), np.zeros(10)))
    story = Story(model(), 10, seed=seed, step_ns=step_ns)
    story.run(2_000_000_000 // step_ns, xyz, *TRAFFIC)
    report = story.end()
    assert report["packets"]["delivered"] > 200
    return story.arrivals, report["digest"]


def test_the_same_seed_gives_the_same_nanoseconds():
    assert arrivals_of() == arrivals_of()
    assert arrivals_of()[0] != arrivals_of(seed=2)[0]


def test_borders_leave_no_trace():
    """Steps of 10 ms, 100 ms and 2 s: everything arrives at the same nanosecond."""
    assert arrivals_of(step_ns=10_000_000)[0] == arrivals_of()[0] == arrivals_of(step_ns=2_000_000_000)[0]


SCENARIO = """
robonet: 1
name: with-ns2
seed: 3
duration_s: 3
step_s: 0.1
arena: {size_m: [60, 60]}
robots:
  - {name: scout, count: 5, controller: diffusion, params: {speed_m_s: 1.0}}
stations:
  - {name: base, at_m: [0, 0], controller: beacon}
traffic:
  - {cbr: {senders: scout, to: base, rate_hz: 5, payload_bytes: 64}}
network:
  model: ns2
"""


def test_a_run_from_the_command_line(tmp_path):
    path = tmp_path / "ns2.yaml"
    path.write_text(SCENARIO)
    first, again = (run_json(path, "--out", tmp_path / name, cwd=ROOT) for name in ("a", "b"))
    assert first["delivery_ratio"] > 0.9
    assert first["digest"] == again["digest"]


# --- what it refuses -------------------------------------------------------------------------------------

REFUSED = {
    "standard": "802.11a",
    "rate_mbps": 6.0,
    "broadcast_rate_mbps": 54.0,
    "fading": "rayleigh",
    "shadowing": {"sigma_db": 4.0},
    "arp": False,
    "routing": "olsr",
    "captures": {},
    "flows": True,
    "noise_figure_db": 7.0,
    "max_hops": 64,
    "aodv": {"hello": True},
    "mac": {"rate_control": "arf"},
    "reception": {"capture_db": 5.0},
    "materials": {"paper": {"wall_db": 1.0}},
    "propagation": {"two_ray_ground": {"minimum_m": 0.5}},
}


@pytest.mark.parametrize("word", REFUSED)
def test_what_ns2_cannot_express_is_refused_by_name(word):
    with pytest.raises(UserError, match=rf"network\.wifi\.{word}"):
        model({word: REFUSED[word]}).start(setup(2))


def test_all_refusals_come_at_once():
    with pytest.raises(UserError) as refused:
        model(REFUSED).start(setup([Node(name="x", equipment={"tx_power_dbm": 3.0})]))
    assert all(f"network.wifi.{word}" in str(refused.value) for word in REFUSED)
    assert "radio.tx_power_dbm of 'x'" in str(refused.value)


def test_what_says_the_same_as_ns2_is_accepted():
    wifi = {"standard": "802.11b", "rate_mbps": 11.0, "arp": True, "routing": "aodv", "aodv": {"hello": False},
            "mac": {"retry_limit": 4, "queue_packets": 20}, "olsr": {"willingness": 5}}  # fmt: skip
    story = Story(model(wifi), 2)
    assert story.run(2, line(2), (0, 0, 1))
    story.end()


def test_obstacles_are_refused_unless_signals_may_pass():
    from robonet.link.messages import Obstacle

    blocked = setup(2)._replace(obstacles=[Obstacle(center_m=(50.0, 0.0), radius_m=5.0)])
    with pytest.raises(UserError, match=r"arena\.obstacles.*transparent"):
        model().start(blocked)
    network = model(obstacles="transparent")
    network.start(blocked)
    network.end(0)


@pytest.mark.parametrize("place, text", [((2e5, 0, 0), "too far outside"), ((5, 0, 2), "above the ground")])
def test_places_that_ns2_does_not_have(place, text):
    story = Story(model(), 2)
    with pytest.raises(SimulatorError, match=rf"'n1' is .*{text}"):
        story.run(1, [(0, 0, 0), place])
    story.end()


def test_without_ns2_the_error_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="apt-get install ns2"):
        model().start(setup(2))


# --- how it fails ----------------------------------------------------------------------------------------


def test_a_killed_ns2_is_one_clear_error():
    story = Story(model(), 2)
    story.run(2, line(2))
    os.kill(story.network._child.pid, signal.SIGKILL)
    began = time.monotonic()
    with pytest.raises(SimulatorError, match=r"ns-2 ended.*\(killed by signal 9\)"):
        story.run(1, line(2))
    assert time.monotonic() - began < 5
    assert not running()


def test_a_stopped_ns2_misses_its_deadline():
    story = Story(model(step_timeout_s=0.5), 2)
    os.kill(story.network._child.pid, signal.SIGSTOP)
    with pytest.raises(SimulatorError, match=r"did not finish simulating the step from 0 to 0.1 s within 0.5 s"):
        story.run(1, line(2))
    assert not running()


def test_ns2_ends_when_robonet_is_killed():
    code = (
        "import sys, time; sys.path[:0] = ['tests', '.']\n"
        "from test_ns2 import *\n"
        "network = model(); network.start(setup(3)); print(network._child.pid, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    pid = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    wait_until(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == "zombie", 10, "the end of ns")


def test_a_forgotten_network_takes_ns2_with_it():
    network = model()
    network.start(setup(2))
    assert running()
    del network
    wait_until(lambda: not running(), 10, "the end of ns")


IMPOSTOR = """#!{python}
import os, socket, subprocess, sys
link = socket.create_connection(("127.0.0.1", int(sys.argv[-1])))
link.sendall(os.environ["ROBONET_NS2_TOKEN"].encode() + b"\\n")
link.makefile().readline()
link.sendall({answers[0]!r})
link.makefile().readline()
link.sendall({answers[1]!r})
link.makefile().readline()
"""
PACKET = b"--- 0 cbr 100 [13a 1 0 800] ------- [%d:10 %d:10 30 1] [%d] 1 0\ndone 0.1\n"
GARBAGE = {
    "words": b"hello\ndone 0.1\n",
    "half a line": b"r 0.05 _1_ AGT cbr\ndone 0.1\n",
    "not text": b"\xff\x00\xfe\ndone 0.1\n",
    "a packet that was never sent": b"r 0.050000000 _1_ AGT  " + PACKET % (0, 1, 3),
    "a node that does not exist": b"r 0.050000000 _9_ AGT  " + PACKET % (0, 1, 0),
    "another receiver": b"r 0.050000000 _1_ AGT  " + PACKET % (0, 0, 0),
    "another time": b"r 7.000000000 _1_ AGT  " + PACKET % (0, 1, 0),
}


def pretend(monkeypatch, folder, text):
    """Put a program in the place of ns."""
    program = folder / "ns"
    program.write_text(text)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


@pytest.mark.parametrize("name", GARBAGE)
def test_garbage_is_refused(monkeypatch, tmp_path, name):
    pretend(monkeypatch, tmp_path, IMPOSTOR.format(python=sys.executable, answers=(b"done 0\n", GARBAGE[name])))
    story = Story(model(step_timeout_s=20.0), 2)
    with pytest.raises(SimulatorError, match="not understood"):
        story.run(1, line(2), (0, 0, 1))


STRANGER = """#!{python}
import os, socket, sys
port = int(sys.argv[-1])
for words in (b"GET / HTTP/1.0\\r\\n" * 8, b"", b"0" * 64 + b"\\n"):
    with socket.create_connection(("127.0.0.1", port)) as link:
        link.sendall(words)
os.execv({ns!r}, ["ns", *sys.argv[1:]])
"""


def test_strangers_are_turned_away(monkeypatch, tmp_path):
    pretend(monkeypatch, tmp_path, STRANGER.format(python=sys.executable, ns=shutil.which("ns")))
    story = Story(model(), 2)
    assert story.run(2, line(2), (0, 0, 1))
    story.end()


def test_a_program_that_is_not_ns2(monkeypatch, tmp_path):
    pretend(monkeypatch, tmp_path, "#!/bin/sh\necho 'what is this?' >&2\nexit 3\n")
    with pytest.raises(
        SimulatorError, match=r"(?s)while it was starting \(exit code 3\); its last words:\n  what is this\?"
    ):
        model().start(setup(2))


def test_the_token_is_on_no_command_line():
    story = Story(model(), 2)
    command = psutil.Process(story.network._child.pid).cmdline()
    assert command[1:] == [str(child.SCRIPT), command[-1]]
    assert command[-1].isdigit()
    story.end()
