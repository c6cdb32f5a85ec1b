"""`ideal`: everything arrives at everyone it is meant for, after a fixed delay."""

from typing import Any

from robonet.clock import ns_from_s
from robonet.link.simulators import Floats, Offer, Outcome, Setup, Transmissions
from robonet.network.events import EventLoop
from robonet.network.ledger import Ledger, Packet
from robonet.record.tables import Recorder
from robonet.scenario.schema import Network


class IdealNetwork:
    """The communication that most papers assume."""

    def __init__(self, settings: Network, recorder: Recorder | None = None) -> None:
        self._delay_ns = ns_from_s(settings.ideal.delay_s)
        self._recorder = recorder

    def start(self, setup: Setup) -> Offer:
        """Learn who is there."""
        self._loop = EventLoop()
        self._ledger = Ledger(setup, self._recorder)
        self._everyone = range(len(setup.nodes))
        self._members = members_of_groups(setup)
        return Offer("ideal", frozenset({"failures"}), longest_life_ns=self._delay_ns)

    def step(self, until: int, positions_m: Floats, transmissions: Transmissions) -> Outcome:
        """Deliver what is due."""
        for packet in self._ledger.open(transmissions):
            self._loop.at(packet.time + self._delay_ns, self._arrive, packet)
        self._loop.run_through(until)
        return self._ledger.take_outcome()

    def end(self, now: int) -> dict[str, Any]:
        """Account for the rest."""
        return self._ledger.close(now)

    def _arrive(self, packet: Packet) -> None:
        group = packet.group
        if packet.is_broadcast:
            receivers = self._everyone
        elif group is not None:
            receivers = self._members[group]
        else:
            self._ledger.delivered(packet, packet.destination, self._loop.now, 1)
            return
        for receiver in receivers:
            if receiver != packet.source:
                self._ledger.delivered(packet, receiver, self._loop.now, 1)


def members_of_groups(setup: Setup) -> list[Any]:
    """The nodes of each group, ascending."""
    return [[i for i, node in enumerate(setup.nodes) if group in node.groups] for group in setup.groups]
