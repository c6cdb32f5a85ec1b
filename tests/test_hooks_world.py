"""Hooks that change who is there while the run goes on."""

import json
import math

import numpy as np
import pytest
from conftest import robonet, run_json
from worlds import FOOT_BOT_M, moving, step

from robonet.errors import UserError
from robonet.record.tables import read_table

TEAM = (
    "robots: [{name: a, count: 2, reserve: 2, place: {poses: [[0, 0, 0], [3, 0, 180]]}}, {name: solo, reserve: 0, place: {at_m: [[-3, -3]]}}]\n"
    "stations: [{name: base, at_m: [0, 4]}]\n"
    "objects: [{name: box, box: {size_m: [0.4, 0.4]}, count: 1, reserve: 1, place: {at_m: [[0, -3]]}, heading_deg: 0}]\n"
)


# --- the world's own verbs -------------------------------------------------------------------------------


def test_reserves_are_out_of_everything_until_they_are_added():
    here, physics = moving(TEAM)
    assert here.names == ["a0", "a1", "a2", "a3", "solo", "base", "box0", "box1"]
    assert here.present.tolist() == [True, True, False, False, True, True, True, False]
    assert here.body_m[2] == 0.0 and here.owner[2] == -1 and here.xyz[2, 2] < -1000
    assert here.absent == 3
    assert here.add("a", (1.0, 1.0), 0.5) == "a2"
    assert here.xyz[2].tolist() == [1.0, 1.0, 0.0] and here.heading[2] == 0.5
    assert here.body_m[2] == FOOT_BOT_M and here.present[2] and here.absent == 2
    here.twist[2, 0] = 0.1
    step(here, physics, 10)
    assert here.xyz[2, :2] == pytest.approx((1 + 0.1 * math.cos(0.5), 1 + 0.1 * math.sin(0.5)))
    assert here.add("box", (2.0, 2.0)) == "box1"


def test_who_is_removed_stops_is_not_in_the_way_and_is_not_seen():
    here, physics = moving(TEAM)
    here.move("a1", (0.25, 0.0))
    ring = here.devices["a"].get("proximity")
    here.look()
    assert ring.distances_m[0].min() < 0.1
    here.twist[1, 0] = -0.5
    here.remove("a1")
    here.look()
    assert (ring.distances_m == 0.1).all()  # neither seen nor seeing
    assert not here.twist[1].any()
    here.twist[0, 0] = 0.5
    before = here.xyz[1].copy()
    step(here, physics, 10)
    assert here.xyz[0, 0] == pytest.approx(0.5)
    assert (here.xyz[1] == before).all()
    here.remove("a1")  # twice is once
    assert here.absent == 4
    assert here.add("a", (2.0, 0.0)) == "a1"  # who was removed can come back
    assert here.absent == 3


def test_what_is_moved_added_and_removed_of_things_is_in_the_way_or_not():
    here, physics = moving(TEAM)
    here.twist[0, 0] = 0.5
    here.move("box0", (1.0, 0.0))
    step(here, physics, 30)
    assert here.xyz[0, 0] == pytest.approx(0.8 - FOOT_BOT_M, abs=1e-3)
    here.remove("box0")
    step(here, physics, 10)
    assert here.xyz[0, 0] == pytest.approx(1.3 - FOOT_BOT_M, abs=1e-3)
    assert here.add("box", (2.0, 0.0), math.pi / 4) == "box0"
    step(here, physics, 30)
    assert here.xyz[0, 0] == pytest.approx(2.0 - 0.2 * math.sqrt(2) - FOOT_BOT_M, abs=1e-3)


def test_the_same_robots_mind_and_odometry_go_on_when_it_comes_back():
    here, physics = moving(TEAM)
    odometry = here.devices["a"].get("odometry")
    here.twist[0, 0] = 0.1
    step(here, physics, 10)
    here.remove("a0")
    step(here, physics, 10)
    assert odometry.pose[0, 0] == pytest.approx(0.1)  # gone, it does not drive


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda w: w.add("b", (0, 0)), r"there is no group 'b'"),
        (lambda w: w.add("bax", (0, 0)), r"there is no group 'bax' \(did you mean 'box'\?\)"),
        (lambda w: w.add("solo", (0, 0)), r"all 1 of 'solo' are in the arena: raise its `reserve`"),
        (lambda w: w.remove("sole"), r"there is no 'sole' \(did you mean 'solo'\?\)"),
        (lambda w: w.remove("base"), r"'base' is a station"),
        (lambda w: w.move("a3", (0, 0)), r"'a3' is not in the arena: add it first"),
        (lambda w: w.move("nobody", (0, 0)), r"there is no 'nobody'"),
        (lambda w: w.move("a0", (math.nan, 0)), r"'a0' cannot be at \(nan, 0\) m"),
        (lambda w: w.move("a0", (0, 0), math.inf), r"'a0' cannot be at \(0, 0\) m, heading inf"),
        (lambda w: w.add("a", (0, math.inf)), r"'a2' cannot be at \(0, inf\) m"),
    ],
)
def test_what_cannot_be_is_refused_by_name(call, complaint):
    here, physics = moving(TEAM)
    with pytest.raises(UserError, match=complaint):
        call(here)
    assert here.present.tolist() == [True, True, False, False, True, True, True, False]
    step(here, physics, 2)


def test_all_of_a_group_can_go_and_come():
    here, physics = moving("robots: [{name: a, count: 3}]\n")
    ring = here.devices["a"].get("proximity")
    for _ in range(2):
        for name in ("a0", "a1", "a2"):
            here.remove(name)
        step(here, physics, 2)
        here.look()
        assert (ring.distances_m == 0.1).all()
        for x in (0.0, 0.2, 0.4):
            here.add("a", (x, 0.0))
        step(here, physics, 2)
        here.look()
        assert (ring.distances_m.min(axis=1) < 0.1).all()


