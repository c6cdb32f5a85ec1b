"""The lock-step's machine: its table, its checks, and any bytes at all.

robots ──Hello──▶ network ──Welcome──▶ robots ──Step──▶ network ──Stepped──▶ robots ... End, Ended
"""

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robonet.errors import LocalProtocolError, RemoteProtocolError
from robonet.link import messages
from robonet.link.messages import (
    ARRIVAL,
    BROADCAST,
    FAILURE,
    FIRST_GROUP,
    MAX_MESSAGE_BYTES,
    PROTOCOL_VERSION,
    TRANSMISSION,
    End,
    Ended,
    Error,
    Hello,
    Node,
    Ping,
    Step,
    Stepped,
    Welcome,
    decode,
    encode,
)
from robonet.link.session import NEXT, SAID_BY, PeerError, Role, Session, State

NODES = [Node(name="a"), Node(name="b", groups=["pair"]), Node(name="c", groups=["pair"])]
HELLO = Hello(
    version=PROTOCOL_VERSION, software="test", peer="robots", step_ns=100, steps=5, seed=1,
    arena_low_m=(0.0, 0.0), arena_high_m=(1.0, 1.0), walls=True, obstacles=[], nodes=NODES, wants=["failures"],
)  # fmt: skip
WELCOME = Welcome(
    version=PROTOCOL_VERSION, software="test", model="ideal", first_node=0, first_packet=0,
    directory=NODES, groups=["pair"], offers=[], needs_payloads=False,
)  # fmt: skip


def data(values, dtype):
    return np.array(values, dtype=dtype).data


def step(index=0, packets=(), **changes):
    """Packets as (packet, source, destination, size, time)."""
    rows = [(packet, time, source, destination, size) for packet, source, destination, size, time in packets]
    fields = {
        "index": index,
        "time": index * 100,
        "positions": data(np.zeros(9), "<f8"),
        "packets": data(rows, TRANSMISSION),
    }
    return Step(**{**fields, **changes})


def stepped(index=0, arrivals=(), **changes):
    """Arrivals as (packet, receiver, time)."""
    rows = [(packet, time, receiver, 0.0, 1) for packet, receiver, time in arrivals]
    return Stepped(**{"index": index, "time": (index + 1) * 100, "arrivals": data(rows, ARRIVAL), **changes})


def pair(until=State.READY):
    """Two ends that have talked up to a state."""
    robots, network = Session(Role.ROBOTS), Session(Role.NETWORK)
    script = [
        (robots, network, HELLO, State.JOINING),
        (network, robots, WELCOME, State.READY),
        (robots, network, step(), State.STEPPING),
    ]
    for speaker, listener, message, state in script:
        if until is State.NEW:
            break
        listener.receive(speaker.send(message))
        assert speaker.state is listener.state is state
        if state is until:
            break
    return robots, network


def test_a_whole_run():
    robots, network = pair()
    for index in range(5):
        network.receive(robots.send(step(index, [(index, 0, 1, 8, index * 100 + 3)])))
        robots.receive(network.send(stepped(index, [(index, 1, index * 100 + 50)])))
    network.receive(robots.send(End(reason="finished")))
    robots.receive(network.send(Ended(report={})))
    assert robots.state is network.state is State.CLOSED


EXAMPLES = {
    Hello: HELLO,
    Welcome: WELCOME,
    Step: step(),
    Stepped: stepped(),
    End: End(reason="x"),
    Ended: Ended(report={}),
}


@pytest.mark.parametrize("state", [State.NEW, State.JOINING, State.READY, State.STEPPING])
@pytest.mark.parametrize("kind", list(EXAMPLES))
def test_everything_out_of_turn_is_refused_by_both_ends(state, kind):
    message = EXAMPLES[kind]
    speaker_role = SAID_BY[kind]
    if (state, kind) in NEXT:
        return
    robots, network = pair(state)
    speaker, listener = (robots, network) if speaker_role is Role.ROBOTS else (network, robots)
    with pytest.raises(LocalProtocolError):
        speaker.send(message)
    with pytest.raises(RemoteProtocolError, match=f"{kind.__name__} from the .* in state {state.name}"):
        listener.receive(encode(message))
    assert listener.state is State.FAILED


@pytest.mark.parametrize("kind", list(EXAMPLES))
def test_nobody_may_speak_for_the_other(kind):
    state = next(state for state, k in NEXT if k is kind)
    if state not in (State.NEW, State.JOINING, State.READY, State.STEPPING):
        return
    robots, network = pair(state)
    wrong = network if SAID_BY[kind] is Role.ROBOTS else robots
    with pytest.raises(LocalProtocolError):
        wrong.send(EXAMPLES[kind])


