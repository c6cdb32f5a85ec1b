"""Everything in a world that cannot be: refused by name, before anything runs where that can be known."""

import math
from pathlib import Path

import pytest
from conftest import robonet
from worlds import moving, world

from robonet.errors import RobonetError, UserError
from robonet.scenario import parse_scenario

MINDS = """
import numpy as np
import robonet

class NeedsSonar(robonet.Controller):
    def step(self):
        return self.sonar.distances_m

class AsksSlyly(robonet.Controller):
    def step(self):
        return getattr(self, "son" + "ar")

class Typo(robonet.Controller):
    def step(self):
        return self.proximty

class Nan(robonet.Controller):
    def step(self):
        value = float("nan") if self.time_s >= 0.25 and self.index == 1 else 0.1
        self.wheels.set_speed(value, 0.1)

class NanTurn(robonet.Controller):
    def step(self):
        self.wheels.set_velocity(0.1, float("nan") if self.time_s >= 0.25 and self.index == 1 else 0.0)

class NanSwarm(robonet.SwarmController):
    def step(self):
        speeds = np.full(len(self), 0.1)
        if self.time_s >= 0.25:
            speeds[1] = np.nan
        self.wheels.set_speed(speeds, 0.1)

class Device:
    def __init__(self, world, group, params):
        raise RuntimeError("no power")

class Fine:
    def __init__(self, world, group, params):
        pass
"""


def complaint(text, path=Path("t.yaml")):
    with pytest.raises(RobonetError) as caught:
        parse_scenario("robonet: 1\nname: t\nduration_s: 1\n" + text, path)
    return str(caught.value)


