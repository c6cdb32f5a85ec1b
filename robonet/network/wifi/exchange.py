"""Exchanges of frames between two nodes: RTS, CTS, data, ACK, and what happens when an answer stays away.

(IEEE 802.11-2016, 10.3.2.)
"""

import numpy as np

from robonet.kernels import bare_kernel
from robonet.network.wifi.agenda import push
from robonet.network.wifi.contention import release, request, reset_window, widen_window
from robonet.network.wifi.rate_control import failed, first_rate, succeeded
from robonet.network.wifi.reception import answer_time, begin, time_on_air
from robonet.network.wifi.state import (
    ACCEPTED,
    ACCESS,
    ACCESS_DUE,
    ACCESS_TIMER,
    ACK,
    ACK_BYTES,
    AIRTIME,
    ANSWER_TIMEOUT,
    ANSWERS,
    AWAITED,
    BASE_RATE,
    BYTES,
    CALL_ACCESS,
    CALL_AIR,
    CALL_HANDLE,
    CALL_KIND,
    CALL_NODE,
    CALL_PEER,
    CALL_QUEUE,
    CALL_SENDS,
    CALL_SIGNAL,
    CALLS,
    CTS,
    CTS_BYTES,
    DATA,
    DONE,
    DUPLICATES,
    ENDS,
    EVENTS,
    EVERYONE,
    EXPIRES,
    FRAME_NUMBER,
    FREE_JOB,
    GRANTED,
    HANDLE,
    HEAD,
    HEAD_AT,
    JOB,
    JOB_RATE,
    KIND,
    LIFETIME,
    LOG_HANDLE,
    LOG_KIND,
    LOG_NAV,
    LOG_NODE,
    LOG_RATE,
    LOG_RECEIVER,
    LOG_RETRY,
    LOG_SENDER,
    LOG_SEQUENCE,
    LOG_SIGNAL,
    LOG_SIZE,
    LOG_TIME,
    LOGGED,
    LOGS,
    LOST_LIFETIME,
    LOST_RETRIES,
    NAV,
    NAV_END,
    NEXT,
    NOBODY,
    NONE,
    NUMBER,
    NUMBERED,
    PEAK_QUEUE,
    QUEUE_LIMIT,
    QUEUED,
    QUEUED_AT,
    RATE,
    RECEIVED,
    RECEIVER,
    REPLY,
    REPLY_DUE,
    REPLY_NAV,
    REPLY_RATE,
    REPLY_TO,
    RETRIES,
    RETRY_LIMIT,
    RTS,
    RTS_BYTES,
    RTS_THRESHOLD,
    SENDING,
    SENDS,
    SENT_BROADCAST,
    SENT_CONTROL,
    SENT_DATA,
    SEQUENCE,
    SIFS,
    SIGNAL_STEPS,
    SIZE,
    STARTED,
    TAIL,
    TIMEOUT_AT,
    TIMEOUT_DUE,
    TIMEOUT_TIMER,
    TO,
    TRIES,
    URGENT,
    WAIT_END,
    Air,
)

NO_ROOM, QUEUE_FULL, TAKEN = -2, -1, 0
MOST_EXPIRED = 32
"""Frames thrown away at a time: each makes a call, and there is room for so many."""


