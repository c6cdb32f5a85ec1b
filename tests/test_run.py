"""The contract of `robonet run`: what scripts read, and what people see."""

import json
import math
from xml.etree import ElementTree

import numpy as np
import pyarrow.parquet as pq
import pytest
from conftest import ROOT, SMALL, robonet, run_json

from robonet.record.tables import read_table

HELLO = ROOT / "scenarios" / "tutorial" / "hello.yaml"


@pytest.fixture(scope="module")
def hello(tmp_path_factory):
    out = tmp_path_factory.mktemp("hello") / "out"
    return run_json(HELLO, "--duration", "10", "--out", out)


def test_the_summary_has_every_promised_key(hello):
    assert {
        "scenario", "seed", "network", "digest", "status", "simulated_s", "steps", "robots", "packets", "broadcasts",
        "delivery_ratio", "delay_s", "delay_seen_s", "hops", "time", "metrics", "versions", "run_dir",
    } <= set(hello)  # fmt: skip
    assert (hello["scenario"], hello["seed"], hello["network"], hello["status"]) == ("hello", 1, "disk", "finished")
    assert (hello["simulated_s"], hello["steps"], hello["robots"]) == (10.0, 100, 20)
    assert set(hello["delay_s"]) == set(hello["delay_seen_s"]) == {"mean", "p50", "p95", "max"}
    assert set(hello["hops"]) == {"mean", "max"}
    assert set(hello["time"]) == {
        "wall_s", "robots_cpu_s", "network_cpu_s", "exchange_s", "waiting_robots_s", "waiting_network_s", "startup_s",
        "real_time_factor",
    }  # fmt: skip
    assert all(value >= 0 for value in hello["time"].values())
    assert hello["time"]["startup_s"] < hello["time"]["wall_s"]


def test_every_packet_is_accounted_for(hello):
    packets = hello["packets"]
    assert packets["sent"] == packets["delivered"] + sum(packets["dropped"].values()) == 18 * 20
    assert hello["delivery_ratio"] == packets["delivered"] / packets["sent"]
    assert hello["broadcasts"]["sent"] == 10


def test_summary_json_is_what_was_printed(hello):
    with open(f"{hello['run_dir']}/summary.json") as file:
        assert json.load(file) == hello


def test_the_tables_say_the_same_as_the_summary(hello):
    tables = ROOT / hello["run_dir"] / "tables"
    packets, poses = read_table(tables / "packets"), read_table(tables / "poses")
    sends, deliveries, heard = (read_table(tables / name) for name in ("sends", "deliveries", "receptions"))
    delivered = packets["fate"] == "delivered"
    assert delivered.sum() == hello["packets"]["delivered"]
    assert len(packets["packet"]) == hello["packets"]["sent"]
    assert len(heard["packet"]) == hello["broadcasts"]["receptions"]
    delays = (packets["ended_ns"] - packets["sent_ns"])[delivered] / 1e9
    assert delays.mean() == pytest.approx(hello["delay_s"]["mean"])
    assert packets["hops"][delivered].mean() == pytest.approx(hello["hops"]["mean"])
    assert len(sends["packet"]) == hello["packets"]["sent"] + hello["broadcasts"]["sent"]
    unicast = np.isin(deliveries["packet"], packets["packet"])
    seen = (deliveries["seen_ns"] - deliveries["sent_ns"])[unicast] / 1e9
    assert seen.mean() == pytest.approx(hello["delay_seen_s"]["mean"])
    assert (deliveries["seen_ns"] % 100_000_000 == 0).all()
    assert (deliveries["arrived_ns"] <= deliveries["seen_ns"]).all()
    assert len(poses["x_m"]) == 20 * 101
    assert set(packets["destination"]) == {"base"}


def test_sends_have_names(hello):
    sends = read_table(ROOT / hello["run_dir"] / "tables" / "sends")
    unicast, broadcast = sends["kind"] == "unicast", sends["kind"] == "broadcast"
    assert set(sends["destination"][unicast]) == {"base"} and set(sends["source"][broadcast]) == {"base"}
    assert set(sends["destination"][broadcast]) == {"all"}


def test_tables_open_with_one_call_of_any_parquet_reader(hello):
    table = pq.read_table(f"{hello['run_dir']}/tables/packets")
    assert table.num_rows == hello["packets"]["sent"]


