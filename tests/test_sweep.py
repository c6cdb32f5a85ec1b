"""Studies: every run once, whatever dies; the same digests as alone; clear answers to what makes no sense."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from conftest import ROOT, robonet, run_json

STUDY = ROOT / "scenarios" / "tutorial" / "study.yaml"

SMALL = """
robonet: 1
name: small
duration_s: 2
arena: {size_m: [20, 20]}
robots: [{name: a, count: 4, controller: "mind.py:Mind"}]
stations: [{name: base, at_m: [0, 0]}]
traffic: [{cbr: {senders: a, to: base, rate_hz: 5}}]
hooks: ["mind.py:Count"]
network: {model: disk, disk: {range_m: 15}}
"""

MIND = '''
import os, time
import robonet

SEEN = []

class Mind(robonet.Controller):
    def start(self):
        SEEN.append(self.name)
    def step(self):
        self.wheels.set_speed(0.1, 0.05 * self.index)

class Count(robonet.Hooks):
    """What a run leaves in a module must not reach the next one."""
    def after_step(self, world):
        if world.scenario.seed == int(os.environ.get("DIES_WITH", -1)):
            os.kill(os.getpid(), 9)
        if world.scenario.seed == int(os.environ.get("RAISES_WITH", -1)):
            raise ValueError("seed of doom")
        time.sleep(float(os.environ.get("SLOWLY", 0)))
    def metrics(self):
        return {"made": len(SEEN)}
'''


def study(tmp_path, seeds=4, axes="network.model: [ideal, disk]", more=""):
    (tmp_path / "small.yaml").write_text(SMALL)
    (tmp_path / "mind.py").write_text(MIND)
    path = tmp_path / "study.yaml"
    metrics = "metrics: [delivery_ratio, metrics.made]"
    path.write_text(f"study: 1\nname: s\nscenario: small.yaml\naxes: {{{axes}}}\nseeds: {seeds}\n{metrics}\n{more}\n")
    return path


def sweep(path, out, *arguments, code=0, **environment):
    done = robonet("sweep", path, "--out", out, *arguments, env={**os.environ, **environment})
    assert done.returncode == code, done.stderr
    return done


def rows(out):
    return pq.read_table(out / "results.parquet").to_pylist()


def test_the_tutorial_study(tmp_path):
    out = tmp_path / "out"
    sweep(STUDY, out, "--jobs", "2")
    found = rows(out)
    assert [row["status"] for row in found] == ["finished"] * 12
    assert len(list(out.glob("runs/*/summary.json"))) == 12
    assert {row["network.model"] for row in found} == {"ideal", "disk", "wifi"}
    assert all(row["delivery_ratio"] == 1.0 for row in found if row["network.model"] == "ideal")


def test_a_run_of_a_sweep_is_the_run_alone(tmp_path):
    """Warm processes and one process instead of two leave no trace in a record."""
    path, out = study(tmp_path, seeds=3), tmp_path / "out"
    sweep(path, out, "--jobs", "2")
    found = rows(out)
    assert [row["metrics.made"] for row in found] == [4.0] * 6, "a run saw what another left in memory"
    for row in found:
        alone = run_json(
            tmp_path / "small.yaml", "--network", row["network.model"], "--seed", str(row["seed"]),
            "--out", tmp_path / "alone",
        )  # fmt: skip
        assert alone["digest"] == row["digest"]


def test_a_killed_sweep_goes_on_where_it_was(tmp_path):
    path, out = study(tmp_path, seeds=6), tmp_path / "out"
    environment = {**os.environ, "SLOWLY": "0.02"}
    command = [sys.executable, "-m", "robonet", "sweep", str(path), "--out", str(out), "--jobs", "2"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, cwd=ROOT) as process:
        deadline = time.monotonic() + 60
        while len(list(out.glob("runs/*/summary.json"))) < 3 and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    before = {path.parent.name: path.stat().st_mtime_ns for path in out.glob("runs/*/summary.json")}
    assert 3 <= len(before) < 12
    deadline = time.monotonic() + 20
    while _children_of(out) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _children_of(out), "the runs went on after the sweep was killed"
    sweep(path, out, "--jobs", "2")
    found = rows(out)
    assert [row["status"] for row in found] == ["finished"] * 12
    after = {path.parent.name: path.stat().st_mtime_ns for path in out.glob("runs/*/summary.json")}
    assert all(after[name] == time_ns for name, time_ns in before.items()), "a finished run was made again"


def _children_of(out):
    """Processes whose files lie in a study's folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if any(str(out) in str(fd.readlink()) for fd in (entry / "fd").iterdir()):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def test_an_extended_study_keeps_what_it_has(tmp_path):
    path, out = study(tmp_path, seeds=2), tmp_path / "out"
    sweep(path, out)
    study(tmp_path, seeds=3, axes="network.model: [ideal, disk], robots.a.count: [4, 5]")
    done = json.loads(sweep(path, out, "--json").stdout)
    assert (done["ran"], done["kept"], done["total"]) == (12 - 4, 4, 12)


def test_a_changed_controller_is_another_study(tmp_path):
    path, out = study(tmp_path, seeds=1), tmp_path / "out"
    sweep(path, out)
    (tmp_path / "mind.py").write_text(MIND.replace("0.1, 0.05", "0.1, 0.06"))
    assert json.loads(sweep(path, out, "--json").stdout)["ran"] == 2


