"""Statistics of flows: against a plain recomputation, through the XML that parsers of FlowMonitor's files read."""

import random
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from robonet.errors import RecordError
from robonet.link.messages import BROADCAST, FIRST_GROUP, REASONS
from robonet.record.flows import COLUMNS, FlowTable
from robonet.record.tables import Recorder, read_table

NODES = ["scout0", "scout1", "scout2", "base"]
GROUPS = ["scout"]
TIMES = (
    "timeFirstTxPacket", "timeFirstRxPacket", "timeLastTxPacket", "timeLastRxPacket", "delaySum", "jitterSum",
    "lastDelay", "maxDelay", "minDelay",
)  # fmt: skip
COUNTS = ("txBytes", "rxBytes", "txPackets", "rxPackets", "lostPackets", "timesForwarded")


def address(number):
    return (
        bytes([255] * 4)
        if number == BROADCAST
        else bytes([239 if number >= FIRST_GROUP else 10, 0, 0, number % 256 + 1])
    )


def table():
    return FlowTable(NODES, GROUPS, address)


def parse(path):
    """What users' scripts make of such a file: statistics by five-tuple, all as numbers."""
    root = ElementTree.parse(path).getroot()
    assert root.tag == "FlowMonitor"
    (classifier,) = root.findall("Ipv4FlowClassifier")
    tuples = {}
    for flow in classifier.findall("Flow"):
        assert flow.get("protocol") == "17"
        ends = flow.get("sourceAddress"), flow.get("destinationAddress")
        tuples[int(flow.get("flowId"))] = (*ends, int(flow.get("sourcePort")), int(flow.get("destinationPort")))
    found = {}
    for flow in root.findall("FlowStats/Flow"):
        numbers = {name: int(flow.get(name)) for name in COUNTS}
        for name in TIMES:
            text = flow.get(name)
            assert text.startswith("+") and text.endswith(".0ns")
            numbers[name] = int(float(text[:-2])) if float(text[:-2]) < 2**53 else text
        numbers["packetsDropped"] = {e.get("reason"): int(e.get("number")) for e in flow.findall("packetsDropped")}
        numbers["bytesDropped"] = {e.get("reason"): int(e.get("bytes")) for e in flow.findall("bytesDropped")}
        found[tuples[int(flow.get("flowId"))]] = numbers
    assert len(found) == len(tuples)
    return found


@dataclass
class History:
    """All that happened to one flow, kept."""

    sent: list = field(default_factory=list)
    received: list = field(default_factory=list)
    lost: list = field(default_factory=list)

    def statistics(self):
        delays = [delay for _, delay, _, _ in self.received]
        dropped = Counter(reason for reason, _ in self.lost)
        total = Counter()
        for reason, size in self.lost:
            total[reason] += size
        return {
            "timeFirstTxPacket": self.sent[0][0],
            "timeLastTxPacket": self.sent[-1][0],
            "timeFirstRxPacket": self.received[0][0] if self.received else 0,
            "timeLastRxPacket": self.received[-1][0] if self.received else 0,
            "delaySum": sum(delays),
            "jitterSum": sum(abs(b - a) for a, b in pairwise(delays)),
            "lastDelay": delays[-1] if delays else 0,
            "maxDelay": max(delays, default=0),
            "minDelay": min(delays, default="+9223372036854775807.0ns"),
            "txBytes": sum(size for _, size in self.sent),
            "rxBytes": sum(size for _, _, size, _ in self.received),
            "txPackets": len(self.sent),
            "rxPackets": len(self.received),
            "lostPackets": len(self.lost),
            "timesForwarded": sum(hops - 1 for _, _, _, hops in self.received),
            "packetsDropped": dict(dropped),
            "bytesDropped": dict(total),
        }


def random_history(seed):
    """Packets between random ends, and what becomes of them, in the table and plainly kept."""
    draw = random.Random(seed)
    flows, histories = table(), defaultdict(History)
    now = 0
    for _ in range(400):
        now += draw.randrange(1_000_000_000)
        key = (draw.randrange(3), draw.choice([3, FIRST_GROUP, BROADCAST]), 49152, draw.choice([49152, 698]))
        size = draw.randrange(28, 1500)
        flows.sent(*key, now, size)
        histories[key].sent.append((now, size))
        fate = draw.random()
        if fate < 0.6:
            delay, hops = draw.randrange(1, 50_000_000), draw.randrange(1, 9)
            flows.received(*key, now + delay, delay, size, hops)
            histories[key].received.append((now + delay, delay, size, hops))
        elif fate < 0.9:
            reason = draw.choice(REASONS)
            flows.lost(*key, reason, size)
            histories[key].lost.append((reason, size))
    return flows, histories


def dotted(number):
    return ".".join(map(str, address(number)))


@pytest.mark.parametrize("seed", range(5))
def test_the_xml_says_what_happened(tmp_path, seed):
    flows, histories = random_history(seed)
    flows.write_xml(tmp_path / "flows.xml")
    expected = {(dotted(a), dotted(b), *ports): past.statistics() for (a, b, *ports), past in histories.items()}
    assert parse(tmp_path / "flows.xml") == expected
    assert len(flows) == len(expected)


