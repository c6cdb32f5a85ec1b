"""Where a side's time goes."""

import time
from dataclasses import dataclass


@dataclass
class Timing:
    """Wall seconds of one side, and the CPU seconds of its process since the first step."""

    exchange_s: float = 0.0
    """Packing, unpacking and handing over messages."""
    waiting_s: float = 0.0
    """Waiting for the other side."""
    stepping_s: float = 0.0
    """From the first step to the end."""
    cpu_s: float = 0.0
    """CPU time of the process in that span."""

    def begin(self) -> None:
        """The first step begins now."""
        self.began_at = time.monotonic()
        self._began = time.perf_counter()
        self._cpu_began = time.process_time()

    def finish(self) -> None:
        """The last step is over."""
        self.stepping_s = time.perf_counter() - self._began
        self.cpu_s = time.process_time() - self._cpu_began
