"""docs/validation.md, made from what was measured."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .deviations import deviations
from .rows import Row

YES, NO = "holds", "**no**"


class Section(NamedTuple):
    """Words around one table."""

    title: str
    text: str


SECTIONS = {
    "bianchi_table": Section(
        "Bianchi's equations",
        "Solved here (`benchmarks/validation/bianchi.py`), beside the solutions that ns-3 tests itself against: "
        "1500 B, 28 B MAC and 6 B upper headers, contention windows 15 (802.11b: 31) to 1023, unlimited retries, "
        "no RTS.",
    ),
    "bianchi": Section(
        "Saturation throughput against Bianchi",
        "Everyone hears everyone equally well. The last five rows are of rates and numbers of stations that are in no "
        "table, beside the equations solved for them. DIFS: collisions are not taken up by receivers (they need 4 dB "
        "over the others), so a DIFS follows them. EIFS: receivers are set to take up whatever they hear, so "
        "collisions are failed receptions. EIFS at 6 Mbit/s is not compared: with ns-3's error tables a trial was "
        "1 to 6 % above Bianchi there, presumably because some frames survive an equally strong one. "
        "802.11b acknowledges at 2 Mbit/s here, as the table has it.",
    ),
    "single": Section("One saturated sender", "Goodput, beside ns-3."),
    "contention": Section(
        "Saturated senders around one receiver",
        "5 m away from it, 1000 B, beside ns-3; collisions are the share of attempts without an answer.",
    ),
    "distance": Section(
        "Delivery against distance",
        "Share of broadcasts received, beside ns-3; and where it falls to one half. Of the steps, the reference is the "
        "middle between the last distance with and the first without delivery.",
    ),
    "hidden": Section(
        "Hidden terminals",
        "Two senders on either side of a receiver, 1000 B, addresses resolved, nothing thrown away for its age, beside "
        "ns-3. At 40 m the senders do not hear each other, at 20 m they do. Collisions under Poisson traffic are "
        "beside ten ns-3 runs of 40 s with the very same packets (`benchmarks/validation/ns3_hidden.py`), because "
        "single runs of 20 s spread by more than the tolerance.",
    ),
    "broadcast": Section(
        "Broadcasts that start nearly at once",
        "64 B, everyone once a round at a random time within so many milliseconds; share of receptions, beside ns-3.",
    ),
    "latency": Section(
        "Latency over a chain",
        "40 m hops, routes known: 34 us + T + (hops - 1)(94 us + T) for an airtime of T; with AODV the median of 40 "
        "packets, beside ns-3.",
    ),
    "discovery": Section(
        "The first packet over a chain",
        "AODV finds a route in widening rings (TTL 1, 3, 5) and ARP the addresses: mean over 20 seeds, beside ns-3.",
    ),
    "chain_goodput": Section(
        "Goodput over a chain",
        "1000 B, AODV and ARP, 20 s with the discovery in them, mean of two seeds, beside ns-3.",
    ),
    "chain_break": Section(
        "AODV on a chain that breaks",
        "ns-3's own regression test: 5 nodes 120 m apart, a 56 B ping each second from node 0 to node 4, the middle "
        "node removed at 3.33 s. The rows are the frames that node 0 sends and hears, as both captures have them, but "
        "for HELLOs, ARP and acknowledgements. Kinds and TTLs have to be the same, in the same order. Times may "
        "differ by what is random: 10 ms of jitter for each broadcast that leads to a frame, 10 ms for each address, "
        "and the backoffs of six retries.",
    ),
}

HEAD = """# Validation of `wifi`

