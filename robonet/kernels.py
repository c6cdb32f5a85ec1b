"""How loops over robots are compiled: numba, cached on disk, exact arithmetic (no fastmath)."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile a loop over plain arrays; results are the same on every machine with IEEE arithmetic."""
    options = {"error_model": "numpy"}
    try:
        return cast(Function, numba.njit(cache=True, **options)(function))
    except RuntimeError:  # there is no place to keep a cache, e.g. a read-only install without a home
        return cast(Function, numba.njit(**options)(function))
