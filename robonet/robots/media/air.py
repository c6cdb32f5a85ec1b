"""What carries the messages of range-and-bearing devices: one medium for all groups of a world."""

import numpy as np
from numpy.typing import NDArray

from robonet.robots.media import pairs
from robonet.robots.media.draws import Keys, chance_of_dropout, key_of, keys_of
from robonet.robots.media.points import Points
from robonet.robots.media.shadows import DIRECTIONS, Table, cast_shadows
from robonet.robots.sight import Indices, Scene, Targets, copy_xy, is_level, scene_of
from robonet.robots.world import Group, World
from robonet.space import Floats, Grid, Ints, sort_into_cells

SILENT = -1
CROWD = 60
"""From so many in range on, most are hidden by those who are near."""
SHADOW_CELLS = 3
"""How far away what casts shadows may be."""
CELLS_PER_RANGE = 3
"""Finer cells leave out more of those who are out of range, and take longer to go through."""


class Air:
    """What everyone said last, and who hears it.

    Messages are taken up when everyone has moved, and heard in the step that follows. Who hears whom is looked at
    when first asked for, from where everyone is then.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        groups = [(group, group.devices.range_and_bearing) for group in world.groups]
        carried = [(group, settings) for group, settings in groups if settings is not None]
        rows = np.concatenate([np.arange(group.rows.start, group.rows.stop) for group, _ in carried])
        each = [len(group) for group, _ in carried]
        first = np.concatenate(([0], np.cumsum(each))).tolist()
        self._parts = {group.name: slice(first[k], first[k + 1]) for k, (group, _) in enumerate(carried)}
        lost = [chance_of_dropout(settings.range_noise, settings.bearing_noise) for _, settings in carried]
        misses = [
            1.0 - (1.0 - settings.drop_probability) * (1.0 - chance)
            for (_, settings), chance in zip(carried, lost, strict=True)
        ]
        self._carriers = pairs.Carriers(
            rows.astype(np.int32),
            np.repeat([settings.range_m for _, settings in carried], each),
            np.repeat([not settings.line_of_sight for _, settings in carried], each),
            np.repeat(misses, each),
            world.height_m[rows] / 2,
        )
        self._usual_m = float(np.median(self._carriers.reach))
        self._all_need_sight = not self._carriers.through.any()
        self._keys: Keys = keys_of(world)[rows] if any(misses) else np.zeros(0, dtype=np.uint64)
        self._salt = key_of(world.seed, "range_and_bearing", "drop")
        count = len(rows)
        self.payload_bytes = max(settings.payload_bytes for _, settings in carried)
        """The longest message that anybody can send."""
        self.said: NDArray[np.uint8] = np.zeros((count, self.payload_bytes), dtype=np.uint8)
        """What everyone says from now on; behind its end a message is 0."""
        self.lengths = np.full(count, SILENT, dtype=np.int32)
        """How long it is; less than 0: nothing."""
        self.is_new = True
        """Whether somebody says something else than before."""
        self._carried = np.zeros_like(self.said)
        self._carried_lengths = self.lengths.copy()
        self._words: dict[int, bytes] = {}
        self._computed = -1, -1
        self.offsets: Ints = np.zeros(count + 1, dtype=np.int64)
        """What carrier c hears are readings `offsets[c]` to `offsets[c + 1]`."""
        self._sent = self.offsets.copy()
        self._begin, self._end = np.zeros(count, dtype=np.int32), np.zeros(count, dtype=np.int32)
        self._room = 16
        self._partner: Indices = np.zeros(0, dtype=np.int32)
        self._ways: NDArray[np.int8] = np.zeros(0, dtype=np.int8)
        self._receivers: Indices = np.zeros(0, dtype=np.int32)
        self._all_senders: Indices = self._receivers
        self._all_places: Floats = np.zeros((3, 0))
        self._shade: Table = np.zeros((0, DIRECTIONS), dtype=np.float32)
        self.senders: Indices = np.zeros(0, dtype=np.int32)
        """Which carrier a reading is of."""
        self.places: Floats = np.zeros((3, 0))
        """Range, bearing and elevation of all readings."""
        world.after_physics.append(self._take_up)

    def part_of(self, group: Group) -> slice:
        """Which of the carriers are a group's."""
        return self._parts[group.name]

    def _take_up(self) -> None:
        """A step is over: what is said now will be heard."""
        self._carried_lengths[:] = self.lengths
        if self._world.absent:
            self._carried_lengths[~self._world.present[self._carriers.row]] = SILENT
        if self.is_new:
            longest = max(int(self.lengths.max(initial=0)), 0)
            self._carried[:, :longest] = self.said[:, :longest]
            self._words.clear()
            self.is_new = False

    # --- what is heard -----------------------------------------------------------------------------------

    def listen(self) -> bool:
        """See to it that readings are of this step; whether they are new."""
        world = self._world
        at = world.index, world.edits
        if self._computed == at:
            return False
        self._computed = at
        self.senders = self.senders[:0]
        self.places = self.places[:, :0]
        if int(self._carried_lengths.max(initial=SILENT)) > SILENT:
            self._find()
        else:
            self.offsets[:] = 0
        return True

    def word(self, sender: int) -> bytes:
        """The message of a carrier."""
        found = self._words.get(sender)
        if found is None:
            found = self._words[sender] = self._carried[sender, : self._carried_lengths[sender]].tobytes()
        return found

    def words(self, readings: slice) -> NDArray[np.uint8]:
        """The messages of some readings."""
        return self._carried[self.senders[readings]]

    def lengths_of(self, readings: slice) -> Indices:
        """How long they are."""
        return self._carried_lengths[self.senders[readings]]

    def keys(self, readings: slice) -> Keys:
        """The keys of those who sent them."""
        return keys_of(self._world)[self._carriers.row[self.senders[readings]]]

    def _find(self) -> None:
        world, carriers = self._world, self._carriers
        numbers = np.arange(len(carriers.row), dtype=np.int32)
        if world.absent:
            numbers = np.flatnonzero(world.present[carriers.row]).astype(np.int32)
        count = len(numbers)
        rows, middle = carriers.row[numbers], carriers.middle[numbers]
        at = np.empty((3, count))
        left, bottom, right, top = copy_xy(rows, world.xyz, at)
        np.add(world.xyz[rows, 2], middle, out=at[2])
        grid = Grid.covering(left, bottom, right, top, self._usual_m / CELLS_PER_RANGE, count)
        starts = np.empty(grid.columns * grid.rows + 1, dtype=np.int64)
        order = np.empty(count, dtype=np.int64)
        sort_into_cells(at[0], at[1], grid, starts, order)
        x, y, z, reach = np.empty((4, count))
        points = Points(x, y, z, reach, np.empty(count, np.int32), np.empty(count, np.int32))
        alike = pairs.arrange(order, at, numbers, self._carried_lengths, carriers, points)
        scene = scene_of(world)
        level = is_level(float(at[2].min()), float(at[2].max()), scene.bodies)
        shadows = self._shadows(points, scene, level)
        begin, end = self._begin[:count], self._end[:count]
        while True:
            room = self._room
            if len(self._partner) < room * count:
                self._partner, self._ways = np.empty(room * count, np.int32), np.empty(room * count, np.int8)
            fits: list[bool] = []

            def work(first: int, last: int, room: int = room, fits: list[bool] = fits) -> None:
                fits.append(
                    pairs.pair_up(
                        first, last, room, points, grid, starts, alike, level, carriers, self._keys, self._salt,
                        world.index, scene, Targets.room(count, scene), shadows, np.empty(count + 1, np.int32),
                        begin, end, self._partner, self._ways,
                    )
                )  # fmt: skip

            world.threads.over_rows(count, work)
            if all(fits):
                break
            self._room *= 2
        found = pairs.count_heard(points, begin, end, self._partner, self._ways, self._sent, self.offsets)
        if found > len(self._receivers):
            more = found + found // 4
            self._receivers, self._all_senders = np.empty((2, more), dtype=np.int32)
            self._all_places = np.empty((3, more))
        self.senders, self.places = self._all_senders[:found], self._all_places[:, :found]
        pairs.list_heard(
            points, begin, end, self._partner, self._ways, self._sent, self.offsets, self._receivers, self.senders
        )
        world.threads.over_rows(
            len(carriers.row),
            lambda first, last: pairs.read_places(
                first, last, self.offsets, self.senders, carriers, world.xyz, world.heading, *self.places
            ),
        )

    def _shadows(self, points: Points, scene: Scene, level: bool) -> Table:
        """What is surely hidden, where so many are in range that it pays to know."""
        world, blockers = self._world, scene.blockers
        count, grid = len(points.x), blockers.grid
        window = SHADOW_CELLS * grid.cell_m
        in_range = len(blockers.x) * self._usual_m**2 * 3 / (grid.columns * grid.rows * grid.cell_m**2)
        if not level or in_range < CROWD or not self._all_need_sight:
            return np.zeros((0, DIRECTIONS), dtype=np.float32)
        if len(self._shade) < count:
            self._shade = np.empty((count, DIRECTIONS), dtype=np.float32)
        shadows = self._shade[:count]
        inner = inner_radii(world)
        world.threads.over_rows(
            count,
            lambda first, last: cast_shadows(
                first, last, points, window, inner, np.empty((4, len(blockers.x))), blockers, shadows
            ),
        )
        return shadows


def inner_radii(world: World) -> Floats:
    """How far each body reaches in every direction."""
    offsets, corners = world.shapes.offsets, world.shapes.corners
    inner = world.body_m.copy()
    for shape in range(len(offsets) - 1):
        outline = corners[offsets[shape] : offsets[shape + 1]]
        side = np.roll(outline, -1, axis=0) - outline
        least = (outline[:, 0] * side[:, 1] - outline[:, 1] * side[:, 0]) / np.hypot(side[:, 0], side[:, 1])
        inner[(world.shape == shape) & (inner > 0.0)] = max(float(least.min()), 0.0)
    return inner


def air_of(world: World) -> Air:
    """The medium of a world."""
    air: Air | None = world.media.get("range_and_bearing")
    if air is None:
        air = world.media["range_and_bearing"] = Air(world)
    return air
