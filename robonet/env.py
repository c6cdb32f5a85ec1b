"""Robots that learn: a scenario as a PettingZoo `ParallelEnv`, in which the network decides who hears whom.

env = robonet.env.parallel_env("hello.yaml", group="scout", reward=lambda world, agent: ...)
observations, infos = env.reset(seed=1)
while env.agents:
    actions = {agent: env.action_space(agent).sample() for agent in env.agents}
    observations, rewards, terminations, truncations, infos = env.step(actions)
"""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import ArrayLike, NDArray

from robonet.agents import NOBODY, Bools, Sees, Senses, Singles, Talk, Team, blame, half_side_m, scaled_poses
from robonet.clock import NS_PER_S, s_from_ns
from robonet.embedded import AS_THE_SCENARIO_SAYS
from robonet.errors import ControllerError, UserError
from robonet.link.messages import Welcome
from robonet.link.simulators import Outcome
from robonet.lockstep import LockStep, Silence, network_of
from robonet.plugins import closest
from robonet.robots.placement import place_all
from robonet.robots.simulator import RobonetRobots
from robonet.robots.world import World
from robonet.scenario import LoadedScenario, load_scenario, parse_scenario
from robonet.scenario.schema import Robots, Scenario
from robonet.space import Floats, Ints
from robonet.streams import stream

try:
    from gymnasium import spaces
    from pettingzoo import ParallelEnv
except ImportError as missing:
    raise UserError(
        f"robonet.env needs PettingZoo and Gymnasium ({missing}): pip install 'robonet[learning]'"
    ) from missing

LARGEST_SEED = 2**63 - 1
LARGEST_MESSAGE_BYTES = 1024
PICTURE_PX = 480


class Reward:
    """What agents are to learn: subclass it and override what you need; it sees everything in the world.

    `rows` are the agents' places in the world's arrays, such as `world.xyz`: all agents are judged at once.
    """

    def reset(self, world: World, rows: Ints) -> None:
        """An episode begins: everyone is in place, nothing has happened yet."""

    def step(self, world: World, rows: Ints) -> ArrayLike:
        """The rewards of a step, one for each agent, or one number for all of them."""
        return 0.0

    def is_finished(self, world: World) -> bool:
        """Whether the task is done, which ends the episode for all agents."""
        return False


class _OneByOne(Reward):
    """A function of the user's that judges one agent."""

    def __init__(self, judge: Callable[[World, str], float]) -> None:
        self._judge = judge

    def step(self, world: World, rows: Ints) -> ArrayLike:
        return [self._judge(world, world.names[row]) if world.present[row] else 0.0 for row in rows.tolist()]


# --- an episode ------------------------------------------------------------------------------------------


class _Robots(RobonetRobots):
    """The robot simulator of an episode: agents hear by arrays, everyone else as always."""

    def __init__(self, scenario: Scenario, base: Path, team: Team, talk: Talk | None) -> None:
        self._team, self._talk = team, talk
        self.was_ended = False
        """Whether a hook ended the run."""
        super().__init__(scenario, base)
        self.keeps_digests = False

    def start(self, welcome: Welcome) -> None:
        if self._talk is not None:
            self._talk.join(welcome, self.world.step_ns)
        super().start(welcome)

    def advance(self) -> bool:
        goes_on = super().advance()
        self.was_ended = not goes_on
        return goes_on

    def deliver(self, outcome: Outcome) -> None:
        if self._talk is None or not len(outcome.arrivals):
            super().deliver(outcome)
            if self._talk is not None:
                self._talk.hear_nothing()
            return
        rest, heard = self._talk.sort_out(outcome, self.world.present)
        super().deliver(rest)
        self._talk.hear(heard, self._from_others())

    def _from_others(self) -> list[tuple[int, int, int, bytes]]:
        found = []
        for row in self.ether.touched():
            if (number := int(self._team.of_node[row])) != NOBODY:
                found += [(number, m.arrived_ns, m.sent_ns, m.payload) for m in self.ether.inbox(row)]
        return found