def test_the_delay_that_robots_see_is_half_a_step_more(tmp_path, small):
    """The paper's table 3: arrivals fall anywhere in a step, controllers look at its end."""
    small.write_text(
        SMALL.replace("cbr: {senders: scout, to: base, rate_hz: 5", "poisson: {senders: scout, to: base, rate_hz: 40")
    )
    summary = run_json(small, "--network", "ideal", "--set", "network.ideal.delay_s=0.013", "--out", tmp_path / "out")
    extra = summary["delay_seen_s"]["mean"] - summary["delay_s"]["mean"]
    sigma = 0.1 / math.sqrt(12 * summary["packets"]["delivered"])
    assert abs(extra - 0.05) < 4 * sigma


def test_the_table_for_people(tmp_path, small):
    done = robonet("run", small, "--out", tmp_path / "out", env={"COLUMNS": "120"})
    assert done.returncode == 0
    for word in (
        "small over disk",
        "finished",
        "delivered",
        "lost",
        "delay",
        "real time",
        "CPU",
        str(tmp_path / "out"),
    ):
        assert word in done.stdout
    assert done.stderr == ""
    shown = robonet("show", tmp_path / "out", env={"COLUMNS": "120"})
    assert shown.stdout == done.stdout
    (tmp_path / "out").rename(tmp_path / "moved")
    assert str(tmp_path / "moved") in robonet("show", tmp_path / "moved", env={"COLUMNS": "120"}).stdout


def test_quiet_is_quiet(tmp_path, small):
    done = robonet("run", small, "--out", tmp_path / "out", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_print_of_a_controller_does_not_spoil_the_json(tmp_path, small):
    (tmp_path / "loud.py").write_text(
        "import robonet\nclass Loud(robonet.Controller):\n    def step(self):\n        print('hey')\n"
    )
    small.write_text(SMALL.replace("controller: diffusion, params: {speed_m_s: 1.0}", "controller: loud.py:Loud"))
    summary = run_json(small, "--out", tmp_path / "out")
    assert summary["status"] == "finished"
    assert "hey" in (tmp_path / "out" / "logs" / "robots.log").read_text()


def test_run_folders_never_collide(tmp_path, small):
    first, second = (run_json(small, cwd=tmp_path)["run_dir"] for _ in range(2))
    assert first.startswith("runs/small-3-")
    assert second == f"{first}-2"


def test_an_earlier_run_is_replaced_and_nothing_else_is_touched(tmp_path, small):
    out = tmp_path / "out"
    first = run_json(small, "--out", out)
    second = run_json(small, "--out", out, "--seed", "4")
    assert first["digest"] != second["digest"]
    assert json.loads(robonet("show", out, "--json").stdout) == second
    assert len(read_table(out / "tables" / "packets")["packet"]) == second["packets"]["sent"]
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "thesis.tex").write_text("years of work")
    done = robonet("run", small, "--out", precious)
    assert done.returncode == 2
    assert "is not empty and holds no earlier run" in done.stderr
    assert (precious / "thesis.tex").read_text() == "years of work"
    (precious / "tables").mkdir()
    (precious / "scenario.yaml").write_text("# my comments")
    assert robonet("run", small, "--out", precious).returncode == 2
    assert (precious / "scenario.yaml").read_text() == "# my comments"


def test_the_resolved_scenario_runs_again_to_the_same_digest(tmp_path, small):
    first = run_json(small, "--set", "robots.scout.count=5", "--seed", "8", "--out", tmp_path / "a")
    again = run_json(tmp_path / "a" / "scenario.yaml", "--out", tmp_path / "b")
    assert first["digest"] == again["digest"]


def test_real_time_is_kept(tmp_path, small):
    summary = run_json(small, "--duration", "2", "--realtime", "2", "--out", tmp_path / "out")
    assert 1.5 < summary["time"]["real_time_factor"] <= 2.0  # never ahead; a busy machine may fall behind


def test_slow_real_time_is_no_silence(tmp_path, small):
    """A step takes four seconds of real time, the network waits for two: signs of life keep it waiting."""
    change = ["--duration", "0.2", "--realtime", "0.025", "--set", "limits.step_timeout_s=2"]
    assert run_json(small, *change, "--out", tmp_path / "out")["status"] == "finished"


