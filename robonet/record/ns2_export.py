"""The motion of a run as an ns-2 movement file, for replay in ns-2, ns-3 or robonet itself."""

import math
from typing import TextIO

import numpy as np

from robonet.clock import s_from_ns
from robonet.errors import UserError
from robonet.record.folder import SCENARIO, RunFolder
from robonet.record.tables import read_table
from robonet.scenario import load_recorded


def export_ns2(folder: RunFolder, out: TextIO) -> int:
    """Write every robot's motion, its origin the arena's lower left corner; how many robots there are."""
    poses = read_table(folder.tables / "poses")
    if poses is None:
        raise UserError(f"{folder.path} holds no poses")
    arena = load_recorded(folder.path / SCENARIO).arena
    left, bottom = arena.low_m
    out.write(f"# motion of {folder.path.name}: node numbers are rows of robots, origin is the lower left corner\n")
    names = list(dict.fromkeys(poses["robot"].tolist()))
    times = np.unique(poses["time_ns"])
    rows = len(times)
    if len(poses["x_m"]) != rows * len(names):
        raise UserError(f"{folder.path}: the poses are incomplete")
    x = poses["x_m"].reshape(rows, len(names)) - left
    y = poses["y_m"].reshape(rows, len(names)) - bottom
    z = poses["z_m"].reshape(rows, len(names))
    for node in range(len(names)):
        for axis, value in (("X", x[0, node]), ("Y", y[0, node]), ("Z", z[0, node])):
            out.write(f"$node_({node}) set {axis}_ {float(value)!r}\n")
    for row in range(rows - 1):
        span_s = s_from_ns(int(times[row + 1] - times[row]))
        moved = np.flatnonzero((x[row + 1] != x[row]) | (y[row + 1] != y[row]))
        for node in moved.tolist():
            to_x, to_y = float(x[row + 1, node]), float(y[row + 1, node])
            speed = math.hypot(to_x - x[row, node], to_y - y[row, node]) / span_s
            at = s_from_ns(int(times[row]))
            out.write(f'$ns_ at {at!r} "$node_({node}) setdest {to_x!r} {to_y!r} {speed!r}"\n')
    return len(names)
