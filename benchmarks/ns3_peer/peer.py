"""Compile workload.cpp against the ns-3 wheel, once, and run it.

The wheel (`pip install ns3`) holds ns-3's headers and libraries beside its Python bindings. The bindings are not
used: importing them takes 15 s of CPU. ns-3 runs in a process of its own, because it aborts on errors.
"""

import hashlib
import importlib.metadata
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

SOURCE = Path(__file__).with_name("workload.cpp")
MODULES = ("aodv", "wifi", "internet", "traffic-control", "propagation", "mobility", "network", "core")
FLAGS = ("-O2", "-std=c++20", "-w")  # -w: ns-3's own headers warn
COMPILER = "g++"
COMPILE_SECONDS = 300


class Ns3Unavailable(RuntimeError):
    """The wheel or the compiler is missing, or they do not fit together."""


class Ns3Failed(RuntimeError):
    """ns-3 ended with an error, or took too long; the message ends with what it printed."""


class Wheel(NamedTuple):
    """An installed ns-3 wheel."""

    version: str
    include: Path
    lib: Path
    prefix: str
    """What its libraries' names begin with, such as `ns3.44-`."""


def find_wheel() -> Wheel:
    """The wheel installed beside this Python."""
    try:
        distribution = importlib.metadata.distribution("ns3")
    except importlib.metadata.PackageNotFoundError:
        raise Ns3Unavailable("ns-3 is not installed here: pip install ns3") from None
    root = Path(str(distribution.locate_file("ns3")))
    cores = sorted(root.glob("lib*/libns3*-core.so"))
    if not cores or not (root / "include" / "ns3").is_dir():
        raise Ns3Unavailable(f"{root} holds no ns-3 headers and libraries: pip install --force-reinstall ns3")
    prefix = cores[0].name.removeprefix("lib").removesuffix("core.so")
    return Wheel(distribution.version, root / "include", cores[0].parent, prefix)


def program() -> Path:
    """The compiled program; compiles it if this source, wheel and compiler have not met before."""
    wheel = find_wheel()
    compiler = shutil.which(COMPILER)
    if compiler is None:
        raise Ns3Unavailable(f"{COMPILER} is not on the PATH: ns-3's side is C++ (Debian: apt install g++)")
    compiler_version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    # The libraries' folder is part of the key: the program looks for them where they were when it was linked.
    parts = (SOURCE.read_text(), wheel.version, str(wheel.lib), compiler_version, *FLAGS)
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
    binary = _cache_folder() / f"workload-{wheel.version}-{key}"
    if not binary.exists():
        _compile(compiler, wheel, binary)
    return binary


def run(
    workload_file: str | Path,
    seed: int,
    *,
    packets_file: str | Path | None = None,
    counts_frames: bool = True,
    counts_phy_drops: bool = False,
    niceness: int = 0,
    timeout_s: float | None = None,
) -> dict[str, Any]:
    """Play a workload file on ns-3 with this run number; answers with its counts and CPU seconds."""
    command = [str(program()), f"--workload={workload_file}", f"--run={seed}", f"--frames={int(counts_frames)}"]
    command.append(f"--phy-drops={int(counts_phy_drops)}")
    if packets_file is not None:
        command.append(f"--packets={packets_file}")
    if niceness:
        command = ["nice", "-n", str(niceness), *command]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired:
        raise Ns3Failed(f"ns-3 did not end within {timeout_s:g} s on {workload_file}, run {seed}") from None
    if done.returncode != 0:
        last = "\n".join(done.stderr.strip().splitlines()[-20:])
        raise Ns3Failed(f"ns-3 ended with status {done.returncode} on {workload_file}, run {seed}:\n{last}")
    return json.loads(done.stdout)


def read_packets(packets_file: str | Path) -> np.ndarray:
    """What `run` wrote there: int64 (packets, 2), arrival in ns and hops, both -1 for a packet that was lost."""
    return np.loadtxt(packets_file, dtype=np.int64, skiprows=1, usecols=(1, 2), ndmin=2)


def _cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base) / "robonet" / "ns3_peer"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _compile(compiler: str, wheel: Wheel, binary: Path) -> None:
    with tempfile.TemporaryDirectory(dir=binary.parent) as folder:  # then renamed: nobody runs half a program
        made = Path(folder) / binary.name
        command = [compiler, *FLAGS, f"-I{wheel.include}", str(SOURCE), "-o", str(made), f"-L{wheel.lib}"]
        command += [f"-Wl,-rpath,{wheel.lib}", *(f"-l{wheel.prefix}{module}" for module in MODULES)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=COMPILE_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            raise Ns3Unavailable(f"{COMPILER} took more than {COMPILE_SECONDS} s over {SOURCE.name}") from None
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines()
            errors = "\n".join([line for line in lines if "error" in line][:10] or lines[-10:])
            raise Ns3Unavailable(f"{COMPILER} cannot compile {SOURCE.name} against ns-3 {wheel.version}:\n{errors}")
        made.replace(binary)
