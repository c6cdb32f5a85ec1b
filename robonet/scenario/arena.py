"""The world of a scenario: its border, what stands in it, its floor and lights, and where things start."""

from typing import Annotated, Literal

from pydantic import Field

from robonet.scenario.sections import Choice, Name, NonNegative, Point, Positive, Probability, Section

# --- what stands there -----------------------------------------------------------------------------------


class Box(Section):
    """A solid rectangle."""

    center_m: Point
    """Where its centre is."""
    size_m: tuple[Positive, Positive]
    """Its extent along x and y before turning."""
    angle_deg: float = 0.0
    """How far it is turned, counter-clockwise."""
    material: Name = "concrete"
    """What it is made of (`network.wifi.materials`): it weakens signals that pass through."""


class Circle(Section):
    """A solid disk, such as a pillar."""

    center_m: Point
    """Where its centre is."""
    radius_m: Positive
    """Its radius."""
    material: Name = "concrete"
    """What it is made of (`network.wifi.materials`): it weakens signals that pass through."""


class Polygon(Section):
    """A solid with corners, which need not be convex."""

    corners_m: Annotated[tuple[Point, ...], Field(min_length=3)]
    """Its corners, in order around it."""
    material: Name = "concrete"
    """What it is made of (`network.wifi.materials`): it weakens signals that pass through."""


class Obstacle(Choice):
    """Something solid that does not move."""

    box: Box | None = None
    """A rectangle."""
    circle: Circle | None = None
    """A disk."""
    polygon: Polygon | None = None
    """Any outline."""


class Bitmap(Section):
    """A picture whose dark parts are walls."""

    file: str
    """The picture, relative to the scenario."""
    size_m: tuple[Positive, Positive] | None = None
    """Its extent; the arena's by default."""
    center_m: Point | None = None
    """Where its middle is; the arena's by default."""
    threshold: Probability = 0.5
    """What is darker than this, from 0 (black) to 1 (white), is solid."""
    material: Name = "concrete"
    """What its walls are made of."""


class Patch(Section):
    """A part of the floor in another shade."""

    center_m: Point
    """Where its centre is."""
    size_m: tuple[Positive, Positive] | None = None
    """Its extent, if it is a rectangle."""
    radius_m: Positive | None = None
    """Its radius, if it is a disk."""
    brightness: Probability = 0.0
    """From 0, black, to 1, white."""


class Floor(Section):
    """What ground sensors see."""

    brightness: Probability = 1.0
    """Of the whole floor, from 0, black, to 1, white."""
    image: str | None = None
    """A picture of the whole floor, relative to the scenario; shown over the arena's extent."""
    patches: tuple[Patch, ...] = ()
    """Parts in another shade; later ones lie on top."""


class Lamp(Section):
    """A light that light sensors feel."""

    at_m: Point
    """Where it hangs."""
    height_m: NonNegative = 1.0
    """How high."""
    intensity: Positive = 1.0
    """Distance in metres at which a sensor that faces it reads 1."""


class Arena(Section):
    """The rectangle in which everything happens; its centre is the origin unless told otherwise."""

    size_m: tuple[Positive, Positive] = (10.0, 10.0)
    """Extent along x and y."""
    center_m: Point = (0.0, 0.0)
    """Where the middle of the arena is; half the size puts the origin into its lower left corner."""
    walls: bool = True
    """Whether robots are kept inside."""
    obstacles: tuple[Obstacle, ...] = ()
    """Solid things that robots run into and that are announced to the network simulator."""
    bitmap: Bitmap | None = None
    """A floor plan; it becomes boxes, as few as may be."""
    floor: Floor = Floor()
    """What ground sensors see."""
    lights: tuple[Lamp, ...] = ()
    """What light sensors feel."""

    @property
    def low_m(self) -> Point:
        """The lower left corner."""
        return self.center_m[0] - self.size_m[0] / 2, self.center_m[1] - self.size_m[1] / 2

    @property
    def high_m(self) -> Point:
        """The upper right corner."""
        return self.center_m[0] + self.size_m[0] / 2, self.center_m[1] + self.size_m[1] / 2


