"""What tests share: a small scenario, and `robonet` as users run it."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import hypothesis
import psutil
import pytest

ROOT = Path(__file__).parent.parent

SMALL = """
robonet: 1
name: small
seed: 3
duration_s: 4
step_s: 0.1
arena: {size_m: [40, 40], obstacles: [{box: {center_m: [5, 0], size_m: [2, 10]}}]}
robots:
  - {name: scout, count: 8, controller: diffusion, params: {speed_m_s: 1.0}}
stations:
  - {name: base, at_m: [0, -15], controller: beacon}
traffic:
  - {cbr: {senders: scout, to: base, rate_hz: 5, payload_bytes: 64}}
network:
  model: disk
  disk: {range_m: 15, delivery_probability: 0.8, delay_s: 0.002, multihop: true}
"""


def shipped_scenarios():
    """The scenarios that come with robonet, studies of them aside."""
    files = (path for path in ROOT.glob("scenarios/**/*.yaml") if path.read_text().find("\nrobonet: 1\n") >= 0)
    return sorted(str(path.relative_to(ROOT)) for path in files)


@pytest.fixture
def small(tmp_path):
    """A scenario file of four simulated seconds."""
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    return path


def command(*arguments):
    return [sys.executable, "-m", "robonet", *map(str, arguments)]


def robonet(*arguments, cwd=None, timeout=240, env=None):
    """Run the command line to its end."""
    return subprocess.run(
        command(*arguments),
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, **(env or {})},
        check=False,
    )


def run_json(*arguments, **options):
    """`robonet run --json`, which must succeed."""
    done = robonet("run", *arguments, "--json", **options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def free_port():
    """A port of this machine that nobody uses at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until(condition, seconds=30.0, what="the condition"):
    """Poll until something holds; its truthy value."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.02)
    raise AssertionError(f"{what} did not come true within {seconds} s")


def side_of(launcher, name):
    """The process of one side below a launcher, once it is there."""

    def find():
        for child in psutil.Process(launcher.pid).children():
            line = child.cmdline()
            if len(line) > 3 and line[1] == "-c" and line[3] == name:
                return child
        return None

    return wait_until(find, what=f"the {name} process")


hypothesis.settings.register_profile(
    "robonet",
    deadline=None,  # the machine is shared: time is no sign of an error here
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
    derandomize="CI" in os.environ,
)
hypothesis.settings.load_profile("robonet")
