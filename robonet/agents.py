"""Robots as agents that learn: what they perceive, how they act, and what they hear of each other, all as arrays."""

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robonet.blame import users_traceback
from robonet.clock import NS_PER_S
from robonet.errors import ControllerError, UserError
from robonet.link.messages import BROADCAST, Welcome
from robonet.link.simulators import Outcome
from robonet.plugins import closest
from robonet.robots.simulator import RobonetRobots
from robonet.robots.world import Group, World
from robonet.space import Floats, Ints
from robonet.streams import stream

Singles = NDArray[np.float32]
Bools = NDArray[np.bool_]
Sees = Callable[[World, Ints], ArrayLike]
"""An observation of one's own: of all agents at once, given their rows in the world's arrays."""

NOBODY = -1
NEVER = -1
LOUDEST = 127
"""A number from -1 to 1 goes over the radio as one signed byte: so many steps from 0 to 1."""


def blame(error: Exception, what: str, world: World) -> NoReturn:
    """Say that it was the user's code."""
    raise ControllerError(
        f"{what} raised at simulated time {world.time_s:.3f} s: {type(error).__name__}: {error}\n"
        f"{users_traceback(error)}"
    ) from error


# --- what agents perceive --------------------------------------------------------------------------------


def scaled_poses(places_m: Floats, angle: Floats, half_side_m: float, middle_m: ArrayLike = 0.0) -> Floats:
    """Places, 1 being half the arena's longer side, and the cosine and sine of angles."""
    width = places_m.shape[1]
    table = np.empty((len(places_m), width + 2))
    np.divide(places_m, half_side_m, out=table[:, :width])
    table[:, :2] -= np.divide(middle_m, half_side_m)
    np.cos(angle, out=table[:, width])
    np.sin(angle, out=table[:, width + 1])
    return table


def half_side_m(world: World) -> float:
    """The unit of observed places."""
    return 0.5 * max(world.arena.size_m)


def _position(device: Any, world: World) -> Floats:
    pose = device.pose
    return scaled_poses(pose[:, : 2 if world.is_flat else 3], pose[:, 3], half_side_m(world), world.arena.center_m)


def _believed(device: Any, world: World) -> Floats:
    pose = device.pose
    return scaled_poses(pose[:, :2], pose[:, 2], half_side_m(world))


def _direction(device: Any, _world: World) -> Floats:
    return np.stack((np.cos(device.heading_rad), np.sin(device.heading_rad)), axis=1)


class _Reading(NamedTuple):
    """What of a device is observed, scaled so that learners like it, and between which bounds."""

    of: Callable[[Any, World], Any]
    low: float
    high: float


_RANGES = _Reading(lambda device, _: device.distances_m / device.range_m, 0.0, 1.0)
READINGS = {
    "proximity": _RANGES,
    "sonar": _RANGES,
    "laser": _RANGES,
    "ground": _Reading(lambda device, _: device.brightness, 0.0, 1.0),
    "light": _Reading(lambda device, _: device.values, 0.0, 1.0),
    "positioning": _Reading(_position, -math.inf, math.inf),
    "compass": _Reading(_direction, -1.0, 1.0),
    "odometry": _Reading(_believed, -math.inf, math.inf),
    "battery": _Reading(lambda device, _: device.charge[:, None], 0.0, 1.0),
    "contact": _Reading(lambda device, _: device.touches, 0.0, 1.0),
    "clock": _Reading(lambda device, world: device.time_s[:, None] / world.scenario.duration_s, -math.inf, math.inf),
}
"""What can be observed by name: whatever is one row of numbers a robot."""


class _Sense(NamedTuple):
    """Columns of the observations."""

    name: str
    columns: slice
    low: float
    high: float
    sees: Sees | None
    """A function of the user's; None for a device."""


