"""ns-3's regression test of AODV, a chain of five that breaks, as the captures of its nodes show it."""

import struct
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from robonet.record.tables import Recorder
from robonet.scenario.wifi import Aodv, Captures

from .stage import NS_PER_S, Team, line, settings

NODES = 5
SPACING_M = 120.0
RANGE_M = 130.0
SECONDS = 10
BREAKS_AT = 3_333_333_333
PING_BYTES = 56
STEP = 1_000_000
"""Node 4 answers a ping at the next millisecond."""

_FILE_HEADER, _FRAME_HEADER, _MAC, _LLC, _IP, _UDP = 24, 16, 24, 8, 20, 8
_AODV_PORT = 654
_IPV4, _DATA_FRAME = 0x0800, 0x08
_REQUEST, _REPLY, _ERROR, _ACKNOWLEDGEMENT = 1, 2, 3, 4


class Seen(NamedTuple):
    """A frame in a capture."""

    time_s: float
    sender: int
    receiver: int
    """Or -1 for everyone."""
    kind: str
    """RREQ, RREP, RERR, RREP-ACK, HELLO, ARP or data."""
    ttl: int
    destinations: int
    """Named in a RERR."""


class Outcome(NamedTuple):
    """What became of the chain."""

    captures: list[list[Seen]]
    """By node."""
    replies: list[float]
    """When answers to pings arrived, in seconds."""


def run(seed: int, rules: str = "ns3") -> Outcome:
    """Ten seconds of it."""
    with tempfile.TemporaryDirectory(prefix="robonet-validation-") as folder:
        recorder = Recorder(Path(folder) / "tables")
        wifi = settings(
            tx_power_dbm=None,
            range_m=RANGE_M,
            arp=True,
            routing="aodv",
            aodv=Aodv(rules=rules),
            captures=Captures(prefix="c", format="802.11"),
        )
        team = Team(wifi, line(NODES, SPACING_M), seed, recorder)
        replies = _ping(team)
        team.model.end(SECONDS * NS_PER_S)
        files = [Path(folder) / "captures" / f"c-n{node}-0.pcap" for node in range(NODES)]
        return Outcome([_read(file) for file in files], replies)


def _ping(team: Team) -> list[float]:
    answers: list[tuple[int, int, int, int]] = []
    replies = []
    borders = np.unique([*range(STEP, SECONDS * NS_PER_S + 1, STEP), BREAKS_AT]).tolist()
    now = 0
    for until in borders:
        sends = answers
        if now % NS_PER_S == 0:
            sends = [*sends, (now, 0, NODES - 1, PING_BYTES)]
        if now == BREAKS_AT:
            team.places = team.places.copy()
            team.places[NODES // 2] = 1e5
        answers = []
        for arrival in team.run(until, sends):
            if arrival.receiver == 0:
                replies.append(arrival.time / NS_PER_S)
            else:
                answers.append((until, NODES - 1, 0, PING_BYTES))
        now = until
    return replies


def _read(file: Path) -> list[Seen]:
    """All data frames of a capture."""
    data = file.read_bytes()
    place, seen = _FILE_HEADER, []
    while place < len(data):
        seconds, nanoseconds, size, _ = struct.unpack_from("<IIII", data, place)
        place += _FRAME_HEADER
        frame = data[place : place + size]
        place += size
        if frame[0] == _DATA_FRAME:
            seen.append(_dissected(frame, seconds + nanoseconds / NS_PER_S))
    return seen


def _dissected(frame: bytes, time_s: float) -> Seen:
    receiver = -1 if frame[4] & 1 else _node(frame[4:10])
    sender = _node(frame[10:16])
    (ether_type,) = struct.unpack_from("!H", frame, _MAC + 6)
    if ether_type != _IPV4:
        return Seen(time_s, sender, receiver, "ARP", 0, 0)
    ip = frame[_MAC + _LLC :]
    (port,) = struct.unpack_from("!H", ip, _IP + 2)
    if port != _AODV_PORT:
        return Seen(time_s, sender, receiver, "data", ip[8], 0)
    message = ip[_IP + _UDP :]
    kind = {_REQUEST: "RREQ", _REPLY: "RREP", _ERROR: "RERR", _ACKNOWLEDGEMENT: "RREP-ACK"}[message[0]]
    if kind == "RREP" and receiver < 0:
        kind = "HELLO"
    return Seen(time_s, sender, receiver, kind, ip[8], message[3] if kind == "RERR" else 0)


def _node(hardware_address: bytes) -> int:
    return int.from_bytes(hardware_address[2:], "big") - 1
