"""The `ns2` section of a scenario: what ns-2's wireless nodes are like, in the words of `wifi`."""

from typing import Annotated, Literal

from pydantic import Field, field_validator

from robonet.scenario.sections import NonNegative, Positive, Section

RATES_MBPS = (1.0, 2.0, 5.5, 11.0)
"""What 802.11b has; ns-2's timing and preambles are its own."""


class Ns2(Section):
    """ns-2's 802.11 nodes; what is written under `wifi` holds here too, unless the same word is written here."""

    range_m: Positive | None = None
    """How far frames are received: it sets ns-2's RXThresh_. As in `wifi`; else 120 m, as in the paper."""
    carrier_sense_m: Positive | None = None
    """How far frames keep others silent and destroy theirs: CSThresh_; by default 2.2 times the range, as in ns-2."""
    capture_db: NonNegative | None = 10.0
    """A frame stronger by this than a later one is received all the same: CPThresh_; `null`: never."""
    propagation: Literal["two_ray_ground", "friis", "range"] | None = None
    """How signals fade. As in `wifi` where it is written there; else `two_ray_ground` between antennas 1.5 m high."""
    rate_mbps: float | None = None
    """Rate of unicast data: 1, 2, 5.5 or 11. As in `wifi`; else 2."""
    broadcast_rate_mbps: float | None = None
    """Rate of broadcasts, RTS, CTS and acknowledgements: 1, 2, 5.5 or 11. As in `wifi`; else 1."""
    routing: Literal["aodv", "dsdv", "none"] | None = None
    """How packets get farther than one hop; `none`: they do not. As in `wifi`, which is `aodv` by default."""
    queue_packets: Annotated[int, Field(ge=2, le=1_000_000)] | None = None
    """Frames that wait at one radio; more are lost (`queue_full`). As in `wifi` where it is written there; else 50."""
    obstacles: Literal["refuse", "transparent"] = "refuse"
    """What to do in an arena with obstacles, of which ns-2 knows nothing: give up, or let signals pass through them."""
    step_timeout_s: Positive = 240.0
    """How long ns-2 may work on one step, in real time."""

    @field_validator("rate_mbps", "broadcast_rate_mbps")
    @classmethod
    def _is_rate(cls, rate: float | None) -> float | None:
        if rate is not None and rate not in RATES_MBPS:
            raise ValueError(f"is no rate of 802.11b, which has {', '.join(f'{one:g}' for one in RATES_MBPS)} Mbit/s")
        return rate
