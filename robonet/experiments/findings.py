"""What a study found: means with intervals, and paired comparisons on common seeds, corrected for their number."""

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robonet.errors import UserError
from robonet.experiments.caveats import caveats, no_run_has
from robonet.experiments.results import Results
from robonet.experiments.study import compared_axis
from robonet.experiments.wording import FEWEST_FOR_WILCOXON, Verdict, sentence

ALPHA = 0.05
CONFIDENCE = 0.95
RESAMPLES = 9999
BOOTSTRAP_SEED = 20
"""Of the generator that resamples: the same study always has the same intervals."""

Method = Literal["t", "bootstrap"]
Array = NDArray[np.float64]


class Level(NamedTuple):
    """One metric at one point."""

    metric: str
    at: dict[str, Any]
    """The point: by axis, its value."""
    by_seed: dict[int, float]
    """The values of all finished runs that have one."""
    without: int
    """Finished runs that have no value, e.g. a delay where nothing arrived."""
    mean: float | None
    median: float | None
    std: float | None
    low: float | None
    high: float | None
    """The 95 % confidence interval of the mean."""
    least: float | None
    most: float | None

    @property
    def n(self) -> int:
        """How many values."""
        return len(self.by_seed)


class Difference(NamedTuple):
    """One value of the compared axis against the first one, at one place of the other axes, in one metric."""

    metric: str
    axis: str
    at: dict[str, Any]
    reference: Any
    value: Any
    pairs: int
    """Seeds with a value on both sides."""
    unpaired: int
    """Seeds with a value on one side only."""
    verdict: Verdict
    reference_mean: float | None = None
    value_mean: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    """95 % confidence interval of the mean difference."""
    percent: float | None = None
    percent_low: float | None = None
    percent_high: float | None = None
    """The same against the reference's mean; none where that is so near 0 that the interval has no end."""
    effect: float | None = None
    """Cohen's d_z: the mean difference in standard deviations of the differences."""
    t: float | None = None
    p: float | None = None
    """Of the paired t-test."""
    p_corrected: float | None = None
    """The same after Holm's correction over all comparisons of the study."""
    p_wilcoxon: float | None = None
    """Of the signed-rank test."""
    p_wilcoxon_corrected: float | None = None
    tests: int = 0
    """How many comparisons were corrected for."""

    @property
    def is_doubted_by_wilcoxon(self) -> bool:
        """Whether the signed-rank test could have confirmed the t-test and did not."""
        can = self.pairs >= FEWEST_FOR_WILCOXON and 2.0 * 0.5**self.pairs * self.tests <= ALPHA
        return can and self.p_wilcoxon_corrected is not None and self.p_wilcoxon_corrected >= ALPHA

    @property
    def sentence(self) -> str:
        """In plain words."""
        return sentence(self)


class Failure(NamedTuple):
    """A run that did not finish."""

    run: str
    at: dict[str, Any]
    seed: int
    error: str


class Findings(NamedTuple):
    """All of it."""

    study: str
    folder: Path
    axes: dict[str, list[Any]]
    """All values of every axis, in the study's order."""
    axis: str | None
    """The compared one."""
    metrics: list[str]
    """Those that runs have."""
    method: Method
    planned: int
    finished: int
    seeds: list[int]
    levels: list[Level]
    differences: list[Difference]
    tests: int
    """How many comparisons were tested, and corrected for."""
    failures: list[Failure]
    versions: dict[str, int]
    """Runs by version of robonet."""
    notes: list[str]
    """What a reader should know before believing anything."""

    @property
    def other_axes(self) -> dict[str, list[Any]]:
        """All but the compared one."""
        return {axis: values for axis, values in self.axes.items() if axis != self.axis}

    def level(self, metric: str, at: dict[str, Any]) -> Level | None:
        """One metric at one point."""
        return next((level for level in self.levels if level.metric == metric and level.at == at), None)

    def as_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "study": self.study,
            "folder": str(self.folder),
            "axes": self.axes,
            "compared": self.axis,
            "interval": self.method,
            "runs": {"planned": self.planned, "finished": self.finished, "failed": len(self.failures)},
            "seeds": self.seeds,
            "tests": self.tests,
            "levels": [
                {**level._asdict(), "n": level.n, "by_seed": {str(s): v for s, v in level.by_seed.items()}}
                for level in self.levels
            ],
            "differences": [
                {**found._asdict(), "verdict": found.verdict.value, "sentence": found.sentence}
                for found in self.differences
            ],
            "failures": [failure._asdict() for failure in self.failures],
            "versions": self.versions,
            "notes": self.notes,
        }


