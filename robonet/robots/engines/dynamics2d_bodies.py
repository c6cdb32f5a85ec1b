"""The plane of `dynamics2d`: a pymunk space with what stands in it and the bodies of the rows that the engine moves."""

import math
from typing import TYPE_CHECKING

import numpy as np
import pymunk
from pymunk import batch

from robonet.robots.arena import BOX, CENTER_X, CENTER_Y, COS, DISK, HALF_X, HALF_Y, ROUND, SIN
from robonet.robots.engines import dynamics2d_drive as drive
from robonet.robots.engines.dynamics2d_drive import Bools
from robonet.robots.regions import region_walls
from robonet.scenario.arena import Objects
from robonet.space import Floats, Ints

if TYPE_CHECKING:
    from robonet.robots.world import World

GRAVITY_M_S2 = 9.81
WHEEL_GRIP = 0.8
"""Friction of wheels on the floor: a robot pushes with at most this share of its weight."""
CONTACT_FRICTION = 0.5
"""Of every side; where two sides touch, their product counts."""
LEVER = 0.94
"""Mean distance of a footprint's points from its centre, in radii of gyration: 0.943 for disks, 0.937 for squares."""
WALL_M = 0.5
"""Half the thickness of walls around arenas and regions."""
ROUNDS, MORE_ROUNDS = 10, 40
"""Passes of the solver over all contacts and joints in a substep, and in a step after one that left a deep overlap."""
DEEP = 1.05
"""Overlaps of more than so many times the slack are deep."""
KEPT = 0.7
"""Part of an overlap, beyond the slack, that a substep leaves."""
SLACK = 0.03
"""Part of the smallest radius by which bodies may overlap: contacts that persist are what makes crowds calm."""
LARGEST_MOVES = 0.05, 0.5
"""Parts of a robot's and of a thing's radius that a substep may cover: robots hardly overlap, and nothing tunnels."""

STATE = (
    batch.BodyFields.POSITION | batch.BodyFields.ANGLE | batch.BodyFields.VELOCITY | batch.BodyFields.ANGULAR_VELOCITY
)
FORCES = batch.BodyFields.FORCE | batch.BodyFields.TORQUE
ORDERS = batch.BodyFields.VELOCITY | batch.BodyFields.ANGULAR_VELOCITY | FORCES


