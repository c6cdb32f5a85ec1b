"""Whatever dies, stalls, lies or fills up: the run ends within a bound, names the culprit, leaves nothing behind.

launcher ──life line──▶ robots ◀──link──▶ network ◀──life line── launcher
   ✗                      ✗                  ✗
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil
import pytest
from conftest import SMALL, command, free_port, robonet, side_of, wait_until

from robonet.errors import PeerLost
from robonet.link.endpoints import parse_endpoint
from robonet.link.network_side import NetworkSide
from robonet.link.zmq_transport import ZmqConnection, ZmqListener
from robonet.scenario.schema import Limits
from robonet.testing import EchoNetwork

LONG = SMALL.replace("duration_s: 4", "duration_s: 100000") + "limits: {heartbeat_timeout_s: 2}\n"
BOUND_S = 25.0
"""The stated bound: heartbeat, wind-down and writing out together."""


@pytest.fixture
def long_run(tmp_path):
    """A run that would go on for ever, once it has taken its first steps and written its first tables."""
    (tmp_path / "long.yaml").write_text(LONG)
    sockets = Path(tempfile.mkdtemp(prefix="rn"))  # socket paths are short
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(sockets)}
    launcher = subprocess.Popen(
        command("run", "long.yaml", "--out", "out", "--json"),
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    launcher.folder = tmp_path / "out"
    launcher.sockets = sockets
    yield launcher
    if launcher.poll() is None:
        launcher.kill()
    launcher.communicate()
    shutil.rmtree(sockets)


def both_sides(launcher):
    for table in ("poses", "sends", "packets"):  # each is written by itself, one after the other
        wait_until(lambda table=table: list((launcher.folder / "tables" / table).glob("0*.parquet")), what=table)
    return side_of(launcher, "robots"), side_of(launcher, "network")


def ended(launcher, sides):
    """The launcher's exit code and last words, and proof that nothing is left."""
    out, err = launcher.communicate(timeout=BOUND_S)
    gone, alive = psutil.wait_procs(sides, timeout=1)
    assert not alive, f"still there: {alive}"
    assert not list(launcher.sockets.iterdir()), "a socket folder was left behind"
    return launcher.returncode, out, err


def assert_readable(folder, status):
    shown = robonet("show", folder, "--json")
    assert shown.returncode == 0, shown.stderr
    summary = json.loads(shown.stdout)
    assert summary["status"] == status
    assert summary["steps"] > 0
    packets = summary["packets"]
    assert packets["sent"] > 0
    assert packets["sent"] == packets["delivered"] + sum(packets["dropped"].values())


@pytest.mark.parametrize("victim", ["robots", "network"])
def test_a_killed_side_is_named_and_the_other_ends(long_run, victim):
    sides = both_sides(long_run)
    sides[victim == "network"].kill()
    code, out, err = ended(long_run, sides)
    name = {"robots": "robot", "network": "network"}[victim]
    assert code == 3
    assert f"the {name} simulator was killed by SIGKILL" in err
    assert err.count("error:") == 1 and "Traceback" not in err
    assert json.loads(out)["status"] == "failed"
    assert_readable(long_run.folder, "failed")


def test_a_killed_launcher_takes_both_sides_with_it(long_run):
    sides = both_sides(long_run)
    long_run.kill()
    _, alive = psutil.wait_procs(sides, timeout=BOUND_S)
    assert not alive
    assert not list(long_run.sockets.iterdir())
    assert_readable(long_run.folder, "interrupted")


@pytest.mark.parametrize("victim", ["robots", "network"])
@pytest.mark.parametrize("delay_s", [0.05, 0.4, 0.8])
def test_killed_while_starting(long_run, victim, delay_s):
    robots, network = side_of(long_run, "robots"), side_of(long_run, "network")
    time.sleep(delay_s)  # somewhere in start-up: the moment is the point
    {"robots": robots, "network": network}[victim].kill()
    code, _, err = ended(long_run, (robots, network))
    assert code == 3
    assert "was killed by SIGKILL" in err


@pytest.mark.parametrize("victim", ["robots", "network"])
def test_a_stopped_side_is_noticed_by_its_silence(long_run, victim):
    sides = both_sides(long_run)
    stopped = sides[victim == "network"]
    stopped.send_signal(signal.SIGSTOP)
    code, _, err = ended(long_run, sides)
    name = {"robots": "robot", "network": "network"}[victim]
    assert code == 3
    assert f"the {name} simulator" in err and "gave no sign of life for 2 s" in err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_keeps_what_it_has(long_run, number):
    sides = both_sides(long_run)
    long_run.send_signal(number)
    code, out, _ = ended(long_run, sides)
    assert code == 130
    summary = json.loads(out)
    assert summary["status"] == "interrupted"
    assert summary["digest"]
    assert_readable(long_run.folder, "interrupted")