def findings(results: Results, method: Method = "t") -> Findings:
    """Describe and compare; intervals by Student's distribution or by the bootstrap (BCa)."""
    _scipy()  # says what is missing before anything is read
    rows = results.table.to_pylist()
    finished = [row for row in rows if row["status"] == "finished"]
    failures = [
        Failure(row["run"], {a: row[a] for a in results.axes}, row["seed"], row["error"] or f"it is {row['status']}")
        for row in rows
        if row["status"] != "finished"
    ]
    if not finished:
        why = f"; {failures[0].run}: {failures[0].error.splitlines()[0]}" if failures else ""
        raise UserError(f"{results.folder}: no run of this study has finished{why}")
    axes = {axis: _values_of(axis, results) for axis in results.axes}
    metrics = [m for m in results.metrics if any(_is_value(row[m]) for row in finished)]
    absent = [metric for metric in results.metrics if metric not in metrics]
    missing = [no_run_has(metric, results, finished) for metric in absent]
    if not metrics:
        raise UserError("\n".join(f"{results.folder}: {text}" for text in missing))
    by_point: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in finished:
        by_point.setdefault(tuple(row[axis] for axis in axes), []).append(row)
    levels = [
        _level(metric, dict(zip(axes, point, strict=True)), by_point.get(point, []), method)
        for metric in metrics
        for point in itertools.product(*axes.values())
    ]
    axis = compared_axis(results.study)
    differences = list(_compare(levels, axis, axes, method)) if axis is not None else []
    differences, tests = _corrected(differences)
    seeds = results.study.seeds
    planned = math.prod(len(values) for values in axes.values()) * (seeds if isinstance(seeds, int) else len(seeds))
    found = Findings(
        results.study.name, results.folder, axes, axis, metrics, method, planned, len(finished),
        sorted({row["seed"] for row in rows}), levels, differences, tests, failures,
        dict(Counter(str(row["robonet"]) for row in finished)), [],
    )  # fmt: skip
    return found._replace(notes=[*missing, *caveats(found)])


def findings_panel(found: Findings) -> Any:
    """All of it for the terminal: something that rich prints."""
    from robonet.experiments.terminal import panel

    return panel(found)


def _scipy() -> Any:
    try:
        import scipy.stats
    except ImportError as error:
        raise UserError("statistics need SciPy: pip install 'robonet[study]'") from error
    return scipy.stats


