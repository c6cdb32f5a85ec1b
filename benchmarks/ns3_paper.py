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
import json
import os
import platform
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from ns3_peer import paper_workload, peer

OUT = Path(__file__).parent / "data" / "ns3_paper_workload.json"
SECONDS = {25: 50.0, 50: 50.0}
OTHER_SECONDS = 30.0
NICENESS = 10
T_975 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131)
"""Student's t for a two-sided 95 % interval, from one degree of freedom."""
AODV_KINDS = ("rreq", "rrep", "rerr", "hello")


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
                result["summary"] = _summary(result["rows"])
                _write(options.out, result)
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
    parser.add_argument("--seeds", type=int, default=10, metavar="N", help="seeds 1..N of each (%(default)s)")
    parser.add_argument(
        "--seconds", type=float, metavar="S", help="simulated seconds (50 for 25 and 50 robots, 30 for others)"
    )
    parser.add_argument("--arp-filled", action="store_true", help="everyone knows everyone's MAC address beforehand")
    parser.add_argument("--out", type=Path, default=OUT, metavar="FILE", help="JSON to write (%(default)s)")
    return parser.parse_args()


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


# --- summing up ------------------------------------------------------------------------------------------


def _measures(row: dict[str, Any]) -> dict[str, float]:
    """The figures of a run that are averaged over the seeds."""
    seconds = row["duration_s"]
    kinds = row["frames_by_kind"]
    return {
        "connected_share": row["connected_share"],
        "shortest_hops_mean": row["shortest_hops_mean"],
        "delivery_ratio": row["delivery_ratio"],
        "delay_mean_ms": row["delay_mean_ms"],
        "delay_median_ms": row["delay_median_ms"],
        "hops_mean": row["hops_mean"],
        **{f"{kind}_per_s": kinds[kind] / seconds for kind in AODV_KINDS},
        "data_frames_per_s": kinds["data"] / seconds,
        "frames_per_s": row["frames"] / seconds,
        "mac_retries_per_s": row["mac_retries"] / seconds,
        "events_per_s": row["events"] / seconds,
        "cpu_s_per_s": row["cpu_s"] / seconds,
    }


def _summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    summary = []
    for robots in dict.fromkeys(row["robots"] for row in rows):
        runs = [_measures(row) for row in rows if row["robots"] == robots]
        means = {name: _mean_and_half_width([run[name] for run in runs]) for name in runs[0]}
        summary.append({"robots": robots, "runs": len(runs), **means})
    return summary


def _mean_and_half_width(values: list[float | None]) -> dict[str, float | None]:
    """Mean and half of its 95 % interval; a run that delivered nothing has no delay and is left out."""
    known = np.array([value for value in values if value is not None])
    if known.size == 0:
        return {"mean": None, "ci95": None}
    if known.size == 1:
        return {"mean": float(f"{known[0]:.6g}"), "ci95": None}
    t = T_975[known.size - 2] if known.size - 2 < len(T_975) else 1.96 + 2.5 / (known.size - 1)
    half = t * known.std(ddof=1) / np.sqrt(known.size)
    return {"mean": float(f"{known.mean():.6g}"), "ci95": float(f"{half:.3g}")}


def _progress(row: dict[str, Any]) -> str:
    run = _measures(row)
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


def _write(path: Path, result: dict[str, Any]) -> None:
    """A row a line, so that a change of one run is a change of one line; renamed into place for early readers."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fields = []
    for key, value in result.items():
        if isinstance(value, list):
            text = "[\n" + ",\n".join(f"  {json.dumps(item)}" for item in value) + "\n ]"
        else:
            text = json.dumps(value)
        fields.append(f' "{key}": {text}')
    draft = path.with_suffix(".tmp")
    draft.write_text("{\n" + ",\n".join(fields) + "\n}\n")
    draft.replace(path)


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


if __name__ == "__main__":
    sys.exit(main())
