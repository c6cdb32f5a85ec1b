"""Robots that follow a motion: made up, from files, and out to a file again."""

import io
import math
from pathlib import Path

import numpy as np
import pytest
from conftest import robonet

from robonet.clock import NS_PER_S
from robonet.errors import UserError
from robonet.record.folder import RunFolder
from robonet.record.ns2_export import export_ns2
from robonet.record.tables import read_table
from robonet.robots.motion import PrescribedMotion
from robonet.robots.motion_files import read_csv, read_ns2
from robonet.robots.placement import place_all
from robonet.robots.world import World
from robonet.scenario import parse_scenario


def moving(motion, count=1, base=Path(), arena="{size_m: [100, 60]}", seed=1):
    text = (
        f"robonet: 1\nname: t\nseed: {seed}\nduration_s: 100\narena: {arena}\n"
        f"robots: [{{name: a, count: {count}, motion: {motion}}}]\n"
    )
    (base / "t.yaml").write_text(text)
    world = World(parse_scenario(text, base / "t.yaml").scenario, base)
    place_all(world)
    return world, PrescribedMotion(world, base)


def track(world, motion, times_s):
    points = []
    for time in times_s:
        motion.step(round(time * NS_PER_S))
        points.append(world.xyz[:, :2].copy())
    return np.array(points)


def test_a_path_is_walked_at_its_speed(tmp_path):
    world, motion = moving("{path: {points_m: [[0, 0], [10, 0], [10, 5]], speed_m_s: 2}}", base=tmp_path)
    points = track(world, motion, [0, 2.5, 5, 6, 7.5, 9])[:, 0]
    assert points.tolist() == [[0, 0], [5, 0], [10, 0], [10, 2], [10, 5], [10, 5]]
    assert world.heading[0] == pytest.approx(math.pi / 2)


def test_a_looping_path_comes_back(tmp_path):
    world, motion = moving("{path: {points_m: [[0, 0], [4, 0]], speed_m_s: 1, loop: true}}", base=tmp_path)
    assert track(world, motion, [0, 4, 6, 8, 10])[:, 0, 0].tolist() == [0, 4, 2, 0, 2]


@pytest.mark.parametrize(
    ("motion", "slowest", "fastest"),
    [
        ("{random_waypoint: {speed_m_s: [1, 3]}}", 1.0, 3.0),
        ("{random_walk: {speed_m_s: 2, leg_s: [1, 5]}}", 2.0, 2.0),
    ],
)
def test_random_motion_keeps_to_its_speeds_and_to_the_arena(tmp_path, motion, slowest, fastest):
    world, prescribed = moving(motion, count=20, base=tmp_path)
    step = 0.01
    points = track(world, prescribed, np.arange(0, 60, step))
    speeds = np.linalg.norm(np.diff(points, axis=0), axis=2) / step
    assert speeds.max() <= fastest * (1 + 1e-6)
    assert np.quantile(speeds, 0.05) >= slowest * (1 - 1e-6)  # within a sample across a corner it is slower
    assert (np.abs(points[..., 0]) <= 50 + 1e-9).all() and (np.abs(points[..., 1]) <= 30 + 1e-9).all()
    assert np.ptp(points[..., 0]) > 50


def test_a_loop_that_leads_nowhere_stands_still(tmp_path):
    world, motion = moving("{path: {points_m: [[3, 4], [3, 4]], loop: true}}", base=tmp_path)
    assert track(world, motion, [0, 50])[:, 0].tolist() == [[3, 4], [3, 4]]


def test_waypoint_pauses(tmp_path):
    world, motion = moving("{random_waypoint: {speed_m_s: [50, 50], pause_s: [3, 3]}}", base=tmp_path)
    points = track(world, motion, np.arange(0, 90, 0.1))
    still = (np.diff(points[:, 0], axis=0) == 0).all(axis=1)
    assert 0.5 < still.mean() < 0.95


def test_motion_does_not_depend_on_the_step(tmp_path):
    fine, coarse = (moving("random_waypoint", count=3, base=tmp_path) for _ in range(2))
    track(*fine, np.arange(0, 50, 0.01))
    track(*coarse, [0])
    assert np.allclose(track(*fine, [50]), track(*coarse, [50]))


NS2 = """
# as BonnMotion and setdest write them
$node_(0) set X_ 10.0
$node_(0) set Y_ 20.0
$node_(0) set Z_ 0.0
$node_(1) set X_ 0
$node_(1) set Y_ 0
$god_ set-dist 0 1 1
$ns_ at 1.0 "$node_(0) setdest 20.0 20.0 5.0"
$ns_ at 2.0 "$node_(0) setdest 15.0 30.0 10.0";
$ns_ at 5.0 "$node_(1) setdest 3.0 4.0 1.0"
$ns_ at 8.0 "$node_(1) set X_ 50.0"
"""


