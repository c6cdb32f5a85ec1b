"""Rows of measurements: their averages over the seeds, and the file they are kept in."""

import json
from pathlib import Path
from typing import Any

from robonet.record.statistics import mean_interval

AODV_KINDS = ("rreq", "rrep", "rerr", "hello")


def measures(row: dict[str, Any]) -> dict[str, float | None]:
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
        **{f"{kind}_per_s": kinds.get(kind, 0) / seconds for kind in AODV_KINDS},
        "data_frames_per_s": kinds["data"] / seconds,
        "frames_per_s": row["frames"] / seconds,
        "mac_retries_per_s": row["mac_retries"] / seconds,
        "events_per_s": row["events"] / seconds if "events" in row else None,
        "cpu_s_per_s": row["cpu_s"] / seconds,
    }


def summary_of(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    summary = []
    for robots in dict.fromkeys(row["robots"] for row in rows):
        runs = [measures(row) for row in rows if row["robots"] == robots]
        means = {name: mean_and_half_width([run[name] for run in runs]) for name in runs[0]}
        summary.append({"robots": robots, "runs": len(runs), **means})
    return summary


def mean_and_half_width(values: list[float | None]) -> dict[str, float | None]:
    """Mean and half of its 95 % interval; a run that delivered nothing has no delay and is left out."""
    mean, half_width, _ = mean_interval([value for value in values if value is not None])
    return {
        "mean": None if mean is None else float(f"{mean:.6g}"),
        "ci95": None if half_width is None else float(f"{half_width:.3g}"),
    }


def write_rows(path: Path, result: dict[str, Any]) -> None:
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
