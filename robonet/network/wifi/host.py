"""One node above its radio: IPv4 and UDP as sizes, ARP, and the routing protocol that it runs."""

from typing import TYPE_CHECKING, Any, NamedTuple

from robonet.link.messages import BROADCAST
from robonet.network.wifi import formats
from robonet.network.wifi.arp import Arp, ArpMessage
from robonet.network.wifi.journal import Journal
from robonet.network.wifi.medium import QUEUE_FULL
from robonet.network.wifi.routing.core import EVERYONE, Datagram, Message, Routing

if TYPE_CHECKING:
    from robonet.network.wifi.model import WifiNetwork

UDP_OVER_MAC_BYTES = formats.DATA_BYTES + formats.UDP_BYTES
ARP_OVER_MAC_BYTES = formats.DATA_BYTES + formats.ARP_BYTES

DATA, CONTROL, ARP = range(3)


class Item(NamedTuple):
    """What one frame carries."""

    kind: int
    content: Any
    """A Datagram, a routing message, or an ArpMessage."""
    next_hop: int
    ttl: int
    identification: int


class Host:
    """A node's network layer."""

    def __init__(self, node: int, network: "WifiNetwork", journal: Journal, *, uses_arp: bool) -> None:
        self.node = node
        self.routing: Routing
        self.arp = Arp(node, self, network.stream("arp", node)) if uses_arp else None
        self._network = network
        self._journal = journal
        self._loop = network.loop
        self._identification = 0
        settings = network.settings
        self._blames_any_loss = settings.routing == "aodv" and settings.aodv.rules == "ns3"
        """Whether frames of any kind, lost for any reason, mean that the neighbour is gone."""

    # --- from above ----------------------------------------------------------------------------------------

    def originate(self, datagram: Datagram) -> None:
        """This node's own robot wants something sent."""
        self._identification = (self._identification + 1) & 0xFFFF
        datagram.identification = self._identification
        now = self._network.now
        datagram.path = ((self.node, now, 0, 0, 0),)
        self._journal.begin(datagram)
        if datagram.destination == BROADCAST:
            self._hand_over(Item(DATA, datagram, EVERYONE, 1, datagram.identification))
        else:
            self.routing.handle_datagram(datagram, self.node, now)

    # --- from the routing protocol -------------------------------------------------------------------------

    def send(self, message: Message, next_hop: int, ttl: int = 1, delay_ns: int = 0) -> None:
        """Hand a control message to the radio."""
        self._identification = (self._identification + 1) & 0xFFFF
        item = Item(CONTROL, message, next_hop, ttl, self._identification)
        if next_hop == EVERYONE:  # most of what is ever sent
            network, size = self._network, message.size + UDP_OVER_MAC_BYTES
            if delay_ns:
                self._loop.at(network.now + delay_ns, network.transmit, self.node, item, size)
            else:
                network.transmit(self.node, item, size)
        elif delay_ns:
            self._loop.at(self._network.now + delay_ns, self._pass, item)
        else:
            self._pass(item)

    def forward(self, datagram: Datagram, next_hop: int, delay_ns: int = 0) -> None:
        """Hand a datagram to the radio."""
        item = Item(DATA, datagram, next_hop, datagram.ttl, datagram.identification)
        if delay_ns:
            self._loop.at(self._network.now + delay_ns, self._pass, item)
        else:
            self._pass(item)

    def deliver(self, datagram: Datagram) -> None:
        """It is for this node."""
        self._journal.delivered(datagram, self.node, self._network.now, self._network.signal_dbm)

    def drop(self, datagram: Datagram, reason: str) -> None:
        """Give it up."""
        self._journal.dropped(datagram, reason, self._network.now)

    def wake(self, time: int, timer: Any) -> None:
        """Call the routing protocol then."""
        self._loop.at(time, self._wake_routing, timer, time)

    def _wake_routing(self, timer: Any, time: int) -> None:
        self.routing.handle_timer(timer, time)

    # --- ARP -----------------------------------------------------------------------------------------------

    def _pass(self, item: Item) -> None:
        """Down to the radio, with an address to send to."""
        arp = self.arp
        if arp is None or item.next_hop == EVERYONE or arp.knows(item.next_hop, self._network.now):
            self._hand_over(item)
        else:
            arp.resolve(item.next_hop, item, self._network.now)

    def send_arp(self, message: ArpMessage, delay_ns: int) -> None:
        """A question goes to everyone, an answer to the one who asked."""
        item = Item(ARP, message, EVERYONE if message.is_request else message.target, 1, 0)
        if delay_ns:
            self._loop.at(self._network.now + delay_ns, self._hand_over, item)
        else:
            self._hand_over(item)

    def resolved(self, item: Item) -> None:
        """The neighbour's address is known."""
        self._hand_over(item)

    def unresolved(self, item: Item) -> None:
        """It is not to be had; nobody above is told, as in ns-3."""
        if item.kind == DATA:
            self.drop(item.content, "no_route")

    def wake_arp(self, time: int) -> None:
        """Call ARP then."""
        assert self.arp is not None
        self._loop.at(time, self.arp.handle_timer, time)

    # --- the radio -----------------------------------------------------------------------------------------

    def _hand_over(self, item: Item) -> None:
        size = ARP_OVER_MAC_BYTES if item.kind == ARP else item.content.size + UDP_OVER_MAC_BYTES
        if self._network.transmit(self.node, item, size) == QUEUE_FULL and item.kind == DATA:
            self.drop(item.content, "queue_full")

    def handle_frame(self, item: Item, sender: int, stop: tuple[int, int, int, int, int], now: int) -> None:
        """The radio has decoded a frame for this node that is no routing message; those go there directly."""
        if item.kind == DATA:
            sent: Datagram = item.content
            ttl = item.ttl - 1
            datagram = sent.copy(ttl, stop)
            self._journal.copied(datagram)
            if datagram.destination == BROADCAST:
                self.deliver(datagram)
            elif ttl <= 0 and datagram.destination != self.node:
                self.drop(datagram, "ttl")
            else:
                self.routing.handle_datagram(datagram, sender, now)
        elif self.arp is not None:
            self.arp.handle_message(item.content, now)

    def handle_done(self, item: Item, now: int) -> None:
        """A frame was acknowledged, or broadcast."""
        if item.kind == DATA:
            self._journal.passed_on(item.content, now)

    def handle_lost(self, item: Item, now: int) -> None:
        """The radio has given up on a neighbour."""
        if item.kind != ARP:
            self.routing.handle_undelivered(item.content, item.next_hop, now)
        elif self._blames_any_loss:
            self.routing.handle_undelivered(None, item.next_hop, now)

    def handle_expired(self, item: Item, now: int) -> None:
        """A frame waited too long in the queue: the neighbour is not to blame, except in ns-3."""
        if item.kind == DATA:
            self.drop(item.content, "lifetime")
        if self._blames_any_loss and item.next_hop != EVERYONE:
            self.routing.handle_undelivered(None, item.next_hop, now)
