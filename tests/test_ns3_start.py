"""How ns-3 is brought in: both loaders, attributes by name, files in its own formats, and its last words."""

import json
import os
import subprocess
import sys
import time
import xml.etree.ElementTree

import pytest
from conftest import ROOT, robonet
from test_ns3 import MILLISECOND, World, line, need_ns3, network, setup_of
from tshark import dissect

from bridges.ns3 import compiled as compiling
from bridges.ns3 import library
from bridges.ns3.library import load_core
from bridges.ns3.wheel import find_wheel
from robonet.errors import SimulatorError, UserError
from robonet.link.messages import Node

SCENARIO = """
robonet: 1
name: three
duration_s: 1
arena: {size_m: [80, 80]}
robots: [{name: scout, count: 4, controller: diffusion}]
traffic: [{cbr: {senders: scout, to: random, rate_hz: 5}}]
network: {model: ns3, ns3: %s}
"""


UNCLEAN = "_ws.short or ip.checksum.status == 0 or udp.checksum.status == 0"
"""Frame check sequences are bad, and all else is good: ns-3 writes zeros there."""


@pytest.fixture(autouse=True)
def installed():
    need_ns3()


# --- loaders -----------------------------------------------------------------------------------------------

START = """
import json, sys, time
began = time.process_time()
from test_ns3 import World, line
world = World(line(4), routing="aodv", ns3={"loader": sys.argv[1]})
took = time.process_time() - began
world.send(0, 3, 2 * 10**9).send(1, 0xFFFFFFFF, 10**9).run(3)
print(json.dumps([world.report["ns3"]["loader"], took, world.arrivals]))
"""


