"""Frames and packets as bytes on the air, for captures: 802.11 (ad hoc), LLC/SNAP, ARP, IPv4 and UDP.

Addresses are bytes, six of them for hardware and four for IPv4. Only their sizes matter to the simulation.
"""

from struct import Struct
from typing import NamedTuple
from zlib import crc32

from robonet.link.messages import BROADCAST, FIRST_GROUP
from robonet.network.wifi.addresses import address_of

EVERY_STATION = b"\xff" * 6
EVERY_HOST = b"\xff" * 4
CELL = b"\x02robot"
"""The BSSID of the ad hoc network: an address of its own, locally administered (IEEE 802.11-2020, 9.2.4.3.4)."""

FIRST_GROUP_ADDRESS = 239 << 24 | 192 << 16
"""Groups have addresses that belong to whoever runs the network (RFC 2365, section 6.2), from here on."""

IPV4 = 0x0800
ARP = 0x0806
UDP = 17

DATA_PORT = 49152
"""From and to which datagrams go: the first port that belongs to nobody (RFC 6335, section 6)."""

FCS_BYTES = 4
ACK_BYTES = CTS_BYTES = 10 + FCS_BYTES
RTS_BYTES = 16 + FCS_BYTES
DATA_BYTES = 24 + FCS_BYTES
"""What a data frame adds to what it carries."""
ARP_BYTES = 8 + 28
"""What a data frame carries for ARP: LLC/SNAP included."""
UDP_BYTES = 8 + 20 + 8
"""What LLC/SNAP, IPv4 and UDP add to a payload."""

LONGEST_DURATION_US = 32767
"""The duration field has 15 bits for times (IEEE 802.11-2020, 9.2.4.2)."""
SEQUENCE_NUMBERS = 4096
"""Sequence numbers have 12 bits; counting goes on from 0 (IEEE 802.11-2020, 9.2.4.4.2)."""


# --- medium access -----------------------------------------------------------------------------------------

# Frame control, first in every frame (IEEE 802.11-2020, 9.2.4.1). Bits go out from the right:
#
#    15    14    13    12    11    10     9     8     7 6 5 4   3 2   1 0
#   +-----+-----+-----+-----+-----+-----+-----+-----+---------+-----+-----+
#   |order|prot.|more |power|retry|more |from |to DS| subtype |type |vers.|
#   |     |     |data |mgmt |     |frag.|DS   |     |         |     | = 0 |
#   +-----+-----+-----+-----+-----+-----+-----+-----+---------+-----+-----+
#
# Bits 8 to 15 are zero without a distribution system, fragments, sleep and encryption, but for retry, which only
# data frames have (9.2.4.1.6).

DATA_CONTROL = 0b0000 << 4 | 2 << 2
RTS_CONTROL = 0b1011 << 4 | 1 << 2
CTS_CONTROL = 0b1100 << 4 | 1 << 2
ACK_CONTROL = 0b1101 << 4 | 1 << 2
RETRY = 1 << 11


#   bytes    2        2         6            6           6          2
#       +--------+--------+-----------+-----------+-----------+----------+
#       | frame  |duration| address 1 | address 2 | address 3 | sequence |
#       | control|        | receiver  |transmitter|   BSSID   | control  |
#       +--------+--------+-----------+-----------+-----------+----------+
#
# Sequence control is the fragment number, zero here, in bits 0 to 3, and the sequence number in bits 4 to 15.

_DATA_HEADER = Struct("<HH6s6s6sH")


class DataHeader(NamedTuple):
    """The header of a data frame between stations of one cell (IEEE 802.11-2020, 9.3.2.1)."""

    receiver: bytes
    transmitter: bytes
    duration_us: int
    sequence: int
    is_retry: bool

    def encode(self) -> bytes:
        """The 24 bytes."""
        return _DATA_HEADER.pack(
            DATA_CONTROL | RETRY if self.is_retry else DATA_CONTROL,
            min(self.duration_us, LONGEST_DURATION_US),
            self.receiver,
            self.transmitter,
            CELL,
            self.sequence % SEQUENCE_NUMBERS << 4,
        )


#   bytes    2        2         6            6
#       +--------+--------+-----------+-----------+
#       | frame  |duration| receiver  |transmitter|
#       | control|        |           |           |
#       +--------+--------+-----------+-----------+

_RTS_HEADER = Struct("<HH6s6s")


