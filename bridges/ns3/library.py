"""The core of ns-3 in this process: compiled and loaded by ctypes, or handed to cppyy's just-in-time compiler.

Either way it is five functions that take and answer numbers: times, counts and addresses.
"""

import ctypes
import json
import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from robonet.errors import UserError
from robonet.link.simulators import Floats, Records

from .compiled import CORE, CannotCompile, compiled, modules_for
from .wheel import INSTALL, Wheel, find_wheel

EVENT = np.dtype(
    [
        ("packet", "<u8"), ("sent", "<i8"), ("time", "<i8"), ("source", "<u4"), ("destination", "<u4"), ("size", "<u4"),
        ("node", "<u4"), ("signal_dbm", "<f4"), ("hops", "<u2"), ("kind", "u1"), ("reason", "u1"),
    ]
)  # fmt: skip
"""Something that became of a packet (core/fates.h)."""
ARRIVED, DROPPED = range(2)
REASONS = ("unknown", "no_route", "ttl", "queue_full", "retry_limit", "lifetime", "lost", "too_long")
"""Why packets are given up, by the core's numbers."""

_NUMBER = ctypes.c_uint64
_TABLE = "robonet_ns3_functions"
_FUNCTIONS: dict[str, list[Any]] = {
    "start": [_NUMBER],
    "step": [ctypes.c_int64, _NUMBER, _NUMBER, _NUMBER, _NUMBER],
    "events": [],
    "queues": [],
    "end": [],
}
"""What the core's table of addresses holds, in its order."""

Functions = dict[str, Callable[..., int]]


class Core:
    """One ns-3 simulation; there is one in a process at a time."""

    def __init__(self, functions: Functions, loader: str, version: str) -> None:
        self._functions = functions
        self.loader = loader
        self.version = version

    def start(self, description: str) -> str:
        """Build the network; what is wrong, or nothing."""
        text = ctypes.create_string_buffer(description.encode())
        return _text_at(self._functions["start"](ctypes.addressof(text)))

    def step(self, until: int, positions_m: Floats, rows: Records, payloads: bytes | None) -> list[Any]:
        """Simulate up to and including `until`; EVENT records of what became of packets."""
        positions = np.ascontiguousarray(positions_m, dtype=np.float64)
        sends = np.ascontiguousarray(rows)
        there = np.frombuffer(payloads, dtype=np.uint8) if payloads else None
        count = self._functions["step"](
            until, positions.ctypes.data, sends.ctypes.data, len(sends), there.ctypes.data if there is not None else 0
        )
        if not count:
            return []
        memory = (ctypes.c_char * (count * EVENT.itemsize)).from_address(self._functions["events"]())
        events: list[Any] = np.frombuffer(memory, EVENT).tolist()
        return events

    def queues(self, nodes: int) -> "np.ndarray[Any, np.dtype[np.uint32]]":
        """How many frames wait at each radio."""
        memory = (ctypes.c_uint32 * nodes).from_address(self._functions["queues"]())
        return np.array(memory, dtype=np.uint32)

    def end(self) -> dict[str, Any]:
        """Write what is left to be written, take everything down; the counts."""
        counts: dict[str, Any] = json.loads(_text_at(self._functions["end"]()))
        return counts


def load_core(loader: str = "auto", *, with_netanim: bool = False) -> Core:
    """The core: compiled where there is a compiler, else just in time."""
    wheel = find_wheel()
    if loader != "jit":
        try:
            return Core(_load_compiled(wheel, with_netanim=with_netanim), "compiled", wheel.version)
        except CannotCompile as error:
            if loader == "compiled":
                raise UserError(f"network.ns3.loader is 'compiled', but {error}") from error
            print(f"ns-3's core is compiled just in time: {error}", file=sys.stderr)  # noqa: T201  (into the log)
    return Core(_load_jit(wheel, with_netanim=with_netanim), "jit", wheel.version)


@cache
def _load_compiled(wheel: Wheel, *, with_netanim: bool) -> Functions:
    path = compiled(wheel, "core.cpp", is_library=True, with_netanim=with_netanim)
    addresses = (_NUMBER * len(_FUNCTIONS)).in_dll(_open_lazily(str(path)), _TABLE)
    return _functions_at(list(addresses))


def _open_lazily(path: str) -> ctypes.CDLL:
    """As the linker would: ctypes binds all functions at once, and NetAnim's libraries lack some that are never used."""
    system = ctypes.CDLL(None)
    system.dlopen.argtypes, system.dlopen.restype = [ctypes.c_char_p, ctypes.c_int], ctypes.c_void_p
    system.dlerror.restype = ctypes.c_char_p
    handle = system.dlopen(path.encode(), os.RTLD_LAZY | os.RTLD_LOCAL)
    if not handle:
        raise CannotCompile(f"cannot load {path}: {system.dlerror().decode()}")
    return ctypes.CDLL(path, handle=handle)


@cache  # a just-in-time compiler takes every definition once
def _load_jit(wheel: Wheel, *, with_netanim: bool) -> Functions:
    try:
        import cppyy
    except ImportError as error:
        raise UserError(f"ns-3 needs cppyy where there is no g++, and cannot load it ({error}): {INSTALL}") from error
    for module in reversed(modules_for(with_netanim=with_netanim)):  # libraries before headers, or cling warns
        cppyy.load_library(str(wheel.library(module)))
    cppyy.add_include_path(str(wheel.include))
    cppyy.add_include_path(str(CORE))
    define = "#define ROBONET_WITH_NETANIM\n" if with_netanim else ""
    cppyy.cppdef(f'{define}#include "core.cpp"\n')
    addresses: Any = getattr(cppyy.gbl, _TABLE)
    return _functions_at([int(addresses[number]) for number in range(len(_FUNCTIONS))])


def _functions_at(addresses: list[int]) -> Functions:
    """Called by ctypes either way: it lets other threads run meanwhile, such as the link's signs of life."""
    pairs = zip(_FUNCTIONS.items(), addresses, strict=True)
    return {name: ctypes.CFUNCTYPE(_NUMBER, *arguments)(address) for (name, arguments), address in pairs}


def _text_at(address: int) -> str:
    return ctypes.string_at(address).decode(errors="replace") if address else ""
