"""The `ns3` section of a scenario: what only ns-3 knows; radios and routing are as the `wifi` section says."""

from typing import Annotated, Literal

from pydantic import Field

from robonet.scenario.sections import Section

AttributeName = Annotated[str, Field(pattern=r"^(ns3::\S+::\S+|/\S+)$")]
AttributeText = Annotated[str, Field(pattern=r"^[^\n\r]*$")]


class Ns3(Section):
    """ns-3 as the network simulator."""

    routing: Literal["aodv", "olsr", "dsdv", "static", "flooding", "none"] | None = None
    """How packets get farther than one hop, where it is not to be `wifi.routing`; `dsdv` is only here."""
    obstacles: Literal["refuse", "transparent"] = "refuse"
    """What to do in an arena whose obstacles weaken signals, which ns-3 does not know: give up, or let signals pass."""
    attributes: dict[AttributeName, AttributeText | bool | int | float] = {}
    """Any attribute of ns-3: a default by name (`ns3::WifiMacQueue::MaxSize`) or one by path (`/NodeList/...`)."""
    outputs: tuple[Literal["pcap", "flowmon", "ascii", "netanim"], ...] = ()
    """Files in ns-3's own formats, in the run folder's `ns3`."""
    loader: Literal["auto", "compiled", "jit"] = "auto"
    """How its C++ is brought in: with the machine's compiler, once, or with cppyy's; `auto`: with g++ where it is."""