@pytest.mark.parametrize(
    ("environment", "error"),
    [({"DIES_WITH": "2"}, "its process ended with signal 9"), ({"RAISES_WITH": "2"}, "seed of doom")],
)
def test_a_run_that_fails_is_tried_again_kept_and_told(tmp_path, environment, error):
    path, out = study(tmp_path, seeds=3), tmp_path / "out"
    done = sweep(path, out, "--jobs", "2", code=3, **environment)
    assert done.stderr.count("to be tried again") == 2
    assert error in done.stderr
    found = {(row["network.model"], row["seed"]): row for row in rows(out)}
    assert [found[model, seed]["status"] for model in ("ideal", "disk") for seed in (1, 2, 3)] == [
        "finished", "failed", "finished", "finished", "failed", "finished",
    ]  # fmt: skip
    assert error in found["ideal", 2]["error"]
    logs = out / "runs" / found["ideal", 2]["run"] / "logs"
    assert (logs / "run.log").is_file() and (logs / "first-attempt.log").is_file()
    sweep(path, out)  # what failed is tried again, the rest is not
    assert all(row["status"] == "finished" for row in rows(out))


@pytest.mark.parametrize(
    ("changes", "answer"),
    [
        ({"axes": "network.modl: [ideal]"}, "network.modl"),
        ({"axes": "network.disk.range_m: [10, -1]"}, "network.disk.range_m = -1 is no scenario"),
        ({"axes": "robots.b.count: [1]"}, "no item 'b'"),
        ({"axes": "network.model: []"}, "has no values"),
        ({"axes": "network.model: [ideal, ideal]"}, "a value appears twice"),
        ({"more": "compare: models"}, "there is no axis 'models'"),
        ({"more": "sedes: 3"}, "unknown key (did you mean 'seeds'?)"),
        ({"seeds": 5000}, "10,000 runs"),
        ({"seeds": 0}, "seeds"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path, changes, answer):
    path, out = study(tmp_path, **changes), tmp_path / "out"
    done = sweep(path, out, code=2)
    assert answer in done.stderr
    assert not (out / "runs").exists()


def test_a_metric_that_no_run_has(tmp_path):
    path, out = study(tmp_path, seeds=1), tmp_path / "out"
    path.write_text(path.read_text().replace("delivery_ratio", "delivery_ration"))
    assert "no run has 'delivery_ration' (did you mean 'delivery_ratio'?)" in sweep(path, out, code=2).stderr


def test_results_of_another_version_are_not_mixed_in(tmp_path):
    path, out = study(tmp_path, seeds=2), tmp_path / "out"
    sweep(path, out)
    one = next(iter(out.glob("runs/*/summary.json")))
    summary = json.loads(one.read_text())
    summary["versions"]["robonet"] = "0.0.1"
    one.write_text(json.dumps(summary))
    assert "holds runs of robonet 0.0.1" in sweep(path, out, code=2).stderr
    sweep(path, out, "--mix-versions")
    assert one.read_text() == json.dumps(summary), "nothing is lost"


def test_a_folder_with_something_else_is_left_alone(tmp_path):
    path, out = study(tmp_path), tmp_path / "out"
    out.mkdir()
    (out / "thesis.tex").write_text("precious")
    assert "holds something else" in sweep(path, out, code=2).stderr
    assert [entry.name for entry in out.iterdir()] == ["thesis.tex"]


def test_named_points_and_queries(tmp_path):
    axes = "model: {all: {network.model: ideal}, p50: {network.model: disk, network.disk.delivery_probability: 0.5}}"
    path, out = study(tmp_path, seeds=2, axes=axes), tmp_path / "out"
    sweep(path, out)
    asked = robonet("results", out, "--csv", "--sql", "select model, count(*) as n from results group by 1 order by 1")
    assert asked.stdout.splitlines()[1:] == ['"all",2', '"p50",2']
    asked = robonet("results", out, "--csv", "--sql", "select count(distinct run) as n from packets")
    assert asked.stdout.splitlines()[1] == "4"
    assert "the query failed" in robonet("results", out, "--sql", "selec").stderr


def test_a_cluster_gives_the_same_table_although_a_worker_dies(tmp_path):
    path, out = study(tmp_path, seeds=4), tmp_path / "out"
    sweep(path, tmp_path / "local")
    environment = {**os.environ, "SLOWLY": "0.05", "DASK_DISTRIBUTED__WORKER__DAEMON": "False"}
    address = tmp_path / "scheduler.json"
    serve = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
    serve += ["--no-dashboard", "--scheduler-file", str(address)]
    processes = [subprocess.Popen(serve, env=environment, stderr=subprocess.DEVNULL)]
    try:
        deadline = time.monotonic() + 30
        while not address.is_file() and time.monotonic() < deadline:
            time.sleep(0.1)
        work = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(address)]
        work += ["--host", "127.0.0.1", "--nthreads", "1", "--no-dashboard", "--no-nanny"]
        work += ["--local-directory", str(tmp_path / "dask")]
        workers = [subprocess.Popen(work, env=environment, stderr=subprocess.DEVNULL) for _ in range(2)]
        processes += workers
        scheduler = json.loads(address.read_text())["address"]
        command = [sys.executable, "-m", "robonet", "sweep", str(path), "--out", str(out), "--dask", scheduler]
        with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
            while len(list(out.glob("runs/*/summary.json"))) < 2 and process.poll() is None:
                time.sleep(0.05)
            workers[0].kill()
            assert process.wait(120) == 0, process.stderr.read()
    finally:
        for process in processes:
            process.kill()
            process.wait()
    assert len(list(out.glob("runs/*/summary.json"))) == 8
    ours = [{**row, "wall_s": None} for row in rows(out)]
    assert ours == [{**row, "wall_s": None} for row in rows(tmp_path / "local")]


def test_no_scheduler_answers(tmp_path):
    path = study(tmp_path, seeds=1)
    assert "no Dask scheduler answers" in sweep(path, tmp_path / "o", "--dask", "tcp://127.0.0.1:9", code=2).stderr
