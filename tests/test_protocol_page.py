"""docs/protocol.md is true: its example, decoded by another msgpack library, is what robonet says and understands."""

import math
import re
import runpy
import struct
import subprocess
import sys
import threading

import msgpack
import msgspec
import pytest
import zmq
from conftest import ROOT, command, free_port, robonet, wait_until

from robonet.link import messages
from robonet.link.network_side import NetworkSide
from robonet.link.transport import MemoryLink
from robonet.network.ideal import IdealNetwork
from robonet.scenario.schema import Ideal, Limits, Network

PAGE = (ROOT / "docs" / "protocol.md").read_text()
EXCHANGE = [
    (direction, bytes.fromhex(dump))
    for direction, dump in re.findall(r"(robots|network) → \w+: \w+\n```hex\n(.*?)```", PAGE, re.S)
]


def test_the_example_is_the_one_that_the_script_prints():
    script = ROOT / "scripts" / "protocol-example"
    printed = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True).stdout
    assert printed.strip() in PAGE
    assert len(EXCHANGE) == len(runpy.run_path(str(script))["EXCHANGE"]) == 8


def test_the_example_replayed_gives_the_answers_on_the_page():
    link = MemoryLink()
    network = IdealNetwork(Network(ideal=Ideal(delay_s=0.01)))
    thread = threading.Thread(target=NetworkSide(network, link, Limits()).serve, daemon=True)
    thread.start()
    connection = link.connect()
    for speaker, data in EXCHANGE:
        if speaker == "robots":
            connection.send(data)
            continue
        answer, expected = msgpack.unpackb(connection.receive(10)), msgpack.unpackb(data)
        for changing in ("software", "digest", "time"):
            answer.get("report", answer if changing == "software" else {}).pop(changing, None)
            expected.get("report", expected if changing == "software" else {}).pop(changing, None)
        assert without_empty(answer) == without_empty(expected)
    thread.join(10)
    assert not thread.is_alive()


def without_empty(message):
    return {key: value for key, value in message.items() if value != b""}


@pytest.mark.parametrize(
    "kind",
    ["Hello", "Welcome", "Step", "Stepped", "End", "Ended", "Error", "Ping"],
)
def test_every_key_is_on_the_page_with_its_type_and_default(kind):
    section = re.search(rf"### {kind}: `type` = `{kind.lower()}`\n(.*?)(?=\n###|\n## |\nAn? \*\*|\Z)", PAGE, re.S)[1]
    told = re.findall(r"^\| `(\w+)` \|", section, re.M)
    assert told == list(getattr(messages, kind).__struct_fields__)
    info = msgspec.inspect.type_info(getattr(messages, kind))
    required = [field.name for field in info.fields if field.required]
    assert [name for name in told if re.search(rf"\| `{name}` \| [^|]* \| — \|", section)] == required


def test_numbers_on_the_page():
    assert f"{messages.MAX_MESSAGE_BYTES:,} bytes" in PAGE
    assert f"version {messages.PROTOCOL_VERSION}" in PAGE
    for number, reason in enumerate(messages.REASONS):
        assert f"{number} `{reason}`" in PAGE


def test_a_peer_written_from_the_page_alone(tmp_path):
    """A robot simulator in forty lines of plain msgpack and ZeroMQ, against the real network process."""
    scenario = tmp_path / "s.yaml"
    scenario.write_text(
        "robonet: 1\nname: plain\nduration_s: 1\nrobots: [{name: unused}]\n"
        "network: {model: disk, disk: {range_m: 10, delay_s: 0.25}}\n"
    )
    port = free_port()
    process = subprocess.Popen(command("network", scenario, "--link", f"tcp://127.0.0.1:{port}"))
    try:
        context = zmq.Context()
        socket = context.socket(zmq.DEALER)
        socket.setsockopt(zmq.RCVTIMEO, 20_000)
        socket.connect(f"tcp://127.0.0.1:{port}")

        def ask(**message):
            socket.send(msgpack.packb(message))
            return msgpack.unpackb(socket.recv())

        welcome = ask(
            type="hello", version=1, software="plain", peer="p", step_ns=100_000_000, steps=9, seed=0,
            arena_low_m=[0, 0], arena_high_m=[9, 9], walls=False, obstacles=[], nodes=[{"name": "x"}, {"name": "y"}],
        )  # fmt: skip
        assert (welcome["type"], welcome["model"], len(welcome["directory"])) == ("welcome", "disk", 2)
        arrivals = []
        for index in range(5):
            step = {"type": "step", "index": index, "time": index * 100_000_000}
            step["positions"] = struct.pack("<6d", 0, 0, 0, 3, 4, 0)
            if index == 1:
                first = welcome["first_node"]
                step["packets"] = struct.pack("<QqIII", welcome["first_packet"], 130_000_000, first, first + 1, 100)
            stepped = ask(**step)
            if "arrivals" in stepped:
                arrivals.append((index, *struct.unpack("<QqIfH", stepped["arrivals"])))
        assert [(index, time, receiver, hops) for index, _, time, receiver, _, hops in arrivals] == [
            (3, 380_000_000, 1, 1)
        ]
        assert math.isnan(arrivals[0][4])
        ended = ask(type="end", reason="finished")
        assert ended["report"]["packets"] == {"sent": 1, "delivered": 1, "dropped": {}}
        socket.close(0)
        context.term()
        assert process.wait(20) == 0
    finally:
        if process.poll() is None:
            process.kill()
        wait_until(lambda: process.poll() is not None)


def test_a_peer_that_says_it_wrong_is_told_what_is_wrong(tmp_path):
    scenario = tmp_path / "s.yaml"
    scenario.write_text(
        "robonet: 1\nname: plain\nduration_s: 1\nrobots: [{name: unused}]\nlimits: {join_timeout_s: 5}\n"
    )
    port = free_port()
    process = subprocess.Popen(
        command("network", scenario, "--link", f"tcp://127.0.0.1:{port}"), stderr=subprocess.PIPE
    )
    context = zmq.Context()
    socket = context.socket(zmq.DEALER)
    socket.setsockopt(zmq.RCVTIMEO, 20_000)
    socket.connect(f"tcp://127.0.0.1:{port}")
    socket.send(msgpack.packb({"type": "hello", "version": "one"}))
    answer = msgpack.unpackb(socket.recv())
    assert answer["type"] == "error"
    assert "Expected `int`, got `str` - at `$.version`" in answer["text"]
    socket.close(0)
    context.term()
    assert process.wait(20) == 3
    process.stderr.close()
    assert robonet("network", scenario, "--link", "ipc://").returncode == 2
