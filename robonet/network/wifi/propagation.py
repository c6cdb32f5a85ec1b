"""How strong a frame arrives: the link table of a step, for all pairs in reach at once.

Distance, obstacles in the line of sight and shadowing make the mean power of a link; fading comes on top with each
frame (`fading`). Positions are constant within a step, so this is worked out once a step, and only when somebody moved.
"""

import math

import numpy as np

from robonet.kernels import kernel
from robonet.link.messages import Obstacle
from robonet.scenario.wifi import Material, Wifi
from robonet.space import Floats, Ints, NeighbourLists
from robonet.streams import stream

LIGHT_M_S = 299_792_458.0
FRIIS, LOG_DISTANCE, TWO_RAY, RANGE = range(4)
FADING_MARGIN_DB = 10.0
"""How much stronger than usual a faded signal is looked out for."""
SKIN = 0.02
"""How far robots may move, as a share of the reach, before it is looked again who is near."""
HIGHEST_M = 100.0
"""Antennas no higher than this are reckoned with in two-ray reach."""
LATTICE = 64
"""Points a side of the lattice of shadowing, after which it repeats."""

DEFAULT_RANGE_M = 120.0
DEFAULT_POWER_DBM = 16.0206


class PathLoss:
    """Mean loss over a distance, in decibels and as the kernels want it."""

    def __init__(self, settings: Wifi, frequency_mhz: float) -> None:
        wave_m = LIGHT_M_S / (frequency_mhz * 1e6)
        chosen = settings.propagation
        if chosen.friis is not None:
            self.kind = FRIIS
            least = 10 ** (-chosen.friis.minimum_loss_db / 10)
            self.numbers = np.array([wave_m, chosen.friis.system_loss, least, 0.0])
        elif chosen.log_distance is not None:
            self.kind = LOG_DISTANCE
            law = chosen.log_distance
            self.numbers = np.array([law.exponent, 10 ** (-law.reference_loss_db / 10), law.reference_m, 0.0])
        elif chosen.two_ray_ground is not None:
            self.kind = TWO_RAY
            ground = chosen.two_ray_ground
            self.numbers = np.array([wave_m, ground.system_loss, ground.antenna_height_m, ground.minimum_m])
        else:
            assert chosen.range is not None
            self.kind = RANGE
            self.numbers = np.array([settings.range_m or chosen.range.range_m, 0.0, 0.0, 0.0])

    def at(self, distance_m: float, height_a_m: float = 0.0, height_b_m: float = 0.0) -> float:
        """The loss in decibels."""
        share = gain(self.kind, self.numbers, distance_m * distance_m, height_a_m, height_b_m)
        return -10 * math.log10(share) if share > 0 else math.inf

    def reach_m(self, loss_db: float, highest_m: float = 0.0) -> float:
        """The distance at which a loss is reached, between antennas at a height."""
        if self.kind == RANGE:
            return float(self.numbers[0])
        low, high = 1e-3, 1e7
        for _ in range(100):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if self.at(middle, highest_m, highest_m) <= loss_db else (low, middle)
        return high


@kernel
def gain(kind: int, numbers: Floats, square_m2: float, height_a_m: float, height_b_m: float) -> float:
    """The share of the power that arrives over a distance, given by its square."""
    if kind == LOG_DISTANCE:
        exponent, at_reference, reference_m = numbers[0], numbers[1], numbers[2]
        ratio = square_m2 / (reference_m * reference_m)
        return at_reference if ratio <= 1.0 else at_reference * np.exp(-0.5 * exponent * np.log(ratio))
    if kind == RANGE:
        return 1.0 if square_m2 <= numbers[0] * numbers[0] else 0.0
    wave_m, system_loss = numbers[0], numbers[1]
    free = wave_m * wave_m / (16.0 * np.pi * np.pi * max(square_m2, 1e-12) * system_loss)
    if kind == FRIIS:
        return min(free, numbers[2])
    if square_m2 <= numbers[3] * numbers[3]:
        return 1.0
    heights_m2 = (height_a_m + numbers[2]) * (height_b_m + numbers[2])
    crossover_m = 4.0 * np.pi * heights_m2 / wave_m
    if square_m2 <= crossover_m * crossover_m:
        return min(free, 1.0)
    return min(heights_m2 * heights_m2 / (square_m2 * square_m2 * system_loss), 1.0)


