"""The medium that all radios share, from queues to decoded frames: a sans-IO core around compiled kernels.

It is handed frames and times, keeps its own agenda, and stops where something concerns the layers above.
"""

import numpy as np

from robonet.clock import ns_from_s
from robonet.errors import SimulatorError
from robonet.kernels import bare_kernel
from robonet.network.wifi import state
from robonet.network.wifi.agenda import pop
from robonet.network.wifi.airtime import Standard
from robonet.network.wifi.contention import arm, count_down
from robonet.network.wifi.error_rates import bit_survival_tables, log_survival
from robonet.network.wifi.exchange import (
    MOST_EXPIRED,
    NO_ROOM,
    QUEUE_FULL,
    enqueue,
    grant,
    handle_frame,
    handle_timeout,
    note,
    send_reply,
    sent,
)
from robonet.network.wifi.fading import gain_quantiles
from robonet.network.wifi.propagation import LinkTable
from robonet.network.wifi.rate_control import EMPTY, HABIT_COLUMNS, LINK, place_of
from robonet.network.wifi.reception import detect, finish, move
from robonet.network.wifi.state import (
    ACCESS,
    ACCESS_DUE,
    ACCESS_TIMER,
    BUSY,
    CALLS,
    DECODED_POWER,
    DECODER,
    DETECT_DUE,
    END_DUE,
    EVENTS,
    LOGGED,
    LOGS,
    NAV_END,
    NAV_RESET_DUE,
    NAV_TIMER,
    NOBODY,
    NOW,
    REPLY_DUE,
    REQUESTED,
    TIME,
    TIMEOUT_DUE,
    TIMEOUT_TIMER,
    URGENT,
    Air,
    Floats,
    Ints,
)
from robonet.scenario.wifi import Wifi
from robonet.streams import stream

__all__ = ["QUEUE_FULL", "Medium"]

ALL_DONE, HAS_CALLS, NEEDS_ROOM = range(3)
BOLTZMANN = 1.380649e-23
ROOM_TEMPERATURE_K = 290.0


def noise_dbm(bandwidth_hz: float, noise_figure_db: float) -> float:
    """Thermal noise in a receiver."""
    return 10 * float(np.log10(BOLTZMANN * ROOM_TEMPERATURE_K * bandwidth_hz * 1e3)) + noise_figure_db


