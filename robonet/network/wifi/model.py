"""`wifi`: the radios, their medium, and the hosts above them, run by SimPy.

SimPy has the times of everything above the radios: traffic, jitter, routing timers. Between two of its events the
medium runs by itself, compiled, and comes back where something concerns a host.
"""

from collections import Counter
from typing import Any

import numpy as np

from robonet.link.simulators import Floats, Neighbours, Offer, Outcome, Setup, Transmissions
from robonet.network.events import EventLoop
from robonet.network.ideal import members_of_groups
from robonet.network.ledger import Ledger, Packet
from robonet.network.wifi import state
from robonet.network.wifi.airtime import STANDARDS
from robonet.network.wifi.captures import CaptureFiles
from robonet.network.wifi.formats import UDP_BYTES, address_for
from robonet.network.wifi.graph import ReachGraph
from robonet.network.wifi.host import CONTROL, Host, Item
from robonet.network.wifi.journal import Journal
from robonet.network.wifi.medium import Medium
from robonet.network.wifi.propagation import LinkTable, Obstacles, PathLoss
from robonet.network.wifi.routing.core import Datagram, Routing
from robonet.network.wifi.routing.simple import Flooding, SingleHop, Static
from robonet.network.wifi.settings import ranges_m, rate_numbers, transmit_powers_dbm
from robonet.network.wifi.state import DONE, LOST_LIFETIME, LOST_RETRIES, RECEIVED
from robonet.record.flows import COLUMNS, FlowTable
from robonet.record.folder import FLOWS
from robonet.record.tables import Recorder
from robonet.scenario.schema import Network
from robonet.streams import stream

NO_SIGNAL = float("nan")
LARGEST_PAYLOAD_BYTES = 2304 - UDP_BYTES
"""An 802.11 frame carries 2304 bytes (9.2.4.7.1), and datagrams are not cut into pieces."""


