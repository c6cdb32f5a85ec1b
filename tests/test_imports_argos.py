"""Experiments of ARGoS: what maps becomes a scenario, all else is listed with its line."""

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_imports import complaint, damage, listed, read

from robonet.imports import import_argos, import_file
from robonet.imports.parts import DEEPEST

EXPERIMENT = """<?xml version="1.0" ?>
<argos-configuration>
  <framework>
    <system threads="4" />
    <experiment length="30" ticks_per_second="20" random_seed="9" />
  </framework>
  <controllers>
    <footbot_diffusion_controller id="roam" library="somewhere/libroam">
      <actuators><differential_steering implementation="default" factor_stddev="0.02" bias_avg="0.1" /></actuators>
      <sensors>
        <footbot_proximity implementation="default" show_rays="true" noise_level="0.1" />
        <positioning implementation="default" pos_noise_range="-0.1:0.2" angle_noise_range="-180:180" />
        <range_and_bearing implementation="medium" medium="rab" packet_drop_prob="0.25" noise_std_dev="0.05" />
        <footbot_turret_encoder implementation="default" />
      </sensors>
      <params alpha="7.5" delta="0.1" velocity="5" />
    </footbot_diffusion_controller>
    <lua_controller id="script"><actuators /><sensors /><params script="a.lua" /></lua_controller>
  </controllers>
  <loop_functions library="somewhere/libloop" label="loop" />
  <arena size="10, 8, 2" center="1,2,1">
    <box id="wall" size="4,0.1,0.5" movable="false"><body position="0,1,0" orientation="30,0,0" /></box>
    <cylinder id="pillar" radius="0.2" height="0.5" movable="false"><body position="2,2,0" orientation="0,0,0" /></cylinder>
    <box id="crate" size="0.3,0.2,0.1" movable="true" mass="2"><body position="1,1,0" orientation="90,0,0" /></box>
    <light id="sun" position="1,2,3" orientation="0,0,0" color="yellow" intensity="4" medium="leds" />
    <floor id="floor" source="loop_functions" pixels_per_meter="10" />
    <e-puck id="p0"><body position="0,0,0" orientation="90,0,0" /><controller config="script" /></e-puck>
    <e-puck id="p1"><body position="0,3,0" orientation="0,0,0" /><controller config="script" /></e-puck>
    <foot-bot id="lone" rab_range="5" rab_data_size="20">
      <body position="3,3,0" orientation="0,0,0" /><controller config="roam" />
    </foot-bot>
    <distribute>
      <position method="uniform" min="-1,0,0" max="3,2,0" />
      <orientation method="uniform" min="0,0,0" max="360,0,0" />
      <entity quantity="7" max_trials="50"><foot-bot id="fb"><controller config="roam" /></foot-bot></entity>
    </distribute>
    <distribute>
      <position method="gaussian" mean="1,2,0" std_dev="0.5,1,0" />
      <orientation method="constant" values="45,0,0" />
      <entity quantity="3" max_trials="5"><cylinder id="can" radius="0.1" height="0.2" movable="false" /></entity>
    </distribute>
    <distribute>
      <position method="grid" center="0,0,0" distances="0.5,0.5,0" layout="2,2,1" />
      <orientation method="constant" values="0,0,0" />
      <entity quantity="4" max_trials="1"><kilobot id="k"><controller config="script" /></kilobot></entity>
    </distribute>
    <distribute>
      <position method="grid" center="0,5,0" distances="1,2,0" layout="3,1,1" />
      <orientation method="constant" values="0,0,0" />
      <entity quantity="3" max_trials="1"><foot-bot id="row"><controller config="roam" /></foot-bot></entity>
    </distribute>
  </arena>
  <physics_engines><dynamics2d id="plane" /><pointmass3d id="air" /><physx id="px" /></physics_engines>
  <media><range_and_bearing id="rab" /><led id="leds" /></media>
  <visualization><qt-opengl /></visualization>
</argos-configuration>
"""


@pytest.fixture
def experiment(tmp_path):
    path = tmp_path / "team.argos"
    path.write_text(EXPERIMENT)
    return path


