"""What robonet's `wifi` makes of the RoboNetSim paper's workload: the other half of benchmarks/ns3_paper.py.

The same walks, traffic and radio as there, seed by seed; rows of the same shape go into a file beside ns-3's, which
docs/validation.md is made from. With --arp-filled address resolution is left out on both sides.
"""

import argparse
import shlex
import sys
from pathlib import Path
from typing import Any

from ns3_paper import OTHER_SECONDS, SECONDS
from ns3_peer.paper_workload import Radio, paper_workload, shortest_hops
from ns3_peer.rows import summary_of, write_rows
from wifi_play import play

from robonet import __version__

DATA = Path(__file__).parent / "data"


def main() -> int:
    """Play all of it, writing the file as rows come in."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", type=int, nargs="+", default=[25, 50, 100], metavar="N", help="(%(default)s)")
    parser.add_argument("--seeds", type=int, default=16, metavar="N", help="seeds 1..N of each (%(default)s)")
    parser.add_argument("--arp-filled", action="store_true", help="without address resolution")
    parser.add_argument("--rules", choices=("ns3", "rfc3561"), default="ns3", help="AODV's rules (%(default)s)")
    parser.add_argument("--out", type=Path, help="where to write (benchmarks/data/wifi_paper_workload*.json)")
    options = parser.parse_args()
    name = f"wifi_paper_workload{'_arp_filled' if options.arp_filled else ''}"
    out = options.out or DATA / f"{name}{'_rfc3561' if options.rules == 'rfc3561' else ''}.json"
    radio = Radio(arp_filled=options.arp_filled)
    command = shlex.join(["python", "benchmarks/wifi_paper.py", *sys.argv[1:]])
    result: dict[str, Any] = {"command": command, "robonet": __version__, "summary": [], "rows": []}
    for robots in sorted(options.robots):
        for seed in range(1, options.seeds + 1):
            workload = paper_workload(robots, SECONDS.get(robots, OTHER_SECONDS), seed)
            row = play(workload, radio, seed, options.rules)
            hops = shortest_hops(workload, radio.range_m)
            row |= {"connected_share": float((hops > 0).mean()), "shortest_hops_mean": float(hops[hops > 0].mean())}
            result["rows"].append(row)
            result["summary"] = summary_of(result["rows"])
            write_rows(out, result)
            print(f"{robots} robots, seed {seed}: delivery {row['delivery_ratio']:.3f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
