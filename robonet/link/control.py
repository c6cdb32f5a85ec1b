"""The thin line between the launcher and a side: progress and errors up, a request to stop down.

It is also a life line. When the launcher dies, however it dies, the line breaks; the side then stops by itself
and is gone within a few seconds, whatever its code is busy with.
"""

import contextlib
import json
import os
import signal
import socket
import threading
import time
from types import FrameType
from typing import Any

REPORT_EVERY_S = 0.1
GRACE_S = 10.0
"""How long a side that lost its launcher may take to end in good order."""


class Control:
    """A side's end of the line; without a launcher only signals stop it."""

    def __init__(self, descriptor: int | None, stop_delay_s: float = 0.0) -> None:
        self._stop = threading.Event()
        self._is_signalled = False
        self._stop_delay_s = stop_delay_s
        self._reported = 0.0
        self._line = socket.socket(fileno=descriptor) if descriptor is not None else None
        if self._line is not None:
            threading.Thread(target=self._listen, name="life-line", daemon=True).start()

    def catch_signals(self) -> None:
        """The first Ctrl-C asks to stop at the next step, the second does not ask."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)

    def should_stop(self) -> bool:
        """Whether somebody asked to stop."""
        return self._is_signalled or self._stop.is_set()

    def report_step(self, step: int) -> None:
        """Tell how far it is, a few times a second."""
        now = time.monotonic()
        if now - self._reported >= REPORT_EVERY_S:
            self._reported = now
            if self._line is not None:
                with contextlib.suppress(OSError):  # a launcher that is suspended reads later, or never
                    self._line.send(json.dumps({"event": "step", "step": step}).encode() + b"\n", socket.MSG_DONTWAIT)

    def tell(self, event: dict[str, Any]) -> None:
        """Tell the launcher something."""
        if self._line is not None:
            self._line.settimeout(GRACE_S)
            try:
                self._line.sendall(json.dumps(event).encode() + b"\n")
            except OSError:
                self._stop.set()

    def _listen(self) -> None:
        assert self._line is not None
        try:
            heard = self._line.recv(64)
        except OSError:
            heard = b""
        if heard:  # the launcher asks, and sees to the rest
            self._stop.set()
            return
        time.sleep(self._stop_delay_s)
        self._stop.set()
        time.sleep(GRACE_S)
        os._exit(3)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self._is_signalled:
            raise KeyboardInterrupt
        self._is_signalled = True
