"""Captures as Wireshark and tcpdump read them: pcap files of 802.11 frames, bare or with a radiotap header."""

import os
from pathlib import Path
from struct import Struct

from robonet.errors import RecordError

BARE_80211 = 105
RADIOTAP = 127
"""Link types (https://www.tcpdump.org/linktypes.html)."""

BUFFER_BYTES = 32 * 1024
"""Frames wait for this many bytes: there may be thousands of captures."""

NS_A_SECOND = 1_000_000_000

# The head of a file, in nanoseconds (draft-ietf-opsawg-pcap, section 4), and of each frame (section 5):
#
#    0                   1                   2                   3
#    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
#   +---------------------------------------------------------------+     +-------------------------------+
#   |                     magic number A1B23C4D                     |     |            seconds            |
#   +-------------------------------+-------------------------------+     +-------------------------------+
#   |       major version 2         |        minor version 4        |     |          nanoseconds          |
#   +-------------------------------+-------------------------------+     +-------------------------------+
#   |                           reserved                            |     |         bytes captured        |
#   +---------------------------------------------------------------+     +-------------------------------+
#   |                           reserved                            |     |      bytes of the frame       |
#   +---------------------------------------------------------------+     +-------------------------------+
#   |                        most bytes a frame                     |
#   +---------------------------------------------------------------+
#   |                           link type                           |
#   +---------------------------------------------------------------+

_FILE_HEADER = Struct("<IHHIIII")
_FRAME_HEADER = Struct("<IIII")
_MAGIC = 0xA1B23C4D
_MOST_BYTES = 262_144


class PcapFile:
    """One capture; it is open only while it is written to, because processes may open few files at once."""

    def __init__(self, path: Path, link_type: int) -> None:
        self.path = path
        self.frames = 0
        """How many were written."""
        self._waiting = bytearray()
        self._store(_FILE_HEADER.pack(_MAGIC, 2, 4, 0, 0, _MOST_BYTES, link_type), "wb")

    def write(self, time_ns: int, frame: bytes) -> None:
        """Add a frame, its FCS included, at a simulated time."""
        seconds, nanoseconds = divmod(time_ns, NS_A_SECOND)
        size = len(frame)
        self._waiting += _FRAME_HEADER.pack(seconds, nanoseconds, size, size)
        self._waiting += frame
        self.frames += 1
        if len(self._waiting) >= BUFFER_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write out what waits."""
        if self._waiting:
            self._store(self._waiting, "ab")
            self._waiting.clear()

    def close(self) -> None:
        """Write out the rest."""
        self.flush()

    def _store(self, data: bytes | bytearray, mode: str) -> None:
        try:
            with self.path.open(mode) as file:
                file.write(data)
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else str(error)
            raise RecordError(f"cannot write the capture {self.path}: {reason}") from error


# The radiotap header in front of a frame (https://www.radiotap.org). Fields present are bits of a word, and follow
# in their order, each at a multiple of its size; what was sent rather than received has no signal and no noise:
#
#   0         1     2        4         8      16      17     18          20        22       23      24
#   +---------+-----+--------+---------+------+-------+------+-----------+---------+--------+-------+
#   | version | pad | length | present | TSFT | flags | rate | frequency | channel | signal | noise |
#   | = 0     | = 0 |        |         |      |       |      |           | flags   |        |       |
#   +---------+-----+--------+---------+------+-------+------+-----------+---------+--------+-------+

_RADIOTAP_SENT = Struct("<BBHIQBBHH")
_RADIOTAP_HEARD = Struct("<BBHIQBBHHbb")
_TSFT, _FLAGS, _RATE, _CHANNEL, _SIGNAL, _NOISE = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 5, 1 << 6
_SENT_FIELDS = _TSFT | _FLAGS | _RATE | _CHANNEL
_HEARD_FIELDS = _SENT_FIELDS | _SIGNAL | _NOISE
_HAS_FCS = 0x10
_CCK, _OFDM, _AT_2_GHZ, _AT_5_GHZ = 0x20, 0x40, 0x80, 0x100


def radiotap_header(
    rate_500kbps: int,
    frequency_mhz: int,
    is_ofdm: bool,
    tsft_us: int,
    signal_dbm: float | None,
    noise_dbm: float,
) -> bytes:
    """What stands in front of a frame that ends with its FCS; without a signal it is one that was sent."""
    channel = (_OFDM if is_ofdm else _CCK) | (_AT_2_GHZ if frequency_mhz < 4000 else _AT_5_GHZ)
    fields = (tsft_us, _HAS_FCS, rate_500kbps, frequency_mhz, channel)
    if signal_dbm is None:
        return _RADIOTAP_SENT.pack(0, 0, _RADIOTAP_SENT.size, _SENT_FIELDS, *fields)
    powers = (_whole_dbm(signal_dbm), _whole_dbm(noise_dbm))
    return _RADIOTAP_HEARD.pack(0, 0, _RADIOTAP_HEARD.size, _HEARD_FIELDS, *fields, *powers)


def _whole_dbm(power_dbm: float) -> int:
    return max(-128, min(127, round(power_dbm)))
