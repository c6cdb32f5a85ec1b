"""What robots carry: the settings of every sensor and actuator, and the noise that each can have."""

from typing import Annotated, Any, Literal

from pydantic import Field

from robonet.scenario.sections import Choice, Name, NonNegative, Params, Point, Positive, Probability, Section

Count = Annotated[int, Field(ge=1, le=10_000)]

# --- noise -----------------------------------------------------------------------------------------------


class Gaussian(Section):
    """A normal number, drawn anew for every reading."""

    std: NonNegative
    """Its standard deviation, in the unit of the reading."""


class Uniform(Section):
    """A number from an interval, drawn anew for every reading."""

    low: float
    """The least that is added."""
    high: float
    """The most that is added."""


class Bias(Section):
    """A number that is drawn once for each robot and channel, and stays."""

    mean: float = 0.0
    """What all robots have in common."""
    std: NonNegative = 0.0
    """How much they differ."""


class Drift(Section):
    """A random walk."""

    std_per_sqrt_s: NonNegative
    """Its standard deviation after one second; it grows with the square root of time."""


class Quantise(Section):
    """Readings come in steps."""

    step: Positive
    """Distance between two values that can be read."""


class Dropout(Section):
    """Readings fail: range finders then see nothing, everything else repeats its last reading."""

    probability: Probability
    """Chance that one reading fails."""


class Noise(Choice):
    """One thing that is wrong with readings; several are applied in the order given."""

    gaussian: Gaussian | None = None
    """Independent normal errors."""
    uniform: Uniform | None = None
    """Independent errors from an interval."""
    bias: Bias | None = None
    """Errors that stay."""
    drift: Drift | None = None
    """Errors that wander."""
    quantise: Quantise | None = None
    """A resolution."""
    dropout: Dropout | None = None
    """Failures."""


class Noisy(Section):
    """A device whose readings can be noisy; by default they are exact."""

    noise: tuple[Noise, ...] = ()
    """What is wrong with its readings, in the unit of the reading."""


# --- sensors ---------------------------------------------------------------------------------------------


class Proximity(Noisy):
    """Short rays around the body."""

    rays: Count = 24
    """How many, at equal angles, symmetric about straight ahead; not used with `angles_deg`."""
    angles_deg: tuple[float, ...] | None = None
    """Where the rays point, counter-clockwise from straight ahead."""
    range_m: Positive = 0.1
    """How far they reach beyond the body's edge."""
    response: Literal["linear", "inverse"] = "linear"
    """How `values` fall with distance: straight to 0, or with its inverse as the foot-bot's infrared sensors do."""


class Sonar(Noisy):
    """Range finders that look a few metres far."""

    rays: Count = 16
    """How many, at equal angles from straight ahead; not used with `angles_deg`."""
    angles_deg: tuple[float, ...] | None = None
    """Where they point, counter-clockwise from straight ahead."""
    range_m: Positive = 5.0
    """How far they see."""
    cone_deg: NonNegative = 0.0
    """Width of the beam; a reading is the nearest of `cone_rays` in it."""
    cone_rays: Count = 1
    """How finely a beam is looked at: more is more accurate and slower."""


class Laser(Noisy):
    """A scanner that looks far ahead."""

    beams: Annotated[int, Field(ge=2, le=10_000)] = 180
    """How many."""
    field_of_view_deg: Annotated[float, Field(gt=0, le=360)] = 180.0
    """The angle between the first and the last, centred on straight ahead."""
    range_m: Positive = 8.0
    """How far they see."""


class Ground(Noisy):
    """How bright the floor is under points of the body."""

    points_m: tuple[Point, ...] = ((0.0, 0.0),)
    """Where they are, forward and to the left of the centre."""


class Light(Noisy):
    """A ring that feels where lights are."""

    sensors: Count = 24
    """How many, at equal angles, symmetric about straight ahead; not used with `angles_deg`."""
    angles_deg: tuple[float, ...] | None = None
    """Where they point, counter-clockwise from straight ahead."""
    occlusion: bool = True
    """Whether things cast shadows."""