def test_an_experiment_becomes_a_scenario(experiment):
    data = read(import_argos(experiment))
    assert (data["name"], data["seed"], data["duration_s"], data["step_s"]) == ("team", 9, 30, 0.05)
    assert (data["threads"], data["engine"]) == (4, "dynamics2d")
    assert data["arena"] == {
        "size_m": [10, 8],
        "center_m": [1, 2],
        "walls": False,
        "obstacles": [
            {"box": {"center_m": [0, 1], "size_m": [4, 0.1], "angle_deg": 30}},
            {"circle": {"center_m": [2, 2], "radius_m": 0.2}},
        ],
        "lights": [{"at_m": [1, 2], "height_m": 3, "intensity": 4}],
    }
    crate, can = data["objects"]
    assert crate["place"] == {"poses": [[1, 1, 90]]} and (crate["mass_kg"], crate["movable"]) == (2, True)
    assert can["place"] == {"gaussian": {"mean_m": [1, 2], "std_m": [0.5, 1], "max_trials": 5}}
    assert (can["cylinder"], can["count"], can["movable"], can["heading_deg"]) == ({"radius_m": 0.1}, 3, False, 45)


def test_robots_have_their_places_controllers_and_noise(experiment):
    robots = {group["name"]: group for group in read(import_argos(experiment))["robots"]}
    assert list(robots) == ["fb", "k", "row", "p", "lone"]
    fb = robots["fb"]
    assert (fb["kind"], fb["controller"]) == ("foot-bot", "diffusion")
    assert fb["params"] == {"alpha_deg": 7.5, "delta": 0.1, "speed_m_s": 0.05}
    assert fb["place"] == {"uniform": {"center_m": [1, 1], "size_m": [4, 2], "max_trials": 50}}
    assert (fb["count"], fb["heading_deg"]) == (7, "random")
    assert fb["devices"]["wheels"] == {"noise": [{"gaussian": {"std": 0.02}}]}
    assert fb["devices"]["proximity"] == {"noise": [{"uniform": {"low": -0.1, "high": 0.1}}]}
    assert fb["devices"]["positioning"]["noise"] == [{"uniform": {"low": -0.1, "high": 0.2}}]
    assert fb["devices"]["positioning"]["heading_noise"][0]["uniform"]["high"] == pytest.approx(math.pi)
    heard = {"drop_probability": 0.25, "range_noise": [{"gaussian": {"std": 0.05}}]}
    assert fb["devices"]["range_and_bearing"] == heard
    assert robots["lone"]["devices"]["range_and_bearing"] == {**heard, "range_m": 5, "payload_bytes": 20}
    assert robots["k"]["place"] == {"grid": {"center_m": [0, 0], "spacing_m": 0.5}}
    assert robots["row"]["place"] == {"at_m": [[1, 5], [0, 5], [-1, 5]]}
    assert robots["p"] == {"name": "p", "kind": "e-puck", "count": 2, "place": {"poses": [[0, 0, 90], [0, 3, 0]]}}


def test_what_an_experiment_has_beside_is_listed(experiment):
    imported = import_argos(experiment)
    found = listed(imported)
    for start in (
        "8: footbot_diffusion_controller: library",
        '9: differential_steering: bias_avg "0.1": set the noise by hand',
        '11: footbot_proximity: show_rays "true": only for display',
        "14: footbot_turret_encoder: there is nothing like it",
        "18: lua_controller: what it does: a Lua script",
        '20: loop_functions label "loop": a program for ARGoS',
        '25: light: color "yellow"',
        '26: floor id "floor": only a floor',
        '53: physx id "px": there is nothing like it',
        '54: range_and_bearing id "rab": implicit',
        "55: visualization: only for display",
    ):
        assert any(line.startswith(start) for line in found), start
    assert f"# {len(found)} parts of it did not map" in imported.text


