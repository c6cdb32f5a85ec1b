"""A summary of a run that never got to write one: read off the tables that it left."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from robonet.clock import ns_from_s
from robonet.record.folder import SCENARIO, RunFolder
from robonet.record.statistics import delay_figures, hop_figures
from robonet.record.summary import RobotsReport, compose
from robonet.record.tables import read_table
from robonet.scenario import load_recorded

Columns = dict[str, np.ndarray[Any, Any]]


def recover_summary(folder: RunFolder, status: str, wall_s: float = 0.0, startup_s: float = 0.0) -> dict[str, Any]:
    """As much as the tables say; packets without a known fate ended with the run."""
    scenario = load_recorded(folder.path / SCENARIO)
    poses, deliveries = read_table(folder.tables / "poses"), read_table(folder.tables / "deliveries")
    step_ns = ns_from_s(scenario.step_s)
    steps = int(poses["time_ns"].max()) // step_ns if poses is not None else 0
    sends = _before(read_table(folder.tables / "sends"), steps * step_ns)
    seen: list[int] = []
    if deliveries is not None and sends is not None:
        unicast = np.isin(deliveries["packet"], sends["packet"][sends["kind"] == "unicast"])
        seen = (deliveries["seen_ns"] - deliveries["sent_ns"])[unicast].tolist()
    report = RobotsReport(
        status=status,
        steps=steps,
        step_ns=step_ns,
        seen_delays_ns=seen,
        digests={},
        metrics={},
        wall_s=wall_s,
        startup_s=startup_s,
        stepping_s=0.0,
        cpu_s=0.0,
        exchange_s=0.0,
        waiting_s=0.0,
        model=scenario.network.model,
    )
    summary = compose(scenario, report, _network_report(folder.tables, sends, steps * step_ns), str(folder.path))
    summary["digest"] = None
    for key in ("robots_cpu_s", "exchange_s", "waiting_robots_s", "real_time_factor"):
        summary["time"][key] = None
    return summary


def _before(columns: Columns | None, end_ns: int) -> Columns | None:
    """The rows of what was sent before a time."""
    if columns is None:
        return None
    early = columns["sent_ns"] < end_ns
    return {name: column[early] for name, column in columns.items()}


def _network_report(tables: Path, sends: Columns | None, end_ns: int) -> dict[str, Any]:
    """What the network's tables say of the time that the robots' tables cover too: a killed side may lag behind."""
    packets, receptions = (_before(read_table(tables / name), end_ns) for name in ("packets", "receptions"))
    fates: Counter[str] = Counter(packets["fate"].tolist() if packets is not None else ())
    known = set(packets["packet"].tolist()) if packets is not None else set()
    heard = set(receptions["packet"].tolist()) if receptions is not None else set()
    sent_broadcasts, sent_groups = set(), set()
    if sends is not None:
        kinds, numbers = sends["kind"], sends["packet"]
        fates["run_ended"] += len(set(numbers[kinds == "unicast"].tolist()) - known)
        sent_broadcasts = set(numbers[kinds == "broadcast"].tolist())
        sent_groups = set(numbers[kinds == "group"].tolist())
    delivered = fates.pop("delivered", 0)
    dropped = {str(fate): count for fate, count in sorted(fates.items()) if count}
    arrived = packets["fate"] == "delivered" if packets is not None else None
    heard_list = receptions["packet"].tolist() if receptions is not None else []
    in_groups = sum(packet in sent_groups for packet in heard_list)
    return {
        "packets": {"sent": delivered + sum(dropped.values()), "delivered": delivered, "dropped": dropped},
        "broadcasts": {
            "sent": len(sent_broadcasts | (heard - sent_groups)),
            "receptions": len(heard_list) - in_groups,
        },
        "multicasts": {"sent": len(sent_groups), "receptions": in_groups},
        "delay_s": delay_figures((packets["ended_ns"] - packets["sent_ns"])[arrived] if packets is not None else []),
        "hops": hop_figures(packets["hops"][arrived] if packets is not None else []),
    }
