"""Captures: what each radio sends and decodes, as pcap files with complete frames."""

from collections import OrderedDict
from typing import TYPE_CHECKING

from robonet.clock import NS_PER_S
from robonet.network.ledger import Packet
from robonet.network.wifi import formats, state
from robonet.network.wifi.addresses import address_of, hardware_address_of
from robonet.network.wifi.airtime import OFDM
from robonet.network.wifi.host import ARP, CONTROL, Item
from robonet.network.wifi.medium import noise_dbm
from robonet.network.wifi.routing import anthocnet_messages, olsr_messages
from robonet.record.folder import CAPTURES
from robonet.record.pcap import BARE_80211, RADIOTAP, PcapFile, radiotap_header
from robonet.record.tables import Recorder

if TYPE_CHECKING:
    from robonet.network.wifi.model import WifiNetwork

AODV_PORT = 654
PORTS = {"aodv": AODV_PORT, "olsr": olsr_messages.PORT, "anthocnet": anthocnet_messages.PORT}
KEPT_NS = 120 * NS_PER_S
"""How long the bytes of a packet are kept: it will not be on the air any more."""


class CaptureFiles:
    """One file a node that is listened to."""

    def __init__(self, network: "WifiNetwork", recorder: Recorder) -> None:
        settings = network.settings.captures
        assert settings is not None
        self._network = network
        self._port = PORTS.get(network.settings.routing, AODV_PORT)
        self._is_radiotap = settings.format == "radiotap"
        self._frequency_mhz = round(network.settings.frequency_mhz or network.standard.frequency_mhz)
        self._noise_dbm = noise_dbm(network.standard.bandwidth_hz, network.settings.noise_figure_db)
        self._payloads: OrderedDict[int, tuple[int, bytes]] = OrderedDict()
        self._last: tuple[tuple[int, ...], bytes] = ((), b"")
        folder = recorder.folder.parent / CAPTURES
        folder.mkdir(parents=True, exist_ok=True)
        link_type = RADIOTAP if self._is_radiotap else BARE_80211
        self._files = {
            node: PcapFile(folder / f"{settings.prefix}-{name}-0.pcap", link_type)
            for node, name in enumerate(network.names)
            if settings.nodes == "all" or name in settings.nodes
        }

    def keep(self, packets: list[Packet], payloads: list[memoryview]) -> None:
        """Remember the bytes of packets that are about to be sent."""
        for packet, payload in zip(packets, payloads, strict=True):
            self._payloads[packet.number] = (packet.time, bytes(payload))
        while self._payloads:
            number, (time, _) = next(iter(self._payloads.items()))
            if time + KEPT_NS > self._network.now:
                break
            del self._payloads[number]

    def write(self, rows: list[list[int]], items: dict[int, Item]) -> None:
        """Add the frames of the medium's log."""
        for row in rows:
            file = self._files.get(row[state.LOG_NODE])
            if file is None:
                continue
            frame = self._frame(row, items)
            if self._is_radiotap:
                frame = self._radiotap(row) + frame
            file.write(row[state.LOG_TIME], frame)

    def close(self) -> None:
        """Write out the rest."""
        for file in self._files.values():
            file.close()

    def _radiotap(self, row: list[int]) -> bytes:
        standard = self._network.standard
        is_heard = row[state.LOG_NODE] != row[state.LOG_SENDER]
        return radiotap_header(
            round(standard.rates[row[state.LOG_RATE]].mbps * 2),
            self._frequency_mhz,
            standard.family == OFDM,
            row[state.LOG_TIME] // 1000,
            row[state.LOG_SIGNAL] / state.SIGNAL_STEPS if is_heard else None,
            self._noise_dbm,
        )

    def _frame(self, row: list[int], items: dict[int, Item]) -> bytes:
        """The bytes of a frame; those who hear it hear the same."""
        key = tuple(row[state.LOG_SENDER : state.LOG_SIGNAL])
        if key != self._last[0]:
            self._last = (key, self._encode(row, items))
        return self._last[1]

    def _encode(self, row: list[int], items: dict[int, Item]) -> bytes:
        kind, sender, to = row[state.LOG_KIND], row[state.LOG_SENDER], row[state.LOG_RECEIVER]
        duration_us = -(-row[state.LOG_NAV] // 1000)
        receiver = formats.EVERY_STATION if to < 0 else hardware_address_of(to)
        if kind == state.ACK:
            return formats.ack_frame(receiver, duration_us)
        if kind == state.CTS:
            return formats.cts_frame(receiver, duration_us)
        transmitter = hardware_address_of(sender)
        if kind == state.RTS:
            return formats.rts_frame(receiver, transmitter, duration_us)
        content = self._content(items[row[state.LOG_HANDLE]], sender)
        is_retry = row[state.LOG_RETRY] > 0
        return formats.data_frame(receiver, transmitter, duration_us, row[state.LOG_SEQUENCE], is_retry, content)

    def _content(self, item: Item, sender: int) -> bytes:
        """What a data frame carries."""
        if item.kind == ARP:
            message = item.content
            hardware, address = hardware_address_of(message.sender), address_of(message.sender)
            if message.is_request:
                return formats.arp_request(hardware, address, address_of(message.target))
            return formats.arp_reply(hardware, address, hardware_address_of(message.target), address_of(message.target))
        if item.kind == CONTROL:
            to = formats.EVERY_HOST if item.next_hop < 0 else address_of(item.next_hop)
            payload = item.content.encode()
            return formats.udp_packet(
                address_of(sender), to, payload, item.identification, item.ttl, self._port, self._port
            )
        datagram = item.content
        _, payload = self._payloads.get(datagram.packet.number, (0, bytes(datagram.size)))
        source, destination = address_of(datagram.source), formats.address_for(datagram.destination)
        return formats.udp_packet(source, destination, payload or bytes(datagram.size), item.identification, item.ttl)
