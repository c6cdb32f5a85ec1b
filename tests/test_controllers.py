"""What controllers can do, and that the radio's two-way street works: messages, failures, neighbours."""

import json

import pytest
from conftest import robonet, run_json

MINDS = '''
import json
import numpy as np
import robonet

class Talker(robonet.Controller):
    """Tells everything it hears to a file of its own."""
    feedback = ("neighbours",)

    def start(self, to, folder):
        self.to, self.file = to, open(f"{folder}/{self.name}.jsonl", "w")

    def step(self):
        heard = [[m.sender, m.payload.decode(), m.sent_ns, m.arrived_ns, m.hops, m.signal_dbm] for m in self.radio.receive()]
        failed = [[f.to, f.payload.decode(), f.reason] for f in self.radio.failed_sends()]
        near = sorted(n.name for n in self.radio.neighbours())
        self.file.write(json.dumps({"now": self.now, "heard": heard, "failed": failed, "near": near}) + "\\n")
        self.file.flush()
        if self.now == 0:
            self.radio.send(self.to, b"ping")
            self.radio.broadcast(b"all")
        for m in self.radio.receive():
            if m.payload == b"ping":
                self.radio.send(m.sender, b"pong")

class Herd(robonet.SwarmController):
    def start(self, folder):
        self.file = open(f"{folder}/herd.jsonl", "w")

    def step(self):
        assert len(self) == len(self.names) == len(self.positioning.x_m) == 3
        assert self.odometry.pose.shape == (3, 3) and self.proximity.distances_m.shape == (3, 24)
        self.wheels.set_speed(np.array([0.1, 0.2, 0.3]), np.array([0.1, 0.2, 0.3]))
        if self.now == 0:
            self.radio.send(1, "herd2", b"one to two")
            self.radio.send(0, "herd", b"to the herd")
        heard = [[m.sender, m.receiver, m.receiver_index, m.payload.decode()] for m in self.radio.receive()]
        self.file.write(json.dumps(heard) + "\\n")
        self.file.flush()

class Undeclared(robonet.Controller):
    def step(self):
        self.radio.neighbours()

class Misspelt(robonet.Controller):
    def step(self):
        self.radio.send("bose", b"x")

class TextPayload(robonet.Controller):
    def step(self):
        self.radio.broadcast("text")

class StationDrives(robonet.Controller):
    def step(self):
        self.wheels.set_speed(1.0, 1.0)

class ToItself(robonet.Controller):
    def step(self):
        self.radio.send(self.name, b"x")

class Mistyped(robonet.Controller):
    def stpe(self): pass

class WrongFeedback(robonet.Controller):
    feedback = ("neighbors",)
    def step(self): pass

class WrongSensor(robonet.Controller):
    def step(self): self.position

class NoController:
    pass

class NotFinite(robonet.Hooks):
    def metrics(self): return {"nan": float("nan"), "one": 1}

class Params(robonet.Controller):
    def start(self, value): print(repr(value))
    def step(self): pass

class BadMetric(robonet.Hooks):
    def metrics(self): return {"list": [1]}

class Watcher(robonet.Hooks):
    def on_start(self, world):
        self.calls = ["on_start"]
    def before_step(self, world):
        self.calls.append("before")
        world.xyz[0, 0] = 1.0
    def after_step(self, world):
        self.calls.append("after")
    def is_finished(self, world):
        return world.index == 7
    def on_end(self, world):
        assert self.calls == ["on_start"] + ["before", "after"] * 7
    def metrics(self):
        return {"calls": len(self.calls)}
'''


def scenario(tmp_path, robots="", stations="", rest="", network="model: disk\n  disk: {range_m: 15, delay_s: 0.03}"):
    (tmp_path / "minds.py").write_text(MINDS)
    text = f"robonet: 1\nname: talk\nduration_s: 1\narena: {{size_m: [100, 100]}}\nrobots: [{robots}]\n"
    text += f"stations: [{stations}]\nnetwork:\n  {network}\n{rest}"
    (tmp_path / "s.yaml").write_text(text)
    return tmp_path / "s.yaml"


def station(name, x, to, tmp_path):
    return f"{{name: {name}, at_m: [{x}, 0], controller: 'minds.py:Talker', params: {{to: {to}, folder: {tmp_path}}}}}"


def told(tmp_path, name):
    return [json.loads(line) for line in (tmp_path / f"{name}.jsonl").read_text().splitlines()]


def test_messages_failures_and_neighbours_reach_the_controllers(tmp_path):
    """a -10 m- b -30 m- c: a reaches b; c reaches nobody, and is told so."""
    places = [station("a", 0, "b", tmp_path), station("b", 10, "c", tmp_path), station("c", 40, "a", tmp_path)]
    run_json(scenario(tmp_path, stations=", ".join(places)), "--out", tmp_path / "out")
    a, b, c = (told(tmp_path, name) for name in "abc")
    assert a[1]["heard"] == [["b", "all", 0, 30_000_000, 1, None]]
    assert b[1]["heard"] == [["a", "ping", 0, 30_000_000, 1, None], ["a", "all", 0, 30_000_000, 1, None]]
    assert a[2]["heard"] == [["b", "pong", 100_000_000, 130_000_000, 1, None]]
    assert b[1]["failed"] == [["c", "ping", "out_of_range"]]
    assert c[1]["failed"] == [["a", "ping", "out_of_range"]]
    assert (a[1]["near"], b[1]["near"], c[1]["near"]) == (["b"], ["a"], [])
    assert all(not row["heard"] and not row["failed"] for row in a[3:])


