"""Two machines, as far as the kernel can tell: a network namespace for each side and a wire between them.

rn<pid>a                              rn<pid>b
robonet network ──198.18.7.1───198.18.7.2── robonet robots
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from conftest import SMALL, command, robonet, run_json, wait_until

SCENARIO = SMALL + "limits: {join_timeout_s: 3}\n"
LISTENING = ":15B3 00000000:0000 0A"
"""Port 5555 in state LISTEN, as /proc/net/tcp has it."""


class Machine(NamedTuple):
    """A namespace and its address on the wire."""

    namespace: str
    address: str

    def start(self, *arguments):
        """Start `robonet` there; `ip` becomes it, so that the process is the side itself."""
        return subprocess.Popen(
            ["ip", "netns", "exec", self.namespace, *command(*arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def ip(*arguments):
    return subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)


def make_machines(here, there):
    """Make both and the wire between them; the reason if that cannot be done here."""
    if sys.platform != "linux":
        return "network namespaces are Linux's"
    if os.geteuid() != 0:
        return "only root can make network namespaces"
    if shutil.which("ip") is None:
        return "there is no `ip` here (apt-get install iproute2)"
    steps = [("netns", "add", here.namespace), ("netns", "add", there.namespace)]
    steps += [
        ("-n", here.namespace, "link", "add", "wire", "type", "veth", "peer", "name", "wire", "netns", there.namespace)
    ]
    for machine in (here, there):
        steps.append(("-n", machine.namespace, "address", "add", f"{machine.address}/30", "dev", "wire"))
        steps.append(("-n", machine.namespace, "link", "set", "wire", "up"))
    for step in steps:
        done = ip(*step)
        if done.returncode:
            return f"ip {' '.join(step)}: {done.stderr.strip()}"
    return None


@pytest.fixture(scope="module")
def machines():
    here, there = Machine(f"rn{os.getpid()}a", "198.18.7.1"), Machine(f"rn{os.getpid()}b", "198.18.7.2")
    try:
        if reason := make_machines(here, there):
            (pytest.fail if "CI" in os.environ else pytest.skip)(reason)
        yield here, there
    finally:
        if shutil.which("ip") is not None:
            for machine in (here, there):
                ip("netns", "delete", machine.namespace)


@pytest.fixture
def started():
    """Processes that do not outlive their test."""
    processes = []
    yield processes
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(SCENARIO)
    return path


def keys_in(folder):
    assert robonet("keys", folder).returncode == 0
    return folder


def listen(machine, started, scenario, keys, out):
    """The network side, once it can be reached."""
    network = machine.start("network", scenario, "--link", "tcp://0.0.0.0:5555", "--keys", keys, "--out", out)
    started.append(network)
    sockets = Path(f"/proc/{network.pid}/net/tcp")
    wait_until(lambda: network.poll() is not None or LISTENING in sockets.read_text(), what="the listening socket")
    return network


def join(machine, address, started, scenario, keys, out):
    robots = machine.start("robots", scenario, "--link", f"tcp://{address}:5555", "--keys", keys, "--out", out)
    started.append(robots)
    return robots


def test_two_machines_simulate_what_one_does(machines, started, scenario, tmp_path):
    here, there = machines
    alone = run_json(scenario, "--out", tmp_path / "alone")
    keys = keys_in(tmp_path / "keys")
    network = listen(here, started, scenario, keys, tmp_path / "here")
    robots = join(there, here.address, started, scenario, keys, tmp_path / "there")
    for side in (robots, network):
        _, errors = side.communicate(timeout=30)
        assert side.returncode == 0, errors
    summary = json.loads((tmp_path / "there" / "summary.json").read_text())
    assert summary["status"] == "finished"
    assert summary["packets"]["delivered"] > 0
    assert summary["digest"] == alone["digest"]
    assert list((tmp_path / "there" / "tables" / "poses").glob("*.parquet"))
    assert list((tmp_path / "here" / "tables" / "packets").glob("*.parquet"))


def test_a_stranger_is_refused_and_nothing_begins(machines, started, scenario, tmp_path):
    """It knows whom it talks to, but its own key is not on the list."""
    here, there = machines
    keys, forged = keys_in(tmp_path / "keys"), keys_in(tmp_path / "forged")
    shutil.copy(keys / "network.key", forged)
    network = listen(here, started, scenario, keys, tmp_path / "here")
    stranger = join(there, here.address, started, scenario, forged, tmp_path / "there")
    _, errors = stranger.communicate(timeout=30)
    assert stranger.returncode == 3
    assert "the network simulator refused this side's key" in errors
    assert "Traceback" not in errors
    _, errors = network.communicate(timeout=30)
    assert network.returncode == 3
    assert "waited for 1 robot simulator(s), here: none" in errors
    assert not (tmp_path / "there" / "summary.json").exists()
    assert not list(tmp_path.rglob("*.parquet"))


@pytest.mark.parametrize(("side", "link"), [("network", "tcp://0.0.0.0:5555"), ("robots", "tcp://198.18.7.1:5555")])
def test_without_keys_nobody_talks_to_other_machines(machines, started, scenario, tmp_path, side, link):
    process = machines[side == "robots"].start(side, scenario, "--link", link, "--out", tmp_path / "out")
    started.append(process)
    _, errors = process.communicate(timeout=10)
    assert process.returncode == 2
    assert "needs keys" in errors
    assert "robonet keys" in errors
