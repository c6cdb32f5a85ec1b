"""What becomes of datagrams: copies of a packet may part ways, yet the packet ends once."""

from robonet.link.messages import FIRST_GROUP
from robonet.network.ledger import Ledger, Packet
from robonet.network.wifi.formats import DATA_PORT
from robonet.network.wifi.routing.core import Datagram
from robonet.record.flows import FlowTable
from robonet.record.tables import Recorder, Table

IP_AND_UDP_BYTES = 28
MOST_GROUP_PACKETS = 65_536


class _Journey:
    """All copies of one unicast packet."""

    __slots__ = ("copies", "end", "is_delivered")

    def __init__(self) -> None:
        self.copies = 1
        self.is_delivered = False
        self.end: tuple[Datagram, str, int] | None = None
        """The last copy that was given up, why and when."""


class Journal:
    """Follows datagrams from their source to their end, and writes down their hops."""

    def __init__(self, ledger: Ledger, flows: FlowTable | None, recorder: Recorder | None, names: list[str]) -> None:
        self._ledger = ledger
        self._flows = flows
        self._journeys: dict[int, _Journey] = {}
        self._group_receivers: dict[int, set[int]] = {}
        """Who has had each of the latest packets to groups."""
        self._hops: Table | None = None
        if recorder is not None:
            columns = {
                "packet": "u8",
                "hop": "u2",
                "node": "i4",
                "arrived_ns": "i8",
                "queue_ns": "i8",
                "access_ns": "i8",
                "air_ns": "i8",
            }
            self._hops = recorder.table("hops", columns, {"node": names})

    def begin(self, datagram: Datagram) -> None:
        """A datagram leaves its source."""
        packet = datagram.packet
        if packet.destination < FIRST_GROUP:
            self._journeys[packet.number] = _Journey()

    def count(self, packet: Packet) -> None:
        """A packet is sent, in one copy or in many."""
        if self._flows is not None:
            size = packet.size + IP_AND_UDP_BYTES
            self._flows.sent(packet.source, packet.destination, DATA_PORT, DATA_PORT, packet.time, size)

    def _is_repeated(self, packet: Packet, receiver: int) -> bool:
        """Whether a member of a group has had a packet before: copies may part ways here, too."""
        heard = self._group_receivers.setdefault(packet.number, set())
        if receiver in heard:
            return True
        heard.add(receiver)
        while len(self._group_receivers) > MOST_GROUP_PACKETS:
            del self._group_receivers[next(iter(self._group_receivers))]
        return False

    def refuse(self, packet: Packet, now: int) -> None:
        """It is longer than a frame carries; packets to many have no fate that could be told, but they count."""
        if packet.destination < FIRST_GROUP:
            self._ledger.dropped(packet, now, "too_long")
        if self._flows is not None:
            size = packet.size + IP_AND_UDP_BYTES
            self._flows.lost(packet.source, packet.destination, DATA_PORT, DATA_PORT, "too_long", size)

    def copied(self, datagram: Datagram) -> None:
        """Somebody else has it too."""
        journey = self._journeys.get(datagram.packet.number)
        if journey is not None:
            journey.copies += 1

    def passed_on(self, datagram: Datagram, now: int) -> None:
        """A copy has done its part."""
        journey = self._journeys.get(datagram.packet.number)
        if journey is not None:
            journey.copies -= 1
            if not journey.copies:
                self._end(journey, datagram, "lost", now)

    def delivered(self, datagram: Datagram, receiver: int, now: int, signal_dbm: float) -> None:
        """A copy has reached a node that it is for."""
        packet = datagram.packet
        if packet.destination < FIRST_GROUP:
            journey = self._journeys.get(packet.number)
            if journey is None:
                return
            journey.copies -= 1
            if not journey.copies:
                del self._journeys[packet.number]
            if journey.is_delivered:
                return
            journey.is_delivered = True
            self._write_hops(datagram)
        elif packet.group is not None and self._is_repeated(packet, receiver):
            return
        self._ledger.delivered(packet, receiver, now, datagram.hops, signal_dbm)
        if self._flows is not None:
            size, delay = packet.size + IP_AND_UDP_BYTES, now - packet.time
            self._flows.received(
                packet.source, packet.destination, DATA_PORT, DATA_PORT, now, delay, size, datagram.hops
            )

    def dropped(self, datagram: Datagram, reason: str, now: int) -> None:
        """A copy is given up."""
        journey = self._journeys.get(datagram.packet.number)
        if journey is not None:
            journey.copies -= 1
            journey.end = (datagram, reason, now)
            if not journey.copies:
                self._end(journey, datagram, reason, now)

    def _end(self, journey: _Journey, datagram: Datagram, reason: str, now: int) -> None:
        """No copy is left: what became of the last one that was given up is what became of the packet."""
        packet = datagram.packet
        del self._journeys[packet.number]
        if journey.is_delivered:
            return
        datagram, reason, time = journey.end or (datagram, reason, now)
        self._write_hops(datagram)
        self._ledger.dropped(packet, time, reason, datagram.hops)
        if self._flows is not None:
            size = packet.size + IP_AND_UDP_BYTES
            self._flows.lost(packet.source, packet.destination, DATA_PORT, DATA_PORT, reason, size)

    def _write_hops(self, datagram: Datagram) -> None:
        if self._hops is not None:
            for hop, step in enumerate(datagram.path):
                self._hops.add((datagram.packet.number, hop, *step))
