"""The types of a scenario; the docstring under a field is its documentation and its JSON Schema text."""

from typing import Annotated, Any, Literal

from pydantic import Field, GetJsonSchemaHandler, model_validator

from robonet.scenario.arena import Arena, Objects, Place, Uniform
from robonet.scenario.devices import Devices
from robonet.scenario.engines import EngineSection
from robonet.scenario.kinds import Kind
from robonet.scenario.ns2 import Ns2
from robonet.scenario.ns3 import Ns3
from robonet.scenario.sections import (
    Choice,
    Interval,
    Name,
    NonNegative,
    Params,
    Point,
    Positive,
    Probability,
    Section,
)
from robonet.scenario.wifi import Wifi

# --- robots and stations ---------------------------------------------------------------------------------


class RandomWaypoint(Section):
    """Go to a random point, pause, go to the next."""

    speed_m_s: tuple[Positive, Positive] = (0.5, 1.5)
    """Least and greatest speed; one is drawn for each leg."""
    pause_s: Interval = (0.0, 0.0)
    """Shortest and longest rest at a point."""


class RandomWalk(Section):
    """Walk straight for a while, turn to a random heading; bounce off the arena's border."""

    speed_m_s: Positive = 1.0
    """Speed."""
    leg_s: tuple[Annotated[float, Field(ge=1e-3)], Annotated[float, Field(ge=1e-3)]] = (5.0, 15.0)
    """Shortest and longest time between two turns."""


class Path(Section):
    """Follow the same points, in order."""

    points_m: Annotated[tuple[Point, ...], Field(min_length=1)]
    """The corners of the path; robots start at the first one."""
    speed_m_s: Positive = 1.0
    """Speed along the path."""
    loop: bool = False
    """Whether to go on from the last point to the first, again and again."""


class MotionFile(Section):
    """Motion read from a file."""

    file: str
    """Path, relative to the scenario."""


class Motion(Choice):
    """A prescribed motion for robots without a controller; such robots pass through things."""

    random_waypoint: RandomWaypoint | None = None
    """To random points at random speeds."""
    random_walk: RandomWalk | None = None
    """Straight legs with random turns."""
    path: Path | None = None
    """Along given points."""
    ns2: MotionFile | None = None
    """From an ns-2 movement file (`setdest`), as BonnMotion and SUMO write them; its origin is the corner."""
    csv: MotionFile | None = None
    """From a CSV file with the columns robot,time_s,x_m,y_m."""


class Radio(Section):
    """Communication equipment."""

    range_m: Positive | None = None
    """How far this radio reaches, where it differs from the network model's `range_m` (`disk`)."""


class Robots(Section):
    """A group of robots of one kind with one behaviour."""

    name: Name
    """Name of the group; its robots are called name0, name1, ..., a single one just by the name."""
    kind: str = "foot-bot"
    """Which robot (`robonet list robots`)."""
    count: Annotated[int, Field(ge=0, le=1_000_000)] = 1
    """How many."""
    reserve: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    """How many more are kept aside, for hooks to add while the run goes on."""
    devices: Devices = Devices()
    """Changes to what they carry, e.g. `proximity: {noise: [{gaussian: {std: 0.01}}]}`."""
    engine: Name | None = None
    """Which of `engines` moves them at first; by default the one in whose region they start."""
    place: Place = Place(uniform=Uniform())
    """Where they start."""
    heading_deg: float | Literal["random"] = "random"
    """Where they look at the start."""
    controller: str | None = None
    """`file.py:Class`, `package.module:Class` or a built-in name (`robonet list controllers`)."""
    params: Params = {}
    """Keyword arguments of the controller's `start`."""
    motion: Motion | None = None
    """What robots without a controller do; without either they stand still."""
    radio: Radio = Radio()
    """Their communication equipment."""

    def member(self, index: int) -> str:
        """The name of one robot of the group."""
        return self.name if self.members == 1 else f"{self.name}{index}"

    @property
    def members(self) -> int:
        """How many there are with the reserve."""
        return self.count + self.reserve


class Station(Section):
    """Something with a radio that does not move, such as a base."""

    name: Name
    """Its name."""
    at_m: Point
    """Where it stands."""
    height_m: NonNegative = 0.0
    """Height of its antenna above the ground."""
    controller: str | None = None
    """As for robots; it has a radio, a clock and a position, and no wheels."""
    params: Params = {}
    """Keyword arguments of the controller's `start`."""
    radio: Radio = Radio()
    """Its communication equipment."""


# --- traffic ---------------------------------------------------------------------------------------------


class Stream(Section):
    """Packets sent by the robots' computers themselves, whatever the controllers do."""

    senders: Annotated[float, Field(gt=0, le=1)] | Annotated[int, Field(ge=1)] | tuple[str, ...] | str = "all"
    """A share with a decimal point (0.2), a number (5), `all`, a group, or a list of names."""
    to: str = "random"
    """`random` (one other node a sender, for good), `all` (broadcast), or the name of a node or group."""
    rate_hz: Positive = 1.0
    """Packets per second of each sender."""
    payload_bytes: Annotated[int, Field(ge=1, le=65507)] = 64
    """Bytes in each packet."""
    start_s: NonNegative = 0.0
    """When sending begins."""
    stop_s: Positive | None = None
    """When it ends; by default with the run."""


