"""Who is in reach of whom, by mean powers, as `wifi` has it: worked out beside ns-3, which does not tell."""

import math

import numpy as np

from robonet.link.simulators import Floats, Neighbours, Setup
from robonet.network.wifi.medium import Medium
from robonet.network.wifi.propagation import LinkTable, Obstacles
from robonet.scenario.wifi import Wifi

from .translate import Radio


class Reach:
    """The links over which preambles are detected, with the chance that a frame gets through."""

    def __init__(self, wifi: Wifi, setup: Setup, radio: Radio) -> None:
        nothing = Obstacles([], wifi.materials)  # as in ns-3, where obstacles weaken nothing
        self._links = LinkTable(wifi, setup.seed, radio.path_loss, radio.powers_dbm, nothing)
        names = [node.name for node in setup.nodes]
        self._medium = Medium(wifi, radio.standard, setup.seed, names, self._links, logs=False)
        self._rate = radio.rate
        self._detected_dbm = wifi.reception.minimum_rssi_dbm

    @property
    def least_dbm(self) -> float:
        """The power of a link over which preambles are detected and every other frame gets through."""
        return max(10 * math.log10(self._medium.least_power_mw(self._rate)), self._detected_dbm)

    def at(self, positions_m: Floats) -> Neighbours:
        """The neighbours of everyone at these positions."""
        self._links.update(positions_m)
        offsets, nodes, powers = self._links.heard_rows()
        quality = self._medium.delivery_probability(powers, self._rate)
        signals = 10 * np.log10(powers)
        return Neighbours(
            offsets.astype(np.uint32), nodes.astype(np.uint32), quality.astype(np.float32), signals.astype(np.float32)
        )
