"""SimPy as robonet uses it: plain callbacks at times in nanoseconds, run up to and including a border."""

from collections.abc import Callable
from typing import Any

import simpy


class EventLoop:
    """A SimPy environment whose clock is an int of nanoseconds."""

    def __init__(self) -> None:
        self._environment = environment = simpy.Environment(initial_time=0)
        self.next_time: Callable[[], float] = environment.peek
        """When the next event is due; infinite if none is."""
        self.step: Callable[[], None] = environment.step
        """Handle the next event."""

    @property
    def now(self) -> int:
        """Time of the event at hand."""
        now: int = self._environment.now
        return now

    def at(self, time: int, callback: Callable[..., Any], *arguments: Any) -> None:
        """Call back at a time; calls for the same time come in the order in which they were asked for."""
        environment = self._environment
        timeout = environment.timeout(time - environment.now)
        timeout.callbacks.append(lambda _: callback(*arguments))

    def run_through(self, until: int) -> None:
        """Handle every event up to and including `until`."""
        while self.next_time() <= until:
            self.step()
