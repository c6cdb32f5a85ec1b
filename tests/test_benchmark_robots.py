"""benchmarks/robots.py runs every one of its worlds and tells what it measured; timings themselves are not tested."""

import json
import os
import stat
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT

import robonet
from robonet import errors as robonet_errors

sys.path.insert(0, str(ROOT / "benchmarks"))

SCRIPT = ROOT / "benchmarks" / "robots.py"
POSITIVE = ("ms_per_tick", "best_ms_per_tick", "cpu_ms_per_tick", "ns_per_robot", "real_time_factor", "setup_s")


def measured(*arguments, path="/usr/bin:/bin"):
    command = [sys.executable, str(SCRIPT), *arguments, "--steps", "8", "--repeats", "1", "--json"]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=110, check=False, env={**os.environ, "PATH": path}
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("benchmark", ["argos", "stage", "laser", "rab"])
def test_every_world_is_measured(benchmark):
    result = measured("--benchmark", benchmark, "--controllers", "array", "python", "--robots", "10", "20")
    rows = result["rows"]
    assert [(row["controllers"], row["robots"]) for row in rows] == [
        ("array", 10), ("array", 20), ("python", 10), ("python", 20)
    ]  # fmt: skip
    for row in rows:
        assert all(row[key] > 0 for key in POSITIVE)
        assert row["side_m"] == 40 and row["memory"] is None
        assert (row["python_us_per_robot"] is not None) == (row["controllers"] == "python")
    assert set(result["growth_exponent"]) == {"kinematics2d, 1 threads, array", "kinematics2d, 1 threads, python"}


def test_one_size_is_told_at_the_top_with_its_memory():
    result = measured("--robots", "2000", "--threads", "2")
    assert result["robots"] == 2000 and result["ms_per_tick"] == result["rows"][0]["ms_per_tick"]
    assert result["memory"]["readings_bytes_per_robot"] == 24 * 8
    assert result["memory"]["bytes_per_robot"] > 24 * 8
    assert result["growth_exponent"] == {}


def test_the_other_engine():
    assert measured("--robots", "20", "--engine", "dynamics2d")["ms_per_tick"] > 0


@pytest.mark.parametrize("benchmark", ["stage", "laser"])
def test_array_and_python_controllers_do_the_same(benchmark):
    from robots_bench import ours, worlds

    ends = []
    for controllers in ("array", "python"):
        world = ours.make(
            benchmark, 60, "kinematics2d", 1, getattr(worlds.BENCHMARKS[benchmark], controllers), is_whole=False
        )
        start = world.xyz.copy()
        world.step(30)
        ends.append(world.xyz.copy())
        assert np.hypot(*(world.xyz - start).T[:2]).mean() > 0.2
    assert np.abs(ends[0] - ends[1]).max() < 1e-6


def test_a_huddle_disperses():
    huddle = {"cluster": {"density": 3.0, "range_m": 0.5}}
    team = {
        "name": "team",
        "kind": "minibot",
        "count": 16,
        "controller": "robonet.swarm.dispersal:Dispersal",
        "place": huddle,
    }
    world = robonet.World(network=None, arena={"size_m": [30, 30]}, robots=[team])
    eyes = world["team"].sonar

    def in_reach():
        return (eyes.distances_m < eyes.range_m).any(axis=1).mean()

    assert in_reach() == 1.0
    world.step(300)
    assert in_reach() < 0.7


def test_dispersal_needs_eyes():
    team = {"name": "team", "kind": "kilobot", "controller": "robonet.swarm.dispersal:Dispersal"}
    with pytest.raises(robonet_errors.ControllerError, match="dispersal needs sonar or proximity or laser"):
        robonet.World(network=None, robots=[team])


def test_more_robots_than_fit_get_a_larger_arena():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    from robots_bench import worlds

    assert worlds.side_m("argos", 10_000) == 40
    assert worlds.side_m("argos", 100_000) == pytest.approx(40 * 10**0.5)
    for side in (40, 126.5):
        for x, y, width, height in worlds.inner_walls(side):
            assert abs(x) + width / 2 <= side / 2 + 1e-9 and abs(y) + height / 2 <= side / 2 + 1e-9


def pretender(folder, name, text):
    """A program that reads the world it is given and takes some time."""
    program = folder / name
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return f"{folder}:/usr/bin:/bin"


@pytest.mark.parametrize(("benchmark", "name"), [("argos", "argos3"), ("stage", "stage")])
def test_others_on_the_path_run_the_same_world(tmp_path, benchmark, name):
    path = pretender(tmp_path, name, f'for last; do :; done; cp "$last" {tmp_path}/seen; sleep 0.01')
    result = measured("--benchmark", benchmark, "--robots", "10", path=path)
    assert result[name]["ticks"] > 0 and "ratio" in result[name]
    seen = (tmp_path / "seen").read_text()
    assert seen.count("<foot-bot " if benchmark == "argos" else "bot( pose") == 10


def test_another_that_fails_is_blamed(tmp_path):
    path = pretender(tmp_path, "stage", "echo no such controller; exit 3")
    command = [sys.executable, str(SCRIPT), "--benchmark", "stage", "--robots", "10", "--steps", "4", "--json"]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=110, check=False, env={**os.environ, "PATH": path}
    )
    assert done.returncode == 1
    assert "stage failed" in done.stderr and "no such controller" in done.stderr
