"""The solid things of the arena as arrays for kernels, and as the network simulator is told of them."""

import math

import numpy as np

from robonet.link import messages
from robonet.scenario.schema import Arena, Box, Obstacle
from robonet.space import Floats, Grid, Ints

CENTER_X, CENTER_Y, HALF_X, HALF_Y, COS, SIN, ROUND = range(7)
"""Columns of an obstacle: a turned box of half extents, rounded by a radius; a disk is a box without extent."""


def obstacle_rows(arena: Arena) -> Floats:
    """One row an obstacle."""
    rows = np.zeros((len(arena.obstacles), 7))
    for row, obstacle in zip(rows, arena.obstacles, strict=True):
        if obstacle.box is not None:
            box = obstacle.box
            angle = math.radians(box.angle_deg)
            half = box.size_m[0] / 2, box.size_m[1] / 2
            row[:] = (*box.center_m, *half, math.cos(angle), math.sin(angle), 0.0)
        elif obstacle.circle is not None:
            row[:] = (*obstacle.circle.center_m, 0.0, 0.0, 1.0, 0.0, obstacle.circle.radius_m)
    return rows


def obstacles_in_cells(rows: Floats, grid: Grid, reach_m: float) -> tuple[Ints, Ints]:
    """For each cell the obstacles that something in it could touch within `reach_m`, in compressed rows."""
    cells: list[list[int]] = [[] for _ in range(grid.columns * grid.rows)]
    for index, row in enumerate(rows):
        cosine, sine = abs(row[COS]), abs(row[SIN])
        half_x = row[HALF_X] * cosine + row[HALF_Y] * sine + row[ROUND] + reach_m
        half_y = row[HALF_X] * sine + row[HALF_Y] * cosine + row[ROUND] + reach_m
        left, right = _span(row[CENTER_X], half_x, grid.left_m, grid.cell_m, grid.columns)
        bottom, top = _span(row[CENTER_Y], half_y, grid.bottom_m, grid.cell_m, grid.rows)
        for cell_row in range(bottom, top + 1):
            for column in range(left, right + 1):
                cells[cell_row * grid.columns + column].append(index)
    counts = [len(cell) for cell in cells]
    offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    return offsets, np.array([index for cell in cells for index in cell], dtype=np.int64)


def _span(center: float, half: float, origin: float, cell: float, cells: int) -> tuple[int, int]:
    low, high = math.floor((center - half - origin) / cell), math.floor((center + half - origin) / cell)
    return min(max(low, 0), cells - 1), min(max(high, 0), cells - 1)


def for_the_network(obstacle: Obstacle) -> messages.Obstacle:
    """An obstacle as the handshake tells it: corners, or a disk."""
    if obstacle.box is not None:
        return messages.Obstacle(corners_m=_corners(obstacle.box), material=obstacle.box.material)
    assert obstacle.circle is not None
    return messages.Obstacle(
        center_m=obstacle.circle.center_m, radius_m=obstacle.circle.radius_m, material=obstacle.circle.material
    )


def _corners(box: Box) -> list[tuple[float, float]]:
    angle = math.radians(box.angle_deg)
    cosine, sine = math.cos(angle), math.sin(angle)
    half_x, half_y = box.size_m[0] / 2, box.size_m[1] / 2
    local = ((-half_x, -half_y), (half_x, -half_y), (half_x, half_y), (-half_x, half_y))
    x, y = box.center_m
    return [(x + u * cosine - v * sine, y + u * sine + v * cosine) for u, v in local]
