"""Threads change how long a step takes, and not one bit of what happens in it."""

from hashlib import blake2b

import numpy as np
import pytest
from conftest import run_json
from worlds import moving

from robonet.threads import Workers

GATES = (
    "engines: [{name: west, region: {box: {center_m: [-10, 0], size_m: [20, 40]}}, sides: [wall, {gate: east}, wall, wall]},"
    " {name: east, region: {box: {center_m: [10, 0], size_m: [20, 40]}}, sides: [wall, wall, wall, {gate: west}]}]\n"
)
WORLD = (
    "arena: {size_m: [40, 40], obstacles: [{box: {center_m: [5, 5], size_m: [8, 0.1], angle_deg: 20}}, {circle: {center_m: [-5, 5], radius_m: 1}}]}\n"
    "robots: [{name: a, count: 3800}, {name: m, kind: minibot, count: 1200, devices: {sonar: {noise: [{gaussian: {std: 0.01}}]}}}]\n"
)


def digest(threads, engines):
    """Fifty steps of five thousand robots that turn away from what they see, and of all they saw."""
    here, physics = moving(engines + WORLD, threads)
    ring, sonar, odometry = (
        here.devices["a"].get("proximity"),
        here.devices["m"].get("sonar"),
        here.devices["a"].get("odometry"),
    )
    total = blake2b()
    here.twist[:, 0] = 0.3
    for _ in range(50):
        here.look()
        near = ring.distances_m
        far = sonar.distances_m
        here.twist[:3800, 2] = np.where(near.min(axis=1) < 0.05, 2.0, 0.0)
        here.twist[3800:, 2] = 1.0 - far[:, 0] / 2.0
        for part in (near, far, here.xyz, here.heading, here.owner):
            total.update(np.ascontiguousarray(part).data)
        physics.step()
        here.index += 1
        physics.finish()
    total.update(odometry.pose.data)
    assert here.threads.parts(here.robots) == threads
    assert (here.threads._pool is None) == (threads == 1)
    return total.hexdigest()


@pytest.mark.parametrize("engines", ["", GATES])
def test_motion_and_readings_are_the_same_on_one_and_two_threads(engines):
    assert digest(1, engines) == digest(2, engines)


@pytest.mark.parametrize("engines", ["", GATES])
def test_a_run_has_the_same_digest_on_one_and_two_threads(tmp_path, engines):
    robots = "robots: [{name: a, count: 2100, controller: diffusion, params: {speed_m_s: 0.5}}]\n"
    (tmp_path / "s.yaml").write_text(
        f"robonet: 1\nname: t\nduration_s: 2\narena: {{size_m: [40, 40]}}\n{engines}{robots}"
        "traffic: [{cbr: {senders: 5, to: random, rate_hz: 5}}]\nnetwork: {model: ideal}\nrecord: {poses_every_s: 2}\n"
    )
    runs = [
        run_json(tmp_path / "s.yaml", "--set", f"threads={threads}", "--out", tmp_path / str(threads))
        for threads in (1, 2)
    ]
    assert runs[0]["digests"] == runs[1]["digests"]
    assert runs[0]["digest"] == runs[1]["digest"]


# --- the workers themselves ------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("rows", [0, 1, 999, 2000, 2001, 10_007])
def test_parts_are_all_rows_once(threads, rows):
    seen = np.zeros(rows, dtype=int)

    def work(first, last):
        seen[first:last] += 1

    Workers(threads).over_rows(rows, work)
    assert (seen == 1).all()


@pytest.mark.parametrize("threads", [1, 2])
def test_what_fails_on_a_thread_fails_here(threads):
    def fail(first, last):
        if last == 5000:
            raise ValueError("in a part")

    with pytest.raises(ValueError, match="in a part"):
        Workers(threads).over_rows(5000, fail)
    with pytest.raises(ZeroDivisionError):
        Workers(threads).each([lambda: None, lambda: 1 / 0])
