"""YAML, variants and overrides become a `Scenario`, or one message that names every wrong place."""

import copy
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from pydantic import ValidationError

from robonet.errors import ScenarioError, UserError
from robonet.scenario.arena import Place
from robonet.scenario.checks import problems_in
from robonet.scenario.complain import problems_of_types
from robonet.scenario.engines import Region
from robonet.scenario.kinds import Body
from robonet.scenario.problems import Problem
from robonet.scenario.schema import Motion, Scenario
from robonet.scenario.sections import as_tuples

Steps = tuple[str | int, ...]
LARGEST_SCENARIO = 200_000


class LoadedScenario(NamedTuple):
    """A valid scenario and where it came from."""

    scenario: Scenario
    path: Path
    """The file it was read from."""

    @property
    def base(self) -> Path:
        """The folder that relative file names start from."""
        return self.path.parent


class _Loader(yaml.SafeLoader):
    """YAML as people expect it: `1e-3` is a number, a date is just text."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?(\d+(\.\d*)?|\.\d+)[eE][-+]?\d+$"), list("-+0123456789.")
)


class _Source:
    """Plain data together with the place that each part of it came from."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.places: dict[Steps, str] = {}

    def read(self, text: str) -> Any:
        try:
            loader = _Loader(text)
        except yaml.YAMLError as error:
            raise ScenarioError(f"{self.path}: not valid YAML: {error}") from error
        try:
            node = loader.get_single_node()
            if node is None:
                raise ScenarioError(f"{self.path}: the file is empty; `robonet new DIR` writes one to start from")
            self._mark(node, (), loader)
            return loader.construct_document(node)
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else 1
            raise ScenarioError(f"{self.path}:{line}: not valid YAML: {error.problem}") from error
        except (yaml.YAMLError, RecursionError, ValueError) as error:
            raise ScenarioError(f"{self.path}: not valid YAML: {error}") from error
        finally:
            loader.dispose()

    def _mark(self, node: Any, steps: Steps, loader: Any) -> None:
        self.places[steps] = f"{self.path}:{node.start_mark.line + 1}"
        if len(self.places) > LARGEST_SCENARIO:
            raise ScenarioError(f"{self.path}: more than {LARGEST_SCENARIO:,} values, with all anchors written out")
        if isinstance(node, yaml.MappingNode):
            seen: set[Any] = set()
            for key_node, value_node in node.value:
                if not isinstance(key_node, yaml.ScalarNode):
                    line = key_node.start_mark.line + 1
                    raise ScenarioError(f"{self.path}:{line}: a key must be a word")
                key = key_node.value
                if key in seen and key != "<<":
                    line = key_node.start_mark.line + 1
                    raise ScenarioError(f"{self.path}:{line}: {dotted((*steps, key))}: the key appears twice")
                seen.add(key)
                below: Steps = (*steps, key)
                self._mark(value_node, below, loader)
                self.places[below] = f"{self.path}:{key_node.start_mark.line + 1}"
        elif isinstance(node, yaml.SequenceNode):
            for index, item in enumerate(node.value):
                self._mark(item, (*steps, index), loader)

    def place(self, steps: Steps) -> str:
        """The nearest place known for a path."""
        while steps not in self.places and steps:
            steps = steps[:-1]
        return self.places.get(steps, str(self.path))

    def moved(self, origin: Steps, target: Steps) -> None:
        """What stood at `origin` now also stands at `target`: errors there point to where it was written."""
        self.replaced(target, self.place(origin))
        for steps, place in list(self.places.items()):
            if steps[: len(origin)] == origin:
                self.places[target + steps[len(origin) :]] = place

    def replaced(self, target: Steps, place: str) -> None:
        """Forget where the parts of `target` came from: all of it now comes from `place`."""
        for steps in [steps for steps in self.places if steps[: len(target)] == target]:
            del self.places[steps]
        self.places[target] = place


def dotted(steps: Steps) -> str:
    """`robots[0].count`, for people."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).lstrip(".")


def load_recorded(path: Path) -> Scenario:
    """The scenario of a run that is over: the files that it names need not be there any more."""
    source = _Source(path)
    try:
        return Scenario.model_validate(as_tuples(source.read(path.read_text(encoding="utf-8"))))
    except (OSError, UnicodeDecodeError, ValidationError) as error:
        raise UserError(f"cannot read the scenario of the run in {path}: {error}") from error


def load_scenario(path: Path, overrides: tuple[str, ...] = (), variant: str | None = None) -> LoadedScenario:
    """Read, merge and check a scenario file."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise UserError(f"there is no file {path}") from error
    except IsADirectoryError as error:
        raise UserError(f"{path} is a folder; name the scenario file in it") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {path}: {error}") from error
    return parse_scenario(text, path, overrides, variant)


def parse_scenario(
    text: str, path: Path = Path("scenario.yaml"), overrides: tuple[str, ...] = (), variant: str | None = None
) -> LoadedScenario:
    """As `load_scenario`, for a text that is already there; relative files start from `path`'s folder."""
    source = _Source(path)
    data = _copied(source.read(text))
    if not isinstance(data, dict):
        raise ScenarioError(f"{path}:1: a scenario is a mapping, this is {_kind(data)}")
    if variant is not None:
        _apply_variant(data, variant, source)
    for override in overrides:
        _apply_override(data, override, source)
    return LoadedScenario(_validated(data, source), path)


