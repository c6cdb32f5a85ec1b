"""What Stage's models are: their poses and outlines, and robots with what they carry."""

import math
from typing import Any, NamedTuple

from robonet.imports.outlines import (
    Outline,
    convex_outline,
    extent,
    is_convex,
    moved,
    rectangle,
    round_radius,
)
from robonet.imports.parts import LARGEST_NUMBER, SMALLEST, Part

DEFAULT_SIZE_M = (0.4, 0.4, 1.0)
"""Of a model that does not say."""


class Units(NamedTuple):
    """What one length and one angle of the file are."""

    m: float
    deg: float

    def tuple_of(self, part: Part, name: str, least: int, most: int) -> tuple[float, ...] | None:
        """A list of lengths, taken over."""
        value = part.take(name)
        if value is None:
            return None
        if not isinstance(value, tuple) or not least <= len(value) <= most:
            raise part.wrong(f"a list of {least} to {most} numbers is expected", name)
        if not all(isinstance(item, float) and abs(item) <= LARGEST_NUMBER for item in value):
            raise part.wrong("numbers are expected", name)
        return tuple(item * self.m for item in value)

    def pose(self, part: Part, name: str = "pose") -> tuple[float, float, float, float]:
        """x, y, z in metres and the heading in degrees; three numbers are x, y and heading, as in old worlds."""
        found = self.tuple_of(part, name, 2, 4) or (0.0,)
        heading = found[-1] / self.m * self.deg if len(found) > 2 else 0.0
        z = found[2] if len(found) == 4 else 0.0
        return found[0], found[1] if len(found) > 1 else 0.0, z, heading

    def size(self, part: Part) -> tuple[float, float, float]:
        """Extent along x, y and z, taken over."""
        found = self.tuple_of(part, "size", 2, 4) or DEFAULT_SIZE_M
        if min(found[:2]) < SMALLEST:
            raise part.wrong("must be above 0", "size")
        return found[0], found[1], found[2] if len(found) > 2 and found[2] >= SMALLEST else DEFAULT_SIZE_M[2]


def outlines_of(part: Part, units: Units) -> list[Outline]:
    """The outlines of a model's blocks in its own frame: together they fill its size, as in Stage."""
    width, depth, _ = units.size(part)
    x, y, _, angle = units.pose(part, "origin")
    blocks = [_corners(block.opened(), units) for block in part.parts if block.kind == "block"]
    if part.take("noblocks"):
        return []
    if not blocks:
        return [moved(rectangle(width, depth), x, y, angle)]
    left, bottom, right, top = extent([point for block in blocks for point in block])
    if right - left < SMALLEST or top - bottom < SMALLEST:
        raise part.wrong("the blocks have no area")
    scale_x, scale_y = width / (right - left), depth / (top - bottom)
    center_x, center_y = (left + right) / 2, (bottom + top) / 2
    return [
        moved([((px - center_x) * scale_x, (py - center_y) * scale_y) for px, py in block], x, y, angle)
        for block in blocks
    ]


def _corners(block: Part, units: Units) -> Outline:
    count = block.whole("points", 0)
    if not 3 <= count <= 10_000:
        raise block.wrong("3 to 10,000 points are expected", "points")
    block.take("z")
    corners = []
    for number in range(count):
        point = units.tuple_of(block, f"point[{number}]", 2, 2)
        if point is None:
            raise block.wrong(f"point[{number}] is missing")
        corners.append((point[0], point[1]))
    return corners


# --- robots ----------------------------------------------------------------------------------------------


def kind_of(robot: Part, units: Units) -> dict[str, Any]:
    """A robot as a kind without a name: its body and its devices."""
    size = units.size(robot)
    kind: dict[str, Any] = {"body": _body(robot, units), "height_m": size[2]}
    if (mass := robot.number("mass", 0.0)) >= SMALLEST:
        kind["mass_kg"] = mass
    devices = _drive(robot, units, size[1])
    _localisation(robot, devices)
    for part in robot.parts:
        if part.kind in ("ranger", "sonar", "laser"):
            _add_ranger(part.opened(), units, devices)
        else:
            _add_device(part, units, devices)
    devices["radio"] = {}
    return {**kind, "devices": devices}


