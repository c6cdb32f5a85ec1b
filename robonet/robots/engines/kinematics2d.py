"""`kinematics2d`: differential drive in the plane; bodies, boxes and walls push each other apart."""

import math

from robonet.kernels import kernel
from robonet.robots.world import World
from robonet.space import Floats, Grid, Ints, cell_of, sort_into_cells

ROUNDS = 100
"""At most so often are overlaps resolved in one substep; most steps need none or one."""
LARGEST_MOVE = 0.5
"""A substep moves no body by more than this part of the smallest radius: nothing passes through anything."""
SLACK_M = 1e-9


class Kinematics2D:
    """Moves every robot with wheels by one step."""

    def __init__(self, world: World) -> None:
        self._world = world
        bodies = world.body_m[world.body_m > 0]
        self._smallest_m = float(bodies.min()) if len(bodies) else 0.0
        self._shift = world.xyz[:, :2].copy()

    def step(self) -> None:
        """Move to the next border."""
        world = self._world
        if not self._smallest_m:
            return
        fastest = max(abs(world.left_m_s).max(), abs(world.right_m_s).max())
        substeps = max(1, math.ceil(fastest * world.step_s / (LARGEST_MOVE * self._smallest_m)))
        low, high = world.arena.low_m, world.arena.high_m
        for _ in range(substeps):
            _drive(
                world.xyz, world.heading, world.odometry, world.left_m_s, world.right_m_s,
                world.wheel_distance_m, world.body_m, world.step_s / substeps,
            )  # fmt: skip
            _push_apart(
                world.xyz, world.body_m, self._shift, world.grid, world.cell_starts, world.cell_order,
                world.obstacles, world.obstacle_offsets, world.obstacle_lists,
                world.arena.walls, low[0], low[1], high[0], high[1],
            )  # fmt: skip


@kernel
def _drive(
    xyz: Floats,
    heading: Floats,
    odometry: Floats,
    left: Floats,
    right: Floats,
    width: Floats,
    body: Floats,
    dt: float,
) -> None:
    """Exact arcs of a differential drive; the wheels believe the same arcs, whatever then stops the body."""
    for i in range(len(heading)):
        if body[i] <= 0.0 or (left[i] == 0.0 and right[i] == 0.0):
            continue
        forward = 0.5 * (left[i] + right[i]) * dt
        turn = (right[i] - left[i]) / width[i] * dt
        half = 0.5 * turn
        chord = forward if abs(half) < 1e-9 else forward * math.sin(half) / half
        xyz[i, 0] += chord * math.cos(heading[i] + half)
        xyz[i, 1] += chord * math.sin(heading[i] + half)
        odometry[i, 0] += chord * math.cos(odometry[i, 2] + half)
        odometry[i, 1] += chord * math.sin(odometry[i, 2] + half)
        heading[i] = _wrapped(heading[i] + turn)
        odometry[i, 2] = _wrapped(odometry[i, 2] + turn)


@kernel
def _wrapped(angle: float) -> float:
    """The same angle in (-pi, pi]."""
    while angle > math.pi:
        angle -= 2 * math.pi
    while angle <= -math.pi:
        angle += 2 * math.pi
    return angle


@kernel
def _push_apart(
    xyz: Floats, body: Floats, shift: Floats, grid: Grid, starts: Ints, order: Ints,
    obstacles: Floats, obstacle_offsets: Ints, obstacle_lists: Ints,
    walls: bool, left: float, bottom: float, right: float, top: float,
) -> None:  # fmt: skip
    """Everyone looks at the same positions and moves half of each overlap: the order of rows plays no part."""
    for _ in range(ROUNDS):
        sort_into_cells(xyz[:, 0], xyz[:, 1], grid, starts, order)
        moved = False
        for i in range(len(body)):
            shift[i, 0] = 0.0
            shift[i, 1] = 0.0
            if body[i] <= 0.0:
                continue
            column, row = cell_of(xyz[i, 0], xyz[i, 1], grid)
            for r in range(max(row - 1, 0), min(row + 2, grid.rows)):
                begin = starts[r * grid.columns + max(column - 1, 0)]
                end = starts[r * grid.columns + min(column + 1, grid.columns - 1) + 1]
                for k in range(begin, end):  # the cells of a row lie side by side
                    j = order[k]
                    dx, dy, touch = xyz[i, 0] - xyz[j, 0], xyz[i, 1] - xyz[j, 1], body[i] + body[j]
                    squared = dx * dx + dy * dy
                    if j == i or body[j] <= 0.0 or squared >= (touch - SLACK_M) * (touch - SLACK_M):
                        continue
                    distance = math.sqrt(squared)
                    share = 0.5 * (touch - distance)
                    if distance < SLACK_M:  # on the same spot: part along x, the lower row to the left
                        dx, dy, distance = (-1.0 if i < j else 1.0), 0.0, 1.0
                    shift[i, 0] += share * dx / distance
                    shift[i, 1] += share * dy / distance
                    moved = True
            cell = row * grid.columns + column
            for k in range(obstacle_offsets[cell], obstacle_offsets[cell + 1]):
                dx, dy = _way_out(xyz[i, 0], xyz[i, 1], body[i], obstacles[obstacle_lists[k]])
                if dx != 0.0 or dy != 0.0:
                    shift[i, 0] += dx
                    shift[i, 1] += dy
                    moved = True
        for i in range(len(body)):
            if body[i] <= 0.0:
                continue
            xyz[i, 0] += shift[i, 0]
            xyz[i, 1] += shift[i, 1]
            if walls:
                xyz[i, 0] = min(max(xyz[i, 0], left + body[i]), right - body[i])
                xyz[i, 1] = min(max(xyz[i, 1], bottom + body[i]), top - body[i])
        if not moved:
            return


@kernel
def _way_out(x: float, y: float, radius: float, obstacle: Floats) -> tuple[float, float]:
    """The shortest move that brings a disk out of an obstacle; none where it does not touch it."""
    cosine, sine = obstacle[4], obstacle[5]
    half_x, half_y = obstacle[2], obstacle[3]
    dx, dy = x - obstacle[0], y - obstacle[1]
    u, v = dx * cosine + dy * sine, dy * cosine - dx * sine
    near_u, near_v = min(max(u, -half_x), half_x), min(max(v, -half_y), half_y)
    out_u, out_v = u - near_u, v - near_v
    touch = radius + obstacle[6]
    squared = out_u * out_u + out_v * out_v
    if squared >= (touch - SLACK_M) * (touch - SLACK_M):
        return 0.0, 0.0
    distance = math.sqrt(squared)
    if distance > SLACK_M:
        push = (touch - distance) / distance
        out_u, out_v = out_u * push, out_v * push
    elif half_x - abs(u) < half_y - abs(v):  # the centre is inside: leave by the nearest side
        out_u, out_v = math.copysign(half_x - abs(u) + touch, u), 0.0
    else:
        out_u, out_v = 0.0, math.copysign(half_y - abs(v) + touch, v)
    return out_u * cosine - out_v * sine, out_u * sine + out_v * cosine
