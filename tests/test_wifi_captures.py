"""Captures of a run as users make them, read by Wireshark's tshark: nothing malformed, and its counts are robonet's.

    scout0 ---110 m--- scout1 ---110 m--- scout2 ---90 m--- base

Scouts tell the base their names and the time, and send it a kilobyte ten times a second; the base says that it is there.
"""

import math
from collections import Counter, defaultdict
from itertools import pairwise
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from conftest import robonet, run_json
from test_wifi_model import World, line
from tshark import assert_clean, dissect

from robonet.link.messages import BROADCAST
from robonet.record.tables import read_table

MINDS = '''
import robonet

class Herald(robonet.Controller):
    """Tells the base its name and the time."""

    def step(self):
        if self.now < 3_000_000_000:
            self.radio.send("base", f"{self.name} at {self.now}".encode())
'''

SCENARIO = """
robonet: 1
name: air
seed: 5
duration_s: 4
step_s: 0.1
arena: {size_m: [500, 100]}
robots:
  - {name: scout, count: 3, place: {at_m: [[-110, 0], [0, 0], [110, 0]]}, controller: "minds.py:Herald"}
stations:
  - {name: base, at_m: [200, 0], controller: beacon}
traffic:
  - {cbr: {senders: scout, to: base, rate_hz: 10, payload_bytes: 1000, stop_s: 3}}
network:
  model: wifi
  wifi:
    routing: aodv
    arp: true
    mac: {rts_threshold_bytes: 600}
    captures: {prefix: air}
"""

NAMES = ("scout0", "scout1", "scout2", "base")
MAC = {name: f"02:00:00:00:00:{i + 1:02x}" for i, name in enumerate(NAMES)}
IP = {name: f"10.0.0.{i + 1}" for i, name in enumerate(NAMES)}
EVERYONE = "ff:ff:ff:ff:ff:ff"
DATA, RTS, CTS, ACK = "0x0020", "0x001b", "0x001c", "0x001d"
FIELDS = {
    "time": "frame.time_epoch", "signal": "radiotap.dbm_antsignal", "kind": "wlan.fc.type_subtype", "ra": "wlan.ra",
    "ta": "wlan.ta", "sequence": "wlan.seq", "retry": "wlan.fc.retry", "arp": "arp.opcode", "aodv": "aodv.type",
    "port": "udp.dstport", "source": "ip.src", "destination": "ip.dst", "ttl": "ip.ttl", "payload": "udp.payload",
    "length": "frame.len", "radiotap": "radiotap.length",
}  # fmt: skip
KINDS_OF_AODV = {
    ("1", True): "RouteRequest",
    ("2", True): "Hello",
    ("2", False): "RouteReply",
    ("4", False): "RouteReplyAck",
}


class Capture:
    """One file, as tshark reads it."""

    def __init__(self, path, name):
        self.path, self.name = path, name
        rows = dissect(path, *FIELDS.values())
        self.frames = [SimpleNamespace(**{key: row[field] for key, field in FIELDS.items()}) for row in rows]
        for frame in self.frames:
            seconds, nanoseconds = frame.time.split(".")
            frame.time = int(seconds) * 10**9 + int(nanoseconds.ljust(9, "0"))
            frame.is_data = frame.kind == DATA
            frame.bytes = int(frame.length) - int(frame.radiotap or 0)
            frame.payload = bytes.fromhex(frame.payload.replace(":", ""))

    @property
    def sent(self):
        """What was sent has no signal strength: radiotap only."""
        return [frame for frame in self.frames if not frame.signal]

    @property
    def own_data(self):
        return [frame for frame in self.frames if frame.is_data and frame.ta == MAC[self.name]]


def simulate(folder, *settings):
    path = folder / "air.yaml"
    path.write_text(SCENARIO)
    (folder / "minds.py").write_text(MINDS)
    options = [option for setting in settings for option in ("--set", f"network.wifi.{setting}")]
    summary = run_json(path, *options, "--out", folder / "out")
    radios = read_table(folder / "out" / "tables" / "radios")
    columns = [name for name in radios if name != "node"]
    by_node = {node: {name: int(radios[name][i]) for name in columns} for i, node in enumerate(radios["node"].tolist())}
    files = {
        path.name.split("-")[1]: Capture(path, path.name.split("-")[1])
        for path in sorted((folder / "out" / "captures").iterdir())
    }
    return SimpleNamespace(folder=folder / "out", summary=summary, radios=by_node, files=files)


