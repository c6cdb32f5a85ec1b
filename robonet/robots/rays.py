"""Rays of all robots of a group at once: by lists where they are short, from cell to cell where they are long."""

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from robonet.kernels import rows_kernel
from robonet.robots.arena import Obstacles
from robonet.robots.geometry import Bodies, at_one_height, own_edge, ray_to_body, ray_to_obstacle, ray_to_walls
from robonet.robots.nearby import LONG_REACH_M
from robonet.space import Floats, Grid, cell_of

if TYPE_CHECKING:
    from robonet.robots.world import Group, World

Indices = NDArray[np.int32]
Flags = NDArray[np.bool_]


class RayFan:
    """The same rays on every robot of a group; distances from the body's edge, the range where nothing is hit."""

    def __init__(self, world: "World", group: "Group", angles_rad: Floats, range_m: float) -> None:
        self._world = world
        self._first, self._last = group.rows.start, group.rows.stop
        self.angles_rad = angles_rad
        self.range_m = range_m
        if range_m <= LONG_REACH_M:
            world.nearby.look_out(group.rows, range_m)
        self._ahead, self._aside = np.cos(angles_rad), np.sin(angles_rad)
        self.hits = np.zeros(self._last - self._first, dtype=np.bool_)
        """Which robots may have readings below the range; all others have none."""
        self.distances_m = np.full((self._last - self._first, len(angles_rad)), range_m)

    def cast(self) -> None:
        """Look along all rays, from where everyone is now."""
        world, nearby = self._world, self._world.nearby
        nearby.refresh()
        (left, bottom), (right, top) = world.arena.low_m, world.arena.high_m

        def by_lists(first: int, last: int) -> None:
            _cast_short(
                self._first, first, last, self._ahead, self._aside, self.range_m, self.distances_m, self.hits,
                nearby.bodies, nearby.begin, nearby.end, nearby.near, nearby.thing_begin, nearby.thing_end, nearby.things,
                world.obstacles, world.is_flat, world.arena.walls, left, bottom, right, top,
            )  # fmt: skip

        def by_cells(first: int, last: int) -> None:
            _cast_long(
                self._first, first, last, self._ahead, self._aside, self.range_m, self.distances_m, self.hits,
                nearby.bodies, nearby.grid, nearby.starts, nearby.entries, nearby.fixed_starts, nearby.fixed,
                world.obstacles, world.is_flat, world.arena.walls, left, bottom, right, top,
            )  # fmt: skip

        work = by_lists if self.range_m <= LONG_REACH_M else by_cells
        world.threads.over_rows(self._last - self._first, work)


@rows_kernel
def _cast_short(
    offset: int, first: int, last: int, ahead: Floats, aside: Floats, reach: float, out: Floats, hits: Flags,
    bodies: Bodies,
    begin: Indices, end: Indices, near: Indices, thing_begin: Indices, thing_end: Indices, things: Indices,
    obstacles: Obstacles, flat: bool, walls: bool, left: float, bottom: float, right: float, top: float,
) -> None:  # fmt: skip
    """Every ray against everything near; most robots have nothing near and are done with that."""
    xyz, facing, radius, shape = bodies.xyz, bodies.facing, bodies.radius, bodies.shape
    rays = len(ahead)
    for row in range(first, last):
        i = offset + row
        for a in range(rays):
            out[row, a] = reach
        hits[row] = False
        x, y, own = xyz[i, 0], xyz[i, 1], radius[i]
        if own <= 0.0:
            continue
        is_disk = shape[i] < 0
        farthest = own + reach
        cosine, sine = facing[i, 0], facing[i, 1]
        if walls and min(x - left, right - x, y - bottom, top - y) < farthest:
            hits[row] = True
            for a in range(rays):
                ux = cosine * ahead[a] - sine * aside[a]
                uy = sine * ahead[a] + cosine * aside[a]
                edge = own if is_disk else own_edge(ux, uy, i, bodies)
                out[row, a] = min(out[row, a], max(ray_to_walls(x, y, ux, uy, left, bottom, right, top) - edge, 0.0))
        for e in range(begin[i], end[i]):
            j = near[e]
            dx, dy, touch = xyz[j, 0] - x, xyz[j, 1] - y, farthest + radius[j]
            squared = dx * dx + dy * dy
            if squared >= touch * touch or not (flat or at_one_height(i, j, bodies)):
                continue
            if is_disk and shape[j] < 0:
                # In the robot's own frame; a ray hits where it passes the disk's centre nearer than its radius.
                u, v, wide = dx * cosine + dy * sine, dy * cosine - dx * sine, radius[j] * radius[j]
                least = max(squared - wide, 0.0)
                threshold = math.sqrt(least)
                for a in range(rays):
                    along = u * ahead[a] + v * aside[a]
                    if along > threshold:
                        out[row, a] = min(out[row, a], max(along - math.sqrt(along * along - least) - own, 0.0))
                        hits[row] = True
                continue
            hits[row] = True
            for a in range(rays):
                ux = cosine * ahead[a] - sine * aside[a]
                uy = sine * ahead[a] + cosine * aside[a]
                edge = own if is_disk else own_edge(ux, uy, i, bodies)
                out[row, a] = min(out[row, a], max(ray_to_body(x, y, ux, uy, j, bodies) - edge, 0.0))
        for e in range(thing_begin[i], thing_end[i]):
            hits[row] = True
            for a in range(rays):
                ux = cosine * ahead[a] - sine * aside[a]
                uy = sine * ahead[a] + cosine * aside[a]
                edge = own if is_disk else own_edge(ux, uy, i, bodies)
                out[row, a] = min(out[row, a], max(ray_to_obstacle(x, y, ux, uy, things[e], obstacles) - edge, 0.0))


