"""What ns-2's numbers and trace lines mean, without ns-2."""

import pytest

from bridges.ns2.fates import LONGEST_LIFE_NS, Fates
from bridges.ns2.translation import translate
from robonet.errors import UserError
from robonet.link.messages import REASONS, Node
from robonet.link.simulators import Setup, Transmissions
from robonet.network.ledger import Ledger
from robonet.scenario.ns2 import Ns2
from robonet.scenario.wifi import Wifi

NODES = 6


def setup(**more):
    nodes = [Node(name=f"n{i}") for i in range(NODES)]
    usual = Setup(
        seed=1, step_ns=10**8, steps=10, arena_low_m=(-50.5, 0.0), arena_high_m=(50.0, 20.0), walls=True,
        obstacles=[], nodes=nodes, groups=[], wants=frozenset(),
    )  # fmt: skip
    return usual._replace(**more)


def config(wifi=None, **ns2):
    return translate(Ns2(**ns2), Wifi.model_validate(wifi or {}), setup()).config


# --- numbers ---------------------------------------------------------------------------------------------


def test_thresholds_are_those_of_ns2s_own_table():
    """ns-2's `threshold` program and ns-default.tcl: 250 m and 550 m with a WaveLAN card."""
    told = config(range_m=250.0)
    assert float(told["receive_w"]) == pytest.approx(3.652e-10, rel=1e-3)
    assert float(told["sense_w"]) == pytest.approx(1.559e-11, rel=1e-3)
    assert float(config(range_m=40.0)["receive_w"]) == pytest.approx(3.652e-10 * 0.28183815 / 8.5872e-4, rel=1e-2)


def test_the_default_is_the_papers_range():
    assert float(config()["receive_w"]) == pytest.approx(0.28183815 * 1.5**4 / 120**4, rel=1e-6)


def test_words_of_wifi_hold_unless_written_again():
    wifi = {
        "rate_mbps": 11.0,
        "range_m": 60.0,
        "mac": {"queue_packets": 9, "retry_limit": 3, "rts_threshold_bytes": 100},
    }
    told = config(wifi)
    assert (told["rate_bps"], told["queue_packets"], told["short_retry_limit"]) == ("11000000.0", "9", "3")
    assert told["rts_threshold_bytes"] == "125"
    again = config(wifi, rate_mbps=1.0, queue_packets=30, range_m=120.0)
    assert (again["rate_bps"], again["queue_packets"]) == ("1000000.0", "30")
    assert again["receive_w"] == config()["receive_w"]
    assert config()["queue_packets"] == "50"


def test_powers_in_decibels():
    told = config({"tx_power_dbm": 20.0, "antenna_gain_db": 3.0, "propagation": "friis",
                   "reception": {"minimum_rssi_dbm": -80.0, "carrier_sense_dbm": -90.0}})  # fmt: skip
    assert float(told["power_w"]) == pytest.approx(0.1 * 10**0.6)
    assert float(told["receive_w"]) == pytest.approx(1e-11)
    assert float(told["sense_w"]) == pytest.approx(1e-12)
    assert told["propagation"] == "Propagation/FreeSpace"


def test_the_area_is_larger_than_the_arena():
    radios = translate(Ns2(), Wifi(), setup())
    assert radios.low_m == (-10050.5, -10000.0)
    assert radios.config["width_m"] == "20101"
    assert radios.high_m[0] > 10_000


def test_seeds_are_never_zero_and_differ():
    """Zero would make ns-2 roll dice for its seed."""
    seeds = [int(translate(Ns2(), Wifi(), setup(seed=seed)).config["seed"]) for seed in range(50)]
    assert min(seeds) >= 1
    assert len(set(seeds)) == 50


@pytest.mark.parametrize(
    "field, value", [("rate_mbps", 6.0), ("routing", "olsr"), ("propagation", "nakagami"), ("queue_packets", 1)]
)
def test_wrong_settings_are_refused_when_read(field, value):
    with pytest.raises(ValueError, match=field):
        Ns2(**{field: value})


@pytest.mark.parametrize("word, value", [("cw_min", 0), ("queue_packets", 1)])
def test_numbers_that_ns2_does_not_survive(word, value):
    with pytest.raises(UserError, match=rf"network\.wifi\.mac\.{word}"):
        config({"mac": {word: value}})