def _body(robot: Part, units: Units) -> dict[str, Any]:
    if "bitmap" in robot.values:
        robot.leave("bitmap", "a robot's body is a disk, a box or a polygon: its box is used")
    found = outlines_of(robot, units)
    if not found:
        robot.leave("noblocks", "robots are solid: the box of its size is used")
        return {"box": {"size_m": list(units.size(robot)[:2])}}
    if len(found) == 1 and (radius := round_radius(found[0])) is not None:
        return {"disk": {"radius_m": radius}}
    if len(found) > 1 or not is_convex(found[0]):
        robot.remark(f"{len(found)} blocks", "a body is convex: their convex outline is used")
    x, y, _, angle = units.pose(robot, "origin")
    if x == y == angle == 0 and not any(part.kind == "block" for part in robot.parts):
        return {"box": {"size_m": list(units.size(robot)[:2])}}
    hull = convex_outline([point for outline in found for point in outline])
    return {"polygon": {"corners_m": [list(point) for point in hull]}}


def _drive(robot: Part, units: Units, width_m: float) -> dict[str, Any]:
    drive = robot.take("drive", "diff")
    wheelbase_m = robot.positive("wheelbase", 1.0 / units.m) * units.m
    fastest: dict[str, Any] = {}
    bounds = units.tuple_of(robot, "velocity_bounds", 2, 8)
    if bounds is not None and len(bounds) > 1 and bounds[1] >= SMALLEST:
        fastest["max_speed_m_s"] = bounds[1]
        robot.leave("velocity_bounds", "only the forward limit is taken over, for each wheel")
    if drive == "omni":
        return {"omni": fastest}
    if drive == "car":
        return {"steering": {"wheelbase_m": wheelbase_m, **fastest}}
    if drive != "diff":
        raise robot.wrong('"diff", "omni" or "car" is expected', "drive")
    robot.remark("distance of the wheels", "Stage has none: the width of the body is used")
    return {"wheels": {"wheel_distance_m": width_m, **fastest}}


def _localisation(robot: Part, devices: dict[str, Any]) -> None:
    if robot.take("localization", "gps") == "odom":
        devices["odometry"] = {}
        robot.leave("odom_error", "set distance_noise and turn_noise of the odometry by hand")
    else:
        devices["positioning"] = {}


def _add_ranger(ranger: Part, units: Units, devices: dict[str, Any]) -> None:
    """Sensors of one sample are sonars, one of many samples is a laser."""
    x, y, _, turned = units.pose(ranger)
    offsets = [(x, y)]
    rays: list[tuple[float, float]] = []
    for sensor in ranger.parts:
        if sensor.kind != "sensor":
            continue
        sx, sy, _, angle = units.pose(sensor.opened())
        offsets.append((sx, sy))
        sensor.take("size")
        least, most = _reach(sensor, units)
        if least > 0:
            sensor.leave("range" if "range" in sensor.values else "view", "there is no least distance")
        samples = sensor.whole("samples", 1)
        field_deg = sensor.number("fov", 0.0) * units.deg
        if samples == 1:
            rays.append((turned + angle, most))
        else:
            noise = _noise(sensor)
            _add_laser(sensor, devices, samples, field_deg, most, turned + angle, noise)
    rays += _old_sonars(ranger, units, turned)
    if ranger.kind == "laser":
        field_deg, most = (
            ranger.positive("fov", 180.0 / units.deg) * units.deg,
            ranger.positive("range_max", 8.0 / units.m) * units.m,
        )
        _add_laser(ranger, devices, ranger.whole("samples", 180), field_deg, most, turned, [])
    elif rays:
        _add_sonars(ranger, devices, rays)
    if any(math.hypot(*offset) > 1e-9 for offset in offsets):
        ranger.remark("where its sensors sit", "readings start where robonet's sonar and laser do")
    ranger.take("size")


