"""Scenarios: what is right becomes frozen types, what is wrong is answered with file, line, path, value and a hint."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from conftest import ROOT, SMALL, robonet, shipped_scenarios
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from robonet.errors import RobonetError, ScenarioError, UserError
from robonet.record.folder import resolved, scenario_hash
from robonet.scenario import Scenario, load_scenario, parse_scenario

TEXT = """robonet: 1
name: relay
duration_s: 60
arena:
  size_m: [50, 50]
robots:
  - name: scout
    count: 20
    place: {uniform: {}}
  - {name: scribe, motion: {random_waypoint: {}}}
stations:
  - {name: base, at_m: [0, 0]}
traffic:
  - cbr: {senders: 0.2, to: base}
network:
  model: disk
  disk: {range_m: 120}
variants:
  big:
    robots:
      - {name: scout, count: 40, place: {grid: {}}}
    network: {disk: {range_m: 80}}
  broken:
    network:
      disk: {range_m: far}
"""


def complaint(text=TEXT, *overrides, variant=None):
    with pytest.raises(RobonetError) as caught:
        parse_scenario(text, Path("relay.yaml"), overrides, variant)
    return str(caught.value)


def test_a_good_scenario_is_frozen_and_has_defaults():
    scenario = parse_scenario(TEXT).scenario
    assert scenario.step_s == 0.1
    assert scenario.robots[0].count == 20
    assert scenario.network.disk.range_m == 120.0
    with pytest.raises(ValidationError):
        scenario.seed = 3


@pytest.mark.parametrize(
    ("old", "new", "answer"),
    [
        ("range_m: 120", "rnge_m: 120", "relay.yaml:17: network.disk.rnge_m: unknown key (did you mean 'range_m'?)"),
        ("count: 20", "count: 2.5", "relay.yaml:8: robots[0].count: must be a whole number, got 2.5"),
        ("count: 20", "count: '20'", 'relay.yaml:8: robots[0].count: must be a whole number, got "20"'),
        ("count: 20", "count: 0", "relay.yaml:8: robots[0].count: there is nobody in the group: raise count or reserve, got 0"),
        ("duration_s: 60", "duration_s: -1", "relay.yaml:3: duration_s: must be > 0.0, got -1"),
        ("duration_s: 60", "duration_s: .inf", "relay.yaml:3: duration_s: must be a finite number"),
        ("duration_s: 60", "duration_s: 0.25", "relay.yaml:3: duration_s: must be a whole number of steps of 0.1 s, got 0.25"),
        ("name: relay\n", "", "relay.yaml:1: name: is missing"),
        ("robonet: 1", "robonet: 2", "relay.yaml:1: robonet: must be 1, got 2"),
        ("size_m: [50, 50]", "size_m: [50]", "relay.yaml:5: arena.size_m[1]: is missing"),
        ("size_m: [50, 50]", "size_m: 50", "relay.yaml:5: arena.size_m: must be a list, got 50"),
        ("model: disk", "model: disc", "relay.yaml:16: network.model: unknown network 'disc' (did you mean 'disk'?); known: ideal, disk"),
        ("to: base", "to: bas", "relay.yaml:14: traffic[0].cbr.to: no robot, group or station is called 'bas' (did you mean 'base'?)"),
        ("senders: 0.2", "senders: 1.5", "relay.yaml:14: traffic[0].cbr.senders: must be a share above 0"),
        ("senders: 0.2", "senders: 23", "relay.yaml:14: traffic[0].cbr.senders: there are only 22 robots and stations, got 23"),
        ("{uniform: {}}", "{uniform: {}, grid: {}}", "relay.yaml:9: robots[0].place: give exactly one of uniform, gaussian, grid, line, cluster, scale_free, at_m, poses; found 2"),
        ("{uniform: {}}", "{at_m: [[0, 0]]}", "relay.yaml:9: robots[0].place.at_m: has 1 points for 20 robots"),
        ("at_m: [0, 0]", "at_m: [0, 26]", "relay.yaml:12: stations[0].at_m: lies outside the arena"),
        ("name: base", "name: scout", "relay.yaml:12: stations[0].name: the name is used twice"),
        ("name: base", "name: scout7", "relay.yaml:12: stations[0].name: the name is also that of a robot of group scout"),
        ("name: base", "name: all", "the word all is taken"),
        ("name: base", "name: b!", "must begin with a letter"),
        ("random_waypoint: {}", "csv: {file: no.csv}", "relay.yaml:10: robots[1].motion.csv.file: there is no file no.csv"),
        ("{random_waypoint: {}}", "{random_waypoint: {speed_m_s: [2, 1]}}", "the first number must not exceed the second"),
        ("name: scribe,", "name: scribe, controller: diffusion,", "robots with a controller move themselves"),
        ("name: scribe,", "name: scribe, kind: footbot,", "unknown robot 'footbot' (did you mean 'foot-bot'?)"),
        ("name: relay", "name: relay\nname: again", "relay.yaml:3: name: the key appears twice"),
        ("robots:", "robots: [", "not valid YAML"),
        ("name: relay\n", "name: relay\n[a, b]: c\n", "relay.yaml:3: a key must be a word"),
        ("duration_s: 60", "duration_s: 1e-10", "relay.yaml:3: duration_s: must be a whole number of steps"),
        ("range_m: 120", "delay_s: 1e300", "relay.yaml:17: network.disk.delay_s: must be <= 9000000000.0"),
        ("{uniform: {}}", "{uniform: {center_m: [1000, 0], size_m: [9, 9]}}", "place.uniform: reaches outside the arena"),
        ("{random_waypoint: {}}", "{random_walk: {leg_s: [1.0e-10, 1]}}", "leg_s[0]: must be >= 0.001"),
        ("{random_waypoint: {}}", "{random_walk: {leg_s: [5, 1]}}", "the first number must not exceed the second"),
        ("  - cbr:", "  - crb:", "traffic[0].crb: unknown key (did you mean 'cbr'?)"),
    ],
)  # fmt: skip
def test_wrong_places_are_named(old, new, answer):
    assert old in TEXT
    assert answer in complaint(TEXT.replace(old, new, 1))


def test_all_wrong_places_are_named_at_once():
    text = TEXT.replace("count: 20", "count: 2.5").replace("range_m: 120", "range_m: -1")
    assert len(complaint(text).splitlines()) == 2


@pytest.mark.parametrize(
    "text", ["", "- a\n- b\n", "just words", "a: &a [*a]", "{" * 500, "\t", "robonet: !!python/object:os.system {}"]
)
def test_what_is_no_scenario_at_all(text):
    assert complaint(text).startswith("relay.yaml")


def test_overrides_reach_everything_and_are_blamed_by_their_own_name():
    change = ("network.disk.range_m=80", "robots.scout.count=5", "robots.1.count=2", "seed=9", "arena.walls=false")
    scenario = parse_scenario(TEXT, overrides=change).scenario
    assert (scenario.network.disk.range_m, scenario.robots[0].count, scenario.robots[1].count) == (80.0, 5, 2)
    assert (scenario.seed, scenario.arena.walls) == (9, False)
    assert complaint(TEXT, "network.disk.range_m=-1").startswith(
        "--set network.disk.range_m=-1: network.disk.range_m: must be > 0.0"
    )
    assert "did you mean 'range_m'" in complaint(TEXT, "network.disk.rang_m=3")
    assert "no item 'scoot'" in complaint(TEXT, "robots.scoot.count=3")
    assert "write it as path=value" in complaint(TEXT, "seed")
    assert "duration_s has no parts" in complaint(TEXT, "duration_s.deep=3")
    assert complaint(TEXT, "seed.deep=3").startswith("--set seed.deep=3: seed: must be a whole number")


def test_variants_merge_by_name_and_are_blamed_where_they_stand():
    scenario = parse_scenario(TEXT, variant="big").scenario
    assert scenario.robots[0].count == 40 and scenario.robots[0].place.grid is not None
    assert scenario.robots[1].name == "scribe"
    assert scenario.network.disk.range_m == 80.0
    assert 'relay.yaml:25: network.disk.range_m: must be a number, got "far"' in complaint(variant="broken")
    assert "has no variant 'huge'; it has: big, broken" in complaint(variant="huge")


def test_a_change_to_one_group_is_none_to_another_with_the_same_anchor():
    text = "robonet: 1\nname: a\nduration_s: 1\nrobots:\n"
    text += "  - {name: a, controller: diffusion, params: &p {speed_m_s: 0.1}}\n  - {name: b, controller: diffusion, params: *p}\n"
    robots = parse_scenario(text, overrides=("robots.a.params.speed_m_s=2",)).scenario.robots
    assert [group.params["speed_m_s"] for group in robots] == [2, 0.1]


def test_a_bomb_of_anchors_is_refused():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 9)]
    assert "more than 200,000 values" in complaint("\n".join(lines))


def test_numbers_as_people_write_them():
    assert parse_scenario(TEXT.replace("duration_s: 60", "duration_s: 6e1")).scenario.duration_s == 60.0
    assert parse_scenario(TEXT.replace("model: disk", "model: disk # 2026-01-01")).scenario.network.model == "disk"


def test_checking_runs_no_user_code(tmp_path):
    trap = tmp_path / "trap"
    (tmp_path / "minds.py").write_text(f"open({str(trap)!r}, 'w')\nclass Mind: pass\n")
    text = SMALL.replace("controller: diffusion, params: {speed_m_s: 1.0}", "controller: minds.py:Mind")
    (tmp_path / "s.yaml").write_text(text + "hooks: ['minds.py:Mind']\n")
    done = robonet("check", tmp_path / "s.yaml")
    assert done.returncode == 0, done.stderr
    assert not trap.exists()
    (tmp_path / "s.yaml").write_text(text.replace("py:Mind", "py:Mond"))
    done = robonet("check", tmp_path / "s.yaml")
    assert done.returncode == 2
    assert "defines no class Mond (did you mean 'Mind'?)" in done.stderr
    (tmp_path / "minds.py").write_text("class Mind(:\n")
    assert "is not valid Python" in robonet("check", tmp_path / "s.yaml").stderr


def test_check_also_looks_at_the_variants(tmp_path):
    (tmp_path / "s.yaml").write_text(TEXT)
    done = robonet("check", tmp_path / "s.yaml")
    assert done.returncode == 2
    assert "network.disk.range_m: must be a number" in done.stderr


def test_the_json_schema_accepts_what_is_shipped_and_refuses_the_rest():
    schema = json.loads(robonet("check", "--schema").stdout)
    validator = jsonschema.Draft202012Validator(schema)
    for path in map(ROOT.joinpath, shipped_scenarios()):
        validator.validate(yaml.safe_load(path.read_text()))
    assert schema["properties"]["duration_s"]["description"] == "Simulated time."
    assert not validator.is_valid({"robonet": 1, "name": "x", "duration_s": 1, "rbots": []})
    for part, is_valid in (
        ({"hooks": ["hk.py:H"]}, True),
        ({"hooks": [{"hook": "hk.py:H", "params": {"a": 1}}]}, True),
        ({"robots": [{"name": "a", "place": "uniform"}]}, True),
        ({"robots": [{"name": "a", "place": {"uniform": {}, "grid": {}}}]}, False),
        ({"robots": [{"name": "a", "place": "unform"}]}, False),
        ({"arena": {"obstacles": [{}]}}, False),
    ):
        assert validator.is_valid({"robonet": 1, "name": "x", "duration_s": 1, **part}) is is_valid, part
    missing = [
        f"{name}.{key}"
        for name, part in {**schema["$defs"], "Scenario": schema}.items()
        for key, field in part.get("properties", {}).items()
        if "description" not in field and "$ref" not in field
    ]
    assert not missing, "fields without documentation"


def test_a_resolved_scenario_is_the_same_scenario(small):
    loaded = load_scenario(small, ("seed=5",))
    again = parse_scenario(yaml.safe_dump(resolved(loaded))).scenario
    assert again == loaded.scenario
    assert scenario_hash(again) == scenario_hash(load_scenario(small).scenario)


@given(st.text(max_size=60))
def test_no_text_escapes_as_another_error(text):
    try:
        parse_scenario(text)
    except ScenarioError:
        pass


values = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.lists(st.integers(), max_size=3)
)


@given(
    st.sampled_from(sorted(Scenario.model_fields)), values | st.dictionaries(st.text(max_size=4), values, max_size=2)
)
def test_no_value_escapes_as_another_error(key, value):
    data = yaml.safe_load(TEXT)
    data[key] = value
    try:
        parse_scenario(yaml.safe_dump(data))
    except UserError:
        pass
