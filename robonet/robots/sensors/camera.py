"""`camera`: coloured lights all around, as blobs."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robonet.kernels import bare_kernel, rows_kernel
from robonet.robots.media.draws import Keys, ListNoise, chance_of_dropout, key_of, keys_of, mixed, share
from robonet.robots.media.leds import LitCells, Sources, lights_of
from robonet.robots.media.pairs import direction
from robonet.robots.sight import Indices, Scene, Targets, is_level, look, scene_of
from robonet.robots.trigonometry import cosine_sine
from robonet.robots.world import Group, World
from robonet.scenario import devices
from robonet.space import Floats, Ints, cell_of


class Blob(NamedTuple):
    """A light that a camera sees."""

    distance_m: float
    """From the middle of the camera's body to the light."""
    angle_rad: float
    """Where it is, counter-clockwise from straight ahead, from -pi to pi."""
    color: tuple[float, float, float]
    """Red, green and blue from 0 to 1."""


class Camera:
    """The cameras of a group, in the middle of bodies: lights of others that are in range, in view and not hidden.

    Readings are in compressed rows, computed once a step and only if somebody asks: those of robot i are `offsets[i]`
    to `offsets[i + 1]`. A body hides the lights of its ring from cameras on its far side that are not above it.
    """

    def __init__(self, world: World, group: Group, settings: devices.Camera) -> None:
        self._world = world
        self._group = group
        self._lights = lights_of(world)
        self.range_m = settings.range_m
        """How far it sees."""
        self._half_view = math.radians(settings.field_of_view_deg) / 2 if settings.field_of_view_deg < 360 else 4.0
        self._occlusion = settings.occlusion
        self._misses = chance_of_dropout(settings.noise, settings.angle_noise)
        self._salt = key_of(world.seed, "camera", "dropout")
        self._distance_noise = ListNoise(world, group, "camera/distance", settings.noise) if settings.noise else None
        self._angle_noise = (
            ListNoise(world, group, "camera/angle", settings.angle_noise) if settings.angle_noise else None
        )
        self._computed = -1, -1
        count = len(group)
        self._offsets: Ints = np.zeros(count + 1, dtype=np.int64)
        self._begin, self._end = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
        self._room = 64
        self._distances: Floats = np.zeros(0)
        self._angles: Floats = np.zeros(0)
        self._which: Indices = np.zeros(0, dtype=np.int32)

    # --- what is seen ------------------------------------------------------------------------------------

    @property
    def offsets(self) -> Ints:
        """What robot i sees are readings `offsets[i]` to `offsets[i + 1]`."""
        self._look()
        return self._offsets

    @property
    def distances_m(self) -> Floats:
        """Distance of the light, of each reading."""
        self._look()
        return self._distances

    @property
    def angles_rad(self) -> Floats:
        """Where the light is, counter-clockwise from straight ahead, of each reading."""
        self._look()
        return self._angles

    @property
    def colors(self) -> Floats:
        """Red, green and blue of the light, a row a reading."""
        self._look()
        return self._lights.sources().color[self._which]

    def seen_by(self, number: int) -> list[Blob]:
        """What one robot of the group sees."""
        self._look()
        part = slice(*self._offsets[number : number + 2].tolist())
        colors = self._lights.sources().color[self._which[part]].tolist()
        return list(map(Blob, self._distances[part].tolist(), self._angles[part].tolist(), map(tuple, colors)))

    def one(self, number: int) -> "OneCamera":
        """The camera of one robot."""
        return OneCamera(self, number)

    def _look(self) -> None:
        world = self._world
        at = world.index, world.edits
        if self._computed == at:
            return
        self._computed = at
        sources = self._lights.sources()
        cells = self._lights.cells(self.range_m / 2)
        if cells is None:
            self._offsets = np.zeros_like(self._offsets)
            self._distances, self._angles, self._which = np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.int32)
            return
        self._find(sources, cells)
        if self._distance_noise is not None or self._angle_noise is not None:
            senders = _keys_of_lights(keys_of(world), sources, self._which)
            if self._distance_noise is not None:
                self._distance_noise.apply(self._distances, self._offsets, senders)
                np.maximum(self._distances, 0.0, out=self._distances)
            if self._angle_noise is not None:
                self._angle_noise.apply(self._angles, self._offsets, senders)
                self._angles -= 2 * math.pi * np.round(self._angles / (2 * math.pi))
        for array in (self._offsets, self._distances, self._angles):
            array.flags.writeable = False

    def _find(self, sources: Sources, cells: LitCells) -> None:
        world, rows, count = self._world, self._group.rows, len(self._group)
        scene = scene_of(world)
        reach = self.range_m + float(np.hypot(sources.place[:, 0], sources.place[:, 1]).max())
        level = False
        if self._occlusion:
            eyes = world.xyz[rows, 2] + world.height_m[rows] / 2
            feet, tall = world.xyz[sources.row[cells.order], 2], sources.place[:, 2]
            low, high = min(eyes.min(), feet.min() + tall.min()), max(eyes.max(), feet.max() + tall.max())
            level = is_level(float(low), float(high), scene.bodies)
        keys = keys_of(world) if self._misses > 0.0 else np.zeros(0, dtype=np.uint64)
        most = len(sources.place)
        while True:
            room = self._room
            distances, angles, which = np.empty(count * room), np.empty(count * room), np.empty(count * room, np.int32)
            fits: list[bool] = []

            def work(
                first: int, last: int, room: int = room, fits: list[bool] = fits, distances: Floats = distances,
                angles: Floats = angles, which: Indices = which,
            ) -> None:  # fmt: skip
                fits.append(
                    _see(
                        first, last, room, rows.start, self.range_m, reach, self._half_view, self._occlusion, level,
                        world.present, world.heading, sources, cells, scene, Targets.room(most, scene),
                        np.empty(len(sources.row), np.int32), keys, self._salt, self._misses, world.index,
                        self._begin, self._end, distances, angles, which,
                    )
                )  # fmt: skip

            world.threads.over_rows(count, work)
            if all(fits):
                break
            self._room *= 2
        self._offsets = np.concatenate(([0], np.cumsum(self._end - self._begin)))
        # Each part of the rows has its own stretch, without gaps within it.
        kept = np.repeat(self._begin - self._offsets[:-1], self._end - self._begin) + np.arange(self._offsets[-1])
        self._distances, self._angles, self._which = distances[kept], angles[kept], which[kept]