class Camera(Noisy):
    """An omnidirectional camera that sees coloured LEDs as blobs: noise is in metres of distance."""

    range_m: Positive = 3.0
    """How far it sees."""
    field_of_view_deg: Annotated[float, Field(gt=0, le=360)] = 360.0
    """How wide it sees, centred on straight ahead."""
    occlusion: bool = True
    """Whether bodies and obstacles hide what is behind them; without, it is faster."""
    angle_noise: tuple[Noise, ...] = ()
    """What is wrong with the angles, in radians."""


class Positioning(Noisy):
    """Where the robot is: noise is in metres."""

    heading_noise: tuple[Noise, ...] = ()
    """What is wrong with the heading, in radians."""


class Compass(Noisy):
    """Where the robot looks: noise is in radians."""


class Odometry(Section):
    """Where the wheels believe the robot is; its errors grow with the way."""

    distance_noise: NonNegative = 0.0
    """Standard deviation of the distance covered in a step, as a share of it."""
    turn_noise: NonNegative = 0.0
    """Standard deviation of the angle turned in a step, as a share of it."""


class Battery(Noisy):
    """Charge that falls with time and with motion: noise is a share of the full charge."""

    capacity_j: Positive = 36_000.0
    """Energy when full."""
    idle_w: NonNegative = 1.0
    """What it takes to be switched on."""
    drive_w_per_m_s: NonNegative = 10.0
    """What it takes to move, for each metre per second."""
    send_j: NonNegative = 0.0
    """What one radio packet takes."""
    charge: Probability = 1.0
    """How full it is at the start."""


class Contact(Section):
    """Bumpers: whether something touches the body."""

    sectors: Count = 8
    """How many, at equal angles; the first is centred straight ahead."""
    reach_m: Positive = 0.002
    """How near is a touch."""


class RangeAndBearing(Section):
    """Messages between robots that see each other; whoever hears one knows from where it came."""

    range_m: Positive = 3.0
    """How far it is heard."""
    payload_bytes: Annotated[int, Field(ge=1, le=65507)] = 10
    """Bytes in a message."""
    line_of_sight: bool = True
    """Whether robots and walls in between keep it from being heard; without, it is faster."""
    drop_probability: Probability = 0.0
    """Chance that a receiver misses a message."""
    range_noise: tuple[Noise, ...] = ()
    """What is wrong with the distances read, in metres."""
    bearing_noise: tuple[Noise, ...] = ()
    """What is wrong with the bearings read, in radians."""


class RadioDevice(Section):
    """The radio of the simulated network."""


class Clock(Section):
    """The robot's own time."""

    offset_s: float = 0.0
    """How far it is ahead at the start."""
    offset_std_s: NonNegative = 0.0
    """How much robots differ in that."""
    drift_ppm: float = 0.0
    """How much too fast it runs, in millionths."""
    drift_std_ppm: NonNegative = 0.0
    """How much robots differ in that."""


# --- actuators -------------------------------------------------------------------------------------------


class Rayleigh(Section):
    """The asymmetry of a foot-bot's treels: one side is faster by a factor that stays until it grips."""

    sigma: Positive = 0.0134
    """Scale of the factor's distribution."""


class WheelNoise(Choice):
    """What is wrong with the speeds that wheels really have."""

    gaussian: Gaussian | None = None
    """A factor about one, drawn anew in every step, for each wheel; `std` is a share of the speed."""
    uniform: Uniform | None = None
    """The same from an interval about zero."""
    bias: Bias | None = None
    """A factor for each wheel that stays."""
    rayleigh: Rayleigh | None = None
    """The foot-bot's treels as measured: forwards the right one is faster, backwards the left one."""


class Wheels(Section):
    """Two wheels on one axle."""

    wheel_distance_m: Positive = 0.14
    """Distance between the wheels."""
    max_speed_m_s: Positive = 100.0
    """More cannot be asked for."""
    noise: tuple[WheelNoise, ...] = ()
    """How the real speeds differ from what was asked for."""


