"""Messages over ZeroMQ: the network side binds a ROUTER, each robot side connects a DEALER.

libzmq's own heartbeats tell a busy peer from a dead or stopped one: its I/O thread answers while Python
computes, and does not when the process is gone or stopped. The fast path is a plain receive; only when
nothing came for a slice of time is the socket's monitor asked whether the peer has left.
"""

import contextlib
import errno
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import zmq
import zmq.auth.thread
from zmq.utils.monitor import recv_monitor_message

from robonet.errors import Interrupted, PeerLost, UserError
from robonet.link import keys as curve
from robonet.link.endpoints import Endpoint
from robonet.link.messages import MAX_MESSAGE_BYTES, Ping, encode
from robonet.link.transport import SLICE_S, Received, never

LINGER_MS = 2000
SEND_TIMEOUT_MS = 10_000
_PING = encode(Ping())


def _refuse_open_network(endpoint: Endpoint, keys: Path | None) -> None:
    if endpoint.is_public and keys is None:
        raise UserError(
            f"{endpoint.address} leaves this machine: that needs keys. Make them with `robonet keys DIR`, "
            "copy them to both sides and pass --keys DIR"
        )


class _Socket:
    """What both ends have in common: options, a monitor, closing."""

    def __init__(self, kind: int, endpoint: Endpoint, heartbeat_timeout_s: float) -> None:
        self._address = endpoint.address
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._socket = self._context.socket(kind)
        self._heartbeat_timeout_s = heartbeat_timeout_s
        interval_ms = round(heartbeat_timeout_s * 250)
        for option, value in (
            (zmq.LINGER, LINGER_MS),
            (zmq.MAXMSGSIZE, MAX_MESSAGE_BYTES),
            (zmq.RCVTIMEO, round(SLICE_S * 1000)),
            (zmq.SNDTIMEO, SEND_TIMEOUT_MS),
            (zmq.RECONNECT_IVL, 20),
            (zmq.RECONNECT_IVL_MAX, 500),
            (zmq.HEARTBEAT_IVL, interval_ms),
            (zmq.HEARTBEAT_TIMEOUT, 3 * interval_ms),
            (zmq.HANDSHAKE_IVL, 10_000),
            (zmq.IPV6, int("[" in endpoint.address)),
        ):
            self._socket.setsockopt(option, value)
        events = zmq.EVENT_DISCONNECTED | zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_HANDSHAKE_FAILED_AUTH
        events |= zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL
        self._monitor = self._socket.get_monitor_socket(events)
        self._monitor.setsockopt(zmq.LINGER, 0)

    def _events(self) -> list[int]:
        found = []
        while True:
            try:
                found.append(int(recv_monitor_message(self._monitor, zmq.NOBLOCK)["event"]))
            except zmq.Again:
                return found

    def _wait(
        self, take: Callable[[], Any], timeout_s: float, stop: Callable[[], bool], check: Callable[[], None]
    ) -> Any:
        """A slice has passed in silence: look for death, a request to stop and the deadline, and go on receiving."""
        deadline = time.monotonic() + timeout_s - SLICE_S
        while True:
            if stop():
                raise Interrupted("asked to stop")
            check()
            if time.monotonic() >= deadline:
                raise PeerLost(f"did not answer for {timeout_s:.3g} s at {self._address}")
            with contextlib.suppress(zmq.Again):
                return take()

    def close(self) -> None:
        """Let go; what was sent has two seconds to go out."""
        self._socket.disable_monitor()
        self._monitor.close()
        self._socket.close()
        self._context.term()


class ZmqConnection(_Socket):
    """The robot simulator's end."""

    def __init__(self, endpoint: Endpoint, keys: Path | None = None, heartbeat_timeout_s: float = 10.0) -> None:
        _refuse_open_network(endpoint, keys)
        super().__init__(zmq.DEALER, endpoint, heartbeat_timeout_s)
        if keys is not None:
            self._socket.curve_publickey, self._socket.curve_secretkey = curve.secret_pair(keys, "robots")
            self._socket.curve_serverkey = curve.public_key(keys, "network")
        self._socket.connect(endpoint.address)
        self._is_connected = False

    def send(self, data: bytes, tail: memoryview | None = None) -> None:
        """Hand over one message, and a second frame with it."""
        if tail is not None:
            self._send_first(data, zmq.SNDMORE)
            self._socket.send(tail)  # the frames of a message go together: this cannot block
        else:
            self._send_first(data, 0)

    def _send_first(self, data: bytes, flags: int) -> None:
        try:
            self._socket.send(data, flags | zmq.NOBLOCK)
            return
        except zmq.Again:
            self._check_peer()  # libzmq takes the way to a peer down when that peer refused our key
        try:
            self._socket.send(data, flags)
        except zmq.Again as error:
            raise PeerLost(f"took nothing for {SEND_TIMEOUT_MS / 1000:g} s at {self._address}") from error

    def receive(self, timeout_s: float, stop: Callable[[], bool] = never) -> bytes:
        """Wait for one message."""
        try:
            return self._socket.recv()
        except zmq.Again:
            data: bytes = self._wait(self._socket.recv, timeout_s, stop, self._check_peer)
            return data

    def _check_peer(self) -> None:
        for event in self._events():
            if event == zmq.EVENT_HANDSHAKE_SUCCEEDED:
                self._is_connected = True
            elif event == zmq.EVENT_DISCONNECTED and self._is_connected:
                raise PeerLost(
                    f"is gone: it exited, was killed, or gave no sign of life for {self._heartbeat_timeout_s:g} s"
                )
            elif event == zmq.EVENT_HANDSHAKE_FAILED_AUTH:
                raise PeerLost("refused this side's key")


