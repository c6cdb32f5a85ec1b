"""How the state of all radios lies in arrays: one row a node, a column a quantity.

Plain arrays of numbers, because compiled code is entered thousands of times a simulated second and numba takes
longer to recognise anything else. Times are nanoseconds; powers are milliwatts.
"""

from typing import NamedTuple

from robonet.space import Floats, Ints

# --- mac: what a node's medium access knows ---------------------------------------------------------------
BUSY = 0  # whether the medium seems busy: the node sends, receives, or senses energy
SENDING = 1
LOCKED = 2  # whose frame is being received, or NOBODY
LOCKED_AT = 3
CHUNK_FROM = 4  # since when noise and interference are the same
HEADER_OPEN = 5  # whether the header of the frame is still to be judged
CANDIDATES = 6  # preambles being looked at
RX_END = 7
RX_BAD = 8  # the last reception failed: EIFS instead of DIFS
BUSY_END = 9
TX_END = 10
NAV_END = 11
WAIT_END = 12  # when the wait for an answer ended
SLOTS = 13  # of backoff left
BACKOFF_FROM = 14
WINDOW = 15
FAILURES = 16  # in a row, of this node
ACCESS = 17  # NONE, REQUESTED or GRANTED
ACCESS_TIMER = 18  # the number of the timer that counts; others are stale
AWAITED = 19  # the kind of the answer that is waited for
TIMEOUT_AT = 20
TIMEOUT_TIMER = 21
NAV_TIMER = 22
HEAD = 23  # of the queue, or NOBODY
TAIL = 24
QUEUED = 25
SEQUENCE = 26
REPLY = 27  # the kind of the frame to send after SIFS
REPLY_TO = 28
REPLY_NAV = 29
REPLY_RATE = 30

NOBODY = -1
NONE, REQUESTED, GRANTED = 0, 1, 2

# --- phy: what a node's receiver measures -----------------------------------------------------------------
ENERGY = 0  # of all others' frames on the air, without noise
LOCK_POWER = 1
HEADER_LOG = 2  # logarithm of the chance that the header has survived so far
PAYLOAD_LOG = 3
DECODED_POWER = 4  # row k: of the frame at hand, at the k-th node that decoded it
WORST = 5  # the strongest interference during the reception
STRENGTH = 6  # the first of the candidates' powers
PHY_COLUMNS = STRENGTH + 8

# --- mac, the frame that a node has on the air -------------------------------------------------------------
KIND = 31
RECEIVER = 32  # a node, or EVERYONE
JOB = 33
STARTED = 34
ENDS = 35
RATE = 36
SIZE = 37
NAV = 38  # how long the exchange goes on after this frame
NUMBER = 39  # of the frame, counting all

EVERYONE = -1
DATA, ACK, RTS, CTS = 1, 2, 3, 4
ACK_BYTES, RTS_BYTES, CTS_BYTES = 14, 20, 14

# --- jobs: frames that wait in queues ---------------------------------------------------------------------
HANDLE = 0
TO = 1
BYTES = 2
JOB_RATE = 3
EXPIRES = 4
TRIES = 5
NEXT = 6
ACCEPTED = 7  # whether the receiver has it already: more are duplicates
NUMBERED = 8  # its sequence number, or NOBODY
QUEUED_AT = 9
HEAD_AT = 10  # when it became the next to be sent
SENDS = 11  # how often it was on the air; an RTS without answer is a try, too
JOB_COLUMNS = 12

# --- radio: what is the same for all, whole numbers -------------------------------------------------------
NOW = 0
FREE_JOB = 1
EVENTS = 2
EVENT_NUMBER = 3
FRAME_NUMBER = 4
CALLS = 5
SLOT = 6
SIFS = 7
DIFS = 8
EIFS_EXTRA = 9  # by which EIFS is longer than DIFS
CW_MIN = 10
CW_MAX = 11
RETRY_LIMIT = 12
RTS_THRESHOLD = 13
QUEUE_LIMIT = 14
LIFETIME = 15
PREAMBLE = 16
HEADER = 17
EXTENSION = 18
FAMILY = 19
BASE_RATE = 20
ANSWER_TIMEOUT = 21  # from the end of a frame
HAS_FADING = 22
FADING_SEED = 23
RATE_CONTROL = 24
LOGGED = 25
LOGS = 26  # whether frames are logged, for captures
URGENT = 27  # whether there are calls that cannot wait
RATE_COUNT = 28
ANSWERS = 29  # for each rate, that of its ACK or CTS
RADIO_COLUMNS = ANSWERS + 8

DETECTION = 4_000
"""How long a preamble is listened to before it counts as detected."""
CAPTURE_WINDOW = 16_000

# --- levels: what is the same for all, real numbers -------------------------------------------------------
NOISE = 0
DETECT_POWER = 1
DETECT_SNR = 2
CCA_POWER = 3
CAPTURE_RATIO = 4  # or 0
RATES = 5  # Mbit/s of each rate
LEVELS = RATES + 8

# --- mac, what each node has done --------------------------------------------------------------------------
SENT_DATA = 40
SENT_BROADCAST = 41
SENT_CONTROL = 42
AIRTIME = 43
RETRIES = 44
DECODED = 45
COLLIDED = 46  # receptions lost to interference
FADED = 47  # receptions lost to noise
MISSED = 48  # frames strong enough, while the receiver was sending or receiving
DUPLICATES = 49
PEAK_QUEUE = 50

# --- mac, the rest -----------------------------------------------------------------------------------------
DICE = 51  # where the node's stream of random numbers is
DECODER = 52  # row k: the k-th node that decoded the frame at hand
CANDIDATE = 53  # the first of the senders whose preambles are listened to
MOST_CANDIDATES = 8
MAC_COLUMNS = CANDIDATE + MOST_CANDIDATES

# --- events -----------------------------------------------------------------------------------------------
TIME, ORDER, WHAT, WHO, WHICH = range(5)
EVENT_COLUMNS = 5
ACCESS_DUE, DETECT_DUE, END_DUE, REPLY_DUE, TIMEOUT_DUE, NAV_RESET_DUE = range(6)

# --- calls: what concerns the layers above ----------------------------------------------------------------
CALL_KIND, CALL_NODE, CALL_HANDLE, CALL_PEER, CALL_SENDS, CALL_SIGNAL, CALL_QUEUE, CALL_ACCESS, CALL_AIR = range(9)
CALL_COLUMNS = 9
SIGNAL_STEPS = 1000.0  # signals are written as thousandths of a dBm
RECEIVED, DONE, LOST_RETRIES, LOST_LIFETIME = range(4)

# --- log: every frame sent and decoded, for captures ------------------------------------------------------
LOG_TIME, LOG_NODE, LOG_SENDER, LOG_RECEIVER, LOG_KIND, LOG_HANDLE = range(6)
LOG_RATE, LOG_SIZE, LOG_NAV, LOG_SEQUENCE, LOG_RETRY, LOG_SIGNAL = range(6, 12)
LOG_COLUMNS = 12


class Air(NamedTuple):
    """All of it, as kernels hand it to each other."""

    mac: Ints
    phy: Floats
    radio: Ints
    levels: Floats
    tables: Floats
    """A row a rate: the survival of bits by signal-to-noise ratio (error_rates); then quantiles of fading (fading)."""
    agenda: Ints
    jobs: Ints
    offsets: Ints
    """The link table: row i of `near` and `powers` is what node i reaches."""
    near: Ints
    powers: Floats
    calls: Ints
    log: Ints
    habits: Ints
    """Rate control: a row a link in use (rate_control)."""


__all__ = ["Floats", "Ints"]
