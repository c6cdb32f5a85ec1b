"""`range_and_bearing`: messages between robots that see each other; whoever hears one knows from where it came."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robonet.robots.media.air import SILENT, air_of
from robonet.robots.media.draws import ListNoise
from robonet.robots.sight import Indices
from robonet.robots.world import Group, World
from robonet.scenario import devices
from robonet.space import Floats, Ints

Bytes = NDArray[np.uint8]


class Heard(NamedTuple):
    """A message, and where it came from."""

    range_m: float
    """Distance between the middles of both bodies."""
    bearing_rad: float
    """Where it came from, counter-clockwise from straight ahead, from -pi to pi."""
    elevation_rad: float
    """How far above the horizon that is."""
    payload: bytes
    """As it was sent."""


class RangeAndBearing:
    """The devices of a group.

    A message is repeated in every step until it is changed or cleared; everyone in range and in sight hears it in
    the step that follows. Readings are in compressed rows: those of robot i are `offsets[i]` to `offsets[i + 1]`.
    """

    def __init__(self, world: World, group: Group, settings: devices.RangeAndBearing) -> None:
        self._world = world
        self._names = world.names[group.rows]
        self._air = air_of(world)
        self._part = self._air.part_of(group)
        self._range_noise = self._chain(group, "range", settings.range_noise)
        self._bearing_noise = self._chain(group, "bearing", settings.bearing_noise)
        self._computed = -1, -1
        self._readings = slice(0, 0)
        self._offsets: Ints = np.zeros(len(group) + 1, dtype=np.int64)
        self._places: Floats = np.zeros((3, 0))
        self.range_m = settings.range_m
        """How far messages are heard."""
        self.payload_bytes = settings.payload_bytes
        """How long a message can be."""
        self._said = self._air.said[self._part]
        self._lengths = self._air.lengths[self._part]
        self._flat = self._said.reshape(-1).data  # several times faster than arrays for a few bytes
        self._blank = bytes(self._air.payload_bytes)

    def _chain(self, group: Group, name: str, noise: tuple[devices.Noise, ...]) -> ListNoise | None:
        return ListNoise(self._world, group, f"range_and_bearing/{name}", noise) if noise else None

    # --- sending -----------------------------------------------------------------------------------------

    def send(self, payloads: bytes | Bytes | Sequence[bytes | None]) -> None:
        """From now on send, in every step: one message for all, an array with a row a robot, or a list.

        In a list, None leaves a robot silent.
        """
        if isinstance(payloads, (bytes, bytearray)):
            self._check(len(payloads), 0)
            self._said[:, : len(payloads)] = np.frombuffer(payloads, dtype=np.uint8)
            self._said[:, len(payloads) :] = 0
            self._lengths[:] = len(payloads)
        elif isinstance(payloads, np.ndarray):
            if payloads.dtype != np.uint8 or payloads.ndim != 2 or len(payloads) != len(self._names):
                raise ValueError(
                    f"messages of {len(self._names)} robots are an array of uint8 with a row a robot, "
                    f"not of {payloads.dtype} with shape {payloads.shape}"
                )
            width = payloads.shape[1]
            self._check(width, 0)
            self._said[:, :width] = payloads
            self._said[:, width:] = 0
            self._lengths[:] = width
        else:
            if len(payloads) != len(self._names):
                raise ValueError(f"give one message for each of the {len(self._names)} robots, as bytes")
            for number, payload in enumerate(payloads):
                self.send_one(number, payload)
        self._air.is_new = True

    def send_one(self, number: int, payload: bytes | None) -> None:
        """From now on one robot of the group sends this; None: nothing."""
        if payload is None:
            self._lengths[number] = SILENT
            return
        if not isinstance(payload, (bytes, bytearray)):
            raise TypeError(f"a message is bytes, not {type(payload).__name__}")
        size = len(payload)
        self._check(size, number)
        width = len(self._blank)
        at = number * width
        self._flat[at : at + size] = payload
        if size < width:
            self._flat[at + size : at + width] = self._blank[size:]
        self._lengths[number] = size
        self._air.is_new = True

    def clear(self) -> None:
        """From now on be silent."""
        self._lengths[:] = SILENT

    def _check(self, size: int, number: int) -> None:
        if size > self.payload_bytes:
            raise ValueError(
                f"range_and_bearing of '{self._names[number]}' sends up to {self.payload_bytes} bytes "
                f"(`payload_bytes`), not {size}"
            )

    # --- hearing -----------------------------------------------------------------------------------------

    def _listen(self) -> None:
        at = self._world.index, self._world.edits
        if self._computed == at:
            return
        self._computed = at
        air = self._air
        air.listen()
        offsets = air.offsets[self._part.start : self._part.stop + 1]
        self._readings = slice(int(offsets[0]), int(offsets[-1]))
        self._offsets = offsets - offsets[0]
        self._places = air.places[:, self._readings]
        if self._range_noise is not None:
            self._range_noise.apply(self._places[0], self._offsets, air.keys(self._readings))
            np.maximum(self._places[0], 0.0, out=self._places[0])
        if self._bearing_noise is not None:
            self._bearing_noise.apply(self._places[1], self._offsets, air.keys(self._readings))
            bearings = self._places[1]
            bearings -= 2 * math.pi * np.round(bearings / (2 * math.pi))
        for array in (self._offsets, self._places):
            array.flags.writeable = False

    @property
    def offsets(self) -> Ints:
        """What robot i hears are readings `offsets[i]` to `offsets[i + 1]`."""
        self._listen()
        return self._offsets

    @property
    def ranges_m(self) -> Floats:
        """Distance of the sender, of each reading."""
        self._listen()
        return self._places[0]

    @property
    def bearings_rad(self) -> Floats:
        """Where the sender is, counter-clockwise from straight ahead, of each reading."""
        self._listen()
        return self._places[1]

    @property
    def elevations_rad(self) -> Floats:
        """How far above the horizon the sender is, of each reading."""
        self._listen()
        return self._places[2]

    @property
    def payloads(self) -> Bytes:
        """The messages, a row a reading, as wide as the longest that anybody can send; 0 behind their end."""
        self._listen()
        return self._air.words(self._readings)

    @property
    def lengths(self) -> Indices:
        """How many bytes each message has."""
        self._listen()
        return self._air.lengths_of(self._readings)

    def heard_by(self, number: int) -> list[Heard]:
        """What one robot of the group hears."""
        self._listen()
        first, last = self._offsets[number : number + 2].tolist()
        if first == last:
            return []
        air, begin = self._air, self._readings.start
        places = self._places[:, first:last].tolist()
        senders = air.senders[begin + first : begin + last].tolist()
        return list(map(Heard, *places, map(air.word, senders)))

    def one(self, number: int) -> "OneRangeAndBearing":
        """The device of one robot."""
        return OneRangeAndBearing(self, number)


class OneRangeAndBearing:
    """The device of one robot; a message is repeated in every step until it is changed or cleared."""

    __slots__ = ("_all", "_number", "payload_bytes", "range_m")

    def __init__(self, devices: RangeAndBearing, number: int) -> None:
        self._all = devices
        self._number = number
        self.range_m = devices.range_m
        """How far messages are heard."""
        self.payload_bytes = devices.payload_bytes
        """How long a message can be."""

    def send(self, payload: bytes) -> None:
        """From now on send this to everyone in range and in sight, in every step."""
        self._all.send_one(self._number, payload)

    def clear(self) -> None:
        """From now on be silent."""
        self._all.send_one(self._number, None)

    def receive(self) -> list[Heard]:
        """What was heard in the step before."""
        return self._all.heard_by(self._number)
