"""Frames as bytes: against literal bytes of the standards, and against Wireshark's dissectors."""

import random
from ipaddress import IPv4Address

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tshark import assert_clean, dissect

from robonet.errors import RecordError
from robonet.link.messages import BROADCAST, FIRST_GROUP
from robonet.network.wifi import formats
from robonet.network.wifi.addresses import address_of, hardware_address_of
from robonet.network.wifi.routing import aodv_messages, olsr_messages
from robonet.record.pcap import BARE_80211, BUFFER_BYTES, RADIOTAP, PcapFile, radiotap_header

ALICE, BOB = bytes.fromhex("020000000001"), bytes.fromhex("020000000002")
ALICE_IP, BOB_IP = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])


# --- literal bytes ---------------------------------------------------------------------------------------


def test_headers_of_frames():
    data = formats.DataHeader(BOB, ALICE, 44, 0x123, True).encode()
    assert data.hex(" ", -2) == "0808 2c00 0200 0000 0002 0200 0000 0001 0272 6f62 6f74 3012"
    assert formats.DataHeader(BOB, ALICE, 44, 0x123, False).encode()[:2] == b"\x08\x00"
    assert formats.RtsHeader(BOB, ALICE, 300).encode().hex(" ", -2) == "b400 2c01 0200 0000 0002 0200 0000 0001"
    assert formats.cts_frame(ALICE, 200)[:-4].hex(" ", -2) == "c400 c800 0200 0000 0001"
    assert formats.ack_frame(ALICE)[:-4].hex(" ", -2) == "d400 0000 0200 0000 0001"


def test_durations_have_a_longest_and_sequence_numbers_begin_again():
    header = formats.DataHeader(BOB, ALICE, 100_000, 4096 + 5, False).encode()
    assert header[2:4] == b"\xff\x7f"
    assert header[22:] == b"\x50\x00"


def test_the_check_sequence_is_the_crc_of_the_catalogues():
    """CRC-32 of "123456789" is CBF43926."""
    assert formats.with_fcs(b"123456789") == b"123456789\x26\x39\xf4\xcb"


def test_snap_and_arp():
    asked = formats.arp_request(ALICE, ALICE_IP, BOB_IP)
    assert asked.hex(" ", -2) == (
        "aaaa 0300 0000 0806 0001 0800 0604 0001 0200 0000 0001 0a00 0001 0000 0000 0000 0a00 0002"
    )
    told = formats.arp_reply(BOB, BOB_IP, ALICE, ALICE_IP)
    assert told.hex(" ", -2) == (
        "aaaa 0300 0000 0806 0001 0800 0604 0002 0200 0000 0002 0a00 0002 0200 0000 0001 0a00 0001"
    )


def test_an_ipv4_header_with_its_checksum():
    """The example of many textbooks: 115 bytes from 192.168.0.1 to 192.168.0.199."""
    header = formats.Ipv4Header(bytes([192, 168, 0, 1]), bytes([192, 168, 0, 199]), 95, 0, 64)
    assert header.encode().hex(" ", -2) == "4500 0073 0000 4000 4011 b861 c0a8 0001 c0a8 00c7"


def test_a_udp_header_with_its_checksum():
    """By hand: 0a00 + 0001 + 0a00 + 0002 + 0011 + 000a + 028e + 028e + 000a + 6869 = 81ad, its complement 7e52."""
    assert formats.UdpHeader(654, 654).encode(ALICE_IP, BOB_IP, b"hi").hex(" ", -2) == "028e 028e 000a 7e52"


def test_a_udp_checksum_of_zero_is_sent_as_ones():
    """With e6bb in place of 6869 the sum above is ffff, its complement 0, which would say that there is none."""
    assert formats.UdpHeader(654, 654).encode(ALICE_IP, BOB_IP, b"\xe6\xbb").hex(" ", -2) == "028e 028e 000a ffff"


def test_the_example_of_rfc_1071():
    assert formats.internet_checksum(bytes.fromhex("0001f203f4f5f6f7")) == 0xFFFF - 0xDDF2


@given(st.binary(max_size=200) | st.integers(0, 50).map(bytes) | st.integers(0, 50).map(lambda n: b"\xff" * n))
def test_checksums_are_those_of_the_definition(data):
    padded = data + bytes(len(data) % 2)
    total = sum(int.from_bytes(padded[at : at + 2], "big") for at in range(0, len(padded), 2))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    assert formats.internet_checksum(data) == 0xFFFF - total