@bare_kernel
def enqueue(air: Air, node: int, handle: int, to: int, size: int, rate: int, now: int) -> int:
    """Put a frame into a node's queue; NO_ROOM when arrays are too small for it, QUEUE_FULL when it is lost."""
    mac, jobs = air.mac, air.jobs
    room = 2 * len(mac) + 4 * MOST_EXPIRED
    if air.radio[CALLS] + room > len(air.calls) or air.radio[EVENTS] + room > len(air.agenda):
        return NO_ROOM
    drop_expired(air, node, now)
    job = air.radio[FREE_JOB]
    if job == NOBODY:
        return NO_ROOM
    if mac[node, QUEUED] >= air.radio[QUEUE_LIMIT]:
        return QUEUE_FULL
    air.radio[FREE_JOB] = jobs[job, NEXT]
    jobs[job, HANDLE] = handle
    jobs[job, TO] = to
    jobs[job, BYTES] = size
    jobs[job, JOB_RATE] = rate
    jobs[job, EXPIRES] = now + air.radio[LIFETIME]
    jobs[job, TRIES] = 0
    jobs[job, SENDS] = 0
    jobs[job, NEXT] = NOBODY
    jobs[job, ACCEPTED] = 0
    jobs[job, NUMBERED] = NOBODY
    jobs[job, QUEUED_AT] = now
    if mac[node, QUEUED] == 0:
        mac[node, HEAD] = job
        jobs[job, HEAD_AT] = now
    else:
        jobs[mac[node, TAIL], NEXT] = job
    mac[node, TAIL] = job
    mac[node, QUEUED] += 1
    air.mac[node, PEAK_QUEUE] = max(air.mac[node, PEAK_QUEUE], mac[node, QUEUED])
    if mac[node, ACCESS] == NONE:
        request(air.mac, air.radio, air.agenda, node, now)
    return TAKEN


@bare_kernel
def drop_expired(air: Air, node: int, now: int) -> None:
    """Throw away frames that have waited too long, some at a time; the one being sent stays."""
    mac, jobs = air.mac, air.jobs
    if mac[node, ACCESS] == GRANTED:
        return
    for _ in range(MOST_EXPIRED):
        if mac[node, QUEUED] == 0 or jobs[mac[node, HEAD], EXPIRES] > now:
            break
        call(air, LOST_LIFETIME, node, mac[node, HEAD], jobs[mac[node, HEAD], TO], 0.0)
        dequeue(air, node, now)


@bare_kernel
def dequeue(air: Air, node: int, now: int) -> None:
    """Take away the first frame of a queue."""
    mac, jobs = air.mac, air.jobs
    job = mac[node, HEAD]
    mac[node, HEAD] = jobs[job, NEXT]
    mac[node, QUEUED] -= 1
    if mac[node, QUEUED] > 0:
        jobs[mac[node, HEAD], HEAD_AT] = now
    jobs[job, NEXT] = air.radio[FREE_JOB]
    air.radio[FREE_JOB] = job


@bare_kernel
def as_steps(power: float) -> int:
    """A power in milliwatts as thousandths of a dBm; 0 where there is none to tell."""
    return int(np.floor(SIGNAL_STEPS * 10.0 * np.log10(power))) if power > 0.0 else 0


@bare_kernel
def call(air: Air, kind: int, node: int, job: int, peer: int, signal: float) -> None:
    """Tell the layers above."""
    place = air.radio[CALLS]
    air.calls[place, CALL_KIND] = kind
    air.calls[place, CALL_NODE] = node
    air.calls[place, CALL_HANDLE] = air.jobs[job, HANDLE]
    air.calls[place, CALL_PEER] = peer
    air.calls[place, CALL_SENDS] = air.jobs[job, SENDS]
    air.calls[place, CALL_SIGNAL] = as_steps(signal)
    if kind == RECEIVED:
        air.calls[place, CALL_QUEUE] = air.jobs[job, HEAD_AT] - air.jobs[job, QUEUED_AT]
        air.calls[place, CALL_ACCESS] = air.mac[peer, STARTED] - air.jobs[job, HEAD_AT]
        air.calls[place, CALL_AIR] = air.mac[peer, ENDS] - air.mac[peer, STARTED]
    air.radio[CALLS] += 1
    if kind != DONE:
        air.radio[URGENT] = 1


