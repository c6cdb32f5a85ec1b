"""What a tick of the robot simulator costs: the benchmarks of ARGoS and Stage, a laser, and range-and-bearing.

    argos   foot-bots diffuse through rooms of 40 x 40 m with 24 rays, at 10 ticks a second
    stage   minibots of 0.1 m disperse with 12 rays of 2 m
    laser   pioneers disperse with scanners of 180 beams of 8 m
    rab     as argos, and everyone sends to everyone in sight within 3 m in every tick

A tick is all of it: sensing, control, motion. Where `argos3` or `stage` is on the path it runs the same world, from
the same places, in turns with robonet. Its controller is a Lua script of ours in ARGoS, whose share is told, or with
--argos-controller a compiled one; in Stage it is the one that Stage's own benchmark has (`expand_swarm`; `wander`
with lasers). Nothing is drawn, recorded or sent by radio. Compiling is done before anything is measured.
"""

import argparse
import itertools
import json
import os
import platform
import sys
from typing import Any

from robots_bench import ours, peers, report, worlds

ENGINES = ("kinematics2d", "dynamics2d")


def main() -> int:
    """Measure, then print a table or JSON."""
    options = _options()
    chosen = worlds.BENCHMARKS[options.benchmark]
    rows: list[dict[str, Any]] = []
    try:
        for engine, threads, controllers in itertools.product(options.engine, options.threads, options.controllers):
            ours.warm_up(options.benchmark, engine, threads, getattr(chosen, controllers), options.whole)
            for robots in options.robots or _sizes(chosen, engine):
                rows.append(_measured(options, robots, engine, threads, controllers))
                _progress(rows[-1])
    except peers.PeerFailed as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    result = {
        **(rows[0] if len(rows) == 1 else {}),  # for scripts that ask for one number of robots
        "benchmark": options.benchmark,
        "rows": rows,
        "growth_exponent": report.growth(rows),
        "notes": report.notes(rows),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
    }
    if options.json:
        print(json.dumps(result, indent=1))
    else:
        report.show(result)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--benchmark", choices=tuple(worlds.BENCHMARKS), default="argos", help="(%(default)s)")
    parser.add_argument(
        "--robots", type=_positive, nargs="+", metavar="N", help="numbers of robots; by default powers of ten"
    )
    parser.add_argument("--engine", nargs="+", choices=ENGINES, default=["kinematics2d"], help="(kinematics2d)")
    parser.add_argument("--threads", type=_positive, nargs="+", default=[1], metavar="N", help="(1)")
    parser.add_argument("--controllers", nargs="+", choices=("array", "python"), default=["array"], help="(array)")
    parser.add_argument(
        "--steps", type=_positive, metavar="N", help="of a run; by default 600, and fewer where they would take minutes"
    )
    parser.add_argument("--repeats", type=_positive, default=3, metavar="N", help="runs of each (%(default)s)")
    parser.add_argument("--whole", action="store_true", help="robots with all that they carry, not just what is used")
    parser.add_argument("--without-memory", action="store_true", help="leave out the processes that measure memory")
    parser.add_argument("--without-peers", action="store_true", help="robonet alone")
    parser.add_argument(
        "--peer-seconds", type=float, default=10.0, metavar="S", help="how long another's run may take (%(default)s)"
    )
    parser.add_argument(
        "--peer-threads", type=_positive, default=1, metavar="N", help="threads of others (%(default)s)"
    )
    parser.add_argument(
        "--argos-controller", metavar="FILE.so", help="a library with ARGoS' foot-bot diffusion, instead of Lua"
    )
    parser.add_argument(
        "--argos-label", default="footbot_diffusion_controller", help="the name it registers (%(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser.parse_args()


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _sizes(chosen: worlds.Benchmark, engine: str) -> tuple[int, ...]:
    """By default; engines with dynamics take too long with the largest teams."""
    return chosen.robots if engine == "kinematics2d" else tuple(n for n in chosen.robots if n <= 10_000)


def _steps(options: argparse.Namespace, robots: int, engine: str) -> int:
    if options.steps:
        return int(options.steps)
    slowness = {"argos": 1, "stage": 5, "laser": 100, "rab": 10}[options.benchmark]
    slowness *= 1 if engine == "kinematics2d" else 10
    slowness *= 10 if options.controllers != ["array"] else 1
    return max(40, min(600, 10_000_000 // (robots * slowness)))


def _measured(options: argparse.Namespace, robots: int, engine: str, threads: int, controllers: str) -> dict[str, Any]:
    """One row: runs of robonet and of others, in turns."""
    benchmark = options.benchmark
    controller = getattr(worlds.BENCHMARKS[benchmark], controllers)
    steps = _steps(options, robots, engine)
    beside = argparse.Namespace(**{**vars(options), "steps": steps})
    names = [] if options.without_peers else peers.names_for(benchmark)
    runs: list[ours.Run] = []
    others: dict[str, list[peers.Peer]] = {name: [] for name in names}
    start = ours.make(benchmark, robots, engine, threads, None, is_whole=False)  # where everyone begins
    for _ in range(options.repeats):
        run, _world = ours.run(benchmark, robots, engine, threads, controller, steps, options.whole)
        runs.append(run)
        for name in names:
            turns = others[name]
            turns.append(peers.run(name, benchmark, start, beside, turns[-1] if turns else None))
    memory = None
    if not options.without_memory:
        memory = ours.memory(benchmark, robots, engine, controller, options.whole)
    overhead = ours.overhead_us(benchmark, robots, engine, min(steps, 50)) if controllers == "python" else None
    side_m = worlds.side_m(benchmark, robots)
    return report.row_of(benchmark, robots, engine, threads, controllers, steps, side_m, runs, others, memory, overhead)


def _progress(row: dict[str, Any]) -> None:
    text = f"{row['robots']:,} robots, {row['engine']}, {row['threads']} threads, {row['controllers']}"
    print(f"{text}: {row['ms_per_tick']:.3g} ms a tick", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
