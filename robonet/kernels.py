"""How loops over robots are compiled: numba, cached on disk, exact arithmetic (no fastmath)."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile a loop over plain arrays; results are the same on every machine with IEEE arithmetic."""
    return cast(Function, numba.njit(cache=True, error_model="numpy")(function))
