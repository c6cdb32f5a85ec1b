"""`light`: a ring that feels where lamps are, as ARGoS' light sensors do."""

import math

import numpy as np

from robonet.kernels import rows_kernel
from robonet.robots.noise import NoiseChain
from robonet.robots.sensors.range_finders import ring
from robonet.robots.sight import Scene, Targets, look, scene_of
from robonet.robots.world import Group, World
from robonet.scenario import devices
from robonet.space import Floats

NOBODY = -1


class Light:
    """Readings of a group, a row a robot, a column a sensor.

    A lamp adds the square of its intensity over its distance, the height included, times the cosine of the angle, seen
    from above, between it and where the sensor points; nothing from beyond 90 degrees. A lamp is seen or not from the
    middle of the body, at half its height; the own body casts no shadow, obstacles have no end above.
    """

    def __init__(self, world: World, group: Group, settings: devices.Light) -> None:
        self._world, self._rows = world, group.rows
        self.angles_rad = ring(settings.sensors, settings.angles_deg)
        """Where the sensors point, counter-clockwise from straight ahead."""
        self._directions = np.stack((np.cos(self.angles_rad), np.sin(self.angles_rad)), axis=1)
        self._casts_shadows = settings.occlusion
        lamps = [(*lamp.at_m, lamp.height_m, lamp.intensity) for lamp in world.arena.lights]
        self._lamps = np.array(lamps, dtype=np.float64).reshape(-1, 4)
        """X, y, height and intensity of each."""
        sensors = len(self.angles_rad)
        self._noise = NoiseChain(world, group, "light", sensors, settings.noise) if settings.noise else None
        self._readings = np.zeros((len(group), sensors))
        self._shown: Floats = self._readings.view()
        self._shown.flags.writeable = False
        self._computed = -1, -1

    @property
    def values(self) -> Floats:
        """From 0, dark, to 1, where a sensor is saturated; valid for this step."""
        world = self._world
        at = world.index, world.edits
        if self._computed != at:
            self._computed = at
            self._readings[:] = 0.0
            if len(self._lamps):
                self._feel()
            if self._noise is not None:
                self._noise.apply(self._readings)
                np.clip(self._readings, 0.0, 1.0, out=self._readings)
        return self._shown

    def _feel(self) -> None:
        world, scene = self._world, scene_of(self._world)

        def work(first: int, last: int) -> None:
            lamps = Targets.room(len(self._lamps), scene)
            lamps.x[:], lamps.y[:], lamps.z[:] = self._lamps[:, :3].T
            lamps.row[:], lamps.seen[:] = NOBODY, True
            _feel(
                first, last, self._rows.start, self._directions, self._lamps[:, 3].copy(), lamps, self._casts_shadows,
                scene, self._readings,
            )  # fmt: skip

        world.threads.over_rows(len(self._readings), work)

    def one(self, number: int) -> "OneLight":
        """The readings of one robot."""
        return OneLight(self, number)


class OneLight:
    """One robot's ring, as plain numbers."""

    __slots__ = ("_all", "_number", "angles_rad")

    def __init__(self, readings: Light, number: int) -> None:
        self._all, self._number = readings, number
        self.angles_rad = readings.angles_rad.tolist()
        """Where the sensors point, counter-clockwise from straight ahead."""

    @property
    def values(self) -> list[float]:
        """From 0, dark, to 1, where a sensor is saturated."""
        readings: list[float] = self._all.values[self._number].tolist()
        return readings


@rows_kernel
def _feel(
    first: int, last: int, offset: int, directions: Floats, strengths: Floats, lamps: Targets, shadows: bool,
    scene: Scene, out: Floats,
) -> None:  # fmt: skip
    bodies = scene.bodies
    for i in range(first, last):
        row = offset + i
        x, y, z = bodies.xyz[row, 0], bodies.xyz[row, 1], bodies.xyz[row, 2] + 0.5 * bodies.height[row]
        cosine, sine = bodies.facing[row, 0], bodies.facing[row, 1]
        if shadows:
            look(x, y, z, row, len(strengths), lamps, False, scene)
        for k in range(len(strengths)):
            if not lamps.seen[k]:
                continue
            dx, dy, dz = lamps.x[k] - x, lamps.y[k] - y, lamps.z[k] - z
            flat = math.sqrt(dx * dx + dy * dy)
            squared = flat * flat + dz * dz
            full = strengths[k] * strengths[k] / squared if squared > 0.0 else math.inf
            u, v = dx * cosine + dy * sine, dy * cosine - dx * sine
            for s in range(len(directions)):
                # A lamp right above is ahead of every sensor.
                facing = (u * directions[s, 0] + v * directions[s, 1]) / flat if flat > 1e-9 else 1.0
                if facing > 0.0:
                    out[i, s] = min(out[i, s] + full * facing, 1.0)
