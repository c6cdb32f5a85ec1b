"""Both ends over every transport: the same story must be told over memory, ipc and tcp.

robots A ─┐
          ├─▶ network        one or more robot simulators, one network simulator
robots B ─┘
"""

import socket
import tempfile
import threading
from pathlib import Path

import msgspec
import numpy as np
import pytest
import zmq
from conftest import free_port

from robonet.errors import Interrupted, PeerLost, RemoteProtocolError, SimulatorError
from robonet.link.endpoints import parse_endpoint
from robonet.link.messages import Error, Node, Ping, decode, encode
from robonet.link.network_side import NetworkSide
from robonet.link.robots_side import RobotsSide
from robonet.link.session import PeerError
from robonet.link.simulators import Transmissions
from robonet.link.transport import MemoryLink
from robonet.link.zmq_transport import ZmqConnection, ZmqListener
from robonet.network.ideal import IdealNetwork
from robonet.scenario.schema import Ideal, Limits, Network
from robonet.testing import STEP_NS, EchoNetwork, ScriptedRobots

LIMITS = Limits(join_timeout_s=10, step_timeout_s=10, heartbeat_timeout_s=2)


class Meeting:
    """A listener and any number of connections over one transport."""

    def __init__(self, transport, folder):
        self.transport = transport
        if transport == "memory":
            self.listener = MemoryLink()
            return
        address = f"ipc://{folder}/link" if transport == "ipc" else f"tcp://127.0.0.1:{free_port()}"
        self.endpoint = parse_endpoint(address)
        self.listener = ZmqListener(self.endpoint, heartbeat_timeout_s=2)

    def connect(self):
        if self.transport == "memory":
            return self.listener.connect()
        return ZmqConnection(self.endpoint, heartbeat_timeout_s=2)


@pytest.fixture(params=["memory", "ipc", "tcp"])
def meeting(request):
    with tempfile.TemporaryDirectory(prefix="rn") as folder:
        meeting = Meeting(request.param, folder)
        yield meeting
        meeting.listener.close()


class Serving(threading.Thread):
    """A network side in a thread; what it raised is kept."""

    def __init__(self, simulator, listener, **options):
        super().__init__(daemon=True)
        self.side = NetworkSide(simulator, listener, options.pop("limits", LIMITS), **options)
        self.error = None
        self.start()

    def run(self):
        try:
            self.side.serve()
        except SimulatorError as error:
            self.error = error
        except Interrupted as error:
            self.error = error

    def ended(self):
        self.join(20)
        assert not self.is_alive()
        return self.error


def ideal(delay_s=0.01):
    return IdealNetwork(Network(ideal=Ideal(delay_s=delay_s)))


def test_a_run_is_the_same_over_every_transport(meeting):
    serving = Serving(ideal(), meeting.listener)
    connection = meeting.connect()
    robots = ScriptedRobots()
    assert RobotsSide(robots, connection, LIMITS).run() == "finished"
    connection.close()
    assert serving.ended() is None
    over_memory = ScriptedRobots()
    link = MemoryLink()
    reference = Serving(ideal(), link)
    RobotsSide(over_memory, link.connect(), LIMITS).run()
    reference.ended()
    assert robots.arrivals == over_memory.arrivals
    assert robots.arrivals


class Crowd(ScriptedRobots):
    """So many that their positions travel in a frame of their own."""

    def hello(self):
        nodes = [Node(name=f"n{i}") for i in range(3000)]
        return msgspec.structs.replace(super().hello(), nodes=nodes, steps=3)

    def control(self, outcome):
        return np.full((3000, 3), self._step + 0.5), Transmissions.of([])


def test_a_crowd_arrives_whole(meeting):
    network = EchoNetwork()
    serving = Serving(network, meeting.listener)
    connection = meeting.connect()
    assert RobotsSide(Crowd(), connection, LIMITS).run() == "finished"
    connection.close()
    assert serving.ended() is None
    assert [(positions == step + 0.5).all() for step, positions in enumerate(network.positions)] == [True] * 3