class RtsHeader(NamedTuple):
    """Request to send (IEEE 802.11-2020, 9.3.1.2)."""

    receiver: bytes
    transmitter: bytes
    duration_us: int

    def encode(self) -> bytes:
        """The 16 bytes."""
        duration = min(self.duration_us, LONGEST_DURATION_US)
        return _RTS_HEADER.pack(RTS_CONTROL, duration, self.receiver, self.transmitter)


#   bytes    2        2         6
#       +--------+--------+-----------+
#       | frame  |duration| receiver  |
#       | control|        |           |
#       +--------+--------+-----------+

_ANSWER_HEADER = Struct("<HH6s")


class AnswerHeader(NamedTuple):
    """Clear to send and acknowledgement: one answer, two subtypes (IEEE 802.11-2020, 9.3.1.3 and 9.3.1.4)."""

    control: int
    receiver: bytes
    duration_us: int

    def encode(self) -> bytes:
        """The 10 bytes."""
        return _ANSWER_HEADER.pack(self.control, min(self.duration_us, LONGEST_DURATION_US), self.receiver)


def with_fcs(frame: bytes) -> bytes:
    """A frame and its check sequence: the CRC of all bytes before, as 802.3 has it (IEEE 802.11-2020, 9.2.4.8)."""
    return frame + crc32(frame).to_bytes(FCS_BYTES, "little")


def data_frame(
    receiver: bytes, transmitter: bytes, duration_us: int, sequence: int, is_retry: bool, payload: bytes
) -> bytes:
    """A whole data frame; its payload begins with LLC/SNAP."""
    return with_fcs(DataHeader(receiver, transmitter, duration_us, sequence, is_retry).encode() + payload)


def rts_frame(receiver: bytes, transmitter: bytes, duration_us: int) -> bytes:
    """A whole request to send."""
    return with_fcs(RtsHeader(receiver, transmitter, duration_us).encode())


def cts_frame(receiver: bytes, duration_us: int) -> bytes:
    """A whole clear to send, for the station that requested it."""
    return with_fcs(AnswerHeader(CTS_CONTROL, receiver, duration_us).encode())


def ack_frame(receiver: bytes, duration_us: int = 0) -> bytes:
    """A whole acknowledgement, for the station that sent; nothing follows unless there are fragments."""
    return with_fcs(AnswerHeader(ACK_CONTROL, receiver, duration_us).encode())


# --- what data frames carry --------------------------------------------------------------------------------


#   bytes   1       1        1         3          2
#       +-------+-------+---------+---------+-----------+
#       | DSAP  | SSAP  | control |   OUI   | EtherType |
#       | = AA  | = AA  |  = 03   | = 0     |           |
#       +-------+-------+---------+---------+-----------+

_SNAP_HEADER = Struct(">6sH")


class SnapHeader(NamedTuple):
    """Which protocol follows: LLC (IEEE 802.2) with a SNAP header (RFC 1042)."""

    protocol: int

    def encode(self) -> bytes:
        """The 8 bytes."""
        return _SNAP_HEADER.pack(b"\xaa\xaa\x03\x00\x00\x00", self.protocol)


#    0                   1                   2                   3
#    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
#   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
#   |       hardware space = 1      |    protocol space = 0800      |
#   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
#   |  length = 6   |  length = 4   |           operation           |
#   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
#   |                sender's hardware address (6)                  |
#   +                               +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
#   |                               |   sender's protocol address   |
#   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
#   |              (4)              |   target's hardware address   |
#   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+                               +
#   |                              (6)                              |
#   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
#   |                 target's protocol address (4)                 |
#   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+

_ARP_PACKET = Struct(">HHBBH6s4s6s4s")
ARP_REQUEST = 1
ARP_REPLY = 2
NOT_KNOWN = bytes(6)
"""The hardware address that a request asks for."""


class ArpPacket(NamedTuple):
    """Who has which hardware address (RFC 826), for six bytes of Ethernet and four of IPv4."""

    operation: int
    sender_hardware: bytes
    sender: bytes
    target_hardware: bytes
    target: bytes

    def encode(self) -> bytes:
        """The 28 bytes."""
        return _ARP_PACKET.pack(1, IPV4, 6, 4, *self)


#    0                   1                   2                   3
#    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
#   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
#   |vers. 4| IHL 5 |type of service|         total length          |
#   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
#   |        identification         |0 D M|     fragment offset     |
#   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
#   | time to live  |   protocol    |        header checksum        |
#   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
#   |                        source address                         |
#   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
#   |                      destination address                      |
#   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+

