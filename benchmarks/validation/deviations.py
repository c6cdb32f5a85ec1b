"""Where ns-3, standards and theory differ, and which of them `wifi` follows: words for docs/validation.md."""

from typing import NamedTuple


class Deviation(NamedTuple):
    """One of them."""

    what: str
    theory: str
    ns3: str
    wifi: str


DEVIATIONS = (
    Deviation(
        "contention window when a frame is given up",
        "back to the smallest (802.11-2016, 10.3.3)",
        "stays as it is; back at the first failure after as many as the retry limit",
        "as ns-3",
    ),
    Deviation(
        "a frame comes to an idle station, and the medium turns busy before a DIFS has passed",
        "a backoff is drawn (10.3.4.2)",
        "none is: the frame is sent a DIFS after the medium turns free",
        "as ns-3: of stations that get a frame within the same DIFS, all collide",
    ),
    Deviation(
        "EIFS",
        "after any reception that failed (10.3.2.3.7)",
        "after a payload error; a header that fails is as if nothing had come",
        "as ns-3",
    ),
    Deviation(
        "carrier sense of frames that are not decoded",
        "energy from -62 dBm on (17.3.10.6)",
        "from -82 dBm on while an 802.11 frame is on the air, decoded or not",
        "as ns-3; `reception.carrier_sense_dbm: -62` is the standard's",
    ),
    Deviation(
        "error rates of OFDM",
        "bounds (the NIST model), or link simulations",
        "tables of link simulations, of frames of 32 and of 1458 bytes; a bound for 9 Mbit/s",
        "as ns-3, by curves fitted to its tables "
        "(9 Mbit/s: those of 18 less 3 dB); `reception.error_rates: nist` is the bound, by which 54 Mbit/s "
        "would not reach as far as in the rows above, and hidden terminals would lose more, because "
        "frames survive when an equally strong one covers a small part of them",
    ),
    Deviation(
        "noise in 802.11b",
        "that of 22 MHz",
        "that of 20 MHz",
        "as ns-3: 0.4 dB",
    ),
    Deviation(
        "acknowledgements in 802.11b",
        "at a rate of the network's basic set, usually 1 or 2 Mbit/s",
        "ad hoc at the highest mandatory rate up to that of the data, which may be 11 Mbit/s",
        "as ns-3",
    ),
    Deviation(
        "jitter of AODV and of ARP",
        "none is named",
        "whole milliseconds, 0 to 10 and 0 to 9: neighbours choose the same rather often",
        "as ns-3",
    ),
    Deviation(
        "a neighbour that does not answer ARP",
        "is asked again when there is something to send, at most once a second (RFC 1122, 2.3.2.1)",
        "is dead for 100 s, without a word to AODV",
        "as ns-3 with `arp: true`; by default there is no ARP",
    ),
    Deviation(
        "a frame that waited too long in the radio's queue",
        "says nothing of the link: it was not tried",
        "AODV takes the link for broken, as after a frame without an answer",
        "as ns-3 with `aodv.rules: ns3`",
    ),
    Deviation(
        "a queue above the radio's",
        "not a part of 802.11",
        "FQ-CoDel above the radio's 500 frames",
        "there is none: what comes to a full queue is lost",
    ),
    Deviation(
        "propagation delay",
        "3.3 ns/m",
        "3.3 ns/m",
        "left out: 0.1 us of the 230 us over one hop of 40 m",
    ),
)

BIANCHI = """Bianchi's model has assumptions of its own. Every attempt of a station collides with the same probability,
which makes collisions more likely by a few hundredths than they are (n = 20: .481, where ns-3 and `wifi` have .454).
Who has just succeeded may go on at once with a backoff of 0, which the equations above contain. After a collision
everyone waits a DIFS, or everyone an EIFS, while in truth that depends on whether a receiver took up one of the
frames. And frames that collide are lost: where stations are at different distances, some get through nevertheless,
in ns-3 as in `wifi`, which is why all stations are in one place above.
"""


def deviations() -> str:
    """The section of the page."""
    lines = [
        "## Where ns-3 deviates from theory\n",
        "| what | the standard, or theory | ns-3 | `wifi` |",
        "|---|---|---|---|",
        *(f"| {' | '.join(deviation)} |" for deviation in DEVIATIONS),
    ]
    return "\n".join(lines) + "\n\n" + BIANCHI
