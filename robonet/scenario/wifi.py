"""The `wifi` section of a scenario: radios, the space between them, medium access, and routing."""

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from robonet.scenario.sections import Choice, Name, NonNegative, Positive, Section

Decibels = Annotated[float, Field(ge=-200, le=200)]
Bytes = Annotated[int, Field(ge=0, le=65535)]
Count = Annotated[int, Field(ge=1, le=1_000_000)]


# --- the space between radios ----------------------------------------------------------------------------


class Friis(Section):
    """Free space: the power falls with the square of the distance."""

    system_loss: Annotated[float, Field(ge=1)] = 1.0
    """Losses of the hardware, as a factor."""
    minimum_loss_db: NonNegative = 0.0
    """Least loss, however near."""


class LogDistance(Section):
    """The power falls with the distance to the power of an exponent."""

    exponent: Positive = 3.0
    """2 is free space; 3 is typical of cities, 4 and more of rooms."""
    reference_loss_db: Decibels = 46.6777
    """Loss at the reference distance; free space at 5.15 GHz by default."""
    reference_m: Positive = 1.0
    """The reference distance; nearer than this the loss stays the same."""


class TwoRayGround(Section):
    """The direct ray and one from the ground; free space up to the crossover distance."""

    antenna_height_m: Positive = 1.5
    """Height of the antennas above the robots' positions."""
    system_loss: Annotated[float, Field(ge=1)] = 1.0
    """Losses of the hardware, as a factor."""
    minimum_m: NonNegative = 0.5
    """Nearer than this there is no loss."""


class FixedRange(Section):
    """Full power up to a range, nothing beyond."""

    range_m: Positive = 120.0
    """How far signals go."""


class Propagation(Choice):
    """How signals fade with distance."""

    friis: Friis | None = None
    """Free space."""
    log_distance: LogDistance | None = None
    """A power of the distance."""
    two_ray_ground: TwoRayGround | None = None
    """With a reflection from the ground."""
    range: FixedRange | None = None
    """All or nothing."""


class Shadowing(Section):
    """Log-normal shadowing: the same both ways, and changing slowly as robots move."""

    sigma_db: NonNegative = 4.0
    """Its standard deviation."""
    correlation_m: Positive = 10.0
    """The distance over which it changes."""


class Rayleigh(Section):
    """Many echoes and no line of sight: a new power for each frame and receiver."""


class Rician(Section):
    """A line of sight among echoes."""

    k_db: Decibels = 6.0
    """Power of the line of sight over that of the echoes."""


class Nakagami(Section):
    """A general family: 1 is Rayleigh, more is milder."""

    m: Annotated[float, Field(ge=0.5, le=100)] = 1.5
    """Its shape."""


class Fading(Choice):
    """Fast fading, drawn anew for each frame at each receiver."""

    rayleigh: Rayleigh | None = None
    """No line of sight."""
    rician: Rician | None = None
    """With a line of sight."""
    nakagami: Nakagami | None = None
    """By shape."""


class Material(Section):
    """What obstacles of one material take from a signal that passes through them."""

    wall_db: NonNegative = 0.0
    """For each obstacle that the line of sight crosses."""
    per_m_db: NonNegative = 0.0
    """And for each metre inside."""


MATERIALS = {
    "concrete": Material(wall_db=12.0),
    "brick": Material(wall_db=8.0),
    "wood": Material(wall_db=4.0),
    "glass": Material(wall_db=3.0),
    "metal": Material(wall_db=30.0),
    "drywall": Material(wall_db=3.0),
}
"""Typical values at 5 GHz."""


# --- receivers and medium access -------------------------------------------------------------------------


class Reception(Section):
    """When a radio takes up a frame."""

    minimum_rssi_dbm: Decibels = -82.0
    """Weakest preamble that is detected."""
    minimum_snr_db: Decibels = 4.0
    """Least signal over noise and interference in a preamble that is detected."""
    sensitivity_dbm: Decibels = -101.0
    """Signals below this do not exist for a radio, not even as interference."""
    carrier_sense_dbm: Decibels = -82.0
    """Energy of frames, decoded or not, from which on the medium counts as busy; -62 to hear only what is decoded."""
    error_rates: Literal["simulated", "nist"] = "simulated"
    """OFDM's, from link simulations in white noise (ns-3's default), or by the NIST bound, which is more cautious."""
    capture_db: NonNegative | None = None
    """A frame stronger by this takes over from one whose preamble is still being received; `null`: never."""


