"""Who may join: private folders, loopback by default, keys for everything else."""

import json
import os
import stat
import subprocess
import threading

import pytest
import zmq
from conftest import SMALL, command, free_port, robonet, side_of, wait_until

from robonet.errors import PeerLost, UserError
from robonet.link.endpoints import parse_endpoint
from robonet.link.keys import make_keys
from robonet.link.launch import private_endpoint
from robonet.link.messages import encode
from robonet.link.network_side import NetworkSide
from robonet.link.robots_side import RobotsSide
from robonet.link.zmq_transport import ZmqConnection, ZmqListener
from robonet.scenario.schema import Limits
from robonet.testing import EchoNetwork, ScriptedRobots


def test_the_socket_lies_in_a_folder_of_the_users_own():
    with private_endpoint() as address:
        folder = parse_endpoint(address).socket_file.parent
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not folder.exists()


def test_what_a_killed_launcher_left_is_swept(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", "")
    monkeypatch.setattr("tempfile.tempdir", "/tmp")
    dead = subprocess.Popen(["true"])
    dead.wait()
    import pathlib

    stale = pathlib.Path(f"/tmp/robonet-{dead.pid}-abcdefgh")
    alive = pathlib.Path(f"/tmp/robonet-{os.getpid()}-abcdefgh")
    someones = pathlib.Path(f"/tmp/robonet-{dead.pid}-results")
    full = pathlib.Path(f"/tmp/robonet-{dead.pid}-ijklmnop")
    for folder in (stale, alive, someones, full):
        folder.mkdir(mode=0o700)
    (stale / "link").touch()
    (full / "thesis").touch()
    with private_endpoint():
        assert not stale.exists()
        assert alive.exists() and someones.exists() and (full / "thesis").exists()
    (full / "thesis").unlink()
    for folder in (alive, someones, full):
        folder.rmdir()


@pytest.mark.parametrize(
    ("address", "is_public"),
    [
        ("tcp://127.0.0.1:5555", False),
        ("tcp://127.8.9.1:5555", False),
        ("tcp://localhost:1", False),
        ("tcp://[::1]:5555", False),
        ("tcp://0.0.0.0:5555", True),
        ("tcp://*:5555", True),
        ("tcp://network:5555", True),
        ("tcp://[::]:5555", True),
        ("ipc:///tmp/x", False),
    ],
)
def test_what_leaves_the_machine_is_told_apart(address, is_public):
    assert parse_endpoint(address).is_public is is_public


@pytest.mark.parametrize(
    "address",
    [
        "tcp://127.0.0.1",
        "tcp://:5555",
        "tcp://h:99999",
        "udp://h:1",
        "ipc://",
        "ipc:///no/such/folder/x",
        "ipc:///tmp/" + "x" * 200,
        "h:1",
    ],
)
def test_addresses_that_are_none_are_refused(address):
    with pytest.raises(UserError, match="--link"):
        parse_endpoint(address)


@pytest.mark.parametrize("side", ["robots", "network"])
def test_a_public_address_without_keys_is_refused_at_once(small, side):
    done = robonet(side, small, "--link", "tcp://0.0.0.0:5555", timeout=20)
    assert done.returncode == 2
    assert "robonet keys" in done.stderr and "Traceback" not in done.stderr


def test_run_never_opens_a_public_port(small):
    done = robonet("run", small, "--link", "tcp://0.0.0.0:5555", timeout=20)
    assert done.returncode == 2


def test_a_run_listens_nowhere_on_the_network(small, tmp_path):
    small.write_text(SMALL.replace("duration_s: 4", "duration_s: 100000"))
    run = subprocess.Popen(command("run", small, "--out", tmp_path / "out", "--quiet"))
    try:
        sides = [side_of(run, name) for name in ("robots", "network")]
        wait_until(lambda: any((tmp_path / "out" / "tables").iterdir()), what="a first table")
        assert not [c for side in sides for c in side.net_connections(kind="inet")]
    finally:
        run.terminate()
        run.wait(20)


def test_secret_keys_are_for_the_owner_alone(tmp_path):
    written = make_keys(tmp_path / "keys")
    assert [path.name for path in written] == ["network.key", "network.key_secret", "robots.key", "robots.key_secret"]
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in written)
    with pytest.raises(UserError, match="exists"):
        make_keys(tmp_path / "keys")


LIMITS = Limits(join_timeout_s=3, step_timeout_s=10, heartbeat_timeout_s=2)


