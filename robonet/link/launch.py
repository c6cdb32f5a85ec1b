"""Start both simulators, watch them, and leave nothing behind; the launcher is not on the data path."""

import contextlib
import json
import os
import re
import selectors
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import robonet
from robonet.errors import EXIT_DONE, EXIT_INTERRUPTED, EXIT_SIMULATOR, UserError
from robonet.link.endpoints import LONGEST_SOCKET_PATH

SIDES = ("network", "robots")
WIND_DOWN_S = 6.0
"""After one side is gone or a stop was asked for, the other one has this long to end in good order."""
TERMINATE_S = 2.0
LOG_LINES = 12
START = f"import sys; sys.path[:1] = [{str(Path(robonet.__file__).parent.parent)!r}]; import robonet.__main__"
"""How a side is started: a file numpy.py in the working directory must not become numpy."""
FOLDER_PREFIX = "robonet-"
SOCKET = "link"


class Verdict(NamedTuple):
    """How a run ended."""

    exit_code: int
    status: str
    message: str
    """Who is to blame and why; empty when all is well."""


class Side:
    """One simulator as a process."""

    def __init__(self, name: str, arguments: list[str], log: Path, environment: dict[str, str] | None = None) -> None:
        self.name = name
        self.log = log
        self.step = 0
        self.error: dict[str, Any] | None = None
        self.was_killed_by_us = False
        self._buffer = b""
        self.line, far_end = socket.socketpair()
        with log.open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-c", START, name, *arguments, "--control-fd", str(far_end.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=(far_end.fileno(),),
                start_new_session=True,  # Ctrl-C in a terminal reaches the launcher, which ends both in order
                env=environment,
            )
        far_end.close()

    def read(self) -> bool:
        """Take in what the side tells; false when the line is broken."""
        try:
            data = self.line.recv(65536)
        except OSError:
            data = b""
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        for line in lines:
            try:
                event = json.loads(line)
            except ValueError:  # a report of a step that was cut off; another one follows
                continue
            if event["event"] == "step":
                self.step = event["step"]
            elif event["event"] == "error":
                self.error = event
        return bool(data)

    def ask_to_stop(self) -> None:
        """Ask for an orderly end."""
        with contextlib.suppress(OSError):
            self.line.sendall(b"stop\n")

    def end(self) -> None:
        """Make it go away."""
        if self.process.poll() is None:
            self.was_killed_by_us = True
            self.process.terminate()
            try:
                self.process.wait(TERMINATE_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)  # whatever user code started and left behind

    def last_words(self) -> str:
        """The end of its log, for people."""
        with contextlib.suppress(OSError):
            lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-LOG_LINES:]
            if lines:
                return f"\nlast lines of {self.log}:\n  " + "\n  ".join(lines)
        return ""


class Launcher:
    """Runs the two sides of one simulation."""

    def __init__(self, on_progress: Callable[[int], None] | None = None) -> None:
        self._on_progress = on_progress
        self._sides: dict[str, Side] = {}
        self._stop_asked_at: float | None = None
        self._wants_out = False
        self.steps = 0

    def run(self, arguments: dict[str, list[str]], logs: dict[str, Path]) -> Verdict:
        """Start, watch to the end, and judge."""
        before = {
            number: signal.signal(number, self._on_signal)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
            if signal.getsignal(number) is not signal.SIG_IGN  # as under nohup
        }
        try:
            for name in SIDES:
                self._sides[name] = Side(name, arguments[name], logs[name])
            self._watch()
        finally:
            for side in self._sides.values():
                side.end()
                side.line.close()
            for number, handler in before.items():
                signal.signal(number, handler)
        return judge(self._sides, was_stopped=self._stop_asked_at is not None)

    def _watch(self) -> None:
        deadline: float | None = None
        with selectors.DefaultSelector() as selector:
            for side in self._sides.values():
                selector.register(side.line, selectors.EVENT_READ, side)
            while any(side.process.poll() is None for side in self._sides.values()):
                for key, _ in selector.select(timeout=0.1):
                    if not key.data.read():
                        selector.unregister(key.fileobj)
                        with contextlib.suppress(subprocess.TimeoutExpired):
                            key.data.process.wait(1.0)  # it broke the line because it exits
                self.steps = self._sides["robots"].step
                if self._on_progress is not None:
                    self._on_progress(self.steps)
                if self._wants_out:
                    return
                codes = [side.process.poll() for side in self._sides.values()]
                if deadline is None and (self._stop_asked_at is not None or any(code is not None for code in codes)):
                    deadline = time.monotonic() + WIND_DOWN_S
                    if any(codes):  # one side failed: do not let the other wait for it
                        for side in self._sides.values():
                            side.ask_to_stop()
                if deadline is not None and time.monotonic() > deadline:
                    return
        for side in self._sides.values():
            side.line.setblocking(False)  # a process that user code forked may hold the far end open
            while side.read():
                pass

    def _on_signal(self, number: int, frame: object) -> None:
        """Ask once in good order; asked again, do not ask."""
        if self._stop_asked_at is None:
            self._stop_asked_at = time.monotonic()
            if "robots" in self._sides:
                self._sides["robots"].ask_to_stop()
            else:
                self._wants_out = True
        else:
            self._wants_out = True