class Obstacles:
    """What stands between robots, as arrays for kernels."""

    def __init__(self, obstacles: list[Obstacle], materials: dict[str, Material]) -> None:
        solid = [o for o in obstacles if (m := materials.get(o.material)) and (m.wall_db > 0 or m.per_m_db > 0)]
        corners = [o.corners_m for o in solid]
        self.starts = np.concatenate(([0], np.cumsum([len(c) for c in corners]))).astype(np.int64)
        self.corners = np.array([corner for c in corners for corner in c], dtype=np.float64).reshape(-1, 2)
        self.disks = np.array([(*(o.center_m or (0.0, 0.0)), o.radius_m) for o in solid]).reshape(-1, 3)
        self.losses = np.array([(materials[o.material].wall_db, materials[o.material].per_m_db) for o in solid])
        self.losses = self.losses.reshape(-1, 2)


@kernel
def obstruction_db(
    x1: float, y1: float, x2: float, y2: float, starts: Ints, corners: Floats, disks: Floats, losses: Floats
) -> float:
    """What the obstacles on a line of sight take from it."""
    total = 0.0
    length = np.hypot(x2 - x1, y2 - y1)
    for i in range(len(losses)):
        enter, leave = 0.0, 1.0  # the part of the line that is inside
        if starts[i + 1] > starts[i]:
            first, last = starts[i], starts[i + 1]
            for k in range(first, last):  # corners run counter-clockwise: inside is left of every edge
                following = first if k + 1 == last else k + 1
                ex, ey = corners[following, 0] - corners[k, 0], corners[following, 1] - corners[k, 1]
                at_start = ex * (y1 - corners[k, 1]) - ey * (x1 - corners[k, 0])
                at_end = ex * (y2 - corners[k, 1]) - ey * (x2 - corners[k, 0])
                if at_start < 0.0 and at_end < 0.0:
                    leave = -1.0
                    break
                if at_start < 0.0:
                    enter = max(enter, at_start / (at_start - at_end))
                elif at_end < 0.0:
                    leave = min(leave, at_start / (at_start - at_end))
        else:
            dx, dy = x2 - x1, y2 - y1
            fx, fy = x1 - disks[i, 0], y1 - disks[i, 1]
            a, b = dx * dx + dy * dy, fx * dx + fy * dy
            c = fx * fx + fy * fy - disks[i, 2] * disks[i, 2]
            root = b * b - a * c
            if root <= 0.0 or a == 0.0:
                leave = -1.0
            else:
                enter = max(enter, (-b - np.sqrt(root)) / a)
                leave = min(leave, (-b + np.sqrt(root)) / a)
        if leave > enter:
            total += losses[i, 0] + losses[i, 1] * (leave - enter) * length
    return total


