"""What ns-3 alone makes of the RoboNetSim paper's performance workload: the peer that robonet's wifi is held against.

For each number of robots and each seed the workload is made (walks and traffic of that seed), played on ns-3 with
the seed as its run number, one process at a time, and all its counts become a row of a JSON file. The file is
written again after every run, smallest number of robots first, and is of use before the last run ends. `summary`
holds mean and 95 % confidence interval (Student) over the seeds. CPU seconds are of ns-3's event loop alone;
`load` says how busy the machine was just before. `connected_share` of the packets had a path of links within range
when they were sent, over `shortest_hops_mean` hops: what a perfect network would deliver.

With ns-3's defaults most losses are ARP's. Nodes that answer the same RREQ ask for a MAC address whole milliseconds
after the same instant and repeat it exactly a second later each, so those that collide once collide every time; and
a neighbour given up, whether for that or because it was just out of range, is dropped for 100 s without a word to
AODV. --arp-filled leaves ARP out, to compare MAC and AODV with models that have none.
"""

import argparse
import dataclasses
import os
import platform
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any

from ns3_peer import paper_workload, peer
from ns3_peer.rows import measures, summary_of, write_rows

DATA = Path(__file__).parent / "data"
SECONDS = {25: 50.0, 50: 50.0}
OTHER_SECONDS = 30.0
NICENESS = 10


def main() -> int:
    """Measure, writing the file as rows come in."""
    options = _options()
    radio = paper_workload.Radio(arp_filled=options.arp_filled)
    try:
        wheel = peer.find_wheel()
        peer.program()
    except peer.Ns3Unavailable as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    result: dict[str, Any] = {
        "command": shlex.join(["python", "benchmarks/ns3_paper.py", *sys.argv[1:]]),
        "ns3": wheel.version,
        "machine": {"cpu": _cpu_name(), "cores": os.cpu_count(), "python": platform.python_version()},
        "parameters": _parameters(radio),
        "summary": [],
        "rows": [],
    }
    try:
        for robots in sorted(options.robots):
            for seed in range(1, options.seeds + 1):
                seconds = options.seconds or SECONDS.get(robots, OTHER_SECONDS)
                row = _play(robots, seconds, seed, radio)
                result["rows"].append(row)
                result["summary"] = summary_of(result["rows"])
                write_rows(options.out, result)
                print(_progress(row), flush=True)
            print(_summary_text(result["summary"][-1]), flush=True)
    except peer.Ns3Failed as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--robots", type=int, nargs="+", default=[25, 50, 100], metavar="N", help="numbers of robots (%(default)s)"
    )
    parser.add_argument("--seeds", type=int, default=16, metavar="N", help="seeds 1..N of each (%(default)s)")
    parser.add_argument(
        "--seconds", type=float, metavar="S", help="simulated seconds (50 for 25 and 50 robots, 30 for others)"
    )
    parser.add_argument("--arp-filled", action="store_true", help="everyone knows everyone's MAC address beforehand")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="JSON to write (benchmarks/data/ns3_paper_workload*.json)"
    )
    options = parser.parse_args()
    options.out = options.out or DATA / f"ns3_paper_workload{'_arp_filled' if options.arp_filled else ''}.json"
    return options


def _play(robots: int, seconds: float, seed: int, radio: paper_workload.Radio) -> dict[str, Any]:
    workload = paper_workload.paper_workload(robots, seconds, seed)
    hops = paper_workload.shortest_hops(workload, radio.range_m)
    paths = {"connected_share": float((hops > 0).mean()), "shortest_hops_mean": float(hops[hops > 0].mean())}
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="robonet-ns3-") as folder:
        file = paper_workload.write_ns3(Path(folder) / "workload", workload, radio)
        outcome = peer.run(file, seed, niceness=NICENESS)
    del outcome["nodes"], outcome["seed"]
    return {"robots": robots, "workload_seed": seed, **paths, **outcome, "load": round(load, 2)}


def _parameters(radio: paper_workload.Radio) -> dict[str, Any]:
    return {
        **dataclasses.asdict(radio),
        "range_m": round(radio.range_m, 2),
        "robots_per_m2": paper_workload.PAPER_ROBOTS / paper_workload.PAPER_SIDE_M**2,
        "speed_m_per_s": paper_workload.SPEED_M_PER_S,
        "step_ns": paper_workload.STEP_NS,
        "senders_share": paper_workload.SENDERS_SHARE,
        "packets_per_s": paper_workload.PACKETS_PER_S,
        "payload_bytes": paper_workload.PAYLOAD_BYTES,
        "ns3_global_seed": 1,
        "ns3_run": "the workload's seed",
    }


# --- showing it --------------------------------------------------------------------------------------------


def _progress(row: dict[str, Any]) -> str:
    run = measures(row)
    delay = "-" if run["delay_mean_ms"] is None else f"{run['delay_mean_ms']:.2f} ms"
    hops = "-" if run["hops_mean"] is None else f"{run['hops_mean']:.2f}"
    return (
        f"{row['robots']:4d} robots, seed {row['workload_seed']:2d}: delivered {run['delivery_ratio']:.4f}, "
        f"delay {delay}, hops {hops}, {run['frames_per_s']:.0f} frames/s, CPU {run['cpu_s_per_s']:.3f} s/s"
    )


def _summary_text(summary: dict[str, Any]) -> str:
    lines = [f"{summary['robots']} robots, {summary['runs']} runs:"]
    for name, value in summary.items():
        if isinstance(value, dict) and value["mean"] is not None:
            spread = "" if value["ci95"] is None else f" +- {value['ci95']:g}"
            lines.append(f"  {name:18s} {value['mean']:g}{spread}")
    return "\n".join(lines)


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


if __name__ == "__main__":
    sys.exit(main())