# --- where things start ----------------------------------------------------------------------------------


class _Trials(Section):
    max_trials: Annotated[int, Field(ge=1)] = 1000
    """How often to try for each robot before giving up."""


class Uniform(_Trials):
    """Anywhere with equal probability, never overlapping."""

    center_m: Point | None = None
    """Centre of the area to place in; the arena's by default."""
    size_m: tuple[Positive, Positive] | None = None
    """Extent of the area to place in; the arena's by default."""


class Normal(_Trials):
    """Around a point, denser near it, never overlapping."""

    mean_m: Point = (0.0, 0.0)
    """The point."""
    std_m: tuple[Positive, Positive] = (1.0, 1.0)
    """Standard deviation along x and y."""


class Rows(Section):
    """Rows and columns around a point."""

    center_m: Point = (0.0, 0.0)
    """Middle of the grid."""
    spacing_m: Positive = 1.0
    """Distance between neighbours."""


class Line(Section):
    """One behind the other."""

    start_m: Point = (0.0, 0.0)
    """Where the first one is."""
    spacing_m: Positive = 1.0
    """Distance between neighbours."""
    angle_deg: float = 0.0
    """Where the line goes from there."""


class Cluster(_Trials):
    """Anywhere in a square whose area grows with the number of robots: the density stays."""

    center_m: Point = (0.0, 0.0)
    """Middle of the square."""
    density: Positive = 5.0
    """Areas that the robots' communication covers, all together, for each area of the square."""
    range_m: Positive = 3.0
    """How far that communication reaches."""


class ScaleFree(_Trials):
    """Each near one that is there already, well connected ones preferred: clusters with thin lines between them."""

    center_m: Point = (0.0, 0.0)
    """Where the first one is."""
    range_m: Positive = 3.0
    """How far a new one may be from the one that it joins."""


class Place(Choice):
    """Where the robots of a group start."""

    uniform: Uniform | None = None
    """Scattered at random."""
    gaussian: Normal | None = None
    """Scattered around a point."""
    grid: Rows | None = None
    """In rows and columns."""
    line: Line | None = None
    """In a line."""
    cluster: Cluster | None = None
    """Scattered in a square that grows with their number."""
    scale_free: ScaleFree | None = None
    """Joined to each other by preferential attachment (Barabasi and Albert)."""
    at_m: tuple[Point, ...] | None = None
    """One point a robot."""
    poses: tuple[tuple[float, float, float], ...] | None = None
    """One x, y (metres) and heading (degrees) a robot."""


# --- what can be moved -----------------------------------------------------------------------------------


class ObjectBox(Section):
    """A box."""

    size_m: tuple[Positive, Positive]
    """Its extent along its own x and y."""


class Cylinder(Section):
    """A cylinder."""

    radius_m: Positive
    """Its radius."""


class Objects(Section):
    """Things of one sort that can be pushed, gripped, or moved by hooks."""

    name: Name
    """Name of the sort; they are called name0, name1, ..., a single one just by the name."""
    box: ObjectBox | None = None
    """Their form, if it is a box."""
    cylinder: Cylinder | None = None
    """Their form, if it is a cylinder."""
    height_m: Positive = 0.2
    """Their height."""
    mass_kg: Positive = 1.0
    """Their mass."""
    friction: NonNegative = 0.5
    """Coefficient of friction with the floor."""
    movable: bool = True
    """Whether engines with dynamics may push them; hooks always may."""
    count: Annotated[int, Field(ge=0, le=1_000_000)] = 1
    """How many."""
    reserve: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    """How many more are kept aside, for hooks to add while the run goes on."""
    color: Literal["none"] | tuple[Probability, Probability, Probability] = "none"
    """Red, green and blue of a light on top, which cameras see."""
    place: Place = Place(uniform=Uniform())
    """Where they start."""
    heading_deg: float | Literal["random"] = "random"
    """How they are turned at the start."""

    def member(self, index: int) -> str:
        """The name of one of them."""
        return self.name if self.members == 1 else f"{self.name}{index}"

    @property
    def members(self) -> int:
        """How many there are with the reserve."""
        return self.count + self.reserve
