"""What radio communication costs: robonet's `wifi` beside ns-3, on the RoboNetSim paper's workload, in one run.

Both play the same walks and the same packets (section 5.1 of the paper: 50 robots on 500 x 500 m at 1 m/s, a fifth of
them sending 5 packets of 64 bytes a second over UDP, AODV and 802.11a at 6 Mbit/s), with the same rules of AODV. ns-3
is the wheel from PyPI with its event loop in C++ and no traces written; `wifi` runs as in `robonet run`, with
everything that a run records. They take turns, seed by seed, so that whatever else the machine does strikes both. A
figure is CPU seconds of the simulation, without start-up, per simulated second; their ratio is the median over the
turns. Delivery ratios stand beside it, because being fast at something else would be easy.
"""

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from ns3_peer import peer
from ns3_peer.paper_workload import Radio, paper_workload, write_ns3
from rich.console import Console
from rich.table import Table
from wifi_play import play


def main() -> int:
    """Measure and show."""
    options = _options()
    radio = Radio(arp_filled=options.arp_filled)
    if not options.without_ns3:
        try:
            peer.program()
        except peer.Ns3Unavailable as error:
            print(f"error: {error}; --without-ns3 measures robonet alone", file=sys.stderr)
            return 2
    play(paper_workload(10, 1.0, 1), radio, 1)  # compiles, or loads what was compiled
    results = []
    for robots in options.robots:
        turns = []
        for seed in range(1, options.seeds + 1):
            turns.append(_turn(robots, options.duration, seed, radio, options.rules, with_ns3=not options.without_ns3))
            if not options.json:
                print(_progress(robots, seed, turns[-1]), file=sys.stderr, flush=True)
        results.append(_result(robots, options.duration, turns))
    if options.json:
        print(json.dumps(results[0] if len(results) == 1 else results, indent=1))
    else:
        Console().print(_table(results))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", type=int, nargs="+", default=[100], metavar="N", help="(%(default)s)")
    parser.add_argument("--duration", type=float, default=20.0, metavar="S", help="simulated seconds (%(default)s)")
    parser.add_argument("--seeds", type=int, default=1, metavar="N", help="turns, of seeds 1..N (%(default)s)")
    parser.add_argument("--arp-filled", action="store_true", help="everyone knows everyone's hardware address")
    parser.add_argument(
        "--rules", choices=("ns3", "rfc3561"), default="ns3", help="AODV as ns-3 has it, or by the RFC (%(default)s)"
    )
    parser.add_argument("--without-ns3", action="store_true", help="robonet alone, for sizes that ns-3 takes hours for")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser.parse_args()


def _turn(robots: int, duration_s: float, seed: int, radio: Radio, rules: str, *, with_ns3: bool) -> dict[str, Any]:
    workload = paper_workload(robots, duration_s, seed)
    ours = play(workload, radio, seed, rules)
    if not with_ns3:
        return {"wifi": ours, "ns3": None}
    with tempfile.TemporaryDirectory(prefix="robonet-ns3-") as folder:
        theirs = peer.run(write_ns3(Path(folder) / "workload", workload, radio), seed)
    return {"wifi": ours, "ns3": theirs}


def _result(robots: int, duration_s: float, turns: list[dict[str, Any]]) -> dict[str, Any]:
    def middle(side: str, key: str) -> float | None:
        values = [turn[side][key] for turn in turns if turn[side] is not None and turn[side][key] is not None]
        return statistics.median(values) if values else None

    wifi_cpu_s, ns3_cpu_s = middle("wifi", "cpu_s"), middle("ns3", "cpu_s")
    ratios = [turn["ns3"]["cpu_s"] / turn["wifi"]["cpu_s"] for turn in turns if turn["ns3"] is not None]
    frames = middle("wifi", "frames")
    return {
        "robots": robots,
        "duration_s": duration_s,
        "turns": len(turns),
        "wifi_cpu_s": wifi_cpu_s / duration_s,
        "ns3_cpu_s": ns3_cpu_s / duration_s if ns3_cpu_s is not None else None,
        "ratio": statistics.median(ratios) if ratios else None,
        "wifi_us_per_frame": 1e6 * wifi_cpu_s / frames if frames else None,
        "wifi_frames_per_s": frames / duration_s,
        "ns3_frames_per_s": (middle("ns3", "frames") or 0) / duration_s or None,
        "wifi_delivery_ratio": middle("wifi", "delivery_ratio"),
        "ns3_delivery_ratio": middle("ns3", "delivery_ratio"),
    }


def _progress(robots: int, seed: int, turn: dict[str, Any]) -> str:
    theirs = f", ns-3 {turn['ns3']['cpu_s']:.2f} s" if turn["ns3"] else ""
    return f"{robots} robots, seed {seed}: wifi {turn['wifi']['cpu_s']:.3f} s of CPU{theirs}"


def _table(results: list[dict[str, Any]]) -> Table:
    table = Table(title="CPU seconds per simulated second, the paper's workload")
    for name in ("robots", "wifi", "ns-3", "ratio", "us a frame", "frames/s", "ns-3's", "delivered", "ns-3's"):
        table.add_column(name, justify="right")
    for row in results:
        cells = [
            row["robots"], row["wifi_cpu_s"], row["ns3_cpu_s"], row["ratio"], row["wifi_us_per_frame"],
            row["wifi_frames_per_s"], row["ns3_frames_per_s"], row["wifi_delivery_ratio"], row["ns3_delivery_ratio"],
        ]  # fmt: skip
        table.add_row(*("-" if cell is None else f"{cell:.4g}" for cell in cells))
    return table


if __name__ == "__main__":
    sys.exit(main())
