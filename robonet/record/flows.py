"""Statistics of each flow: what ns-3's FlowMonitor counts, in the XML it writes, and as a table."""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from ipaddress import IPv4Address
from pathlib import Path
from typing import TextIO

from robonet.errors import RecordError
from robonet.link.messages import BROADCAST, FIRST_GROUP, REASONS

UDP = 17
EVERYONE = "*"
"""Stands in the table for the destination of broadcasts; no node or group can be called so."""

NEVER = -1
"""A time in the table of what did not happen."""
NO_DELAY_YET = 2**63 - 1
"""The smallest delay of a flow of which nothing arrived, as FlowMonitor has it."""

CODES_OF_NS3 = {"no_route": 0, "ttl": 1, "queue_full": 3}
"""Reasons that ns-3's Ipv4FlowProbe knows too; all others are numbered from FIRST_CODE, after the last of its own."""
FIRST_CODE = 9
_CODES = {reason: CODES_OF_NS3.get(reason, FIRST_CODE + number) for number, reason in enumerate(REASONS)}

COLUMNS = {
    "flow": "u4",
    "source": "i4",
    "destination": "i4",
    "source_port": "u2",
    "destination_port": "u2",
    "first_sent_ns": "i8",
    "last_sent_ns": "i8",
    "first_received_ns": "i8",
    "last_received_ns": "i8",
    "delay_sum_ns": "i8",
    "jitter_sum_ns": "i8",
    "last_delay_ns": "i8",
    "smallest_delay_ns": "i8",
    "largest_delay_ns": "i8",
    "sent_packets": "u8",
    "sent_bytes": "u8",
    "received_packets": "u8",
    "received_bytes": "u8",
    "lost_packets": "u8",
    "times_forwarded": "u8",
    **{f"lost_{reason}": "u8" for reason in REASONS},
}
"""Of the table `flows`: `source` and `destination` are indices of `FlowTable.labels`."""

Key = tuple[int, int, int, int]
"""Source, destination, source port, destination port: nodes, groups and BROADCAST by their numbers."""


class Flow:
    """What became of the packets of one flow so far."""

    __slots__ = (
        "delay_sum",
        "first_received",
        "first_sent",
        "jitter_sum",
        "largest_delay",
        "last_delay",
        "last_received",
        "last_sent",
        "lost",
        "received_bytes",
        "received_packets",
        "sent_bytes",
        "sent_packets",
        "smallest_delay",
        "times_forwarded",
    )

    def __init__(self, first_sent: int) -> None:
        self.first_sent = self.last_sent = first_sent
        self.first_received = self.last_received = NEVER
        self.delay_sum = self.jitter_sum = 0
        self.last_delay = self.largest_delay = NEVER
        self.smallest_delay = NO_DELAY_YET
        self.sent_packets = self.sent_bytes = 0
        self.received_packets = self.received_bytes = 0
        self.times_forwarded = 0
        """Summed over packets received."""
        self.lost: dict[str, tuple[int, int]] = {}
        """Packets and bytes by reason."""

    @property
    def lost_packets(self) -> int:
        """For whatever reason."""
        return sum(packets for packets, _ in self.lost.values())


