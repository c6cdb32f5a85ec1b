"""What the tables of a run say that its summary does not: delays packet by packet, places of senders, links."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robonet.errors import RecordError
from robonet.record.folder import SCENARIO, RunFolder
from robonet.scenario import load_recorded
from robonet.scenario.schema import Scenario

DELIVERED = "delivered"
DEEP_M = -100.0
"""What is so far below the floor is not there: bodies in reserve."""

WINDOW_SHARE, SHORTEST_NS, LONGEST_NS = 0.2, 1e9, 10e9
"""Links around a moment are those of a fifth of the time to the next one, but of 1 to 10 s: robots move meanwhile."""


class Delays(NamedTuple):
    """How long packets took."""

    arrived_s: NDArray[np.float64]
    sent: int
    """How many were sent, arrived or not."""


class Sends(NamedTuple):
    """From where unicast packets were sent, and which of them arrived."""

    xy_m: NDArray[np.float64]
    has_arrived: NDArray[np.bool_]


class Moment(NamedTuple):
    """Where everyone was at a time, and who exchanged packets with whom around it."""

    time_s: float
    window_s: float
    """How long around that time packets were counted."""
    xy_m: dict[str, tuple[float, float]]
    stations: tuple[str, ...]
    links: dict[tuple[str, str], int]
    """Packets by pair of nodes, hop by hop where hops were recorded."""


class _Coded(NamedTuple):
    """A column of names: as numbers into a list."""

    names: list[str]
    codes: NDArray[np.int64]


def run_scenario_of(folder: Path) -> Scenario:
    """The scenario of a run."""
    return load_recorded(folder / SCENARIO)


def _read(folder: Path, table: str, columns: list[str]) -> dict[str, Any] | None:
    """Some columns of a table, names as numbers; None without one finished part."""
    parts = sorted((RunFolder(folder).tables / table).glob("[0-9]*.parquet"))
    if not parts:
        return None
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        whole = pa.concat_tables([pq.read_table(part, columns=columns) for part in parts]).unify_dictionaries()
    except (OSError, pa.ArrowException) as error:
        raise RecordError(f"cannot read {folder}: {error}") from error
    return {name: _array(whole[name].combine_chunks()) for name in columns}


def _array(column: Any) -> Any:
    if hasattr(column, "dictionary"):
        return _Coded(column.dictionary.to_pylist(), column.indices.to_numpy(zero_copy_only=False).astype(np.int64))
    return column.to_numpy(zero_copy_only=False)


def walls(folder: Path) -> NDArray[np.float64]:
    """The boxes that a floor plan became: left, bottom, width and height."""
    found = _read(folder, "walls", ["x_m", "y_m", "width_m", "height_m"])
    if found is None:
        return np.zeros((0, 4))
    x, y, width, height = (np.asarray(found[name], dtype=np.float64) for name in found)
    return np.stack((x - width / 2, y - height / 2, width, height), axis=1)


def row_count(folder: Path, table: str) -> int:
    """How long a table is, without reading it."""
    import pyarrow.parquet as pq

    parts = sorted((RunFolder(folder).tables / table).glob("[0-9]*.parquet"))
    return sum(int(pq.read_metadata(part).num_rows) for part in parts)


def delays(folder: Path) -> Delays | None:
    """Of unicast packets; of broadcasts as each receiver heard them where nothing else was sent."""
    packets = _read(folder, "packets", ["sent_ns", "ended_ns", "fate"])
    if packets is not None and len(packets["sent_ns"]):
        arrived = _is(packets["fate"], DELIVERED)
        taken = (packets["ended_ns"] - packets["sent_ns"])[arrived]
        return Delays(np.sort(taken) / 1e9, len(arrived))
    heard = _read(folder, "receptions", ["sent_ns", "arrived_ns"])
    if heard is None or not len(heard["sent_ns"]):
        return None
    return Delays(np.sort(heard["arrived_ns"] - heard["sent_ns"]) / 1e9, len(heard["sent_ns"]))


def _is(column: _Coded, name: str) -> NDArray[np.bool_]:
    number = column.names.index(name) if name in column.names else -1
    return np.asarray(column.codes == number, dtype=np.bool_)


def sends(folder: Path, scenario: Scenario) -> Sends | None:
    """Where the senders of unicast packets were, between two recorded poses on the straight line."""
    packets = _read(folder, "packets", ["sent_ns", "source", "fate"])
    paths = _Paths.read(folder, scenario)
    if packets is None or paths is None or not len(packets["sent_ns"]):
        return None
    source: _Coded = packets["source"]
    xy = np.full((len(source.codes), 2), np.nan)
    for number in np.unique(source.codes).tolist():
        mine = source.codes == number
        xy[mine] = paths.at(source.names[number], packets["sent_ns"][mine])
    known = ~np.isnan(xy[:, 0])
    return Sends(xy[known], _is(packets["fate"], DELIVERED)[known])


class _Paths:
    """The poses of a run, one robot after the other."""

    def __init__(self, poses: dict[str, Any], scenario: Scenario) -> None:
        robots: _Coded = poses["robot"]
        order = np.lexsort((poses["time_ns"], robots.codes))
        self._times = poses["time_ns"][order]
        self._xyz = np.stack((poses["x_m"], poses["y_m"], poses["z_m"]), axis=1)[order]
        ends = np.searchsorted(robots.codes[order], np.arange(len(robots.names) + 1))
        self._rows = {name: slice(ends[i], ends[i + 1]) for i, name in enumerate(robots.names) if ends[i + 1] > ends[i]}
        self.stations = {station.name: station.at_m for station in scenario.stations}
        self.last_ns = int(self._times[-1]) if len(self._times) else 0

    @classmethod
    def read(cls, folder: Path, scenario: Scenario) -> "_Paths | None":
        poses = _read(folder, "poses", ["time_ns", "robot", "x_m", "y_m", "z_m"])
        return None if poses is None or not len(poses["time_ns"]) else cls(poses, scenario)

    @property
    def names(self) -> list[str]:
        """All robots."""
        return list(self._rows)

    def at(self, name: str, times_ns: Any) -> NDArray[np.float64]:
        """Where one was at these times; not a number where it is unknown or was absent."""
        times = np.atleast_1d(np.asarray(times_ns))
        if name in self.stations:
            return np.tile(np.asarray(self.stations[name][:2], dtype=np.float64), (len(times), 1))
        if name not in self._rows:
            return np.full((len(times), 2), np.nan)
        rows = self._rows[name]
        x, y, z = (np.interp(times, self._times[rows], self._xyz[rows, axis]) for axis in range(3))
        return np.where((z > DEEP_M)[:, None], np.stack((x, y), axis=1), np.nan)


def moments(folder: Path, scenario: Scenario, count: int) -> list[Moment]:
    """Evenly spread over a run."""
    paths = _Paths.read(folder, scenario)
    if paths is None or not paths.last_ns:
        return []
    part = paths.last_ns / count
    half = min(max(part * WINDOW_SHARE, SHORTEST_NS), LONGEST_NS, part) / 2
    sources, targets, times = _exchanges(folder)
    found = []
    for middle in (np.arange(count) + 0.5) * part:
        there = {name: paths.at(name, middle)[0] for name in (*paths.names, *paths.stations)}
        xy = {name: (float(x), float(y)) for name, (x, y) in there.items() if not np.isnan(x)}
        links: dict[tuple[str, str], int] = {}
        for index in np.flatnonzero((times >= middle - half) & (times < middle + half)).tolist():
            pair = tuple(sorted((sources[index], targets[index])))
            if pair[0] in xy and pair[1] in xy:
                links[pair[0], pair[1]] = links.get((pair[0], pair[1]), 0) + 1
        found.append(Moment(middle / 1e9, 2 * half / 1e9, xy, tuple(paths.stations), links))
    return found


def has_hops(folder: Path) -> bool:
    """Whether it was recorded which way packets took."""
    return any((RunFolder(folder).tables / "hops").glob("[0-9]*.parquet"))


def _exchanges(folder: Path) -> tuple[list[str], list[str], NDArray[np.int64]]:
    """Who passed a packet to whom, and when: each hop where recorded, else end to end; broadcasts as heard."""
    parts: list[tuple[Iterable[str], Iterable[str], NDArray[np.int64]]] = []
    hops = _read(folder, "hops", ["packet", "hop", "node", "arrived_ns"])
    if hops is not None:
        node: _Coded = hops["node"]
        order = np.lexsort((hops["hop"], hops["packet"]))
        codes, packet, times = node.codes[order], hops["packet"][order], hops["arrived_ns"][order]
        follows = packet[1:] == packet[:-1]
        parts.append((_named(node, codes[:-1][follows]), _named(node, codes[1:][follows]), times[1:][follows]))
    else:
        packets = _read(folder, "packets", ["source", "destination", "ended_ns", "fate"])
        if packets is not None:
            arrived = _is(packets["fate"], DELIVERED)
            ends = [_named(packets[side], packets[side].codes[arrived]) for side in ("source", "destination")]
            parts.append((ends[0], ends[1], packets["ended_ns"][arrived]))
    if not parts or not len(parts[0][2]):
        heard = _read(folder, "receptions", ["source", "receiver", "arrived_ns"])
        if heard is not None:
            ends = [_named(heard[side], heard[side].codes) for side in ("source", "receiver")]
            parts.append((ends[0], ends[1], heard["arrived_ns"]))
    sources = [name for part in parts for name in part[0]]
    targets = [name for part in parts for name in part[1]]
    times_ns = np.concatenate([part[2] for part in parts]) if parts else np.zeros(0, dtype=np.int64)
    return sources, targets, times_ns


def _named(column: _Coded, codes: NDArray[np.int64]) -> list[str]:
    return [column.names[code] for code in codes.tolist()]