_IPV4_HEADER = Struct(">BBHHHBBH4s4s")
DO_NOT_FRAGMENT = 1 << 14


class Ipv4Header(NamedTuple):
    """The header of an IPv4 packet without options (RFC 791, section 3.1)."""

    source: bytes
    destination: bytes
    payload_bytes: int
    identification: int
    ttl: int
    protocol: int = UDP

    def encode(self) -> bytes:
        """The 20 bytes; the checksum is that of the header with zero in its place."""
        total, identification = 20 + self.payload_bytes, self.identification & 0xFFFF
        fields = (0x45, 0, total, identification, DO_NOT_FRAGMENT, self.ttl, self.protocol)
        checksum = internet_checksum(_IPV4_HEADER.pack(*fields, 0, self.source, self.destination))
        return _IPV4_HEADER.pack(*fields, checksum, self.source, self.destination)


#    0      7 8     15 16    23 24    31
#   +--------+--------+--------+--------+
#   |   source port   |destination port |
#   +--------+--------+--------+--------+
#   |     length      |    checksum     |
#   +--------+--------+--------+--------+
#
# The checksum is also over a pseudo header, which says between whom:
#
#   +--------+--------+--------+--------+
#   |          source address           |
#   +--------+--------+--------+--------+
#   |        destination address        |
#   +--------+--------+--------+--------+
#   |   0    |protocol|   UDP length    |
#   +--------+--------+--------+--------+

_UDP_HEADER = Struct(">HHHH")
_PSEUDO_HEADER = Struct(">4s4sBBH")


class UdpHeader(NamedTuple):
    """The header of a UDP datagram (RFC 768)."""

    source_port: int
    destination_port: int

    def encode(self, source: bytes, destination: bytes, payload: bytes) -> bytes:
        """The 8 bytes, for that payload between those addresses."""
        length = 8 + len(payload)
        bare = _UDP_HEADER.pack(self.source_port, self.destination_port, length, 0)
        summed = _PSEUDO_HEADER.pack(source, destination, 0, UDP, length) + bare + payload
        checksum = internet_checksum(summed) or 0xFFFF  # 0 would say that there is none
        return _UDP_HEADER.pack(self.source_port, self.destination_port, length, checksum)


def internet_checksum(data: bytes) -> int:
    """The complement of the ones' complement sum of 16-bit words (RFC 1071), the last filled up with zero.

    That sum is the remainder by 65535, because 65536 leaves 1: the whole is one number, and one division.
    """
    number = int.from_bytes(data if len(data) % 2 == 0 else data + b"\x00", "big")
    return 0xFFFF - (number % 0xFFFF or 0xFFFF) if number else 0xFFFF


def address_for(destination: int) -> bytes:
    """The IPv4 address of a packet's destination: a node, a group or everyone in reach."""
    if destination == BROADCAST:
        return EVERY_HOST
    if destination >= FIRST_GROUP:
        return (FIRST_GROUP_ADDRESS + destination - FIRST_GROUP).to_bytes(4, "big")
    return address_of(destination)


def arp_request(sender_hardware: bytes, sender: bytes, target: bytes) -> bytes:
    """What a data frame carries that asks everyone who has an address."""
    packet = ArpPacket(ARP_REQUEST, sender_hardware, sender, NOT_KNOWN, target)
    return SnapHeader(ARP).encode() + packet.encode()


def arp_reply(sender_hardware: bytes, sender: bytes, target_hardware: bytes, target: bytes) -> bytes:
    """What a data frame carries that tells one who asked."""
    packet = ArpPacket(ARP_REPLY, sender_hardware, sender, target_hardware, target)
    return SnapHeader(ARP).encode() + packet.encode()


def udp_packet(
    source: bytes,
    destination: bytes,
    payload: bytes,
    identification: int,
    ttl: int,
    source_port: int = DATA_PORT,
    destination_port: int = DATA_PORT,
) -> bytes:
    """What a data frame carries of a datagram: LLC/SNAP, IPv4, UDP and the payload."""
    udp = UdpHeader(source_port, destination_port).encode(source, destination, payload) + payload
    ip = Ipv4Header(source, destination, len(udp), identification, ttl)
    return SnapHeader(IPV4).encode() + ip.encode() + udp
