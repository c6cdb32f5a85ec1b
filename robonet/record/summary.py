"""summary.json: one object with everything that scripts ask of a run."""

import json
import platform
from array import array
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

from robonet import __version__
from robonet.link.messages import PROTOCOL_VERSION
from robonet.record.statistics import delay_figures
from robonet.scenario.schema import Scenario

FEW = 10
"""Packets below which their fates say little."""


class RobotsReport(NamedTuple):
    """What the robot side knows at the end."""

    status: str
    steps: int
    step_ns: int
    seen_delays_ns: "list[int] | array[int]"
    digests: dict[str, str]
    metrics: dict[str, float | None]
    wall_s: float
    startup_s: float
    stepping_s: float
    """From the first step to the last."""
    cpu_s: float
    exchange_s: float
    waiting_s: float
    model: str


def compose(scenario: Scenario, robots: RobotsReport, network: dict[str, Any], run_dir: str) -> dict[str, Any]:
    """The summary of a run, from what both sides say of it."""
    simulated_s = robots.steps * robots.step_ns / 1e9
    packets = network["packets"]
    times = network.get("time", {})
    digests = {**robots.digests, "network": network.get("digest", "")}
    return {
        "scenario": scenario.name,
        "seed": scenario.seed,
        "network": robots.model,
        "digest": overall_digest(digests, robots.metrics),
        "status": robots.status,
        "simulated_s": simulated_s,
        "steps": robots.steps,
        "robots": sum(group.count for group in scenario.robots),
        "stations": len(scenario.stations),
        "packets": packets,
        "broadcasts": network["broadcasts"],
        "multicasts": network.get("multicasts", {"sent": 0, "receptions": 0}),
        "warnings": warnings_about(packets),
        "delivery_ratio": packets["delivered"] / packets["sent"] if packets["sent"] else None,
        "delay_s": network["delay_s"],
        "delay_seen_s": delay_figures(robots.seen_delays_ns),
        "hops": network["hops"],
        "time": {
            "wall_s": robots.wall_s,
            "robots_cpu_s": robots.cpu_s,
            "network_cpu_s": times.get("cpu_s"),
            "exchange_s": robots.exchange_s,
            "waiting_robots_s": robots.waiting_s,
            "waiting_network_s": times.get("waiting_s"),
            "startup_s": robots.startup_s,
            "real_time_factor": simulated_s / max(robots.stepping_s, 1e-9),
        },
        "radios": network.get("wifi"),
        "metrics": robots.metrics,
        "digests": digests,
        "versions": versions(),
        "run_dir": run_dir,
    }


BECAUSE = {
    "lost": "lost on the air",
    "out_of_range": "out of the radio's range",
    "no_route": "no path to the destination was found in time",
    "ttl": "too many hops",
    "queue_full": "queues were full: more is sent than the medium carries",
    "retry_limit": "neighbours did not answer: too far, or too much interference",
    "collision": "collisions",
    "below_sensitivity": "signals too weak",
    "lifetime": "waited too long in a queue: more is sent than the medium carries",
    "unknown": "the network simulator cannot tell",
    "run_ended": "still under way when the run ended",
    "too_long": "longer than the network carries",
}
"""What the reasons mean."""


def warnings_about(packets: dict[str, Any]) -> list[str]:
    """What somebody who runs this should know: that most packets died, and mainly of what."""
    lost = packets["sent"] - packets["delivered"]
    if packets["sent"] < FEW or lost <= packets["sent"] / 2:
        return []
    reason, count = max(packets["dropped"].items(), key=lambda item: item[1])
    shares = 100 * lost / packets["sent"], 100 * count / lost
    text = f"{shares[0]:.0f} % of the packets were lost, {shares[1]:.0f} % of these as {reason}"
    return [f"{text}: {BECAUSE.get(reason, '')}"]


def overall_digest(digests: dict[str, str], metrics: dict[str, float | None]) -> str:
    """One digest of motion, traffic, arrivals, fates and metrics."""
    text = json.dumps([sorted(digests.items()), sorted(metrics.items())])
    return blake2b(text.encode(), digest_size=16).hexdigest()


def versions() -> dict[str, str]:
    """What took part."""
    found = {"robonet": __version__, "protocol": str(PROTOCOL_VERSION), "python": platform.python_version()}
    for package in ("numpy", "numba", "pyzmq", "msgspec", "simpy", "pyarrow"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "missing"
    return found
