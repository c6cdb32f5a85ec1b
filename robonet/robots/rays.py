"""Rays of all robots of a group at once: by lists where they are short, from cell to cell where they are long."""

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from robonet.kernels import rows_kernel
from robonet.robots.arena import Obstacles
from robonet.robots.geometry import Bodies, at_one_height, own_edge, ray_to_body, ray_to_obstacle, ray_to_walls
from robonet.robots.nearby import LONG_REACH_M
from robonet.robots.shapes import ROUND, outline_of
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
        self._edges_m = _edges_of(world, group, self._ahead, self._aside)
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
                nearby.bodies, nearby.begin, nearby.end, nearby.near, nearby.thing_begin, nearby.thing_end,
                nearby.things, world.obstacles, world.is_flat, world.arena.walls, left, bottom, right, top,
            )  # fmt: skip

        def by_cells(first: int, last: int) -> None:
            _cast_long(
                self._first, first, last, self._ahead, self._aside, self._edges_m, self.range_m, self.distances_m,
                self.hits, nearby.bodies, nearby.grid, nearby.tight_starts, nearby.tight_entries,
                nearby.tight_places, nearby.fixed_starts, nearby.fixed,
                world.obstacles, world.is_flat, world.arena.walls, left, bottom, right, top,
            )  # fmt: skip

        work = by_lists if self.range_m <= LONG_REACH_M else by_cells
        if work is by_cells:
            nearby.sort()
        world.threads.over_rows(self._last - self._first, work)


def _edges_of(world: "World", group: "Group", ahead: Floats, aside: Floats) -> Floats:
    """How far it is from the middle of a group's bodies to their edge, along each ray."""
    assert group.kind is not None
    shape = world.shape[group.rows.start] if len(group) else ROUND
    if shape == ROUND:
        return np.full(len(ahead), outline_of(group.kind).radius_m)
    offsets = world.shapes.offsets
    sides = world.shapes.sides[offsets[shape] : offsets[shape + 1]]
    speeds = np.outer(ahead, sides[:, 0]) + np.outer(aside, sides[:, 1])
    edges: Floats = np.where(speeds > 0, sides[:, 2] / np.where(speeds > 0, speeds, 1.0), np.inf).min(axis=1)
    return edges


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
    offset: int, first: int, last: int, ahead: Floats, aside: Floats, edges: Floats, reach: float, out: Floats,
    hits: Flags, bodies: Bodies,
    grid: Grid, starts: Indices, entries: Indices, places: Floats, fixed_starts: Indices, fixed: Indices,
    obstacles: Obstacles, flat: bool, walls: bool, left: float, bottom: float, right: float, top: float,
) -> None:  # fmt: skip
    """Each ray walks from cell to cell until it has hit something nearer than the next cell.

    Whoever is in a cell is first looked at as the disk around it, which most rays miss.
    """
    xyz, facing, radius, shape = bodies.xyz, bodies.facing, bodies.radius, bodies.shape
    cell_m, columns, rows = grid.cell_m, grid.columns, grid.rows
    for row in range(first, last):
        i = offset + row
        x, y, own = xyz[i, 0], xyz[i, 1], radius[i]
        cosine, sine = facing[i, 0], facing[i, 1]
        hits[row] = False
        if own <= 0.0:
            for a in range(len(ahead)):
                out[row, a] = reach
            continue
        by_walls = walls and min(x - left, right - x, y - bottom, top - y) < own + reach
        home_column, home_line = cell_of(x, y, grid)
        to_left, to_bottom = grid.left_m + home_column * cell_m - x, grid.bottom_m + home_line * cell_m - y
        for a in range(len(ahead)):
            ux = cosine * ahead[a] - sine * aside[a]
            uy = sine * ahead[a] + cosine * aside[a]
            farthest = edges[a] + reach
            nearest = farthest
            per_x, per_y = 1.0 / ux, 1.0 / uy  # infinite along the axes
            step_x, step_y, to_x, to_y = 1, 1, math.inf, math.inf
            if ux > 0.0:
                to_x = (to_left + cell_m) * per_x
            elif ux < 0.0:
                step_x, to_x = -1, to_left * per_x
            if uy > 0.0:
                to_y = (to_bottom + cell_m) * per_y
            elif uy < 0.0:
                step_y, to_y = -1, to_bottom * per_y
            if by_walls:
                nearest = min(nearest, ray_to_walls(x, y, ux, uy, left, bottom, right, top))
            across_x, across_y = cell_m * abs(per_x), cell_m * abs(per_y)
            column, line = home_column, home_line
            cell = home_line * columns + home_column
            while True:
                for e in range(np.uint64(starts[cell]), np.uint64(starts[cell + 1])):  # no index from the end: faster
                    dx, dy, wide = places[e, 0] - x, places[e, 1] - y, places[e, 2]
                    along, beside = dx * ux + dy * uy, dx * uy - dy * ux
                    inside = wide * wide - beside * beside
                    if inside < 0.0 or along <= -wide or along - wide >= nearest:
                        continue
                    j = entries[e]
                    if j == i or not (flat or at_one_height(i, j, bodies)):
                        continue
                    if shape[j] < 0:
                        if along > 0.0:
                            nearest = min(nearest, along - math.sqrt(inside))
                    else:
                        nearest = min(nearest, ray_to_body(x, y, ux, uy, j, bodies))
                for e in range(fixed_starts[cell], fixed_starts[cell + 1]):
                    nearest = min(nearest, ray_to_obstacle(x, y, ux, uy, fixed[e], obstacles))
                if to_x < to_y:
                    if nearest <= to_x:
                        break
                    column += step_x
                    cell += step_x
                    to_x += across_x
                    if column < 0 or column >= columns:
                        break
                else:
                    if nearest <= to_y:
                        break
                    line += step_y
                    cell += step_y * columns
                    to_y += across_y
                    if line < 0 or line >= rows:
                        break
            hits[row] = hits[row] or nearest < farthest
            # Nothing in reach reads exactly as the reach: (edge + reach) - edge would not.
            out[row, a] = max(nearest - edges[a], 0.0) if nearest < farthest else reach