class Mac(Section):
    """Medium access: the distributed coordination function."""

    rts_threshold_bytes: Bytes = 65535
    """Unicast frames longer than this, headers included, ask for the medium first (RTS/CTS)."""
    retry_limit: Annotated[int, Field(ge=1, le=255)] = 7
    """How often a frame is tried."""
    cw_min: Annotated[int, Field(ge=0, le=32767)] | None = None
    """Smallest contention window; the standard's by default (15, in 802.11b 31)."""
    cw_max: Annotated[int, Field(ge=0, le=32767)] = 1023
    """Largest contention window."""
    queue_packets: Count = 500
    """Frames that wait at one radio; more are lost (`queue_full`)."""
    queue_lifetime_s: Positive = 0.5
    """How long a frame waits before it is thrown away (`lifetime`)."""
    rate_control: Literal["fixed", "arf"] = "fixed"
    """Whether unicast frames keep to `rate_mbps` or step up after ten successes and down after two failures."""


# --- routing ---------------------------------------------------------------------------------------------


class Aodv(Section):
    """Ad hoc on-demand distance vector routing, RFC 3561; the names and defaults of its section 10."""

    rules: Literal["rfc3561", "ns3"] = "rfc3561"
    """By the letter of the RFC, which has no loops, or with the liberties that ns-3 takes (docs/validation.md)."""

    hello: bool = True
    """Whether nodes greet their neighbours every `hello_interval_s`."""
    hello_interval_s: Positive = 1.0
    """HELLO_INTERVAL."""
    allowed_hello_loss: Annotated[int, Field(ge=1)] = 2
    """ALLOWED_HELLO_LOSS."""
    active_route_timeout_s: Positive = 3.0
    """ACTIVE_ROUTE_TIMEOUT."""
    delete_period_s: Positive | None = None
    """DELETE_PERIOD; by default 5 times the larger of ACTIVE_ROUTE_TIMEOUT and HELLO_INTERVAL."""
    my_route_timeout_s: Positive | None = None
    """MY_ROUTE_TIMEOUT; by default twice the larger of ACTIVE_ROUTE_TIMEOUT and PATH_DISCOVERY_TIME."""
    net_diameter: Annotated[int, Field(ge=1, le=255)] = 35
    """NET_DIAMETER: longest path in hops."""
    node_traversal_time_s: Positive = 0.04
    """NODE_TRAVERSAL_TIME."""
    rreq_retries: Annotated[int, Field(ge=0)] = 2
    """RREQ_RETRIES."""
    rreq_rate_limit_hz: Annotated[int, Field(ge=1)] = 10
    """RREQ_RATELIMIT: RREQs a node may originate in a second."""
    rerr_rate_limit_hz: Annotated[int, Field(ge=1)] = 10
    """RERR_RATELIMIT."""
    expanding_ring: bool = True
    """Whether to look for a route near by first."""
    ttl_start: Annotated[int, Field(ge=1)] = 1
    """TTL_START."""
    ttl_increment: Annotated[int, Field(ge=1)] = 2
    """TTL_INCREMENT."""
    ttl_threshold: Annotated[int, Field(ge=1)] = 7
    """TTL_THRESHOLD."""
    timeout_buffer: Annotated[int, Field(ge=0)] = 2
    """TIMEOUT_BUFFER."""
    next_hop_wait_s: Positive | None = None
    """NEXT_HOP_WAIT; by default NODE_TRAVERSAL_TIME and 10 ms."""
    blacklist_timeout_s: Positive | None = None
    """BLACKLIST_TIMEOUT; by default RREQ_RETRIES times NET_TRAVERSAL_TIME."""
    destination_only: bool = False
    """Whether only the destination may answer a RREQ."""
    gratuitous_reply: bool = True
    """Whether an intermediate node that answers a RREQ tells the destination too."""
    local_repair: bool = False
    """Whether a node in the middle of a broken path looks for the destination itself (section 6.12)."""
    max_repair_ttl: Annotated[int, Field(ge=1)] | None = None
    """MAX_REPAIR_TTL; by default 0.3 times NET_DIAMETER."""
    buffer_packets: Count = 64
    """Datagrams that wait for a route at one node."""
    buffer_timeout_s: Positive = 30.0
    """How long they wait."""
    jitter_s: NonNegative = 0.01
    """Broadcasts are delayed by up to this, so that neighbours do not speak at once."""


class Flooding(Section):
    """Everyone repeats what is not for itself, once."""

    jitter_s: NonNegative = 0.01
    """Each repetition waits a random time up to this."""
    max_hops: Annotated[int, Field(ge=1, le=255)] = 64
    """Hops after which a packet is not repeated."""


class Olsr(Section):
    """Optimized link state routing, RFC 3626; defaults of its section 18."""

    hello_interval_s: Positive = 2.0
    """HELLO_INTERVAL."""
    tc_interval_s: Positive = 5.0
    """TC_INTERVAL."""
    willingness: Annotated[int, Field(ge=0, le=7)] = 3
    """How willing a node is to carry traffic for others; 3 is the default."""