def test_regions_meet_at_gates(experiment):
    def engine(name, left, right):
        corners = [(left, 0), (right, 0), (right, 4), (left, 4)]
        vertices = "".join(f'<vertex point="{x},{y}" />' for x, y in corners)
        return f'<dynamics2d id="{name}"><boundaries><sides>{vertices}</sides></boundaries></dynamics2d>'

    text = EXPERIMENT.replace('<dynamics2d id="plane" />', engine("west", -4, 1) + engine("east", 1, 6))
    experiment.write_text(text)
    west, east, air = read(import_argos(experiment))["engines"]
    assert west["sides"] == ["wall", {"gate": "east"}, "wall", "wall"]
    assert east["sides"] == ["wall", "wall", "wall", {"gate": "west"}]
    assert west["region"] == {"corners_m": [[-4, 0], [1, 0], [1, 4], [-4, 4]]}
    assert air == {"name": "air", "engine": "pointmass3d"}


def test_engines_without_regions_are_given_to_who_needs_them(experiment):
    text = EXPERIMENT.replace('<dynamics2d id="plane" />', '<dynamics3d id="solid" iterations="4" />')
    experiment.write_text(text.replace('<e-puck id="p1">', '<eye-bot id="p1">').replace("0,3,0", "0,3,2", 1))
    experiment.write_text(experiment.read_text().replace("</e-puck>\n    <foot-bot", "</eye-bot>\n    <foot-bot"))
    data = read(import_argos(experiment))
    assert data["engines"][0] == {"name": "solid", "engine": "dynamics3d", "iterations": 4}
    engines = {group["name"]: group["engine"] for group in data["robots"]}
    assert engines["p1"] == "air" and engines["fb"] == "solid"


@pytest.mark.parametrize(
    ("old", "new", "answer"),
    [
        ("</arena>", "", "not valid XML: mismatched tag"),
        ('size="10, 8, 2"', 'size="10, 8"', 'team.argos:21: arena size "10, 8": 3 numbers apart by commas'),
        ('size="10, 8, 2"', 'size="10, 0, 2"', "must be above 0"),
        ('size="10, 8, 2"', "", "team.argos:21: arena: the attribute size is missing"),
        ('ticks_per_second="20"', 'ticks_per_second="often"', 'experiment ticks_per_second "often": a number'),
        ('ticks_per_second="20"', 'ticks_per_second="1e8"', "a step is a microsecond at least"),
        ('random_seed="9"', 'random_seed="nan"', "a number within reason"),
        ('method="gaussian"', 'method="magic"', "uniform, gaussian, grid or constant is expected"),
        ('layout="2,2,1"', 'layout="1,2,1"', "there is no room for 4"),
        ('max="3,2,0"', 'max="-3,2,0"', "min is above max"),
        ('movable="true"', 'movable="perhaps"', "true or false is expected"),
        ('config="roam"', 'config="rome"', 'controller config "rome": there is no controller with this id'),
        ('pos_noise_range="-0.1:0.2"', 'pos_noise_range="0.1"', "two numbers with a colon"),
        ("argos-configuration", "html", "team.argos:2: the outermost element is html"),
        ("<framework>", "<framwork>", "not valid XML"),
        ("<argos-configuration>", '<!DOCTYPE a [<!ENTITY b "c">]><argos-configuration>', "team.argos:2: a document type"),
    ],
)  # fmt: skip
def test_malformed_experiments_are_refused_by_file_and_line(experiment, old, new, answer):
    assert old in EXPERIMENT
    experiment.write_text(EXPERIMENT.replace(old, new))
    told = complaint(import_argos, experiment)
    assert answer in told and str(experiment) in told


def test_elements_in_each_other_without_end_are_refused(tmp_path):
    path = tmp_path / "deep.argos"
    path.write_text("<argos-configuration>" + "<a>" * (DEEPEST + 5))
    assert "elements in each other" in complaint(import_argos, path)


@given(st.data())
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damaged_experiments_are_imported_or_refused(experiment, data):
    damage(data, experiment, EXPERIMENT)


def test_the_ending_tells_that_it_is_argos(experiment):
    assert import_file(experiment).text == import_argos(experiment).text