def test_sizes_are_those_of_the_bytes():
    payload = bytes(100)
    packet = formats.udp_packet(ALICE_IP, BOB_IP, payload, 1, 64)
    assert len(packet) == formats.UDP_BYTES + len(payload)
    assert len(formats.data_frame(BOB, ALICE, 0, 0, False, packet)) == formats.DATA_BYTES + len(packet)
    assert len(formats.arp_request(ALICE, ALICE_IP, BOB_IP)) == formats.ARP_BYTES
    assert len(formats.ack_frame(ALICE)) == formats.ACK_BYTES
    assert len(formats.cts_frame(ALICE, 0)) == formats.CTS_BYTES
    assert len(formats.rts_frame(ALICE, BOB, 0)) == formats.RTS_BYTES


def test_every_destination_has_an_address():
    assert ip(formats.address_for(3)) == "10.0.0.4"
    assert ip(formats.address_for(FIRST_GROUP + 2)) == "239.192.0.2"
    assert ip(formats.address_for(BROADCAST)) == "255.255.255.255"


def test_the_cell_is_no_node():
    assert formats.CELL not in {hardware_address_of(node) for node in range(100_000)}


# --- captures --------------------------------------------------------------------------------------------


def test_a_capture_to_the_byte(tmp_path):
    capture = PcapFile(tmp_path / "one.pcap", BARE_80211)
    capture.write(3_000_000_007, b"frame")
    capture.close()
    assert capture.frames == 1
    assert (tmp_path / "one.pcap").read_bytes().hex(" ", -4) == (
        "4d3cb2a1 02000400 00000000 00000000 00000400 69000000"  # the file
        " 03000000 07000000 05000000 05000000 6672616d 65"  # the frame
    )


def test_what_a_capture_holds_back_is_little(tmp_path):
    """A run that is killed leaves whole frames, and nearly all."""
    path = tmp_path / "many.pcap"
    capture = PcapFile(path, BARE_80211)
    for time in range(1000):
        capture.write(time, bytes(84))
        assert 24 + 100 * capture.frames - path.stat().st_size < BUFFER_BYTES
        assert (path.stat().st_size - 24) % 100 == 0
    capture.close()
    assert path.stat().st_size == 24 + 100 * 1000


def test_a_capture_that_cannot_be_written_says_which(tmp_path):
    with pytest.raises(RecordError, match="nowhere/one.pcap: No such file or directory"):
        PcapFile(tmp_path / "nowhere" / "one.pcap", RADIOTAP)


def test_radiotap_to_the_byte():
    heard = radiotap_header(12, 5180, True, 1_000_000, -60.6, -93.9)
    assert heard.hex(" ") == (
        "00 00 18 00 6f 00 00 00"  # version, 24 bytes, fields
        " 40 42 0f 00 00 00 00 00"  # microseconds
        " 10 0c 3c 14 40 01 c3 a2"  # FCS, 6 Mb/s, 5180 MHz, OFDM at 5 GHz, -61 and -94 dBm
    )
    sent = radiotap_header(2, 2412, False, 0, None, -93.9)
    assert sent.hex(" ") == "00 00 16 00 0f 00 00 00 00 00 00 00 00 00 00 00 10 02 6c 09 a0 00"


def test_radiotap_keeps_powers_in_a_byte():
    assert radiotap_header(12, 5180, True, 0, -200.0, 300.0)[-2:] == b"\x80\x7f"


# --- what Wireshark sees ---------------------------------------------------------------------------------

HELLO = b"hello, everyone"

EXCHANGE = [
    ("wlan:llc:arp", formats.data_frame(formats.EVERY_STATION, ALICE, 0, 8, False, formats.arp_request(ALICE, ALICE_IP, BOB_IP))),
    ("wlan:llc:arp", formats.data_frame(ALICE, BOB, 44, 1, False, formats.arp_reply(BOB, BOB_IP, ALICE, ALICE_IP))),
    ("wlan", formats.ack_frame(BOB)),
    ("wlan", formats.rts_frame(BOB, ALICE, 300)),
    ("wlan", formats.cts_frame(ALICE, 240)),
    ("wlan:llc:ip:udp:data", formats.data_frame(BOB, ALICE, 44, 9, False, formats.udp_packet(ALICE_IP, BOB_IP, bytes(64), 7, 63, 50001, 50002))),
    ("wlan:llc:ip:udp:data", formats.data_frame(BOB, ALICE, 44, 9, True, formats.udp_packet(ALICE_IP, BOB_IP, bytes(64), 7, 63, 50001, 50002))),
    ("wlan", formats.ack_frame(ALICE)),
    ("wlan:llc:ip:udp:data", formats.data_frame(formats.EVERY_STATION, ALICE, 0, 10, False, formats.udp_packet(ALICE_IP, formats.EVERY_HOST, HELLO, 8, 1))),
]  # fmt: skip
"""One frame of every kind, and one of them twice."""