def test_nothing_is_heard_in_the_step_in_which_it_was_sent(tmp_path):
    places = [station("a", 0, "b", tmp_path), station("b", 10, "a", tmp_path)]
    path = scenario(tmp_path, stations=", ".join(places), network="model: ideal")
    summary = run_json(path, "--out", tmp_path / "out")
    assert told(tmp_path, "a")[0]["heard"] == []
    assert told(tmp_path, "a")[1]["heard"]
    assert summary["delay_s"]["max"] == 0.0
    assert summary["delay_seen_s"]["mean"] == pytest.approx(0.1)


def test_one_mind_for_many(tmp_path):
    robots = f"{{name: herd, count: 3, controller: 'minds.py:Herd', params: {{folder: {tmp_path}}}}}"
    run_json(scenario(tmp_path, robots, network="model: ideal"), "--out", tmp_path / "out")
    heard = told(tmp_path, "herd")[1]
    assert sorted(heard) == sorted(
        [
            ["herd1", "herd2", 2, "one to two"],
            ["herd0", "herd1", 1, "to the herd"],
            ["herd0", "herd2", 2, "to the herd"],
        ]
    )


@pytest.mark.parametrize(
    ("mind", "kind", "complaint"),
    [
        ("Undeclared", "robots", 'put `feedback = ("neighbours",)` into the controller class'),
        ("Misspelt", "robots", "no robot, station or group is called 'bose' (did you mean 'base'?)"),
        ("TextPayload", "robots", "a payload is bytes, not str"),
        ("StationDrives", "stations", "a station has no wheels"),
        ("ToItself", "robots", "'r' cannot send to itself"),
        ("WrongSensor", "robots", "'WrongSensor' has no attribute 'position' (did you mean 'positioning'?)"),
    ],
)
def test_mistakes_of_controllers_are_explained(tmp_path, mind, kind, complaint):
    robots = f"{{name: r, controller: 'minds.py:{mind}'}}" if kind == "robots" else ""
    mind_of_base = f", controller: 'minds.py:{mind}'" if kind == "stations" else ""
    path = scenario(tmp_path, robots, f"{{name: base, at_m: [0, 0]{mind_of_base}}}")
    done = robonet("run", path, "--out", tmp_path / "out")
    assert done.returncode == 3
    assert complaint in done.stderr
    assert "at simulated time 0.000 s" in done.stderr


@pytest.mark.parametrize(
    ("mind", "complaint"),
    [
        ("Mistyped", "minds.py:Mistyped has no method `step`; it has: stpe"),
        ("WrongFeedback", "unknown feedback 'neighbors' (did you mean 'neighbours'?)"),
        ("Talker", "Talker.start needs 'to'"),
    ],
)
def test_mistakes_that_show_before_the_first_step_leave_nothing_behind(tmp_path, mind, complaint):
    path = scenario(tmp_path, f"{{name: r, controller: 'minds.py:{mind}'}}")
    done = robonet("run", path, cwd=tmp_path)
    assert done.returncode == 2
    assert complaint in done.stderr and "Traceback" not in done.stderr
    assert not list(tmp_path.glob("runs/*"))


def test_a_user_file_that_fails_to_load_is_the_users_mistake(tmp_path):
    path = scenario(tmp_path, "{name: r, controller: 'broken.py:Mind'}")
    (tmp_path / "broken.py").write_text("import robonet\nclass Mind(robonet.Controler): pass\n")
    done = robonet("run", path, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "cannot load 'broken.py:Mind': AttributeError" in done.stderr.replace(f"{tmp_path}/", "")
    assert "class Mind(robonet.Controler)" in done.stderr


def test_a_metric_must_be_a_number(tmp_path):
    path = scenario(tmp_path, "{name: r}", rest="hooks: ['minds.py:BadMetric']\n")
    done = robonet("run", path, "--out", tmp_path / "out")
    assert done.returncode == 3
    assert "metric 'list' must be a number, not list" in done.stderr


def test_a_metric_that_is_not_finite_is_null(tmp_path):
    path = scenario(tmp_path, "{name: r}", rest="hooks: ['minds.py:NotFinite']\n")
    assert run_json(path, "--out", tmp_path / "out")["metrics"] == {"nan": None, "one": 1.0}


def test_params_arrive_as_they_were_written(tmp_path):
    path = scenario(tmp_path, "{name: r, controller: 'minds.py:Params', params: {value: {1: x, b: .inf, c: [1, 2]}}}")
    run_json(path, "--out", tmp_path / "out")
    assert "{1: 'x', 'b': inf, 'c': (1, 2)}" in (tmp_path / "out" / "logs" / "robots.log").read_text()


def test_params_are_checked_without_running_anything(tmp_path):
    path = scenario(tmp_path, "{name: r, controller: 'minds.py:Herd', params: {foldr: x}}")
    done = robonet("check", path)
    assert done.returncode == 2
    assert "robots[0].params: Herd.start takes no 'foldr' (did you mean 'folder'?); it takes: folder" in done.stderr
    path = scenario(tmp_path, "{name: r, controller: diffusion, params: {sped_m_s: 1}}")
    assert "did you mean 'speed_m_s'?" in robonet("check", path).stderr


def test_what_is_no_controller_is_refused(tmp_path):
    done = robonet(
        "run", scenario(tmp_path, "{name: r, controller: 'minds.py:NoController'}"), "--out", tmp_path / "out"
    )
    assert done.returncode == 2
    assert "neither a robonet.Controller nor a robonet.SwarmController" in done.stderr
    assert "Traceback" not in done.stderr


def test_hooks_see_change_measure_and_end(tmp_path):
    path = scenario(tmp_path, "{name: r, count: 2}", rest="hooks: ['minds.py:Watcher']\n")
    summary = run_json(path, "--out", tmp_path / "out")
    assert summary["steps"] == 7
    assert summary["status"] == "finished"
    assert summary["metrics"] == {"calls": 15.0}
