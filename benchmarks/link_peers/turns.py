"""Taking turns: every contender's processes live through the measurement and step in their turns only.

So the contenders are interleaved finely (a shared machine's moods strike all of them alike), and start-up
is nobody's. The process that owns a contender's steps calls `tick` at the border of each; the rest follows
from it.
"""

import contextlib
import importlib
import multiprocessing
import os
import signal
import sys
import threading
import time
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import NamedTuple

import numpy as np

WARM_UP_STEPS = 5
"""Of each turn: caches and sleeping cores wake up in them."""
START_TIMEOUT_S = 60.0
TURN_TIMEOUT_S = 120.0
END_TIMEOUT_S = 5.0

_context = multiprocessing.get_context("spawn")


class ContenderFailed(Exception):
    """A contender did not start, died or hung."""


class Job(NamedTuple):
    """What a contender is to do."""

    robots: int
    steps: int
    """Measured steps of a turn."""
    turns: int
    folder: Path
    """For sockets; private to this contender."""
    robots_burn: int = 0
    """Iterations of busy work in the robots' part of each step."""
    network_burn: int = 0
    is_pinned: bool = False
    """Whether each side has its own half of the cores."""
    variant: str = ""
    """Which form of a contender."""

    @property
    def total_steps(self) -> int:
        """Steps of all turns."""
        return self.turns * (self.steps + WARM_UP_STEPS)


class Turns:
    """A contender's view: tick at each step's border, `total_steps + 1` times."""

    def __init__(self, job: Job, line: Connection) -> None:
        self._block = job.steps + WARM_UP_STEPS
        self._left = job.turns
        self._line = line
        self._marks: list[int] = []

    def tick(self) -> None:
        """A step ends, the next begins; at a turn's end, hand in the times and wait for the next turn."""
        self._marks.append(time.perf_counter_ns())
        if 1 < len(self._marks) <= self._block:
            return
        if len(self._marks) > 1:
            self._line.send(np.diff(self._marks)[WARM_UP_STEPS:])
            self._left -= 1
        else:
            self._line.send("ready")
        if self._left:
            self._line.recv()
            self._marks = [time.perf_counter_ns()]


class Contender:
    """The benchmark's view: two processes, a module's `drive(job, turns)` and `answer(job)`."""

    def __init__(self, name: str, module: str, job: Job) -> None:
        self.name = name
        self._line, far_end = _context.Pipe()
        self._processes = [
            _context.Process(target=_run, args=(module, role, job, far_end), name=f"{name} {role}", daemon=False)
            for role in ("answer", "drive")
        ]
        for process in self._processes:
            process.start()
        far_end.close()

    def await_ready(self) -> None:
        """Wait until its first step could begin."""
        self._receive(START_TIMEOUT_S)

    def take_turn(self) -> np.ndarray:
        """Let it do its steps: the time of each, in ns."""
        self._line.send("go")
        return self._receive(TURN_TIMEOUT_S)

    def end(self) -> None:
        """It has had all its turns and leaves by itself; whoever stays is ended."""
        self._line.close()
        deadline = time.monotonic() + END_TIMEOUT_S
        for process in self._processes:
            process.join(max(0.0, deadline - time.monotonic()))
        self.kill()

    def kill(self) -> None:
        """Make it go away."""
        for process in self._processes:
            if process.is_alive():
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)  # a group each: also what a contender started itself
                process.join()

    def _receive(self, timeout_s: float):
        sentinels = [process.sentinel for process in self._processes]
        deadline = time.monotonic() + timeout_s
        while True:
            ready = wait([self._line, *sentinels], max(0.0, deadline - time.monotonic()))
            if self._line in ready:
                with contextlib.suppress(EOFError):
                    return self._line.recv()
            codes = {process.name: process.exitcode for process in self._processes}
            if any(codes.values()) or self._line in ready:
                raise ContenderFailed(f"{self.name} died: exit codes {codes}")
            if time.monotonic() >= deadline:
                raise ContenderFailed(f"{self.name} did not answer for {timeout_s:g} s")
            sentinels = [process.sentinel for process in self._processes if process.is_alive()]


def all_cores() -> set[int]:
    """The cores of this machine that the benchmark was given, as its parent process has them."""
    return os.sched_getaffinity(os.getppid())


def take_cores(side: int) -> None:
    """Keep this process to its side's half of the cores: 0 for the robots', 1 for the network's."""
    cores = sorted(os.sched_getaffinity(0))
    half = len(cores) // 2
    if half:
        os.sched_setaffinity(0, cores[half:] if side else cores[:half])


def _run(module: str, role: str, job: Job, line: Connection) -> None:
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the benchmark ends everyone
    threading.Thread(target=_follow_parent, daemon=True).start()
    os.dup2(2, 1)  # --json promises one object on stdout: what libraries print goes to stderr
    if job.is_pinned:
        take_cores(int(role == "answer"))
    peer = importlib.import_module(f"link_peers.{module}")
    if role == "drive":
        peer.drive(job, Turns(job, line))
    else:
        line.close()
        peer.answer(job)
    sys.stdout.flush()


def _follow_parent() -> None:
    """However the benchmark dies, nobody outlives it."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os.killpg(0, signal.SIGKILL)