def test_a_run_can_be_shown_and_exported_without_its_code(tmp_path, small):
    mind = tmp_path / "mind.py"
    mind.write_text("import robonet\nclass Mind(robonet.Controller):\n    def step(self): pass\n")
    small.write_text(SMALL.replace("controller: diffusion, params: {speed_m_s: 1.0}", "controller: mind.py:Mind"))
    run_json(small, "--out", tmp_path / "out")
    mind.unlink()
    (tmp_path / "out" / "summary.json").unlink()
    assert json.loads(robonet("show", tmp_path / "out", "--json").stdout)["packets"]["sent"] > 0
    assert robonet("export", tmp_path / "out", "-o", tmp_path / "out.svg").returncode == 0


def test_words_in_brackets_are_words(tmp_path, small):
    small.write_text(SMALL + "description: 'see [/b] and [bold]'\n")
    out = tmp_path / "o[bold]ut"
    assert "[/b] and [bold]" in robonet("check", small, env={"COLUMNS": "120"}).stdout
    assert "o[bold]ut" in robonet("run", small, "--out", out, env={"COLUMNS": "200"}).stdout


def test_a_broadcast_is_heard_however_long_it_takes(tmp_path):
    """Bytes are kept as long as the model says that packets live, and no longer."""
    (tmp_path / "ear.py").write_text(
        "import robonet\n"
        "class Ear(robonet.Controller):\n"
        "    def step(self):\n"
        "        if self.now == 0: self.radio.broadcast(b'x')\n"
        "        for message in self.radio.receive(): print('heard', self.name, message.arrived_s)\n"
    )
    text = "robonet: 1\nname: slow\nduration_s: 200\nstep_s: 1\nstations: [{name: a, at_m: [0, 0], controller: 'ear.py:Ear'}, "
    text += "{name: b, at_m: [1, 0], controller: 'ear.py:Ear'}]\nnetwork: {model: ideal, ideal: {delay_s: 150}}\n"
    (tmp_path / "slow.yaml").write_text(text)
    run_json(tmp_path / "slow.yaml", "--out", tmp_path / "out")
    log = (tmp_path / "out" / "logs" / "robots.log").read_text()
    assert "heard a 150.0" in log and "heard b 150.0" in log


def test_poses_can_be_thinned(tmp_path, small):
    run_json(small, "--set", "record.poses_every_s=1", "--out", tmp_path / "out")
    times = np.unique(read_table(tmp_path / "out" / "tables" / "poses")["time_ns"])
    assert times.tolist() == [i * 1_000_000_000 for i in range(5)]
    run_json(small, "--set", "record.poses_every_s=1.5", "--out", tmp_path / "out")
    times = np.unique(read_table(tmp_path / "out" / "tables" / "poses")["time_ns"])
    assert times.tolist() == [0, 1_500_000_000, 3_000_000_000, 4_000_000_000]  # and the last, always
    refused = robonet("run", small, "--set", "record.poses_every_s=0.25")
    assert refused.returncode == 2 and "whole number of steps" in refused.stderr


def test_own_network_model_by_file(tmp_path, small):
    (tmp_path / "radio.py").write_text(
        "from robonet.network.ideal import IdealNetwork\n"
        "class Slow(IdealNetwork):\n"
        "    def __init__(self, settings, recorder=None):\n"
        "        super().__init__(settings, recorder)\n"
        "        self._delay_ns = int(settings.custom['delay_s'] * 1e9)\n"
    )
    summary = run_json(
        small, "--network", "radio.py:Slow", "--set", "network.custom.delay_s=0.5", "--out", tmp_path / "out"
    )
    assert summary["delay_s"]["mean"] == pytest.approx(0.5)


def test_the_picture_shows_every_robot_and_every_obstacle(hello, tmp_path):
    done = robonet("export", hello["run_dir"], "--format", "svg", "-o", tmp_path / "run.svg")
    assert done.returncode == 0, done.stderr
    picture = ElementTree.parse(tmp_path / "run.svg").getroot()
    name = "{http://www.w3.org/2000/svg}"
    assert len(picture.findall(f"{name}polyline")) == 20
    assert {title.text for title in picture.iter(f"{name}title")} == {f"scout{i}" for i in range(20)}
    width, height = map(float, picture.attrib["viewBox"].split()[2:])
    for line in picture.findall(f"{name}polyline"):
        for point in line.attrib["points"].split():
            x, y = map(float, point.split(","))
            assert 0 <= x <= width and 0 <= y <= height
