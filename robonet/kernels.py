"""How loops over robots are compiled: numba, cached on disk, exact arithmetic (no fastmath).

A kernel may call kernels of other files, and numba looks only at a kernel's own file when it asks whether its
cached code is still good. So the cache is kept under a name made from all of them: whatever changes, it is anew.
"""

import tempfile
from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba import config
from numba.core.options import DefaultOptions

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile a loop over plain arrays; results are the same on every machine with IEEE arithmetic."""
    return _compiled(function, {"error_model": "numpy"})


def bare_kernel(function: Function) -> Function:
    """Compile code that makes no arrays: nothing counts references, which is most of the cost of small calls."""
    return _compiled(function, _bare({"error_model": "numpy"}))


def rows_kernel(function: Function) -> Function:
    """Compile a loop over a range of rows that makes no arrays; several threads may run it, each on its own rows."""
    return _compiled(function, _bare({"error_model": "numpy", "nogil": True}))


def _bare(options: dict[str, Any]) -> dict[str, Any]:
    if hasattr(DefaultOptions, "_nrt"):  # not promised by numba; without it all is right, and slower
        options["_nrt"] = False
    return options


def _compiled(function: Function, options: dict[str, Any]) -> Function:
    chosen = config.CACHE_DIR
    config.CACHE_DIR = _cache_folder(chosen)
    try:
        return cast(Function, numba.njit(cache=True, **options)(function))
    except RuntimeError:  # there is no place to keep a cache, e.g. a read-only install without a home
        return cast(Function, numba.njit(**options)(function))
    finally:
        config.CACHE_DIR = chosen


@cache
def _cache_folder(chosen: str) -> str:
    """A folder for this state of the kernels, where numba was told or beside the sources.

    Nothing, which leaves the place to numba, where none can be made.
    """
    package = Path(__file__).parent
    stamp = blake2b(digest_size=8)
    for path in sorted(package.rglob("*.py")):
        source = path.read_bytes()
        if b"robonet.kernels" in source:
            stamp.update(source)
    folder = Path(chosen or package / "__pycache__") / f"kernels-{stamp.hexdigest()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return str(folder)
    except OSError:
        return ""