class OneCamera:
    """The camera of one robot."""

    __slots__ = ("_all", "_number", "range_m")

    def __init__(self, cameras: Camera, number: int) -> None:
        self._all = cameras
        self._number = number
        self.range_m = cameras.range_m
        """How far it sees."""

    @property
    def blobs(self) -> list[Blob]:
        """The lights of others that are in range, in view and not hidden."""
        return self._all.seen_by(self._number)


# --- kernels ---------------------------------------------------------------------------------------------


@rows_kernel
def _see(
    first: int, last: int, room: int, offset: int, range_m: float, reach: float, half_view: float, occlusion: bool,
    level: bool, present: NDArray[np.bool_], heading: Floats, sources: Sources, cells: LitCells, scene: Scene,
    targets: Targets, lit: Indices, keys: Keys, salt: np.uint64, misses: float, step: int,
    begin: Ints, end: Ints, distances: Floats, angles: Floats, which: Indices,
) -> bool:  # fmt: skip
    """List the lights that some cameras see; false if there is no room for them."""
    at = first * room
    xyz, height = scene.bodies.xyz, scene.bodies.height
    for row in range(first, last):
        begin[row] = at
        i = offset + row
        if present[i]:
            x, y, z = xyz[i, 0], xyz[i, 1], xyz[i, 2] + 0.5 * height[i]
            found = _near(x, y, i, reach, sources, cells, xyz, lit)
            count = 0
            for n in range(found):
                j = sources.row[lit[n]]
                cosine, sine = cosine_sine(heading[j])
                top = xyz[j, 2] + height[j]
                for light in range(sources.begin[lit[n]], sources.begin[lit[n] + 1]):
                    u, v = sources.place[light, 0], sources.place[light, 1]
                    out_x, out_y = u * cosine - v * sine, u * sine + v * cosine
                    to_x, to_y, to_z = xyz[j, 0] + out_x, xyz[j, 1] + out_y, xyz[j, 2] + sources.place[light, 2]
                    dx, dy, dz = to_x - x, to_y - y, to_z - z
                    if dx * dx + dy * dy + dz * dz > range_m * range_m:
                        continue
                    if occlusion and sources.outside[light] and z <= top and out_x * dx + out_y * dy >= 0.0:
                        continue
                    if len(keys) and _is_missed(keys[i], keys[j], light - sources.begin[lit[n]], salt, misses, step):
                        continue
                    targets.x[count], targets.y[count], targets.z[count] = to_x, to_y, to_z
                    targets.row[count], targets.what[count] = j, light
                    count += 1
            if occlusion:
                look(x, y, z, i, count, targets, level, scene)
            cosine, sine = cosine_sine(heading[i])
            for t in range(count):
                if occlusion and not targets.seen[t]:
                    continue
                dx, dy, dz = targets.x[t] - x, targets.y[t] - y, targets.z[t] - z
                angle = direction(dx * cosine + dy * sine, dy * cosine - dx * sine)
                if abs(angle) > half_view:
                    continue
                if at == last * room:
                    return False
                distances[at], angles[at], which[at] = math.sqrt(dx * dx + dy * dy + dz * dz), angle, targets.what[t]
                at += 1
        end[row] = at
    return True


@bare_kernel
def _near(
    x: float, y: float, i: int, reach: float, sources: Sources, cells: LitCells, xyz: Floats, lit: Indices
) -> int:
    """List the other bodies that are lit and near, in their order; how many."""
    grid, found = cells.grid, 0
    left, bottom = cell_of(x - reach, y - reach, grid)
    right, top = cell_of(x + reach, y + reach, grid)
    for r in range(bottom, top + 1):
        for e in range(cells.starts[r * grid.columns + left], cells.starts[r * grid.columns + right + 1]):
            k = cells.order[e]
            j = sources.row[k]
            dx, dy = xyz[j, 0] - x, xyz[j, 1] - y
            if j == i or dx * dx + dy * dy > reach * reach:
                continue
            n = found
            while n > 0 and lit[n - 1] > k:
                lit[n] = lit[n - 1]
                n -= 1
            lit[n] = k
            found += 1
    return found


@bare_kernel
def _is_missed(own: np.uint64, other: np.uint64, light: int, salt: np.uint64, chance: float, step: int) -> bool:
    drawn = mixed(mixed(mixed(salt, own), mixed(other, np.uint64(light))), np.uint64(step))
    return share(drawn) < chance


def _keys_of_lights(keys: Keys, sources: Sources, which: Indices) -> Keys:
    """Keys of some lights: their body's, changed by which of its lights that are on it is."""
    body = np.repeat(np.arange(len(sources.row)), np.diff(sources.begin))[which]
    golden = np.uint64(0x9E3779B97F4A7C15)
    return keys[sources.row[body]] + golden * (which - sources.begin[body] + 1).astype(np.uint64)
