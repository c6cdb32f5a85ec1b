"""No link at all: what the busy work of the overlap test costs by itself.

Variant `alone`: the larger side's work with nothing beside it. Variant `apart`: both sides' work at the
same time in two processes that do not wait for each other, which shows what the machine itself takes for
keeping both cores busy.
"""

import contextlib
import os

from link_peers.burn import burn
from link_peers.turns import Job, Turns


def drive(job: Job, turns: Turns) -> None:
    iterations = max(job.robots_burn, job.network_burn)
    pipe = _pipe(job)  # open at both ends here, so that nobody waits for the other to open it
    for _ in range(job.total_steps):
        turns.tick()
        os.write(pipe, b"s")
        burn(iterations)
    turns.tick()
    os.write(pipe, b"e")


def answer(job: Job) -> None:
    iterations = min(job.robots_burn, job.network_burn) if job.variant == "apart" else 0
    pipe = _pipe(job)
    while os.read(pipe, 1) == b"s":
        burn(iterations)


def _pipe(job: Job) -> int:
    path = job.folder / "pipe"
    with contextlib.suppress(FileExistsError):  # the other was first
        os.mkfifo(path)
    return os.open(path, os.O_RDWR)