class FlowTable:
    """All flows of a run, in the order of their first packets.

    Sizes are those of IP packets, as FlowMonitor counts them. A packet for many is sent once and received by each.
    """

    def __init__(self, nodes: Sequence[str], groups: Sequence[str], address_of: Callable[[int], bytes]) -> None:
        self._nodes = nodes
        self._groups = groups
        self._address_of = address_of
        self._flows: dict[Key, Flow] = {}

    def __len__(self) -> int:
        return len(self._flows)

    def sent(
        self, source: int, destination: int, source_port: int, destination_port: int, time: int, size: int
    ) -> None:
        """A packet set out."""
        key = (source, destination, source_port, destination_port)
        flow = self._flows.get(key)
        if flow is None:
            flow = self._flows[key] = Flow(time)
        flow.last_sent = time
        flow.sent_packets += 1
        flow.sent_bytes += size

    def received(
        self,
        source: int,
        destination: int,
        source_port: int,
        destination_port: int,
        time: int,
        delay: int,
        size: int,
        hops: int,
    ) -> None:
        """A packet that was sent reached a node that it is for."""
        flow = self._flows[source, destination, source_port, destination_port]
        if flow.received_packets:
            flow.jitter_sum += abs(delay - flow.last_delay)  # RFC 3393, as FlowMonitor has it
        else:
            flow.first_received = time
        flow.smallest_delay = min(flow.smallest_delay, delay)
        flow.largest_delay = max(flow.largest_delay, delay)
        flow.last_delay = delay
        flow.delay_sum += delay
        flow.last_received = time
        flow.received_packets += 1
        flow.received_bytes += size
        flow.times_forwarded += max(hops - 1, 0)

    def lost(
        self, source: int, destination: int, source_port: int, destination_port: int, reason: str, size: int
    ) -> None:
        """A packet that was sent is given up, for one of REASONS (robonet.link.messages)."""
        losses = self._flows[source, destination, source_port, destination_port].lost
        packets, total = losses.get(reason, (0, 0))
        losses[reason] = (packets + 1, total + size)

    @property
    def labels(self) -> dict[str, Sequence[str]]:
        """The names that `source` and `destination` are indices of."""
        return {"source": self._nodes, "destination": [*self._nodes, *self._groups, EVERYONE]}

    def rows(self) -> Iterator[tuple[int, ...]]:
        """One row a flow, in the order of COLUMNS."""
        for number, ((source, destination, *ports), flow) in enumerate(self._flows.items(), start=1):
            yield (
                number,
                source,
                self._label_of(destination),
                *ports,
                flow.first_sent,
                flow.last_sent,
                flow.first_received,
                flow.last_received,
                flow.delay_sum,
                flow.jitter_sum,
                flow.last_delay,
                flow.smallest_delay if flow.received_packets else NEVER,
                flow.largest_delay,
                flow.sent_packets,
                flow.sent_bytes,
                flow.received_packets,
                flow.received_bytes,
                flow.lost_packets,
                flow.times_forwarded,
                *(flow.lost.get(reason, (0, 0))[0] for reason in REASONS),
            )

    def write_xml(self, path: Path) -> None:
        """Write what parsers of FlowMonitor's files read, whole or not at all."""
        hidden = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            with hidden.open("w", encoding="utf-8") as file:
                self._write_xml(file)
            hidden.replace(path)
        except OSError as error:
            with contextlib.suppress(OSError):
                hidden.unlink(missing_ok=True)
            raise RecordError(f"cannot write {path}: {error.strerror}") from error

    def _label_of(self, destination: int) -> int:
        if destination < FIRST_GROUP:
            return destination
        group = len(self._groups) if destination == BROADCAST else destination - FIRST_GROUP
        return len(self._nodes) + group

    def _write_xml(self, file: TextIO) -> None:
        file.write('<?xml version="1.0" ?>\n<FlowMonitor>\n  <FlowStats>\n')
        for number, flow in enumerate(self._flows.values(), start=1):
            file.write(f"    <Flow{_attributes(_statistics(number, flow))}>\n")
            losses = sorted((_CODES[reason], reason, *count) for reason, count in flow.lost.items())
            for code, reason, packets, _ in losses:
                file.write(f'      <packetsDropped reasonCode="{code}" number="{packets}" reason="{reason}" />\n')
            for code, reason, _, total in losses:
                file.write(f'      <bytesDropped reasonCode="{code}" bytes="{total}" reason="{reason}" />\n')
            file.write("    </Flow>\n")
        file.write("  </FlowStats>\n  <Ipv4FlowClassifier>\n")
        for number, key in enumerate(self._flows, start=1):
            file.write(f"    <Flow{_attributes(self._five_tuple(number, key))} />\n")
        file.write("  </Ipv4FlowClassifier>\n</FlowMonitor>\n")

    def _five_tuple(self, number: int, key: Key) -> dict[str, object]:
        source, destination, source_port, destination_port = key
        return {
            "flowId": number,
            "sourceAddress": IPv4Address(self._address_of(source)),
            "destinationAddress": IPv4Address(self._address_of(destination)),
            "protocol": UDP,
            "sourcePort": source_port,
            "destinationPort": destination_port,
        }


def _statistics(number: int, flow: Flow) -> dict[str, object]:
    """The attributes of a flow by the names that FlowMonitor gives them."""
    return {
        "flowId": number,
        "timeFirstTxPacket": _time(flow.first_sent),
        "timeFirstRxPacket": _time(flow.first_received),
        "timeLastTxPacket": _time(flow.last_sent),
        "timeLastRxPacket": _time(flow.last_received),
        "delaySum": _time(flow.delay_sum),
        "jitterSum": _time(flow.jitter_sum),
        "lastDelay": _time(flow.last_delay),
        "maxDelay": _time(flow.largest_delay),
        "minDelay": _time(flow.smallest_delay),
        "txBytes": flow.sent_bytes,
        "rxBytes": flow.received_bytes,
        "txPackets": flow.sent_packets,
        "rxPackets": flow.received_packets,
        "lostPackets": flow.lost_packets,
        "timesForwarded": flow.times_forwarded,
    }


def _time(time: int) -> str:
    """A time as ns-3 prints it; what never happened is at 0 there."""
    return f"+{max(time, 0)}.0ns"


def _attributes(values: dict[str, object]) -> str:
    return "".join(f' {name}="{value}"' for name, value in values.items())
