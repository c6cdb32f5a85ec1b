"""Work in parts on several threads: kernels that let go of the interpreter, over rows that nobody else writes."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import local

LEAST_ROWS = 1000
"""Fewer rows a part than this are not worth the hand-over."""
LEAST_LIGHT_ROWS = 10_000
"""The same for work that takes some nanoseconds a row."""


_here = local()


def _mark() -> None:
    _here.is_worker = True


class Workers:
    """As many threads as asked for, the caller's included; they are started when first needed."""

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads
        self._pool: ThreadPoolExecutor | None = None

    def parts(self, rows: int, *, is_light: bool = False) -> int:
        """Into how many parts rows are cut."""
        return max(1, min(self.threads, rows // (LEAST_LIGHT_ROWS if is_light else LEAST_ROWS)))

    def over_rows(self, rows: int, work: Callable[[int, int], object], *, is_light: bool = False) -> None:
        """Call `work(first, last)` for parts that together are all rows, and wait for all of them."""
        parts = self.parts(rows, is_light=is_light)
        if parts == 1 or getattr(_here, "is_worker", False):  # a worker that waits for workers could wait for itself
            work(0, rows)
            return
        borders = [rows * part // parts for part in range(parts + 1)]
        waiting = [self._started().submit(work, borders[part], borders[part + 1]) for part in range(1, parts)]
        work(0, borders[1])
        for future in waiting:
            future.result()

    def each(self, tasks: Sequence[Callable[[], object]]) -> None:
        """Do all tasks, at the same time where there are threads, and wait for all of them."""
        if self.threads == 1 or len(tasks) == 1:
            for task in tasks:
                task()
            return
        for future in [self._started().submit(task) for task in tasks]:
            future.result()

    def _started(self) -> ThreadPoolExecutor:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="robonet", initializer=_mark)
        return self._pool