@pytest.fixture(scope="module")
def aodv(tmp_path_factory):
    return simulate(tmp_path_factory.mktemp("aodv"))


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    return simulate(tmp_path_factory.mktemp("bare"), 'captures.format="802.11"', "captures.nodes=[scout1, base]")


@pytest.fixture(scope="module")
def olsr(tmp_path_factory):
    return simulate(
        tmp_path_factory.mktemp("olsr"),
        "routing=olsr",
        "olsr={hello_interval_s: 0.5, tc_interval_s: 1}",
        "captures.nodes=[scout2, base]",
    )


def test_there_is_a_file_a_node_that_is_listened_to(aodv, bare):
    listed = [sorted(path.name for path in (run.folder / "captures").iterdir()) for run in (aodv, bare)]
    assert listed == [sorted(f"air-{name}-0.pcap" for name in NAMES), ["air-base-0.pcap", "air-scout1-0.pcap"]]


@pytest.mark.parametrize("run", ["aodv", "bare", "olsr"])
def test_tshark_finds_nothing_wrong(run, request):
    for capture in request.getfixturevalue(run).files.values():
        assert len(capture.frames) > 50
        assert_clean(capture.path)


def test_each_nodes_frames_are_as_many_as_its_radio_counted(aodv):
    for name, capture in aodv.files.items():
        counted = aodv.radios[name]
        sent = capture.sent
        data = [frame for frame in sent if frame.is_data]
        assert {frame.ta for frame in data} == {MAC[name]}
        assert sum(frame.ra != EVERYONE for frame in data) == counted["unicast_frames"]
        assert sum(frame.ra == EVERYONE for frame in data) == counted["broadcast_frames"]
        assert sum(frame.kind in (RTS, CTS, ACK) for frame in sent) == counted["answer_frames"]
        assert sum(frame.retry == "1" for frame in data) == counted["retries"]
        assert len(capture.frames) - len(sent) == counted["decoded"]
        assert [frame.time for frame in capture.frames] == sorted(frame.time for frame in capture.frames)
    assert aodv.summary["radios"]["retries"] > 0


def test_frames_without_signal_strength_are_as_many_too(bare):
    for name, capture in bare.files.items():
        counted = bare.radios[name]
        assert not any(frame.signal for frame in capture.frames)
        assert sum(frame.ra != EVERYONE for frame in capture.own_data) == counted["unicast_frames"]
        assert sum(frame.ra == EVERYONE for frame in capture.own_data) == counted["broadcast_frames"]
        all_sent = counted["unicast_frames"] + counted["broadcast_frames"] + counted["answer_frames"]
        assert len(capture.frames) == all_sent + counted["decoded"]


def test_the_format_of_captures_changes_nothing_but_them(aodv, bare):
    assert bare.summary["digest"] == aodv.summary["digest"]
    radiotap, plain = aodv.files["scout1"].frames, bare.files["scout1"].frames
    assert [(f.time, f.kind, f.bytes) for f in plain] == [(f.time, f.kind, f.bytes) for f in radiotap]


def content_of(frame):
    if frame.arp:
        return "ArpMessage"
    if frame.port == "654":
        return KINDS_OF_AODV[frame.aodv, frame.ra == EVERYONE]
    assert frame.port == "49152"
    return "Datagram"


def test_what_frames_carry_is_counted_alike(aodv):
    found = Counter(content_of(frame) for capture in aodv.files.values() for frame in capture.sent if frame.is_data)
    assert found == aodv.summary["radios"]["frames_by_content"]
    assert set(found) >= {"ArpMessage", "RouteRequest", "RouteReply", "Hello", "Datagram"}


def test_questions_and_answers_of_arp_are_counted_alike(aodv):
    firsts = [frame for capture in aodv.files.values() for frame in capture.sent if frame.arp and frame.retry != "1"]
    messages = aodv.summary["radios"]["messages"]
    found = Counter(frame.arp for frame in firsts)
    assert (found["1"], found["2"]) == (messages["arp_request"], messages["arp_reply"])
    assert all((frame.ra == EVERYONE) == (frame.arp == "1") for frame in firsts)