@pytest.mark.parametrize("delay_s", [0.0, 0.1, 0.3, 0.6, 1.0])
def test_interrupted_while_starting(long_run, delay_s):
    robots, network = side_of(long_run, "robots"), side_of(long_run, "network")
    time.sleep(delay_s)
    long_run.send_signal(signal.SIGINT)
    code, out, err = ended(long_run, (robots, network))
    assert code == 130, err
    assert json.loads(out)["status"] == "interrupted"


def test_asked_twice_it_does_not_wait(long_run):
    robots, network = both_sides(long_run)
    robots.send_signal(signal.SIGSTOP)
    long_run.send_signal(signal.SIGINT)
    long_run.send_signal(signal.SIGINT)
    time.sleep(0.2)
    long_run.send_signal(signal.SIGINT)
    began = time.monotonic()
    code, _, _ = ended(long_run, (robots, network))
    assert code == 130
    assert time.monotonic() - began < 10


CONTROLLERS = """
import os, time
import robonet

class Raises(robonet.Controller):
    def step(self):
        if self.time_s >= 1.0 and self.name == "scout3":
            raise KeyError("no such thing")

class Hangs(robonet.Controller):
    def step(self):
        while self.time_s >= 1.0:
            pass

class NotANumber(robonet.Controller):
    def step(self):
        self.wheels.set_speed(float("nan"), 0.0)

class Exits(robonet.Controller):
    def step(self):
        if self.time_s >= 1.0:
            os._exit(7)

class Forks(robonet.Controller):
    def start(self):
        if self.index == 0 and not os.fork():
            open(os.path.join(os.path.dirname(__file__), "child"), "w").write(str(os.getpid()))
            time.sleep(60)
            os._exit(0)
    def step(self): pass

class CallsExit(robonet.Controller):
    def step(self):
        raise SystemExit(5)

class WrongParams(robonet.Controller):
    def start(self, speed_m_s): pass
    def step(self): pass
"""


def run_with(tmp_path, controller, extra=""):
    (tmp_path / "minds.py").write_text(CONTROLLERS)
    text = SMALL.replace("controller: diffusion, params: {speed_m_s: 1.0}", f"controller: minds.py:{controller}")
    (tmp_path / "s.yaml").write_text(text + extra)
    return robonet("run", tmp_path / "s.yaml", "--out", tmp_path / "out", timeout=BOUND_S)


def test_a_controller_that_raises_is_blamed_by_name(tmp_path):
    done = run_with(tmp_path, "Raises")
    assert done.returncode == 3
    assert (
        "minds.py:Raises of robot 'scout3' raised at simulated time 1.000 s: KeyError: 'no such thing'" in done.stderr
    )
    assert 'raise KeyError("no such thing")' in done.stderr  # the user's own line, in the traceback
    assert "controllers.py" not in done.stderr.replace("minds.py", "")  # and none of robonet's
    assert_readable(tmp_path / "out", "failed")


def test_a_controller_that_says_nan_is_blamed_by_name(tmp_path):
    done = run_with(tmp_path, "NotANumber")
    assert done.returncode == 3
    assert "robot 'scout0'" in done.stderr and "finite" in done.stderr


def test_wrong_params_are_explained_before_anything_runs(tmp_path):
    done = run_with(tmp_path, "WrongParams")
    assert done.returncode == 2
    assert "robots[0].params: WrongParams.start needs 'speed_m_s'" in done.stderr


def test_a_controller_that_calls_exit_is_blamed_by_name(tmp_path):
    done = run_with(tmp_path, "CallsExit")
    assert done.returncode == 3
    assert "minds.py:CallsExit of robot 'scout0' raised at simulated time 0.000 s: SystemExit: 5" in done.stderr


def test_a_controller_that_never_returns_hits_the_step_deadline(tmp_path):
    done = run_with(tmp_path, "Hangs", "limits: {step_timeout_s: 2}\n")
    assert done.returncode == 3
    assert "the robot simulator 'robots' did not answer for 2 s at" in done.stderr
    assert "at simulated time 1.000 s" in done.stderr


def test_a_side_that_exits_by_itself_is_named(tmp_path):
    done = run_with(tmp_path, "Exits")
    assert done.returncode == 3
    assert "the robot simulator exited with 7" in done.stderr