class TeamEnv(ParallelEnv):  # type: ignore[misc]
    """The robots of a scenario as agents, all acting at once; made by `parallel_env`."""

    def __init__(
        self, loaded: LoadedScenario, groups: Sequence[str], observe: Sequence[str | Sees], reward: Reward, *,
        message_bytes: int, hears: int, may_be_silent: bool, max_speed_m_s: float, max_turn_rad_s: float,
        flat: bool, is_silent: bool, render_mode: str | None,
    ) -> None:  # fmt: skip
        self._scenario, self._base = loaded.scenario, loaded.base
        self._reward, self._is_flat, self._is_mute = reward, flat, is_silent
        self._sizes = message_bytes, hears
        self._gate = 1 if message_bytes and may_be_silent else 0
        self._most = max_speed_m_s, max_turn_rad_s
        self.metadata: dict[str, Any] = {
            "name": f"robonet_{self._scenario.name}",
            "render_modes": ["rgb_array"],
            "render_fps": 1 / self._scenario.step_s,
        }
        self.render_mode = render_mode
        trial = World(self._scenario, self._base)
        place_all(trial)
        trial.look()
        chosen = [group for group in trial.groups if group.name in groups]
        self._team = Team(trial, chosen, needs_radio=message_bytes > 0)
        self._judged("reset", trial)
        self._senses = Senses(observe, self._team, trial, self._new_talk())
        self.possible_agents = list(self._team.names)
        self.agents: list[str] = []
        self._is_live = np.zeros(len(self._team.rows), dtype=np.bool_)
        if not trial.present[self._team.rows].any():
            raise UserError(f"nobody of {', '.join(groups)} is there at the start")
        width = self._team.width + self._gate + message_bytes
        acts = (spaces.Box(-1.0, 1.0, (width,), np.float32) for _ in self.possible_agents)
        sees = (_space_of(self._senses, is_flat=flat) for _ in self.possible_agents)
        self.action_spaces = dict(zip(self.possible_agents, acts, strict=True))
        self.observation_spaces = dict(zip(self.possible_agents, sees, strict=True))
        self.state_space = spaces.Box(-np.inf, np.inf, (5 * len(self._team.rows),), np.float32)
        self._seed, self._episode = self._scenario.seed, 0
        self._both: LockStep | None = None

    # --- what PettingZoo calls ---------------------------------------------------------------------------

    def observation_space(self, agent: str) -> Any:
        """What an agent perceives."""
        return self._of(self.observation_spaces, agent)

    def action_space(self, agent: str) -> Any:
        """What an agent can do."""
        return self._of(self.action_spaces, agent)

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """A new episode: with a seed the world that this seed gives, without one the next of those that follow it."""
        self.close()
        if seed is not None:
            self._seed, self._episode = _checked_seed(seed), 0
        drawn = stream(self._seed, "episode", self._episode).integers(LARGEST_SEED) if self._episode else self._seed
        self._episode += 1
        scenario = self._scenario.model_copy(update={"seed": int(drawn)})
        self._talk = self._new_talk(scenario.seed)
        self._robots = _Robots(scenario, self._base, self._team, self._talk)
        self._both = LockStep(self._robots, Silence() if self._is_mute else network_of(scenario, self._base))
        self.world = self._robots.world
        """The world at hand: everything about everyone, for rewards and statistics."""
        for carried in self.world.devices.values():
            carried.start()
        self.world.look()
        self._judged("reset", self.world)
        self._is_live = self.world.present[self._team.rows]
        self._is_dead = np.zeros_like(self._is_live)
        self.agents = self._names(self._is_live)
        return self._observations(self._is_live, self.agents), self._infos(self._is_live, self.agents)

    def step(
        self, actions: Mapping[str, ArrayLike]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]]:
        """Let every agent act, and everything go on by one step."""
        both = self._both
        if both is None or both.finished:
            raise UserError(f"the episode is over: call reset() ({self.metadata['name']})")
        self._act(self._table(actions))
        both.step()
        world = self.world
        world.look()
        is_there = world.present[self._team.rows]
        told = self._is_live | (is_there & ~self._is_dead)
        rewards = self._rewards()
        is_done = self._robots.was_ended or bool(self._judged("is_finished", world))
        ends = told & (~is_there | is_done)
        cut = told & ~ends & (world.index >= world.steps)
        self._is_live, self._is_dead = told & ~ends & ~cut, self._is_dead | ends | cut
        if not self._is_live.any():
            both.end()
        names = self._names(told)
        self.agents = self._names(self._is_live)
        got, over, late = (dict(zip(names, values[told].tolist(), strict=True)) for values in (rewards, ends, cut))
        return self._observations(told, names), got, over, late, self._infos(told, names)

    def state(self) -> Singles:
        """Where everyone truly is: x, y, cosine and sine of the heading, and whether it is there, agent after agent."""
        world, rows = self._begun(), self._team.rows
        poses = scaled_poses(world.xyz[rows, :2], world.heading[rows], half_side_m(world), world.arena.center_m)
        is_there = world.present[rows, None].astype(np.float32)
        flat: Singles = np.concatenate((poses * is_there, is_there), axis=1, dtype=np.float32).ravel()
        return flat

    def render(self) -> NDArray[np.uint8] | None:
        """A picture of the moment: agents, everyone else, what stands in the way, and who heard whom."""
        if self.render_mode is None:
            return None
        return _picture(self._begun(), self._team, self._talk)

    def close(self) -> None:
        """End the episode."""
        if self._both is not None:
            self._both.end()

    # --- how it is done ----------------------------------------------------------------------------------

    def _begun(self) -> World:
        if self._both is None:
            raise UserError("nothing has begun: call reset()")
        return self.world

    def _of(self, table: dict[str, Any], agent: str) -> Any:
        if agent not in table:
            raise UserError(f"there is no agent '{agent}'{closest(agent, self.possible_agents)}")
        return table[agent]

    def _new_talk(self, seed: int = 0) -> Talk | None:
        return Talk(self._team, *self._sizes, seed) if self._sizes[0] else None

    def _names(self, which: Bools) -> list[str]:
        return [name for name, is_one in zip(self._team.names, which.tolist(), strict=True) if is_one]

    def _table(self, actions: Mapping[str, ArrayLike]) -> Floats:
        """All actions, a row each in the order of the living; what is wrong with them is said by name."""
        if len(actions) != len(self.agents) or any(agent not in actions for agent in self.agents):
            for agent in actions:
                if agent not in self.agents:
                    why = "is out of the episode" if agent in self._team.numbers else "does not exist"
                    raise UserError(f"action for agent '{agent}', which {why}{closest(agent, self.agents)}")
            raise UserError(f"no action for agent '{next(agent for agent in self.agents if agent not in actions)}'")
        given = [actions[agent] for agent in self.agents]
        width = self._team.width + self._gate + self._sizes[0]
        try:
            table = np.array(given, dtype=np.float64)
        except (TypeError, ValueError):
            table = np.empty(0)
        if table.shape == (len(given), width) and np.isfinite(table).all():
            return np.clip(table, -1.0, 1.0, out=table)
        for agent, action in zip(self.agents, given, strict=True):
            try:
                one = np.asarray(action, dtype=np.float64)
            except (TypeError, ValueError):
                raise UserError(f"the action of '{agent}' is no array of numbers: {action!r}") from None
            if one.shape != (width,):
                raise UserError(f"the action of '{agent}' must have {width} numbers, its shape is {one.shape}")
            if not np.isfinite(one).all():
                raise UserError(f"the action of '{agent}' must be finite: {one.tolist()}")
        raise UserError("actions must be arrays of numbers, one for each agent")

    def _act(self, table: Floats) -> None:
        numbers = np.flatnonzero(self._is_live)
        drive = self._team.width
        driving = np.zeros((len(self._is_live), drive))
        driving[numbers] = table[:, :drive]
        self._team.move(self.world, driving, *self._most)
        if self._talk is not None:
            words = table[:, drive + self._gate :]
            audience = len(numbers) - 1
            if self._gate:
                speaks = table[:, drive] > 0
                numbers, words = numbers[speaks], words[speaks]
            self._talk.say(self._robots, numbers, words, audience)

    def _observations(self, which: Bools, names: list[str]) -> dict[str, Any]:
        """One array for all, of which each agent gets its row."""
        seen = self._senses.look(self.world, self._talk)
        seen = seen if len(names) == len(seen) else seen[which]
        if self._is_flat:
            return dict(zip(names, seen, strict=True))
        senses = self._senses.senses
        parts = ({sense.name: row[sense.columns] for sense in senses} for row in seen)
        return dict(zip(names, parts, strict=True))

    def _rewards(self) -> Floats:
        given = self._judged("step", self.world)
        agents = len(self._team.rows)
        try:
            rewards = np.broadcast_to(np.asarray(given, dtype=np.float64), agents)
        except (TypeError, ValueError):
            raise ControllerError(f"rewards must be {agents} numbers, or one for all: {given!r}") from None
        if not np.isfinite(rewards).all():
            wrong = int(np.flatnonzero(~np.isfinite(rewards))[0])
            raise ControllerError(
                f"the reward of '{self._team.names[wrong]}' at simulated time {self.world.time_s:.3f} s "
                f"is {rewards[wrong]}"
            )
        return rewards

    def _judged(self, method: str, world: World) -> Any:
        """Call the user's reward; what it raises is the user's."""
        arguments = (world,) if method == "is_finished" else (world, self._team.rows)
        try:
            return getattr(self._reward, method)(*arguments)
        except Exception as error:
            blame(error, f"reward {type(self._reward).__name__}.{method}", world)

    def _infos(self, which: Bools, names: list[str]) -> dict[str, Any]:
        """Delivery statistics of each agent since the start of the episode, and at its end what hooks measured."""
        infos: list[dict[str, Any]] = [{} for _ in names]
        if (talk := self._talk) is not None:
            counts = (column[which].tolist() for column in (talk.sent, talk.expected, talk.reached, talk.heard))
            infos = [
                {"sent": sent, "expected": expected, "reached": reached, "heard": heard}
                for sent, expected, reached, heard in zip(*counts, strict=True)
            ]
        if self._both is not None and self._both.finished:
            for info in infos:
                info["metrics"] = dict(self._robots.metrics)
        return dict(zip(names, infos, strict=True))


