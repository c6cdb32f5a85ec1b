"""What holds for `wifi` whatever the team: packets are conserved, luck has names, and nobody hears what it cannot."""

import tempfile
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from test_wifi_model import MICROSECOND, MILLISECOND, ROUTINGS, STEP_NS, World

from robonet.link.messages import BROADCAST, FIRST_GROUP
from robonet.network.wifi import state
from robonet.network.wifi.airtime import STANDARDS
from robonet.record.tables import read_table

DETECTION = 4 * MICROSECOND
RAYLEIGH = {"rayleigh": {}}

seeds = st.integers(0, 2**32 - 1)
counts = st.integers(2, 10)
quickly = settings(max_examples=25, derandomize=True, deadline=None)


def scattered(rng, count, side_m=300.0):
    return rng.uniform(0, side_m, (count, 2))


def chatter(world, rng, packets, over_s=1.0, unicast_only=False):
    """Packets of all kinds and sizes at random times, also bursts."""
    count = len(world.places_m)
    for time in np.sort(rng.uniform(0, over_s * 1e9, packets)).astype(int).tolist():
        source = int(rng.integers(count))
        destination = int((source + rng.integers(1, count)) % count)
        kind = 1.0 if unicast_only else rng.random()
        if kind < 0.15:
            destination = BROADCAST
        elif kind < 0.25 and len(world.network._members):
            destination = FIRST_GROUP
        world.send(source, destination, time, int(rng.integers(1, 1400)))


def wandering(rng, places_m, speed_m=15.0):
    """A few metres in each step."""
    now_at = np.array(places_m)

    def moves(time):
        now_at[:, :2] += rng.uniform(-speed_m, speed_m, (len(now_at), 2))
        return now_at.copy()

    return moves


@quickly
@given(counts, seeds, st.sampled_from(ROUTINGS), st.booleans(), st.sampled_from([None, RAYLEIGH]))
def test_every_packet_ends_exactly_once(count, seed, routing, is_moving, fading):
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        world = World(
            scattered(rng, count), seed=seed, routing=routing, arp=bool(rng.integers(2)), fading=fading,
            groups={i: ["g"] for i in range(0, count, 2)}, folder=Path(folder),
            mac={"queue_packets": int(rng.integers(1, 20)), "queue_lifetime_s": float(rng.uniform(0.005, 0.5)),
                 "rts_threshold_bytes": int(rng.integers(0, 2000))},
        )  # fmt: skip
        chatter(world, rng, 60)
        world.run(float(rng.integers(10, 25)) / 10, wandering(rng, world.places_m) if is_moving else None).end()
        table = read_table(Path(folder) / "tables" / "packets")
    unicast = {packet for packet, (_, _, destination, _) in world.sent.items() if destination < FIRST_GROUP}
    arrived = Counter(packet for packet, *_ in world.arrivals if packet in unicast)
    assert set(arrived.values()) <= {1}
    assert not set(arrived) & set(world.failures)
    assert set(world.failures) <= unicast
    ended = dict.fromkeys(arrived, "delivered") | world.failures
    fates = dict.fromkeys(unicast, "run_ended") | ended
    assert world.counts["sent"] == len(unicast) == len(table["packet"])
    assert world.counts["delivered"] == len(arrived)
    assert Counter(fates.values()) == Counter({"delivered": len(arrived)}) + Counter(world.counts["dropped"])
    assert dict(zip(table["packet"].tolist(), table["fate"].tolist(), strict=True)) == fates
    pairs = Counter((packet, receiver) for packet, _, receiver, _, _ in world.arrivals)
    assert all(count == 1 for count in pairs.values())
    for packet, time, receiver, _, hops in world.arrivals:
        sent, source, destination, _ = world.sent[packet]
        assert sent < time <= world.now and receiver != source and hops >= 1
        assert destination >= FIRST_GROUP or receiver == destination


def told(world):
    return world.arrivals, world.failures, world.report["digest"], world.radio