class AntHocNet(Section):
    """AntHocNet: ants look for paths when they are needed, and keep improving them (Di Caro et al. 2005)."""

    hello_interval_s: Positive = 1.0
    """How often nodes greet their neighbours, with news of their best paths."""
    allowed_hello_loss: Annotated[int, Field(ge=1)] = 2
    """Greetings that may be missed before a neighbour counts as gone."""
    proactive_interval_s: Positive = 1.0
    """How often the source of a session sends an ant along its paths."""
    data_exponent: Positive = 20.0
    """Exponent with which data packets prefer better paths."""
    ant_exponent: Positive = 20.0
    """Exponent with which ants prefer better paths."""
    pheromone_memory: Annotated[float, Field(gt=0, lt=1)] = 0.7
    """Weight of what was known before against what an ant reports."""
    hop_time_s: Positive = 0.003
    """Time that a hop is assumed to take without load."""
    acceptance: Positive = 0.9
    """Ants of one generation go on only when better than the best before by this factor."""
    max_broadcasts: Annotated[int, Field(ge=0)] = 2
    """How often a proactive ant may be broadcast where no path is known."""
    setup_retries: Annotated[int, Field(ge=0)] = 3
    """How often the search for a path is repeated."""
    setup_wait_s: Positive = 1.0
    """How long to wait for an answer."""
    buffer_packets: Count = 64
    """Datagrams that wait for a path at one node."""
    jitter_s: NonNegative = 0.01
    """Broadcasts are delayed by up to this."""


class Captures(Section):
    """Captures: one pcap file a node, as Wireshark reads them."""

    prefix: Name = "wifi"
    """Files are called `<prefix>-<node>-0.pcap`, in the run folder's `captures`."""
    format: Literal["802.11", "radiotap"] = "radiotap"
    """Bare frames, or with rate, channel and signal strength in front."""
    nodes: tuple[str, ...] | Literal["all"] = "all"
    """Whose captures are written."""

    @field_validator("format", mode="before")
    @classmethod
    def _name(cls, given: Any) -> Any:
        """A standard's name that YAML takes for a number."""
        return "802.11" if given == 802.11 else given


class Wifi(Section):
    """802.11 radios in ad hoc mode, packet by packet, with routing on top."""

    standard: Literal["802.11a", "802.11b", "802.11g"] = "802.11a"
    """OFDM at 5 GHz, DSSS at 2.4 GHz, or OFDM at 2.4 GHz."""
    rate_mbps: float | None = None
    """Rate of unicast data: 6, 9, 12, 18, 24, 36, 48 or 54 (802.11a, g), 1, 2, 5.5 or 11 (802.11b); else the lowest."""
    broadcast_rate_mbps: float | None = None
    """Rate of broadcasts; the lowest of the standard by default, as always for RTS."""
    range_m: Positive | None = None
    """Transmit power such that preambles are just detected at this distance; 120 m unless a power is given."""
    tx_power_dbm: Annotated[float, Field(ge=-100, le=60)] | None = None
    """Transmit power, where no range is given; ns-3's is 16.0206."""
    antenna_gain_db: Decibels = 0.0
    """Gain of each antenna, sending and receiving, on top of a given power; a given range has it included."""
    noise_figure_db: NonNegative = 7.0
    """Noise that receivers add to that of heat."""
    frequency_mhz: Positive | None = None
    """Centre of the channel; 5180 (channel 36) or 2412 (channel 1) by default."""
    propagation: Propagation = Propagation(log_distance=LogDistance())
    """How signals fade with distance."""
    shadowing: Shadowing | None = None
    """Slow fading by what stands around, on top."""
    fading: Fading | None = None
    """Fast fading, on top."""
    materials: dict[Name, Material] = MATERIALS
    """What obstacles take from signals, by their material; given ones replace or join the built-in ones."""
    reception: Reception = Reception()
    """When a radio takes up a frame."""
    mac: Mac = Mac()
    """Medium access."""
    arp: bool = False
    """Whether nodes ask for the hardware address of a next hop before they first send to it, as in ns-3."""
    routing: str = "aodv"
    """How packets get farther than one hop (`robonet list routing`); `none`: they do not."""
    max_hops: Annotated[int, Field(ge=1, le=255)] = 64
    """Initial time to live of datagrams."""
    aodv: Aodv = Aodv()
    """Settings of `aodv`."""
    flooding: Flooding = Flooding()
    """Settings of `flooding`."""
    olsr: Olsr = Olsr()
    """Settings of `olsr`."""
    anthocnet: AntHocNet = AntHocNet()
    """Settings of `anthocnet`."""
    captures: Captures | None = None
    """Whether to write captures, and how."""
    flows: bool = True
    """Whether to write statistics of each flow (`flows` table, and `flows.xml` as FlowMonitor writes it)."""

    @field_validator("materials")
    @classmethod
    def _join_built_in(cls, given: dict[str, Material]) -> dict[str, Material]:
        return {**MATERIALS, **given}