KIND = "kinds: [{name: mine, devices: {%s}}]\nrobots: [{name: a, kind: mine}]\n"
BODY = "kinds: [{name: mine, body: {polygon: {corners_m: %s}}}]\nrobots: [{name: a, kind: mine}]\n"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        # two actuators on one component
        (KIND % "wheels: {}, omni: {}", "kinds[0].devices.omni: wheels and omni both act on the drive: leave out one of the two"),
        (KIND % "steering: {}, wheels: {}", "both act on the drive"),
        (KIND % "quadrotor_position: {}, quadrotor_velocity: {}", "both act on the drive"),
        ("kinds: [{name: mine, like: foot-bot, devices: {omni: {}}}]\n", "kinds[0].devices.omni: wheels and omni both act on the drive"),
        # devices that are not there
        ("robots: [{name: a, devices: {sonar: {}}}]\n", "robots[0].devices.sonar: a foot-bot carries no sonar; it carries: proximity"),
        ("robots: [{name: a, kind: kilobot, devices: {laser: {}}}]\n", "a kilobot carries no laser"),
        ("robots: [{name: a, devices: {proximty: {}}}]\n", "robots[0].devices.proximty: unknown key (did you mean 'proximity'?)"),
        (KIND % "whels: {}", "kinds[0].devices.whels: unknown key (did you mean 'wheels'?)"),
        (KIND % "proximity: {rays: 0}", "kinds[0].devices.proximity.rays: must be >= 1"),
        (KIND % "proximity: {noise: [{gausian: {std: 1}}]}", "unknown key (did you mean 'gaussian'?)"),
        (KIND % "proximity: {noise: [{gaussian: {std: .nan}}]}", "must be a finite number"),
        (KIND % "custom: {nose: {device: 'no.py:Nose'}}", "kinds[0].devices.custom.nose.device: there is no file no.py"),
        (KIND % "custom: {wheels: {device: 'no.py:Nose'}}", "is the name of a built-in device"),
        # kinds
        ("robots: [{name: a, kind: footbot}]\n", "robots[0].kind: unknown robot 'footbot' (did you mean 'foot-bot'?); known: e-puck"),
        ("kinds: [{name: x, like: y}, {name: y, like: x}]\n", "kinds[0].like: kinds are like each other in a circle"),
        ("kinds: [{name: x, like: x}]\n", "kinds[0].like: kinds are like each other in a circle"),
        ("kinds: [{name: x, like: yy}]\n", "kinds[0].like: unknown robot 'yy'"),
        ("kinds: [{name: foot-bot}]\n", "kinds[0].name: the name is used twice, or is that of a shipped robot"),
        ("kinds: [{name: x}, {name: x}]\n", "the name is used twice"),
        # bodies
        (BODY % "[[0, 0], [1, 0], [0.2, 0.2], [0, 1]]", "kinds[0].body.polygon.corners_m: a body must be convex"),
        (BODY % "[[0, 0], [1, 1], [1, 0], [0, 1]]", "kinds[0].body.polygon.corners_m: the outline has no area"),
        (BODY % "[[0, 0], [2, 2], [2, 0], [0, 1]]", "a body must be convex"),
        (BODY % "[[0, 0], [1, 0]]", "an outline has three corners at least"),
        (BODY % "[[0, 0], [1, 0], [1, 0], [0, 1]]", "the same corner appears twice"),
        ("kinds: [{name: x, body: {disk: {radius_m: 0}}}]\n", "kinds[0].body.disk.radius_m: must be > 0"),
        ("kinds: [{name: x, body: {disk: {radius_m: 1}, box: {size_m: [1, 1]}}}]\n", "give exactly one of disk, box, polygon"),
        # the arena
        ("arena: {bitmap: {file: no.png}}\n", "arena.bitmap.file: there is no file"),
        ("arena: {floor: {image: no.png}}\n", "arena.floor.image: there is no file"),
        ("arena: {obstacles: [{polygon: {corners_m: [[0, 0], [1, 1], [2, 2]]}}]}\n", "arena.obstacles[0].polygon.corners_m: the outline has no area"),
        ("arena: {floor: {patches: [{center_m: [0, 0]}]}}\n", "arena.floor.patches[0]: give size_m or radius_m"),
        # things
        ("objects: [{name: x}]\n", "objects[0]: give exactly one of box, cylinder"),
        ("objects: [{name: x, box: {size_m: [1, 1]}, cylinder: {radius_m: 1}}]\n", "objects[0]: give exactly one of box, cylinder"),
        ("objects: [{name: x, cylinder: {radius_m: 1}, count: 0}]\n", "objects[0].count: there are none: raise count or reserve"),
        ("objects: [{name: x, cylinder: {radius_m: 1}, count: 2, place: {at_m: [[0, 0]]}}]\n", "objects[0].place.at_m: has 1 points for 2 objects"),
        ("objects: [{name: a, cylinder: {radius_m: 1}}]\nrobots: [{name: a}]\n", "the name is used twice"),
        # places
        ("robots: [{name: a, place: {poses: [[0, 99, 0]]}}]\n", "robots[0].place.poses[0]: lies outside the arena"),
        ("robots: [{name: a, count: 0}]\n", "robots[0].count: there is nobody in the group"),
        ("threads: 0\n", "threads: must be >= 1"),
    ],
)  # fmt: skip
def test_what_can_be_known_is_refused_when_the_scenario_is_read(text, answer):
    if "robots:" not in text:
        text += "robots: [{name: robot}]\n"
    assert answer in complaint(text)


def test_a_missing_bitmap_is_named_with_its_path(tmp_path):
    answer = complaint("arena: {bitmap: {file: plans/no.png}}\nrobots: [{name: a}]\n", tmp_path / "s.yaml")
    assert f"there is no file {tmp_path / 'plans' / 'no.png'}" in answer


# --- controllers that use what is not carried ------------------------------------------------------------


def scenario(tmp_path, mind, more="", count=3):
    (tmp_path / "minds.py").write_text(MINDS)
    (tmp_path / "s.yaml").write_text(
        f"robonet: 1\nname: t\nduration_s: 1\nrobots: [{{name: scout, count: {count}, controller: 'minds.py:{mind}'{more}}}]\n"
    )
    return tmp_path / "s.yaml"


