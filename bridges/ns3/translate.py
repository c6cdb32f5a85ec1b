"""The words of the `wifi` section as attributes of ns-3; what ns-3 cannot express is refused."""

import math

from robonet.clock import ns_from_s
from robonet.errors import UserError
from robonet.link.simulators import Setup
from robonet.network.wifi.airtime import STANDARDS, Standard
from robonet.network.wifi.propagation import PathLoss
from robonet.network.wifi.settings import rate_numbers, transmit_powers_dbm
from robonet.scenario.ns3 import Ns3
from robonet.scenario.wifi import Aodv, Wifi
from robonet.space import Floats

ROUTINGS = {
    "aodv": "aodv",
    "olsr": "olsr",
    "dsdv": "dsdv",
    "flooding": "flooding",
    "static": "static",
    "shortest-path": "static",
    "none": "none",
}
"""What the core calls the routing that a scenario names."""
JITTER_OF_AODV_S = 0.01
ENERGY_DETECTION_DBM = -62.0

Attributes = dict[str, str]


class Radio:
    """The radios that the `wifi` section means."""

    def __init__(self, wifi: Wifi, setup: Setup) -> None:
        self.standard: Standard = STANDARDS[wifi.standard]
        self.frequency_mhz = wifi.frequency_mhz or self.standard.frequency_mhz
        self.path_loss = PathLoss(wifi, self.frequency_mhz)
        self.powers_dbm: Floats = transmit_powers_dbm(wifi, self.path_loss, setup.nodes)
        self.rate, self.broadcast_rate = rate_numbers(wifi, self.standard)


def refuse_what_ns3_lacks(wifi: Wifi, ns3: Ns3, setup: Setup) -> None:
    """Raise an error that names every setting for which ns-3 has no counterpart."""
    found: list[str] = []
    if wifi.shadowing is not None:
        found.append("wifi.shadowing: ns-3 has none that is the same both ways and changes slowly")
    if wifi.fading is not None and wifi.fading.rician is not None:
        found.append("wifi.fading.rician: ns-3 has no Rician fading; it has rayleigh and nakagami")
    weakening = setup.obstacles if ns3.obstacles == "refuse" else []
    for material in sorted({obstacle.material for obstacle in weakening}):
        taken = wifi.materials.get(material)
        if taken is not None and (taken.wall_db > 0 or taken.per_m_db > 0):
            found.append(
                f"wifi.materials.{material}: obstacles of {material} weaken signals, which ns-3's models of open space "
                "cannot express; `ns3: {obstacles: transparent}` lets signals pass"
            )
    if wifi.routing not in ROUTINGS:
        found.append(f"wifi.routing: ns-3 has no '{wifi.routing}'; known here: {', '.join(ROUTINGS)}")
    if wifi.routing == "aodv":
        if wifi.aodv.local_repair:
            found.append("wifi.aodv.local_repair: ns-3's AODV has none")
        if wifi.aodv.jitter_s != JITTER_OF_AODV_S:
            found.append(f"wifi.aodv.jitter_s: that of ns-3's AODV is fixed, {JITTER_OF_AODV_S} s")
    if wifi.routing == "olsr" and wifi.olsr.willingness not in _WILLINGNESS:
        levels = ", ".join(map(str, _WILLINGNESS))
        found.append(f"wifi.olsr.willingness: ns-3 has no level {wifi.olsr.willingness}; it has {levels}")
    if wifi.mac.rate_control == "arf":
        if wifi.standard == "802.11g":
            found.append("wifi.mac.rate_control: ns-3's ARF would use the rates of 802.11b too in 802.11g")
        if rate_numbers(wifi, STANDARDS[wifi.standard])[0] != 0:
            found.append("wifi.rate_mbps: ns-3's ARF begins with the lowest rate")
    if wifi.frequency_mhz is not None and _channel_number(wifi) is None:
        found.append(f"wifi.frequency_mhz: {wifi.frequency_mhz:g} is the centre of no channel of {wifi.standard}")
    if found:
        listed = "\n".join(f"  network.{text}" for text in found)
        raise UserError(f"network model 'ns3' cannot do what the scenario asks for:\n{listed}")