class LinkTable:
    """Who is reached by whom and how strongly, in compressed rows; those that may decode a sender come first."""

    def __init__(
        self,
        settings: Wifi,
        seed: int,
        path_loss: PathLoss,
        tx_dbm: Floats,
        obstacles: Obstacles,
        ranges_m: Floats | None = None,
    ) -> None:
        nodes = len(tx_dbm)
        self._path_loss = path_loss
        self._tx_mw = 10 ** (tx_dbm / 10)
        self._obstacles = obstacles
        least_dbm, detect_dbm = settings.reception.sensitivity_dbm, settings.reception.minimum_rssi_dbm
        shadowing = settings.shadowing
        self._sigma_db = shadowing.sigma_db if shadowing is not None else 0.0
        self._spacing_m = shadowing.correlation_m if shadowing is not None else 1.0
        dice = stream(seed, "network", "wifi", "shadowing")
        self._lattice = dice.standard_normal((LATTICE, LATTICE)) if shadowing is not None else np.zeros((1, 1))
        if settings.fading is not None:
            least_dbm -= FADING_MARGIN_DB
        self._least_mw, self._detect_mw = 10 ** (least_dbm / 10), 10 ** (detect_dbm / 10)
        by_power: dict[float, float] = {}
        for power in tx_dbm.tolist():
            if power not in by_power:
                by_power[power] = path_loss.reach_m(power - least_dbm + 3.0 * self._sigma_db, HIGHEST_M)
        self._reach_m = np.array([by_power[power] for power in tx_dbm.tolist()])
        if path_loss.kind == RANGE and ranges_m is not None:
            self._reach_m = ranges_m
            path_loss.numbers[0] = ranges_m.max(initial=0.0)
        self._skin_m = SKIN * float(self._reach_m.min()) if nodes else 0.0
        self._lists = NeighbourLists(self._reach_m + 2 * self._skin_m)
        self._listed_m: Floats | None = None
        self._positions_m: Floats | None = None
        self.offsets = np.zeros(nodes + 1, dtype=np.int64)
        self.heard = np.zeros(nodes, dtype=np.int64)
        self.near = np.zeros(0, dtype=np.int64)
        self.powers = np.zeros(0)
        self.version = 0
        """Changes when anything moves."""

    def update(self, positions_m: Floats) -> bool:
        """Work out all links for new positions; whether anything has changed."""
        if self._positions_m is not None and np.array_equal(positions_m, self._positions_m):
            return False
        self._positions_m = positions_m.copy()
        self.version += 1
        self._list_again(positions_m)
        field = self.field_at(positions_m)
        near = np.empty(len(self._lists.nodes), dtype=np.int64)
        powers = np.empty(len(near))
        solid = self._obstacles
        found = _fill(
            positions_m, self._lists.offsets, self._lists.nodes, self._path_loss.kind, self._path_loss.numbers,
            self._tx_mw, self._reach_m, self._least_mw, self._detect_mw, field, self._sigma_db, self._spacing_m,
            solid.starts, solid.corners, solid.disks, solid.losses, self.offsets, self.heard, near, powers,
        )  # fmt: skip
        self.near, self.powers = near[:found], powers[:found]
        return True

    def _list_again(self, positions_m: Floats) -> None:
        """Look for who is near again when somebody has gone farther than the lists allow for."""
        if self._listed_m is not None:
            moved = positions_m - self._listed_m
            if float(np.einsum("ij,ij->i", moved, moved).max(initial=0.0)) <= self._skin_m**2:
                return
        self._listed_m = positions_m.copy()
        self._lists.update(positions_m)

    def heard_rows(self) -> tuple[Ints, Ints, Floats]:
        """The part of the table in which frames may be decoded, as rows of their own."""
        starts = self.offsets[:-1]
        offsets = np.concatenate(([0], np.cumsum(self.heard)))
        places = np.repeat(starts - offsets[:-1], self.heard) + np.arange(offsets[-1])
        return offsets, self.near[places], self.powers[places]

    def field_at(self, positions_m: Floats) -> Floats:
        """The field that shadowing comes from, at each place: normal, with unit variance everywhere."""
        if self._sigma_db == 0.0:
            return np.zeros(len(positions_m))
        return _blend(positions_m, self._lattice, self._spacing_m)


@kernel
def shadow_db(
    sigma_db: float, spacing_m: float, x1: float, y1: float, x2: float, y2: float, field1: float, field2: float
) -> float:
    """Shadowing of a link: the sum of the field at its ends, scaled to the same deviation for any distance.

    So it is the same both ways and changes over the correlation distance; links that share an end are correlated by
    about a half, as is usual for site-to-site correlation.
    """
    correlation = _axis(x1 / spacing_m, x2 / spacing_m) * _axis(y1 / spacing_m, y2 / spacing_m)
    return sigma_db * (field1 + field2) / np.sqrt(2.0 * (1.0 + correlation))


