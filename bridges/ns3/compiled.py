"""C++ against the ns-3 wheel, compiled once and kept: libraries for this process, programs to run beside it."""

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from .wheel import Wheel

FOLDER = Path(__file__).parent / "core"
COMPILER = "g++"
FLAGS = ("-O2", "-std=c++20", "-fPIC", "-w")  # -w: ns-3's own headers warn
COMPILE_SECONDS = 300
MODULES = (
    "flow-monitor", "dsdv", "olsr", "aodv", "wifi", "spectrum", "antenna", "energy", "internet", "traffic-control",
    "bridge", "propagation", "mobility", "stats", "network", "core",
)  # fmt: skip
"""Those that the core uses, each before those that it needs."""


class CannotCompile(Exception):
    """There is no compiler, or it does not take the source; the message says which."""


def compiled(wheel: Wheel, source: str, *, is_library: bool, modules: tuple[str, ...] = MODULES) -> Path:
    """The library or program made of a source file; compiles it where this source, wheel and compiler are new."""
    compiler = shutil.which(COMPILER)
    if compiler is None:
        raise CannotCompile(f"there is no {COMPILER} on the PATH")
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    flags = [*FLAGS, *(["-shared"] if is_library else [])]
    texts = [path.read_text(encoding="utf-8") for path in (FOLDER / source, *sorted(FOLDER.glob("*.h")))]
    # The libraries' folder is part of the key: what is made looks for them where they were when it was linked.
    parts = (*texts, wheel.version, str(wheel.libraries), version, *flags)
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
    made = _cache_folder() / f"{Path(source).stem}-{wheel.version}-{key}{'.so' if is_library else ''}"
    if not made.exists():
        command = [compiler, *flags, f"-I{wheel.include}", str(FOLDER / source), f"-L{wheel.libraries}"]
        command += [f"-Wl,-rpath,{wheel.libraries}"]
        command += [f"-l{wheel.prefix}{module}" for module in modules]
        _compile(command, made, wheel)
    return made


def _cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base) / "robonet" / "ns3"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotCompile(f"there is no place to keep what is compiled, {folder}: {error.strerror}") from error
    return folder


def _compile(command: list[str], made: Path, wheel: Wheel) -> None:
    try:
        with tempfile.TemporaryDirectory(dir=made.parent) as folder:  # then renamed: nobody loads half a library
            fresh = Path(folder) / made.name
            done = subprocess.run(
                [*command, "-o", str(fresh)], capture_output=True, text=True, timeout=COMPILE_SECONDS, check=False
            )
            if done.returncode != 0:
                lines = done.stderr.strip().splitlines()
                errors = "\n".join([line for line in lines if "error" in line][:10] or lines[-10:])
                raise CannotCompile(f"{COMPILER} does not take the core against ns-3 {wheel.version}:\n{errors}")
            fresh.replace(made)
    except subprocess.TimeoutExpired:
        raise CannotCompile(f"{COMPILER} took more than {COMPILE_SECONDS} s") from None
    except OSError as error:
        raise CannotCompile(f"cannot write {made}: {error.strerror}") from error