def judge(sides: dict[str, Side], *, was_stopped: bool) -> Verdict:
    """Name the culprit: whoever died, else whoever failed by itself, else whoever was missed."""
    names = {"robots": "the robot simulator", "network": "the network simulator"}
    for side in sides.values():
        code = side.process.returncode
        if code is None or side.was_killed_by_us:
            continue
        if code < 0:
            cause = signal.Signals(-code).name
            hint = " (out of memory?)" if cause == "SIGKILL" else ""
            text = f"{names[side.name]} was killed by {cause}{hint} around step {side.step}{side.last_words()}"
            return Verdict(EXIT_SIMULATOR, "failed", text)
        if side.error is None and code not in (EXIT_DONE, EXIT_INTERRUPTED):
            text = f"{names[side.name]} exited with {code} around step {side.step}{side.last_words()}"
            return Verdict(EXIT_SIMULATOR, "failed", text)
    if was_stopped:
        return Verdict(EXIT_INTERRUPTED, "interrupted", "interrupted; what was recorded is kept")
    failed = sorted((side for side in sides.values() if side.error), key=lambda side: (side.error or {})["rank"])
    if failed and failed[0].error is not None:
        code = failed[0].error["exit_code"]
        if code != EXIT_INTERRUPTED:
            return Verdict(code, "failed", failed[0].error["text"])
    for side in sides.values():
        if side.was_killed_by_us:
            text = f"{names[side.name]} did not end by itself around step {side.step}{side.last_words()}"
            return Verdict(EXIT_SIMULATOR, "failed", text)
        if side.process.returncode == EXIT_INTERRUPTED:
            return Verdict(EXIT_INTERRUPTED, "interrupted", "interrupted; what was recorded is kept")
    return Verdict(EXIT_DONE, "finished", "")


# --- the private folder of the link ----------------------------------------------------------------------


@contextlib.contextmanager
def private_endpoint() -> Iterator[str]:
    """An ipc address in a folder that only this user can enter; gone afterwards."""
    parent = _socket_parent()
    _sweep(parent)
    folder = Path(tempfile.mkdtemp(prefix=f"{FOLDER_PREFIX}{os.getpid()}-", dir=parent))
    try:
        yield f"ipc://{folder}/{SOCKET}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _socket_parent() -> Path:
    """The user's runtime folder, or one for temporary files: whichever can be written and has a short name."""
    longest = LONGEST_SOCKET_PATH - len(f"/{FOLDER_PREFIX}1234567-12345678/{SOCKET}")
    for name in (os.environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir(), "/tmp"):  # noqa: S108  (made private)
        if name and len(os.fsencode(name)) <= longest and os.access(name, os.W_OK):
            return Path(name)
    raise UserError("no folder for sockets: set TMPDIR to one that can be written and has a short name")


def _sweep(parent: Path) -> None:
    """Take away what a launcher that was killed while starting has left."""
    for folder in parent.glob(f"{FOLDER_PREFIX}[0-9]*-*"):
        named = re.fullmatch(rf"{FOLDER_PREFIX}(\d+)-[a-z0-9_]{{8}}", folder.name)
        with contextlib.suppress(OSError):  # whatever else it may be, it is not ours to remove
            status = folder.stat()
            is_ours = status.st_uid == os.getuid() and stat.S_IMODE(status.st_mode) == 0o700
            if named and is_ours and not _is_alive(int(named[1])):
                (folder / SOCKET).unlink(missing_ok=True)
                folder.rmdir()


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