@bare_kernel
def grant(air: Air, node: int, now: int) -> None:
    """A node may speak."""
    mac, jobs = air.mac, air.jobs
    drop_expired(air, node, now)
    if mac[node, QUEUED] == 0:
        release(air.mac, air.radio, air.agenda, node, now)
        return
    if jobs[mac[node, HEAD], EXPIRES] <= now:  # there are more of them: come back for the rest
        push(air.agenda, air.radio, now, ACCESS_DUE, node, mac[node, ACCESS_TIMER])
        return
    mac[node, ACCESS] = GRANTED
    job = mac[node, HEAD]
    if jobs[job, NUMBERED] == NOBODY:
        jobs[job, NUMBERED] = mac[node, SEQUENCE]
        mac[node, SEQUENCE] = (mac[node, SEQUENCE] + 1) & 0xFFF
    if jobs[job, TO] != EVERYONE:
        jobs[job, JOB_RATE] = first_rate(air, node, jobs[job, TO], jobs[job, JOB_RATE])
        if jobs[job, BYTES] > air.radio[RTS_THRESHOLD]:
            rate = air.radio[BASE_RATE]
            data = time_on_air(air, jobs[job, JOB_RATE], jobs[job, BYTES])
            answers = answer_time(air, rate) + answer_time(air, jobs[job, JOB_RATE])
            send(air, node, RTS, jobs[job, TO], job, rate, RTS_BYTES, 3 * air.radio[SIFS] + data + answers, now)
            return
    send_data(air, node, now)


@bare_kernel
def send_data(air: Air, node: int, now: int) -> None:
    """The first frame of the queue goes on the air."""
    jobs = air.jobs
    job = air.mac[node, HEAD]
    rate = jobs[job, JOB_RATE]
    duration = 0 if jobs[job, TO] == EVERYONE else air.radio[SIFS] + answer_time(air, rate)
    send(air, node, DATA, jobs[job, TO], job, rate, jobs[job, BYTES], duration, now)


@bare_kernel
def send(air: Air, node: int, kind: int, to: int, job: int, rate: int, size: int, nav: int, now: int) -> None:
    """Any frame goes on the air."""
    mac = air.mac
    duration = time_on_air(air, rate, size)
    mac[node, KIND] = kind
    mac[node, RECEIVER] = to
    mac[node, JOB] = job
    mac[node, STARTED] = now
    mac[node, ENDS] = now + duration
    mac[node, RATE] = rate
    mac[node, SIZE] = size
    mac[node, NAV] = nav
    mac[node, NUMBER] = air.radio[FRAME_NUMBER]
    air.radio[FRAME_NUMBER] += 1
    air.mac[node, AIRTIME] += duration
    if kind != DATA:
        air.mac[node, SENT_CONTROL] += 1
    else:
        air.jobs[job, SENDS] += 1
        if to == EVERYONE:
            air.mac[node, SENT_BROADCAST] += 1
        else:
            air.mac[node, SENT_DATA] += 1
            if air.jobs[job, SENDS] > 1:
                air.mac[node, RETRIES] += 1
    if air.radio[LOGS]:
        note(air, node, node, now, 0.0)
    begin(air, node, now)


@bare_kernel
def note(air: Air, node: int, sender: int, time: int, signal: float) -> None:
    """Log a frame, as sent or as heard at a node."""
    place = air.radio[LOGGED]
    log, mac = air.log, air.mac
    log[place, LOG_TIME] = time
    log[place, LOG_NODE] = node
    log[place, LOG_SENDER] = sender
    log[place, LOG_RECEIVER] = mac[sender, RECEIVER]
    log[place, LOG_KIND] = mac[sender, KIND]
    log[place, LOG_RATE] = mac[sender, RATE]
    log[place, LOG_SIZE] = mac[sender, SIZE]
    log[place, LOG_NAV] = mac[sender, NAV]
    if mac[sender, KIND] == DATA:
        job = mac[sender, JOB]
        log[place, LOG_HANDLE] = air.jobs[job, HANDLE]
        log[place, LOG_SEQUENCE] = air.jobs[job, NUMBERED]
        log[place, LOG_RETRY] = air.jobs[job, SENDS] - 1
    else:
        log[place, LOG_HANDLE] = NOBODY
        log[place, LOG_SEQUENCE] = 0
        log[place, LOG_RETRY] = 0
    log[place, LOG_SIGNAL] = as_steps(signal)
    air.radio[LOGGED] += 1