# --- traces ----------------------------------------------------------------------------------------------


class Trace:
    """Packet 0 from node 0 to node 5, and what the trace says of it."""

    def __init__(self, has_routing=True):
        self.ledger = Ledger(setup(), None)
        self.fates = Fates(self.ledger, NODES, has_routing=has_routing)
        (packet,) = self.ledger.open(Transmissions.of([(0, 0, 0, 5, 64)]))
        self.fates.begin(packet, 5)
        self.lines = []

    def at(self, time_s, node, event, hops, sender=0):
        what, layer, why = event.split()
        self.lines.append(
            f"{what} {time_s:.9f} _{node}_ {layer}  {why} 7 cbr 94 [13a 5 {sender:x} 800] ------- "
            f"[0:10 5:10 30 1] [0] {hops} 0".encode()
        )
        return self

    def told(self, until=10**9):
        assert self.fates.read(self.lines, 0, until) is None
        self.lines = []
        outcome = self.ledger.take_outcome()
        arrived = [(time, hops) for _, time, _, _, hops in outcome.arrivals.tolist()]
        return arrived, [REASONS[reason] for _, reason in outcome.failures.tolist()]


def test_an_arrival():
    trace = Trace().at(0.1, 0, "r RTR ---", 0).at(0.2, 3, "r RTR ---", 1).at(0.3, 5, "r AGT ---", 2, sender=3)
    assert trace.told() == ([(300_000_000, 2)], [])


@pytest.mark.parametrize(
    "event, reason",
    [
        ("D RTR NRTE", "no_route"),
        ("D RTR LOOP", "no_route"),
        ("D RTR TTL", "ttl"),
        ("D RTR TOUT", "lifetime"),
        ("D RTR IFQ", "queue_full"),
        ("D IFQ ---", "queue_full"),
        ("D IFQ ARP", "no_route"),
        ("D RTR CBK", "no_route"),
        ("D RTR OUT", "unknown"),
    ],
)
def test_reasons(event, reason):
    assert Trace().at(0.2, 0, event, 0).told() == ([], [reason])


def test_collisions_end_nothing():
    assert Trace().at(0.2, 3, "D MAC COL", 0).at(0.2, 3, "D MAC DUP", 0).told() == ([], [])


def test_a_link_that_does_not_answer():
    """Routing hears of it first and drops the packet; then medium access says why."""
    assert Trace().at(0.2, 0, "D RTR CBK", 0).at(0.2, 0, "D MAC RET", 0).told() == ([], ["retry_limit"])
    assert Trace(has_routing=False).at(0.2, 0, "D MAC RET", 0).told() == ([], ["retry_limit"])


def test_lost_acknowledgements_do_not_end_a_packet():
    """Node 3 has it, though node 0 gives it up."""
    trace = Trace().at(0.1, 3, "r RTR ---", 1).at(0.2, 0, "D RTR CBK", 0).at(0.2, 0, "D MAC RET", 0)
    assert trace.told() == ([], [])
    assert trace.at(0.3, 5, "r AGT ---", 2, sender=3).told() == ([(300_000_000, 2)], [])


def test_a_repaired_copy_goes_its_own_way():
    """Node 0 sends it another way, not knowing that node 3 has it: it ends when both copies have."""
    trace = Trace().at(0.1, 3, "r RTR ---", 1).at(0.2, 0, "D MAC RET", 0).at(0.3, 3, "D RTR NRTE", 1)
    assert trace.told() == ([], [])
    assert trace.at(0.4, 4, "r RTR ---", 1).at(0.5, 4, "D RTR TTL", 1).told() == ([], ["ttl"])


def test_both_copies_arrive():
    trace = Trace().at(0.1, 3, "r RTR ---", 1).at(0.2, 0, "D MAC RET", 0).at(0.3, 5, "r AGT ---", 2, sender=3)
    assert trace.at(0.4, 5, "r AGT ---", 1).told() == ([(300_000_000, 2)], [])
    assert trace.fates.repeated == 1


def test_silence_becomes_unknown():
    trace = Trace()
    assert trace.told(LONGEST_LIFE_NS) == ([], [])
    assert trace.told(LONGEST_LIFE_NS + 1) == ([], ["unknown"])
    assert trace.at(0.4, 5, "r AGT ---", 1).told(LONGEST_LIFE_NS + 2) == ([], [])
