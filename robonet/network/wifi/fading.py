"""Fast fading: the power gain of each frame at each receiver, as quantiles of a distribution with mean one."""

import numpy as np

from robonet.scenario.wifi import Fading
from robonet.space import Floats

QUANTILES = 1024
FINEST = 400_001


def gain_quantiles(fading: Fading | None) -> Floats:
    """Equally probable gains, ascending; a single step of one where nothing fades."""
    if fading is None:
        return np.ones(QUANTILES)
    chances = (np.arange(QUANTILES) + 0.5) / QUANTILES
    if fading.rayleigh is not None:
        gains = -np.log1p(-chances)  # exponential power
    elif fading.rician is not None:
        gains = _from_density(_rician_density(10 ** (fading.rician.k_db / 10)), chances)
    else:
        assert fading.nakagami is not None
        gains = _from_density(_gamma_density(fading.nakagami.m), chances)
    return gains / ((gains[:-1] + gains[1:]) / 2).mean()  # as they are looked up: with straight lines between them


def _gains() -> Floats:
    """Where densities are looked at: finely near zero, where deep fades are."""
    return np.linspace(0.0, 1.0, FINEST) ** 3 * 40.0


def _gamma_density(shape: float) -> Floats:
    """Nakagami amplitudes have gamma-distributed powers."""
    gains = np.maximum(_gains(), 1e-15)
    return np.exp((shape - 1) * np.log(gains) - shape * gains)


def _rician_density(k: float) -> Floats:
    """Power of a constant and a complex normal number."""
    gains = _gains()
    argument = 2 * np.sqrt(k * (1 + k) * gains)
    bessel = np.i0(np.minimum(argument, 600.0))
    return np.exp(-k - (1 + k) * gains) * bessel


def _from_density(density: Floats, chances: Floats) -> Floats:
    gains = _gains()
    mass = np.concatenate(([0.0], np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(gains))))
    return np.interp(chances, mass / mass[-1], gains)
