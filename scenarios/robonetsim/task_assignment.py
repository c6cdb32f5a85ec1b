"""RoboNetSim's second application (section 7): a team finds events, and decides by flooded messages who services them.

`Team` drives all robots and carries their messages; what each of them thinks is its own `Robot` (task_robot.py), which
knows only what this robot saw and heard. `Completion` measures how long it takes.
"""

import numpy as np
from task_exploration import Exploration, Grid
from task_messages import unpacked
from task_robot import Robot, Rules, State

import robonet

ARRIVED_M = {State.EXPLORING: 5.0, State.GOING: 3.0, State.RETURNING: 5.0}
"""How near is near enough, so that robots do not fight for one spot."""
SURE_OF_SIGHT = 0.9
"""Share of the range of sight within which a robot trusts that what it does not see is not there."""
AHEAD_RAD, VEER_RAD, DETOUR_STEPS = 1.0, 1.0, 4
"""What is less than an angle from straight ahead is in the way; how far and for how long a robot turns aside."""
TURN_FIRST_RAD = 0.3
"""Beyond this error of the heading it turns on the spot."""


class Team(robonet.SwarmController):
    """All robots: sensors and messages in, motors and messages out."""

    def start(
        self, speed_m_s: float = 5.0, low_charge: float = 0.4, relay: bool = True,
        other_probability: float = 0.05, grace_s: float = 10.0, cell_m: float = 25.0, forget_s: float = 1000.0,
        near_m: float = 100.0,
    ) -> None:  # fmt: skip
        self._speed_m_s, self._low_charge, self._relay = speed_m_s, low_charge, relay
        arena = self._world.arena
        self._grid = Grid(arena.low_m, arena.size_m, cell_m, self.tasks.discover_m)
        rules = Rules(speed_m_s, self.tasks.charger_m, other_probability, grace_s)
        rngs = self.rng.spawn(2 * len(self))
        self.robots = [
            Robot(i, skills, rules, Exploration(self._grid, forget_s, near_m, rngs[2 * i]), rngs[2 * i + 1])
            for i, skills in enumerate(self.tasks.skills)
        ]
        self._moments = self.rng.spawn(1)[0]
        self._step_ns = round(self.step_s * 1e9)
        self._numbers = {event.place: number for number, event in enumerate(self.tasks.events)}
        self._states = np.zeros(len(self), dtype=np.int64)
        self._goals_m = np.zeros((2, len(self)))
        self._near_m = np.zeros(len(self))
        self._cells = np.full(len(self), -1)
        ahead = np.abs(np.remainder(self.proximity.angles_rad + np.pi, 2 * np.pi) - np.pi) < AHEAD_RAD
        self._rays_ahead = np.flatnonzero(ahead)
        self._detour_rad = np.zeros(len(self))
        self._detour_steps = np.zeros(len(self), dtype=np.int64)

    def step(self) -> None:
        x_m, y_m = self.positioning.position_m
        if self._world.index == 0:
            for i, robot in enumerate(self.robots):
                robot.handle_start((x_m.item(i), y_m.item(i)), 0.0)
                self._note(robot)
        self._explored(x_m, y_m)
        self._see(x_m, y_m)
        self._hear(x_m, y_m)
        self._serve(x_m, y_m)
        self._arrive(x_m, y_m)
        self._drive(x_m, y_m)
        self.tasks.seconds += np.bincount(self._states, minlength=len(State)) * self.step_s

    # --- what happens ------------------------------------------------------------------------------------

    def _explored(self, x_m, y_m) -> None:
        """Robots remember the cells that they pass."""
        cells = self._grid.cells_of(x_m, y_m)
        for i in np.flatnonzero(cells != self._cells).tolist():
            self.robots[i].exploration.look(cells.item(i), self.time_s)
        self._cells = cells

    def _see(self, x_m, y_m) -> None:
        for i, number in self.tasks.look(x_m, y_m):
            robot, event = self.robots[i], self.tasks.events[number]
            robot.handle_sight(*event, self.tasks.waiting(number), (x_m.item(i), y_m.item(i)), self.time_s)
            self._note(robot)

    def _hear(self, x_m, y_m) -> None:
        """Take in what is new, and repeat it."""
        now, heard = self.time_s, {}
        for message in self.radio.receive():
            i, payload = message.receiver_index, message.payload
            robot = self.robots[i]
            if not robot.flooding.is_new(payload):
                continue
            report = heard.get(payload)
            if report is None:
                report = heard[payload] = unpacked(payload)
            robot.handle_report(report, (x_m.item(i), y_m.item(i)), now)
            self._note(robot)
            self.tasks.counts["heard"] += 1
            if self._relay:
                self._send(i, payload)

    def _serve(self, x_m, y_m) -> None:
        """Services end, batteries run low or are full."""
        tasks, now = self.tasks, self.time_s
        for i in tasks.finished():
            self.robots[i].handle_end((x_m.item(i), y_m.item(i)), now)
            self._note(self.robots[i])
        for i in tasks.supply():
            self.robots[i].handle_charged((x_m.item(i), y_m.item(i)), now)
            self._note(self.robots[i])
        runs_low = (self.battery.charge < self._low_charge) & (self._states <= State.WAITING)
        for i in np.flatnonzero(runs_low).tolist():
            robot, others = self.robots[i], 0
            if robot.state is State.WAITING:
                number = self._numbers[robot.event]
                tasks.leave(i, number)
                others = tasks.waiting(number)
            robot.handle_low_energy(others, (x_m.item(i), y_m.item(i)))
            self._note(robot)

    def _arrive(self, x_m, y_m) -> None:
        """Who is at its goal, or sees that there is nothing to go to."""
        distances_m = np.hypot(self._goals_m[0] - x_m, self._goals_m[1] - y_m)
        near = distances_m < np.maximum(
            self._near_m, (self._states == State.GOING) * (SURE_OF_SIGHT * self.tasks.discover_m)
        )
        for i in np.flatnonzero(near).tolist():
            robot, here = self.robots[i], (x_m.item(i), y_m.item(i))
            if robot.state is State.GOING and not self.tasks.sees(i, self._numbers[robot.event]):
                robot.handle_absence(here, self.time_s)
            elif distances_m[i] < self._near_m[i]:
                robot.handle_arrival(here, self.time_s)
                if robot.state is State.WAITING:
                    self._join(robot, here)
                elif robot.state is State.CHARGING:
                    self.tasks.charge(i)
                    self.tasks.counts["recharges"] += 1
            else:
                continue
            self._note(robot)

    def _join(self, robot: Robot, here) -> None:
        number = self._numbers[robot.event]
        team = self.tasks.join(robot.index, number)
        if not team:
            robot.handle_status(self.tasks.waiting(number), here)
        for i in team:
            self.robots[i].handle_service(here, is_last=i == robot.index)
            self._note(self.robots[i])

    def _note(self, robot: Robot) -> None:
        """Take over what a robot decided: its state, its goal, what it says."""
        i = robot.index
        self._states[i] = robot.state
        self._near_m[i] = ARRIVED_M.get(robot.state, -1.0)
        if robot.goal is not None:
            self._goals_m[:, i] = robot.goal
        for report in robot.outbox:
            payload = report.packed()
            robot.flooding.is_new(payload)
            self._send(i, payload)
            self.tasks.counts[report.kind.name] += 1
        robot.outbox.clear()

    def _send(self, robot: int, payload: bytes) -> None:
        """Broadcast at a moment of its own within the step.

        At the border of the step everyone would send in the same nanosecond, when carrier sense is
        of no use. Controllers of real robots do not tick together.
        """
        wait_ns = int(self._moments.integers(self._step_ns))
        self.radio.broadcast(robot, payload, after_s=wait_ns / 1e9)

    # --- motion ------------------------------------------------------------------------------------------

    def _drive(self, x_m, y_m) -> None:
        """Straight to the goal at full speed, turning on the spot first; aside where something is in the way."""
        stands = self._states >= State.WAITING
        stands &= self._states != State.RETURNING
        across, along = self._goals_m[0] - x_m, self._goals_m[1] - y_m
        heading = self.positioning.heading_rad
        error = _wrapped(np.arctan2(along, across) - heading)
        if self.proximity.may_hit.any() or self._detour_steps.any():
            error = self._avoid(error, stands)
        turn = error / self.step_s
        difference = np.abs(turn) * (0.5 * self.wheels.wheel_distance_m)
        speed = np.minimum(self._speed_m_s - difference, np.hypot(across, along) / self.step_s)
        speed[(np.abs(error) > TURN_FIRST_RAD) | stands] = 0.0
        turn[stands] = 0.0
        self.wheels.set_velocity(speed, turn)

    def _avoid(self, error, stands):
        """Pass on the right, as all do; whoever is still in front of something turns on."""
        ahead_m = self.proximity.distances_m[:, self._rays_ahead].min(axis=1)
        blocked = (ahead_m < self.proximity.range_m) & ~stands
        blocked &= (np.abs(error) < TURN_FIRST_RAD) | (self._detour_steps > 0)
        self._detour_rad[blocked] -= VEER_RAD
        self._detour_steps[blocked] = DETOUR_STEPS
        error = _wrapped(error + self._detour_rad)
        np.maximum(self._detour_steps - 1, 0, out=self._detour_steps)
        self._detour_rad[self._detour_steps == 0] = 0.0
        return error