RADIOS = {
    "802.11": None,
    "802.11a": (12, 5180, True),
    "802.11b": (2, 2412, False),
    "802.11g": (108, 2412, True),
}
"""Rate, frequency and OFDM, for radiotap."""


def capture_of(path, frames, radio=None):
    """A capture of some frames, one a millisecond, those with an odd number sent and not heard."""
    capture = PcapFile(path, BARE_80211 if radio is None else RADIOTAP)
    for number, frame in enumerate(frames):
        signal = None if number % 2 else -60.4
        head = b"" if radio is None else radiotap_header(*radio, number * 1000, signal, -93.9)
        capture.write(number * 1_000_000 + 1, head + frame)
    capture.close()
    return path


def ip(address):
    return str(IPv4Address(address))


@pytest.mark.parametrize("radio", RADIOS.values(), ids=RADIOS)
def test_wireshark_finds_nothing_wrong(tmp_path, radio):
    path = capture_of(tmp_path / "exchange.pcap", [frame for _, frame in EXCHANGE], radio)
    assert_clean(path)
    seen = dissect(
        path, "frame.protocols", "frame.time_epoch", "wlan.fcs.status", "ip.checksum.status", "udp.checksum.status"
    )
    below = "" if radio is None else "radiotap:wlan_radio:"
    for number, ((protocols, _), row) in enumerate(zip(EXCHANGE, seen, strict=True)):
        sums = "1" if "udp" in protocols else ""
        assert list(row.values()) == [below + protocols, f"0.{number:03d}000001", "1", sums, sums]


def test_wireshark_reads_the_fields_of_frames(tmp_path):
    path = capture_of(tmp_path / "exchange.pcap", [frame for _, frame in EXCHANGE])
    fields = (
        "wlan.fc.type_subtype", "wlan.fc.ds", "wlan.fc.retry", "wlan.duration", "wlan.seq", "wlan.ra", "wlan.ta",
        "wlan.bssid",
    )  # fmt: skip
    alice, bob, cell, everyone = (a.hex(":") for a in (ALICE, BOB, formats.CELL, formats.EVERY_STATION))
    data, rts, cts, ack = 0x20, 0x1B, 0x1C, 0x1D
    assert [
        [int(kind, 0), int(distribution, 0), *rest]
        for kind, distribution, *rest in (row.values() for row in dissect(path, *fields))
    ] == [
        [data, 0, "0", "0", "8", everyone, alice, cell],
        [data, 0, "0", "44", "1", alice, bob, cell],
        [ack, 0, "0", "0", "", bob, "", ""],
        [rts, 0, "0", "300", "", bob, alice, ""],
        [cts, 0, "0", "240", "", alice, "", ""],
        [data, 0, "0", "44", "9", bob, alice, cell],
        [data, 0, "1", "44", "9", bob, alice, cell],
        [ack, 0, "0", "0", "", alice, "", ""],
        [data, 0, "0", "0", "10", everyone, alice, cell],
    ]


def test_wireshark_reads_the_fields_of_packets(tmp_path):
    path = capture_of(tmp_path / "exchange.pcap", [frame for _, frame in EXCHANGE])
    fields = ("arp.opcode", "arp.src.hw_mac", "arp.src.proto_ipv4", "arp.dst.hw_mac", "arp.dst.proto_ipv4")
    assert [list(row.values()) for row in dissect(path, *fields, where="arp")] == [
        ["1", ALICE.hex(":"), "10.0.0.1", "00:00:00:00:00:00", "10.0.0.2"],
        ["2", BOB.hex(":"), "10.0.0.2", ALICE.hex(":"), "10.0.0.1"],
    ]
    fields = ("ip.src", "ip.dst", "ip.ttl", "ip.id", "ip.flags.df", "ip.len", "udp.srcport", "udp.dstport", "data.len")
    unicast = ["10.0.0.1", "10.0.0.2", "63", "0x0007", "1", "92", "50001", "50002", "64"]
    broadcast = ["10.0.0.1", "255.255.255.255", "1", "0x0008", "1", "43", "49152", "49152", "15"]
    assert [list(row.values()) for row in dissect(path, *fields, where="udp")] == [unicast, unicast, broadcast]