class Half(ScriptedRobots):
    """One of two robot simulators: it talks to the other one's first node by name."""

    def __init__(self, peer, other):
        super().__init__()
        self.peer, self.other = peer, other
        self.heard = []

    def hello(self):
        nodes = [msgspec.structs.replace(n, name=f"{self.peer}-{n.name}") for n in super().hello().nodes]
        return msgspec.structs.replace(super().hello(), peer=self.peer, nodes=nodes)

    def start(self, welcome):
        super().start(welcome)
        assert welcome.needs_payloads
        self.address = [node.name for node in welcome.directory].index(f"{self.other}-node0")

    def control(self, outcome):
        if outcome.payloads:
            rows = zip(outcome.arrivals["packet"].tolist(), outcome.payloads, outcome.origins.tolist(), strict=True)
            self.heard += [(packet, source, bytes(payload), time) for packet, payload, (time, source, _) in rows]
        xyz = np.zeros((8, 3))
        packet = self.welcome.first_packet + self._step
        row = (packet, self._step * STEP_NS + 7, self.welcome.first_node, self.address, 5)
        return xyz, Transmissions.of([row], [memoryview(f"{self.peer}{self._step:02}".encode())])


@pytest.mark.parametrize("late", ["east", "west"])
def test_two_robot_simulators_share_one_network_whoever_comes_first(meeting, late):
    serving = Serving(ideal(), meeting.listener, peers=2)
    halves = {"east": Half("east", "west"), "west": Half("west", "east")}
    connections = {name: meeting.connect() for name in sorted(halves, key=lambda name: name == late)}
    threads = [
        threading.Thread(target=RobotsSide(half, connections[name], LIMITS).run) for name, half in halves.items()
    ]
    for thread in threads if late == "west" else reversed(threads):
        thread.start()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()
    for connection in connections.values():
        connection.close()
    assert serving.ended() is None
    # Numbers do not depend on who came first: peers are sorted by name.
    assert (halves["east"].welcome.first_node, halves["west"].welcome.first_node) == (0, 8)
    assert halves["west"].heard[:2] == [(0, 0, b"east00", 7), (1, 0, b"east01", STEP_NS + 7)]
    assert len(halves["east"].heard) == 39