def _space_of(senses: Senses, *, is_flat: bool) -> Any:
    boxes = {
        sense.name: spaces.Box(sense.low, sense.high, (sense.columns.stop - sense.columns.start,), np.float32)
        for sense in senses.senses
    }
    if not is_flat:
        return spaces.Dict(boxes)
    low, high = (np.concatenate([getattr(box, bound) for box in boxes.values()]) for bound in ("low", "high"))
    return spaces.Box(low, high, dtype=np.float32)


def _picture(world: World, team: Team, talk: Talk | None) -> NDArray[np.uint8]:
    from PIL import Image, ImageDraw

    (left, bottom), (right, top) = world.arena.low_m, world.arena.high_m
    scale = PICTURE_PX / max(right - left, top - bottom)
    sheet = Image.new("RGB", (max(1, round((right - left) * scale)), max(1, round((top - bottom) * scale))), "white")
    draw = ImageDraw.Draw(sheet)

    def spot(x_m: float, y_m: float) -> tuple[float, float]:
        return (x_m - left) * scale, (top - y_m) * scale

    def disk(x_m: float, y_m: float, radius_px: float, colour: str) -> None:
        x, y = spot(x_m, y_m)
        draw.ellipse((x - radius_px, y - radius_px, x + radius_px, y + radius_px), fill=colour)

    for obstacle in world.solid:
        if obstacle.circle is not None:
            disk(*obstacle.circle.center_m, obstacle.circle.radius_m * scale, "#bbbbbb")
        elif obstacle.polygon is not None:
            draw.polygon([spot(*corner) for corner in obstacle.polygon.corners_m], fill="#bbbbbb")
        elif (box := obstacle.box) is not None:
            turn, (x, y), (width, height) = math.radians(box.angle_deg), box.center_m, box.size_m
            ahead = 0.5 * width * math.cos(turn), 0.5 * width * math.sin(turn)
            aside = -0.5 * height * math.sin(turn), 0.5 * height * math.cos(turn)
            signs = ((1, 1), (1, -1), (-1, -1), (-1, 1))
            draw.polygon([spot(x + a * ahead[0] + b * aside[0], y + a * ahead[1] + b * aside[1]) for a, b in signs],
                         fill="#bbbbbb")  # fmt: skip
    for one, other in zip(*talk.links, strict=True) if talk is not None else ():
        draw.line((*spot(*world.xyz[one, :2]), *spot(*world.xyz[other, :2])), fill="#f2c9a0")
    agents = set(team.rows.tolist())
    for row in np.flatnonzero(world.present).tolist():
        x, y = world.xyz[row, :2].tolist()
        radius = max(float(world.body_m[row]) * scale, 3.0)
        disk(x, y, radius, "#2166ac" if row in agents else "#777777")
        tip = 2 * radius / scale
        draw.line((*spot(x, y), *spot(x + tip * math.cos(world.heading[row]), y + tip * math.sin(world.heading[row]))),
                  fill="#111111")  # fmt: skip
    return np.asarray(sheet, dtype=np.uint8)


