"""`ground`: how bright the floor is under points of the body."""

import math

import numpy as np

from robonet.kernels import rows_kernel
from robonet.robots.noise import NoiseChain
from robonet.robots.world import Group, World
from robonet.scenario import devices
from robonet.scenario.arena import Floor
from robonet.scenario.bitmap import pixels
from robonet.space import Floats


class Ground:
    """Readings of a group, a row a robot, a column a point."""

    def __init__(self, world: World, group: Group, settings: devices.Ground) -> None:
        self._world, self._rows = world, group.rows
        points = len(settings.points_m)
        self.points_m = np.array(settings.points_m, dtype=np.float64).reshape(-1, 2)
        """Where they are, forward and to the left of the centre."""
        self._patches = patch_rows(world.arena.floor)
        self._picture = picture_of(world)
        self._noise = NoiseChain(world, group, "ground", points, settings.noise) if settings.noise else None
        self._readings = np.zeros((len(group), points))
        self._shown: Floats = self._readings.view()
        self._shown.flags.writeable = False
        self._computed = -1, -1

    @property
    def brightness(self) -> Floats:
        """From 0, black, to 1, white; valid for this step."""
        world = self._world
        at = world.index, world.edits
        if self._computed != at:
            self._computed = at
            (left, bottom), (right, top) = world.arena.low_m, world.arena.high_m
            world.threads.over_rows(
                len(self._readings),
                lambda first, last: _look_down(
                    first, last, self._rows.start, self.points_m, world.xyz, world.facing, world.arena.floor.brightness,
                    self._patches, self._picture, left, bottom, right, top, self._readings,
                ),
            )  # fmt: skip
            if self._noise is not None:
                self._noise.apply(self._readings)
                np.clip(self._readings, 0.0, 1.0, out=self._readings)
        return self._shown

    def one(self, number: int) -> "OneGround":
        """The readings of one robot."""
        return OneGround(self, number)


class OneGround:
    """One robot's readings, as plain numbers."""

    __slots__ = ("_all", "_number", "points_m")

    def __init__(self, readings: Ground, number: int) -> None:
        self._all, self._number = readings, number
        self.points_m = readings.points_m.tolist()
        """Where they are, forward and to the left of the centre."""

    @property
    def brightness(self) -> list[float]:
        """From 0, black, to 1, white, of each point."""
        readings: list[float] = self._all.brightness[self._number].tolist()
        return readings


def patch_rows(floor: Floor) -> Floats:
    """Centre, half extents (or 0), radius (or 0) and brightness of each patch, in the order in which they lie."""
    rows = []
    for patch in floor.patches:
        width, height = patch.size_m or (0.0, 0.0)
        rows.append((*patch.center_m, width / 2, height / 2, patch.radius_m or 0.0, patch.brightness))
    return np.array(rows, dtype=np.float64).reshape(-1, 6)


def picture_of(world: World) -> Floats:
    """The brightness of the floor's picture, rows from the bottom; nothing where there is none."""
    floor = world.arena.floor
    if floor.image is None:
        return np.zeros((0, 0))
    brightness, opacity = pixels(world.base / floor.image)
    shown = np.asarray(brightness * opacity + floor.brightness * (1.0 - opacity), dtype=np.float64)
    return np.ascontiguousarray(shown[::-1])


@rows_kernel
def _look_down(
    first: int, last: int, offset: int, points: Floats, xyz: Floats, facing: Floats, base: float, patches: Floats,
    picture: Floats, left: float, bottom: float, right: float, top: float, out: Floats,
) -> None:  # fmt: skip
    high, wide = picture.shape
    for i in range(first, last):
        row = offset + i
        cosine, sine = facing[row, 0], facing[row, 1]
        for p in range(len(points)):
            x = xyz[row, 0] + points[p, 0] * cosine - points[p, 1] * sine
            y = xyz[row, 1] + points[p, 0] * sine + points[p, 1] * cosine
            shade = base
            if high > 0 and left <= x <= right and bottom <= y <= top:
                column = min(int((x - left) / (right - left) * wide), wide - 1)
                line = min(int((y - bottom) / (top - bottom) * high), high - 1)
                shade = picture[line, column]
            for k in range(len(patches) - 1, -1, -1):
                dx, dy = abs(x - patches[k, 0]), abs(y - patches[k, 1])
                radius = patches[k, 4]
                if (radius > 0.0 and math.sqrt(dx * dx + dy * dy) <= radius) or (
                    patches[k, 2] > 0.0 and dx <= patches[k, 2] and dy <= patches[k, 3]
                ):
                    shade = patches[k, 5]
                    break
            out[i, p] = shade