def test_one_of_two_that_ends_early_ends_it_for_all(meeting):
    class Early(Half):
        def advance(self):
            return super().advance() and self._step < 3

    serving = Serving(ideal(), meeting.listener, peers=2)
    errors = []

    def run(half):
        connection = meeting.connect()
        try:
            RobotsSide(half, connection, LIMITS).run()
        except PeerError as error:
            errors.append(str(error))
        connection.close()

    threads = [threading.Thread(target=run, args=(half,)) for half in (Early("east", "west"), Half("west", "east"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert "'east' ended while others went on" in str(serving.ended())
    assert len(errors) == 2 and all("'east' ended while others went on" in text for text in errors)


def test_another_version_is_told_so_on_both_sides(meeting):
    class Newer(ScriptedRobots):
        def hello(self):
            return msgspec.structs.replace(super().hello(), version=2, software="robonet 9.0")

    serving = Serving(ideal(), meeting.listener)
    connection = meeting.connect()
    with pytest.raises(PeerError, match="robonet 9.0 speaks version 2 of the protocol"):
        RobotsSide(Newer(), connection, LIMITS).run()
    assert "use the same version on both sides" in str(serving.ended())
    connection.close()


def test_someone_who_talks_nonsense_is_turned_away_and_the_run_goes_on(meeting):
    serving = Serving(ideal(), meeting.listener)
    stranger, late = meeting.connect(), meeting.connect()
    for end in (stranger, late):
        end.send(b"GET / HTTP/1.1\r\n\r\n")
        assert isinstance(decode(end.receive(10)), Error)
    stranger.close()
    connection = meeting.connect()

    class Interrupting(ScriptedRobots):
        def advance(self):
            if self._step == 3:
                late.send(encode(ScriptedRobots().hello()))
            return super().advance()

    assert RobotsSide(Interrupting(), connection, LIMITS).run() == "finished"
    assert "nobody else can join" in decode(late.receive(10)).text
    late.close()
    connection.close()
    assert serving.ended() is None


def test_a_network_that_fails_says_why(meeting):
    class Broken(EchoNetwork):
        def step(self, until, positions_m, transmissions):
            raise SimulatorError("the antenna fell off")

    serving = Serving(Broken(), meeting.listener)
    connection = meeting.connect()
    with pytest.raises(PeerError, match="gave up: the antenna fell off"):
        RobotsSide(ScriptedRobots(), connection, LIMITS).run()
    assert "antenna" in str(serving.ended())
    connection.close()


def test_robots_that_fail_say_why(meeting):
    class Broken(ScriptedRobots):
        def advance(self):
            raise ValueError("a wheel came off")

    serving = Serving(ideal(), meeting.listener)
    connection = meeting.connect()
    with pytest.raises(ValueError, match="wheel"):
        RobotsSide(Broken(), connection, LIMITS).run()
    assert "the robot simulator 'scripted' gave up: ValueError('a wheel came off')" in str(serving.ended())
    connection.close()


def test_a_robot_simulator_that_leaves_is_missed(meeting):
    class Leaves(ScriptedRobots):
        def advance(self):
            if self._step == 5:
                connection.close()
                raise RemoteProtocolError("gone")  # the one error after which nothing is said
            return super().advance()

    serving = Serving(ideal(), meeting.listener)
    connection = meeting.connect()
    with pytest.raises(RemoteProtocolError):
        RobotsSide(Leaves(), connection, LIMITS).run()
    error = serving.ended()
    assert isinstance(error, PeerLost)
    assert "the robot simulator 'scripted'" in str(error) and "at simulated time 0.600 s" in str(error)


def test_a_silent_network_runs_into_the_deadline(meeting):
    connection = meeting.connect()
    with pytest.raises(PeerLost, match="the network simulator did not answer for 0.5 s"):
        RobotsSide(ScriptedRobots(), connection, Limits(join_timeout_s=0.5)).run()
    connection.close()


def test_waiting_can_be_interrupted(meeting):
    with pytest.raises(Interrupted):
        NetworkSide(ideal(), meeting.listener, LIMITS, peers=2, stop=lambda: True).serve()
    connection = meeting.connect()
    with pytest.raises(Interrupted):
        RobotsSide(ScriptedRobots(), connection, LIMITS, stop=lambda: True).run()
    connection.close()


def test_a_stop_between_steps_ends_in_good_order(meeting):
    serving = Serving(ideal(), meeting.listener)
    connection = meeting.connect()
    robots = ScriptedRobots()
    side = RobotsSide(robots, connection, LIMITS, stop=lambda: robots._step >= 7)
    assert side.run() == "interrupted"
    assert side.steps_done == 7
    assert side.report["packets"]["sent"] > 0
    connection.close()
    assert serving.ended() is None
    assert serving.side.reason == "interrupted"


def test_a_message_beyond_the_limit_is_cut_off_before_it_is_read():
    """A peer of plain ZeroMQ announces a gigabyte: libzmq breaks the connection on the announcement."""
    port = free_port()
    listener = ZmqListener(parse_endpoint(f"tcp://127.0.0.1:{port}"))
    with socket.create_connection(("127.0.0.1", port), timeout=10) as raw:
        greeting = b"\xff" + bytes(8) + b"\x7f\x03\x01" + b"NULL".ljust(20, b"\0") + bytes(32)
        raw.sendall(greeting)
        ready = b"\x05READY\x0bSocket-Type" + (6).to_bytes(4, "big") + b"DEALER"
        raw.sendall(b"\x04" + bytes([len(ready)]) + ready)
        raw.sendall(b"\x02" + (2**30).to_bytes(8, "big") + b"begin")
        heard = b" "
        while heard:  # until the far end hangs up
            heard = raw.recv(4096)
    with pytest.raises(PeerLost):
        listener.receive(0.2)
    listener.close()


def test_raw_noise_on_the_port_does_not_disturb(meeting):
    if meeting.transport != "tcp":
        return
    port = int(meeting.endpoint.address.rpartition(":")[2])
    serving = Serving(ideal(), meeting.listener)
    rng = np.random.default_rng(1)
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", port), timeout=10) as raw:
            raw.sendall(rng.bytes(200))
    connection = meeting.connect()
    assert RobotsSide(ScriptedRobots(), connection, LIMITS).run() == "finished"
    connection.close()
    assert serving.ended() is None


def test_frames_of_another_shape_are_ignored(meeting):
    if meeting.transport == "memory":
        return
    serving = Serving(ideal(), meeting.listener)
    context = zmq.Context()
    stranger = context.socket(zmq.DEALER)
    stranger.connect(meeting.endpoint.address)
    stranger.send_multipart([b"", b"a", b"b", encode(Ping())])
    connection = meeting.connect()
    assert RobotsSide(ScriptedRobots(), connection, LIMITS).run() == "finished"
    connection.close()
    stranger.close(0)
    context.term()
    assert serving.ended() is None


def test_a_second_listener_at_the_same_place_is_refused():
    with tempfile.TemporaryDirectory(prefix="rn") as folder:
        endpoint = parse_endpoint(f"ipc://{folder}/link")
        first = ZmqListener(endpoint)
        with pytest.raises(Exception, match="cannot listen at .*: Address already in use"):
            ZmqListener(endpoint)
        assert Path(folder, "link").exists()
        first.close()
        assert not Path(folder, "link").exists()
