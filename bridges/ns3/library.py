"""The core of ns-3 in this process: compiled and loaded by ctypes, or handed to cppyy's just-in-time compiler.

Either way it is a few functions that take and answer numbers: times, counts and addresses.
"""

import ctypes
import json
import os
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from robonet.errors import UserError
from robonet.link.simulators import Floats, Records

from .compiled import FOLDER, MODULES, CannotCompile, compiled
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
Functions = dict[str, Callable[..., int]]


class Part(NamedTuple):
    """A source file, what it is linked with, and the functions in its table of addresses, in their order."""

    source: str
    modules: tuple[str, ...]
    table: str
    functions: tuple[tuple[str, tuple[Any, ...]], ...]


CORE = Part(
    "core.cpp",
    MODULES,
    "robonet_ns3_functions",
    (
        ("start", (_NUMBER,)),
        ("step", (ctypes.c_int64, _NUMBER, _NUMBER, _NUMBER, _NUMBER)),
        ("events", ()),
        ("queues", ()),
        ("end", ()),
    ),
)
ANIMATION = Part("animation.cpp", ("netanim", "core"), "robonet_ns3_animation_functions", (("animate", (_NUMBER,)),))


class Core:
    """One ns-3 simulation; there is one in a process at a time."""

    has_started = False
    """Whether this process has had a simulation."""

    def __init__(self, functions: Functions, loader: str, version: str) -> None:
        self._functions = functions
        self.loader = loader
        self.version = version

    def start(self, description: str) -> str:
        """Build the network; what is wrong, or nothing."""
        text = ctypes.create_string_buffer(description.encode())
        Core.has_started = True
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
        events: list[Any] = np.frombuffer(memoryview(memory), EVENT).tolist()
        return events

    def queues(self, nodes: int) -> "np.ndarray[Any, np.dtype[np.uint32]]":
        """How many frames wait at each radio."""
        memory = (ctypes.c_uint32 * nodes).from_address(self._functions["queues"]())
        return np.array(memory, dtype=np.uint32)

    def end(self) -> dict[str, Any]:
        """Write what is left to be written, take everything down; the counts."""
        counts: dict[str, Any] = json.loads(_text_at(self._functions["end"]()))
        return counts


def load_core(loader: str = "auto") -> Core:
    """The core: compiled where there is a compiler, else just in time."""
    wheel = find_wheel()
    functions, used = _load(wheel, loader, CORE)
    return Core(functions, used, wheel.version)


class Animation:
    """NetAnim's file, written while ns-3 runs."""

    def __init__(self, loader: str, path: Path) -> None:
        functions, _ = _load(find_wheel(), loader, ANIMATION)
        self._animate = functions["animate"]
        name = ctypes.create_string_buffer(str(path).encode())
        self._animate(ctypes.addressof(name))

    def end(self) -> None:
        """Close it; before ns-3 is taken down."""
        self._animate(0)


def _load(wheel: Wheel, loader: str, part: Part) -> tuple[Functions, str]:
    """The functions of one part, and how they were brought in."""
    if loader != "jit":
        try:
            return _load_compiled(wheel, part), "compiled"
        except CannotCompile as error:
            if loader == "compiled":
                raise UserError(f"network.ns3.loader is 'compiled', but {error}") from error
            print(f"ns-3's {part.source} is compiled just in time: {error}", file=sys.stderr)  # noqa: T201  (the log)
    return _load_jit(wheel, part), "jit"


@cache
def _load_compiled(wheel: Wheel, part: Part) -> Functions:
    path = compiled(wheel, part.source, is_library=True, modules=part.modules)
    return _functions_at(part, list((_NUMBER * len(part.functions)).in_dll(_open_lazily(str(path)), part.table)))


def _open_lazily(path: str) -> ctypes.CDLL:
    """As the linker would: ctypes binds all functions at once, and NetAnim's libraries lack some that nobody calls."""
    system = ctypes.CDLL(None)
    system.dlopen.argtypes, system.dlopen.restype = [ctypes.c_char_p, ctypes.c_int], ctypes.c_void_p
    system.dlerror.restype = ctypes.c_char_p
    handle = system.dlopen(path.encode(), os.RTLD_LAZY | os.RTLD_LOCAL)
    if not handle:
        raise CannotCompile(f"cannot load {path}: {system.dlerror().decode()}")
    return ctypes.CDLL(path, handle=handle)


@cache  # a just-in-time compiler takes every definition once
def _load_jit(wheel: Wheel, part: Part) -> Functions:
    try:
        cppyy: Any = import_module("cppyy")
    except ImportError as error:
        raise UserError(f"ns-3 needs cppyy where there is no g++, and cannot load it ({error}): {INSTALL}") from error
    for module in reversed(part.modules):  # libraries before headers, or cling warns
        cppyy.load_library(str(wheel.library(module)))
    cppyy.add_include_path(str(wheel.include))
    cppyy.add_include_path(str(FOLDER))
    cppyy.cppdef(f'#include "{part.source}"\n')
    addresses: Any = getattr(cppyy.gbl, part.table)
    return _functions_at(part, [int(addresses[number]) for number in range(len(part.functions))])


def _functions_at(part: Part, addresses: list[int]) -> Functions:
    """Called by ctypes either way: it lets other threads run meanwhile, such as the link's signs of life."""
    pairs = zip(part.functions, addresses, strict=True)
    return {name: ctypes.CFUNCTYPE(_NUMBER, *arguments)(address) for (name, arguments), address in pairs}


def _text_at(address: int) -> str:
    return ctypes.string_at(address).decode(errors="replace") if address else ""