def test_a_sensor_that_the_robot_does_not_carry_is_refused_by_check(tmp_path):
    done = robonet("check", scenario(tmp_path, "NeedsSonar"))
    assert done.returncode == 2
    assert (
        "robots[0].controller: it uses self.sonar, which a foot-bot does not carry; it carries: proximity"
        in done.stderr
    )
    assert robonet("check", scenario(tmp_path, "NeedsSonar", ", kind: pioneer")).returncode == 0
    assert "self.sonar" in robonet("run", scenario(tmp_path, "NeedsSonar"), "--out", tmp_path / "out").stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("mind", "answer"),
    [
        ("AsksSlyly", "a foot-bot has no sonar"),
        ("Typo", "'Typo' has no attribute 'proximty' (did you mean 'proximity'?)"),
    ],
)
def test_what_only_shows_when_it_runs_is_refused_with_robot_and_time(tmp_path, mind, answer):
    done = robonet("run", scenario(tmp_path, mind), "--out", tmp_path / "out")
    assert done.returncode == 3
    assert "robot 'scout0'" in done.stderr and "at simulated time 0.000 s" in done.stderr
    assert answer in done.stderr


@pytest.mark.parametrize(
    ("mind", "who"), [("Nan", "robot 'scout1'"), ("NanTurn", "robot 'scout1'"), ("NanSwarm", "'scout1'")]
)
def test_a_nan_of_a_controller_is_refused_with_robot_and_time(tmp_path, mind, who):
    done = robonet("run", scenario(tmp_path, mind), "--out", tmp_path / "out")
    assert done.returncode == 3
    assert who in done.stderr
    assert "at simulated time 0.300 s" in done.stderr
    assert "must be finite" in done.stderr and "nan" in done.stderr


@pytest.mark.parametrize("speed", [math.inf, -math.inf, math.nan, 1e9])
def test_speeds_must_be_finite_and_possible(speed):
    here = world("robots: [{name: a, count: 3}]\n")
    wheels = here.devices["a"].get("wheels")
    with pytest.raises(ValueError, match="finite and up to 100 m/s"):
        wheels.one(0).set_speed(speed, 0.0)
    with pytest.raises(ValueError, match="finite and up to 100 m/s"):
        wheels.set_speed([0.0, 0.0, speed], 0.0)
    assert not here.twist[0].any()


# --- what shows when the world is made -------------------------------------------------------------------


def test_explicit_places_that_overlap_are_refused_by_check_with_both_names(tmp_path):
    (tmp_path / "s.yaml").write_text(
        "robonet: 1\nname: t\nduration_s: 1\nrobots: [{name: a, count: 2, place: {at_m: [[0, 0], [0.1, 0]]}}]\n"
    )
    for command in ("check", "run"):
        done = robonet(command, tmp_path / "s.yaml", cwd=tmp_path)
        assert done.returncode == 2
        assert "'a1' at (0.1, 0) m overlaps 'a0'" in done.stderr and "Traceback" not in done.stderr
    assert not list(tmp_path.glob("runs/*"))


def test_a_gate_to_nowhere_and_a_robot_outside_every_region_are_refused_by_check(tmp_path):
    region = "region: {box: {center_m: [0, 0], size_m: [2, 2]}}"
    for text, answer in (
        (f"engines: [{{name: one, {region}, sides: [wall, {{gate: two}}, wall, wall]}}]\n", "a gate to an unknown engine 'two'; known: one"),
        (f"engines: [{{name: one, {region}}}]\n", "'a' at (3, 3) m is in no engine's region"),
    ):  # fmt: skip
        (tmp_path / "s.yaml").write_text(
            f"robonet: 1\nname: t\nduration_s: 1\nrobots: [{{name: a, place: {{at_m: [[3, 3]]}}}}]\n{text}"
        )
        done = robonet("check", tmp_path / "s.yaml")
        assert done.returncode == 2
        assert answer in done.stderr


def test_a_polygon_that_crosses_itself_is_refused():
    with pytest.raises(UserError, match="crosses itself"):
        world("arena: {obstacles: [{polygon: {corners_m: [[0, 0], [4, 4], [4, 0], [0, 3]]}}]}\nrobots: [{name: a}]\n")


def test_a_device_that_cannot_be_made_is_blamed_by_its_name(tmp_path):
    (tmp_path / "minds.py").write_text(MINDS)
    for mind, error in (("Device", "device 'nose' .* of group 'a' could not be made: RuntimeError: no power"),):
        here, _ = moving(
            f"robots: [{{name: a, devices: {{custom: {{nose: {{device: 'minds.py:{mind}'}}}}}}}}]\n", base=tmp_path
        )
        with pytest.raises(UserError, match=error):
            here.devices["a"].start()