class Medium:
    """All radios and the air between them."""

    def __init__(
        self, settings: Wifi, standard: Standard, seed: int, names: list[str], links: LinkTable, logs: bool = False
    ) -> None:
        nodes = len(names)
        self._links = links
        self._room = 2 * nodes + 2 * MOST_EXPIRED + 64
        """Events and calls that one event can make."""
        radio = np.zeros(state.RADIO_COLUMNS, dtype=np.int64)
        levels = np.zeros(state.LEVELS)
        _set_timing(radio, settings, standard)
        _set_levels(levels, settings, standard)
        radio[LOGS] = logs
        radio[state.FADING_SEED] = stream(seed, "network", "wifi", "fading").integers(2**62)
        mac = np.zeros((nodes, state.MAC_COLUMNS), dtype=np.int64)
        for column in (state.LOCKED, state.HEAD, state.TAIL):
            mac[:, column] = NOBODY
        mac[:, state.WINDOW] = radio[state.CW_MIN]
        for node, name in enumerate(names):
            mac[node, state.DICE] = stream(seed, "network", "wifi", "radio", name).integers(2**63 - 1)
        jobs = np.zeros((1024, state.JOB_COLUMNS), dtype=np.int64)
        jobs[:, state.NEXT] = np.arange(1, len(jobs) + 1)
        jobs[-1, state.NEXT] = NOBODY
        habits = np.full((1024, HABIT_COLUMNS), 0, dtype=np.int64)
        habits[:, LINK] = EMPTY
        self.air = Air(
            mac=mac,
            phy=np.zeros((nodes, state.PHY_COLUMNS)),
            radio=radio,
            levels=levels,
            tables=_tables(settings, standard),
            agenda=np.zeros((16 * nodes + 4 * self._room, state.EVENT_COLUMNS), dtype=np.int64),
            jobs=jobs,
            offsets=links.offsets,
            near=links.near,
            powers=links.powers,
            calls=np.zeros((4 * self._room, state.CALL_COLUMNS), dtype=np.int64),
            log=np.zeros((4096 + 2 * self._room if logs else 2 * self._room, state.LOG_COLUMNS), dtype=np.int64),
            habits=habits,
        )

    def move(self, positions_m: Floats, now: int) -> None:
        """Everyone is somewhere else from now on."""
        self._more_events()
        if self._links.update(positions_m):
            self.air = self.air._replace(near=self._links.near, powers=self._links.powers)
            _move(now, *self.air)
        self._keep_habits_sparse()

    def enqueue(self, node: int, handle: int, to: int, size: int, rate: int, now: int) -> int:
        """Hand a frame of `size` bytes to a node's radio; QUEUE_FULL if it is lost."""
        answer: int = _enqueue(node, handle, to, size, rate, now, *self.air)
        if answer == NO_ROOM:
            self._more_calls()
            self._more_jobs()
            self._more_events()
            answer = _enqueue(node, handle, to, size, rate, now, *self.air)
        return answer

    @property
    def now(self) -> int:
        """The time of the last event."""
        return int(self.air.radio[NOW])

    def advance(self, limit: int) -> bool:
        """Go on up to and including a time, or until something concerns the layers above; whether it does."""
        while True:
            answer = _advance(limit, self._room, *self.air)
            if answer != NEEDS_ROOM:
                return bool(answer == HAS_CALLS)
            self._more_events()

    def take_calls(self) -> list[list[int]]:
        """What concerns the layers above, as rows of CALL columns."""
        count = int(self.air.radio[CALLS])
        self.air.radio[CALLS] = 0
        self.air.radio[URGENT] = 0
        rows: list[list[int]] = self.air.calls[:count].tolist()
        return rows

    def take_log(self) -> list[list[int]]:
        """Frames sent and heard since the last time."""
        count = int(self.air.radio[LOGGED])
        self.air.radio[LOGGED] = 0
        rows: list[list[int]] = self.air.log[:count].tolist()
        return rows

    def delivery_probability(self, powers: Floats, rate: int, size: int = 100) -> Floats:
        """The chance of a frame over each of some links while nobody else speaks."""
        air = self.air
        bits = 8.0 * (size + 64)
        noise = air.levels[state.NOISE]
        chances = [log_survival(rate, power / noise, bits, air.tables) for power in powers.tolist()]
        return np.exp(np.array(chances))

    def least_power_mw(self, rate: int) -> float:
        """The power with which every other frame gets through."""
        decibels = np.arange(-10.0, 40.0, 0.05)
        powers = self.air.levels[state.NOISE] * 10 ** (decibels / 10)
        return float(powers[np.searchsorted(self.delivery_probability(powers, rate), 0.5)])

    def _more_jobs(self) -> None:
        old = self.air.jobs
        if self.air.radio[state.FREE_JOB] != NOBODY:
            return
        jobs = np.zeros((2 * len(old), state.JOB_COLUMNS), dtype=np.int64)
        jobs[: len(old)] = old
        jobs[len(old) :, state.NEXT] = np.arange(len(old) + 1, len(jobs) + 1)
        jobs[-1, state.NEXT] = NOBODY
        self.air.radio[state.FREE_JOB] = len(old)
        self.air = self.air._replace(jobs=jobs)

    def _more_calls(self) -> None:
        calls = self.air.calls
        if self.air.radio[CALLS] + 2 * self._room < len(calls):
            return
        self.air = self.air._replace(calls=np.concatenate((calls, np.zeros_like(calls))))

    def _more_events(self) -> None:
        agenda = self.air.agenda
        if self.air.radio[EVENTS] + 2 * self._room < len(agenda):
            return
        if len(agenda) > 2**28:
            raise SimulatorError("the radios' agenda grows without end")
        self.air = self.air._replace(agenda=np.concatenate((agenda, np.zeros_like(agenda))))

    def _keep_habits_sparse(self) -> None:
        """Grow the table of rate control while it is at most half full with all links of this step."""
        air = self.air
        if not air.radio[state.RATE_CONTROL]:
            return
        used = air.habits[air.habits[:, LINK] != EMPTY]
        needed = 2 * (len(used) + len(air.near)) + 16
        if needed > len(air.habits):
            habits = np.zeros((2 * needed, HABIT_COLUMNS), dtype=np.int64)
            habits[:, LINK] = EMPTY
            _rehash(used, habits)
            self.air = air._replace(habits=habits)


