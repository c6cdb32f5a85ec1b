"""The scene of `dynamics3d`: a MuJoCo model of what stands in the arena and of the bodies that the engine moves.

Robots on the floor slide along x and y and turn about z; quadrotors also slide along z; things are free. The models
are written as MuJoCo's own XML, which is the same in all its versions.
"""

import math
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robonet.errors import UserError
from robonet.robots.arena import BOX, CENTER_X, CENTER_Y, COS, DISK, HALF_X, ROUND, SIN
from robonet.robots.regions import planes_of
from robonet.scenario.arena import Objects
from robonet.space import Floats

if TYPE_CHECKING:
    from robonet.robots.world import World

GROUND, FLYER, FREE = range(3)
"""How a body can move."""
COORDINATES = (3, 4, 7)
SPEEDS = (3, 4, 6)
"""How many numbers a pose and a velocity of each have."""
JOINTS = (
    '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><joint type="hinge" axis="0 0 1"/>',
    '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><joint type="slide" axis="0 0 1"/>'
    '<joint type="hinge" axis="0 0 1"/>',
    "<freejoint/>",
)
TALL_M = 20.0
"""Height of obstacles, which have none in scenarios; the walls of the arena and of regions have no end."""
BODIES, FLOOR = 1, 2
"""Bits of who collides: robots on the floor slide on it without touching."""
MEMORY_KB, MEMORY_KB_PER_BODY = 65536, 128
"""Room for contacts; a body in a jam needs about 10 KB."""


class Forms(NamedTuple):
    """What bodies are made of, one row each, for all rows of the world."""

    inertia: Floats
    """About the three axes of the body."""
    inner_m: Floats
    """Half of the smallest extent."""
    motion: NDArray[np.int8]
    """How it moves."""
    fixed: NDArray[np.bool_]
    """Things that may not be moved."""
    friction: Floats
    """With the floor."""


class Scene(NamedTuple):
    """A model and its state; slot s is the body of row `rows[s]`."""

    model: Any
    data: Any
    rows: NDArray[np.int64]
    pose_at: NDArray[np.int64]
    """Where its numbers begin in `qpos`."""
    speed_at: NDArray[np.int64]
    """Where they begin in `qvel`."""


def mujoco() -> Any:
    """The library; it is loaded when first needed."""
    try:
        return import_module("mujoco")
    except ImportError as error:
        raise UserError(
            f"the engine dynamics3d needs MuJoCo, which cannot be loaded ({error}): pip install 'robonet[mujoco]'"
        ) from error


def corners_of(world: "World", row: int) -> Floats | None:
    """The outline of a body; None for a disk."""
    number = int(world.shape[row])
    if number < 0:
        return None
    return world.shapes.corners[world.shapes.offsets[number] : world.shapes.offsets[number + 1]]


def forms_of(world: "World") -> Forms:
    """What all bodies are made of; members of a group are alike."""
    forms = Forms(
        np.ones((world.bodies, 3)), np.full(world.bodies, math.inf), np.full(world.bodies, GROUND, dtype=np.int8),
        np.zeros(world.bodies, dtype=np.bool_), np.zeros(world.bodies),
    )  # fmt: skip
    for group in world.groups:
        rows = group.rows
        if group.flies:
            forms.motion[rows] = FLYER
        if isinstance(group.settings, Objects):
            forms.motion[rows] = FREE
            forms.fixed[rows] = not group.settings.movable
            forms.friction[rows] = group.settings.friction
        solid = np.flatnonzero(world.body_m[rows] > 0.0) + rows.start
        if len(solid):
            forms.inertia[rows], forms.inner_m[rows] = _inertia(world, int(solid[0]))
    return forms


def _inertia(world: "World", row: int) -> tuple[Floats, float]:
    """Moments about the three axes through the middle, and half of the smallest extent."""
    corners, height = corners_of(world, row), float(world.height_m[row])
    if corners is None:
        radius = float(world.body_m[row])
        xx = yy = radius * radius / 4
        inner = radius
    else:
        x, y = corners.T
        ahead_x, ahead_y = np.roll(x, -1), np.roll(y, -1)
        cross = x * ahead_y - ahead_x * y
        xx = float((cross * (x * x + x * ahead_x + ahead_x * ahead_x)).sum() / (6 * cross.sum()))
        yy = float((cross * (y * y + y * ahead_y + ahead_y * ahead_y)).sum() / (6 * cross.sum()))
        inner = float((cross / np.hypot(ahead_x - x, ahead_y - y)).min())
    zz = height * height / 12
    return float(world.mass_kg[row]) * np.array((yy + zz, xx + zz, xx + yy)), min(inner, height / 2)