def test_three_packets_by_hand(tmp_path):
    """Delays of 5, 2 and 9 ms: jitters of 3 and 7."""
    flows = table()
    for number, (delay_ms, hops) in enumerate([(5, 1), (2, 3), (9, 2)]):
        start = number * 1_000_000_000
        flows.sent(0, 3, 49152, 49152, start, 92)
        flows.received(0, 3, 49152, 49152, start + delay_ms * 1_000_000, delay_ms * 1_000_000, 92, hops)
    flows.sent(0, 3, 49152, 49152, 3_000_000_000, 92)
    flows.lost(0, 3, 49152, 49152, "no_route", 92)
    flows.write_xml(tmp_path / "flows.xml")
    assert (tmp_path / "flows.xml").read_text() == (
        '<?xml version="1.0" ?>\n'
        "<FlowMonitor>\n"
        "  <FlowStats>\n"
        '    <Flow flowId="1" timeFirstTxPacket="+0.0ns" timeFirstRxPacket="+5000000.0ns"'
        ' timeLastTxPacket="+3000000000.0ns" timeLastRxPacket="+2009000000.0ns" delaySum="+16000000.0ns"'
        ' jitterSum="+10000000.0ns" lastDelay="+9000000.0ns" maxDelay="+9000000.0ns" minDelay="+2000000.0ns"'
        ' txBytes="368" rxBytes="276" txPackets="4" rxPackets="3" lostPackets="1" timesForwarded="3">\n'
        '      <packetsDropped reasonCode="0" number="1" reason="no_route" />\n'
        '      <bytesDropped reasonCode="0" bytes="92" reason="no_route" />\n'
        "    </Flow>\n"
        "  </FlowStats>\n"
        "  <Ipv4FlowClassifier>\n"
        '    <Flow flowId="1" sourceAddress="10.0.0.1" destinationAddress="10.0.0.4" protocol="17"'
        ' sourcePort="49152" destinationPort="49152" />\n'
        "  </Ipv4FlowClassifier>\n"
        "</FlowMonitor>\n"
    )


def test_every_reason_has_a_code_of_its_own(tmp_path):
    """Those that ns-3's IPv4 probe has keep its codes: 0 no route, 1 TTL, 3 queue; its last is 8."""
    flows = table()
    flows.sent(0, 3, 1, 1, 0, 28)
    for reason in REASONS:
        flows.lost(0, 3, 1, 1, reason, 28)
    flows.write_xml(tmp_path / "flows.xml")
    elements = ElementTree.parse(tmp_path / "flows.xml").getroot().iter("packetsDropped")
    codes = {element.get("reason"): int(element.get("reasonCode")) for element in elements}
    assert set(codes) == set(REASONS) and len(set(codes.values())) == len(REASONS)
    assert (codes.pop("no_route"), codes.pop("ttl"), codes.pop("queue_full")) == (0, 1, 3)
    assert min(codes.values()) > 8


def test_the_table_says_the_same(tmp_path):
    flows, histories = random_history(7)
    recorder = Recorder(tmp_path)
    written = recorder.table("flows", COLUMNS, flows.labels)
    for row in flows.rows():
        written.add(row)
    recorder.flush()
    columns = read_table(tmp_path / "flows")
    assert columns["flow"].tolist() == list(range(1, len(histories) + 1))
    names = {**dict(enumerate(NODES)), FIRST_GROUP: "scout", BROADCAST: "*"}
    for index, ((source, destination, *ports), past) in enumerate(histories.items()):
        row = {name: column[index] for name, column in columns.items()}
        known = past.statistics()
        assert (row["source"], row["destination"]) == (names[source], names[destination])
        assert [row["source_port"], row["destination_port"]] == ports
        assert row["first_sent_ns"] == known["timeFirstTxPacket"] and row["last_sent_ns"] == known["timeLastTxPacket"]
        assert (row["delay_sum_ns"], row["jitter_sum_ns"]) == (known["delaySum"], known["jitterSum"])
        assert (row["sent_packets"], row["sent_bytes"]) == (known["txPackets"], known["txBytes"])
        assert (row["received_packets"], row["received_bytes"]) == (known["rxPackets"], known["rxBytes"])
        assert (row["lost_packets"], row["times_forwarded"]) == (known["lostPackets"], known["timesForwarded"])
        assert {r: row[f"lost_{r}"] for r in REASONS if row[f"lost_{r}"]} == known["packetsDropped"]
        delays = (row["last_delay_ns"], row["smallest_delay_ns"], row["largest_delay_ns"])
        assert delays == (known["lastDelay"], known["minDelay"], known["maxDelay"])


def test_what_never_arrived_has_no_times():
    flows = table()
    flows.sent(0, 3, 49152, 49152, 5, 92)
    (row,) = flows.rows()
    found = dict(zip(COLUMNS, row, strict=True))
    never = {name for name, value in found.items() if value == -1}
    assert never == {"first_received_ns", "last_received_ns", "last_delay_ns", "smallest_delay_ns", "largest_delay_ns"}


def test_a_file_that_cannot_be_written_says_which(tmp_path):
    with pytest.raises(RecordError, match="nowhere/flows.xml: No such file or directory"):
        table().write_xml(tmp_path / "nowhere" / "flows.xml")
    assert not list(tmp_path.iterdir())
