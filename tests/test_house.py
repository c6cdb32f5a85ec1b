"""The rules of the house, checked: who may import whom, types, style, documentation that is true."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

PACKAGE = ROOT / "robonet"

MAY_IMPORT = {
    "scenario": set(),
    "link": {"scenario"},
    "record": {"scenario", "link"},
    "robots": {"scenario", "link", "record"},
    "network": {"scenario", "link", "record"},
    "swarm": {"robots"},
    "experiments": {"scenario", "record", "runs", "one_process"},
    "imports": {"scenario"},
}
"""Rooms, and the rooms each may know besides the shared furniture at the top level."""

FURNITURE = {"errors", "blame", "clock", "streams", "kernels", "space", "plugins", "threads"}
"""Small modules without knowledge of any room."""


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            if node.module == "robonet":
                yield from (f"robonet.{alias.name}" for alias in node.names)


def own_imports(path):
    for name in imports(path):
        parts = name.split(".")
        if parts[0] == "robonet" and len(parts) > 1 and not parts[1].startswith("__"):
            yield parts[1]


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_rooms_know_only_whom_they_may(room):
    for path in (PACKAGE / room).rglob("*.py"):
        strangers = set(own_imports(path)) - MAY_IMPORT[room] - FURNITURE - {room}
        assert not strangers, f"{path.relative_to(ROOT)} imports {strangers}"


def test_furniture_knows_no_room():
    for name in FURNITURE:
        strangers = set(own_imports(PACKAGE / f"{name}.py")) - FURNITURE
        assert not strangers, f"{name} imports {strangers}"


def test_every_room_is_listed():
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert rooms == set(MAY_IMPORT)


MODELS = [p for p in (PACKAGE / "network").rglob("*.py") if p.name != "process.py"] + [
    p for p in (PACKAGE / "robots").rglob("*.py") if p.name != "process.py"
]


@pytest.mark.parametrize("path", MODELS, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_models_know_neither_sockets_nor_processes(path):
    banned = {"zmq", "socket", "subprocess", "multiprocessing", "threading", "signal", "time"}
    assert not banned & {name.split(".")[0] for name in imports(path)}


def test_no_pickle_anywhere():
    for path in PACKAGE.rglob("*.py"):
        names = {name.split(".")[0] for name in imports(path)}
        assert not names & {"pickle", "marshal", "shelve", "dill", "cloudpickle"}, path
        assert "pyobj" not in path.read_text(), path


def test_importing_the_command_line_is_cheap():
    heavy = ["numba", "numpy", "zmq", "simpy", "pyarrow", "rich", "pydantic"]
    code = f"import sys, robonet.cli; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_ruff():
    for arguments in (["check"], ["format", "--check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *arguments, "robonet", "bridges", "tests", "benchmarks", "scenarios"],
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout


@pytest.mark.timeout(300)
def test_mypy():
    done = subprocess.run([sys.executable, "-m", "mypy"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def tracked():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.splitlines() if (ROOT / name).is_file()]


def test_no_path_of_a_machine_in_any_file():
    pattern = re.compile(r"/(home|Users)/[a-z]+/|/[r]oot/")
    for path in tracked():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        assert not pattern.search(text), path


def test_links_between_documents_lead_somewhere():
    for path in (p for p in tracked() if p.suffix == ".md"):
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", path.read_text()):
            assert (path.parent / target).exists(), f"{path.name} points to {target}"


def test_commands_in_the_readme_exist():
    text = (ROOT / "README.md").read_text()
    named = set(re.findall(r"(?m)^\s*robonet (\w+)", text)) | set(re.findall(r"`robonet (\w+)", text))
    from robonet.cli import _parser

    known = set(next(a.choices for a in _parser()._actions if a.choices))
    assert named and named <= known
    for script in re.findall(r"scripts/\w+|benchmarks/\w+\.py", text):
        assert (ROOT / script).exists(), script


def test_the_version_is_in_the_changelog():
    from robonet import __version__

    assert f"## {__version__}" in (Path(ROOT) / "CHANGELOG.md").read_text()
