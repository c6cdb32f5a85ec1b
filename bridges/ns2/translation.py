"""A scenario's words in ns-2's numbers; what ns-2 cannot express is refused by its name."""

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from robonet.errors import UserError
from robonet.link.messages import Node
from robonet.link.simulators import Setup
from robonet.scenario.ns2 import RATES_MBPS, Ns2
from robonet.scenario.sections import Section
from robonet.scenario.wifi import LogDistance, TwoRayGround, Wifi
from robonet.streams import stream

LIGHT_M_S = 3e8
"""As in ns-2 (propagation.h)."""
POWER_W = 0.28183815
FREQUENCY_HZ = 914e6
"""ns-2's radios are WaveLAN cards (ns-default.tcl)."""
SENSE_RATIO = 2.2
"""ns-2's own: carriers are sensed at 550 m where frames are received at 250 m."""
RANGE_M, QUEUE_PACKETS = 120.0, 50
RATES = {"rate_mbps": 2.0, "broadcast_rate_mbps": 1.0}
"""Where neither section says anything."""
NO_CAPTURE = 1e300
BORDER = 1 - 1e-9
"""Thresholds are lower by this, so that the range itself is still in range."""
PLCP_BYTES = 24
"""Preamble and PLCP header, which ns-2 counts as part of a frame."""
MARGIN_M = 10_000
"""ns-2's area is larger than the arena by this, on each side."""
LAST_SEED = 2**31 - 2

ROUTING_AGENTS = {"aodv": "AODV", "dsdv": "DSDV", "none": "DumbAgent"}
PROPAGATIONS = {
    "two_ray_ground": "Propagation/TwoRayGround",
    "friis": "Propagation/FreeSpace",
    "range": "Propagation/FreeSpace",
    "log_distance": "Propagation/Shadowing",
}

TRANSLATED = {
    "range_m", "tx_power_dbm", "antenna_gain_db", "frequency_mhz", "rate_mbps", "broadcast_rate_mbps", "standard",
    "routing", "propagation.friis.system_loss", "propagation.two_ray_ground.system_loss",
    "propagation.two_ray_ground.antenna_height_m", "propagation.range.range_m", "propagation.log_distance.exponent",
    "propagation.log_distance.reference_loss_db", "propagation.log_distance.reference_m",
    "reception.minimum_rssi_dbm", "reception.carrier_sense_dbm", "mac.rts_threshold_bytes", "mac.retry_limit",
    "mac.cw_min", "mac.cw_max", "mac.queue_packets",
}  # fmt: skip
"""Settings of `wifi` that ns-2 has too."""

FIXED: dict[str, Any] = {
    "arp": True, "shadowing": None, "fading": None, "captures": None, "flows": False, "mac.rate_control": "fixed",
    "reception.capture_db": None, "max_hops": 30, "propagation.friis.minimum_loss_db": 0.0,
    "propagation.two_ray_ground.minimum_m": 0.0, "aodv.hello": False, "aodv.active_route_timeout_s": 10.0,
    "aodv.my_route_timeout_s": 10.0, "aodv.net_diameter": 30, "aodv.node_traversal_time_s": 0.03,
    "aodv.rreq_retries": 3, "aodv.expanding_ring": True, "aodv.ttl_start": 5, "aodv.ttl_increment": 2,
    "aodv.ttl_threshold": 7, "aodv.destination_only": False, "aodv.local_repair": True, "aodv.buffer_packets": 64,
    "aodv.buffer_timeout_s": 30.0, "aodv.jitter_s": 0.01,
}  # fmt: skip
"""Settings of `wifi` for which ns-2 has one value only."""


class Radios(NamedTuple):
    """What the script is told, and what robonet itself needs to know of it."""

    config: dict[str, str]
    ranges_m: list[float]
    """How far each node is heard."""
    is_flat: bool
    """Whether nodes must stay on the ground."""
    low_m: tuple[float, float]
    """The corner of ns-2's area."""
    high_m: tuple[float, float]
    routing: str