def python(code, *arguments, **environment):
    """A process of its own; what it printed."""
    path = os.pathsep.join([str(ROOT / "tests"), str(ROOT), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": path, **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return done


def start_with(loader, **environment):
    done = python(START, loader, **environment)
    return (*json.loads(done.stdout), done.stderr)


def test_compiled_and_just_in_time_are_the_same_network():
    load_core("compiled")  # so that it is in the cache
    compiled, just_in_time = start_with("compiled"), start_with("jit")
    assert (compiled[0], just_in_time[0]) == ("compiled", "jit")
    assert compiled[2] == just_in_time[2] and len(compiled[2]) == 3
    assert just_in_time[3] == ""  # no warnings of the compiler
    assert compiled[1] < 3 and just_in_time[1] < 12  # CPU seconds, imports of Python included; the aims are 1 and 6


def test_from_the_cache_it_starts_in_a_moment():
    load_core("compiled")
    began = time.process_time()
    compiling.compiled(find_wheel(), "core.cpp", is_library=True)
    made = network(routing="aodv")
    made.start(setup_of([Node(name=f"n{i}") for i in range(100)]))
    assert time.process_time() - began < 1.0
    made.end(0)


def test_without_a_compiler_it_goes_on_just_in_time(tmp_path):
    (tmp_path / "bin").mkdir()
    loader, _, arrivals, said = start_with("auto", PATH=str(tmp_path / "bin"))
    assert loader == "jit" and len(arrivals) == 3
    assert "compiled just in time: there is no g++" in said


def test_a_compiler_that_is_asked_for_must_be_there(monkeypatch):
    monkeypatch.setattr(compiling.shutil, "which", lambda name: None)
    library._load_compiled.cache_clear()
    with pytest.raises(UserError, match=r"network.ns3.loader is 'compiled', but there is no g\+\+"):
        network(ns3={"loader": "compiled"}).start(setup_of([Node(name="a")]))


def test_what_is_compiled_is_kept_by_source_version_and_compiler(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made = []
    monkeypatch.setattr(compiling, "_compile", lambda command, path, wheel: made.append(path) or path.touch())
    wheel = find_wheel()
    for other in (wheel, wheel, wheel._replace(version="3.44.9"), wheel._replace(libraries=tmp_path)):
        compiling.compiled(other, "core.cpp", is_library=True)
    compiling.compiled(wheel, "animation.cpp", is_library=True, modules=("netanim",))
    compiling.compiled(wheel, "replay.cpp", is_library=False)
    assert len(made) == len(set(made)) == 5


# --- attributes --------------------------------------------------------------------------------------------


def test_attributes_reach_ns3():
    queue = {"attributes": {"ns3::WifiMacQueue::MaxSize": "3p"}}
    assert crowded(queue) == 17
    assert crowded({"attributes": {"ns3::WifiMacQueue::MaxSize": "30p"}}) == 0
    assert crowded({}) == 0  # nothing is left of it in the next run


def crowded(ns3):
    world = World(line(2, 10.0), ns3=ns3)
    for _ in range(20):
        world.send(0, 1, MILLISECOND, 1000)
    return world.run(0.2).report["packets"]["dropped"].get("queue_full", 0)


def test_attributes_by_path_reach_one_node():
    path = "/NodeList/0/DeviceList/0/$ns3::WifiNetDevice/Phy/TxPowerStart"
    both = {path: -30.0, path.replace("Start", "End"): -30.0}
    world = World(line(2, 50.0), ns3={"attributes": both})
    world.send(0, 0xFFFFFFFF).send(1, 0xFFFFFFFF, 10 * MILLISECOND).run(0.1)
    assert [row[0] for row in world.arrivals] == [1]


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("ns3::WifiMacQueu::MaxSize", "1p", "there is no TypeId 'ns3::WifiMacQueu'"),
        ("ns3::WifiMacQueue::MaxSiz", "1p", "has no attribute 'MaxSiz' (did you mean 'ns3::WifiMacQueue::MaxSize'?)"),
        ("ns3::WifiMacQueue::MaxSize", "many", "'many' is no ns3::QueueSizeValue (The max queue size)"),
        ("ns3::WifiMacQueue::MaxDelay", "5 parsecs", 'msg="Attribute value "5 parsecs" is not properly formatted"'),
        ("ns3::YansWifiPhy::TxPowerStart", 3, "write ns3::WifiPhy::TxPowerStart"),
        ("ns3::Txop::MinCw", 3, "Use MinCws attribute instead of MinCw"),
        ("/NodeList/*/Colour", "red", "Could not set /NodeList/*/Colour to 'red'"),
    ],
)
def test_a_wrong_attribute_is_told_in_ns3s_own_words(name, value, said):
    with pytest.raises(UserError) as error:
        World(line(2), ns3={"attributes": {name: value}})
    text = str(error.value)
    assert text.startswith("network.ns3.attributes: ns-3 says: Could not set") and name in text and said in text
    assert World(line(2)).send(0, 1).run(0.1).arrivals  # this process lives on


# --- files in ns-3's formats --------------------------------------------------------------------------------


FILES = """
import sys
from pathlib import Path
from test_ns3 import MILLISECOND, World, line
outputs = ("pcap", "flowmon", "ascii", "netanim")
world = World(line(3), routing="static", folder=Path(sys.argv[1]), ns3={"outputs": outputs, "loader": sys.argv[2]})
for i in range(5):
    world.send(0, 2, (1 + 10 * i) * MILLISECOND, 64)
world.run(0.1)
"""


@pytest.mark.parametrize("loader", ["compiled", "jit"])
def test_files_that_users_of_ns3_know(tmp_path, loader):
    python(FILES, tmp_path, loader)
    folder = tmp_path / "ns3"
    capture = folder / "wifi-n1-0.pcap"
    data = dissect(capture, "ip.src", "ip.dst", "udp.length", "radiotap.dbm_antsignal", where="udp")
    assert len(data) == 10 and {(row["ip.src"], row["ip.dst"], row["udp.length"]) for row in data} == {
        ("10.0.0.1", "10.0.0.3", "72")
    }
    assert not dissect(capture, "frame.number", where=UNCLEAN)
    complaints = {row["_ws.expert.message"].partition(" [")[0] for row in dissect(capture, "_ws.expert.message")}
    assert complaints == {"Bad checksum"}
    flows = xml.etree.ElementTree.parse(folder / "flowmon.xml").getroot()
    assert [flow.get("rxPackets") for flow in flows.find("FlowStats")] == ["5"]
    assert (folder / "trace.tr").read_text().count("ns3::UdpHeader") >= 20
    assert len(xml.etree.ElementTree.parse(folder / "netanim.xml").getroot().findall("node")) == 3


def test_what_ns3_writes_only_once_a_process_is_refused_the_second_time(tmp_path):
    World(line(2)).run(0.1)
    with pytest.raises(SimulatorError, match="only in the first simulation of a process"):
        World(line(2), folder=tmp_path, ns3={"outputs": ("ascii",)})


def test_captures_of_the_wifi_section_are_written_too(tmp_path):
    words = {"captures": {"prefix": "cap", "format": "802.11", "nodes": ("n1",)}}
    World(line(2), folder=tmp_path, **words).send(0, 1).run(0.1)
    assert [path.name for path in (tmp_path / "captures").iterdir()] == ["cap-n1-0.pcap"]
    assert len(dissect(tmp_path / "captures" / "cap-n1-0.pcap", "frame.number")) == 2


# --- as users run it ---------------------------------------------------------------------------------------


def test_when_ns3_gives_up_its_own_words_are_shown(tmp_path):
    """A rate that 802.11a does not have is noticed by ns-3 when the first frame is sent."""
    path = tmp_path / "three.yaml"
    path.write_text(SCENARIO % '{attributes: {"ns3::ConstantRateWifiManager::DataMode": DsssRate1Mbps}}')
    done = robonet("run", path, "--out", tmp_path / "run")
    assert done.returncode == 3
    assert "the network simulator was killed by SIGABRT" in done.stderr
    assert "Can't find response rate" in done.stderr
    assert "ns-3 gave up at simulated time" in done.stderr


def test_it_runs_as_a_process(tmp_path):
    path = tmp_path / "three.yaml"
    path.write_text(SCENARIO % "{outputs: [flowmon]}")
    done = robonet("run", path, "--out", tmp_path / "run", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["packets"]["sent"] > 10
    assert (tmp_path / "run" / "ns3" / "flowmon.xml").exists()