def test_wireshark_reads_the_radio(tmp_path):
    frames = [frame for _, frame in EXCHANGE[:2]]
    path = capture_of(tmp_path / "radio.pcap", frames, RADIOS["802.11a"])
    fields = (
        "wlan_radio.data_rate", "wlan_radio.frequency", "wlan_radio.channel", "wlan_radio.phy", "radiotap.mactime",
        "radiotap.flags.fcs", "wlan_radio.signal_dbm", "wlan_radio.noise_dbm",
    )  # fmt: skip
    heard, sent = (list(row.values()) for row in dissect(path, *fields))
    assert heard == ["6", "5180", "36", "5", "0", "1", "-60", "-94"]
    assert sent == ["6", "5180", "36", "5", "1000", "1", "", ""]


def test_a_bad_frame_is_found(tmp_path):
    """The check that other tests rely on does see what is wrong."""
    whole = EXCHANGE[5][1]
    frames = {
        "FCS": flipped(whole, -1),
        "IP checksum": formats.with_fcs(flipped(whole, 40)[:-4]),  # its time to live
        "UDP checksum": formats.with_fcs(flipped(whole, 70)[:-4]),  # its payload
        "length": formats.with_fcs(whole[:50]),
    }
    for name, frame in frames.items():
        path = capture_of(tmp_path / f"{name}.pcap", [EXCHANGE[0][1], frame])
        with pytest.raises(AssertionError, match="1 frames are not clean"):
            assert_clean(path)


def flipped(frame, at):
    changed = bytearray(frame)
    changed[at] ^= 1
    return bytes(changed)


def test_no_dissector_is_no_excuse_in_ci(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="apt-get install tshark"):
        assert_clean(tmp_path / "any.pcap")
    monkeypatch.delenv("CI")
    with pytest.raises(pytest.skip.Exception):
        assert_clean(tmp_path / "any.pcap")


def test_wireshark_reads_what_was_written_whatever_it_was(tmp_path):
    """A round trip of random fields, through the dissector: one capture, because it is slow to start."""
    draw = random.Random(4)
    frames, expected = [], []
    for _ in range(300):
        sender, receiver = (draw.randrange(100_000) for _ in range(2))
        duration, sequence, is_retry = draw.randrange(32768), draw.randrange(4096), draw.random() < 0.5
        payload, number, ttl = draw.randbytes(draw.randrange(1, 1500)), draw.randrange(65536), draw.randrange(2, 256)
        packet = formats.udp_packet(address_of(sender), address_of(receiver), payload, number, ttl)
        hardware = hardware_address_of(receiver), hardware_address_of(sender)
        frames.append(formats.data_frame(*hardware, duration, sequence, is_retry, packet))
        expected.append([
            hardware[0].hex(":"), hardware[1].hex(":"), str(duration), str(sequence), str(int(is_retry)),
            ip(address_of(sender)), ip(address_of(receiver)), f"0x{number:04x}", str(ttl), payload.hex(), "1", "1", "1",
        ])  # fmt: skip
    path = capture_of(tmp_path / "random.pcap", frames)
    rows = dissect(
        path,
        "wlan.ra", "wlan.ta", "wlan.duration", "wlan.seq", "wlan.fc.retry", "ip.src", "ip.dst", "ip.id", "ip.ttl",
        "udp.payload", "wlan.fcs.status", "ip.checksum.status", "udp.checksum.status",
    )  # fmt: skip
    assert [list(row.values()) for row in rows] == expected


# --- routing ---------------------------------------------------------------------------------------------


def broadcasts_of(messages, port):
    """Data frames with control messages, from node 0 to all in reach."""
    return [
        formats.data_frame(
            formats.EVERY_STATION,
            hardware_address_of(0),
            0,
            number,
            False,
            formats.udp_packet(address_of(0), formats.EVERY_HOST, message.encode(), number, 1, port, port),
        )
        for number, message in enumerate(messages)
    ]