def translate(ns2: Ns2, wifi: Wifi, setup: Setup) -> Radios:
    """What ns-2 is to build; a UserError names everything that it cannot."""
    problems = list(_problems(ns2, wifi, setup))
    if problems:
        raise UserError("ns-2 cannot simulate this scenario:\n  " + "\n  ".join(problems))
    law = _Law(ns2, wifi)
    power_w, receive_w, sense_w = _powers(ns2, wifi, law)
    powers_w = [_power_of(node, power_w, receive_w, law) for node in setup.nodes]
    strongest_w = max(powers_w, default=power_w)
    mac, mac_words = wifi.mac, wifi.mac.model_fields_set
    captures = ns2.capture_db is not None and law.name != "range"
    low_m = (setup.arena_low_m[0] - MARGIN_M, setup.arena_low_m[1] - MARGIN_M)
    size_m = [math.ceil(setup.arena_high_m[axis] - low_m[axis]) + MARGIN_M for axis in (0, 1)]
    numbers: dict[str, float | int | str] = {
        "nodes": len(setup.nodes),
        "seed": int(stream(setup.seed, "network", "ns2").integers(1, LAST_SEED)),
        "width_m": size_m[0],
        "height_m": size_m[1],
        "routing": ROUTING_AGENTS[_routing(ns2, wifi)],
        "propagation": PROPAGATIONS[law.name],
        "power_w": strongest_w,
        "receive_w": receive_w * BORDER,
        "sense_w": sense_w * BORDER,
        "capture": 10 ** ((ns2.capture_db or 0.0) / 10) if captures else NO_CAPTURE,
        "frequency_hz": law.frequency_hz,
        "system_loss": law.system_loss,
        "antenna_height_m": law.height_m,
        "exponent": law.exponent,
        "reference_m": law.reference_m,
        "rate_bps": _rate_mbps("rate_mbps", ns2, wifi) * 1e6,
        "broadcast_rate_bps": _rate_mbps("broadcast_rate_mbps", ns2, wifi) * 1e6,
        # ns-2 asks for the medium from the threshold on, wifi beyond it.
        "rts_threshold_bytes": mac.rts_threshold_bytes + PLCP_BYTES + 1,
        "short_retry_limit": mac.retry_limit,
        "long_retry_limit": mac.retry_limit,
        "cw_min": mac.cw_min if mac.cw_min is not None else 31,
        "cw_max": mac.cw_max,
        "queue_packets": ns2.queue_packets or (mac.queue_packets if "queue_packets" in mac_words else QUEUE_PACKETS),
    }
    config = {word: repr(value) if isinstance(value, float) else str(value) for word, value in numbers.items()}
    config["gains"] = "{" + " ".join(repr(one / strongest_w) for one in powers_w) + "}"
    return Radios(
        config=config,
        ranges_m=[law.reach_m(receive_w / one) for one in powers_w],
        is_flat=law.name == "two_ray_ground",
        low_m=low_m,
        high_m=(low_m[0] + size_m[0], low_m[1] + size_m[1]),
        routing=_routing(ns2, wifi),
    )


# --- radio -----------------------------------------------------------------------------------------------


class _Law:
    """How signals fade, by the formulas of ns-2."""

    def __init__(self, ns2: Ns2, wifi: Wifi) -> None:
        given = wifi.propagation
        is_wifis = "propagation" in wifi.model_fields_set and ns2.propagation is None
        own = ns2.propagation or "two_ray_ground"
        self.name: str = next(name for name, law in given if law is not None) if is_wifis else own
        self.frequency_hz = wifi.frequency_mhz * 1e6 if wifi.frequency_mhz is not None else FREQUENCY_HZ
        self.wave_m = LIGHT_M_S / self.frequency_hz
        self.system_loss, self.height_m, self.exponent, self.reference_m = (
            1.0,
            TwoRayGround().antenna_height_m,
            2.0,
            1.0,
        )
        if is_wifis and given.friis is not None:
            self.system_loss = given.friis.system_loss
        elif is_wifis and given.two_ray_ground is not None:
            self.system_loss, self.height_m = given.two_ray_ground.system_loss, given.two_ray_ground.antenna_height_m
        elif is_wifis and given.log_distance is not None:
            self._take(given.log_distance)
        gains: dict[str, Callable[[float], float]] = {
            "two_ray_ground": self._two_ray,
            "log_distance": self._log_distance,
        }
        self.gain = gains.get(self.name, self._free_space)

    def reach_m(self, gain: float) -> float:
        """The distance at which this share of the power is left."""
        near, far = 1e-6, 1e9
        for _ in range(200):
            middle = math.sqrt(near * far)
            near, far = (middle, far) if self.gain(middle) >= gain else (near, middle)
        return near

    def _take(self, law: LogDistance) -> None:
        """ns-2's loss at the reference distance is that of free space: the system loss makes up for the rest."""
        self.exponent, self.reference_m = law.exponent, law.reference_m
        self.system_loss = 10 ** (law.reference_loss_db / 10) * self._free_space(law.reference_m)

    def _free_space(self, distance_m: float) -> float:
        return (self.wave_m / (4 * math.pi * distance_m)) ** 2 / self.system_loss

    def _two_ray(self, distance_m: float) -> float:
        square_m2 = self.height_m**2
        if distance_m <= 4 * math.pi * square_m2 / self.wave_m:
            return self._free_space(distance_m)
        return square_m2**2 / (distance_m**4 * self.system_loss)

    def _log_distance(self, distance_m: float) -> float:
        return float(self._free_space(self.reference_m) * max(distance_m / self.reference_m, 1.0) ** -self.exponent)