@rows_kernel
def _cast_long(
    offset: int, first: int, last: int, ahead: Floats, aside: Floats, reach: float, out: Floats, hits: Flags,
    bodies: Bodies,
    grid: Grid, starts: Indices, entries: Indices, fixed_starts: Indices, fixed: Indices,
    obstacles: Obstacles, flat: bool, walls: bool, left: float, bottom: float, right: float, top: float,
) -> None:  # fmt: skip
    """Each ray walks from cell to cell until it has hit something nearer than the next cell."""
    xyz, facing, radius, shape = bodies.xyz, bodies.facing, bodies.radius, bodies.shape
    cell_m, columns, rows = grid.cell_m, grid.columns, grid.rows
    for row in range(first, last):
        i = offset + row
        x, y, own = xyz[i, 0], xyz[i, 1], radius[i]
        cosine, sine = facing[i, 0], facing[i, 1]
        hits[row] = False
        for a in range(len(ahead)):
            if own <= 0.0:
                out[row, a] = reach
                continue
            ux = cosine * ahead[a] - sine * aside[a]
            uy = sine * ahead[a] + cosine * aside[a]
            edge = own if shape[i] < 0 else own_edge(ux, uy, i, bodies)
            farthest = edge + reach
            nearest = farthest
            if walls:
                nearest = min(nearest, ray_to_walls(x, y, ux, uy, left, bottom, right, top))
            column, line = cell_of(x, y, grid)
            step_x, step_y = (1 if ux > 0.0 else -1), (1 if uy > 0.0 else -1)
            next_x = grid.left_m + (column + (1 if ux > 0.0 else 0)) * cell_m
            next_y = grid.bottom_m + (line + (1 if uy > 0.0 else 0)) * cell_m
            to_x = (next_x - x) / ux if ux != 0.0 else math.inf
            to_y = (next_y - y) / uy if uy != 0.0 else math.inf
            per_x = cell_m / abs(ux) if ux != 0.0 else math.inf
            per_y = cell_m / abs(uy) if uy != 0.0 else math.inf
            while True:
                cell = line * columns + column
                for e in range(starts[cell], starts[cell + 1]):
                    j = entries[e]
                    if j == i or not (flat or at_one_height(i, j, bodies)):
                        continue
                    if shape[j] < 0:
                        dx, dy = xyz[j, 0] - x, xyz[j, 1] - y
                        along = dx * ux + dy * uy
                        inside = radius[j] * radius[j] - (dx * dx + dy * dy - along * along)
                        if along > 0.0 and inside >= 0.0:
                            nearest = min(nearest, along - math.sqrt(inside))
                    else:
                        nearest = min(nearest, ray_to_body(x, y, ux, uy, j, bodies))
                for e in range(fixed_starts[cell], fixed_starts[cell + 1]):
                    nearest = min(nearest, ray_to_obstacle(x, y, ux, uy, fixed[e], obstacles))
                if to_x < to_y:
                    if nearest <= to_x:
                        break
                    column += step_x
                    to_x += per_x
                    if column < 0 or column >= columns:
                        break
                else:
                    if nearest <= to_y:
                        break
                    line += step_y
                    to_y += per_y
                    if line < 0 or line >= rows:
                        break
            hits[row] = hits[row] or nearest < farthest
            # Nothing in reach reads exactly as the reach: (edge + reach) - edge would not.
            out[row, a] = max(nearest - edge, 0.0) if nearest < farthest else reach