def _reach(sensor: Part, units: Units) -> tuple[float, float]:
    for name in ("range", "view"):
        found = units.tuple_of(sensor, name, 2, 3)
        if found is not None:
            if found[1] < SMALLEST:
                raise sensor.wrong("the greatest distance must be above 0", name)
            return found[0], found[1]
    return 0.0, 5.0


def _noise(sensor: Part) -> list[dict[str, Any]]:
    """Stage takes the first number for a variance, whatever its manual says."""
    value = Units(1.0, 1.0).tuple_of(sensor, "noise", 1, 3)
    if value is None or value[0] <= 0:
        return []
    if any(value[1:]):
        sensor.leave("noise", "only the constant part is taken over")
    return [{"gaussian": {"std": math.sqrt(value[0])}}]


def _old_sonars(ranger: Part, units: Units, turned: float) -> list[tuple[float, float]]:
    """Sonars as worlds of Stage 2 have them."""
    count = ranger.whole("scount", 0)
    view = units.tuple_of(ranger, "sview", 3, 3) or (0.0, 5.0, 0.0)
    rays = []
    for number in range(min(count, 10_000)):
        ranger.take(f"ssize[{number}]")
        rays.append((turned + units.pose(ranger, f"spose[{number}]")[3], view[1]))
    return rays


def _add_sonars(ranger: Part, devices: dict[str, Any], rays: list[tuple[float, float]]) -> None:
    ranges = {range_m for _, range_m in rays}
    before = devices.get("sonar")
    if before is not None and ranges != {before["range_m"]}:
        ranger.leave_all("a robot has one set of sonars, all with one range")
        return
    if len(ranges) > 1:
        ranger.remark("sensors of several ranges", f"all sonars have one range: {max(ranges):g} m is used")
    angles = [] if before is None else before["angles_deg"]
    angles = [*angles, *(math.remainder(angle, 360.0) for angle, _ in rays)]
    devices["sonar"] = {"angles_deg": angles, "range_m": max(ranges)}


def _add_laser(
    part: Part, devices: dict[str, Any], beams: int, field_deg: float, range_m: float, turned: float, noise: list[Any]
) -> None:
    if "laser" in devices:
        part.leave_all("a robot has one laser scanner")
        return
    if not 2 <= beams <= 10_000:
        raise part.wrong("2 to 10,000 samples are expected", "samples")
    if not 0 < field_deg <= 360:
        raise part.wrong("an angle above 0 and up to a full turn is expected", "fov")
    if abs(math.remainder(turned, 360.0)) > 1e-9:
        part.remark(f"turned by {turned:g} degrees", "a laser scanner looks straight ahead")
    devices["laser"] = {"beams": beams, "field_of_view_deg": field_deg, "range_m": range_m}
    if noise:
        devices["laser"]["noise"] = noise


def _add_device(part: Part, units: Units, devices: dict[str, Any]) -> None:
    """Grippers, bumpers, blob finders and radios; other children are left."""
    if part.kind == "gripper":
        part.opened()
        devices["gripper"] = {}
    elif part.kind == "bumper":
        devices["contact"] = {"sectors": max(1, part.opened().whole("bcount", 8))}
    elif part.kind == "blobfinder":
        field_deg = part.opened().positive("fov", 60.0 / units.deg) * units.deg
        range_m = part.positive("range", 8.0 / units.m) * units.m
        devices["camera"] = {"range_m": range_m, "field_of_view_deg": min(field_deg, 360.0)}
    elif part.kind == "wifi":
        part.opened().remark("its settings", "what radios are like stands under `network`")
    elif part.kind == "model":
        part.leave_all("a body on a robot: the robot's own outline is all that is solid")
