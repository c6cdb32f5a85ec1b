"""RoboNetSim's coordinated mobility (section 6): master and slave, what they say, and what the network makes of it.

master ~~~> relays ~~~> slave        "I am going there": once a second
  |                       |
  v                       v
destination             the same, 250 m farther east
"""

import math
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import ROOT, run_json

import robonet
from robonet.experiments.study import make_plan
from robonet.plugins import load
from robonet.record.tables import read_table

FOLDER = ROOT / "scenarios" / "robonetsim"
SCENARIO = FOLDER / "coordinated_mobility.yaml"


def part(name):
    """A class of the scenario's own file."""
    return load(f"coordinated_mobility.py:{name}", "controllers", FOLDER)


def measured(network, seed=1, duration_s=60, variant=None, *changes):
    """What the hook says at the end of a run."""
    overrides = (f"seed={seed}", f"duration_s={duration_s}", *changes)
    with robonet.World(SCENARIO, network=network, variant=variant, overrides=overrides) as world:
        return world.run()


# --- by hand: a robot with fake devices ------------------------------------------------------------------


class Body:
    """Somewhere, with motors that are obeyed and a radio whose both ends are lists."""

    def __init__(self, kind, at_m=(0.0, 0.0), heading_rad=0.0, step_s=0.1, **params):
        self.at_m, self.step_s, self.heard, self.said = at_m, step_s, [], []
        self.mind = kind.__new__(kind)
        self.clock = SimpleNamespace(step_s=step_s, time_s=0.0)
        self.mind._world = self.clock
        self.mind.rng = np.random.default_rng(1)
        self.mind.radio = SimpleNamespace(
            receive=lambda: self.heard, send=lambda to, what: self.said.append((to, what))
        )
        self.mind.omni = SimpleNamespace(set_velocity=self.move)
        self.mind.positioning = SimpleNamespace(position_m=at_m, heading_rad=heading_rad)
        self.mind.start(**params)

    def move(self, forward, left):
        heading = self.mind.positioning.heading_rad
        east = forward * math.cos(heading) - left * math.sin(heading)
        north = forward * math.sin(heading) + left * math.cos(heading)
        self.speed = math.hypot(east, north)
        self.at_m = (self.at_m[0] + east * self.step_s, self.at_m[1] + north * self.step_s)

    def step(self, *messages):
        self.heard = list(messages)
        self.mind.step()
        self.mind.positioning.position_m = self.at_m
        self.clock.time_s += self.step_s
        return self.at_m


def told(east_m, north_m, sent_ns):
    """A message of the master's."""
    packed = sys.modules[part("Slave").__module__].OFFSET.pack(east_m, north_m)
    return SimpleNamespace(payload=packed, sent_ns=sent_ns)


def test_the_slave_goes_to_where_it_is_told_and_stays_there():
    slave = Body(part("Slave"), at_m=(100.0, 50.0), heading_rad=2.0, speed_m_s=10.0)
    assert slave.step() == (100.0, 50.0)  # nobody said anything
    assert slave.step(told(3.0, 4.0, 1)) == pytest.approx((100.6, 50.8))
    for _ in range(3):
        slave.step()
    assert slave.at_m == pytest.approx((102.4, 53.2))
    assert slave.speed == pytest.approx(10.0)
    for _ in range(3):
        slave.step()
    assert slave.at_m == pytest.approx((103.0, 54.0))
    assert slave.speed == pytest.approx(0.0)


def test_what_is_nearer_than_a_step_is_not_overshot():
    slave = Body(part("Slave"), speed_m_s=10.0, step_s=0.5)
    assert slave.step(told(1.0, 0.0, 1)) == pytest.approx((1.0, 0.0))


def test_old_news_that_come_late_are_no_news():
    slave = Body(part("Slave"), speed_m_s=10.0)
    slave.step(told(1.0, 0.0, 5), told(9.0, 9.0, 4))
    assert slave.mind.target_m == (1.0, 0.0)
    slave.step(told(9.0, 9.0, 3))
    assert slave.mind.target_m == (1.0, 0.0)
    slave.step(told(2.0, 0.0, 6))
    assert slave.mind.target_m == (2.0, 0.0)


@pytest.mark.parametrize("step_s", [0.01, 0.1, 0.3, 0.5, 1.0])
def test_the_master_says_once_a_second_where_it_is_going(step_s):
    master = Body(part("Master"), at_m=(-125.0, 0.0), step_s=step_s, speed_m_s=10.0, area_m=(100.0, 40.0))
    begun, offset = (-125.0, 0.0), sys.modules[part("Master").__module__].OFFSET
    while master.clock.time_s < 29.9:
        leg, before = master.mind.leg, len(master.said)
        master.step()
        assert master.speed <= 10.0 + 1e-9
        assert abs(master.at_m[0] - begun[0]) <= 50.0 and abs(master.at_m[1] - begun[1]) <= 20.0
        for to, what in master.said[before:]:
            assert to == "slave"
            assert offset.unpack(what) == pytest.approx((leg.to_m[0] - begun[0], leg.to_m[1] - begun[1]))
    assert len(master.said) == 30
    assert len({what for _, what in master.said}) > 3


