"""From a YAML file to a frozen, typed `Scenario`."""

from robonet.scenario.load import LoadedScenario, load_recorded, load_scenario, parse_scenario
from robonet.scenario.schema import Scenario

__all__ = ["LoadedScenario", "Scenario", "load_recorded", "load_scenario", "parse_scenario"]