class Senses:
    """What is observed: which columns, between which bounds; the same in all episodes."""

    def __init__(self, observe: Sequence[str | Sees], team: "Team", world: World, talk: "Talk | None") -> None:
        self._team = team
        self.senses: list[_Sense] = []
        self.width = 0
        for what in observe:
            if isinstance(what, str):
                reading = _reading_named(what, team.groups)
                widths = [part.shape[1] for _, part in self._parts(what, world)]
                self._add(what, max(widths), reading.low, reading.high)
            elif callable(what):
                name = getattr(what, "__name__", type(what).__name__)
                self._add(name, self._own(what, name, world).shape[1], -math.inf, math.inf, what)
            else:
                raise UserError(f"observe: {what!r} is neither the name of a device nor a function")
        names = [sense.name for sense in self.senses]
        if len(set(names)) < len(names):
            raise UserError(f"observe: '{next(name for name in names if names.count(name) > 1)}' is there twice")
        if talk is not None and talk.slots:
            self._add("heard", 1, 0.0, math.inf)
            self._add("messages", talk.slots * (1 + talk.size), -1.0, 1.0)
        if not self.senses:
            raise UserError("observe: agents would perceive nothing at all")

    def _add(self, name: str, width: int, low: float, high: float, sees: Sees | None = None) -> None:
        self.senses.append(_Sense(name, slice(self.width, self.width + width), low, high, sees))
        self.width += width

    def look(self, world: World, talk: "Talk | None") -> Singles:
        """The observations of all agents, a row each."""
        seen = np.zeros((len(self._team.rows), self.width), dtype=np.float32)
        for sense in self.senses:
            into = seen[:, sense.columns]
            if sense.sees is not None:
                into[:] = self._own(sense.sees, sense.name, world, into.shape[1])
            elif sense.name in READINGS:
                for part, readings in self._parts(sense.name, world):
                    into[part, : readings.shape[1]] = readings
            elif talk is not None:
                talk.write(sense.name, world.now, into)
        return seen

    def _parts(self, name: str, world: World) -> list[tuple[slice, Any]]:
        """The readings of each group that carries a device: the others perceive nothing of it."""
        devices = [(part, world.devices[group.name].get(name)) for group, part in self._team.parts]
        return [(part, READINGS[name].of(device, world)) for part, device in devices if device is not None]

    def _own(self, sees: Sees, name: str, world: World, width: int | None = None) -> Floats:
        agents = len(self._team.rows)
        try:
            seen = np.asarray(sees(world, self._team.rows), dtype=np.float64)
        except Exception as error:
            blame(error, f"observation '{name}'", world)
        if seen.ndim == 1:
            seen = seen[:, None]
        if seen.ndim != 2 or len(seen) != agents or (width is not None and seen.shape[1] != width):
            wanted = f"({agents}, {'n' if width is None else width})"
            raise ControllerError(f"observation '{name}' must be an array of shape {wanted}, not {seen.shape}")
        return seen


def _reading_named(name: str, groups: Sequence[Group]) -> _Reading:
    if name not in READINGS:
        raise UserError(f"observe: unknown '{name}'{closest(name, list(READINGS))}; known: {', '.join(READINGS)}")
    if all(getattr(group.devices, name) is None for group in groups):
        has = [word for word in READINGS if any(getattr(group.devices, word) is not None for group in groups)]
        raise UserError(f"observe: none of the agents has a {name}; they have: {', '.join(has)}")
    return READINGS[name]


# --- what agents do --------------------------------------------------------------------------------------


class _Drive(NamedTuple):
    """How actions from -1 to 1 become motion."""

    width: int
    move: Callable[[Any, Floats, float, float], None]
    """Called with the device, one row of actions a robot, and the greatest speed and turn."""


def _drive_omni(device: Any, actions: Floats, most_m_s: float, most_rad_s: float) -> None:
    speed = np.hypot(actions[:, 0], actions[:, 1])
    ahead, left = actions[:, :2].T * (most_m_s / np.maximum(speed, 1.0))
    device.set_velocity(ahead, left, actions[:, 2] * most_rad_s)


def _drive_rotors(device: Any, actions: Floats, most_m_s: float, most_rad_s: float) -> None:
    speed = np.sqrt((actions[:, :3] ** 2).sum(axis=1))
    x, y, z = actions[:, :3].T * (most_m_s / np.maximum(speed, 1.0))
    device.set_velocity(x, y, z, actions[:, 3] * min(most_rad_s, device.max_turn_rad_s))


DRIVES = {
    "wheels": _Drive(2, lambda device, do, most_m_s, _: device.set_speed(do[:, 0] * most_m_s, do[:, 1] * most_m_s)),
    "steering": _Drive(
        2, lambda device, do, most_m_s, _: device.set(do[:, 0] * most_m_s, do[:, 1] * device.max_steering_rad)
    ),
    "omni": _Drive(3, _drive_omni),
    "quadrotor_velocity": _Drive(4, _drive_rotors),
}