@bare_kernel
def sent(air: Air, node: int, now: int) -> None:
    """A node's own frame has ended: wait for the answer, or go on."""
    mac = air.mac
    kind = air.mac[node, KIND]
    if kind == DATA and air.mac[node, RECEIVER] == EVERYONE:
        call(air, DONE, node, mac[node, HEAD], EVERYONE, 0.0)
        air.radio[URGENT] = 1  # perhaps nobody has heard it: then this is its end
        dequeue(air, node, now)
        release(air.mac, air.radio, air.agenda, node, now)
    elif kind in (DATA, RTS):
        mac[node, AWAITED] = ACK if kind == DATA else CTS
        mac[node, TIMEOUT_TIMER] += 1
        mac[node, TIMEOUT_AT] = now + air.radio[ANSWER_TIMEOUT]
        mac[node, WAIT_END] = mac[node, TIMEOUT_AT]
        push(air.agenda, air.radio, mac[node, TIMEOUT_AT], TIMEOUT_DUE, node, mac[node, TIMEOUT_TIMER])


@bare_kernel
def handle_frame(air: Air, node: int, sender: int, signal: float, now: int) -> None:
    """A node has decoded a frame."""
    mac = air.mac
    kind, to = mac[sender, KIND], mac[sender, RECEIVER]
    if kind == DATA and to == EVERYONE:
        call(air, RECEIVED, node, mac[sender, JOB], sender, signal)
    elif to != node:
        return
    elif kind == DATA:
        reply(air, node, ACK, sender, mac[sender, RATE], 0, now)
        job = mac[sender, JOB]
        if air.jobs[job, ACCEPTED]:
            air.mac[node, DUPLICATES] += 1
        else:
            air.jobs[job, ACCEPTED] = 1
            call(air, RECEIVED, node, job, sender, signal)
    elif kind == RTS:
        if mac[node, NAV_END] <= now:
            rest = mac[sender, NAV] - air.radio[SIFS] - answer_time(air, mac[sender, RATE])
            reply(air, node, CTS, sender, mac[sender, RATE], rest, now)
    elif kind == mac[node, AWAITED]:
        mac[node, AWAITED] = 0
        mac[node, TIMEOUT_TIMER] += 1
        mac[node, WAIT_END] = now
        if kind == CTS:
            reply(air, node, DATA, sender, 0, 0, now)
        else:
            reset_window(air.mac, air.radio, node)
            succeeded(air, node, sender)
            call(air, DONE, node, mac[node, HEAD], sender, signal)
            dequeue(air, node, now)
            release(air.mac, air.radio, air.agenda, node, now)


@bare_kernel
def reply(air: Air, node: int, kind: int, to: int, rate: int, nav: int, now: int) -> None:
    """Send after SIFS, whatever the medium is like."""
    mac = air.mac
    mac[node, REPLY] = kind
    mac[node, REPLY_TO] = to
    mac[node, REPLY_RATE] = rate
    mac[node, REPLY_NAV] = nav
    push(air.agenda, air.radio, now + air.radio[SIFS], REPLY_DUE, node, 0)


@bare_kernel
def send_reply(air: Air, node: int, now: int) -> None:
    """SIFS has passed."""
    mac = air.mac
    if mac[node, SENDING]:  # two answers due at once cannot both be given
        return
    if mac[node, REPLY] == DATA:
        send_data(air, node, now)
    else:
        size = ACK_BYTES if mac[node, REPLY] == ACK else CTS_BYTES
        rate = air.radio[ANSWERS + mac[node, REPLY_RATE]]
        send(air, node, mac[node, REPLY], mac[node, REPLY_TO], NOBODY, rate, size, mac[node, REPLY_NAV], now)


@bare_kernel
def handle_timeout(air: Air, node: int, now: int) -> None:
    """No answer came: try again, or give the frame up."""
    mac, jobs = air.mac, air.jobs
    job = mac[node, HEAD]
    mac[node, AWAITED] = 0
    jobs[job, TRIES] += 1
    failed(air, node, jobs[job, TO])
    widen_window(air.mac, air.radio, node)
    if jobs[job, TRIES] >= air.radio[RETRY_LIMIT]:
        call(air, LOST_RETRIES, node, job, jobs[job, TO], 0.0)
        dequeue(air, node, now)
    release(air.mac, air.radio, air.agenda, node, now)