def lines_of(wifi: Wifi, setup: Setup, radio: Radio) -> list[str]:
    """The radios, propagation and routing in the words of core/config.h."""
    powers = " ".join(repr(power) for power in radio.powers_dbm.tolist())
    nist = wifi.reception.error_rates == "nist"
    lines = [
        f"nodes {len(setup.nodes)}",
        f"seed {1 + (setup.seed >> 48)}",  # a run is a substream, of which ns-3 has 2^51
        f"run {setup.seed & (2**48 - 1)}",
        f"standard {wifi.standard}",
        f"tx_powers_dbm {powers}",
        f"arp {int(wifi.arp)}",
        f"routing {ROUTINGS[wifi.routing]}",
        f"max_hops {wifi.max_hops}",
        f"flooding_jitter_ns {ns_from_s(wifi.flooding.jitter_s)}",
        f"flooding_max_hops {wifi.flooding.max_hops}",
        f"error_rates {'ns3::NistErrorRateModel' if nist else 'ns3::TableBasedErrorRateModel'}",
        f"capture {int(wifi.reception.capture_db is not None)}",
        f"rate_manager {'ns3::ArfWifiManager' if wifi.mac.rate_control == 'arf' else 'ns3::ConstantRateWifiManager'}",
    ]
    if wifi.frequency_mhz is not None:
        band = "BAND_5GHZ" if wifi.standard == "802.11a" else "BAND_2_4GHZ"
        width = 22 if wifi.standard == "802.11b" else 20
        lines.append(f"channel {{{_channel_number(wifi)},{width},{band},0}}")
    for group in setup.groups:
        members = [str(number) for number, node in enumerate(setup.nodes) if group in node.groups]
        lines.append(f"group {' '.join(members)}")
    losses, attributes = _propagation(wifi, radio)
    lines += [f"loss {name}" for name in losses]
    attributes |= _phy(wifi, radio) | _mac(wifi, radio)
    if wifi.routing == "aodv":
        attributes |= _aodv(wifi.aodv)
    if wifi.routing == "olsr":
        attributes |= {
            "ns3::olsr::RoutingProtocol::HelloInterval": _time(wifi.olsr.hello_interval_s),
            "ns3::olsr::RoutingProtocol::TcInterval": _time(wifi.olsr.tc_interval_s),
            "ns3::olsr::RoutingProtocol::Willingness": _WILLINGNESS[wifi.olsr.willingness],
        }
    return lines + [f"attribute {name} {value}" for name, value in attributes.items()]


# --- translations ----------------------------------------------------------------------------------------


def _propagation(wifi: Wifi, radio: Radio) -> tuple[list[str], Attributes]:
    """The loss models, the one of distance first, and their attributes."""
    law, hertz = wifi.propagation, repr(radio.frequency_mhz * 1e6)
    if law.friis is not None:
        name = "ns3::FriisPropagationLossModel"
        given = {
            "Frequency": hertz,
            "SystemLoss": repr(law.friis.system_loss),
            "MinLoss": repr(law.friis.minimum_loss_db),
        }
    elif law.log_distance is not None:
        name = "ns3::LogDistancePropagationLossModel"
        given = {
            "Exponent": repr(law.log_distance.exponent),
            "ReferenceLoss": repr(law.log_distance.reference_loss_db),
            "ReferenceDistance": repr(law.log_distance.reference_m),
        }
    elif law.two_ray_ground is not None:
        name = "ns3::TwoRayGroundPropagationLossModel"
        given = {
            "Frequency": hertz,
            "SystemLoss": repr(law.two_ray_ground.system_loss),
            "HeightAboveZ": repr(law.two_ray_ground.antenna_height_m),
            "MinDistance": repr(law.two_ray_ground.minimum_m),
        }
    else:
        assert law.range is not None
        name = "ns3::RangePropagationLossModel"
        given = {"MaxRange": repr(wifi.range_m or law.range.range_m)}
    losses, attributes = [name], {f"{name}::{key}": value for key, value in given.items()}
    if wifi.fading is not None:
        shape = wifi.fading.nakagami.m if wifi.fading.nakagami is not None else 1.0  # 1 is Rayleigh's
        losses.append("ns3::NakagamiPropagationLossModel")
        attributes |= {f"ns3::NakagamiPropagationLossModel::{key}": repr(shape) for key in ("m0", "m1", "m2")}
    return losses, attributes


def _phy(wifi: Wifi, radio: Radio) -> Attributes:
    """Powers hold the gains of both antennas; those of ns-3 stay 0."""
    power = repr(float(radio.powers_dbm[0]))
    reception = wifi.reception
    attributes = {
        "ns3::WifiPhy::TxPowerStart": power,
        "ns3::WifiPhy::TxPowerEnd": power,
        "ns3::WifiPhy::RxNoiseFigure": repr(wifi.noise_figure_db),
        "ns3::WifiPhy::RxSensitivity": repr(reception.sensitivity_dbm),
        "ns3::WifiPhy::CcaSensitivity": repr(reception.carrier_sense_dbm),
        "ns3::WifiPhy::CcaEdThreshold": repr(max(reception.carrier_sense_dbm, ENERGY_DETECTION_DBM)),
        "ns3::ThresholdPreambleDetectionModel::MinimumRssi": repr(reception.minimum_rssi_dbm),
        "ns3::ThresholdPreambleDetectionModel::Threshold": repr(reception.minimum_snr_db),
    }
    if reception.capture_db is not None:
        attributes["ns3::SimpleFrameCaptureModel::Margin"] = repr(reception.capture_db)
    return attributes