class WifiNetwork:
    """802.11 ad hoc radios with routing on top."""

    def __init__(self, settings: Network, recorder: Recorder | None = None) -> None:
        self.settings = settings.wifi
        self.now = 0
        """The time of the event at hand."""
        self.signal_dbm = NO_SIGNAL
        """How strong the frame at hand is."""
        self._recorder = recorder

    def start(self, setup: Setup) -> Offer:
        """Build the network."""
        settings = self.settings
        self.loop = EventLoop()
        self._seed = setup.seed
        self.names = [node.name for node in setup.nodes]
        nodes = len(self.names)
        self.standard = STANDARDS[settings.standard]
        frequency = settings.frequency_mhz or self.standard.frequency_mhz
        path_loss = PathLoss(settings, frequency)
        powers = transmit_powers_dbm(settings, path_loss, setup.nodes)
        obstacles = Obstacles(setup.obstacles, settings.materials)
        ranges = ranges_m(path_loss, setup.nodes)
        self.links = LinkTable(settings, setup.seed, path_loss, powers, obstacles, ranges)
        has_captures = settings.captures is not None and self._recorder is not None
        self.medium = Medium(settings, self.standard, setup.seed, self.names, self.links, logs=has_captures)
        self.ledger = Ledger(setup, self._recorder)
        self._flows = FlowTable(self.names, setup.groups, address_for) if settings.flows else None
        self._journal = journal = Journal(self.ledger, self._flows, self._recorder, self.names)
        self._rate, self._broadcast_rate = rate_numbers(settings, self.standard)
        self.graph = ReachGraph(self.links, self.medium.least_power_mw(self._rate))
        self._members = members_of_groups(setup)
        self._wants = setup.wants
        self._items: dict[int, Item] = {}
        self._next_handle = 0
        self._frames: Counter[type] = Counter()
        """Frames sent, retries included, by what they carry."""
        self.hosts = [Host(node, self, journal, uses_arp=settings.arp) for node in range(nodes)]
        for host in self.hosts:
            host.routing = self._routing_of(host)
        self._routings = [host.routing for host in self.hosts]
        self._captures = CaptureFiles(self, self._recorder) if has_captures and self._recorder is not None else None
        for host in self.hosts:
            host.routing.start(0)
        return Offer(
            "wifi",
            frozenset({"failures", "neighbours", "queues"}),
            needs_payloads=self._captures is not None,
        )

    def step(self, until: int, positions_m: Floats, transmissions: Transmissions) -> Outcome:
        """Move everyone, then let the frames fly."""
        self.medium.move(positions_m, self.now)
        packets = self.ledger.open(transmissions)
        if self._captures is not None and transmissions.payloads is not None:
            self._captures.keep(packets, transmissions.payloads)
        for packet in packets:
            self.loop.at(packet.time, self._send, packet)
        self._run_through(until)
        self.now = until
        outcome = self.ledger.take_outcome()
        if "neighbours" in self._wants:
            outcome.neighbours = self.neighbours()
        if "queues" in self._wants:
            outcome.queues = self.medium.air.mac[:, state.QUEUED].astype(np.uint32)
        return outcome

    def end(self, now: int) -> dict[str, Any]:
        """Account for what is under way, and tell what the radios did."""
        if self._captures is not None:
            self._captures.write(self.medium.take_log(), self._items)
            self._captures.close()
        if self._recorder is not None:
            self._write_nodes(self._recorder)
            if self._flows is not None:
                table = self._recorder.table("flows", COLUMNS, self._flows.labels)
                for row in self._flows.rows():
                    table.add(row)
                self._flows.write_xml(self._recorder.folder.parent / FLOWS)
        report = self.ledger.close(now)
        report["wifi"] = self.report()
        return report

    # --- for hosts -----------------------------------------------------------------------------------------

    def stream(self, purpose: str, node: int) -> np.random.Generator:
        """The dice of one host for one purpose."""
        return stream(self._seed, "network", "wifi", purpose, self.names[node])

    def transmit(self, node: int, item: Item, size: int) -> int:
        """Hand a frame to a radio."""
        handle = self._next_handle
        to = item.next_hop
        rate = self._broadcast_rate if to < 0 else self._rate
        answer = self.medium.enqueue(node, handle, to, size, rate, self.now)
        if answer == 0:
            self._items[handle] = item
            self._next_handle = handle + 1
        return answer

    # --- running -------------------------------------------------------------------------------------------

    def _run_through(self, until: int) -> None:
        next_time, step, medium = self.loop.next_time, self.loop.step, self.medium
        while True:
            due = next_time()
            limit = until if due > until else int(due)
            if medium.advance(limit):
                self.now = medium.now
                self._handle_calls()
            elif due <= until:
                self.now = limit
                self.signal_dbm = NO_SIGNAL
                step()
            else:
                self._handle_calls()  # what could wait
                return

    def _handle_calls(self) -> None:
        now, items, hosts, frames, routings = self.now, self._items, self.hosts, self._frames, self._routings
        if self._captures is not None:
            self._captures.write(self.medium.take_log(), self._items)
        heard = -1  # the frame that the lines below are about: all who hear a broadcast come one after the other
        content, ttl, is_control = None, 0, False
        for kind, node, handle, peer, sends, signal, queue_ns, access_ns, air_ns in self.medium.take_calls():
            if kind == RECEIVED:
                if handle != heard:
                    item_kind, content, _, ttl, _ = items[handle]
                    heard, is_control = handle, item_kind == CONTROL
                if is_control:  # most of what is ever received, hence straight to where it goes
                    routings[node].handle_message(content, peer, ttl, now)
                else:
                    self.signal_dbm = signal / state.SIGNAL_STEPS
                    hosts[node].handle_frame(items[handle], peer, (node, now, queue_ns, access_ns, air_ns), now)
                continue
            item = items.pop(handle)
            frames[type(item.content)] += sends
            if kind == DONE:
                hosts[node].handle_done(item, now)
            elif kind == LOST_RETRIES:
                hosts[node].handle_lost(item, now)
            else:
                assert kind == LOST_LIFETIME
                hosts[node].handle_expired(item, now)

    def _send(self, packet: Packet) -> None:
        host = self.hosts[packet.source]
        group = packet.group
        ttl = self.settings.max_hops
        self._journal.count(packet)
        if packet.size > LARGEST_PAYLOAD_BYTES:
            self._journal.refuse(packet, self.now)
            return
        if group is None:
            host.originate(Datagram(packet, packet.source, packet.destination, packet.size, ttl=ttl))
            return
        for member in self._members[group]:
            if member != packet.source:
                host.originate(Datagram(packet, packet.source, member, packet.size, ttl=ttl))

    # --- what there is to tell -----------------------------------------------------------------------------

    def neighbours(self) -> Neighbours:
        """Who is heard by whom, how well, and how strongly."""
        links = self.links
        offsets, nodes, powers = links.heard_rows()
        signals = 10 * np.log10(powers)
        quality = self.medium.delivery_probability(powers, self._rate)
        return Neighbours(
            offsets.astype(np.uint32), nodes.astype(np.uint32), quality.astype(np.float32), signals.astype(np.float32)
        )

    def report(self) -> dict[str, Any]:
        """What the radios and the routing protocol did, in all."""
        mac = self.medium.air.mac
        total = mac.sum(axis=0)
        control: dict[str, int] = {}
        for host in self.hosts:
            for counts in (host.routing.counts, host.arp.counts if host.arp is not None else {}):
                for kind, count in counts.items():
                    control[kind] = control.get(kind, 0) + count
        busiest = int(mac[:, state.AIRTIME].max()) if len(mac) else 0
        return {
            "frames": int(total[state.SENT_DATA] + total[state.SENT_BROADCAST] + total[state.SENT_CONTROL]),
            "unicast_frames": int(total[state.SENT_DATA]),
            "broadcast_frames": int(total[state.SENT_BROADCAST]),
            "answer_frames": int(total[state.SENT_CONTROL]),
            "retries": int(total[state.RETRIES]),
            "decoded": int(total[state.DECODED]),
            "collided": int(total[state.COLLIDED]),
            "faded": int(total[state.FADED]),
            "missed": int(total[state.MISSED]),
            "duplicates": int(total[state.DUPLICATES]),
            "airtime_s": float(total[state.AIRTIME] / 1e9),
            "busiest_airtime_s": busiest / 1e9,
            "routing": self.settings.routing,
            "messages": control,
            "frames_by_content": {content.__name__: count for content, count in self._frames.items()},
        }

    def _write_nodes(self, recorder: Recorder) -> None:
        """One row a node: what its radio did."""
        columns = {
            "unicast_frames": state.SENT_DATA,
            "broadcast_frames": state.SENT_BROADCAST,
            "answer_frames": state.SENT_CONTROL,
            "airtime_ns": state.AIRTIME,
            "retries": state.RETRIES,
            "decoded": state.DECODED,
            "collided": state.COLLIDED,
            "faded": state.FADED,
            "missed": state.MISSED,
            "duplicates": state.DUPLICATES,
            "longest_queue": state.PEAK_QUEUE,
            "queued_at_end": state.QUEUED,
        }
        table = recorder.table("radios", {"node": "i4", **dict.fromkeys(columns, "i8")}, {"node": self.names})
        mac = self.medium.air.mac
        table.add_block([np.arange(len(mac), dtype=np.int32), *(mac[:, column].copy() for column in columns.values())])

    def _routing_of(self, host: Host) -> Routing:
        """A node's end of the routing protocol that the scenario names."""
        name, settings, node = self.settings.routing, self.settings, host.node
        if name == "none":
            return SingleHop(node, host)
        if name in ("static", "shortest-path"):
            return Static(node, host, self.graph.next_hop)
        dice = self.stream("routing", node)
        if name == "flooding":
            return Flooding(node, host, settings.flooding, dice)
        if name == "aodv":
            from robonet.network.wifi.routing.aodv import Aodv

            return Aodv(node, host, settings.aodv, dice, strict=settings.aodv.rules == "rfc3561")
        if name == "olsr":
            from robonet.network.wifi.routing.olsr import Olsr

            return Olsr(node, host, settings.olsr, dice)
        from robonet.network.wifi.routing.anthocnet import AntHocNet

        assert name == "anthocnet"
        return AntHocNet(node, host, settings.anthocnet, dice)