def test_ns2_files_are_followed_and_later_orders_cut_earlier_ones(tmp_path):
    (tmp_path / "m.tcl").write_text(NS2)
    arena = "{size_m: [100, 60], center_m: [50, 30]}"
    world, motion = moving("{ns2: {file: m.tcl}}", count=2, base=tmp_path, arena=arena)
    points = track(world, motion, [0, 1, 1.5, 2, 3, 7.5, 9])
    assert points[:, 0].tolist() == pytest.approx(np.array(
        [[10, 20], [10, 20], [12.5, 20], [15, 20], [15, 30], [15, 30], [15, 30]]
    ))  # fmt: skip
    assert points[5, 1].tolist() == pytest.approx([1.5, 2.0])
    assert points[6, 1].tolist() == pytest.approx([50.0, 2.4])  # 3 s into the leg it jumps along x


def test_the_origin_of_ns2_is_the_corner(tmp_path):
    (tmp_path / "m.tcl").write_text("$node_(0) set X_ 0\n$node_(0) set Y_ 0\n")
    assert read_ns2(tmp_path / "m.tcl", (-50.0, -30.0))["0"].start == (-50.0, -30.0)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("$node_(0) set X_ 1\nhello\n", "m.tcl:2: not a line of an ns-2 movement file: hello"),
        ('$ns_ at 1 "$node_(0) setdest 1 2 3"\n', "node 0 has no initial X_ and Y_"),
    ],
)
def test_bad_ns2_files_are_refused_by_line(tmp_path, text, complaint):
    (tmp_path / "m.tcl").write_text(text)
    with pytest.raises(UserError, match=complaint):
        read_ns2(tmp_path / "m.tcl", (0, 0))


def test_csv_tracks(tmp_path):
    (tmp_path / "m.csv").write_text("robot,time_s,x_m,y_m\na0,0,0,0\na1,0,5,5\na0,10,10,0\na1,4,5,9\n")
    world, motion = moving("{csv: {file: m.csv}}", count=2, base=tmp_path)
    assert track(world, motion, [5])[0].tolist() == [[5, 0], [5, 9]]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("robot,time,x_m,y_m\n", "missing: time_s"),
        ("robot,time_s,x_m,y_m\na,1,zwei,3\n", "m.csv:2: .* must be numbers"),
        ("robot,time_s,x_m,y_m\na,1,nan,3\n", "m.csv:2: .* must be numbers"),
        ("robot,time_s,x_m,y_m\na,1e30,2,3\n", "m.csv:2: .* must be numbers"),
    ],
)
def test_bad_csv_files_are_refused_by_line(tmp_path, text, complaint):
    (tmp_path / "m.csv").write_text(text)
    with pytest.raises(UserError, match=complaint):
        read_csv(tmp_path / "m.csv")


def test_csv_as_spreadsheets_write_it(tmp_path):
    """With a byte order mark, and in any order."""
    (tmp_path / "m.csv").write_text("\ufeffrobot,time_s,x_m,y_m\na,10,10,0\na,0,0,0\n", encoding="utf-8")
    world, motion = moving("{csv: {file: m.csv}}", base=tmp_path)
    assert track(world, motion, [0, 5])[:, 0].tolist() == [[0, 0], [5, 0]]


def test_a_crawl_never_arrives_and_breaks_nothing(tmp_path):
    (tmp_path / "m.tcl").write_text(
        '$node_(0) set X_ 1\n$node_(0) set Y_ 1\n$ns_ at 0 "$node_(0) setdest 5 5 1e-320"\n'
    )
    world, motion = moving("{ns2: {file: m.tcl}}", base=tmp_path)
    assert np.isfinite(track(world, motion, [0, 50])).all()


def test_a_file_with_too_few_tracks_is_refused(tmp_path):
    (tmp_path / "m.csv").write_text("robot,time_s,x_m,y_m\na0,0,0,0\n")
    with pytest.raises(UserError, match="says nothing of 'a1'"):
        moving("{csv: {file: m.csv}}", count=2, base=tmp_path)


def test_a_run_goes_out_as_ns2_and_comes_back_the_same(small, tmp_path):
    """Motion of a run with walls and collisions, exported, replayed as a prescribed motion: the same positions."""
    assert robonet("run", small, "--out", tmp_path / "first", "--quiet").returncode == 0
    done = robonet("export", tmp_path / "first", "-o", tmp_path / "motion.tcl")
    assert done.returncode == 0 and "8 robots" in done.stdout
    replay = small.read_text().replace(
        "controller: diffusion, params: {speed_m_s: 1.0}", "motion: {ns2: {file: motion.tcl}}"
    )
    (tmp_path / "replay.yaml").write_text(replay)
    assert robonet("run", tmp_path / "replay.yaml", "--out", tmp_path / "second", "--quiet").returncode == 0
    first, second = (read_table(tmp_path / name / "tables" / "poses") for name in ("first", "second"))
    assert first["time_ns"].tolist() == second["time_ns"].tolist()
    for axis in ("x_m", "y_m"):
        assert np.abs(first[axis] - second[axis]).max() < 1e-6
        assert np.ptp(first[axis]) > 1
    again = io.StringIO()
    export_ns2(RunFolder(tmp_path / "second"), again)
    assert again.getvalue().count("setdest") > 100
