"""`ns2`: ns-2's wireless nodes, in lock-step with the robots."""

from itertools import groupby
from typing import Any

import numpy as np

from robonet.clock import NS_PER_S, s_from_ns
from robonet.errors import SimulatorError
from robonet.link.messages import FIRST_GROUP
from robonet.link.simulators import Floats, Neighbours, Offer, Outcome, Setup, Transmissions
from robonet.network.ideal import members_of_groups
from robonet.network.ledger import Ledger, Packet
from robonet.record.tables import Recorder
from robonet.scenario.schema import Network
from robonet.space import NeighbourLists

from .child import NsProcess
from .fates import LONGEST_LIFE_NS, Fates
from .translation import Radios, translate

IP_BYTES, UDP_BYTES, LLC_BYTES = 20, 8, 8
"""Headers between a payload and 802.11."""
SPARE_BYTES = 6
"""ns-2's 802.11 header has a fourth address, which a frame between two stations has not."""
HEADER_BYTES = UDP_BYTES + LLC_BYTES - SPARE_BYTES
"""What is added to a payload so that its frame is as long as a real one; routing agents add the IP header."""
LARGEST_PAYLOAD_BYTES = 2304 - IP_BYTES - UDP_BYTES - LLC_BYTES
"""An 802.11 frame carries 2304 bytes, and ns-2 cuts nothing into pieces."""
START_TIMEOUT_S = 60.0


class Ns2Network:
    """ns-2 as a child of this process."""

    def __init__(self, settings: Network, recorder: Recorder | None = None) -> None:
        self._ns2 = settings.ns2
        self._wifi = settings.wifi
        self._recorder = recorder

    def start(self, setup: Setup) -> Offer:
        """Translate the scenario, start ns-2 and have it build its nodes."""
        self._radios: Radios = translate(self._ns2, self._wifi, setup)
        self._names = [node.name for node in setup.nodes]
        self._members = members_of_groups(setup)
        self._tells_neighbours = "neighbours" in setup.wants
        self._now = 0
        self._positions_m: Floats = np.full((len(self._names), 3), np.nan)
        if self._tells_neighbours:
            self._lists = NeighbourLists(np.array(self._radios.ranges_m))
        self._ledger = Ledger(setup, self._recorder)
        has_routing = self._radios.routing != "none"
        self._header_bytes = HEADER_BYTES if has_routing else HEADER_BYTES + IP_BYTES
        self._fates = Fates(self._ledger, len(self._names), has_routing=has_routing)
        self._timeout_s = self._ns2.step_timeout_s
        self._child = NsProcess(START_TIMEOUT_S)
        self._child.say(" ".join(f"{word} {value}" for word, value in self._radios.config.items()), START_TIMEOUT_S)
        self._read(self._child.hear("building its nodes", START_TIMEOUT_S), 0)
        return Offer("ns2", frozenset({"failures", "neighbours"}), longest_life_ns=LONGEST_LIFE_NS)

    def step(self, until: int, positions_m: Floats, transmissions: Transmissions) -> Outcome:
        """Move everyone, hand over what is sent, and let ns-2 run to the border."""
        moves = self._moves(positions_m)
        sends = self._sends(self._ledger.open(transmissions))
        self._child.say(f"step {_seconds(until)} {{{moves}}} {{{sends}}}", self._timeout_s)
        doing = f"simulating the step from {s_from_ns(self._now):g} to {s_from_ns(until):g} s"
        self._read(self._child.hear(doing, self._timeout_s), until)
        self._now = until
        outcome = self._ledger.take_outcome()
        if self._tells_neighbours:
            self._lists.update(positions_m)
            offsets, nodes = self._lists.offsets.astype(np.uint32), self._lists.nodes.astype(np.uint32)
            outcome.neighbours = Neighbours(offsets, nodes, np.ones(len(nodes), dtype=np.float32))
        return outcome

    def end(self, now: int) -> dict[str, Any]:
        """End ns-2 and account for what is under way."""
        self._child.end()
        report = self._ledger.close(now)
        report["ns2"] = {"routing": self._radios.routing, "repeated_arrivals": self._fates.repeated}
        return report

    def _moves(self, positions_m: Floats) -> str:
        """Who is elsewhere than in the last step, and where, in ns-2's area."""
        moved = np.flatnonzero((positions_m != self._positions_m).any(axis=1)).tolist()
        low_m, high_m = self._radios.low_m, self._radios.high_m
        parts = []
        for node in moved:
            x, y, z = positions_m[node].tolist()
            if not (low_m[0] < x < high_m[0] and low_m[1] < y < high_m[1]):
                raise self._misplaced(node, f"at ({x:g}, {y:g}) m, too far outside the arena for ns-2's area")
            if z and self._radios.is_flat:
                raise self._misplaced(node, f"{z:g} m above the ground, on which ns-2's two-ray nodes have to stay")
            parts.append(f"{node} {x - low_m[0]!r} {y - low_m[1]!r} {z!r}")
        self._positions_m = positions_m.copy()
        return " ".join(parts)

    def _misplaced(self, node: int, where: str) -> SimulatorError:
        return SimulatorError(f"'{self._names[node]}' is {where} (at simulated time {s_from_ns(self._now):g} s)")

    def _sends(self, packets: list[Packet]) -> str:
        """What is sent when: packets of one moment together, because their order numbers them in ns-2."""
        parts = []
        packets.sort(key=lambda packet: (packet.time, packet.number))
        for time, batch in groupby(packets, key=lambda packet: packet.time):
            sends = " ".join(send for packet in batch for send in self._copies(packet))
            if sends:
                parts.append(f"{_seconds(time)} {{{sends}}}")
        return " ".join(parts)

    def _copies(self, packet: Packet) -> list[str]:
        """One packet as ns-2 is to send it; to a group, a copy for each member."""
        if packet.size > LARGEST_PAYLOAD_BYTES:
            if packet.destination < FIRST_GROUP:
                self._ledger.dropped(packet, packet.time, "too_long")
            return []
        group = packet.group
        if group is not None:
            receivers = [member for member in self._members[group] if member != packet.source]
        else:
            receivers = [packet.destination]
        size = packet.size + self._header_bytes
        sends = []
        for receiver in receivers:
            self._fates.begin(packet, receiver)
            sends.append(f"{packet.source} {size} {-1 if packet.is_broadcast else receiver}")
        return sends

    def _read(self, lines: list[bytes], until: int) -> None:
        stray = self._fates.read(lines, self._now, until)
        if stray is not None:
            raise self._child.refuse(stray)


def _seconds(time: int) -> str:
    """To the nanosecond, as ns-2 reads it."""
    return f"{time // NS_PER_S}.{time % NS_PER_S:09d}"