def _tables(settings: Wifi, standard: Standard) -> Floats:
    """What kernels look up: a row a rate for long stretches of bits, the gains of fading, then rows for short ones."""
    gains = gain_quantiles(settings.fading)
    both = bit_survival_tables(standard.rates, settings.reception.error_rates)
    rates, steps = both[0].shape
    tables = np.zeros((2 * rates + 1, max(steps, len(gains))))
    for first, survival in zip((0, rates + 1), both, strict=True):
        tables[first : first + rates] = survival[:, -1:]
        tables[first : first + rates, :steps] = survival
    tables[rates, : len(gains)] = gains
    return tables


def _set_timing(radio: Ints, settings: Wifi, standard: Standard) -> None:
    """All times and limits, from the standard and the scenario."""
    mac = settings.mac
    basic_ack = standard.airtime(0, state.ACK_BYTES)
    radio[state.SLOT] = standard.slot
    radio[state.SIFS] = standard.sifs
    radio[state.DIFS] = standard.sifs + 2 * standard.slot
    radio[state.EIFS_EXTRA] = standard.sifs + basic_ack
    radio[state.CW_MIN] = standard.cw_min if mac.cw_min is None else mac.cw_min
    radio[state.CW_MAX] = mac.cw_max
    radio[state.RETRY_LIMIT] = mac.retry_limit
    radio[state.RTS_THRESHOLD] = mac.rts_threshold_bytes
    radio[state.QUEUE_LIMIT] = mac.queue_packets
    radio[state.LIFETIME] = ns_from_s(mac.queue_lifetime_s)
    radio[state.PREAMBLE] = standard.preamble
    radio[state.HEADER] = standard.header
    radio[state.EXTENSION] = standard.extension
    radio[state.FAMILY] = standard.family
    radio[state.BASE_RATE] = 0
    radio[state.ANSWER_TIMEOUT] = standard.sifs + standard.slot + standard.preamble + standard.header
    radio[state.HAS_FADING] = settings.fading is not None
    radio[state.RATE_COUNT] = len(standard.rates)
    for rate in range(len(standard.rates)):
        radio[state.ANSWERS + rate] = standard.answer_rate(rate)
    radio[state.RATE_CONTROL] = settings.mac.rate_control == "arf"


def _set_levels(levels: Floats, settings: Wifi, standard: Standard) -> None:
    """All powers, in milliwatts."""
    reception = settings.reception
    for number, rate in enumerate(standard.rates):
        levels[state.RATES + number] = rate.mbps
    levels[state.NOISE] = 10 ** (noise_dbm(standard.bandwidth_hz, settings.noise_figure_db) / 10)
    levels[state.DETECT_POWER] = 10 ** (reception.minimum_rssi_dbm / 10)
    levels[state.DETECT_SNR] = 10 ** (reception.minimum_snr_db / 10)
    levels[state.CCA_POWER] = 10 ** (reception.carrier_sense_dbm / 10)
    if reception.capture_db is not None:
        levels[state.CAPTURE_RATIO] = 10 ** (reception.capture_db / 10)