def test_eight_runs_at_once(small, tmp_path):
    runs = [
        subprocess.Popen(
            command("run", small, "--json"), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(8)
    ]
    outputs = [run.communicate(timeout=100) for run in runs]
    assert [run.returncode for run in runs] == [0] * 8, outputs
    summaries = [json.loads(out) for out, _ in outputs]
    assert len({summary["digest"] for summary in summaries}) == 1
    assert len({summary["run_dir"] for summary in summaries}) == 8


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root")
def test_a_full_disk_ends_the_run_and_keeps_what_fits(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", disk], check=True)
    try:
        (tmp_path / "long.yaml").write_text(LONG)
        done = robonet("run", tmp_path / "long.yaml", "--out", disk / "out", timeout=60)
        assert done.returncode == 3
        assert "No space left on device" in done.stderr
        assert done.stderr.count("error:") == 1 and "Traceback" not in done.stderr
        shown = robonet("show", disk / "out", "--json")
        assert shown.returncode == 0, shown.stderr
        assert json.loads(shown.stdout)["steps"] > 0
    finally:
        subprocess.run(["umount", disk], check=True)


def test_sides_started_by_hand_in_either_order(small, tmp_path):
    digests = set()
    for order in (("robots", "network"), ("network", "robots")):
        folder = Path(tempfile.mkdtemp(prefix="rn"))
        link = f"ipc://{folder}/link"
        first = subprocess.Popen(command(order[0], small, "--link", link, "--out", folder), stderr=subprocess.PIPE)
        wait_until(lambda pid=first.pid: psutil.Process(pid).cpu_times().user > 0.3, what="a start")
        second = robonet(order[1], small, "--link", link, "--out", folder)
        assert second.returncode == 0, second.stderr
        assert first.wait(10) == 0
        first.stderr.close()
        digests.add(json.loads((folder / "summary.json").read_text())["digest"])
        assert robonet("show", folder).returncode == 0
        assert not (folder / "link").exists()
        shutil.rmtree(folder)
    assert len(digests) == 1


def test_a_side_that_waits_in_vain_says_for_whom(small, tmp_path):
    small.write_text(SMALL + "limits: {join_timeout_s: 1}\n")
    for side, missing in (("robots", "the network simulator did not answer"), ("network", "here: none")):
        done = robonet(side, small, "--link", f"ipc://{tmp_path}/x", timeout=20)
        assert done.returncode == 3
        assert missing in done.stderr, done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_no_socket_file_exists_while_running(long_run):
    both_sides(long_run)
    assert not list(long_run.sockets.glob("*/link"))


REPORTS = """
import socket
from robonet.link.control import Control
near, far = socket.socketpair()
control = Control(far.detach())
for step in range(5000):
    control._reported = 0.0
    control.report_step(step)
print("done")
"""


def test_a_suspended_launcher_does_not_hold_up_its_sides():
    """It reads no reports; they are dropped, and the side goes on."""
    done = subprocess.run([sys.executable, "-c", REPORTS], capture_output=True, text=True, check=True, timeout=30)
    assert done.stdout == "done\n"


def test_nohup_is_respected(tmp_path, small):
    small.write_text(LONG)
    run = subprocess.Popen(
        command("run", small, "--out", tmp_path / "out", "--quiet"),
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),  # noqa: PLW1509
    )
    try:
        wait_until(lambda: list((tmp_path / "out").glob("tables/poses/0*.parquet")), what="the first table")
        run.send_signal(signal.SIGHUP)
        time.sleep(0.5)
        assert run.poll() is None
    finally:
        run.terminate()
        assert run.wait(20) == 130


def test_what_a_controller_forks_does_not_outlive_the_run(tmp_path):
    began = time.monotonic()
    done = run_with(tmp_path, "Forks")
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - began < 20
    child = int((tmp_path / "child").read_text())
    wait_until(lambda: not psutil.pid_exists(child) or psutil.Process(child).status() == "zombie", 5, "its end")


def test_a_flood_of_junk_suspends_no_deadline(tmp_path):
    link = parse_endpoint(f"tcp://127.0.0.1:{free_port()}")
    listener = ZmqListener(link)
    is_over = threading.Event()

    def flood():
        stranger = ZmqConnection(link)
        while not is_over.is_set():
            stranger.send(b"junk")
            time.sleep(0.005)
        stranger.close()

    thread = threading.Thread(target=flood)
    thread.start()
    began = time.monotonic()
    try:
        with pytest.raises(PeerLost, match="here: none"):
            NetworkSide(EchoNetwork(), listener, Limits(join_timeout_s=1)).serve()
        assert time.monotonic() - began < 5
    finally:
        is_over.set()
        thread.join()
        listener.close()


def test_a_folder_in_use_is_not_shared(long_run):
    both_sides(long_run)
    second = robonet("run", long_run.folder.parent / "long.yaml", "--out", long_run.folder)
    assert second.returncode == 2
    assert "is in use by a run that is still going on" in second.stderr
    shown = json.loads(robonet("show", long_run.folder, "--json").stdout)
    assert shown["status"] == "running"
    assert shown["steps"] > 0
