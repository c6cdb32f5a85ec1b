"""The same motion and traffic under several network models: how much does the model matter here?"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from robonet.errors import EXIT_DONE, RobonetError, SimulatorError, UserError
from robonet.record.statistics import Interval, mean_interval
from robonet.runs import prepare, run_scenario
from robonet.scenario import LoadedScenario

Loader = Callable[[str, int], LoadedScenario]
"""Loads the scenario with a network model and a seed."""


class Measure(NamedTuple):
    """One column of a comparison."""

    name: str
    unit: str
    of: Callable[[dict[str, Any]], float | None]


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else 1e3 * seconds


MEASURES = (
    Measure("delivered", "%", lambda s: None if s["delivery_ratio"] is None else 100 * s["delivery_ratio"]),
    Measure("delay, mean", "ms", lambda s: _milliseconds(s["delay_s"]["mean"])),
    Measure("delay, median", "ms", lambda s: _milliseconds(s["delay_s"]["p50"])),
    Measure("hops", "", lambda s: s["hops"]["mean"]),
    Measure("network CPU", "ms/s", lambda s: _milliseconds((s["time"]["network_cpu_s"] or 0.0) / s["simulated_s"])),
)


class Comparison(NamedTuple):
    """What came of all runs."""

    scenario: str
    seeds: list[int]
    intervals: dict[str, dict[str, Interval]]
    """By network and measure: mean and 95 % confidence interval over the seeds."""
    summaries: dict[str, list[dict[str, Any]]]
    notes: list[str]

    def as_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "scenario": self.scenario,
            "seeds": self.seeds,
            "networks": {
                network: {name: interval._asdict() for name, interval in measures.items()}
                for network, measures in self.intervals.items()
            },
            "runs": {network: [s["run_dir"] for s in found] for network, found in self.summaries.items()},
            "notes": self.notes,
        }


def compare(
    load: Loader,
    networks: list[str],
    seeds: list[int],
    out: Path,
    on_run: Callable[[str, int, int, int], None] = lambda *_: None,
) -> Comparison:
    """Run every network with every seed, one after the other, seed by seed."""
    if len(set(networks)) != len(networks):
        raise UserError("--networks names a model twice")
    loaded = {network: load(network, seeds[0]) for network in networks}  # refuse before anything runs
    scenario = next(iter(loaded.values())).scenario
    summaries: dict[str, list[dict[str, Any]]] = {network: [] for network in networks}
    for number, (seed, network) in enumerate((seed, network) for seed in seeds for network in networks):
        on_run(network, seed, number, len(seeds) * len(networks))
        summaries[network].append(_summary_of_run(load(network, seed), out / f"{network}-{seed}"))
    intervals = {
        network: {measure.name: _interval(measure, found) for measure in MEASURES}
        for network, found in summaries.items()
    }
    return Comparison(scenario.name, seeds, intervals, summaries, list(_notes(summaries)))


def _summary_of_run(loaded: LoadedScenario, folder: Path) -> dict[str, Any]:
    verdict, summary = run_scenario(prepare(loaded, folder, None, None, time.monotonic()))
    if verdict.exit_code != EXIT_DONE:
        scenario = loaded.scenario
        text = f"{scenario.network.model} with seed {scenario.seed}: {verdict.message or verdict.status}"
        error: RobonetError = UserError(text) if verdict.exit_code == UserError.exit_code else SimulatorError(text)
        raise error
    return summary


def _interval(measure: Measure, summaries: list[dict[str, Any]]) -> Interval:
    return mean_interval([value for summary in summaries if (value := measure.of(summary)) is not None])


def _notes(summaries: dict[str, list[dict[str, Any]]]) -> Iterator[str]:
    """What somebody who reads the table should know."""
    for part in ("motion", "traffic"):
        digests = [[summary["digests"][part] for summary in found] for found in summaries.values()]
        if any(other != digests[0] for other in digests):
            yield f"{part} differed between networks: controllers react to what they receive"
    if len(next(iter(summaries.values()))) < 2:
        yield "one seed says nothing about chance: give --seeds 5 or more for intervals"
