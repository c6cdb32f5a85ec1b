"""HELICS 3: two federates that publish to each other in step, the broker in a thread of the first.

The network's times lie half a step behind the robots', so that it sees what is sent in a step, and its
answer is there at the step's end: what robonet's exchange does. The broker needs no process of its own.

Variant `vector` publishes the positions as HELICS' own vector of doubles, which its Python interface makes
from and into lists. `bytes` publishes them as raw bytes, as someone would who has measured that. `late` is
`bytes` with both federates at the same times: no round trip, but answers come a step later than in the
other links.
"""

import contextlib
import os
import socket
import time
from collections.abc import Iterator

import helics
import numpy as np

from link_peers.traffic import Traffic, arrivals_of, pack
from link_peers.turns import START_TIMEOUT_S, Job, Turns
from robonet.link.messages import ARRIVAL, TRANSMISSION

CORE = "zmq"
"""Faster than zmq_ss with few robots, a little slower with 10,000; other cores did not start when tried."""
QUIET = "--loglevel=no_print"
PORTS = 40
"""A HELICS broker hands ports above its own to its cores."""
STEP_S = 0.1


def _federate(name: str, options: str, offset_s: float = 0.0) -> helics.HelicsValueFederate:
    info = helics.helicsCreateFederateInfo()
    helics.helicsFederateInfoSetCoreTypeFromString(info, CORE)
    helics.helicsFederateInfoSetCoreInitString(info, options)
    helics.helicsFederateInfoSetTimeProperty(info, helics.helics_property_time_period, STEP_S)
    helics.helicsFederateInfoSetTimeProperty(info, helics.helics_property_time_offset, offset_s)
    helics.helicsFederateInfoSetFlagOption(info, helics.helics_flag_uninterruptible, True)
    return helics.helicsCreateValueFederate(name, info)


def _free_ports() -> int:
    """The first of a row of ports that nobody has."""
    for first in range(24_000, 32_000, PORTS):  # below those that systems give to outgoing connections
        with contextlib.ExitStack() as stack, contextlib.suppress(OSError):
            for port in range(first, first + PORTS):
                probe = stack.enter_context(socket.socket())
                probe.bind(("127.0.0.1", port))
            return first
    raise RuntimeError("no free ports for HELICS")


def drive(job: Job, turns: Turns) -> None:
    port, name = _free_ports(), f"robonet-{os.getpid()}"
    broker = helics.helicsCreateBroker(CORE, name, f"-f 2 --local_interface=127.0.0.1 --port={port} {QUIET}")
    options = f"--federates=1 --local_interface=127.0.0.1 --broker_address=127.0.0.1 --brokerport={port} {QUIET}"
    part = job.folder / "options.part"
    part.write_text(options)
    part.rename(job.folder / "options")  # the other reads it whole or not at all

    traffic = Traffic(job.robots, job.total_steps)
    is_vector = job.variant == "vector"
    federate = _federate("robots", options)
    kind = "vector" if is_vector else "raw"
    positions = helics.helicsFederateRegisterGlobalTypePublication(federate, "positions", kind, "")
    packets = helics.helicsFederateRegisterGlobalTypePublication(federate, "packets", "raw", "")
    deliveries = helics.helicsFederateRegisterSubscription(federate, "deliveries", "")
    helics.helicsFederateEnterExecutingMode(federate)
    for index in range(job.total_steps):
        turns.tick()
        if is_vector:
            helics.helicsPublicationPublishVector(positions, traffic.positions_m.ravel().tolist())
        else:
            helics.helicsPublicationPublishBytes(positions, traffic.positions_m.tobytes())
        sent = traffic.next_step()
        helics.helicsPublicationPublishBytes(packets, pack(sent))
        helics.helicsFederateRequestTime(federate, (index + 1) * STEP_S)
        arrived = np.frombuffer(helics.helicsInputGetBytes(deliveries), dtype=ARRIVAL)
        lag = 2 if job.variant == "late" else 1
        assert index < lag or arrived["packet"][0] == sent.rows["packet"][0] - (lag - 1) * traffic.senders
    turns.tick()
    helics.helicsFederateDisconnect(federate)
    helics.helicsBrokerWaitForDisconnect(broker, 2000)
    helics.helicsCloseLibrary()


def answer(job: Job) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while not (job.folder / "options").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    traffic = Traffic(job.robots, job.total_steps)
    answers = iter([arrivals_of(traffic.next_step()) for _ in range(job.total_steps)])
    is_vector = job.variant == "vector"
    offset_s = 0.0 if job.variant == "late" else STEP_S / 2
    federate = _federate("network", (job.folder / "options").read_text(), offset_s)
    deliveries = helics.helicsFederateRegisterGlobalTypePublication(federate, "deliveries", "raw", "")
    positions = helics.helicsFederateRegisterSubscription(federate, "positions", "")
    packets = helics.helicsFederateRegisterSubscription(federate, "packets", "")
    helics.helicsFederateEnterExecutingMode(federate)
    first_s = offset_s or STEP_S
    for index in range(job.total_steps):
        helics.helicsFederateRequestTime(federate, first_s + index * STEP_S)
        if is_vector:
            positions_m = np.array(helics.helicsInputGetVector(positions))
        else:
            positions_m = np.frombuffer(helics.helicsInputGetBytes(positions), dtype="<f8")
        assert len(positions_m) == 3 * job.robots
        helics.helicsPublicationPublishBytes(deliveries, _answer(helics.helicsInputGetBytes(packets), answers))
    helics.helicsFederateDisconnect(federate)
    helics.helicsCloseLibrary()


def _answer(packets: bytes, answers: Iterator[np.ndarray]) -> bytes:
    """From bytes to an array and from an array to bytes, as every contender."""
    np.frombuffer(packets, TRANSMISSION)
    return next(answers).tobytes()