@quickly
@given(counts, seeds, st.sampled_from(ROUTINGS), st.sampled_from([None, RAYLEIGH]), st.sampled_from([20, 50, 500]))
def test_results_depend_on_the_seed_and_not_on_the_steps(count, seed, routing, fading, other_step_ms):
    """Nobody moves, so borders of steps mean nothing; neither does running it again."""
    results = []
    for step_ns in (STEP_NS, STEP_NS, other_step_ms * MILLISECOND):
        rng = np.random.default_rng(seed)
        world = World(
            scattered(rng, count), seed=seed, routing=routing, arp=True, fading=fading, step_ns=step_ns
        ).listen()
        chatter(world, rng, 40)
        world.run(1.5).end()
        frames = [(f.time, f.node, f.sender, f.kind, f.size, f.sequence) for f in world.log]
        results.append((told(world), frames))
    first, again, otherwise = results
    assert str(first) == str(again)  # as texts: signals of what a node sends itself are not numbers
    assert str(first) == str(otherwise)


def test_another_seed_is_another_run():
    digests = set()
    for seed in range(3):
        rng = np.random.default_rng(1)
        world = World(scattered(rng, 8), seed=seed, routing="aodv")
        chatter(world, rng, 40)
        digests.add(world.run(1.5).end().report["digest"])
    assert len(digests) == 3


@quickly
@given(counts, seeds, st.sampled_from(["static", "shortest-path"]))
def test_paths_over_the_true_graph_are_shortest_and_have_no_loops(count, seed, routing):
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        world = World(scattered(rng, count), seed=seed, routing=routing, folder=Path(folder))
        chatter(world, rng, 30, unicast_only=True)
        world.run(1.5).end()
        table = read_table(Path(folder) / "tables" / "hops")
    near = np.linalg.norm(world.places_m[:, None] - world.places_m, axis=2) <= 120
    away = np.where(near, 1.0, np.inf)
    np.fill_diagonal(away, 0)
    for middle in range(count):  # Floyd and Warshall
        away = np.minimum(away, away[:, middle, None] + away[None, middle])
    paths = {}
    for packet, node in zip(table["packet"].tolist(), table["node"].tolist(), strict=True):
        paths.setdefault(packet, []).append(int(node[1:]))
    assert set(paths) == set(world.sent)
    for packet, path in paths.items():
        _, source, destination, _ = world.sent[packet]
        assert len(set(path)) == len(path), f"a loop: {path}"
        assert path[0] == source and all(near[a, b] for a, b in pairwise(path))
        if packet in world.arrived:
            assert path[-1] == destination and len(path) - 1 == away[source, destination]
        elif world.failures[packet] == "no_route":
            assert away[source, destination] == np.inf


def spans(world):
    """When each frame is on the air: (start, end, frame), in order of starts."""
    standard = world.network.standard
    return [(f.time, f.time + standard.airtime(f.rate, f.size), f) for f in world.frames()]


@quickly
@given(st.integers(2, 8), seeds, st.sampled_from(["802.11a", "802.11b", "802.11g"]))
def test_who_hears_each_other_shares_the_air(count, seed, standard):
    """Within carrier-sense reach, time on the air is the time that has passed, but for collisions.

    Those are between frames that begin before the other's preamble is heard; acknowledgements look at nothing.
    """
    rng = np.random.default_rng(seed)
    world = World(scattered(rng, count, 20.0), seed=seed, standard=standard).listen()
    chatter(world, rng, 150, over_s=0.05)
    world.run(0.5).end()
    air = spans(world)
    latest, overlap, reached, collisions = None, 0, 0, 0
    for start, end, frame in air:
        if start < reached:
            overlap += min(end, reached) - start
            is_together = start - latest <= DETECTION
            collisions += is_together
            assert is_together or frame.kind == "ack", f"{frame.node} talks into a frame of {start - latest} ns"
        reached = max(reached, end)
        latest = start
    total = sum(end - start for start, end, _ in air)
    assert total == round(world.radio["airtime_s"] * 1e9)
    assert total - overlap <= reached - air[0][0]
    if collisions == 0:
        assert world.radio["collided"] == world.radio["retries"] == 0
        assert overlap == 0


