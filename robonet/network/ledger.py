"""What became of every packet: each unicast packet ends once, as delivered or as dropped for one reason."""

from array import array
from collections import Counter
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

from robonet.link.messages import ARRIVAL, BROADCAST, FAILURE, FIRST_GROUP, REASONS
from robonet.link.simulators import Outcome, Setup, Transmissions
from robonet.record.statistics import delay_figures, hop_figures
from robonet.record.tables import Recorder

NO_SIGNAL = float("nan")
DELIVERED = "delivered"
FATES = (DELIVERED, *REASONS)
_REASON_NUMBERS = {reason: number for number, reason in enumerate(REASONS)}
_FATE_NUMBERS = {fate: number for number, fate in enumerate(FATES)}


class Packet(NamedTuple):
    """What the network knows of a packet."""

    number: int
    time: int
    source: int
    destination: int
    size: int

    @property
    def is_broadcast(self) -> bool:
        """Whether it is for everyone in reach."""
        return self.destination == BROADCAST

    @property
    def group(self) -> int | None:
        """The group that it is for, if it is for one."""
        return self.destination - FIRST_GROUP if FIRST_GROUP <= self.destination < BROADCAST else None


class Ledger:
    """Counts, times and records packets, and gathers what a step has to report."""

    def __init__(self, setup: Setup, recorder: Recorder | None) -> None:
        self._arrivals: list[tuple[int, int, int, float, int]] = []
        self._failures: list[tuple[int, int]] = []
        self._recorder = recorder
        self._open: dict[int, Packet] = {}
        self._sent = Counter({"unicast": 0, "broadcast": 0, "group": 0})
        self._receptions = Counter({"broadcast": 0, "group": 0})
        self._fates: Counter[str] = Counter()
        self._delays_ns = array("q")
        self._hops = array("H")
        self._digest = blake2b(digest_size=16)
        if recorder is not None:
            names = [node.name for node in setup.nodes]
            self._packets = recorder.table(
                "packets",
                {
                    "packet": "u8",
                    "sent_ns": "i8",
                    "source": "i4",
                    "destination": "i4",
                    "size_bytes": "u4",
                    "ended_ns": "i8",
                    "fate": "i1",
                    "hops": "u2",
                },
                {"source": names, "destination": names, "fate": FATES},
            )
            self._heard = recorder.table(
                "receptions",
                {
                    "packet": "u8",
                    "source": "i4",
                    "receiver": "i4",
                    "size_bytes": "u4",
                    "sent_ns": "i8",
                    "arrived_ns": "i8",
                    "hops": "u2",
                },
                {"source": names, "receiver": names},
            )

    def open(self, transmissions: Transmissions) -> list[Packet]:
        """Take in the packets of one step."""
        packets = [Packet(*row) for row in transmissions.rows.tolist()]
        for packet in packets:
            if packet.is_broadcast:
                self._sent["broadcast"] += 1
            elif packet.group is not None:
                self._sent["group"] += 1
            else:
                self._sent["unicast"] += 1
                self._open[packet.number] = packet
        return packets

    def delivered(self, packet: Packet, receiver: int, time: int, hops: int, signal_dbm: float = NO_SIGNAL) -> None:
        """A packet reached a node that it is for."""
        self._arrivals.append((packet.number, time, receiver, signal_dbm, hops))
        if packet.destination < FIRST_GROUP:
            self._close(packet, time, DELIVERED, hops)
            self._delays_ns.append(time - packet.time)
            self._hops.append(hops)
        else:
            self._receptions["broadcast" if packet.is_broadcast else "group"] += 1
            row = (packet.number, packet.source, receiver, packet.size, packet.time, time, hops)
            self._note(row)
            if self._recorder is not None:
                self._heard.add(row)

    def dropped(self, packet: Packet, time: int, reason: str, hops: int = 0) -> None:
        """A unicast packet is given up."""
        self._close(packet, time, reason, hops)
        self._failures.append((packet.number, _REASON_NUMBERS[reason]))

    def take_outcome(self) -> Outcome:
        """What the step that ends here brought."""
        outcome = Outcome()
        if self._arrivals:
            outcome.arrivals = np.array(self._arrivals, ARRIVAL)
            self._arrivals = []
        if self._failures:
            outcome.failures = np.array(self._failures, FAILURE)
            self._failures = []
        if self._recorder is not None:
            self._recorder.tick()
        return outcome

    def close(self, now: int) -> dict[str, Any]:
        """End the run: what is under way is dropped, the record is closed, the counts are told."""
        for packet in sorted(self._open.values()):
            self._close(packet, now, "run_ended", 0)
        if self._recorder is not None:
            self._recorder.flush()
        dropped = {reason: self._fates[reason] for reason in REASONS if self._fates[reason]}
        return {
            "packets": {
                "sent": self._sent["unicast"],
                "delivered": self._fates[DELIVERED],
                "dropped": dropped,
            },
            "broadcasts": {"sent": self._sent["broadcast"], "receptions": self._receptions["broadcast"]},
            "multicasts": {"sent": self._sent["group"], "receptions": self._receptions["group"]},
            "delay_s": delay_figures(self._delays_ns),
            "hops": hop_figures(self._hops),
            "digest": self._digest.hexdigest(),
        }

    def _close(self, packet: Packet, time: int, fate: str, hops: int) -> None:
        del self._open[packet.number]
        self._fates[fate] += 1
        row = (*packet, time, _FATE_NUMBERS[fate], hops)
        self._note(row)
        if self._recorder is not None:
            self._packets.add(row)

    def _note(self, row: tuple[int, ...]) -> None:
        self._digest.update(repr(row).encode())