def _wrapped(angle_rad):
    return np.remainder(angle_rad + np.pi, 2 * np.pi) - np.pi


def _mean(times_s) -> float:
    """Of those events to which it happened."""
    return float(np.nanmean(times_s)) if np.isfinite(times_s).any() else np.nan


class Completion(robonet.Hooks):
    """Ends the run when all events are serviced, and tells what it took."""

    def __init__(self, group: str = "robot") -> None:
        self._group = group

    def on_start(self, world) -> None:
        self._world = world
        self._tasks = world.devices[self._group].get("tasks")

    def is_finished(self, world) -> bool:
        return self._tasks.serviced == len(self._tasks.events)

    def metrics(self) -> dict[str, float]:
        tasks = self._tasks
        kinds = {f"messages_{kind}": tasks.counts[kind] for kind in "SGCHA"}
        total_s = max(tasks.seconds.sum(), self._world.step_s)
        return {
            "completion_s": self._world.time_s,
            "finished": float(self.is_finished(self._world)),
            "serviced": tasks.serviced,
            "messages": sum(kinds.values()),
            **kinds,
            "heard_share": tasks.counts["heard"] / max(1, sum(kinds.values()) * (len(tasks.skills) - 1)),
            "exploration_share": tasks.seconds[State.EXPLORING] / total_s,
            "going_share": tasks.seconds[State.GOING] / total_s,
            "waiting_share": tasks.seconds[State.WAITING] / total_s,
            "servicing_share": tasks.seconds[State.SERVICING] / total_s,
            "recharging_share": tasks.seconds[State.RETURNING :].sum() / total_s,
            "recharges": tasks.counts["recharges"],
            "charged_j": tasks.charged_j,
            "found_s": _mean(tasks.found_s),
            "started_s": _mean(tasks.started_s),
        }