def _is_value(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _values_of(axis: str, results: Results) -> list[Any]:
    """The values of an axis in the study's order, as the table has them."""
    there = list(dict.fromkeys(results.table[axis].to_pylist()))
    as_text = any(isinstance(value, str) for value in there)
    meant = [str(value) if as_text else value for value in results.study.axes[axis]]
    return [*meant, *(value for value in there if value not in meant)]


def _level(metric: str, at: dict[str, Any], here: list[dict[str, Any]], method: Method) -> Level:
    by_seed = {row["seed"]: float(row[metric]) for row in here if _is_value(row[metric])}
    values = np.array([by_seed[seed] for seed in sorted(by_seed)])
    if not len(values):
        return Level(metric, at, {}, len(here), None, None, None, None, None, None, None)
    low, high = _interval(values, method)
    return Level(
        metric, at, {seed: by_seed[seed] for seed in sorted(by_seed)}, len(here) - len(values),
        float(values.mean()), float(np.median(values)), float(values.std(ddof=1)) if len(values) > 1 else None,
        low, high, float(values.min()), float(values.max()),
    )  # fmt: skip


def _has_no_spread(values: Array) -> bool:
    """Whether all are the same, but for what floating-point arithmetic adds."""
    return bool(np.ptp(values) <= 1e-12 * np.abs(values).max())


def _interval(values: Array, method: Method) -> tuple[float | None, float | None]:
    """95 % confidence interval of a mean."""
    if len(values) < 2:
        return None, None
    if _has_no_spread(values):
        return float(values[0]), float(values[0])
    if method == "bootstrap":
        return _bootstrap((values,), np.mean)
    found = _scipy().ttest_1samp(values, 0.0).confidence_interval(CONFIDENCE)
    return float(found.low), float(found.high)


def _bootstrap(samples: Sequence[Array], statistic: Any) -> tuple[float | None, float | None]:
    """Bias-corrected and accelerated; none where so few values leave nothing to resample."""
    if len(samples[0]) < 3:
        return None, None
    with np.errstate(all="ignore"):
        found = _scipy().bootstrap(
            samples, statistic, paired=True, confidence_level=CONFIDENCE, n_resamples=RESAMPLES, method="BCa",
            rng=np.random.default_rng(BOOTSTRAP_SEED),
        ).confidence_interval  # fmt: skip
    low, high = float(found.low), float(found.high)
    return (low, high) if math.isfinite(low) and math.isfinite(high) else (None, None)


def _compare(levels: list[Level], axis: str, axes: dict[str, list[Any]], method: Method) -> Iterable[Difference]:
    reference, *others = axes[axis]
    by_point = {(level.metric, *level.at.values()): level for level in levels}
    for level in levels:
        if level.at[axis] != reference:
            continue
        at = {name: value for name, value in level.at.items() if name != axis}
        for value in others:
            key = (level.metric, *(level.at | {axis: value}).values())
            other = by_point[key]
            yield _difference(
                Difference(level.metric, axis, at, reference, value, 0, 0, Verdict.TOO_FEW), level, other, method
            )


def _difference(blank: Difference, reference: Level, other: Level, method: Method) -> Difference:
    seeds = [seed for seed in reference.by_seed if seed in other.by_seed]
    found = blank._replace(pairs=len(seeds), unpaired=reference.n + other.n - 2 * len(seeds))
    if not seeds:
        return found
    x = np.array([reference.by_seed[seed] for seed in seeds])
    y = np.array([other.by_seed[seed] for seed in seeds])
    change = y - x
    found = found._replace(
        reference_mean=float(x.mean()),
        value_mean=float(y.mean()),
        difference=float(change.mean()),
        percent=float(100 * change.mean() / abs(x.mean())) if x.mean() else None,
    )
    if len(seeds) < 2:
        return found
    size = max(np.abs(x).max(), np.abs(y).max())
    if np.abs(change).max() <= 1e-12 * size:
        return found._replace(verdict=Verdict.SAME, difference=0.0, low=0.0, high=0.0)
    if np.ptp(change) <= 1e-12 * size:
        return found._replace(verdict=Verdict.CONSTANT, low=found.difference, high=found.difference)
    test = _scipy().ttest_rel(y, x)
    low, high = _interval(change, method)
    percent = _percent_interval(x, y, method)
    return found._replace(
        verdict=Verdict.NOT_FOUND, low=low, high=high, percent_low=percent[0], percent_high=percent[1],
        effect=float(change.mean() / change.std(ddof=1)), t=float(test.statistic), p=float(test.pvalue),
        p_wilcoxon=float(_scipy().wilcoxon(change).pvalue),
    )  # fmt: skip


def _percent_interval(x: Array, y: Array, method: Method) -> tuple[float | None, float | None]:
    """Of the relative change of the mean, in percent; the reference's mean is uncertain too."""
    if not x.mean():
        return None, None
    if method == "bootstrap":
        return _bootstrap((x, y), _percent_change) if not _has_no_spread(y / x.mean() - x / x.mean()) else (None, None)
    return _fieller(x, y)


def _percent_change(x: Array, y: Array, axis: int = -1) -> Any:
    return 100 * (y.mean(axis=axis) - x.mean(axis=axis)) / np.abs(x.mean(axis=axis))


def _fieller(x: Array, y: Array) -> tuple[float | None, float | None]:
    """Fieller's interval of a ratio of paired means: it leaves out 0 % exactly when the paired t-test says p < .05."""
    n = len(x)
    critical = float(_scipy().t.ppf((1 + CONFIDENCE) / 2, n - 1)) ** 2 / n
    (vxx, vxy), (_, vyy) = np.cov(x, y)
    a = x.mean() ** 2 - critical * vxx
    b = x.mean() * y.mean() - critical * vxy
    c = y.mean() ** 2 - critical * vyy
    inside = b * b - a * c
    if a <= 0 or inside < 0:  # the reference's mean may be 0: a ratio to it may be anything
        return None, None
    sign = 1.0 if x.mean() > 0 else -1.0
    ends = sorted(sign * 100 * ((b + side * math.sqrt(inside)) / a - 1) for side in (-1.0, 1.0))
    return float(ends[0]), float(ends[1])


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction: the chance of even one false alarm among them all stays below alpha."""
    corrected = [0.0] * len(p_values)
    so_far = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        so_far = max(so_far, min(1.0, (len(p_values) - rank) * p_values[index]))
        corrected[index] = so_far
    return corrected


def _corrected(differences: list[Difference]) -> tuple[list[Difference], int]:
    tested = [index for index, found in enumerate(differences) if found.p is not None]
    by_t = holm([differences[index].p or 0.0 for index in tested])
    by_ranks = holm([differences[index].p_wilcoxon or 0.0 for index in tested])
    for index, p, p_wilcoxon in zip(tested, by_t, by_ranks, strict=True):
        alone = differences[index].p or 0.0
        verdict = Verdict.DIFFERS if p < ALPHA else Verdict.UNCERTAIN if alone < ALPHA else Verdict.NOT_FOUND
        differences[index] = differences[index]._replace(
            p_corrected=p, p_wilcoxon_corrected=p_wilcoxon, verdict=verdict, tests=len(tested)
        )
    return differences, len(tested)