def test_requests_and_replies_of_aodv_are_counted_alike(aodv):
    firsts = [frame for capture in aodv.files.values() for frame in capture.sent if frame.aodv and frame.retry != "1"]
    messages = aodv.summary["radios"]["messages"]
    found = Counter(KINDS_OF_AODV[frame.aodv, frame.ra == EVERYONE] for frame in firsts)
    assert found["RouteRequest"] == messages["rreq"]
    assert found["RouteReply"] == messages["rrep"]
    assert found["Hello"] <= messages["hello"] <= found["Hello"] + len(NAMES)  # the last may wait out their jitter
    assert all(frame.destination == "255.255.255.255" for frame in firsts if frame.ra == EVERYONE)
    assert {frame.source for frame in firsts} == set(IP.values())


def test_olsr_is_counted_alike(olsr):
    for name, capture in olsr.files.items():
        greetings = [frame for frame in capture.sent if frame.port == "698"]
        calls = [frame for frame in capture.sent if frame.port == "49152" and frame.ra == EVERYONE]
        assert len(greetings) > 1 and all(frame.destination == "255.255.255.255" for frame in greetings)
        questions = [frame for frame in capture.sent if frame.arp == "1"]
        assert len(greetings) + len(calls) + len(questions) == olsr.radios[name]["broadcast_frames"]
        assert len(calls) == (olsr.summary["broadcasts"]["sent"] if name == "base" else 0)
        kinds = dissect(capture.path, "olsr.message_type", where="olsr")
        assert len(kinds) == sum(frame.port == "698" for frame in capture.frames)
        assert {kind for row in kinds for kind in row["olsr.message_type"].split(",")} == {"1", "2"}


def test_the_bytes_that_controllers_send_are_on_the_air(aodv):
    """From their sources to the base, and those of background traffic are zeros."""
    base = aodv.files["base"]
    expected = {f"{name} at {step * 100_000_000}".encode() for name in NAMES[:3] for step in range(30)}
    heard = [
        f for f in base.frames if f.signal and f.port == "49152" and f.ra == MAC["base"] and f.destination == IP["base"]
    ]
    texts = {frame.payload for frame in heard if len(frame.payload) < 100}
    packets = read_table(aodv.folder / "tables" / "packets")
    delivered = packets["fate"] == "delivered"
    assert texts <= expected
    assert len(texts) == ((packets["size_bytes"] < 100) & delivered).sum()
    for name in NAMES[:3]:
        own = {f.payload for f in aodv.files[name].own_data if f.source == IP[name] and f.port == "49152"}
        unsent = {text for text in expected if text.startswith(name.encode())} - own
        dropped = (packets["source"] == name) & (packets["size_bytes"] < 100) & (packets["fate"] == "no_route")
        assert {text for text in own if len(text) < 100} <= expected
        assert len(unsent) == dropped.sum() < 5  # more than three for one neighbour do not wait for ARP
        assert bytes(1000) in own
    calls = {frame.payload for frame in base.own_data if frame.ra == EVERYONE and frame.port == "49152"}
    assert calls == {b"base".ljust(32, b"\0")}


def test_time_to_live_falls_at_each_hop(aodv):
    lives = defaultdict(set)
    for name in NAMES[:3]:
        for frame in aodv.files[name].own_data:
            if frame.port == "49152" and frame.source == IP["scout0"]:
                lives[name].add(frame.ttl)
    assert lives == {"scout0": {"64"}, "scout1": {"63"}, "scout2": {"62"}}


def test_sequence_numbers_increase_and_retries_repeat_them(aodv):
    has_retries = False
    for capture in aodv.files.values():
        numbers = [(int(frame.sequence), frame.retry, frame.payload) for frame in capture.own_data]
        assert numbers[0][:2] == (0, "0")
        for (before, _, old), (sequence, retry, new) in pairwise(numbers):
            if sequence == before:
                has_retries = True
                assert retry == "1" and new == old
            else:
                assert sequence == (before + 1) % 4096
        assert all(frame.retry == "0" for frame in capture.own_data if frame.ra == EVERYONE)
    assert has_retries


def test_long_frames_are_cleared_first_and_short_ones_are_not(aodv):
    cleared = 0
    for capture in aodv.files.values():
        for before, frame in pairwise(capture.frames):
            if frame.is_data and not frame.signal and frame.ra != EVERYONE:
                is_cleared = before.kind == CTS and before.ra == MAC[capture.name] and before.signal != ""
                assert is_cleared == (frame.bytes > 600)
                cleared += is_cleared
                if is_cleared:
                    assert frame.time - before.time == 16_000
        requests = sum(frame.kind == RTS for frame in capture.sent)
        assert requests >= sum(frame.is_data and frame.bytes > 600 for frame in capture.sent)
    assert cleared > 90


