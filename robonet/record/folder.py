"""The folder of a run: where it is, what is in it, and writing into it so that nothing is ever half there."""

import contextlib
import fcntl
import json
import os
import shutil
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any

import yaml

from robonet.errors import RecordError, UserError
from robonet.scenario import LoadedScenario
from robonet.scenario.schema import Scenario

SCENARIO = "scenario.yaml"
SUMMARY = "summary.json"
TABLES = "tables"
LOGS = "logs"
CAPTURES = "captures"
FLOWS = "flows.xml"
MARK = ".robonet-"
"""Begins the names of the files that tell a run folder from any other, and one in use from one at rest."""


class RunFolder:
    """What a run leaves behind."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: IO[bytes] | None = None

    def lock(self, name: str = "run") -> None:
        """Mark the folder as that of a run, and keep it to this process for as long as it lives."""
        lock = (self.path / f"{MARK}{name}").open("ab")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            lock.close()
            raise UserError(f"{self.path} is in use by a run that is still going on") from error
        self._lock = lock

    def release(self) -> None:
        """Leave the folder to another process."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    @property
    def is_in_use(self) -> bool:
        """Whether a run is going on in it."""
        try:
            with (self.path / f"{MARK}run").open("rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    @property
    def tables(self) -> Path:
        """The tables, a folder of Parquet files each."""
        return self.path / TABLES

    def log(self, side: str) -> Path:
        """What a side printed."""
        return self.path / LOGS / f"{side}.log"

    def write_summary(self, summary: dict[str, Any]) -> None:
        """Write summary.json, whole or not at all."""
        self._write(SUMMARY, json.dumps(summary, indent=2, allow_nan=False) + "\n")

    def read_summary(self) -> dict[str, Any] | None:
        """The summary, if the run got to write one."""
        try:
            found: Any = json.loads((self.path / SUMMARY).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise UserError(f"cannot read {self.path / SUMMARY}: {error}") from error
        if not isinstance(found, dict) or "packets" not in found:
            raise UserError(f"{self.path / SUMMARY} is not a summary of a run")
        return found

    def write_scenario(self, loaded: LoadedScenario) -> Path:
        """Write the scenario as resolved: it can be run again from here."""
        text = yaml.safe_dump(resolved(loaded), sort_keys=False, allow_unicode=True, width=110)
        self._write(SCENARIO, text)
        return self.path / SCENARIO

    def _write(self, name: str, text: str) -> None:
        path = self.path / name
        hidden = path.with_name(f".{name}.{os.getpid()}")
        try:
            hidden.write_text(text, encoding="utf-8")
            hidden.replace(path)
        except OSError as error:
            with contextlib.suppress(OSError):
                hidden.unlink(missing_ok=True)
            raise RecordError(f"cannot write {path}: {error.strerror}") from error


def resolved(loaded: LoadedScenario) -> dict[str, Any]:
    """The scenario as plain data with variants applied and file names that hold from anywhere."""
    data: dict[str, Any] = _plain(loaded.scenario.model_dump(exclude_unset=True, exclude={"variants"}))
    base = loaded.base.resolve()
    devices = [entry.get("devices", {}) for entry in (*data.get("robots", ()), *data.get("kinds", ()))]
    for entry in [
        data,
        *data.get("robots", ()),
        *data.get("stations", ()),
        *data.get("hooks", ()),
        *data.get("engines", ()),
        *(custom for carried in devices for custom in carried.get("custom", {}).values()),
        data.get("network", {}),
    ]:
        for key in ("controller", "hook", "model", "engine", "device"):
            reference = entry.get(key)
            if isinstance(reference, str) and reference.rpartition(":")[0].endswith(".py"):
                entry[key] = str(base / reference)
    arena = data.get("arena", {})
    motions = [entry.get("motion") or {} for entry in data.get("robots", ())]
    for source in [motion.get(kind) for motion in motions for kind in ("ns2", "csv")] + [arena.get("bitmap")]:
        if source:
            source["file"] = str(base / source["file"])
    if arena.get("floor", {}).get("image"):
        arena["floor"]["image"] = str(base / arena["floor"]["image"])
    return data


def _plain(data: Any) -> Any:
    """The same with lists for tuples, as YAML has them; nothing else is changed, not even an infinity."""
    if isinstance(data, dict):
        return {key: _plain(value) for key, value in data.items()}
    return [_plain(item) for item in data] if isinstance(data, tuple) else data


def scenario_hash(scenario: Scenario) -> str:
    """Eight digits that tell scenarios apart, whatever their seed and wherever they lie."""
    text = repr(scenario.model_dump(exclude={"seed", "variants", "description"}))
    return blake2b(text.encode(), digest_size=4).hexdigest()


def create_run_folder(scenario: Scenario, out: Path | None) -> RunFolder:
    """Make `out`, or a new folder under runs/; an earlier run in `out` is replaced, anything else is not touched."""
    try:
        if out is not None:
            _refuse_foreign(out)
            out.mkdir(parents=True, exist_ok=True)
            folder = RunFolder(out)
            folder.lock()
            _clear(folder)
        else:
            name = f"{scenario.name}-{scenario.seed}-{scenario_hash(scenario)}"
            folder = RunFolder(_new_below(Path("runs"), name))
            folder.lock()
        (folder.path / LOGS).mkdir(exist_ok=True)
        folder.tables.mkdir(exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot make the run folder: {error.filename}: {error.strerror}") from error
    return folder


TABLES_OF = {
    "robots": ("poses", "objects", "walls", "sends", "deliveries"),
    "network": ("packets", "receptions", "hops", "radios", "flows"),
}


def begin_side(path: Path, side: str, loaded: LoadedScenario) -> RunFolder:
    """A folder for a side that was started by hand: what an earlier run of that side left there is taken away."""
    folder = RunFolder(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
        folder.lock(side)
        for table in TABLES_OF[side]:
            shutil.rmtree(folder.tables / table, ignore_errors=True)
        if side == "network":
            _clear_network_files(folder)
        folder.tables.mkdir(parents=True, exist_ok=True)
        if side == "robots":
            (path / SUMMARY).unlink(missing_ok=True)
            folder.write_scenario(loaded)
    except OSError as error:
        raise UserError(f"cannot write to {path}: {error.strerror}") from error
    return folder


def _refuse_foreign(out: Path) -> None:
    """Only what is empty or bears the mark of an earlier run may be written to."""
    if out.exists() and not out.is_dir():
        raise UserError(f"--out {out} is a file")
    if out.is_dir() and any(out.iterdir()) and not (out / f"{MARK}run").exists():
        raise UserError(f"--out {out} is not empty and holds no earlier run; name another folder")


def _clear(folder: RunFolder) -> None:
    """Take away what a run leaves, and nothing else."""
    for name in (SUMMARY, SCENARIO, f"{LOGS}/robots.log", f"{LOGS}/network.log"):
        (folder.path / name).unlink(missing_ok=True)
    for table in (table for tables in TABLES_OF.values() for table in tables):
        shutil.rmtree(folder.tables / table, ignore_errors=True)
    _clear_network_files(folder)


def _clear_network_files(folder: RunFolder) -> None:
    (folder.path / FLOWS).unlink(missing_ok=True)
    for capture in (folder.path / CAPTURES).glob("*.pcap"):
        capture.unlink(missing_ok=True)


def _new_below(parent: Path, name: str) -> Path:
    parent.mkdir(parents=True, exist_ok=True)
    number = 1
    while True:
        path = parent / (name if number == 1 else f"{name}-{number}")
        try:
            path.mkdir()
        except FileExistsError:
            number += 1
        else:
            return path