BAD_STEPS = {
    "replayed": (step(0), "step 0 when 1 was due"),
    "skipped": (step(2), "step 2 when 1 was due"),
    "another time": (step(1, time=101), "time 101 ns when 100 was due"),
    "few positions": (step(1, positions=data(np.zeros(8), "<f8")), "positions has 64 bytes"),
    "nan": (step(1, positions=data([np.nan] * 9, "<f8")), "finite"),
    "infinite": (step(1, positions=data([np.inf, -np.inf] + [0] * 7, "<f8")), "finite"),
    "half a record": (
        Step(index=1, time=100, positions=data(np.zeros(9), "<f8"), packets=memoryview(bytes(27))),
        "packets has 27 bytes, which is no whole number of 28",
    ),
    "foreign source": (step(1, [(9, 3, 1, 8, 100)]), "not a node of this peer"),
    "unknown destination": (step(1, [(9, 0, 3, 8, 100)]), "neither a node nor a group"),
    "unknown group": (step(1, [(9, 0, FIRST_GROUP + 1, 8, 100)]), "neither a node nor a group"),
    "too early": (step(1, [(9, 0, 1, 8, 99)]), "outside of the step"),
    "too late": (step(1, [(9, 0, 1, 8, 200)]), "outside of the step"),
    "old packet": (step(1, [(5, 0, 1, 8, 100)]), "must ascend"),
    "descending": (step(1, [(9, 0, 1, 8, 100), (8, 0, 1, 8, 100)]), "must ascend"),
    "absurd number": (step(1, [(2**63, 0, 1, 8, 100)]), "stay below 2"),
}


@pytest.mark.parametrize("name", BAD_STEPS)
def test_a_lying_robot_simulator_is_caught(name):
    message, text = BAD_STEPS[name]
    robots, network = pair()
    network.receive(robots.send(step(0, [(5, 0, 1, 8, 0)])))
    robots.receive(network.send(stepped(0)))
    with pytest.raises(RemoteProtocolError, match=text) as caught:
        network.receive(encode(message))
    assert "the robot simulator 'robots' broke the protocol at simulated time" in str(caught.value)


def test_positions_may_come_in_a_frame_of_their_own():
    robots, network = pair()
    positions = np.arange(9.0)
    network.receive(robots.send(Step(index=0, time=0)), positions.data.cast("B"))
    assert network.positions.tolist() == positions.tolist()


@pytest.mark.parametrize(
    ("message", "tail", "text"),
    [
        (Step(index=0, time=0), b"", "positions has 0 bytes"),
        (Step(index=0, time=0), b"short", "positions has 5 bytes"),
        (Step(index=0, time=0), np.full(9, np.nan).tobytes(), "finite"),
        (step(), bytes(72), "second frame"),
        (End(reason="finished"), bytes(72), "second frame"),
    ],
)
def test_a_second_frame_is_checked_as_the_first(message, tail, text):
    _, network = pair()
    with pytest.raises(RemoteProtocolError, match=text):
        network.receive(encode(message), memoryview(tail))


def test_no_step_beyond_the_last():
    robots, network = pair()
    for index in range(5):
        network.receive(robots.send(step(index)))
        robots.receive(network.send(stepped(index)))
    with pytest.raises(RemoteProtocolError, match="step 5 of 5"):
        network.receive(encode(step(5)))


@pytest.mark.parametrize(
    "name", [name for name, (bad, _) in BAD_STEPS.items() if bad.packets and name != "half a record"]
)
def test_a_lie_among_many_is_caught_too(name):
    """The same among so many rows that they are looked at all at once."""
    bad = np.frombuffer(BAD_STEPS[name][0].packets, TRANSMISSION)
    good = np.array([(10 + i, 100, 0, 1, 8) for i in range(50)], TRANSMISSION)
    robots, network = pair()
    network.receive(robots.send(step(0, [(5, 0, 1, 8, 0)])))
    robots.receive(network.send(stepped(0)))
    rows = np.concatenate((good, bad)) if name in ("old packet", "descending") else np.concatenate((bad, good))
    message = Step(index=1, time=100, positions=data(np.zeros(9), "<f8"), packets=rows.data)
    with pytest.raises(RemoteProtocolError, match=BAD_STEPS[name][1]):
        network.receive(encode(message))


def test_groups_and_broadcast_are_good_destinations():
    robots, network = pair()
    network.receive(robots.send(step(0, [(1, 0, FIRST_GROUP, 8, 0), (2, 0, BROADCAST, 8, 0)])))


BAD_ANSWERS = {
    "replayed": (stepped(1), "step 1 when 0 was due"),
    "another time": (stepped(0, time=99), "time 99 ns when 100 was due"),
    "foreign receiver": (stepped(0, [(1, 3, 50)]), "not a node of this side"),
    "from the future": (stepped(0, [(1, 1, 101)]), "outside of the step"),
    "half a record": (Stepped(index=0, time=100, arrivals=memoryview(bytes(25))), "no whole number of 26"),
    "unknown reason": (
        stepped(0, failures=data([(1, 99)], FAILURE)),
        "unknown reason",
    ),
    "descending rows": (stepped(0, neighbour_offsets=data([0, 2, 1, 2], "<u4")), "must ascend"),
    "unknown neighbour": (
        stepped(
            0, neighbour_offsets=data([0, 1, 1, 1], "<u4"), neighbours=data([7], "<u4"), link_quality=data([1], "<f4")
        ),
        "no node",
    ),
    "short queues": (stepped(0, queues=data([1], "<u4")), "column queues"),
}