class ZmqListener(_Socket):
    """The network simulator's end."""

    def __init__(
        self,
        endpoint: Endpoint,
        keys: Path | None = None,
        heartbeat_timeout_s: float = 10.0,
        private_folder: Path | None = None,
    ) -> None:
        _refuse_open_network(endpoint, keys)
        super().__init__(zmq.ROUTER, endpoint, heartbeat_timeout_s)
        self._socket.setsockopt(zmq.ROUTER_MANDATORY, 1)
        self._authenticator: zmq.auth.thread.ThreadAuthenticator | None = None
        if keys is not None:
            pair = curve.secret_pair(keys, "network")
            doorkeeper = curve.Doorkeeper(curve.allowed_keys(keys))
            self._authenticator = zmq.auth.thread.ThreadAuthenticator(self._context)
            self._authenticator.start()
            self._authenticator.configure_curve_callback("*", doorkeeper)
            self._socket.curve_server = True
            self._socket.curve_publickey, self._socket.curve_secretkey = pair
        self._private_folder = private_folder
        self._socket_file = endpoint.socket_file
        self._peers: set[bytes] = set()
        self._is_bound = False
        try:
            if self._socket_file is not None and _is_in_use(self._socket_file):
                raise zmq.ZMQError(errno.EADDRINUSE)  # libzmq would take it over without a word
            self._socket.bind(endpoint.address)
            self._is_bound = True
        except zmq.ZMQError as error:
            self.close()
            raise UserError(f"cannot listen at {endpoint.address}: {error.strerror}") from error

    def send(self, peer: bytes, data: bytes) -> None:
        """Hand over one message to one peer."""
        try:
            self._socket.send(peer, zmq.SNDMORE)
            self._socket.send(data)
        except zmq.ZMQError as error:
            raise PeerLost("is gone") from error

    def receive(self, timeout_s: float, stop: Callable[[], bool] = never) -> Received:
        """Wait for a message of any peer."""
        while True:
            try:
                peer = self._socket.recv()
            except zmq.Again:
                peer = self._wait(self._socket.recv, timeout_s, stop, self._check_peers)
            data = self._socket.recv()  # the frames of a message come together, and a ROUTER's has two at least
            if not self._socket.getsockopt(zmq.RCVMORE):
                return Received(peer, data)
            tail = self._socket.recv(copy=False)  # large: read where it lies
            if not tail.more:
                return Received(peer, data, tail.buffer)
            while self._socket.getsockopt(zmq.RCVMORE):  # not of this protocol: there is no one to be answered
                self._socket.recv()

    def refuse(self, peer: bytes, data: bytes) -> None:
        """Tell a stranger something if that can be done at once."""
        with contextlib.suppress(zmq.ZMQError):
            self._socket.send_multipart((peer, data), zmq.NOBLOCK)

    def check(self) -> None:
        """PeerLost if an accepted peer is gone."""
        self._check_peers()

    def _check_peers(self) -> None:
        """Someone left: find out whether it was one of ours by writing to each of them."""
        if zmq.EVENT_DISCONNECTED not in self._events():
            return
        for peer in sorted(self._peers):
            try:
                self._socket.send_multipart((peer, _PING), zmq.NOBLOCK)
            except zmq.ZMQError:
                raise PeerLost(
                    f"is gone: it exited, was killed, or gave no sign of life for {self._heartbeat_timeout_s:g} s",
                ) from None

    def accept(self, peer: bytes) -> None:
        """Watch this peer from now on: its going is an error."""
        self._peers.add(peer)

    def joined(self) -> None:
        """Everyone is connected: take the socket file away now, so that no death can leave it behind."""
        if self._socket_file is not None and self._is_bound:
            self._socket_file.unlink(missing_ok=True)
        if self._private_folder is not None:
            with contextlib.suppress(OSError):
                self._private_folder.rmdir()

    def close(self) -> None:
        """Let go; what was sent has two seconds to go out."""
        if self._authenticator is not None:
            self._authenticator.stop()
        super().close()
        self.joined()


def _is_in_use(path: Path) -> bool:
    """Whether somebody listens at a socket file; one that a killed process left behind does not count."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        return probe.connect_ex(os.fspath(path)) == 0
