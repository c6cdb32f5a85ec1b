"""The command line as a stranger uses and misuses it."""

import json
import os
import pty
import subprocess
from pathlib import Path

import pytest
from conftest import command, robonet, run_json

from robonet.plugins import FAMILIES, load
from robonet.scenario.kinds import shipped_kinds


def test_help_names_every_command():
    done = robonet("--help")
    assert done.returncode == 0
    for name in ("run", "check", "list", "new", "robots", "network", "show", "export", "keys", "doctor"):
        assert name in done.stdout
        assert robonet(name, "--help").returncode == 0


@pytest.mark.parametrize("family", FAMILIES)
def test_lists_are_true(family):
    listed = json.loads(robonet("list", family, "--json").stdout)
    assert set(listed) == set(FAMILIES[family])
    for name, text in listed.items():
        assert text
        assert name in shipped_kinds() if family == "robots" else load(name, family, Path()) is not None
    assert all(name in robonet("list", family).stdout for name in listed)


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (["rnu", "x.yaml"], "did you mean 'run'?"),
        (["list", "netwoks"], "did you mean 'networks'?"),
        (["run"], "required"),
        (["run", "no-such.yaml"], "there is no file no-such.yaml"),
        (["run", "."], "is a folder"),
        (["run", "{small}", "--seed", "x"], "invalid int value"),
        (["run", "{small}", "--network", "wify"], "unknown network 'wify'"),
        (["run", "{small}", "--set", "seed"], "path=value"),
        (["run", "{small}", "--realtime", "-1"], "must be positive"),
        (["run", "{small}", "--quiet", "--json"], "not allowed with"),
        (["run", "{small}", "--variant", "x"], "has no variant 'x'"),
        (["run", "{small}", "--link", "nonsense"], "tcp://host:port"),
        (["run", "{small}", "--out", "{small}"], "is a file"),
        (["run", "{small}", "--out", "/proc/nope/x"], "cannot make the run folder"),
        (["show", "."], "is not a run folder"),
        (["show", "nowhere"], "is not a run folder"),
        (["check"], "name a scenario file"),
        (["network", "{small}", "--link", "tcp://127.0.0.1:5555", "--peers", "0"], "at least 1"),
        (["new", "/proc/nope"], "cannot write"),
    ],
)
def test_mistakes_get_one_clear_message_and_exit_code_2(arguments, answer, small, tmp_path):
    done = robonet(*[argument.format(small=small) for argument in arguments], cwd=tmp_path, timeout=30)
    assert done.returncode == 2, done.stderr
    assert answer in done.stderr
    assert done.stderr.count("error:") == 1
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_new_folder_checks_and_runs_at_once(tmp_path):
    done = robonet("new", tmp_path / "mine")
    assert done.returncode == 0
    assert robonet("check", tmp_path / "mine" / "scenario.yaml").returncode == 0
    summary = run_json(
        tmp_path / "mine" / "scenario.yaml", "--duration", "10", "--variant", "lossy", "--out", tmp_path / "out"
    )
    assert summary["packets"]["delivered"] > 0
    again = robonet("new", tmp_path / "mine")
    assert again.returncode == 2 and "exists" in again.stderr


def test_doctor_knows_what_is_here():
    findings = {(f["part"], f["name"]): f for f in json.loads(robonet("doctor", "--json").stdout)}
    assert findings["network", "disk"]["is_usable"]
    assert findings["link", "curve"]["is_usable"]
    assert findings["package", "numba"]["is_usable"]
    assert "disk" in robonet("doctor").stdout


def test_a_closed_pipe_is_no_error():
    done = subprocess.run(
        " ".join(command("list", "networks")) + " | head -c 1", shell=True, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""


def test_a_terminal_sees_a_bar_and_the_table(small, tmp_path):
    leader, follower = pty.openpty()
    run = subprocess.Popen(
        command("run", small, "--out", tmp_path / "out", "--realtime", "4"),
        stdout=follower,
        stderr=follower,
        close_fds=True,
    )
    os.close(follower)
    seen = b""
    while True:
        try:
            part = os.read(leader, 4096)
        except OSError:
            break
        if not part:
            break
        seen += part
    os.close(leader)
    assert run.wait(30) == 0
    assert "━".encode() in seen and b"%" in seen
    assert b"delivered" in seen