def test_wireshark_reads_aodv(tmp_path):
    """RREQ with all flags and none, RREP, HELLO, RERR and RREP-ACK."""
    aodv = aodv_messages
    messages = [
        aodv.RouteRequest(7, 2, 40, 0, 41, 3, unknown_seqno=True, gratuitous=True, destination_only=True),
        aodv.RouteRequest(8, 2, 2**32 - 1, 1, 5),
        aodv.RouteReply(2, 40, 0, 6000, 4, acknowledge=True),
        aodv.Hello(0, 9, 2000),
        aodv.RouteError(((3, 12), (4, 13)), no_delete=True),
        aodv.RouteReplyAck(),
    ]
    path = capture_of(tmp_path / "aodv.pcap", broadcasts_of(messages, 654), RADIOS["802.11a"])
    assert_clean(path)
    fields = (
        "frame.protocols", "aodv.type", "aodv.flags", "aodv.hopcount", "aodv.rreq_id", "aodv.dest_ip", "aodv.dest_seqno",
        "aodv.orig_ip", "aodv.orig_seqno", "aodv.lifetime", "aodv.destcount", "aodv.unreach_dest_ip",
    )  # fmt: skip
    kinds, flags, seen = [], [], []
    for protocols, kind, flag, *rest in (row.values() for row in dissect(path, *fields)):
        assert protocols == "radiotap:wlan_radio:wlan:llc:ip:udp:aodv"
        kinds.append(int(kind, 0))
        flags.append(int(flag or "0", 0))
        seen.append(rest)
    assert kinds == [1, 1, 2, 2, 3, 4]
    assert flags == [0x3800, 0, 0x4000, 0, 0x8000, 0]
    assert seen == [
        ["3", "7", "10.0.0.3", "40", "10.0.0.1", "41", "", "", ""],
        ["0", "8", "10.0.0.3", "4294967295", "10.0.0.2", "5", "", "", ""],
        ["4", "", "10.0.0.3", "40", "10.0.0.1", "", "6000", "", ""],
        ["0", "", "10.0.0.1", "9", "10.0.0.1", "", "2000", "", ""],
        ["", "", "", "12,13", "", "", "", "2", "10.0.0.4,10.0.0.5"],
        ["", "", "", "", "", "", "", "", ""],
    ]


def test_wireshark_reads_olsr(tmp_path):
    """HELLO and TC, alone, together, and empty."""
    olsr, second = olsr_messages, 1_000_000_000
    symmetric, relay = olsr.NEIGHBOUR << 2 | olsr.SYMMETRIC, olsr.RELAY << 2 | olsr.SYMMETRIC
    codes = olsr.duration_code(6 * second), olsr.duration_code(2 * second)
    hello = olsr.Hello(0, 5, *codes, 3, ((symmetric, (1, 2)), (relay, (3,)), (olsr.ASYMMETRIC, (4,))))
    control = olsr.TopologyControl(4, 9, olsr.duration_code(15 * second), 250, 5, 77, (1, 2))
    silent = olsr.Hello(0, 6, *codes, 7, ()), olsr.TopologyControl(1, 2, codes[0], 255, 0, 8, ())
    packets = [
        olsr.OlsrPacket(1, (hello,)),
        olsr.OlsrPacket(2, (control,)),
        olsr.OlsrPacket(3, (hello, control)),
        olsr.OlsrPacket(4, silent),
    ]
    path = capture_of(tmp_path / "olsr.pcap", broadcasts_of(packets, olsr.PORT))
    assert_clean(path)
    fields = (
        "frame.protocols", "olsr.packet_seq_num", "olsr.packet_len", "olsr.message_type", "olsr.message_size", "olsr.vtime",
        "olsr.origin_addr", "olsr.ttl", "olsr.hop_count", "olsr.message_seq_num", "olsr.htime", "olsr.willingness",
        "olsr.link_type", "olsr.neighbor_addr", "olsr.ansn",
    )  # fmt: skip
    rows = [list(row.values()) for row in dissect(path, *fields)]
    assert {row[0] for row in rows} == {"wlan:llc:ip:udp:olsr"}
    heard, told = "10.0.0.2,10.0.0.3,10.0.0.4,10.0.0.5", "10.0.0.2,10.0.0.3"
    assert [row[1:] for row in rows] == [
        ["1", "48", "1", "44", "6", "10.0.0.1", "1", "0", "5", "2", "3", "6,10,1", heard, ""],
        ["2", "28", "2", "24", "15", "10.0.0.5", "250", "5", "9", "", "", "", told, "77"],
        ["3", "72", "1,2", "44,24", "6,15", "10.0.0.1,10.0.0.5", "1,250", "0,5", "5,9", "2", "3", "6,10,1", f"{heard},{told}", "77"],
        ["4", "36", "1,2", "16,16", "6,6", "10.0.0.1,10.0.0.2", "1,255", "0,0", "6,2", "2", "7", "", "", "8"],
    ]  # fmt: skip
