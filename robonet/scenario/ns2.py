"""The `ns2` section of a scenario: what ns-2's wireless nodes are like, in the words of `wifi`."""

from typing import Annotated, Literal

from pydantic import Field, field_validator

from robonet.scenario.sections import NonNegative, Positive, Section

RATES_MBPS = (1.0, 2.0, 5.5, 11.0)
"""What 802.11b has; ns-2's timing and preambles are its own."""


class Ns2(Section):
    """ns-2's 802.11 nodes; what is written under `wifi` holds here too, unless the same word is written here."""

    range_m: Positive = 120.0
    """How far frames are received: it sets ns-2's RXThresh_. The papers' range by default."""
    carrier_sense_m: Positive | None = None
    """How far frames keep others silent and destroy theirs: CSThresh_; by default 2.2 times the range, as in ns-2."""
    capture_db: NonNegative | None = 10.0
    """A frame stronger by this than a later one is received all the same: CPThresh_; `null`: never."""
    propagation: Literal["two_ray_ground", "friis", "range"] = "two_ray_ground"
    """How signals fade: with a reflection from the ground, as in free space, or not at all up to the range."""
    rate_mbps: float = 2.0
    """Rate of unicast data: 1, 2, 5.5 or 11."""
    broadcast_rate_mbps: float = 1.0
    """Rate of broadcasts, RTS, CTS and acknowledgements: 1, 2, 5.5 or 11."""
    routing: Literal["aodv", "dsdv", "none"] = "aodv"
    """How packets get farther than one hop; `none`: they do not."""
    queue_packets: Annotated[int, Field(ge=2, le=1_000_000)] = 50
    """Frames that wait at one radio; more are lost (`queue_full`)."""
    obstacles: Literal["refuse", "transparent"] = "refuse"
    """What to do in an arena with obstacles, of which ns-2 knows nothing: give up, or let signals pass through them."""
    step_timeout_s: Positive = 240.0
    """How long ns-2 may work on one step, in real time."""

    @field_validator("rate_mbps", "broadcast_rate_mbps")
    @classmethod
    def _is_rate(cls, rate: float) -> float:
        if rate not in RATES_MBPS:
            raise ValueError(f"is no rate of 802.11b, which has {', '.join(f'{one:g}' for one in RATES_MBPS)} Mbit/s")
        return rate
