"""mosaik 3: two simulators in processes that mosaik starts ('cmd'), every value passing through its scheduler.

The variant `beside` has the robots in the scheduler's own process ('python'): faster, and no longer two
separate simulators. One entity a side in both, because an entity a robot makes mosaik route N values in
Python; the cache is off.
"""

import os
import sys
from pathlib import Path

import mosaik
import mosaik_api_v3
import numpy as np
from loguru import logger

from link_peers.traffic import Traffic
from link_peers.turns import Job, Turns, all_cores, take_cores

META = {"api_version": "3.0", "type": "time-based"}


class Robots(mosaik_api_v3.Simulator):
    """All robots as one entity with a list of positions and one of packets."""

    def __init__(self) -> None:
        outputs = ["positions", "packets"]
        model = {"public": True, "params": [], "attrs": [*outputs, "deliveries"]}
        super().__init__({**META, "models": {"Team": model}})

    def init(self, sid, time_resolution, robots: int, steps: int):
        self._traffic = Traffic(robots, steps)
        return self.meta

    def create(self, num, model):
        return [{"eid": "team", "type": model}]

    def step(self, time, inputs, max_advance):
        if time > 0:
            (rows,) = inputs["team"]["deliveries"].values()
            arrived = [np.array(row) for row in rows]
            assert len(arrived[0]) == self._traffic.senders
        return time + 1

    def get_data(self, outputs):
        sent = self._traffic.next_step()
        columns = [sent.rows[name].tolist() for name in sent.rows.dtype.names]
        return {"team": {"positions": self._traffic.positions_m.ravel().tolist(), "packets": columns}}


class Network(mosaik_api_v3.Simulator):
    """Everything arrives after one hop."""

    def __init__(self) -> None:
        model = {"public": True, "params": [], "attrs": ["positions", "packets", "deliveries"]}
        super().__init__({**META, "models": {"Radio": model}})

    def create(self, num, model):
        return [{"eid": "radio", "type": model}]

    def step(self, time, inputs, max_advance):
        (positions,) = inputs["radio"]["positions"].values()
        self._positions_m = np.array(positions)
        (columns,) = inputs["radio"]["packets"].values()
        packets, times, _, destinations, _ = columns
        self._deliveries = [packets, destinations, times, [1] * len(packets), [-60.0] * len(packets)]
        return time + 1

    def get_data(self, outputs):
        return {"radio": {"deliveries": self._deliveries}}


def _remote(side: str, job: Job) -> dict[str, str]:
    cores = "pinned" if job.is_pinned else "free"
    command = f"%(python)s -m {__name__} %(addr)s {side} {cores}"
    return {"cmd": command, "cwd": str(Path(__file__).parent.parent)}


def drive(job: Job, turns: Turns) -> None:
    logger.remove()
    os.sched_setaffinity(0, all_cores())  # for its children to choose from; then its own as every driver
    beside = {"python": f"{__name__}:Robots"}
    configuration = {
        "Robots": beside if job.variant == "beside" else _remote("robots", job),
        "Network": _remote("network", job),
    }
    world = mosaik.World(configuration, cache=False, skip_greetings=True)

    def tick(positions):
        turns.tick()  # once a step, in the scheduler's process wherever the simulators are
        return positions

    try:
        team = world.start("Robots", robots=job.robots, steps=job.total_steps + 1).Team()
        radio = world.start("Network").Radio()
        if job.is_pinned:
            take_cores(0)
        world.connect(team, radio, "positions", transform=tick)
        world.connect(team, radio, "packets")
        world.connect(radio, team, "deliveries", time_shifted=True, initial_data={"deliveries": None})
        world.run(until=job.total_steps + 1, print_progress=False)
    finally:
        world.shutdown()


def answer(job: Job) -> None:
    """mosaik starts the other process itself."""


if __name__ == "__main__":
    logger.remove()
    side, cores = sys.argv[2:]
    del sys.argv[2:]  # the rest is mosaik's
    if cores == "pinned":
        take_cores(int(side == "network"))
    mosaik_api_v3.start_simulation(Robots() if side == "robots" else Network(), configure_logging=False)