def _copied(data: Any) -> Any:
    """The same, with a copy of its own for everything that a YAML anchor shares: a change to one is not one to all."""
    if isinstance(data, dict):
        return {key: _copied(value) for key, value in data.items()}
    return [_copied(item) for item in data] if isinstance(data, list) else data


def _validated(data: dict[str, Any], source: _Source) -> Scenario:
    try:
        scenario = Scenario.model_validate(as_tuples(data))
    except ValidationError as error:
        raise ScenarioError(_message(problems_of_types(error), data, source)) from error
    if problems := problems_in(scenario, source.path.parent):
        raise ScenarioError(_message(problems, data, source))
    return scenario


def _message(problems: list[Problem], data: Any, source: _Source) -> str:
    lines = []
    for problem in problems:
        line = f"{source.place(problem.steps)}: {dotted(problem.steps) or 'scenario'}: {problem.text}"
        value = _value_at(data, problem.steps)
        if value is not None and problem.show_value:
            line += f", got {_short(value)}"
        lines.append(line + problem.hint)
    return "\n".join(lines)


def _value_at(data: Any, steps: Steps) -> Any:
    for step in steps:
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            return None
    return data


def _short(value: Any) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= 60 else text[:57] + "..."


def _kind(data: Any) -> str:
    return "a list" if isinstance(data, list) else f"a single {type(data).__name__}"


# --- variants and overrides ------------------------------------------------------------------------------


def _apply_variant(data: dict[str, Any], variant: str, source: _Source) -> None:
    known = data.get("variants")
    if not isinstance(known, dict) or variant not in known:
        names = ", ".join(known) if isinstance(known, dict) and known else "none"
        raise UserError(f"{source.path} has no variant '{variant}'; it has: {names}")
    change = known[variant]
    if not isinstance(change, dict):
        raise ScenarioError(f"{source.place(('variants', variant))}: variants.{variant}: a variant is a mapping")
    if "variants" in change:
        raise ScenarioError(f"{source.place(('variants', variant))}: variants.{variant}: variants do not nest")
    _merge(data, change, (), ("variants", variant), source)


def _merge(data: dict[str, Any], change: dict[str, Any], at: Steps, origin: Steps, source: _Source) -> None:
    """Put `change` into `data`: mappings key by key, lists of named things by name, the rest replaced."""
    for key, value in change.items():
        old: Any = data.get(key)
        if isinstance(old, dict) and isinstance(value, dict) and not _names_alternative(old, value):
            _merge(old, value, (*at, key), (*origin, key), source)
        elif _named(old) and _named(value):
            for index, item in enumerate(value):
                position = next((i for i, o in enumerate(old) if o["name"] == item["name"]), len(old))
                if position == len(old):
                    old.append({})
                _merge(old[position], item, (*at, key, position), (*origin, key, index), source)
        else:
            data[key] = copy.deepcopy(value)
            source.moved((*origin, key), (*at, key))


_ALTERNATIVES = [set(choice.model_fields) for choice in (Place, Motion, Body, Region)]


def _names_alternative(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Whether `new` chooses another alternative than `old`, which it then replaces."""
    return any(set(old) <= names and set(new) <= names and set(old) != set(new) for names in _ALTERNATIVES)


def _named(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, dict) and "name" in v for v in value)


def _apply_override(data: dict[str, Any], override: str, source: _Source) -> None:
    """`network.disk.range_m=80`; things in lists by position or by name: `robots.scout.count=5`."""
    address, equals, text = override.partition("=")
    if not equals or not address:
        raise UserError(f"--set {override}: write it as path=value, e.g. network.disk.range_m=80")
    try:
        value = yaml.load(text, Loader=_Loader)  # noqa: S506  (a SafeLoader)
    except yaml.YAMLError as error:
        raise UserError(f"--set {override}: the value is not valid YAML") from error
    keys = address.split(".")
    here: Any = data
    steps: Steps = ()
    for key in keys[:-1]:
        step = _step_into(here, key, override)
        if isinstance(here, dict) and step not in here:
            here[step] = {}
            source.replaced((*steps, step), f"--set {override}")
        here, steps = here[step], (*steps, step)
        if not isinstance(here, (dict, list)):
            raise UserError(f"--set {override}: {dotted(steps)} has no parts")
    last = _step_into(here, keys[-1], override)
    here[last] = value
    source.replaced((*steps, last), f"--set {override}")


def _step_into(here: Any, key: str, override: str) -> str | int:
    if isinstance(here, dict):
        return key
    if key.isdigit() and int(key) < len(here):
        return int(key)
    for index, item in enumerate(here):
        if isinstance(item, dict) and item.get("name") == key:
            return index
    names = [item["name"] for item in here if isinstance(item, dict) and "name" in item]
    known = ", ".join(names) or "none have names"
    raise UserError(f"--set {override}: no item '{key}' among {len(here)}; by name: {known}")