@pytest.mark.parametrize("name", BAD_ANSWERS)
def test_a_lying_network_simulator_is_caught(name):
    message, text = BAD_ANSWERS[name]
    robots, network = pair(State.STEPPING)
    with pytest.raises(RemoteProtocolError, match=text):
        robots.receive(encode(message))


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"version": 2}, "speaks version 2 of the protocol"),
        ({"step_ns": 0}, "step_ns"),
        ({"steps": 0}, "steps"),
        ({"steps": 2**62}, "steps"),
        ({"nodes": []}, "0 nodes"),
        ({"nodes": [Node(name="a"), Node(name="a")]}, "same name"),
        ({"wants": ["gossip"]}, "unknown feedback"),
        ({"seed": -1}, "seed"),
    ],
)
def test_a_bad_hello_is_refused(changes, text):
    with pytest.raises(RemoteProtocolError, match=text):
        Session(Role.NETWORK).receive(encode(msgspec.structs.replace(HELLO, **changes)))


def test_a_welcome_that_forgets_someone_is_refused():
    robots, _ = pair(State.JOINING)
    with pytest.raises(RemoteProtocolError, match="directory"):
        robots.receive(encode(msgspec.structs.replace(WELCOME, directory=NODES[:2])))


def test_an_error_of_the_peer_comes_in_its_own_words():
    robots, network = pair()
    with pytest.raises(PeerError, match="the network simulator gave up: the sky fell"):
        robots.receive(network.send(Error(text="the sky fell")))
    assert robots.state is network.state is State.FAILED


def test_a_sign_of_life_moves_nothing():
    robots, network = pair(State.STEPPING)
    robots.receive(network.send(Ping()))
    assert robots.state is State.STEPPING


def test_sizes_are_checked_before_decoding(monkeypatch):
    monkeypatch.setattr(messages, "_decoder", None)  # decoding would fail in another way
    with pytest.raises(RemoteProtocolError, match="larger than"):
        decode(memoryview(bytearray(MAX_MESSAGE_BYTES + 1)))


def test_an_announced_gigabyte_costs_nothing():
    announced = b"\x82\xa4type\xa4step\xa9positions\xc6" + (2**30).to_bytes(4, "big") + b"few"
    with pytest.raises(RemoteProtocolError):
        decode(announced)


@given(st.binary(max_size=300))
def test_any_bytes_are_refused_and_nothing_else(junk):
    for state in (State.NEW, State.READY, State.STEPPING):
        for end in pair(state):
            with pytest.raises(RemoteProtocolError):
                end.receive(junk)


@given(st.sampled_from(list(EXAMPLES)), st.data())
def test_truncated_and_flipped_messages_never_escape_as_another_error(kind, choices):
    whole = bytearray(encode(EXAMPLES[kind]))
    cut = choices.draw(st.integers(0, len(whole) - 1))
    place = choices.draw(st.integers(0, len(whole) - 1))
    truncated = bytes(whole[:cut])
    whole[place] ^= choices.draw(st.integers(1, 255))
    for state in (State.NEW, State.JOINING, State.READY, State.STEPPING):
        for role in (0, 1):
            with pytest.raises(RemoteProtocolError):
                pair(state)[role].receive(truncated)
            try:
                pair(state)[role].receive(bytes(whole))  # a flipped bit may still be a valid message
            except RemoteProtocolError:
                pass


json_like = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text(max_size=5)
    | st.binary(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(["hello", "welcome", "step", "stepped", "end", "ended", "error", "ping"]), st.data())
def test_maps_of_the_right_type_with_wrong_values(kind, choices):
    fields = {f for k in (*EXAMPLES, Error, Ping) for f in k.__struct_fields__}
    body = choices.draw(st.dictionaries(st.sampled_from(sorted(fields)), json_like, max_size=6))
    for state in (State.NEW, State.JOINING, State.READY, State.STEPPING):
        for role in (0, 1):
            try:
                pair(state)[role].receive(msgspec.msgpack.encode({**body, "type": kind}))
            except RemoteProtocolError:
                pass


@given(st.lists(st.sampled_from(list(EXAMPLES)), max_size=8), st.sampled_from(list(Role)))
def test_any_sequence_of_messages_keeps_to_the_table(kinds, role):
    session = Session(role)
    for kind in kinds:
        before = session.state
        try:
            session.receive(encode(EXAMPLES[kind]))
        except RemoteProtocolError:
            assert session.state is State.FAILED
            return
        assert NEXT[before, kind] is session.state
        assert SAID_BY[kind] is role.other


def test_a_message_beyond_the_limit_is_this_sides_own_fault(monkeypatch):
    robots, _ = pair()
    monkeypatch.setattr("robonet.link.session.MAX_MESSAGE_BYTES", 60)
    with pytest.raises(LocalProtocolError, match="a Step of .* bytes .* is larger than"):
        robots.send(step())
