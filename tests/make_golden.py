"""Writes tests/golden.json: what the shipped scenarios do in their first five seconds."""

import json
import tempfile
from hashlib import blake2b
from pathlib import Path

import numpy as np
from conftest import ROOT, run_json, shipped_scenarios

from robonet.record.tables import read_table


def golden(path):
    """Counts, metrics, the traffic to the bit, and the motion to a micrometre: C libraries differ in last bits."""
    with tempfile.TemporaryDirectory() as folder:
        summary = run_json(ROOT / path, "--duration", "5", "--out", f"{folder}/out")
        poses = read_table(Path(folder) / "out" / "tables" / "poses")
    found = {key: summary[key] for key in ("packets", "broadcasts", "metrics")}
    found["traffic"] = summary["digests"]["traffic"]
    motion = np.round(np.stack([poses[name] for name in ("x_m", "y_m")]), 6) + 0.0  # no minus zeros
    found["motion"] = blake2b(motion.tobytes(), digest_size=16).hexdigest()
    return found


if __name__ == "__main__":
    text = json.dumps({path: golden(path) for path in shipped_scenarios()}, indent=2)
    (ROOT / "tests" / "golden.json").write_text(text + "\n")