class Omni(Section):
    """Wheels that go in every direction."""

    max_speed_m_s: Positive = 100.0
    """More cannot be asked for."""
    noise: tuple[Noise, ...] = ()
    """What is wrong with the forward and sideways speed, in m/s."""


class Steering(Section):
    """A car: driven wheels behind, steered ones in front."""

    wheelbase_m: Positive = 0.3
    """Distance between the axles."""
    max_steering_deg: Annotated[float, Field(gt=0, lt=90)] = 35.0
    """How far the front wheels turn."""
    max_speed_m_s: Positive = 100.0
    """More cannot be asked for."""
    noise: tuple[Noise, ...] = ()
    """What is wrong with the speed, in m/s."""


class Rotors(Section):
    """Four rotors; what they can do."""

    max_speed_m_s: Positive = 2.0
    """Fastest flight in any direction."""
    max_acceleration_m_s2: Positive = 4.0
    """How fast the speed changes."""
    max_turn_rad_s: Positive = 2.0
    """How fast it yaws."""
    noise: tuple[Noise, ...] = ()
    """What is wrong with the speed reached along each axis, in m/s."""


class Leds(Section):
    """Coloured lights on the body, seen by cameras."""

    count: Annotated[int, Field(ge=0, le=1000)] = 12
    """How many in a ring, at equal angles."""
    ring_m: NonNegative = 0.085
    """Radius of the ring."""
    height_m: NonNegative = 0.1
    """Its height above the underside."""
    beacon: bool = False
    """Whether there is one more in the middle; it is the last in order."""


class Gripper(Section):
    """Takes hold of a movable thing in front, in engines that know of it."""

    reach_m: Positive = 0.03
    """How far from the body's edge."""
    angle_deg: Annotated[float, Field(gt=0, le=360)] = 60.0
    """How wide it opens, centred on straight ahead."""


class Custom(Section):
    """A device of your own."""

    device: str
    """`file.py:Class` or `package.module:Class`; made with (world, group, params)."""
    params: Params = {}
    """Handed to it."""


class Devices(Section):
    """Everything that a robot can carry; a name that is left out is not carried."""

    proximity: Proximity | None = None
    """Short rays around the body."""
    sonar: Sonar | None = None
    """Range finders."""
    laser: Laser | None = None
    """A laser scanner."""
    ground: Ground | None = None
    """Floor brightness."""
    light: Light | None = None
    """A ring of light sensors."""
    camera: Camera | None = None
    """An omnidirectional camera."""
    positioning: Positioning | None = None
    """Position and heading."""
    compass: Compass | None = None
    """Heading."""
    odometry: Odometry | None = None
    """Dead reckoning."""
    battery: Battery | None = None
    """Charge."""
    contact: Contact | None = None
    """Bumpers."""
    clock: Clock | None = None
    """Time."""
    range_and_bearing: RangeAndBearing | None = None
    """Situated communication."""
    radio: RadioDevice | None = None
    """The simulated network."""
    wheels: Wheels | None = None
    """Differential drive."""
    omni: Omni | None = None
    """Omnidirectional drive."""
    steering: Steering | None = None
    """Ackermann drive."""
    quadrotor_position: Rotors | None = None
    """Flies to where it is told."""
    quadrotor_velocity: Rotors | None = None
    """Flies as fast as it is told."""
    leds: Leds | None = None
    """Coloured lights."""
    gripper: Gripper | None = None
    """Takes hold of things."""
    custom: dict[Name, Custom] = {}
    """Devices of your own, by the name that controllers see."""

    def carried(self) -> dict[str, Any]:
        """Settings of what is carried, by name, built-in devices first."""
        built_in = {name: value for name, value in self if name != "custom" and value is not None}
        return {**built_in, **self.custom}


COMPONENTS = {
    "wheels": "drive",
    "omni": "drive",
    "steering": "drive",
    "quadrotor_position": "drive",
    "quadrotor_velocity": "drive",
    "leds": "leds",
    "gripper": "gripper",
}
"""What each actuator acts on; two actuators on one component would contradict each other."""

FLYING = ("quadrotor_position", "quadrotor_velocity")
"""Drives that leave the floor."""
