"""Writes tests/golden.json: what the shipped scenarios do in their first five seconds."""

import json
import tempfile

from conftest import ROOT, run_json


def golden(path):
    with tempfile.TemporaryDirectory() as folder:
        summary = run_json(ROOT / path, "--duration", "5", "--out", f"{folder}/out")
    found = {key: summary[key] for key in ("packets", "broadcasts", "metrics")}
    return {**found, "traffic": summary["digests"]["traffic"]}


if __name__ == "__main__":
    paths = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("scenarios/**/*.yaml"))
    text = json.dumps({path: golden(path) for path in paths}, indent=2)
    (ROOT / "tests" / "golden.json").write_text(text + "\n")
