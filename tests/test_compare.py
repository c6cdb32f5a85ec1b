"""`robonet compare`: the same motion and traffic under several network models, with honest intervals."""

import json
import math
import random
import statistics

import pytest
from conftest import robonet

from robonet.record.statistics import mean_interval


def test_the_same_motion_and_traffic_under_every_model(small, tmp_path):
    done = robonet("compare", small, "--networks", "ideal,disk,wifi", "--seeds", "3", "--out", tmp_path / "c", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["seeds"] == [3, 4, 5] and list(found["networks"]) == ["ideal", "disk", "wifi"]
    runs = {
        network: [json.loads((p / "summary.json").read_text()) for p in paths(found, network)]
        for network in found["runs"]
    }
    for index in range(3):
        for part in ("motion", "traffic"):
            assert len({summaries[index]["digests"][part] for summaries in runs.values()}) == 1
    assert found["notes"] == []
    for network, summaries in runs.items():
        delivered = [100 * summary["delivery_ratio"] for summary in summaries]
        told = found["networks"][network]["delivered"]
        assert told["mean"] == pytest.approx(statistics.mean(delivered)) and told["values"] == 3
        assert told["half_width"] == pytest.approx(4.303 * statistics.stdev(delivered) / math.sqrt(3))
    assert found["networks"]["ideal"]["delivered"]["mean"] == 100.0 > found["networks"]["disk"]["delivered"]["mean"]


def paths(found, network):
    from pathlib import Path

    return [Path(run) for run in found["runs"][network]]


def test_the_table_and_what_one_seed_says(small, tmp_path):
    done = robonet("compare", small, "--networks", "ideal,disk", "--seeds", "1", "--out", tmp_path / "c")
    assert done.returncode == 0, done.stderr
    assert "ideal" in done.stdout and "disk" in done.stdout and "one seed says nothing" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--networks", "ideal,dsk"], "did you mean 'disk'"),
        (["--networks", "disk,disk"], "twice"),
        (["--networks", ","], "names no model"),
        (["--networks", "disk", "--seeds", "0"], "at least 1"),
        (["--networks", "disk", "--network", "ideal"], "--networks names them all"),
    ],
)
def test_refusals(small, arguments, said):
    done = robonet("compare", small, *arguments)
    assert done.returncode == 2 and said in done.stderr


def test_intervals_cover_the_truth_nineteen_times_of_twenty():
    dice = random.Random(4)
    covered = 0
    for _ in range(2000):
        mean, half_width, _ = mean_interval([dice.gauss(5.0, 2.0) for _ in range(6)])
        covered += abs(mean - 5.0) <= half_width
    assert 0.935 <= covered / 2000 <= 0.965
    assert mean_interval([]) == (None, None, 0)
    assert mean_interval([3.0]) == (3.0, None, 1)