class Team:
    """The agents: which rows of the world they are, and what moves them."""

    def __init__(self, world: World, groups: list[Group], needs_radio: bool) -> None:
        self.groups = groups
        self.rows = np.concatenate([np.arange(group.rows.start, group.rows.stop) for group in groups])
        self.names = [world.names[row] for row in self.rows.tolist()]
        self.numbers = {name: number for number, name in enumerate(self.names)}
        self.of_node = np.full(world.nodes, NOBODY)
        """The number of the agent that each node is."""
        self.of_node[self.rows] = np.arange(len(self.rows))
        ends = np.cumsum([len(group) for group in groups]).tolist()
        self.parts = [(group, slice(end - len(group), end)) for group, end in zip(groups, ends, strict=True)]
        drives = {}
        for group in groups:
            found = [name for name in DRIVES if getattr(group.devices, name) is not None]
            if not found:
                raise UserError(f"group '{group.name}' has nothing that agents can drive; known: {', '.join(DRIVES)}")
            if needs_radio and group.devices.radio is None:
                raise UserError(f"group '{group.name}' has no radio to send messages with: say message_bytes=0")
            drives[group.name] = found[0]
        if len(set(drives.values())) > 1:
            those = ", ".join(f"'{group}' by {drive}" for group, drive in drives.items())
            raise UserError(f"groups that move differently cannot act alike: {those}; choose with group=")
        self._drive = next(iter(drives.values()))
        self.width = DRIVES[self._drive].width

    def move(self, world: World, actions: Floats, most_m_s: float, most_rad_s: float) -> None:
        """Let everyone drive as told."""
        for group, part in self.parts:
            device = world.devices[group.name].get(self._drive)
            DRIVES[self._drive].move(device, actions[part], min(most_m_s, device.max_speed_m_s), most_rad_s)


class Heard(NamedTuple):
    """What arrived, an item a message and receiver, in arrays."""

    receivers: Ints
    arrived_ns: Ints
    senders: Ints
    """Numbers of agents, as those of receivers."""
    sent_ns: Ints
    words: NDArray[np.int8]


