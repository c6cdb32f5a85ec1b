"""What a scenario's words mean in numbers: rates by position, powers by range."""

import numpy as np

from robonet.link.messages import Node
from robonet.network.wifi.airtime import Standard
from robonet.network.wifi.propagation import DEFAULT_POWER_DBM, DEFAULT_RANGE_M, RANGE, PathLoss
from robonet.scenario.wifi import Wifi
from robonet.space import Floats


def rate_numbers(settings: Wifi, standard: Standard) -> tuple[int, int]:
    """The positions of the rates of unicast and of broadcast frames."""
    rates = [rate.mbps for rate in standard.rates]
    chosen = (settings.rate_mbps or rates[0], settings.broadcast_rate_mbps or rates[0])
    return rates.index(chosen[0]), rates.index(chosen[1])


def transmit_power_dbm(settings: Wifi, path_loss: PathLoss, range_m: float | None = None) -> float:
    """The radiated power, receiving antenna included: as given, or such that preambles are detected at the range."""
    if path_loss.kind == RANGE:
        power = settings.tx_power_dbm if settings.tx_power_dbm is not None else DEFAULT_POWER_DBM
        return power + 2 * settings.antenna_gain_db
    if range_m is None and settings.tx_power_dbm is not None:
        return settings.tx_power_dbm + 2 * settings.antenna_gain_db
    return settings.reception.minimum_rssi_dbm + path_loss.at(range_m or settings.range_m or DEFAULT_RANGE_M)


def ranges_m(path_loss: PathLoss, nodes: list[Node]) -> Floats:
    """How far each node reaches under a fixed range."""
    return np.array([node.equipment.get("range_m", float(path_loss.numbers[0])) for node in nodes])


def transmit_powers_dbm(settings: Wifi, path_loss: PathLoss, nodes: list[Node]) -> Floats:
    """That of each node; `radio.range_m` of a robot comes before the settings of all."""
    by_range: dict[float | None, float] = {}
    powers = []
    for node in nodes:
        range_m = node.equipment.get("range_m")
        if range_m not in by_range:
            by_range[range_m] = transmit_power_dbm(settings, path_loss, range_m)
        powers.append(by_range[range_m])
    return np.array(powers)