@quickly
@given(counts, seeds, st.sampled_from(ROUTINGS), st.sampled_from([None, RAYLEIGH]), st.sampled_from([-82.0, -75.0]))
def test_nothing_is_decoded_that_could_not_be(count, seed, routing, fading, threshold_dbm):
    """Not below the threshold, not from out of reach, not while sending, not by the sender, and not before its end."""
    rng = np.random.default_rng(seed)
    reception = {"minimum_rssi_dbm": threshold_dbm}
    mac = {"rts_threshold_bytes": int(rng.integers(0, 1500))}
    world = World(
        scattered(rng, count),
        seed=seed,
        routing=routing,
        fading=fading,
        reception=reception,
        mac=mac,
        tx_power_dbm=27.0,
    ).listen()
    chatter(world, rng, 60)
    world.run(1.5).end()
    air = spans(world)
    by_end = {(end, frame.node): (start, frame) for start, end, frame in air}
    sending = {node: [(a, b) for a, b, f in air if f.node == node] for node in range(count)}
    decoded = Counter()
    for heard in world.log:
        if heard.is_sent:
            continue
        start, sent = by_end[heard.time, heard.sender]
        assert (sent.kind, sent.size, sent.receiver, sent.rate) == (heard.kind, heard.size, heard.receiver, heard.rate)
        assert heard.signal_dbm >= threshold_dbm - 0.001
        if fading is None:
            distance = np.linalg.norm(world.places_m[heard.node] - world.places_m[heard.sender])
            assert abs(heard.signal_dbm - (27 - 46.6777 - 30 * np.log10(max(distance, 1)))) < 0.002
        assert not any(a < heard.time and start < b for a, b in sending[heard.node]), "half duplex"
        decoded[heard.node] += 1
    assert all(decoded[node] == number for node, number in enumerate(world.network.medium.air.mac[:, state.DECODED]))


@quickly
@given(counts, seeds, st.sampled_from(ROUTINGS))
def test_every_frame_sent_is_counted(count, seed, routing):
    rng = np.random.default_rng(seed)
    mac = {"rts_threshold_bytes": int(rng.integers(0, 1500))}
    world = World(scattered(rng, count), seed=seed, routing=routing, arp=True, mac=mac).listen()
    chatter(world, rng, 60)
    world.run(1.5).end()
    columns = world.network.medium.air.mac
    for node in range(count):
        own = [frame for frame in world.frames() if frame.node == node]
        data = [frame for frame in own if frame.kind == "data"]
        unicast = [frame for frame in data if frame.receiver != state.EVERYONE]
        assert len(unicast) == columns[node, state.SENT_DATA]
        assert len(data) - len(unicast) == columns[node, state.SENT_BROADCAST]
        assert len(own) - len(data) == columns[node, state.SENT_CONTROL]
        assert sum(frame.tries > 0 for frame in unicast) == columns[node, state.RETRIES]
        airtime = sum(STANDARDS["802.11a"].airtime(frame.rate, frame.size) for frame in own)
        assert airtime == columns[node, state.AIRTIME]
    assert world.radio["frames"] == len(world.frames())


@quickly
@given(counts, seeds, st.sampled_from(["none", "static", "flooding"]))
def test_every_frame_is_accounted_for_at_everyone_in_reach(count, seed, routing):
    """Whoever would detect it alone has decoded it, lost it to others or to noise, or was busy."""
    rng = np.random.default_rng(seed)
    world = World(scattered(rng, count), seed=seed, routing=routing).listen()
    chatter(world, rng, 80, over_s=0.1)
    world.run(1.0).end()
    near = np.linalg.norm(world.places_m[:, None] - world.places_m, axis=2) <= 120
    reached = near.sum(axis=1) - 1
    expected = sum(int(reached[frame.node]) for frame in world.frames())
    radio = world.radio
    assert radio["decoded"] + radio["collided"] + radio["faded"] + radio["missed"] == expected


@quickly
@given(counts, seeds, st.sampled_from(ROUTINGS), st.booleans())
def test_a_node_far_away_changes_nothing_for_the_others(count, seed, routing, has_fading):
    """Each has dice of its own name; only fading goes by the number of the frame, and is left out where all greet."""
    is_silent = routing in ("none", "static", "flooding")
    results = []
    for has_hermit in (False, True):
        rng = np.random.default_rng(seed)
        places = scattered(rng, count)
        if has_hermit:
            places = np.concatenate((places, [[5000.0, 5000.0]]))
        fading = RAYLEIGH if has_fading and is_silent else None
        world = World(places, seed=seed, routing=routing, arp=True, fading=fading)
        everyone, world.places_m = world.places_m, world.places_m[:count]
        chatter(world, rng, 40)
        world.places_m = everyone
        world.run(1.5).end()
        radios = world.network.medium.air.mac[:count, state.SENT_DATA : state.PEAK_QUEUE]
        results.append((world.arrivals, world.failures, world.report["digest"], radios.tolist()))
        if has_hermit:
            assert world.network.medium.air.mac[count, state.DECODED] == 0
    assert results[0] == results[1]
