"""The `wifi` section of a scenario: what is refused and how it is said, what is filled in."""

from pathlib import Path

import pytest
from conftest import SMALL, robonet, run_json

from robonet.errors import ScenarioError
from robonet.network.wifi.airtime import STANDARDS
from robonet.network.wifi.model import LARGEST_PAYLOAD_BYTES as LARGEST_IN_THE_MODEL
from robonet.plugins import ROUTING
from robonet.record.tables import read_table
from robonet.scenario import parse_scenario
from robonet.scenario.wifi import MATERIALS
from robonet.scenario.wifi_checks import BANDWIDTH_HZ, CW_MIN, LARGEST_PAYLOAD_BYTES, MHZ, RATES_MBPS, ROUTINGS

TEXT = SMALL.replace("model: disk", "model: wifi")


def parsed(*overrides):
    return parse_scenario(TEXT, Path("small.yaml"), overrides).scenario


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("network.wifi.rate_mbps=11", "is no rate of 802.11a, which has 6, 9, 12, 18, 24, 36, 48, 54 Mbit/s"),
        ("network.wifi={standard: 802.11b, rate_mbps: 6}", "is no rate of 802.11b, which has 1, 2, 5.5, 11 Mbit/s"),
        ("network.wifi.broadcast_rate_mbps=7", "is no rate of 802.11a"),
        ("network.wifi.standard=802.11n", "must be '802.11a', '802.11b' or '802.11g'"),
        ("network.wifi.tx_power_dbm=-60", "reaches nobody"),
        ("network.wifi={propagation: friis, tx_power_dbm: -70}", "reaches nobody"),
        ("network.wifi={range_m: 50, tx_power_dbm: 20}", "leave out one of the two"),
        ("network.wifi={range_m: 50, propagation: {range: {range_m: 40}}}", "is given twice"),
        ("network.wifi.reception.minimum_rssi_dbm=-99", "drown in noise"),
        ("network.wifi={propagation: range, tx_power_dbm: -90}", "reaches nobody"),
        ("network.wifi={propagation: range, antenna_gain_db: -50}", "reaches nobody"),
        ("network.wifi.range_m=0.001", "reaches nobody"),
        ("network.wifi.reception.sensitivity_dbm=-60", "is above minimum_rssi_dbm"),
        ("network.wifi.mac.queue_packets=0", "must be >= 1"),
        ("network.wifi.mac.cw_max=7", "is less than the smallest window, 15"),
        ("network.wifi.routing=aodw", "did you mean 'aodv'"),
        ("network.wifi.propagation={friis: {}, range: {}}", "give exactly one of"),
        ("network.wifi.captures={nodes: [scot1]}", "did you mean 'scout1'"),
        ("network.wifi.fading=rayleight", "did you mean 'rayleigh'"),
        ("traffic.0.cbr.payload_bytes=3000", "is more than one 802.11 frame carries (2268 bytes of payload)"),
        ("arena.obstacles.0.box.material=butter", "unknown material 'butter'"),
        ("network.wifi.aodv.rules=rfc", "must be 'rfc3561' or 'ns3'"),
    ],
)
def test_impossible_combinations_are_refused_with_the_reason(override, said):
    with pytest.raises(ScenarioError) as caught:
        parsed(override)
    assert said in str(caught.value)


def test_disk_does_not_take_protocols_of_wifi():
    with pytest.raises(ScenarioError, match="disk knows: shortest-path, flooding"):
        parsed("network.disk.routing=olsr")


def test_materials_join_the_built_in_ones():
    wifi = parsed("network.wifi.materials={straw: {per_m_db: 3.0}, glass: {wall_db: 1.0}}").network.wifi
    assert set(wifi.materials) == {*MATERIALS, "straw"}
    assert wifi.materials["glass"].wall_db == 1.0
    assert wifi.materials["metal"] == MATERIALS["metal"]


def test_the_checks_know_what_the_model_knows():
    for name, standard in STANDARDS.items():
        assert RATES_MBPS[name] == tuple(rate.mbps for rate in standard.rates)
        assert MHZ[name] == standard.frequency_mhz
        assert BANDWIDTH_HZ[name] == standard.bandwidth_hz
        assert CW_MIN[name] == standard.cw_min
    assert LARGEST_PAYLOAD_BYTES == LARGEST_IN_THE_MODEL
    assert set(ROUTINGS) == set(ROUTING)


def test_a_run_in_which_most_packets_die_says_so_and_why(tmp_path):
    path = tmp_path / "far.yaml"
    path.write_text(TEXT)
    summary = run_json(path, "--set", "network.wifi.range_m=2", "--out", tmp_path / "out")
    assert len(summary["warnings"]) == 1
    main_reason = max(summary["packets"]["dropped"].items(), key=lambda item: item[1])[0]
    assert "of the packets were lost" in summary["warnings"][0] and main_reason in summary["warnings"][0]
    shown = robonet("show", tmp_path / "out")
    assert "warning" in shown.stdout


def test_a_good_run_warns_of_nothing(tmp_path):
    path = tmp_path / "near.yaml"
    path.write_text(TEXT)
    summary = run_json(path, "--out", tmp_path / "out")
    assert summary["warnings"] == []
    assert summary["radios"]["messages"]["hello"] > 0


def test_a_fixed_range_may_differ_from_robot_to_robot(tmp_path):
    """far0 (30 m) -- 20 m -- near0 (10 m): one hears, the other does not."""
    path = tmp_path / "ranges.yaml"
    path.write_text("""
robonet: 1
name: ranges
duration_s: 2
robots:
  - {name: far, place: {at_m: [[-10, 0]]}, radio: {range_m: 30}, controller: beacon}
  - {name: near, place: {at_m: [[10, 0]]}, controller: beacon}
arena: {size_m: [40, 40]}
network: {model: wifi, wifi: {propagation: {range: {range_m: 10}}, routing: none}}
""")
    summary = run_json(path, "--out", tmp_path / "out")
    heard = read_table(tmp_path / "out" / "tables" / "receptions")
    assert set(heard["source"]) == {"far"} and set(heard["receiver"]) == {"near"}
    assert summary["broadcasts"]["receptions"] == len(heard["packet"]) > 0
