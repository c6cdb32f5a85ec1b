"""A process that has everything loaded and makes a child for every run: warm, and without memory of the last one.

A child is a copy of its parent at the moment of its making, so that it starts in milliseconds; it runs one
simulation, both simulators in turns, and is gone. Nothing that a run leaves in memory can reach another.
The nursery itself runs no code of the user's.
"""

import contextlib
import gc
import json
import os
import selectors
import signal
import socket
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from robonet.errors import EXIT_SIMULATOR, RobonetError


def main(control_fd: int) -> None:
    """Serve until the line to the sweep breaks; then end whatever is running."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the sweep decides
    line = socket.socket(fileno=control_fd)
    nursery = _Nursery(line)
    try:
        nursery.serve()
    finally:
        nursery.end_all()


class _Nursery:
    """Children by process number."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._children: dict[int, str] = {}
        self._buffer = b""

    def serve(self) -> None:
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        with selectors.DefaultSelector() as selector:
            selector.register(self._line, selectors.EVENT_READ)
            selector.register(reader, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select(timeout=1.0):
                    if key.fileobj is self._line and not self._read():
                        return
                    if key.fileobj == reader:
                        os.read(reader, 4096)
                self._reap()

    def _read(self) -> bool:
        try:
            data = self._line.recv(1 << 16)
        except OSError:
            return False
        if not data:
            return False
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        for line in lines:
            order = json.loads(line)
            if order["order"] == "warm":
                self._make_warm(order)
            elif order["order"] == "run":
                self._make_child(order)
        return True

    def _say(self, **event: Any) -> None:
        with contextlib.suppress(OSError):
            self._line.sendall(json.dumps(event).encode() + b"\n")

    def _make_warm(self, order: dict[str, Any]) -> None:
        """Load what a kind of run needs; what goes wrong here will go wrong in the run, where it is told."""
        from robonet.one_process import warm
        from robonet.scenario import load_scenario

        try:
            warm(load_scenario(Path(order["scenario"])))
        except Exception:
            traceback.print_exc()
        gc.collect()
        gc.freeze()  # what is loaded is never collected: children share its memory
        self._say(event="warm")

    def _make_child(self, order: dict[str, Any]) -> None:
        child = os.fork()
        if child == 0:
            self._live(order)
        self._children[child] = order["run"]
        self._say(event="started", run=order["run"], process=child)

    def _live(self, order: dict[str, Any]) -> None:
        """One run, from the first breath to the last."""
        code = EXIT_SIMULATOR
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._line.close()
            os.setpgid(0, 0)
            code = _run(order)
        except BaseException:
            traceback.print_exc()
        finally:
            with contextlib.suppress(Exception):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(code)  # nothing of the parent's is to be cleaned up here

    def _reap(self) -> None:
        while self._children:
            try:
                child, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if child == 0:
                return
            run = self._children.pop(child, None)
            if run is not None:
                self._say(
                    event="ended",
                    run=run,
                    code=os.waitstatus_to_exitcode(status),
                    peak_bytes=usage.ru_maxrss * 1024,
                    cpu_s=usage.ru_utime + usage.ru_stime,
                )

    def end_all(self) -> None:
        for child in self._children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)


def _run(order: dict[str, Any]) -> int:
    """Make one run in its folder; what it prints goes to its log."""
    from robonet.one_process import folder_for, run_here
    from robonet.record.recover import recover_summary
    from robonet.scenario import load_scenario

    path = Path(order["folder"])
    log = os.open(path / "logs" / "run.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(log, 1)
    os.dup2(log, 2)
    started = time.monotonic()
    folder = folder_for(path)
    try:
        run_here(load_scenario(path / "scenario.yaml"), folder, started)
    except Exception as error:
        code = error.exit_code if isinstance(error, RobonetError) else EXIT_SIMULATOR
        text = str(error) if isinstance(error, RobonetError) else f"{type(error).__name__}: {error}"
        traceback.print_exc()
        summary = recover_summary(folder, "failed", time.monotonic() - started)
        summary["error"] = text
        folder.write_summary(summary)
        return code
    return 0


if __name__ == "__main__":
    main(int(sys.argv[1]))