# --- how it is made --------------------------------------------------------------------------------------


def parallel_env(
    scenario: str | Path | Mapping[str, Any],
    *,
    group: str | Sequence[str] | None = None,
    observe: Sequence[str | Sees] = ("proximity", "positioning"),
    message_bytes: int = 8,
    hears: int = 4,
    may_be_silent: bool = False,
    reward: Reward | Callable[[World, str], float] | None = None,
    max_speed_m_s: float = 1.0,
    max_turn_rad_s: float = math.pi,
    max_steps: int | None = None,
    flat: bool = True,
    network: str | None = AS_THE_SCENARIO_SAYS,
    variant: str | None = None,
    overrides: tuple[str, ...] = (),
    seed: int | None = None,
    render_mode: str | None = None,
) -> TeamEnv:
    """Make an environment of a scenario: a file, or its sections as a mapping; docs/learning.md has all words.

    The robots of a group, of several or of all are agents; the controllers that they have in the scenario are not
    used. `network` chooses another network model, None leaves radios silent.
    """
    _check_number("message_bytes", message_bytes, 0, LARGEST_MESSAGE_BYTES)
    _check_number("hears", hears, 0, 1000)
    if max_steps is not None:
        _check_number("max_steps", max_steps, 1, 10**9)
    for name, value in (("max_speed_m_s", max_speed_m_s), ("max_turn_rad_s", max_turn_rad_s)):
        if not 0 < value < math.inf:
            raise UserError(f"{name} must be positive and finite, got {value!r}")
    if render_mode not in (None, "rgb_array"):
        raise UserError(f"render_mode: unknown '{render_mode}'; known: rgb_array, None")
    for name, names in (("observe", observe), ("overrides", overrides)):
        if isinstance(names, str):
            raise UserError(f"{name} is a list: ('{names}',)")
    if network is not None and network != AS_THE_SCENARIO_SAYS:
        overrides = (*overrides, f"network.model={network}")
    loaded = _loaded(scenario, overrides, variant)
    groups = _chosen_groups(loaded.scenario, group)
    changes: dict[str, Any] = {
        "robots": tuple(_without_mind(r) if r.name in groups else r for r in loaded.scenario.robots)
    }
    if seed is not None:
        changes["seed"] = _checked_seed(seed)
    if max_steps is not None:
        changes["duration_s"] = s_from_ns(round(loaded.scenario.step_s * NS_PER_S) * max_steps)
    return TeamEnv(
        loaded._replace(scenario=loaded.scenario.model_copy(update=changes)), groups, observe, _judge_of(reward),
        message_bytes=message_bytes, hears=hears, may_be_silent=may_be_silent, max_speed_m_s=max_speed_m_s,
        max_turn_rad_s=max_turn_rad_s, flat=flat, is_silent=network is None, render_mode=render_mode,
    )  # fmt: skip