def _powers(ns2: Ns2, wifi: Wifi, law: _Law) -> tuple[float, float, float]:
    """Power sent, least power received, least power sensed."""
    reception = wifi.reception
    has_senses = "carrier_sense_dbm" in reception.model_fields_set and ns2.carrier_sense_m is None
    if wifi.tx_power_dbm is not None and ns2.range_m is None and law.name != "range":
        power_w = _watts(wifi.tx_power_dbm + 2 * wifi.antenna_gain_db)
        receive_w = _watts(reception.minimum_rssi_dbm)
        sense_m = ns2.carrier_sense_m
        sense_w = power_w * law.gain(sense_m) if sense_m is not None else _watts(reception.carrier_sense_dbm)
        return power_w, receive_w, min(sense_w, receive_w)
    fixed = wifi.propagation.range
    range_m = ns2.range_m or wifi.range_m or (fixed.range_m if fixed is not None else RANGE_M)
    receive_w = POWER_W * law.gain(range_m)
    if law.name == "range":
        return POWER_W, receive_w, receive_w
    sense_w = POWER_W * law.gain(ns2.carrier_sense_m or SENSE_RATIO * range_m)
    if has_senses:
        sense_w = receive_w * 10 ** ((reception.carrier_sense_dbm - reception.minimum_rssi_dbm) / 10)
    return POWER_W, receive_w, min(sense_w, receive_w)


def _power_of(node: Node, power_w: float, receive_w: float, law: _Law) -> float:
    """That of one node: `radio.range_m` of a robot comes before the settings of all."""
    range_m = node.equipment.get("range_m")
    return power_w if range_m is None else receive_w / law.gain(range_m)


def _watts(dbm: float) -> float:
    return float(10 ** ((dbm - 30) / 10))


# --- choices and refusals --------------------------------------------------------------------------------


def _rate_mbps(word: str, ns2: Ns2, wifi: Wifi) -> float:
    """A rate: of ns2 where it is written there, else of wifi where it is, else ns-2's usual one."""
    return float(getattr(ns2, word) or getattr(wifi, word) or RATES[word])


def _routing(ns2: Ns2, wifi: Wifi) -> str:
    return ns2.routing or wifi.routing


def _problems(ns2: Ns2, wifi: Wifi, setup: Setup) -> Iterator[str]:
    if setup.obstacles and ns2.obstacles == "refuse":
        yield (
            "arena.obstacles: ns-2 has none between its radios; "
            "with network.ns2.obstacles: transparent signals pass through them"
        )
    routing = _routing(ns2, wifi)
    if routing not in ROUTING_AGENTS:
        yield f"network.wifi.routing: '{routing}' is not among what is supported with ns-2: {', '.join(ROUTING_AGENTS)}"
    if "standard" in wifi.model_fields_set and wifi.standard != "802.11b":
        yield f"network.wifi.standard: ns-2's 802.11 is 802.11b, and not {wifi.standard}"
    for word in ("rate_mbps", "broadcast_rate_mbps"):
        rate = _rate_mbps(word, ns2, wifi)
        if rate not in RATES_MBPS:
            listed = ", ".join(f"{one:g}" for one in RATES_MBPS)
            yield f"network.wifi.{word}: ns-2's 802.11b has {listed} Mbit/s, and not {rate:g}"
    if wifi.mac.cw_min == 0:
        yield "network.wifi.mac.cw_min: ns-2 needs a window of 1 at least"
    if wifi.mac.queue_packets == 1 and ns2.queue_packets is None:
        yield "network.wifi.mac.queue_packets: ns-2 needs room for 2 at least"
    others = {"flooding", "olsr", "anthocnet"} | ({"aodv", "max_hops"} if routing in ("dsdv", "none") else set())
    for path, value in _written(wifi):
        if path.split(".")[0] in others or path in TRANSLATED:
            continue
        if path not in FIXED:
            yield f"network.wifi.{path}: ns-2 has nothing of the kind"
        elif value != FIXED[path]:
            known = "null" if FIXED[path] is None else str(FIXED[path]).lower()
            yield f"network.wifi.{path}: in ns-2 this is always {known}"
    for node in setup.nodes:
        unknown = sorted(set(node.equipment) - {"range_m"})
        if unknown:
            yield f"radio.{unknown[0]} of '{node.name}': ns-2 has nothing of the kind"
            return


def _written(section: Section, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every setting that somebody wrote, by its path."""
    for name in type(section).model_fields:
        if name in section.model_fields_set:
            value = getattr(section, name)
            if isinstance(value, Section) and prefix + name not in FIXED:
                yield from _written(value, f"{prefix}{name}.")
            elif value is not None or prefix + name in FIXED:
                yield prefix + name, value
