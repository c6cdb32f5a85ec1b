"""Same scenario, same seed: the same record, whatever carries it; another model: the same motion and traffic."""

import json

import pytest
from conftest import ROOT, SMALL, free_port, run_json, shipped_scenarios
from make_golden import golden

from robonet.plugins import NETWORKS
from robonet.streams import StreamPool, stream


@pytest.fixture
def reference(small, tmp_path):
    return run_json(small, "--out", tmp_path / "reference")


def test_again_and_over_tcp_and_with_other_thread_counts(small, tmp_path, reference):
    again = [
        run_json(small, "--out", tmp_path / "again"),
        run_json(small, "--out", tmp_path / "tcp", "--link", f"tcp://127.0.0.1:{free_port()}"),
        run_json(small, "--out", tmp_path / "one", env={"NUMBA_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}),
        run_json(small, "--out", tmp_path / "two", env={"NUMBA_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}),
        run_json(small, "--out", tmp_path / "hash", env={"PYTHONHASHSEED": "12345"}),
    ]
    assert {run["digest"] for run in again} == {reference["digest"]}


def test_another_seed_is_another_run(small, tmp_path, reference):
    other = run_json(small, "--seed", "4", "--out", tmp_path / "other")
    assert all(other["digests"][part] != digest for part, digest in reference["digests"].items())


@pytest.mark.parametrize("change", [["--network", "ideal"], ["--set", "network.disk.routing=flooding"]])
def test_models_see_the_same_motion_and_traffic(small, tmp_path, reference, change):
    other = run_json(small, *change, "--out", tmp_path / "other")
    assert other["digests"]["motion"] == reference["digests"]["motion"]
    assert other["digests"]["traffic"] == reference["digests"]["traffic"]
    assert other["digest"] != reference["digest"]


def test_adding_a_station_that_listens_changes_nobody_elses_motion(small, tmp_path, reference):
    small.write_text(SMALL.replace("stations:", "stations:\n  - {name: ear, at_m: [10, 10]}"))
    assert (
        run_json(small, "--out", tmp_path / "o")["digests"]["traffic"] != reference["digests"]["traffic"]
    )  # numbers move
    import numpy as np

    from robonet.record.tables import read_table

    first, second = (read_table(tmp_path / name / "tables" / "poses") for name in ("reference", "o"))
    assert np.array_equal(first["x_m"], second["x_m"]) and np.array_equal(first["y_m"], second["y_m"])


def test_streams_are_found_again_by_name_and_are_independent():
    assert stream(1, "a", "b").random() == stream(1, "a", "b").random()
    draws = {stream(seed, *name).random() for seed in (1, 2) for name in (("a",), ("b",), ("a", "b"), ("ab",))}
    assert len(draws) == 8
    pool = StreamPool(1, "a")
    assert pool["b"].random() == stream(1, "a", "b").random()
    assert pool["b"] is pool["b"]


@pytest.mark.parametrize("network", NETWORKS)
def test_the_tutorial_runs_under_every_network_model(network, tmp_path):
    hello = ROOT / "scenarios" / "tutorial" / "hello.yaml"
    summary = run_json(hello, "--duration", "5", "--network", network, "--out", tmp_path / "out")
    assert summary["network"] == network
    assert summary["packets"]["delivered"] > 0
    assert summary["digests"]["traffic"] == GOLDEN["scenarios/tutorial/hello.yaml"]["traffic"]


GOLDEN = json.loads((ROOT / "tests" / "golden.json").read_text())


@pytest.mark.parametrize("path", shipped_scenarios())
def test_shipped_scenarios_run_and_do_not_change_unnoticed(path):
    """`python tests/make_golden.py` writes the file anew after a change that is meant.

    Under `wifi` the last bit of a logarithm may decide over a frame, and with it over all that follow: there what
    arrives is compared roughly, what moves and what is sent to the bit as everywhere.
    """
    found, expected = golden(path), GOLDEN[path]
    if "model: wifi" in (ROOT / path).read_text():
        for side in (found, expected):
            side["packets"].pop("dropped")
            side["broadcasts"].pop("receptions")
        delivered, then = found["packets"].pop("delivered"), expected["packets"].pop("delivered")
        assert delivered == pytest.approx(then, rel=0.2)
    assert found == expected
