"""How messages travel: the two interfaces, and an in-memory pair for tests and for one process."""

import queue
import time
from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeVar

from robonet.errors import Interrupted, PeerLost

Item = TypeVar("Item")

SLICE_S = 0.1
"""Waiting is cut into slices, between which death of the peer and requests to stop are noticed."""


def never() -> bool:
    """Nobody asks to stop."""
    return False


class Received(NamedTuple):
    """A message as it came."""

    peer: bytes
    """The key of who sent it."""
    data: bytes
    tail: memoryview | None = None
    """Its second frame, if it has one."""


class Connection(Protocol):
    """The robot simulator's end."""

    def send(self, data: bytes, tail: memoryview | None = None) -> None:
        """Hand over one message, and a second frame with it."""
        ...

    def receive(self, timeout_s: float, stop: Callable[[], bool] = never) -> bytes:
        """Wait for one message; PeerLost after the time or when the peer is gone, Interrupted when asked to stop."""
        ...

    def close(self) -> None:
        """Let go; what was sent still goes out."""
        ...


class Listener(Protocol):
    """The network simulator's end, with any number of peers told apart by a key."""

    def send(self, peer: bytes, data: bytes) -> None:
        """Hand over one message to one peer."""
        ...

    def receive(self, timeout_s: float, stop: Callable[[], bool] = never) -> "Received":
        """Wait for a message of any peer."""
        ...

    def accept(self, peer: bytes) -> None:
        """Watch this peer from now on: its going is an error."""
        ...

    def check(self) -> None:
        """PeerLost if an accepted peer is gone."""
        ...

    def refuse(self, peer: bytes, data: bytes) -> None:
        """Tell a stranger something if that can be done at once."""
        ...

    def joined(self) -> None:
        """Everyone is here: nobody else needs to find the way."""
        ...

    def close(self) -> None:
        """Let go; what was sent still goes out."""
        ...


class MemoryLink:
    """A listener and its connections within one process."""

    def __init__(self) -> None:
        self._to_network: queue.SimpleQueue[Received | bytes] = queue.SimpleQueue()
        self._peers: dict[bytes, queue.SimpleQueue[bytes | None]] = {}
        self._accepted: set[bytes] = set()

    def connect(self) -> "MemoryConnection":
        """A new connection to the listener."""
        key = f"peer{len(self._peers)}".encode()
        self._peers[key] = queue.SimpleQueue()
        return MemoryConnection(key, self._to_network, self._peers[key])

    # As a Listener:

    def send(self, peer: bytes, data: bytes) -> None:
        """Hand over one message to one peer."""
        self._peers[peer].put(data)

    def receive(self, timeout_s: float, stop: Callable[[], bool] = never) -> Received:
        """Wait for a message of any peer."""
        while True:
            received = _take(self._to_network, timeout_s, stop)
            if isinstance(received, Received):
                return received
            if received in self._accepted:  # the bare key of a peer that left
                raise PeerLost("closed the connection")

    def accept(self, peer: bytes) -> None:
        """Watch this peer from now on."""
        self._accepted.add(peer)

    def check(self) -> None:
        """A peer that leaves says so in its queue."""

    def refuse(self, peer: bytes, data: bytes) -> None:
        """Tell a stranger something."""
        self.send(peer, data)

    def joined(self) -> None:
        """Nothing to clear away."""

    def close(self) -> None:
        """Tell everyone."""
        for peer in self._peers.values():
            peer.put(None)


class MemoryConnection:
    """A connection to a `MemoryLink`."""

    def __init__(
        self,
        key: bytes,
        outgoing: "queue.SimpleQueue[Received | bytes]",
        incoming: "queue.SimpleQueue[bytes | None]",
    ) -> None:
        self._key = key
        self._outgoing = outgoing
        self._incoming = incoming

    def send(self, data: bytes, tail: memoryview | None = None) -> None:
        """Hand over one message; a second frame is copied, as a socket would."""
        self._outgoing.put(Received(self._key, data, None if tail is None else memoryview(bytes(tail))))

    def receive(self, timeout_s: float, stop: Callable[[], bool] = never) -> bytes:
        """Wait for one message."""
        data = _take(self._incoming, timeout_s, stop)
        if data is None:
            raise PeerLost("closed the connection")
        return data

    def close(self) -> None:
        """Tell the listener."""
        self._outgoing.put(self._key)


def _take(source: "queue.SimpleQueue[Item]", timeout_s: float, stop: Callable[[], bool]) -> Item:
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            return source.get(timeout=min(SLICE_S, max(deadline - time.monotonic(), 0.0)))
        except queue.Empty:
            if stop():
                raise Interrupted("asked to stop") from None
            if time.monotonic() >= deadline:
                raise PeerLost(f"did not answer for {timeout_s:g} s") from None
