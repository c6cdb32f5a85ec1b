"""A study: one scenario, axes along which it is changed, seeds, and what to measure."""

import itertools
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import yaml
from pydantic import Field, ValidationError

from robonet.errors import RobonetError, UserError
from robonet.plugins import closest
from robonet.record.folder import resolved
from robonet.scenario import LoadedScenario, load_scenario
from robonet.scenario.sections import Name, Section, as_tuples

KNOWN_METRICS = (
    "delivery_ratio", "delay_s.mean", "delay_s.p50", "delay_s.p95", "delay_s.max", "delay_seen_s.mean",
    "delay_seen_s.p50", "delay_seen_s.p95", "hops.mean", "hops.max", "packets.sent", "packets.delivered",
    "broadcasts.sent", "broadcasts.receptions", "simulated_s", "steps", "time.robots_cpu_s", "time.network_cpu_s",
    "time.wall_s", "time.real_time_factor",
)  # fmt: skip
"""What every summary has; `metrics.NAME` is what hooks measure."""
LARGE_RUNS, LARGE_S = 2000, 2e6
"""Beyond so many runs, or simulated seconds, a study wants to be confirmed."""


class Study(Section):
    """What study.yaml says."""

    study: Annotated[int, Field(ge=1, le=1)]
    """Version of the format of studies."""
    name: Name
    """Name of the study; its folder is called after it."""
    description: str = ""
    """What it asks, in a sentence."""
    scenario: str
    """The scenario, relative to the study."""
    variant: Name | None = None
    """Which of the scenario's variants."""
    set: dict[str, Any] = {}
    """Changes to the scenario in all runs: an address, as `--set` has it, and a value."""
    axes: dict[str, tuple[Any, ...] | dict[str, dict[str, Any]]] = {}
    """Addresses with lists of values, or names with named sets of changes; every combination is a point."""
    seeds: Annotated[int, Field(ge=1, le=100_000)] | tuple[int, ...] = 5
    """How many seeds a point, counted from the scenario's own, or which."""
    compare: str | None = None
    """The axis whose values are compared with each other; `network.model` or the first axis by default."""
    metrics: tuple[str, ...] = ("delivery_ratio", "delay_s.mean", "hops.mean")
    """What to measure: paths into summary.json."""
    quick: dict[str, Any] = {}
    """Changes to this study for a first look (`--quick`): `seeds`, `axes`, `set` ..., each replaced as a whole."""
    dask: str | None = None
    """Address of a Dask scheduler to send the runs to, e.g. tcp://scheduler:8786."""


class Point(NamedTuple):
    """One combination of values."""

    labels: dict[str, Any]
    """By axis, the value or the name of the set of changes."""
    changes: tuple[str, ...]
    """As overrides."""

    @property
    def name(self) -> str:
        """For folders and people."""
        words = ["".join(c if c.isalnum() or c in "-_." else "-" for c in str(label)) for label in self.labels.values()]
        return "-".join(words) or "point"


class Planned(NamedTuple):
    """One run to be made."""

    id: str
    point: Point
    seed: int
    loaded: LoadedScenario


class Plan(NamedTuple):
    """All runs of a study."""

    study: Study
    path: Path
    points: list[Point]
    runs: list[Planned]

    @property
    def compared_axis(self) -> str | None:
        """The axis whose values are compared."""
        return compared_axis(self.study)

    @property
    def simulated_s(self) -> float:
        """How much time is simulated in all."""
        return sum(run.loaded.scenario.duration_s for run in self.runs)

    @property
    def is_large(self) -> bool:
        """Whether somebody should think twice."""
        return len(self.runs) > LARGE_RUNS or self.simulated_s > LARGE_S


def compared_axis(study: Study) -> str | None:
    """The axis whose values are compared."""
    if study.compare is not None:
        return study.compare
    return "network.model" if "network.model" in study.axes else next(iter(study.axes), None)


def load_study(path: Path, *, quick: bool = False) -> Study:
    """Read and check a study file."""
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UserError(f"there is no file {path}") from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UserError(f"cannot read {path}: {error}") from error
    if not isinstance(data, dict) or "study" not in data:
        raise UserError(f"{path} is not a study: begin it with `study: 1`")
    if quick and isinstance(data.get("quick"), dict):
        data = {**data, **data["quick"]}
    try:
        study = Study.model_validate(as_tuples(data))
    except ValidationError as error:
        lines = []
        for detail in error.errors(include_url=False):
            place = ".".join(str(step) for step in detail["loc"])
            hint = closest(str(detail["loc"][-1]), list(Study.model_fields)) if "extra" in detail["type"] else ""
            words = "unknown key" if "extra" in detail["type"] else detail["msg"]
            lines.append(f"{path}: {place}: {words}{hint}")
        raise UserError("\n".join(dict.fromkeys(lines))) from error
    _check(study, path)
    return study


