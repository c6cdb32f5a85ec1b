"""`ns3`: ns-3's own 802.11, IPv4 and routing, step by step, with the radios that the `wifi` section means."""

from typing import Any

from robonet.errors import SimulatorError, UserError
from robonet.link.messages import FIRST_GROUP
from robonet.link.simulators import Floats, Offer, Outcome, Setup, Transmissions
from robonet.network.ledger import Ledger, Packet
from robonet.network.wifi.formats import DATA_PORT, address_for
from robonet.plugins import closest
from robonet.record.flows import COLUMNS, FlowTable
from robonet.record.folder import FLOWS
from robonet.record.tables import Recorder
from robonet.scenario.ns3 import Ns3
from robonet.scenario.schema import Network

from .files import animation_file, lines_of_files
from .library import ARRIVED, REASONS, Animation, Core, load_core
from .reach import Reach
from .translate import ROUTINGS, Radio, lines_of, refuse_what_ns3_lacks

IP_AND_UDP_BYTES = 28
LAST_WORDS = ("NS_FATAL, terminating", "terminate called")
"""What follows ns-3's own message when it aborts."""


class Ns3Network:
    """ns-3 as a network simulator."""

    def __init__(self, settings: Network, recorder: Recorder | None = None) -> None:
        self._ns3: Ns3 = settings.ns3
        routing = self._ns3.routing or settings.wifi.routing
        self._wifi = settings.wifi.model_copy(update={"routing": routing})
        self._recorder = recorder

    def start(self, setup: Setup) -> Offer:
        """Build the network in ns-3."""
        wifi = self._wifi
        refuse_what_ns3_lacks(wifi, self._ns3, setup)
        radio = Radio(wifi, setup)
        files = lines_of_files(wifi, self._ns3, setup, self._recorder)
        is_static = ROUTINGS[wifi.routing] == "static"
        reach = Reach(wifi, setup, radio) if is_static or "neighbours" in setup.wants else None
        lines = [*lines_of(wifi, setup, radio), *_user_attributes(self._ns3), *files]
        if reach is not None:
            lines.append(f"least_dbm {reach.least_dbm!r}")
        self.description = "\n".join([*lines, ""])
        self._core: Core = load_core(self._ns3.loader)
        if Core.has_started and not {"ascii", "netanim"}.isdisjoint(self._ns3.outputs):
            raise SimulatorError("ns-3 writes 'ascii' and 'netanim' only in the first simulation of a process")
        _raise(self._core.start(self.description), list(self._ns3.attributes))
        animation = animation_file(self._ns3, self._recorder)
        self._animation = Animation(self._ns3.loader, animation) if animation is not None else None
        self._ledger = Ledger(setup, self._recorder)
        self._flows = FlowTable([node.name for node in setup.nodes], setup.groups, address_for) if wifi.flows else None
        self._nodes = len(setup.nodes)
        self._wants = setup.wants
        self._reach = reach if "neighbours" in setup.wants else None
        self._needs_payloads = any(line.startswith("pcap ") for line in files)
        return Offer("ns3", frozenset({"failures", "neighbours", "queues"}), needs_payloads=self._needs_payloads)

    def step(self, until: int, positions_m: Floats, transmissions: Transmissions) -> Outcome:
        """Move everyone, then let ns-3 run."""
        packets = self._ledger.open(transmissions)
        if self._flows is not None:
            for packet in packets:
                self._flows.sent(*_flow(packet), packet.time, packet.size + IP_AND_UDP_BYTES)
        payloads = b"".join(transmissions.payloads) if transmissions.payloads and self._needs_payloads else None
        for event in self._core.step(until, positions_m, transmissions.rows, payloads):
            self._handle(*event)
        outcome = self._ledger.take_outcome()
        if self._reach is not None:
            outcome.neighbours = self._reach.at(positions_m)
        if "queues" in self._wants:
            outcome.queues = self._core.queues(self._nodes)
        return outcome

    def end(self, now: int) -> dict[str, Any]:
        """Account for what is under way, have ns-3 write its files, and tell what the radios did."""
        if self._animation is not None:
            self._animation.end()
        counts = self._core.end()
        if self._recorder is not None and self._flows is not None:
            table = self._recorder.table("flows", COLUMNS, self._flows.labels)
            for row in self._flows.rows():
                table.add(row)
            self._flows.write_xml(self._recorder.folder.parent / FLOWS)
        report = self._ledger.close(now)
        report["ns3"] = {
            "version": self._core.version,
            "loader": self._core.loader,
            "routing": self._wifi.routing,
            **counts,
        }
        return report

    def _handle(
        self,
        number: int,
        sent: int,
        time: int,
        source: int,
        destination: int,
        size: int,
        node: int,
        signal_dbm: float,
        hops: int,
        kind: int,
        reason: int,
    ) -> None:
        """One EVENT record of the core."""
        packet = Packet(number, sent, source, destination, size)
        if kind == ARRIVED:
            self._ledger.delivered(packet, node, time, hops, signal_dbm)
            if self._flows is not None:
                self._flows.received(*_flow(packet), time, time - sent, size + IP_AND_UDP_BYTES, hops)
        else:
            assert destination < FIRST_GROUP
            self._ledger.dropped(packet, time, REASONS[reason])
            if self._flows is not None:
                self._flows.lost(*_flow(packet), REASONS[reason], size + IP_AND_UDP_BYTES)


def _flow(packet: Packet) -> tuple[int, int, int, int]:
    return packet.source, packet.destination, DATA_PORT, DATA_PORT


def _user_attributes(ns3: Ns3) -> list[str]:
    texts = {
        name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in ns3.attributes.items()
    }
    return [f"user_attribute {name} {text}" for name, text in texts.items()]


def _raise(problem: str, names: list[str]) -> None:
    """Turn the core's complaint into an error that says whose fault it is."""
    if not problem:
        return
    if not problem.startswith("user: "):
        raise SimulatorError(f"ns-3 cannot build this network; it says: {problem}")
    said, _, known = problem.removeprefix("user: ").partition("\nknown: ")
    text = "\n".join(line for line in said.strip().splitlines() if not line.startswith(LAST_WORDS))
    wrong = next((name for name in names if name in text), "")
    hint = closest(wrong, known.split(", ")) if known else ""
    raise UserError(f"network.ns3.attributes: ns-3 says: {text}{hint}")