# --- in a run --------------------------------------------------------------------------------------------

CODE = '''
import json
import robonet

class Speaker(robonet.Controller):
    """Says its name in every step; a file of its own remembers what it heard, and when."""

    def start(self, folder):
        self.file = open(f"{folder}/{self.name}.jsonl", "w")

    def step(self):
        heard = sorted(m.payload.decode() for m in self.radio.receive())
        near = min(self.proximity.distances_m) if self.name != "base" else None
        self.file.write(json.dumps([round(self.time_s, 3), heard, near]) + "\\n")
        self.file.flush()
        self.radio.broadcast(self.name.encode())
        if self.name != "base":
            self.wheels.set_speed(0.01, 0.01)

class Director(robonet.Hooks):
    def on_start(self, world):
        self.counts = []
    def before_step(self, world):
        if world.index == 5:
            assert world.add("r", (0.0, 0.5)) == "r2"
        if world.index == 10:
            world.remove("r0")
        if world.index == 12:
            world.add("box", (3.0, 3.0))
        if world.index == 15:
            world.move("r1", (4.0, 4.0), 1.0)
            world.move("box0", (-3.0, -3.0))
        self.counts.append(int(world.present[: world.robots].sum()))
    def is_finished(self, world):
        return world.index == 20
    def metrics(self):
        return {"first": self.counts[0], "most": max(self.counts), "last": self.counts[-1]}

class Wrong(robonet.Hooks):
    def before_step(self, world):
        if world.index == 3:
            world.move("r7", (0, 0))

class Poison(robonet.Hooks):
    def before_step(self, world):
        if world.index == 3:
            world.xyz[2, 0] = 1.0  # of one in reserve: nobody minds
            world.twist[1, 1] = float("nan")
'''


def scenario(tmp_path, hook):
    (tmp_path / "code.py").write_text(CODE)
    who = f"controller: 'code.py:Speaker', params: {{folder: {tmp_path}}}"
    (tmp_path / "s.yaml").write_text(
        "robonet: 1\nname: t\nduration_s: 5\nrobots: [{name: r, count: 2, reserve: 2, place: {poses: [[0, 0, 0], [0.25, 0, 0]]}, " + who + "}]\n"
        "stations: [{name: base, at_m: [0, 4]}]\n"
        "objects: [{name: box, cylinder: {radius_m: 0.2}, count: 1, reserve: 1, place: {at_m: [[2, 2]]}}]\n"
        "traffic: [{cbr: {senders: [r0, r3], to: base, rate_hz: 10}}]\n"
        f"network: {{model: disk, disk: {{range_m: 50, delay_s: 0.01}}}}\nhooks: ['code.py:{hook}']\n"
    )  # fmt: skip
    return tmp_path / "s.yaml"


def told(tmp_path, name):
    return {row[0]: row[1:] for row in map(json.loads, (tmp_path / f"{name}.jsonl").read_text().splitlines())}


def test_robots_and_things_come_go_and_move_during_a_run(tmp_path):
    summary = run_json(scenario(tmp_path, "Director"), "--out", tmp_path / "out")
    assert summary["steps"] == 20
    assert summary["metrics"] == {"first": 2.0, "most": 3.0, "last": 2.0}
    first, second, third, fourth = (told(tmp_path, name) for name in ("r0", "r1", "r2", "r3"))
    assert not fourth  # in reserve all the time: it never had a say
    assert list(first) == pytest.approx(np.arange(0, 1.0, 0.1))  # removed at 1.0 s
    assert list(third) == pytest.approx(np.arange(0.5, 2.0, 0.1))  # added at 0.5 s
    for time, (heard, near) in second.items():
        voices = {"r0"} if 0.05 < time < 1.05 else set()
        voices |= {"r2"} if time > 0.55 else set()
        # what r0 said in its last step arrives while it is gone already: a packet under way is not called back
        assert set(heard) <= voices and voices - {"r0"} <= set(heard)
        assert ("r0" in heard) == (0.05 < time < 1.05) or time == pytest.approx(1.0)
        assert (near < 0.1) == (time < 0.95)  # r0 stood beside it
    poses = read_table(tmp_path / "out" / "tables" / "poses")
    times = {name: poses["time_ns"][poses["robot"] == name] / 1e9 for name in ("r0", "r1", "r2", "r3")}
    assert times["r0"].max() < 0.95 and times["r2"].min() == pytest.approx(0.5) and not len(times["r3"])
    one = poses["robot"] == "r1"
    jump = np.hypot(np.diff(poses["x_m"][one]), np.diff(poses["y_m"][one]))
    assert (jump > 1).sum() == 1
    things = read_table(tmp_path / "out" / "tables" / "objects")
    assert things["x_m"][things["object"] == "box0"][-1] == -3.0
    assert things["time_ns"][things["object"] == "box1"].min() == 1_200_000_000
    # Background traffic of who is not there is not sent: r0 for one second, r3 never.
    assert 8 <= summary["packets"]["sent"] <= 11


def test_mistakes_of_hooks_are_explained_with_time_and_name(tmp_path):
    done = robonet("run", scenario(tmp_path, "Wrong"), "--out", tmp_path / "out")
    assert done.returncode == 3
    assert "code.py:Wrong.before_step raised at simulated time 0.300 s: UserError: there is no 'r7'" in done.stderr
    done = robonet("run", scenario(tmp_path, "Poison"), "--out", tmp_path / "out2")
    assert done.returncode == 3
    assert "'r1' at [0.25" in done.stderr and "nan" in done.stderr and "at simulated time 0.300 s" in done.stderr