def _check(study: Study, path: Path) -> None:
    for name, values in study.axes.items():
        if not values:
            raise UserError(f"{path}: axes.{name}: has no values")
        if isinstance(values, tuple) and len({repr(value) for value in values}) < len(values):
            raise UserError(f"{path}: axes.{name}: a value appears twice")
    if study.compare is not None and study.compare not in study.axes:
        known = ", ".join(study.axes) or "none"
        hint = closest(study.compare, list(study.axes))
        raise UserError(f"{path}: compare: there is no axis '{study.compare}'{hint}; axes: {known}")
    for metric in study.metrics:
        if metric not in KNOWN_METRICS and not metric.startswith(("metrics.", "packets.", "radios.", "broadcasts.")):
            raise UserError(
                f"{path}: metrics: no run has '{metric}'{closest(metric, list(KNOWN_METRICS))}; "
                f"known: {', '.join(KNOWN_METRICS)}, and metrics.NAME of hooks"
            )


def make_plan(path: Path, *, quick: bool = False) -> Plan:
    """All points of a study with all seeds; every point's scenario is checked before anything runs."""
    study = load_study(path, quick=quick)
    points = _points(study)
    base = path.parent / study.scenario
    fixed = tuple(_override(address, value) for address, value in study.set.items())
    runs: list[Planned] = []
    for point in points:
        try:
            loaded = load_scenario(base, (*fixed, *point.changes), study.variant)
        except RobonetError as error:
            where = ", ".join(f"{axis} = {label}" for axis, label in point.labels.items())
            raise UserError(f"{path}: the point {where or 'without axes'} is no scenario:\n{error}") from error
        files = _hash_of_files(loaded)
        first = loaded.scenario.seed
        seeds = study.seeds if isinstance(study.seeds, tuple) else range(first, first + study.seeds)
        for seed in seeds:
            seeded = loaded._replace(scenario=loaded.scenario.model_copy(update={"seed": seed}))
            runs.append(Planned(f"{point.name}-{seed}-{_hash(seeded, files)}", point, seed, seeded))
    return Plan(study, path, points, runs)


def _points(study: Study) -> list[Point]:
    choices: list[list[tuple[str, Any, tuple[str, ...]]]] = []
    for axis, values in study.axes.items():
        if isinstance(values, dict):
            named = [(axis, label, tuple(_override(a, v) for a, v in set_.items())) for label, set_ in values.items()]
            choices.append(named)
        else:
            choices.append([(axis, value, (_override(axis, value),)) for value in values])
    return [
        Point({axis: label for axis, label, _ in chosen}, tuple(change for _, _, part in chosen for change in part))
        for chosen in itertools.product(*choices)
    ]


def _override(address: str, value: Any) -> str:
    return f"{address}={yaml.safe_dump(_lists(value), default_flow_style=True).strip().removesuffix('...').strip()}"


def _lists(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _lists(item) for key, item in value.items()}
    return [_lists(item) for item in value] if isinstance(value, tuple) else value


def _hash(loaded: LoadedScenario, files: bytes) -> str:
    """Eight digits for everything that makes this run what it is, the version of robonet aside."""
    text = repr(loaded.scenario.model_dump(exclude={"variants", "description"}))
    return blake2b(text.encode() + files, digest_size=4).hexdigest()


def _hash_of_files(loaded: LoadedScenario) -> bytes:
    """What the files say that the scenario names: controllers, hooks, motion, pictures, and their neighbours."""
    mentioned: set[Path] = set()

    def walk(data: Any) -> None:
        if isinstance(data, dict):
            for item in data.values():
                walk(item)
        elif isinstance(data, list):
            for item in data:
                walk(item)
        elif isinstance(data, str):
            path = Path(data.partition(".py:")[0] + ".py" if ".py:" in data else data)
            if path.is_absolute() and path.is_file():
                mentioned.add(path)
                if path.suffix == ".py":
                    mentioned.update(path.parent.glob("*.py"))

    walk(resolved(loaded))
    stamp = blake2b(digest_size=16)
    for path in sorted(mentioned):
        stamp.update(path.name.encode() + b"\0" + path.read_bytes())
    return stamp.digest()
