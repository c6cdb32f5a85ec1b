"""What cannot be with 802.11: rates of another standard, powers that reach nobody, names that do not exist."""

import math
from collections.abc import Iterable

from robonet.plugins import closest
from robonet.scenario.problems import Problem, Steps
from robonet.scenario.wifi import Wifi

RATES_MBPS = {
    "802.11a": (6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0),
    "802.11b": (1.0, 2.0, 5.5, 11.0),
    "802.11g": (6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0),
}
CW_MIN = {"802.11a": 15, "802.11b": 31, "802.11g": 15}
MHZ = {"802.11a": 5180.0, "802.11b": 2412.0, "802.11g": 2412.0}
BANDWIDTH_HZ = {"802.11a": 20e6, "802.11b": 20e6, "802.11g": 20e6}
ROUTINGS = ("aodv", "olsr", "anthocnet", "flooding", "static", "shortest-path", "none")
LARGEST_PAYLOAD_BYTES = 2304 - 8 - 20 - 8
"""An 802.11 frame carries 2304 bytes; LLC, IPv4 and UDP take their share."""
DEFAULT_POWER_DBM = 16.0206
"""Of radios with a fixed range, where none is given."""
NEAREST_M = 0.1
"""Closer than this no two robots come."""
THERMAL_NOISE_DBM_HZ = -173.975


def problems_with_wifi(
    wifi: Wifi, names: Iterable[str], materials: list[tuple[Steps, str]], payloads: list[tuple[Steps, int]]
) -> list[Problem]:
    """Everything wrong with a `wifi` section, with obstacles' materials and with the sizes of background traffic."""
    here: Steps = ("network", "wifi")
    found: list[Problem] = []
    rates = RATES_MBPS[wifi.standard]
    for key in ("rate_mbps", "broadcast_rate_mbps"):
        rate = getattr(wifi, key)
        if rate is not None and rate not in rates:
            listed = ", ".join(f"{one:g}" for one in rates)
            found.append(Problem((*here, key), f"is no rate of {wifi.standard}, which has {listed} Mbit/s"))
    if wifi.routing not in ROUTINGS:
        known = ", ".join(ROUTINGS)
        text = f"unknown routing '{wifi.routing}'{closest(wifi.routing, list(ROUTINGS))}; wifi knows: {known}"
        found.append(Problem((*here, "routing"), text, show_value=False))
    cw_min = wifi.mac.cw_min if wifi.mac.cw_min is not None else CW_MIN[wifi.standard]
    if cw_min > wifi.mac.cw_max:
        found.append(Problem((*here, "mac", "cw_max"), f"is less than the smallest window, {cw_min}"))
    if wifi.captures is not None and wifi.captures.nodes != "all":
        everyone = list(names)
        for number, name in enumerate(wifi.captures.nodes):
            if name not in everyone:
                text = f"no robot or station is called '{name}'{closest(name, everyone)}"
                found.append(Problem((*here, "captures", "nodes", number), text, show_value=False))
    for steps, material in materials:
        if material not in wifi.materials:
            known = ", ".join(wifi.materials)
            text = f"unknown material '{material}'{closest(material, list(wifi.materials))}; known: {known}"
            found.append(Problem(steps, text, show_value=False))
    for steps, size in payloads:
        if size > LARGEST_PAYLOAD_BYTES:
            text = f"is more than one 802.11 frame carries ({LARGEST_PAYLOAD_BYTES} bytes of payload)"
            found.append(Problem(steps, text))
    return found + _problems_with_power(wifi, here)


def _problems_with_power(wifi: Wifi, here: Steps) -> list[Problem]:
    if wifi.range_m is not None and wifi.tx_power_dbm is not None:
        return [
            Problem((*here, "tx_power_dbm"), "is given beside range_m, which sets the power: leave out one of the two")
        ]
    law = wifi.propagation
    if wifi.range_m is not None and wifi.range_m < NEAREST_M:
        return [Problem((*here, "range_m"), f"reaches nobody: robots do not come nearer than {NEAREST_M:g} m")]
    reception = wifi.reception
    if reception.sensitivity_dbm > reception.minimum_rssi_dbm:
        text = f"is above minimum_rssi_dbm ({reception.minimum_rssi_dbm:g}), which then never counts"
        return [Problem((*here, "reception", "sensitivity_dbm"), text)]
    if law.range is not None and wifi.range_m is not None and "range_m" in law.range.model_fields_set:
        return [Problem((*here, "range_m"), "is given twice, here and under propagation: leave out one of the two")]
    noise_dbm = THERMAL_NOISE_DBM_HZ + 10 * math.log10(BANDWIDTH_HZ[wifi.standard]) + wifi.noise_figure_db
    floor_dbm = max(wifi.reception.minimum_rssi_dbm, noise_dbm + wifi.reception.minimum_snr_db)
    if wifi.tx_power_dbm is None and law.range is None:
        if floor_dbm > wifi.reception.minimum_rssi_dbm:
            text = (
                f"nobody would be heard at the range: preambles of {wifi.reception.minimum_rssi_dbm:g} dBm drown in "
                f"noise of {noise_dbm:.1f} dBm; give tx_power_dbm instead, or raise minimum_rssi_dbm"
            )
            return [Problem((*here, "reception", "minimum_rssi_dbm"), text)]
        return []
    power_dbm = DEFAULT_POWER_DBM if wifi.tx_power_dbm is None else wifi.tx_power_dbm
    nearest_dbm = power_dbm + 2 * wifi.antenna_gain_db - _least_loss_db(wifi)
    if nearest_dbm < floor_dbm:
        text = (
            f"reaches nobody: even {NEAREST_M:g} m away {nearest_dbm:.1f} dBm arrive, "
            f"and receivers need {floor_dbm:.1f} dBm"
        )
        key = "antenna_gain_db" if wifi.tx_power_dbm is None else "tx_power_dbm"
        return [Problem((*here, key), text)]
    return []


def _least_loss_db(wifi: Wifi) -> float:
    """The loss between robots that touch."""
    law = wifi.propagation
    if law.range is not None:
        return 0.0
    if law.log_distance is not None:
        near = max(NEAREST_M / law.log_distance.reference_m, 1.0)
        return law.log_distance.reference_loss_db + 10 * law.log_distance.exponent * math.log10(near)
    if law.two_ray_ground is not None and law.two_ray_ground.minimum_m >= NEAREST_M:
        return 0.0
    wave_m = 299.792458 / (wifi.frequency_mhz or MHZ[wifi.standard])
    loss = law.friis.system_loss if law.friis is not None else 1.0
    least = law.friis.minimum_loss_db if law.friis is not None else 0.0
    return max(20 * math.log10(4 * math.pi * NEAREST_M / wave_m) + 10 * math.log10(loss), least)
