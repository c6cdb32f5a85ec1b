"""Rates of 802.11 and how long frames take (IEEE 802.11-2016, clauses 15 to 18)."""

from typing import NamedTuple

import numpy as np

from robonet.kernels import bare_kernel

DSSS, OFDM = 0, 1
BPSK, QPSK, QAM16, QAM64, DBPSK, DQPSK, CCK5, CCK11 = range(8)


class Rate(NamedTuple):
    """One rate of a physical layer."""

    mbps: float
    modulation: int
    code: int
    """The code rate is code / (code + 1): 1, 2 or 3; 0 without a code."""
    is_mandatory: bool
    """Whether answers (ACK, CTS) may use it."""


OFDM_RATES = (
    Rate(6.0, BPSK, 1, True),
    Rate(9.0, BPSK, 3, False),
    Rate(12.0, QPSK, 1, True),
    Rate(18.0, QPSK, 3, False),
    Rate(24.0, QAM16, 1, True),
    Rate(36.0, QAM16, 3, False),
    Rate(48.0, QAM64, 2, False),
    Rate(54.0, QAM64, 3, False),
)
DSSS_RATES = (
    Rate(1.0, DBPSK, 0, True),
    Rate(2.0, DQPSK, 0, True),
    Rate(5.5, CCK5, 0, True),
    Rate(11.0, CCK11, 0, True),
)


class Standard(NamedTuple):
    """The physical layer of one standard, times in nanoseconds."""

    name: str
    rates: tuple[Rate, ...]
    family: int
    slot: int
    sifs: int
    cw_min: int
    preamble: int
    """Until the header that says how long the frame is."""
    header: int
    extension: int
    """Silence that belongs to each frame (802.11g: 6 us for slow decoders)."""
    bandwidth_hz: float
    frequency_mhz: float

    def answer_rate(self, rate: int) -> int:
        """The rate of an ACK or CTS: the highest mandatory one that is not above that of the frame (10.6.6.5)."""
        return max(i for i, other in enumerate(self.rates) if other.is_mandatory and i <= rate)

    def airtime(self, rate: int, size: int) -> int:
        """How long a frame of so many bytes takes, in nanoseconds."""
        before = self.preamble + self.header
        return int(airtime(self.rates[rate].mbps, size, self.family, before, self.extension))


STANDARDS = {
    "802.11a": Standard("802.11a", OFDM_RATES, OFDM, 9_000, 16_000, 15, 16_000, 4_000, 0, 20e6, 5180.0),
    "802.11b": Standard("802.11b", DSSS_RATES, DSSS, 20_000, 10_000, 31, 144_000, 48_000, 0, 20e6, 2412.0),
    # In an independent network the slot stays long (9.4.1.4: Short Slot Time is 0 in an IBSS).
    "802.11g": Standard("802.11g", OFDM_RATES, OFDM, 20_000, 10_000, 15, 16_000, 4_000, 6_000, 20e6, 2412.0),
}


@bare_kernel
def airtime(mbps: float, size: int, family: int, preamble_and_header: int, extension: int) -> int:
    """Nanoseconds on the air of a frame of `size` bytes."""
    bits = 8 * size
    if family == OFDM:
        bits_a_symbol = 4.0 * mbps  # 4 us symbols; 16 service and 6 tail bits (17.3.5.4)
        symbols = int(np.ceil((bits + 22) / bits_a_symbol))
        return preamble_and_header + 4000 * symbols + extension
    return preamble_and_header + 1000 * int(np.ceil(bits / mbps))  # rounded up to microseconds (16.2.3.5)