# The three ways into compiled code take every array by itself: numba recognises those fastest.


@bare_kernel
def _enqueue(
    node: int,
    handle: int,
    to: int,
    size: int,
    rate: int,
    now: int,
    mac: Ints,
    phy: Floats,
    radio: Ints,
    levels: Floats,
    tables: Floats,
    agenda: Ints,
    jobs: Ints,
    offsets: Ints,
    near: Ints,
    powers: Floats,
    calls: Ints,
    log: Ints,
    habits: Ints,
) -> int:
    air = Air(mac, phy, radio, levels, tables, agenda, jobs, offsets, near, powers, calls, log, habits)
    return enqueue(air, node, handle, to, size, rate, now)


@bare_kernel
def _move(
    now: int,
    mac: Ints,
    phy: Floats,
    radio: Ints,
    levels: Floats,
    tables: Floats,
    agenda: Ints,
    jobs: Ints,
    offsets: Ints,
    near: Ints,
    powers: Floats,
    calls: Ints,
    log: Ints,
    habits: Ints,
) -> None:
    air = Air(mac, phy, radio, levels, tables, agenda, jobs, offsets, near, powers, calls, log, habits)
    move(air, now)


@bare_kernel
def _advance(
    limit: int,
    room: int,
    mac: Ints,
    phy: Floats,
    radio: Ints,
    levels: Floats,
    tables: Floats,
    agenda: Ints,
    jobs: Ints,
    offsets: Ints,
    near: Ints,
    powers: Floats,
    calls: Ints,
    log: Ints,
    habits: Ints,
) -> int:
    air = Air(mac, phy, radio, levels, tables, agenda, jobs, offsets, near, powers, calls, log, habits)
    while radio[EVENTS] > 0 and agenda[0, TIME] <= limit:
        if radio[EVENTS] + room > len(agenda):
            return NEEDS_ROOM
        now, what, node, which = pop(agenda, radio)
        radio[NOW] = now
        if what == ACCESS_DUE:
            if which == mac[node, ACCESS_TIMER]:
                grant(air, node, now)
        elif what == DETECT_DUE:
            detect(air, node, now)
        elif what == END_DUE:
            end(air, node, now)
        elif what == REPLY_DUE:
            send_reply(air, node, now)
        elif what == TIMEOUT_DUE:
            if which == mac[node, TIMEOUT_TIMER]:
                handle_timeout(air, node, now)
        elif what == NAV_RESET_DUE and which == mac[node, NAV_TIMER]:
            reset_nav(air, node, now)
        if radio[URGENT] or radio[CALLS] + room > len(calls) or radio[LOGGED] + room > len(log):
            return HAS_CALLS
    return ALL_DONE


@bare_kernel
def end(air: Air, sender: int, now: int) -> None:
    """A frame ends: those that decoded it act on it, and so does its sender."""
    found = finish(air, sender, now)
    if air.radio[LOGS]:
        for k in range(found):
            note(air, air.mac[k, DECODER], sender, now, air.phy[k, DECODED_POWER])
    for k in range(found):
        handle_frame(air, air.mac[k, DECODER], sender, air.phy[k, DECODED_POWER], now)
    sent(air, sender, now)


@bare_kernel
def reset_nav(air: Air, node: int, now: int) -> None:
    """Nobody spoke after an RTS: the medium is free again."""
    count_down(air.mac, air.radio, node, now)
    air.mac[node, NAV_END] = now
    if air.mac[node, ACCESS] == REQUESTED and not air.mac[node, BUSY]:
        arm(air.mac, air.radio, air.agenda, node, now)


@bare_kernel
def _rehash(used: Ints, habits: Ints) -> None:
    from_link = np.int64(0xFFFFFFFF)
    for row in range(len(used)):
        place = place_of(habits, used[row, LINK] >> 32, used[row, LINK] & from_link)
        for column in range(HABIT_COLUMNS):
            habits[place, column] = used[row, column]
