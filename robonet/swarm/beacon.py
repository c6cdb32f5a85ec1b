"""`beacon`: stand still and broadcast a hello at a fixed rate."""

from robonet.robots.controllers import Controller


class Beacon(Controller):
    """For stations that make themselves known."""

    def start(self, rate_hz: float = 1.0, payload_bytes: int = 32) -> None:  # type: ignore[override]
        """Set how often and how much to send."""
        self._gap_s = 1.0 / rate_hz
        self._payload = self.name.encode()[:payload_bytes].ljust(payload_bytes, b"\0")
        self._next_s = float(self.rng.uniform(0.0, self._gap_s))

    def step(self) -> None:
        """Send when it is time."""
        if self.time_s >= self._next_s:
            self.radio.broadcast(self._payload)
            self._next_s += self._gap_s
