"""How likely bits survive a signal-to-noise ratio.

OFDM by link simulations in white noise, as ns-3 has them by default, or by the NIST model (union bound of the
convolutional codes' distance spectra), which needs up to 4 dB more; DSSS and CCK by the textbook expressions for
differential detection and bi-orthogonal keying. A table over decibels is made once.
"""

import math
from functools import cache
from typing import NamedTuple

import numpy as np

from robonet.kernels import bare_kernel
from robonet.network.wifi.airtime import BPSK, CCK5, CCK11, DBPSK, DQPSK, QAM16, QAM64, QPSK, Rate
from robonet.space import Floats

LOWEST_DB = -20.0
HIGHEST_DB = 45.0
STEPS_A_DB = 20
HOPELESS = -1e3
"""Logarithm of the chance of a bit that cannot survive."""
SHORT_BITS = 8 * 400
"""Stretches shorter than this survive by the curve of short packets."""


class Curve(NamedTuple):
    """Packet errors in white noise: how ln(-ln(1 - error)) falls with the signal-to-noise ratio."""

    half_db: float
    """Where every other packet is lost."""
    below: float
    """How steep it is below that, a dB."""
    above: float
    bend: float
    """How much steeper it becomes above, a dB squared."""

    def log_survival(self, level_db: float, size: int) -> float:
        """Logarithm of the chance of one bit, from that of a packet of `size` bytes."""
        over = level_db - self.half_db
        fall = self.below * over if over < 0 else self.above * over + self.bend * over * over
        return -math.exp(min(math.log(math.log(2)) - fall, 20.0)) / (8 * size)


SHORT, LONG = 32, 1458
"""Bytes of the packets that the curves are of."""
CURVES: dict[tuple[int, int], tuple[Curve, Curve]] = {
    (BPSK, 1): (Curve(-1.278, 1.18, 1.99, 0.27), Curve(0.321, 2.48, 3.28, 0.20)),
    (BPSK, 3): (Curve(1.225, 1.20, 2.09, 0.24), Curve(2.760, 2.83, 3.06, 0.15)),
    (QPSK, 1): (Curve(1.725, 1.20, 1.94, 0.30), Curve(3.298, 2.68, 2.98, 0.32)),
    (QPSK, 3): (Curve(4.235, 1.20, 2.09, 0.24), Curve(5.770, 2.83, 3.06, 0.15)),
    (QAM16, 1): (Curve(7.003, 1.10, 1.58, 0.23), Curve(8.936, 2.15, 2.59, 0.13)),
    (QAM16, 3): (Curve(10.225, 1.18, 1.73, 0.22), Curve(12.026, 2.52, 2.62, 0.11)),
    (QAM64, 2): (Curve(14.101, 1.03, 1.40, 0.19), Curve(16.210, 2.05, 2.21, 0.12)),
    (QAM64, 3): (Curve(15.464, 1.00, 1.50, 0.18), Curve(17.538, 1.98, 2.29, 0.13)),
}
"""Of short and of long packets, by modulation and code.

Fitted to the packet error rates that ns-3 tabulates: within .04, and their -ln(1 - error) within 13 %. BPSK 3/4, which
has no table there, is QPSK 3/4 less the 3.01 dB between the two.
"""

# Distance spectra of the (133, 171) code and its punctured forms: Frenger, Orten, Ottosson (1998).
SPECTRA: dict[int, tuple[int, int, tuple[float, ...]]] = {
    1: (10, 2, (36, 211, 1404, 11633, 77433, 502690, 3322763, 21292910, 134365911)),
    2: (6, 1, (3, 70, 285, 1276, 6160, 27128, 117019, 498860, 2103891, 8784123)),
    3: (5, 1, (42, 201, 1492, 10469, 62935, 379644, 2253373, 13073811, 75152755, 428005675)),
}
"""By code: the free distance, the step between distances, and the bit errors on paths of each distance."""


