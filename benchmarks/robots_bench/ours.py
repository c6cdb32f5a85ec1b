"""Measuring robonet: ticks, set-up, memory in a process of its own, what a Python controller costs beside itself."""

import ctypes
import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import robonet
from robots_bench import minds, worlds

LONG_COMPILE_S = 2.0
SMALLEST_FOR_MEMORY = 1_000
"""Below this many robots, pages of memory tell nothing about a robot."""


class Run(NamedTuple):
    """One run from placing the robots to the last step; times per tick are means over its middle half."""

    setup_s: float
    wall_ms: float
    cpu_ms: float


def make(benchmark: str, robots: int, engine: str, threads: int, controller: str | None, is_whole: bool) -> Any:
    """A world of robonet's, without radios and without digests."""
    sections = worlds.sections(benchmark, robots, engine, threads, controller, is_whole=is_whole)
    world = robonet.World(network=None, **sections)
    world.keeps_digests = False
    return world


def warm_up(benchmark: str, engine: str, threads: int, controller: str | None, is_whole: bool) -> None:
    """Compile, or load what was compiled."""
    began = time.perf_counter()
    world = make(benchmark, 12, engine, threads, controller, is_whole)
    world.step(3)
    took = time.perf_counter() - began
    if took > LONG_COMPILE_S:
        print(f"compiling for {benchmark} took {took:.0f} s; it is kept for later", file=sys.stderr, flush=True)


def run(
    benchmark: str, robots: int, engine: str, threads: int, controller: str, steps: int, is_whole: bool
) -> tuple[Run, Any]:
    """Run a fresh world; what was measured, and the world as it is then."""
    gc.collect()
    began = time.perf_counter()
    world = make(benchmark, robots, engine, threads, controller, is_whole)
    setup_s = time.perf_counter() - began
    before = steps // 4
    middle = max(1, steps // 2)
    world.step(before)
    wall, cpu = time.perf_counter(), time.process_time()
    world.step(middle)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    world.step(steps - before - middle)
    return Run(setup_s, 1e3 * wall / middle, 1e3 * cpu / middle), world


# --- Python controllers ----------------------------------------------------------------------------------


def overhead_us(benchmark: str, robots: int, engine: str, steps: int) -> dict[str, float]:
    """What a robot's controller costs beside its own arithmetic, in us: one that does nothing, and the rule.

    The rays are cast before the clock runs. The rule's own arithmetic is timed on the same readings, as lists.
    """
    found = {"empty": _least(_control(benchmark, robots, engine, "robots_bench.minds:Empty", None, steps)) / robots}
    chosen = worlds.BENCHMARKS[benchmark]
    name = next(name for name in ("proximity", "sonar", "laser") if name in chosen.devices)

    def outside(world: Any) -> float:
        device = world.devices["team"].get(name)
        angles, readings = device.angles_rad.tolist(), device.distances_m.tolist()
        if name == "proximity":
            decide = minds.diffusion_rule(angles, device.range_m)
        else:
            decide = minds.dispersal_rule(angles, device.range_m, world["team"].wheels.wheel_distance_m)
        return _timed(lambda: _each(decide, readings))

    rule = "robots_bench.minds:Diffusion" if name == "proximity" else "robots_bench.minds:Dispersal"
    both = _control(benchmark, robots, engine, rule, outside, steps, name)
    found["control"] = _least(both) / robots
    found["own_code"] = min(pair[1] for pair in both) / robots
    found["overhead"] = max(0.0, found["control"] - found["own_code"])
    return {key: 1e6 * value for key, value in found.items()}


def _each(decide: Callable[[list[float]], tuple[float, float]], readings: list[list[float]]) -> None:
    for distances_m in readings:
        _left, _right = decide(distances_m)


def _timed(work: Callable[[], None]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _least(pairs: list[tuple[float, float]]) -> float:
    return min(pair[0] for pair in pairs)


def _control(
    benchmark: str, robots: int, engine: str, controller: str, outside: Callable[[Any], float] | None, steps: int,
    eyes: str | None = None,
) -> list[tuple[float, float]]:  # fmt: skip
    """Seconds that all controllers take, and what else is timed, of each of some steps."""
    world = make(benchmark, robots, engine, 1, controller, is_whole=False)
    world.step(steps)
    pairs = []
    for _ in range(9):
        if eyes is not None:
            assert world.devices["team"].get(eyes).distances_m is not None
        control = _timed(world._simulator.minds.step)
        pairs.append((control, outside(world) if outside is not None else 0.0))
        world.step()
    return pairs


# --- memory ----------------------------------------------------------------------------------------------


def memory(benchmark: str, robots: int, engine: str, controller: str, is_whole: bool) -> dict[str, float] | None:
    """Bytes a robot, of everything and of readings alone, from a process of its own; None for few robots."""
    if robots < SMALLEST_FOR_MEMORY:
        return None
    job = json.dumps([benchmark, robots, engine, controller, is_whole])
    paths = [str(Path(__file__).parent.parent), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}
    command = [sys.executable, "-m", "robots_bench.ours", job]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"measuring memory failed:\n{done.stderr[-2000:]}")
    answer: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return answer


def _resident_bytes() -> int:
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # give back what is free, so that it is not counted
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _child(benchmark: str, robots: int, engine: str, controller: str, is_whole: bool) -> dict[str, float]:
    warm_up(benchmark, engine, 1, controller, is_whole)
    before = _resident_bytes()
    world = make(benchmark, robots, engine, 1, controller, is_whole)
    world.step(2)  # what is made when first needed is made now
    total = _resident_bytes() - before
    names = [name for name in ("proximity", "sonar", "laser") if name in worlds.BENCHMARKS[benchmark].devices]
    readings = sum(world.devices["team"].get(name).distances_m.nbytes for name in names)
    if "range_and_bearing" in worlds.BENCHMARKS[benchmark].devices:
        heard = world.devices["team"].get("range_and_bearing")
        readings += heard.ranges_m.nbytes + heard.bearings_rad.nbytes + heard.payloads.nbytes
    return {
        "bytes_per_robot": total / robots,
        "readings_bytes_per_robot": readings / robots,
        "beside_readings_bytes_per_robot": (total - readings) / robots,
    }


if __name__ == "__main__":
    print(json.dumps(_child(*json.loads(sys.argv[1]))))