def test_signals_are_those_of_the_distance(aodv):
    for hearer, speaker, distance in (("base", "scout2", 90), ("scout2", "base", 90), ("scout1", "scout0", 110)):
        heard = {f.signal for f in aodv.files[hearer].frames if f.is_data and f.signal and f.ta == MAC[speaker]}
        assert heard == {str(round(-82 - 30 * math.log10(distance / 120)))}


def test_a_frame_is_sent_at_its_beginning_and_heard_at_its_end(aodv):
    """1064 bytes take 1444 us at 6 Mbit/s."""
    sent = {f.sequence: f.time for f in aodv.files["scout2"].own_data if f.bytes == 1064}  # a retry writes over it
    heard = {f.sequence: f.time for f in aodv.files["base"].frames if f.ta == MAC["scout2"] and f.bytes == 1064}
    assert len(heard) > 50
    assert {heard[sequence] - sent[sequence] for sequence in heard} == {1_444_000}


def test_flows_say_the_same_as_packets(aodv, olsr):
    for run in (aodv, olsr):
        root = ElementTree.parse(run.folder / "flows.xml").getroot()
        tuples = {flow.get("flowId"): flow for flow in root.find("Ipv4FlowClassifier")}
        packets, flows = (read_table(run.folder / "tables" / name) for name in ("packets", "flows"))
        sent, received = Counter(packets["source"].tolist()), Counter()
        for source, fate in zip(packets["source"].tolist(), packets["fate"].tolist(), strict=True):
            received[source] += fate == "delivered"
        seen = set()
        for flow in root.find("FlowStats"):
            five = tuples[flow.get("flowId")]
            source = next(name for name in NAMES if IP[name] == five.get("sourceAddress"))
            seen.add(source)
            if five.get("destinationAddress") == "255.255.255.255":
                assert int(flow.get("txPackets")) == run.summary["broadcasts"]["sent"]
                assert int(flow.get("rxPackets")) == run.summary["broadcasts"]["receptions"]
                continue
            assert five.get("destinationAddress") == IP["base"]
            counts = [int(flow.get(key)) for key in ("txPackets", "rxPackets", "lostPackets")]
            assert counts == [sent[source], received[source], sent[source] - received[source]]
            of_source = (packets["source"] == source) & (packets["fate"] == "delivered")
            delays = (packets["ended_ns"] - packets["sent_ns"])[of_source]
            assert flow.get("delaySum") == f"+{delays.sum()}.0ns"
            assert int(flow.get("rxBytes")) == (packets["size_bytes"][of_source] + 28).sum()
            assert int(flow.get("timesForwarded")) == (packets["hops"][of_source].astype(int) - 1).sum()
        assert seen == set(NAMES)
        assert flows["sent_packets"].sum() == run.summary["packets"]["sent"] + run.summary["broadcasts"]["sent"]
        assert flows["lost_packets"].sum() == sum(run.summary["packets"]["dropped"].values())


@pytest.mark.parametrize("standard", ["802.11a", "802.11b", "802.11g"])
@pytest.mark.parametrize("routing", ["anthocnet", "flooding"])
def test_every_standard_and_routing_can_be_captured(standard, routing, tmp_path):
    world = World(line(4), standard=standard, routing=routing, arp=True, folder=tmp_path, captures={"nodes": ("n1",)})
    for i in range(10):
        world.send(0, 3, i * 100_000_000, 300)
        world.send(2, BROADCAST, i * 100_000_000 + 20_000_000)
    world.run(2).end()
    (path,) = (tmp_path / "captures").iterdir()
    assert path.name == "wifi-n1-0.pcap"
    assert_clean(path)
    rates = {row["radiotap.datarate"] for row in dissect(path, "radiotap.datarate")}
    assert rates == {"1" if standard == "802.11b" else "6"}


def test_a_capture_of_somebody_who_is_not_there_is_refused(tmp_path):
    (tmp_path / "minds.py").write_text(MINDS)
    path = tmp_path / "air.yaml"
    path.write_text(SCENARIO.replace("{prefix: air}", "{prefix: air, nodes: [scout1, scuot2]}"))
    done = robonet("check", path)
    assert done.returncode == 2
    assert "scuot2" in done.stdout + done.stderr
    assert "scout1" not in done.stderr.replace("scuot2", "").split("did you mean")[0]