class Talk:
    """What agents say and hear in one episode; only what the network delivers is ever heard.

    Each agent speaks at a random moment of its step, as robots do whose clocks differ: all at the same instant, they
    would drown each other. Each remembers the latest messages that it heard, newest first.
    """

    def __init__(self, team: Team, size: int, slots: int, seed: int = 0) -> None:
        agents = len(team.rows)
        self._team, self.size, self.slots = team, size, slots
        self.sent, self.expected, self.reached, self.heard = np.zeros((4, agents), dtype=np.int64)
        """Counts of the episode: messages, agents who might have heard them, who did, and what each heard."""
        self.just_heard = np.zeros(agents, dtype=np.int64)
        """How many messages each heard in the last step."""
        self._nobody = np.zeros(0, dtype=np.int64)
        self.links = self._nobody, self._nobody
        """Rows of who was heard in the last step, and by whom."""
        self._words = np.zeros((agents, slots, size), dtype=np.int8)
        self._sent_ns = np.full((agents, slots), NEVER)
        self._moments = stream(seed, "agents", "moments")
        self._life_ns = 0
        self._used = 0
        self._packets, self._senders, self._times = np.zeros((3, 1024), dtype=np.int64)
        self._said = np.zeros((1024, size), dtype=np.int8)

    def join(self, welcome: Welcome, step_ns: int) -> None:
        """Learn for how long what was said can still be heard."""
        self._life_ns = welcome.longest_life_ns + step_ns

    def say(self, robots: RobonetRobots, numbers: Ints, words: Floats, audience: int) -> None:
        """Let some agents broadcast; so many others might hear each."""
        world = robots.world
        moments = (self._moments.random(len(self.sent)) * world.step_ns).astype(np.int64)[numbers]
        order = np.argsort(moments, kind="stable")
        numbers, times = numbers[order], world.now + moments[order]
        table = np.rint(words[order] * LOUDEST).astype(np.int8)
        blob, size, put = table.tobytes(), self.size, robots.ether.put
        rows_and_times = zip(self._team.rows[numbers].tolist(), times.tolist(), strict=True)
        packets = [
            put(row, BROADCAST, blob[i * size : (i + 1) * size], size, time)
            for i, (row, time) in enumerate(rows_and_times)
        ]
        first = self._room_for(len(packets), world.now)
        new = slice(first, first + len(packets))
        self._packets[new], self._senders[new], self._times[new], self._said[new] = packets, numbers, times, table
        self.sent[numbers] += 1
        self.expected[numbers] += audience

    def _room_for(self, count: int, now: int) -> int:
        """Where the next packets are noted; those that nobody will hear any more make room."""
        if self._used + count > len(self._packets):
            old = int(np.searchsorted(self._times[: self._used], now - self._life_ns))
            kept = self._used - old
            size = max(len(self._packets), 2 * (kept + count))
            for name in ("_packets", "_senders", "_times", "_said"):
                before = getattr(self, name)
                after = np.zeros((size, *before.shape[1:]), before.dtype)
                after[:kept] = before[old : self._used]
                setattr(self, name, after)
            self._used = kept
        first, self._used = self._used, self._used + count
        return first

    def sort_out(self, outcome: Outcome, present: Bools) -> tuple[Outcome, Heard]:
        """What arrived without what agents said to each other, and that."""
        arrivals = outcome.arrivals
        packets = arrivals["packet"].astype(np.int64)
        at = np.minimum(np.searchsorted(self._packets[: self._used], packets), max(self._used - 1, 0))
        receivers = self._team.of_node[arrivals["receiver"]]
        between_agents = (self._packets[at] == packets) & (receivers != NOBODY) & (self._used > 0)
        there = np.flatnonzero(between_agents & present[arrivals["receiver"]])
        at = at[there]
        heard = Heard(receivers[there], arrivals["time"][there], self._senders[at], self._times[at], self._said[at])
        return dataclasses.replace(outcome, arrivals=arrivals[~between_agents]), heard

    def hear(self, heard: Heard, others: list[tuple[int, int, int, bytes]]) -> None:
        """Remember what agents said, and what others did: (receiver, when it arrived, when it was sent, bytes)."""
        agents = len(self.heard)
        self.reached += np.bincount(heard.senders, minlength=agents)
        self.links = self._team.rows[heard.senders], self._team.rows[heard.receivers]
        if others:
            heard = self._together(heard, others)
        self.just_heard = np.bincount(heard.receivers, minlength=agents)
        self.heard += self.just_heard
        if self.slots and len(heard.receivers):
            self._remember(heard)

    def hear_nothing(self) -> None:
        """A step in which nothing arrived."""
        self.just_heard[:] = 0
        self.links = self._nobody, self._nobody

    def _together(self, heard: Heard, others: list[tuple[int, int, int, bytes]]) -> Heard:
        more = np.zeros((len(others), self.size), dtype=np.int8)
        for row, (_, _, _, payload) in zip(more, others, strict=True):
            cut = np.frombuffer(payload[: self.size], dtype=np.int8)
            row[: len(cut)] = cut
        receivers, arrived_ns, sent_ns = np.array([other[:3] for other in others], dtype=np.int64).T
        return Heard(
            np.append(heard.receivers, receivers),
            np.append(heard.arrived_ns, arrived_ns),
            np.append(heard.senders, np.full(len(others), NOBODY)),
            np.append(heard.sent_ns, sent_ns),
            np.concatenate((heard.words, more)),
        )

    def _remember(self, heard: Heard) -> None:
        order = np.lexsort((heard.arrived_ns, heard.receivers))
        receivers = heard.receivers[order]
        place = np.cumsum(self.just_heard)[receivers] - 1 - np.arange(len(receivers))  # 0 for the newest of each
        kept = place < self.slots
        order, receivers, place = order[kept], receivers[kept], place[kept]
        agents = np.arange(len(self.heard))[:, None]
        older = np.maximum(np.arange(self.slots) - self.just_heard[:, None], 0)
        self._sent_ns, self._words = self._sent_ns[agents, older], self._words[agents, older]
        self._sent_ns[receivers, place] = heard.sent_ns[order]
        self._words[receivers, place] = heard.words[order]

    def write(self, name: str, now: int, into: Singles) -> None:
        """Observations: how many were heard just now; how fresh each remembered one is, and its bytes."""
        if name == "heard":
            into[:, 0] = self.just_heard
            return
        slots = np.empty((len(into), self.slots, 1 + self.size), dtype=np.float32)
        slots[:, :, 0] = np.where(self._sent_ns == NEVER, 0.0, 1.0 / (1.0 + (now - self._sent_ns) / NS_PER_S))
        np.maximum(self._words / np.float32(LOUDEST), -1.0, out=slots[:, :, 1:])
        into[:] = slots.reshape(into.shape)
