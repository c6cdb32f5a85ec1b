"""`battery`: charge that falls with time and with motion; where there is none left, motors stand still."""

import math

import numpy as np
from numpy.typing import NDArray

from robonet.kernels import rows_kernel
from robonet.robots.actuators.quadrotor import VELOCITY
from robonet.robots.noise import NoiseChain
from robonet.robots.world import Group, World
from robonet.scenario import devices
from robonet.space import Floats

Joules = float | Floats


class Battery:
    """The batteries of a group.

    Wheels cost by the speed that they were told, rotors by the speed that they reached. A robot whose battery is
    empty stops, or sinks to the floor, and has to be told again what to do when it was recharged; it still thinks,
    senses and speaks.
    """

    def __init__(self, world: World, group: Group, settings: devices.Battery) -> None:
        self._world, self._rows, self._count = world, group.rows, len(group)
        self.capacity_j = settings.capacity_j
        """Energy when full."""
        self.send_j = settings.send_j
        """What one radio packet takes."""
        self._rotors = group.devices.quadrotor_position or group.devices.quadrotor_velocity
        self._idle_j = settings.idle_w * world.step_s
        self._drive_j = settings.drive_w_per_m_s * world.step_s
        self._energy = np.full(self._count, settings.capacity_j * settings.charge)
        self._noise = NoiseChain(world, group, "battery", 1, settings.noise) if settings.noise else None
        self._charges = np.zeros((self._count, 1))
        self._shown = self._charges[:, 0]
        self._shown.flags.writeable = False
        self._computed = -1, -1
        self._changes = 0
        world.before_physics.insert(0, self._discharge)  # before anyone acts on speeds that an empty one has not

    # --- what robots read --------------------------------------------------------------------------------

    @property
    def charge(self) -> Floats:
        """How full each is, from 0 to 1; valid for this step."""
        at = self._world.index, self._changes
        if self._computed != at:
            self._computed = at
            np.divide(self._energy, self.capacity_j, out=self._charges[:, 0])
            if self._noise is not None:
                self._noise.apply(self._charges)
                np.clip(self._charges, 0.0, 1.0, out=self._charges)
        return self._shown

    @property
    def energy_j(self) -> Floats:
        """The energy that this charge means."""
        return self.charge * self.capacity_j

    def one(self, number: int) -> "OneBattery":
        """The battery of one robot."""
        return OneBattery(self, number)

    # --- what happens to them ----------------------------------------------------------------------------

    def recharge(self, number: int, joule: float) -> None:
        """Give energy to one robot, until its battery is full: for hooks."""
        if not 0.0 <= joule < math.inf:
            raise ValueError(f"a battery is recharged with 0 J or more, robot {number} of the group with {joule}")
        self._energy[number] = min(self._energy[number] + joule, self.capacity_j)
        self._changes += 1

    def spend(self, joule: Joules) -> None:
        """Take energy from everyone, as an array or as much from each: for hooks and devices."""
        taken = np.broadcast_to(np.asarray(joule, dtype=np.float64), self._count)
        if not (taken >= 0.0).all():
            wrong = int(np.flatnonzero(~(taken >= 0.0))[0])
            raise ValueError(f"only 0 J or more can be spent, robot {wrong} of the group was to spend {taken[wrong]}")
        np.maximum(self._energy - taken, 0.0, out=self._energy)
        self._changes += 1

    def _discharge(self) -> None:
        world = self._world
        if self._rotors is not None:
            self._discharge_rotors(self._rotors.max_speed_m_s)
            return
        world.threads.over_rows(
            self._count,
            lambda first, last: _discharge(
                first, last, self._rows.start, self._energy, self._idle_j, self._drive_j, world.present,
                world.intended, world.twist,
            ),
        )  # fmt: skip

    def _discharge_rotors(self, sinks_m_s: float) -> None:
        world, energy = self._world, self._energy
        is_empty = energy <= 0.0
        if is_empty.any():
            world.rotors.mode[self._rows][is_empty] = VELOCITY
            world.rotors.target[self._rows][is_empty] = (0.0, 0.0, -sinks_m_s, 0.0)
        speed = np.sqrt((world.velocity[self._rows] ** 2).sum(axis=1))
        energy -= np.where(world.present[self._rows], self._idle_j + self._drive_j * speed, 0.0)
        np.maximum(energy, 0.0, out=energy)


@rows_kernel
def _discharge(
    first: int, last: int, offset: int, energy: Floats, idle_j: float, drive_j: float, present: NDArray[np.bool_],
    intended: Floats, twist: Floats,
) -> None:  # fmt: skip
    for i in range(first, last):
        row = offset + i
        if energy[i] <= 0.0:
            for c in range(3):
                intended[row, c] = 0.0
                twist[row, c] = 0.0
        elif present[row]:
            forward, sideways = intended[row, 0], intended[row, 1]
            energy[i] = max(energy[i] - idle_j - drive_j * math.sqrt(forward * forward + sideways * sideways), 0.0)


class OneBattery:
    """One robot's battery, as plain numbers."""

    __slots__ = ("_all", "_number")

    def __init__(self, readings: Battery, number: int) -> None:
        self._all, self._number = readings, number

    @property
    def charge(self) -> float:
        """How full it is, from 0 to 1."""
        return self._all.charge.item(self._number)

    @property
    def energy_j(self) -> float:
        """The energy that this charge means."""
        return self._all.charge.item(self._number) * self._all.capacity_j
