"""What is installed and usable here."""

import importlib.util
import os
import platform
import shutil
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple

from rich.markup import escape
from rich.table import Table

from robonet import __version__
from robonet.plugins import FAMILIES, present


class Finding(NamedTuple):
    """One line of the diagnosis."""

    part: str
    name: str
    is_usable: bool
    text: str


def diagnosis() -> list[Finding]:
    """Look at everything that a run may need; starts nothing."""
    found = [
        Finding("robonet", "version", True, f"{__version__} on Python {platform.python_version()}, {sys.platform}"),
        Finding(
            "robonet",
            "threads",
            True,
            f"{_cores()} cores usable; a run takes two processes, robots with `threads` of the scenario",
        ),
    ]
    for package in (
        "numpy",
        "numba",
        "pyzmq",
        "msgspec",
        "pydantic",
        "pyyaml",
        "rich",
        "simpy",
        "pyarrow",
        "pymunk",
        "pillow",
    ):
        try:
            found.append(Finding("package", package, True, version(package)))
        except PackageNotFoundError:
            found.append(Finding("package", package, False, f"pip install {package}"))
    found += _transports()
    for family in ("networks", "engines"):
        for name, plugin in FAMILIES[family].items():
            problem = _problem_with(name, present(plugin.home).partition(":")[0])
            found.append(Finding(family.rstrip("s"), name, problem is None, problem or plugin.help))
    for extra, packages in (
        ("test", ("pytest", "hypothesis", "mypy", "ruff")),
        ("benchmarks", ("helics", "mosaik")),
    ):
        missing = [package for package in packages if importlib.util.find_spec(package) is None]
        text = f"pip install -e '.[{extra}]' (missing: {', '.join(missing)})" if missing else "installed"
        found.append(Finding("extra", extra, not missing, text))
    for tool, purpose in (
        ("podman", "containers"),
        ("docker", "containers"),
        ("ip", "network namespaces"),
        ("g++", "a fast start of ns-3"),
        ("tshark", "reading captures"),
    ):
        path = shutil.which(tool)
        found.append(Finding("tool", tool, path is not None, purpose if path else f"not found; only for {purpose}"))
    return found


def _problem_with(name: str, module: str) -> str | None:
    """What is missing for a plug-in to work."""
    if name == "ns3" and importlib.util.find_spec("ns3") is None:
        return "ns-3 is not installed: pip install 'robonet[ns3]'"
    if name == "ns2" and shutil.which("ns") is None:
        return "ns-2 is not installed: apt-get install ns2"
    if name == "dynamics3d" and importlib.util.find_spec("mujoco") is None:
        return "MuJoCo is not installed: pip install 'robonet[mujoco]'"
    try:
        return None if importlib.util.find_spec(module) is not None else f"{module} is missing"
    except ModuleNotFoundError:
        return f"{module} is missing"


def _transports() -> list[Finding]:
    import zmq

    has_curve = zmq.has("curve")
    return [
        Finding("link", "ipc", bool(zmq.has("ipc")), "the two sides on one machine"),
        Finding("link", "tcp", True, "across machines; loopback needs no keys"),
        Finding("link", "curve", has_curve, "keys for other machines" if has_curve else "this libzmq has no CURVE"),
    ]


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def findings_table(findings: list[Finding]) -> Table:
    """The diagnosis, for people."""
    table = Table(box=None, show_header=False, padding=(0, 2))
    for finding in findings:
        mark = "[green]✓[/]" if finding.is_usable else "[yellow]–[/]"
        table.add_row(mark, finding.part, f"[bold]{finding.name}[/]", escape(finding.text))
    return table