def test_the_walk_does_not_depend_on_the_step():
    def walk(step_s):
        master = Body(part("Master"), step_s=step_s, speed_m_s=5.0)
        places = []
        for index in range(1, round(60 / step_s) + 1):
            master.step()
            if math.isclose(index * step_s % 1.0, 0.0, abs_tol=1e-6) or math.isclose(index * step_s % 1.0, 1.0):
                places.append(master.at_m)
        return np.array(places)

    fine = walk(0.01)
    assert len(fine) == 60
    for step_s in (0.05, 0.1, 0.2, 0.5):
        assert walk(step_s) == pytest.approx(fine, abs=1e-6)


# --- in the arena ----------------------------------------------------------------------------------------


def test_without_radios_the_slave_stays_and_the_error_is_the_way_of_the_master():
    with robonet.World(SCENARIO, network=None, overrides=("duration_s=30",)) as world:
        master, slave = world.row_of("master"), world.row_of("slave")
        begun = world.xyz[[master, slave]].copy()
        errors_m = []
        while True:
            goes_on = world.step()
            errors_m.append(math.dist(world.xyz[master], begun[0]))
            if not goes_on:
                break
        assert (world.xyz[slave] == begun[1]).all()
    assert world.metrics["error_mean_m"] == pytest.approx(np.mean(errors_m))
    assert world.metrics["error_max_m"] == pytest.approx(max(errors_m))
    assert world.metrics["error_p50_m"] == pytest.approx(np.median(errors_m))
    windows = [world.metrics[f"error_until_{end:04d}_m"] for end in (10, 20, 30)]
    assert windows == pytest.approx(np.reshape(errors_m, (3, 100)).mean(axis=1))


@pytest.mark.parametrize(
    ("variant", "speed_m_s", "seed"), [(None, 10, 1), (None, 10, 2), ("slow", 5, 3), ("large", 10, 4)]
)
def test_with_ideal_radios_the_error_is_what_the_master_walks_between_two_messages(variant, speed_m_s, seed):
    found = measured("ideal", seed, 60, variant)
    assert 0.0 < found["error_mean_m"] < found["error_max_m"]
    assert found["error_max_m"] <= speed_m_s * (1.0 + 2 * 0.1)  # a second, a step to be heard, a step to set off


def test_the_error_is_that_of_the_recorded_poses(tmp_path):
    summary = run_json(SCENARIO, "--network", "disk", "--duration", "30", "--out", tmp_path / "out")
    poses = read_table(tmp_path / "out" / "tables" / "poses")
    master, slave = (
        {key: poses[key][poses["robot"] == name] for key in ("x_m", "y_m")} for name in ("master", "slave")
    )
    errors_m = np.hypot(master["x_m"] + 250 - slave["x_m"], master["y_m"] - slave["y_m"])[1:]
    assert len(errors_m) == 300
    assert summary["metrics"]["error_mean_m"] == pytest.approx(errors_m.mean())
    assert summary["metrics"]["error_p95_m"] == pytest.approx(np.percentile(errors_m, 95))


def test_the_same_seed_gives_the_same_run():
    def run(seed):
        overrides = ("duration_s=10", f"seed={seed}")
        with robonet.World(SCENARIO, network="wifi", overrides=overrides) as world:
            return world.run(), world.motion_digest

    first = run(1)
    assert run(1) == first
    assert run(2) != first


def test_every_model_sees_the_same_master_and_relays():
    def master_and_relays(network):
        with robonet.World(SCENARIO, network=network, overrides=("duration_s=10",)) as world:
            world.run()
            rows = [row for row, name in enumerate(world.names) if name != "slave"]
            return world.xyz[rows].copy()

    ideal = master_and_relays("ideal")
    for network in ("disk", "wifi"):  # last bits aside: the engine cuts a step into parts as the fastest one needs it
        assert np.abs(master_and_relays(network) - ideal).max() < 1e-9


# --- what must come out ----------------------------------------------------------------------------------


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("variant", "seeds", "duration_s"), [(None, (1, 2), 60), ("large", (2,), 60)])
def test_the_more_real_the_radios_the_larger_the_error(variant, seeds, duration_s):
    """Figure 6, on common seeds: ideal < simple < 802.11."""
    mean_m = {
        network: np.mean([measured(network, seed, duration_s, variant)["error_mean_m"] for seed in seeds])
        for network in ("ideal", "disk", "wifi")
    }
    assert mean_m["ideal"] < 12.0
    assert 1.1 * mean_m["ideal"] < mean_m["disk"]
    assert 1.1 * mean_m["disk"] < mean_m["wifi"]


@pytest.mark.parametrize("name", ["fig4", "table3", "fig5", "fig6", "fig6-large", "fig7", "fig8"])
def test_the_studies_can_be_planned(name):
    assert len(make_plan(FOLDER / f"{name}.study.yaml").runs) >= 9