class Plane:
    """Bodies by row, and their state as arrays: one slot a body that can move, in the space's order."""

    def __init__(self, world: "World", number: int) -> None:
        self._world = world
        self.space = pymunk.Space()
        self._ground = self.space.static_body
        self.bodies: dict[int, pymunk.Body] = {}
        self._extras: dict[int, list[pymunk.Constraint]] = {}
        self.drive = np.zeros((len(world.xyz), 12))
        self.written = np.full((len(world.xyz), 5), np.nan)
        """x, y, heading and velocity as last read or written."""
        self.held = np.zeros(len(world.xyz), dtype=np.bool_)
        self.front_m = np.zeros(len(world.xyz))
        """From the centre to the edge straight ahead."""
        self._inner_m = np.zeros(len(world.xyz))
        self._reach = np.where(np.arange(len(world.xyz)) < world.robots, *LARGEST_MOVES)
        self.reach_m = math.inf
        """No body may move farther in a substep."""
        self._fixed = np.zeros(len(world.xyz), dtype=np.bool_)
        self._friction = np.zeros(len(world.xyz))
        for group in world.groups:
            if isinstance(group.settings, Objects):
                self._fixed[group.rows] = not group.settings.movable
                self._friction[group.rows] = group.settings.friction
        self._id = np.zeros(len(world.xyz), dtype=np.uintp)
        self._built = np.zeros((len(world.xyz), 3))
        self._state, self._ids, self._contacts = batch.Buffer(), batch.Buffer(), batch.Buffer()
        self.forces, self._forces = _shared(len(world.xyz) + 1, 3)
        self.orders, self._orders = _shared(len(world.xyz) + 1, 6)
        self._build_walls(number)
        self.index()

    def _build_walls(self, number: int) -> None:
        arena = self._world.arena
        walls = region_walls(self._world, number)
        if arena.walls:
            (left, bottom), (right, top) = arena.low_m, arena.high_m
            corners = (left, bottom), (right, bottom), (right, top), (left, top)
            walls = [*walls, *((corners[k - 1], corners[k]) for k in range(4))]
        for (ax, ay), (bx, by) in walls:  # what must stay inside is on the left; all of the thickness is on the right
            out = WALL_M / math.hypot(bx - ax, by - ay)
            x, y = (by - ay) * out, (ax - bx) * out
            self._stand(pymunk.Segment(self._ground, (ax + x, ay + y), (bx + x, by + y), WALL_M))
        obstacles = self._world.obstacles
        for n, row in enumerate(obstacles.rows):
            middle = float(row[CENTER_X]), float(row[CENTER_Y])
            if obstacles.kind[n] == DISK:
                self._stand(pymunk.Circle(self._ground, float(row[ROUND]), middle))
                continue
            if obstacles.kind[n] == BOX:
                turn = np.array(((row[COS], row[SIN]), (-row[SIN], row[COS])))
                outline = np.array(((-1, -1), (1, -1), (1, 1), (-1, 1))) * row[HALF_X : HALF_Y + 1] @ turn + middle
            else:
                outline = obstacles.corners[obstacles.offsets[n] : obstacles.offsets[n + 1]]
            self._stand(pymunk.Poly(self._ground, _points(outline)))

    def _stand(self, shape: pymunk.Shape) -> None:
        shape.friction = CONTACT_FRICTION
        self.space.add(shape)

    def add(self, row: int) -> None:
        """Take a row over, with the velocity that the world knows."""
        world = self._world
        shape_number, mass = int(world.shape[row]), float(world.mass_kg[row])
        corners = None
        if shape_number >= 0:
            corners = world.shapes.corners[world.shapes.offsets[shape_number] : world.shapes.offsets[shape_number + 1]]
            inertia = pymunk.moment_for_poly(mass, _points(corners))
            self.front_m[row], self._inner_m[row] = _ahead(corners), _inner(corners)
        else:
            inertia = 0.5 * mass * float(world.body_m[row]) ** 2
            self.front_m[row] = self._inner_m[row] = world.body_m[row]
        fixed = bool(self._fixed[row])
        body = pymunk.Body(body_type=pymunk.Body.STATIC) if fixed else pymunk.Body(mass, inertia)
        shape = (
            pymunk.Circle(body, float(world.body_m[row])) if corners is None else pymunk.Poly(body, _points(corners))
        )
        shape.friction = CONTACT_FRICTION
        self.space.add(body, shape)
        self.bodies[row], self.held[row], self._id[row] = body, True, body.id
        self._built[row] = mass, world.body_m[row], shape_number
        driven = row < world.robots
        weight = mass * GRAVITY_M_S2
        self.drive[row] = 0.0
        self.drive[row, : drive.TORQUE + 1] = (
            mass,
            inertia,
            WHEEL_GRIP * weight,
            WHEEL_GRIP * weight * world.body_m[row],
        )
        self.drive[row, drive.DRIVEN] = driven
        if not driven and not fixed and self._friction[row] > 0.0:
            self._rub(row, self._friction[row] * weight, LEVER * math.sqrt(inertia / mass))
        self.place(row)

    def _rub(self, row: int, force: float, lever_m: float) -> None:
        """The floor's friction: joints to the ground that give way beyond a force, and never pull back."""
        body = self.bodies[row]
        joints: list[pymunk.Constraint] = [
            pymunk.PivotJoint(self._ground, body, (0, 0), (0, 0)),
            pymunk.GearJoint(self._ground, body, 0, 1),
        ]
        for joint, most in zip(joints, (force, force * lever_m), strict=True):
            joint.max_force, joint.max_bias = most, 0.0
        self.space.add(*joints)
        self._extras[row] = joints

    def place(self, row: int) -> None:
        """Put a body where the world says that it is."""
        world, body = self._world, self.bodies[row]
        x, y, heading = float(world.xyz[row, 0]), float(world.xyz[row, 1]), float(world.heading[row])
        vx, vy = float(world.velocity[row, 0]), float(world.velocity[row, 1])
        body.position, body.angle = (x, y), heading
        if not self._fixed[row]:
            body.velocity, body.angular_velocity = (vx, vy), 0.0
        self.space.reindex_shapes_for_body(body)
        self.written[row] = x, y, heading, vx, vy
        self.drive[row, drive.TOUCHED] = 0.0

    def remove(self, row: int) -> None:
        """Let a row go."""
        body = self.bodies.pop(row)
        self.held[row] = False
        self.space.remove(*self._extras.pop(row, []), *body.shapes, body)

    def changed(self) -> Bools:
        """Which rows have another mass or outline than when they were taken over."""
        return self.held & (self._forms() != self._built).any(axis=1)

    def _forms(self) -> Floats:
        return np.column_stack((self._world.mass_kg, self._world.body_m, self._world.shape))

    def index(self) -> None:
        """Number the slots anew and read all of them; needed when bodies came, went or were placed."""
        self._ids.clear()
        batch.get_space_bodies(self.space, batch.BodyFields.BODY_ID, self._ids)
        found = np.frombuffer(self._ids.int_buf(), dtype=np.uintp)
        rows = np.flatnonzero(self.held & ~self._fixed)
        by_id = rows[np.argsort(self._id[rows])]
        # Those that cannot move come last, the ground among them.
        self.rows: Ints = by_id[np.searchsorted(self._id[by_id], found[: len(rows)])]
        assert (self._id[self.rows] == found[: len(rows)]).all()
        self.forces[len(rows) :] = self.orders[len(rows) :] = 0.0  # they, too, are told: to stand still
        self.reach_m = float((self._inner_m * self._reach)[rows].min(initial=math.inf))
        self.space.collision_slop = SLACK * float(self._inner_m[rows].min()) if len(rows) else 0.0
        self.read()
        # A view of pymunk's own memory: it grows in the first reading and stays where it is for as many bodies.
        # (An array of ours would not do: pymunk gives it back to the system before it is quite full.)
        self.state: Floats = np.frombuffer(self._state.float_buf()).reshape(-1, 6)

    def read(self) -> None:
        """Copy the solver's state to where `state` shows it."""
        self._state.clear()
        batch.get_space_bodies(self.space, STATE, self._state)

    def order(self) -> None:
        """Set velocities and forces from `orders`."""
        batch.set_space_bodies(self.space, ORDERS, self._orders)

    def press(self) -> None:
        """Set forces from `forces`; the solver forgets them after each substep."""
        batch.set_space_bodies(self.space, FORCES, self._forces)

    def _deepest_m(self) -> float:
        """The deepest overlap of the last substeps."""
        self._contacts.clear()
        batch.get_space_arbiters(self.space, batch.ArbiterFields.DISTANCE_1, self._contacts)
        return -float(np.frombuffer(self._contacts.float_buf()).min(initial=0.0))

    def substep(self, dt: float) -> None:
        """Let the solver go on."""
        self.space.step(dt)

    def prepare(self, dt: float, crowded: bool) -> None:
        """Set how hard the solver tries, and how fast overlaps vanish, which it wants to know for a second."""
        self.space.iterations = (
            MORE_ROUNDS if crowded and self._deepest_m() > DEEP * self.space.collision_slop else ROUNDS
        )
        self.space.collision_bias = max(KEPT ** (1.0 / dt), 1e-300)


def _shared(rows: int, columns: int) -> tuple[Floats, batch.Buffer]:
    """An array to write to, and a buffer from which pymunk reads it."""
    array, buffer = np.zeros((rows, columns)), batch.Buffer()
    buffer.set_float_buf(array.reshape(-1))
    return array, buffer


def _points(corners: Floats) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in corners]


def _inner(corners: Floats) -> float:
    """Radius of the largest disk around the mean of the corners that fits in."""
    sides = np.roll(corners, -1, axis=0) - corners
    to_middle = corners.mean(axis=0) - corners
    return float((np.abs(sides[:, 0] * to_middle[:, 1] - sides[:, 1] * to_middle[:, 0]) / np.hypot(*sides.T)).min())


def _ahead(corners: Floats) -> float:
    """How far the outline reaches straight ahead of the centre."""
    reach = 0.0
    for (x1, y1), (x2, y2) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        if (y1 <= 0.0) != (y2 <= 0.0):
            reach = max(reach, x1 - y1 * (x2 - x1) / (y2 - y1))
    return float(reach)
