"""Grippers in `dynamics2d`: a closed one takes hold of the nearest thing right ahead, until it opens."""

import math
from typing import TYPE_CHECKING

import numpy as np
import pymunk

from robonet.kernels import rows_kernel
from robonet.robots.engines.dynamics2d_bodies import Plane
from robonet.robots.engines.dynamics2d_drive import Indices
from robonet.space import Floats, Grid, Ints, cell_of, sort_into_cells

if TYPE_CHECKING:
    from robonet.robots.world import World


class Grips:
    """Who holds whom, as joints: by holder, the row that is held and what holds it."""

    def __init__(self, world: "World", number: int, plane: Plane) -> None:
        self._world, self._number, self._plane = world, number, plane
        self._holds: dict[int, tuple[int, list[pymunk.Constraint]]] = {}
        self._reach_m = np.zeros(world.bodies)
        """How far beyond the body's front a gripper takes hold."""
        self._narrow = np.ones(world.bodies)
        """Cosine of how far to each side of straight ahead."""
        for group in world.groups:
            gripper = group.devices.gripper
            if gripper is not None:
                self._reach_m[group.rows] = gripper.reach_m
                self._narrow[group.rows] = math.cos(math.radians(gripper.angle_deg / 2))

    def attend(self) -> None:
        """Open and close grippers as they are told."""
        world, plane = self._world, self._plane
        for row in [row for row in self._holds if not world.grip_wish[row]]:
            self._open(row)
        wishing = np.flatnonzero(world.grip_wish[: world.robots] & (world.grips[: world.robots] < 0))
        wishing = wishing[plane.held[wishing]]
        if not len(wishing):
            return
        at = plane.state[: len(plane.rows), :2]
        widest = float(world.body_m[plane.rows].max())
        grid = Grid.covering(*world.arena.low_m, *world.arena.high_m, 2 * widest + float(self._reach_m.max()), len(at))
        starts = np.empty(grid.columns * grid.rows + 1, dtype=np.int64)
        order = np.empty(len(at), dtype=np.int64)
        sort_into_cells(at[:, 0], at[:, 1], grid, starts, order)
        targets, points = np.full(len(wishing), -1, dtype=np.int64), np.zeros((len(wishing), 2))
        _seek(
            wishing, self._reach_m, self._narrow, world.xyz, world.heading, plane.front_m, widest,
            world.body_m, world.shape, world.shapes.offsets, world.shapes.corners, plane.rows, grid,
            starts, order, targets, points,
        )  # fmt: skip
        for row, target, point in zip(wishing.tolist(), targets.tolist(), points.tolist(), strict=True):
            if target >= 0:
                self._close(row, target, (point[0], point[1]))

    def _close(self, row: int, target: int, point: tuple[float, float]) -> None:
        holder, held = self._plane.bodies[row], self._plane.bodies[target]
        pivot = pymunk.PivotJoint(holder, held, holder.world_to_local(point), held.world_to_local(point))
        gear = pymunk.GearJoint(holder, held, held.angle - holder.angle, 1.0)
        pivot.collide_bodies = gear.collide_bodies = False
        self._plane.space.add(pivot, gear)
        self._holds[row] = target, [pivot, gear]
        self._world.grips[row] = target

    def _open(self, row: int) -> None:
        _, joints = self._holds.pop(row)
        self._plane.space.remove(*joints)
        if self._world.owner[row] in (self._number, -1):  # else another engine has it, and already says what it holds
            self._world.grips[row] = -1

    def let_go(self, row: int) -> None:
        """Break every hold of and on a row that leaves or is carried away."""
        for holder in [holder for holder, (held, _) in self._holds.items() if row in (holder, held)]:
            self._open(holder)


@rows_kernel
def _seek(
    wishing: Ints, reach: Floats, narrow: Floats, xyz: Floats, heading: Floats, front: Floats, widest: float,
    body: Floats, shape: Indices, offsets: Ints, corners: Floats, rows: Ints, grid: Grid, starts: Ints, order: Ints,
    targets: Ints, points: Floats,
) -> None:  # fmt: skip
    """For each gripper the nearest body in its reach, the lowest row of equals, and where it takes hold."""
    for w in range(len(wishing)):
        i = wishing[w]
        x, y = xyz[i, 0], xyz[i, 1]
        best = front[i] + reach[i]
        left, bottom = cell_of(x - best - widest, y - best - widest, grid)
        right, top = cell_of(x + best + widest, y + best + widest, grid)
        for r in range(bottom, top + 1):
            for k in range(starts[r * grid.columns + left], starts[r * grid.columns + right + 1]):
                j = rows[order[k]]
                dx, dy = xyz[j, 0] - x, xyz[j, 1] - y
                if j == i or dx * dx + dy * dy > (best + body[j]) * (best + body[j]):
                    continue
                if shape[j] < 0:
                    away = math.hypot(dx, dy)
                    share = (away - body[j]) / max(away, 1e-12)
                    px, py = dx * share, dy * share
                else:
                    c, s = math.cos(heading[j]), math.sin(heading[j])
                    near_x, near_y = _nearest(
                        -dx * c - dy * s, dx * s - dy * c, corners[offsets[shape[j]] : offsets[shape[j] + 1]]
                    )
                    px, py = dx + near_x * c - near_y * s, dy + near_x * s + near_y * c
                distance = math.hypot(px, py)
                bearing = math.atan2(py, px) - heading[i]
                if math.cos(bearing) < narrow[i]:
                    continue
                if distance < best or (distance == best and j < targets[w]):
                    best = distance
                    targets[w] = j
                    points[w, 0], points[w, 1] = x + px, y + py


@rows_kernel
def _nearest(x: float, y: float, corners: Floats) -> tuple[float, float]:
    """The point of an outline nearest to a point."""
    best, best_x, best_y = math.inf, 0.0, 0.0
    for k in range(len(corners)):
        ax, ay = corners[k - 1, 0], corners[k - 1, 1]
        sx, sy = corners[k, 0] - ax, corners[k, 1] - ay
        along = min(max(((x - ax) * sx + (y - ay) * sy) / (sx * sx + sy * sy), 0.0), 1.0)
        px, py = ax + along * sx, ay + along * sy
        squared = (px - x) * (px - x) + (py - y) * (py - y)
        if squared < best:
            best, best_x, best_y = squared, px, py
    return best_x, best_y