class Traffic(Choice):
    """Background traffic."""

    cbr: Stream | None = None
    """Constant bit rate, each sender with a random phase."""
    poisson: Stream | None = None
    """Independent packets at random times."""


# --- the network -----------------------------------------------------------------------------------------


class Ideal(Section):
    """Everything arrives at everyone it is meant for."""

    delay_s: NonNegative = 0.0
    """Time from sending to arrival."""


class Disk(Section):
    """Radios reach everything within a range, with a probability; nothing collides."""

    range_m: Positive = 120.0
    """How far a radio reaches."""
    delivery_probability: Probability = 1.0
    """Chance that one hop succeeds."""
    delay_s: NonNegative = 0.002
    """Time that one hop takes."""
    multihop: bool = False
    """Whether nodes forward what is not for them."""
    routing: str = "shortest-path"
    """How they forward (`robonet list routing`)."""
    max_hops: Annotated[int, Field(ge=1, le=255)] = 64
    """Hops after which a packet is given up."""


class Network(Section):
    """What the radios are like."""

    model: str = "disk"
    """Which model (`robonet list networks`), or `file.py:Class` / `package.module:Class` of your own."""
    ideal: Ideal = Ideal()
    """Settings of `ideal`."""
    disk: Disk = Disk()
    """Settings of `disk`."""
    wifi: Wifi = Wifi()
    """Settings of `wifi`; bridges to other simulators go by the same words where they can."""
    ns3: Ns3 = Ns3()
    """Settings of `ns3`."""
    ns2: Ns2 = Ns2()
    """Settings of `ns2`."""
    custom: Params = {}
    """Settings of a model of your own, handed to its constructor."""


# --- the rest --------------------------------------------------------------------------------------------


class Hook(Section):
    """A class of yours that watches, changes or ends the run, and measures."""

    hook: str
    """`file.py:Class` or `package.module:Class`."""
    params: Params = {}
    """Keyword arguments of its constructor."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """As the parser has it: a mapping, or the reference alone."""
        made: dict[str, Any] = dict(handler.resolve_ref_schema(handler(core)))
        about: dict[str, Any] = {key: made.pop(key) for key in ("title", "description") if key in made}
        return {**about, "anyOf": [made, {"type": "string"}]}

    @model_validator(mode="before")
    @classmethod
    def _reference(cls, data: Any) -> Any:
        return {"hook": data} if isinstance(data, str) else data


class Record(Section):
    """What the run leaves behind."""

    poses_every_s: Positive | None = None
    """How often positions are written; by default at every step."""


class Limits(Section):
    """How long the two simulators wait for each other, in real time."""

    join_timeout_s: Positive = 120.0
    """For the other side to start and introduce itself."""
    step_timeout_s: Positive = 300.0
    """For the other side to finish one step."""
    heartbeat_timeout_s: Annotated[float, Field(ge=1, le=3600)] = 10.0
    """For a sign of life of the other process; a stopped or unplugged peer is noticed after this."""


class Scenario(Section):
    """A robot team, its world, its radios and what it does."""

    robonet: Literal[1]
    """Version of the scenario format."""
    name: Name
    """Name of the scenario; run folders are called after it."""
    description: str = ""
    """What it shows, in a sentence."""
    seed: Annotated[int, Field(ge=0, le=2**63 - 1)] = 1
    """Root of all randomness."""
    duration_s: Positive
    """Simulated time."""
    step_s: Annotated[float, Field(ge=1e-6)] = 0.1
    """Length of one step of the robot simulator; the two simulators meet at its borders."""
    engine: str = "kinematics2d"
    """Physics engine (`robonet list engines`) of everything on the floor; what flies has `pointmass3d`."""
    engines: tuple[EngineSection, ...] = ()
    """Several engines, each with a region of its own; instead of `engine`."""
    threads: Annotated[int, Field(ge=1, le=256)] = 1
    """How many threads move robots and compute readings; results do not depend on it."""
    arena: Arena = Arena()
    """The world."""
    objects: tuple[Objects, ...] = ()
    """Things that can be moved."""
    kinds: tuple[Kind, ...] = ()
    """Robots of your own making."""
    robots: tuple[Robots, ...] = ()
    """Groups of robots."""
    stations: tuple[Station, ...] = ()
    """What has a radio and does not move."""
    traffic: tuple[Traffic, ...] = ()
    """Background traffic."""
    network: Network = Network()
    """What the radios are like."""
    hooks: tuple[Hook, ...] = ()
    """Code of yours around the steps."""
    record: Record = Record()
    """What the run leaves behind."""
    limits: Limits = Limits()
    """How long to wait for a side that does not answer."""
    variants: dict[Name, dict[str, Any]] = {}
    """Named changes to this scenario, chosen with `--variant`; lists of named things are merged by name."""