Made by `python benchmarks/validate.py`; do not edit. The same comparisons run in the test suite
(`tests/test_wifi_validation.py`), some of them shorter. References are Bianchi's model and ns-3 3.44 with its defaults:
802.11a at 6 Mbit/s, 16.0206 dBm, log-distance loss of exponent 3 and 46.6777 dB at 1 m, preambles from -82 dBm and
4 dB on, unless a row says otherwise. AODV goes by `rules: ns3` and with `arp: true`, as ns-3 does.
"""

MEASURES = {
    "delivery_ratio": "delivered",
    "delay_mean_ms": "delay, mean (ms)",
    "delay_median_ms": "delay, median (ms)",
    "hops_mean": "hops",
    "rreq_per_s": "RREQ/s",
    "rrep_per_s": "RREP/s",
    "rerr_per_s": "RERR/s",
    "hello_per_s": "HELLO/s",
    "data_frames_per_s": "data frames/s",
    "frames_per_s": "frames/s",
    "mac_retries_per_s": "retries/s",
}
WORKLOADS = {
    "": "With ARP, as ns-3 has it by default.",
    "_arp_filled": "Without ARP: everyone knows everyone's address.",
}
SIDES = {
    "ns-3": "ns3_paper_workload{}.json",
    "`wifi`, `rules: ns3`": "wifi_paper_workload{}.json",
    "`wifi`, `rules: rfc3561`": "wifi_paper_workload{}_rfc3561.json",
}


def page(results: dict[str, Sequence[Row]], data: Path) -> str:
    """All of it."""
    parts = [HEAD, _overview(results)]
    for name, rows in results.items():
        section = SECTIONS[name]
        parts.append(f"## {section.title}\n\n{section.text}\n\n{_table(rows)}")
    parts += [deviations(), paper_workload(data)]
    return "\n".join(parts)


def _overview(results: dict[str, Sequence[Row]]) -> str:
    lines = ["| section | rows | hold |", "|---|---|---|"]
    for name, rows in results.items():
        lines.append(f"| {SECTIONS[name].title} | {len(rows)} | {sum(row.holds for row in rows)} |")
    return "\n".join(lines) + "\n"


def _table(rows: Sequence[Row]) -> str:
    lines = ["| what | reference | robonet | difference | tolerance | verdict |", "|---|---|---|---|---|---|"]
    shown = [row for row in rows if not _is_trivial(row)]
    lines += [_line(row) for row in shown]
    if len(shown) < len(rows):
        lines.append(f"\nAt {len(rows) - len(shown)} more distances both deliver all or both deliver nothing.")
    return "\n".join(lines) + "\n"


def _is_trivial(row: Row) -> bool:
    """Whether it is one of many distances at which nothing is at stake."""
    return row.unit == "1" and row.what.endswith(" m") and row.reference in (0.0, 1.0) and row.difference == 0


def _line(row: Row) -> str:
    unit = "" if row.unit == "1" else f" {row.unit}"
    if row.is_relative:
        difference, tolerance = f"{row.difference:+.2%}", f"{100 * row.tolerance:g} %"
    else:
        difference, tolerance = f"{row.difference:+.4g}", f"{row.tolerance:.3g}{unit}"
    values = f"{row.reference:.5g}{unit} | {row.measured:.5g}{unit}"
    return f"| {row.what} | {values} | {difference} | {tolerance} | {YES if row.holds else NO} |"


# --- the paper's workload --------------------------------------------------------------------------------


def paper_workload(data: Path) -> str:
    """Tables of whatever has been measured of the RoboNetSim paper's workload."""
    parts = [
        "## The workload of the RoboNetSim paper\n\nSection 5.1: 50 robots per 500 x 500 m, 1 m/s, a fifth of them "
        "send 5 packets/s of 64 B to one random robot each, AODV with HELLOs, 802.11a at 6 Mbit/s, range 120 m. The "
        "same walks and packets on both sides (`benchmarks/ns3_paper.py`, `benchmarks/wifi_paper.py`), mean and 95 % "
        "confidence interval over the seeds.\n"
    ]
    for suffix, title in WORKLOADS.items():
        sides = {
            side: _summaries(data / pattern.format(suffix))
            for side, pattern in SIDES.items()
            if (data / pattern.format(suffix)).exists()
        }
        if sides:
            parts.append(f"{title}\n\n{_workload_table(sides)}")
    if len(parts) == 1:
        parts.append("Not measured yet.\n")
    return "\n".join(parts)


def _summaries(file: Path) -> dict[int, dict[str, Any]]:
    return {row["robots"]: row for row in json.loads(file.read_text())["summary"]}


def _workload_table(sides: dict[str, dict[int, dict[str, Any]]]) -> str:
    lines = [f"| robots | measure | {' | '.join(sides)} |", f"|---|---|{'---|' * len(sides)}"]
    for robots in sorted({robots for side in sides.values() for robots in side}):
        for measure, name in MEASURES.items():
            cells = [_interval(side.get(robots, {}).get(measure)) for side in sides.values()]
            if any(cells):
                lines.append(f"| {robots} | {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _interval(value: dict[str, float | None] | None) -> str:
    if value is None or value["mean"] is None:
        return ""
    half = "" if value.get("ci95") is None else f" ± {value['ci95']:.3g}"
    return f"{value['mean']:.4g}{half}"


def failures(rows: Iterable[Row]) -> list[str]:
    """Rows that do not hold, as text."""
    return [_line(row) for row in rows if not row.holds]