@cache
def bit_survival_tables(rates: tuple[Rate, ...], model: str) -> tuple[Floats, Floats]:
    """Logarithm of the chance that one bit survives, a row a rate, a column a step of signal-to-noise.

    One table for long stretches of bits, one for short ones.
    """
    decibels = np.arange(LOWEST_DB, HIGHEST_DB + 1 / STEPS_A_DB, 1 / STEPS_A_DB).tolist()
    tables = []
    for which, size in ((1, LONG), (0, SHORT)):
        rows = []
        for rate in rates:
            curves = CURVES.get((rate.modulation, rate.code)) if model == "simulated" else None
            if curves is not None:
                rows.append([curves[which].log_survival(level, size) for level in decibels])
            else:
                rows.append([_log_survival(rate, 10 ** (level / 10)) for level in decibels])
        tables.append(np.array(rows))
    return tables[0], tables[1]


def _log_survival(rate: Rate, snr: float) -> float:
    if rate.code:
        error = _coded_error(_raw_error(rate.modulation, snr), rate.code)
    elif rate.modulation == DBPSK:
        error = 0.5 * math.exp(-snr * 22.0)
    elif rate.modulation == DQPSK:
        x = snr * 11.0
        error = (math.sqrt(2) + 1) / math.sqrt(8 * math.pi * math.sqrt(2)) / math.sqrt(x)
        error *= math.exp(-(2 - math.sqrt(2)) * x)
    elif rate.modulation == CCK5:
        return math.log1p(-min(_biorthogonal_error(8.0 * snr), 1 - 1e-300)) / 4
    else:
        assert rate.modulation == CCK11
        alive = 1.0 - _biorthogonal_error(4.0 * snr)  # two of the half-rate symbols in one
        return 2 * math.log(max(alive, 1e-300)) / 8
    return math.log1p(-error) if error < 1 else HOPELESS


def _raw_error(modulation: int, snr: float) -> float:
    """Bit errors before decoding."""
    if modulation == BPSK:
        return 0.5 * math.erfc(math.sqrt(snr))
    if modulation == QPSK:
        return 0.5 * math.erfc(math.sqrt(snr / 2))
    points = {QAM16: 16, QAM64: 64}[modulation]
    side = math.sqrt(points)
    return (side - 1) / (side * math.log2(side)) * math.erfc(math.sqrt(snr * 3 / (2 * (points - 1))))


def _coded_error(raw: float, code: int) -> float:
    """Bit errors after decoding: a union bound over error paths."""
    distance, step, errors = SPECTRA[code]
    base = math.sqrt(4 * raw * (1 - raw))
    total = sum(count * base ** (distance + step * i) for i, count in enumerate(errors))
    return min(total / (2 * code), 1.0)


def _biorthogonal_error(half_energy: float) -> float:
    """Symbol errors of eight bi-orthogonal codewords (Proakis, 5-2-21), integrated by the trapezoidal rule."""
    beta = math.sqrt(2 * half_energy)
    x = np.linspace(-beta, max(8.0, 8.0 - beta), 600)
    inner = np.array([math.erf(value / math.sqrt(2)) for value in x + beta])
    density = inner**7 * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    correct = float(((density[1:] + density[:-1]) * np.diff(x)).sum() / 2)
    return min(max(1.0 - correct, 0.0), 1.0)


@bare_kernel
def log_survival(rate: int, snr: float, bits: float, table: Floats) -> float:
    """Logarithm of the chance that so many bits survive; of `table`, the upper half is for long stretches."""
    if snr <= 0.0:
        return HOPELESS
    if bits < SHORT_BITS:
        rate += (len(table) + 1) // 2
    place = (10.0 * np.log10(snr) - LOWEST_DB) * STEPS_A_DB
    if place <= 0.0:
        return bits * table[rate, 0]
    cell = int(place)
    if cell >= table.shape[1] - 1:
        return bits * table[rate, table.shape[1] - 1]
    part = place - cell
    return bits * ((1.0 - part) * table[rate, cell] + part * table[rate, cell + 1])
