"""SimPy as robonet uses it: plain callbacks at times in nanoseconds, run up to and including a border."""

from collections.abc import Callable
from typing import Any

import simpy

FAR_AWAY = 2**62
"""A time, in nanoseconds, that no simulation reaches."""


class EventLoop:
    """A SimPy environment whose clock is an int of nanoseconds."""

    def __init__(self) -> None:
        self._environment = simpy.Environment(initial_time=0)

    @property
    def now(self) -> int:
        """Time of the event at hand."""
        now: int = self._environment.now
        return now

    def at(self, time: int, callback: Callable[..., None], *arguments: Any) -> None:
        """Call back at a time; calls for the same time come in the order in which they were asked for."""
        timeout = self._environment.timeout(time - self._environment.now)
        timeout.callbacks.append(lambda _: callback(*arguments))

    @property
    def next_time(self) -> int:
        """When the next event is due; far away if none is."""
        time = self._environment.peek()
        return time if time < FAR_AWAY else FAR_AWAY

    def step(self) -> None:
        """Handle the next event."""
        self._environment.step()

    def run_through(self, until: int) -> None:
        """Handle every event up to and including `until`."""
        environment = self._environment
        while environment.peek() <= until:
            environment.step()