def build(world: "World", number: int, rows: NDArray[np.int64], forms: Forms) -> Scene:
    """Make the model of an engine's rows and of everything that does not move; bodies are not placed yet."""
    assets: list[str] = []
    standing = _standing(world, number, assets)
    moving: list[str] = []
    slots: list[int] = []
    poses: list[int] = []
    speeds: list[int] = []
    pose_at = speed_at = 0
    meshes: dict[tuple[int, float], str] = {}
    for row in rows.tolist():
        corners, height = corners_of(world, row), float(world.height_m[row])
        mesh = None
        if corners is not None and not _is_box(corners):
            kind = int(world.shape[row]), height
            if kind not in meshes:
                meshes[kind] = f"body{len(meshes)}"
                assets.append(_prism(meshes[kind], corners, height))
            mesh = meshes[kind]
        geom = _geom(world, row, mesh, forms)
        if forms.fixed[row]:
            standing.append(_at(world, row, geom))
            continue
        motion = int(forms.motion[row])
        inertia = f'mass="{_text(world.mass_kg[row])}" diaginertia="{_text(*forms.inertia[row])}"'
        at = float(world.xyz[row, 2]) if motion == GROUND else 0.0
        moving.append(
            f'<body pos="{_text(0, 0, at)}" gravcomp="{int(motion == FLYER)}">{JOINTS[motion]}'
            f'<inertial pos="{_text(0, 0, height / 2)}" {inertia}/>{geom}</body>'
        )
        slots.append(row)
        poses.append(pose_at)
        speeds.append(speed_at)
        pose_at, speed_at = pose_at + COORDINATES[motion], speed_at + SPEEDS[motion]
    text = (
        '<mujoco><option integrator="implicitfast" cone="elliptic" impratio="10"><flag autoreset="disable"/></option>'
        f'<size memory="{MEMORY_KB + MEMORY_KB_PER_BODY * len(slots)}K"/>'
        '<default><geom condim="3" solimp="0.95 0.99 0.001"/></default>'
        f"<asset>{''.join(assets)}</asset><worldbody>{''.join(standing)}{''.join(moving)}</worldbody></mujoco>"
    )
    library = mujoco()
    try:
        model = library.MjModel.from_xml_string(text)
    except ValueError as error:
        raise UserError(f"dynamics3d: MuJoCo cannot make a model of this world: {error}") from error
    assert model.nq == pose_at and model.nv == speed_at
    data = library.MjData(model)
    return Scene(model, data, *(np.array(part, dtype=np.int64) for part in (slots, poses, speeds)))


# --- what stands -----------------------------------------------------------------------------------------


def _standing(world: "World", number: int, assets: list[str]) -> list[str]:
    """Floor, walls and obstacles."""
    floor = f'contype="{FLOOR}" conaffinity="{FLOOR}" friction="0 0 0"'
    parts = [f'<geom type="plane" size="0 0 1" {floor}/>']
    for nx, ny, offset in planes_of(world, number).tolist():
        parts.append(
            f'<geom type="plane" size="0 0 1" pos="{_text(nx * offset, ny * offset, 0)}" '
            f'zaxis="{_text(nx, ny, 0)}" {_smooth()}/>'
        )
    obstacles = world.obstacles
    for n, row in enumerate(obstacles.rows.tolist()):
        at = f'pos="{_text(row[CENTER_X], row[CENTER_Y], TALL_M / 2)}"'
        if obstacles.kind[n] == DISK:
            parts.append(f'<geom type="cylinder" size="{_text(row[ROUND], TALL_M / 2)}" {at} {_smooth()}/>')
        elif obstacles.kind[n] == BOX:
            half = _text(row[HALF_X], row[HALF_X + 1], TALL_M / 2)
            axes = _text(row[COS], row[SIN], 0, -row[SIN], row[COS], 0)
            parts.append(f'<geom type="box" size="{half}" {at} xyaxes="{axes}" {_smooth()}/>')
        else:
            corners = obstacles.corners[obstacles.offsets[n] : obstacles.offsets[n + 1]]
            assets.append(_prism(f"obstacle{n}", corners, TALL_M))
            parts.append(f'<geom type="mesh" mesh="obstacle{n}" {_smooth()}/>')
    return parts


def _at(world: "World", row: int, geom: str) -> str:
    """A thing that may not be moved, where it is now."""
    x, y, z = world.xyz[row].tolist()
    half = float(world.heading[row]) / 2
    return f'<body pos="{_text(x, y, z)}" quat="{_text(math.cos(half), 0, 0, math.sin(half))}">{geom}</body>'


# --- bodies ----------------------------------------------------------------------------------------------


def _geom(world: "World", row: int, mesh: str | None, forms: Forms) -> str:
    """The form of a body whose frame is in the middle of its underside."""
    corners, half = corners_of(world, row), float(world.height_m[row]) / 2
    touches = _smooth()
    if forms.motion[row] != GROUND:
        touches = (
            f'contype="{BODIES | FLOOR}" conaffinity="{BODIES | FLOOR}" friction="{_text(forms.friction[row], 0, 0)}"'
        )
    if corners is None:
        return f'<geom type="cylinder" size="{_text(world.body_m[row], half)}" pos="{_text(0, 0, half)}" {touches}/>'
    if mesh is None:
        size = _text(corners[:, 0].max(), corners[:, 1].max(), half)
        return f'<geom type="box" size="{size}" pos="{_text(0, 0, half)}" {touches}/>'
    return f'<geom type="mesh" mesh="{mesh}" {touches}/>'


def _smooth() -> str:
    """The sides of robots, walls and obstacles have no friction: crowds of robots are solved six times faster."""
    return f'contype="{BODIES}" conaffinity="{BODIES}" priority="1" condim="1"'


def _is_box(corners: Floats) -> bool:
    """Whether corners are those of a rectangle along the axes, about the middle."""
    return len(corners) == 4 and bool((np.abs(corners) == corners.max(axis=0)).all())


def _prism(name: str, corners: Floats, height_m: float) -> str:
    points = [(x, y, z) for z in (0.0, height_m) for x, y in corners.tolist()]
    return f'<mesh name="{name}" vertex="{" ".join(_text(*point) for point in points)}"/>'


def _text(*numbers: float) -> str:
    """Numbers with all of their digits."""
    return " ".join(repr(float(number)) for number in numbers)