def _mac(wifi: Wifi, radio: Radio) -> Attributes:
    mac = wifi.mac
    rate, broadcast_rate = _rate_name(wifi, radio.rate), _rate_name(wifi, radio.broadcast_rate)
    attributes = {
        "ns3::WifiRemoteStationManager::NonUnicastMode": broadcast_rate,
        "ns3::WifiRemoteStationManager::RtsCtsThreshold": str(mac.rts_threshold_bytes),
        "ns3::WifiMac::FrameRetryLimit": str(mac.retry_limit),
        "ns3::WifiMacQueue::MaxSize": f"{mac.queue_packets}p",
        "ns3::WifiMacQueue::MaxDelay": _time(mac.queue_lifetime_s),
        "ns3::Txop::MinCws": str(radio.standard.cw_min if mac.cw_min is None else mac.cw_min),
        "ns3::Txop::MaxCws": str(mac.cw_max),
    }
    if mac.rate_control == "fixed":
        attributes |= {
            "ns3::ConstantRateWifiManager::DataMode": rate,
            "ns3::ConstantRateWifiManager::ControlMode": broadcast_rate,
        }
    return attributes


def _aodv(aodv: Aodv) -> Attributes:
    """RFC 3561's names are ns-3's; what it derives from others is derived here, as `wifi` does."""
    net_traversal_s = 2 * aodv.node_traversal_time_s * aodv.net_diameter
    path_discovery_s = 2 * net_traversal_s
    ring = aodv.expanding_ring
    given = {
        "EnableHello": str(aodv.hello).lower(),
        "HelloInterval": _time(aodv.hello_interval_s),
        "AllowedHelloLoss": str(aodv.allowed_hello_loss),
        "ActiveRouteTimeout": _time(aodv.active_route_timeout_s),
        "DeletePeriod": _time(aodv.delete_period_s or 5 * max(aodv.active_route_timeout_s, aodv.hello_interval_s)),
        "MyRouteTimeout": _time(aodv.my_route_timeout_s or 2 * max(aodv.active_route_timeout_s, path_discovery_s)),
        "NetDiameter": str(aodv.net_diameter),
        "NodeTraversalTime": _time(aodv.node_traversal_time_s),
        "NetTraversalTime": _time(net_traversal_s),
        "PathDiscoveryTime": _time(path_discovery_s),
        "RreqRetries": str(aodv.rreq_retries),
        "RreqRateLimit": str(aodv.rreq_rate_limit_hz),
        "RerrRateLimit": str(aodv.rerr_rate_limit_hz),
        "TtlStart": str(aodv.ttl_start if ring else aodv.net_diameter),
        "TtlIncrement": str(aodv.ttl_increment),
        "TtlThreshold": str(aodv.ttl_threshold),
        "TimeoutBuffer": str(aodv.timeout_buffer),
        "NextHopWait": _time(aodv.next_hop_wait_s or aodv.node_traversal_time_s + 0.01),
        "BlackListTimeout": _time(aodv.blacklist_timeout_s or aodv.rreq_retries * net_traversal_s),
        "DestinationOnly": str(aodv.destination_only).lower(),
        "GratuitousReply": str(aodv.gratuitous_reply).lower(),
        "MaxQueueLen": str(aodv.buffer_packets),
        "MaxQueueTime": _time(aodv.buffer_timeout_s),
    }
    return {f"ns3::aodv::RoutingProtocol::{key}": value for key, value in given.items()}


_WILLINGNESS = {0: "never", 1: "low", 3: "default", 6: "high", 7: "always"}
"""As ns-3 names the levels of RFC 3626, section 18.8; it has no others."""


def _time(seconds: float) -> str:
    return f"{ns_from_s(seconds)}ns"


def _rate_name(wifi: Wifi, number: int) -> str:
    mbps = f"{STANDARDS[wifi.standard].rates[number].mbps:g}".replace(".", "_")
    family = {"802.11a": "Ofdm", "802.11b": "Dsss", "802.11g": "ErpOfdm"}[wifi.standard]
    return f"{family}Rate{mbps}Mbps"


def _channel_number(wifi: Wifi) -> int | None:
    """The channel of 20 MHz (802.11b: 22) around a frequency."""
    assert wifi.frequency_mhz is not None
    below = 5000.0 if wifi.standard == "802.11a" else 2407.0
    number = (wifi.frequency_mhz - below) / 5
    known = _CHANNELS_5_GHZ if wifi.standard == "802.11a" else range(1, 14)
    return int(number) if math.isclose(number, round(number)) and round(number) in known else None


_CHANNELS_5_GHZ = (*range(36, 65, 4), *range(100, 145, 4), *range(149, 178, 4))