@kernel
def _axis(a: float, b: float) -> float:
    """How much two places on a lattice's axis have in common: the correlation of a blend of neighbouring points."""
    first, second = np.floor(a), np.floor(b)
    u, v = a - first, b - second
    if first == second:
        shared = (1.0 - u) * (1.0 - v) + u * v
    elif second == first + 1.0:
        shared = u * (1.0 - v)
    elif first == second + 1.0:
        shared = v * (1.0 - u)
    else:
        shared = 0.0
    return shared / np.sqrt(((1.0 - u) ** 2 + u * u) * ((1.0 - v) ** 2 + v * v))


@kernel
def _blend(xyz: Floats, lattice: Floats, spacing_m: float) -> Floats:
    """A field with unit variance everywhere."""
    field = np.empty(len(xyz))
    side = len(lattice)
    for i in range(len(xyz)):
        x, y = xyz[i, 0] / spacing_m, xyz[i, 1] / spacing_m
        column, row = int(np.floor(x)), int(np.floor(y))
        u, v = x - column, y - row
        total = squares = 0.0
        for step_y in range(2):
            for step_x in range(2):
                weight = (u if step_x else 1.0 - u) * (v if step_y else 1.0 - v)
                total += weight * lattice[(row + step_y) % side, (column + step_x) % side]
                squares += weight * weight
        field[i] = total / np.sqrt(squares)
    return field


@kernel
def _fill(
    xyz: Floats,
    list_offsets: Ints,
    list_nodes: Ints,
    kind: int,
    numbers: Floats,
    tx_mw: Floats,
    reach_m: Floats,
    least_mw: float,
    detect_mw: float,
    field: Floats,
    sigma_db: float,
    spacing_m: float,
    starts: Ints,
    corners: Floats,
    disks: Floats,
    losses: Floats,
    offsets: Ints,
    heard: Ints,
    near: Ints,
    powers: Floats,
) -> int:
    """Write the rows: in each, first those in reach of decoding, then those that are only disturbed."""
    found = 0
    room = np.empty(len(xyz), dtype=np.int64)
    room_powers = np.empty(len(xyz))
    for i in range(len(xyz)):
        offsets[i] = found
        weak = 0
        farthest = reach_m[i] * reach_m[i]
        for k in range(list_offsets[i], list_offsets[i + 1]):
            j = list_nodes[k]
            dx, dy, dz = xyz[j, 0] - xyz[i, 0], xyz[j, 1] - xyz[i, 1], xyz[j, 2] - xyz[i, 2]
            square = dx * dx + dy * dy + dz * dz
            if square > farthest:
                continue
            power = tx_mw[i] * gain(kind, numbers, square, xyz[i, 2], xyz[j, 2])
            if sigma_db > 0.0:
                shadow = shadow_db(sigma_db, spacing_m, xyz[i, 0], xyz[i, 1], xyz[j, 0], xyz[j, 1], field[i], field[j])
                power *= 10.0 ** (shadow / 10.0)
            if power >= least_mw and len(losses):
                lost = obstruction_db(xyz[i, 0], xyz[i, 1], xyz[j, 0], xyz[j, 1], starts, corners, disks, losses)
                power *= 10.0 ** (-lost / 10.0)
            if power >= detect_mw:
                near[found] = j
                powers[found] = power
                found += 1
            elif power >= least_mw:
                room[weak] = j
                room_powers[weak] = power
                weak += 1
        heard[i] = found - offsets[i]
        near[found : found + weak] = room[:weak]
        powers[found : found + weak] = room_powers[:weak]
        found += weak
    offsets[len(xyz)] = found
    return found