class Network:
    """A network with keys, in a thread."""

    def __init__(self, keys):
        self.endpoint = parse_endpoint(f"tcp://127.0.0.1:{free_port()}")
        self.listener = ZmqListener(self.endpoint, keys)
        self.simulator = EchoNetwork()
        self.error = None
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self):
        try:
            NetworkSide(self.simulator, self.listener, LIMITS).serve()
        except PeerLost as error:
            self.error = error

    def close(self):
        self.thread.join(20)
        assert not self.thread.is_alive()
        self.listener.close()


def test_with_the_right_keys_a_run_goes_through(tmp_path):
    keys = tmp_path / "keys"
    make_keys(keys)
    network = Network(keys)
    connection = ZmqConnection(network.endpoint, keys)
    assert RobotsSide(ScriptedRobots(), connection, LIMITS).run() == "finished"
    connection.close()
    network.close()
    assert network.error is None


def test_a_peer_whose_key_is_not_allowed_gets_nothing(tmp_path):
    """It even knows the network's public key, and is still refused."""
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    make_keys(ours)
    make_keys(theirs)
    (theirs / "network.key").write_text((ours / "network.key").read_text())
    network = Network(ours)
    connection = ZmqConnection(network.endpoint, theirs)
    with pytest.raises(PeerLost):
        RobotsSide(ScriptedRobots(), connection, LIMITS).run()
    connection.close()
    network.close()
    assert "here: none" in str(network.error)
    assert not network.simulator.positions


def test_a_refused_key_is_told_to_who_sends_too(tmp_path):
    """libzmq takes the way to a peer down when that peer refuses the key: sends then block, and must say why."""
    keys, forged = tmp_path / "keys", tmp_path / "forged"
    make_keys(keys)
    make_keys(forged)
    (forged / "network.key").write_text((keys / "network.key").read_text())
    endpoint = parse_endpoint(f"tcp://127.0.0.1:{free_port()}")
    listener, connection = ZmqListener(endpoint, keys), ZmqConnection(endpoint, forged)
    try:
        with pytest.raises(PeerLost, match="refused this side's key"):
            wait_until(lambda: connection.send(b"anyone there?"), what="the refusal")
    finally:
        connection.close()
        listener.close()


def test_the_networks_own_key_does_not_make_a_robot(tmp_path):
    keys, posing = tmp_path / "keys", tmp_path / "posing"
    make_keys(keys)
    posing.mkdir()
    for name in ("network.key", "network.key_secret"):
        (posing / name).write_text((keys / name).read_text())
        (posing / name.replace("network", "robots")).write_text((keys / name).read_text())
    network = Network(keys)
    connection = ZmqConnection(network.endpoint, posing)
    with pytest.raises(PeerLost):
        RobotsSide(ScriptedRobots(), connection, LIMITS).run()
    connection.close()
    network.close()


def test_a_peer_without_keys_gets_nothing(tmp_path):
    make_keys(tmp_path / "keys")
    network = Network(tmp_path / "keys")
    context = zmq.Context()
    plain = context.socket(zmq.DEALER)
    plain.setsockopt(zmq.RCVTIMEO, 1000)
    plain.connect(network.endpoint.address)
    plain.send(encode(ScriptedRobots().hello()))
    with pytest.raises(zmq.Again):
        plain.recv()
    plain.close(0)
    context.term()
    network.close()
    assert "here: none" in str(network.error)


def test_missing_keys_are_explained(small, tmp_path):
    (tmp_path / "empty").mkdir()
    done = robonet("network", small, "--link", "tcp://127.0.0.1:5555", "--keys", tmp_path / "empty", timeout=20)
    assert done.returncode == 2
    assert "make a pair with `robonet keys" in done.stderr


def test_keys_are_made_by_one_command(tmp_path):
    done = robonet("keys", tmp_path / "k")
    assert done.returncode == 0
    assert len(list((tmp_path / "k").iterdir())) == 4
    assert robonet("keys", tmp_path / "k").returncode == 2


def test_a_hostile_summary_or_scenario_in_a_run_folder_is_only_an_error(tmp_path):
    (tmp_path / "scenario.yaml").write_text("robonet: 1\n")
    (tmp_path / "summary.json").write_text("{not json")
    done = robonet("show", tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    (tmp_path / "summary.json").write_text(json.dumps(["a", "list"]))
    done = robonet("show", tmp_path)
    assert done.returncode == 2 and "Traceback" not in done.stderr