def _loaded(
    scenario: str | Path | Mapping[str, Any], overrides: tuple[str, ...], variant: str | None
) -> LoadedScenario:
    if isinstance(scenario, (str, Path)):
        return load_scenario(Path(scenario), overrides, variant)
    whole = {"robonet": 1, "name": "team", "duration_s": 30.0, **scenario}
    return parse_scenario(yaml.safe_dump(whole), Path("team.yaml"), overrides, variant)


def _chosen_groups(scenario: Scenario, group: str | Sequence[str] | None) -> list[str]:
    known = {robots.name: robots for robots in scenario.robots}
    if group is None:
        chosen = [name for name, robots in known.items() if robots.motion is None]
        if not chosen:
            raise UserError("the scenario has no robots that could be agents")
        return chosen
    chosen = [group] if isinstance(group, str) else list(group)
    for name in chosen:
        if name not in known:
            options = ", ".join(known) or "none"
            raise UserError(
                f"group: no group of robots is called '{name}'{closest(name, list(known))}; known: {options}"
            )
        if known[name].motion is not None:
            raise UserError(f"group: '{name}' follows a prescribed motion and cannot act")
    if not chosen:
        raise UserError("group: name at least one group of robots")
    return chosen


def _without_mind(robots: Robots) -> Robots:
    return robots.model_copy(update={"controller": None, "params": {}})


def _judge_of(reward: Any) -> Reward:
    if reward is None:
        return Reward()
    if isinstance(reward, Reward):
        return reward
    if isinstance(reward, type):
        raise UserError(f"reward: give an object, not the class: {reward.__name__}()")
    if not callable(reward):
        raise UserError(f"reward must be a function of (world, agent) or a robonet.env.Reward, not {reward!r}")
    return _OneByOne(reward)


def _check_number(name: str, value: Any, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not low <= value <= high:
        raise UserError(f"{name} must be a whole number from {low} to {high}, got {value!r}")


def _checked_seed(seed: Any) -> int:
    _check_number("seed", seed, 0, LARGEST_SEED)
    return int(seed)
