"""What a study found: the statistics agree with SciPy, promise what they keep, and the sentences are honest."""

import io
import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from robonet.errors import UserError
from robonet.experiments import findings as module
from robonet.experiments.findings import findings, findings_panel, holm
from robonet.experiments.results import Results
from robonet.experiments.study import Study
from robonet.experiments.wording import Verdict, label_of, number, p_words, unit_of

MODELS = {"network.model": ["ideal", "wifi"]}


def study(rows, axes=MODELS, metrics=("metrics.x",), seeds=None, folder=Path("nowhere"), **more):
    """Results as a sweep would leave them; a row is (values of the axes..., seed, values of the metrics...)."""
    seeds = seeds or len({row[len(axes)] for row in rows})
    described = Study.model_validate(
        {"study": 1, "name": "made-up", "scenario": "none.yaml", "seeds": seeds, "metrics": tuple(metrics),
         "axes": {axis: values if isinstance(values, dict) else tuple(values) for axis, values in axes.items()}, **more}
    )  # fmt: skip
    names = [*axes, "seed", *metrics]
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    extra = [row[len(names)] if len(row) > len(names) else {} for row in rows]
    for name in metrics:
        columns[name] = pa.array(columns[name], pa.float64())
    columns["run"] = [f"run{i}" for i in range(len(rows))]
    columns["point"] = ["-".join(map(str, row[: len(axes)])) for row in rows]
    columns["status"] = [said.get("status", "finished") for said in extra]
    columns["robonet"] = [said.get("robonet", "0.2.0") for said in extra]
    columns["error"] = pa.array([said.get("error") for said in extra], pa.string())
    return Results(folder, described, pa.table(columns))


def pairs(ideal, wifi):
    return [("ideal", s, v) for s, v in enumerate(ideal)] + [("wifi", s, v) for s, v in enumerate(wifi)]


def only(results, **options):
    found = findings(results, **options)
    assert len(found.differences) == 1
    return found.differences[0]


# --- the same as SciPy says


def test_levels_and_tests_are_those_of_scipy():
    dice = np.random.default_rng(1)
    x, y = dice.normal(50, 5, 12), dice.normal(58, 9, 12)
    found = findings(study(pairs(x, y)))
    level = found.level("metrics.x", {"network.model": "wifi"})
    assert (level.n, level.mean, level.median) == (12, pytest.approx(y.mean()), pytest.approx(np.median(y)))
    assert (level.std, level.least, level.most) == (pytest.approx(y.std(ddof=1)), y.min(), y.max())
    expected = stats.t.interval(0.95, 11, loc=y.mean(), scale=stats.sem(y))
    assert (level.low, level.high) == pytest.approx(expected)
    one = found.differences[0]
    test = stats.ttest_rel(y, x)
    assert (one.t, one.p) == pytest.approx((test.statistic, test.pvalue))
    assert (one.low, one.high) == pytest.approx(tuple(test.confidence_interval(0.95)))
    assert one.p_wilcoxon == pytest.approx(stats.wilcoxon(y - x).pvalue)
    assert one.effect == pytest.approx((y - x).mean() / (y - x).std(ddof=1))
    assert one.percent == pytest.approx(100 * (y.mean() / x.mean() - 1))
    assert found.tests == 1 and one.p_corrected == one.p


def test_the_bootstrap_is_scipys_and_always_the_same():
    dice = np.random.default_rng(2)
    x, y = dice.exponential(5, 15), dice.exponential(9, 15)
    results = study(pairs(x, y))
    found, again = findings(results, "bootstrap"), findings(results, "bootstrap")
    expected = stats.bootstrap(
        (x,), np.mean, n_resamples=module.RESAMPLES, method="BCa", rng=np.random.default_rng(module.BOOTSTRAP_SEED)
    ).confidence_interval
    level = found.level("metrics.x", {"network.model": "ideal"})
    assert (level.low, level.high) == pytest.approx((expected.low, expected.high))
    assert found == again
    one = found.differences[0]
    assert one.percent_low < one.percent < one.percent_high and one.low < one.difference < one.high


def test_holm_by_the_book():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == [1.0, 1.0] and holm([]) == [] and holm([0.02]) == [0.02]


# --- promises kept


def made_up_studies(count, n, effect, seed):
    """The same seed pushes both sides the same way, as common random numbers do."""
    dice = np.random.default_rng(seed)
    for _ in range(count):
        common = dice.normal(100, 10, n)
        yield common + dice.normal(0, 8, n), common + effect + dice.normal(0, 8, n)


@pytest.mark.parametrize("method", ["t", "bootstrap"])
def test_intervals_hold_the_truth_nineteen_times_of_twenty(method, monkeypatch):
    monkeypatch.setattr(module, "RESAMPLES", 799)
    count, n = (400, 8) if method == "t" else (200, 30)
    hits = {"level": 0, "difference": 0, "percent": 0}
    for x, y in made_up_studies(count, n, 20.0, 3):
        found = findings(study(pairs(x, y)), method)
        level, one = found.level("metrics.x", {"network.model": "ideal"}), found.differences[0]
        hits["level"] += level.low <= 100 <= level.high
        hits["difference"] += one.low <= 20 <= one.high
        hits["percent"] += one.percent_low <= 20 <= one.percent_high
    slack = 0.03 if method == "t" else 0.05
    for what, number_of in hits.items():
        assert abs(number_of / count - 0.95) <= slack, (what, number_of / count)


def test_fiellers_interval_ends_where_a_t_test_of_the_ratio_says_five_percent():
    for x, y in made_up_studies(5, 7, 15.0, 8):
        one = only(study(pairs(x, y)))
        for end in (one.percent_low, one.percent_high):
            assert stats.ttest_1samp(y - (1 + end / 100) * x, 0.0).pvalue == pytest.approx(0.05)


def test_fiellers_interval_and_the_t_test_never_disagree():
    for x, y in made_up_studies(200, 6, 9.0, 4):
        one = only(study(pairs(x, y)))
        assert (one.percent_low > 0 or one.percent_high < 0) == (one.p < 0.05)


def test_false_alarms_in_the_family_stay_below_five_percent():
    dice = np.random.default_rng(5)
    axes = {"network.model": ["ideal", "disk", "wifi"], "robots.scout.count": [10, 20]}
    wrong = alone = 0
    for _ in range(200):
        rows = [
            (model, count, seed, *dice.normal(10, 3, 2))
            for model in axes["network.model"]
            for count in axes["robots.scout.count"]
            for seed in range(6)
        ]
        found = findings(study(rows, axes, ("metrics.a", "metrics.b")))
        assert found.tests == 8
        wrong += any(one.verdict is Verdict.DIFFERS for one in found.differences)
        alone += any(one.p < 0.05 for one in found.differences)
    assert wrong / 200 <= 0.05 + 3 * (0.05 * 0.95 / 200) ** 0.5
    assert alone / 200 > 0.2  # without the correction every fourth study would have cried wolf


def test_an_effect_that_is_there_is_found():
    found = [only(study(pairs(x, y))) for x, y in made_up_studies(100, 10, 20.0, 6)]
    assert sum(one.verdict is Verdict.DIFFERS for one in found) >= 95
    assert all(one.difference > 0 for one in found)


# --- sentences


def test_a_difference_in_plain_words():
    one = only(study(pairs([10, 12, 11, 13, 12], [14, 17, 16, 18, 16]), metrics=("metrics.x",)))
    assert one.sentence == (
        "wifi raises metrics.x by 40 % against ideal (16.2 against 11.6; 95 % CI 34 to 45 %), p < .001 after Holm's "
        "correction (d_z = 8.4, 5 seeds)"
    )


def test_less_is_told_as_less():
    one = only(study(pairs([14, 17, 16, 18, 16], [10, 12, 11, 13, 12]), metrics=("metrics.mission_s",)))
    assert one.sentence.startswith(
        "wifi shortens metrics.mission_s by 28 % against ideal (11.6 s against 16.2 s; 95 % CI 26 to 31 %), p < .001"
    )
    assert one.difference < 0 and one.effect < 0


def test_where_on_the_other_axes():
    axes = {"robots.scout.count": [20], "network.model": ["ideal", "wifi"], "step_s": [0.1]}
    rows = [(20, m, 0.1, s, v) for m, vs in (("ideal", [1, 2, 4]), ("wifi", [5, 6.5, 8])) for s, v in enumerate(vs)]
    assert " against ideal at robots.scout.count = 20 and step_s = 0.1 (" in only(study(rows, axes)).sentence


def test_a_reference_of_zero_is_no_base_for_percent():
    one = only(study(pairs([0, 0, 0, 0], [4e-3, 5e-3, 6e-3, 5e-3]), metrics=("delay_s.mean",)))
    assert (
        one.percent is None
        and "lengthens delay_s.mean by 5 ms against ideal (5 ms against 0 ms; 95 % CI" in one.sentence
    )


def test_a_reference_that_may_be_zero_has_no_percent_either():
    one = only(study(pairs([-3, 4, -2, 3, 0.1], [9, 12, 11, 14, 10])))
    assert one.percent_low is None and "%" not in one.sentence.replace("95 %", "")


def test_nothing_found_says_how_much_might_be_missed():
    one = only(study(pairs([10, 12, 11, 13], [11, 11.5, 11.2, 12.4])))
    assert one.verdict is Verdict.NOT_FOUND
    half = number((one.percent_high - one.percent_low) / 2, 2)
    assert one.sentence.startswith("no difference found between wifi and ideal in metrics.x: 11.5 against 11.5 (")
    assert one.sentence.endswith(f"a difference of less than {half} % would not have been seen")


def test_what_only_the_correction_takes_away_is_called_uncertain():
    axes = {"network.model": ["ideal", "a", "b"]}
    rows = [("ideal", s, v) for s, v in enumerate([10, 12, 11, 13])]
    rows += [("a", s, v) for s, v in enumerate([11, 12.4, 12.1, 13.3])]
    rows += [("b", s, v) for s, v in enumerate([10.5, 11.5, 11, 13])]
    found = findings(study(rows, axes)).differences
    assert 0.025 < found[0].p < 0.05 <= found[0].p_corrected
    assert found[0].verdict is Verdict.UNCERTAIN
    assert (
        found[0].sentence.startswith("not certain: a raises metrics.x by")
        and "would not have been" not in found[0].sentence
    )


def test_no_spread_is_nothing_to_test():
    same = only(study(pairs([0.1, 0.2, 0.3], [0.1, 0.2, 0.3])))
    assert same.verdict is Verdict.SAME and same.p is None
    assert same.sentence == "wifi and ideal have the same metrics.x in each of 3 seeds (mean 0.2)"
    shifted = only(study(pairs([0.1, 0.2, 0.3], [0.4, 0.5, 0.6])))
    assert shifted.verdict is Verdict.CONSTANT and shifted.p is None
    assert "raises metrics.x by exactly 0.3 against ideal" in shifted.sentence and "nothing to test" in shifted.sentence
    assert findings(study(pairs([1, 1, 1], [2, 2, 2]))).tests == 0


def test_too_few_seeds():
    one = only(study(pairs([10], [12])))
    assert one.verdict is Verdict.TOO_FEW and "one seed says nothing about chance" in one.sentence
    none = only(study([("ideal", 1, 5.0), ("wifi", 2, 6.0)]))
    assert none.pairs == 0 and none.unpaired == 2 and "no seed has a value under both" in none.sentence
    found = findings(study(pairs([10], [12])))
    assert found.levels[0].low is None and any("one seed says nothing" in note for note in found.notes)


def test_wilcoxon_is_heard_when_it_could_have_agreed():
    shifts = np.array([2.2, -0.3, 0.8, 1.8, 0.6, 2.3, 1.9, -0.9])
    one = only(study(pairs(np.full(8, 50.0), 50.0 + shifts)))
    assert one.verdict is Verdict.DIFFERS and one.p < 0.05 < one.p_wilcoxon
    assert one.sentence.endswith(f"; Wilcoxon's test does not confirm it ({p_words(one.p_wilcoxon)})")
    few = only(study(pairs([10, 12, 11, 13, 12], [14, 17, 16, 18, 16])))
    assert few.p_wilcoxon > 0.05 and "Wilcoxon" not in few.sentence  # with 5 pairs it cannot get below 6 %


# --- pairs, gaps and oddities


def test_pairs_are_made_by_seed_whatever_the_order():
    dice = np.random.default_rng(7)
    rows = pairs(dice.normal(10, 5, 9), dice.normal(11, 5, 9))
    straight = only(study(rows))
    assert only(study([rows[i] for i in dice.permutation(18)])) == straight
    gaps = only(study([row for row in rows if row[:2] not in {("ideal", 2), ("wifi", 5), ("wifi", 6)}]))
    assert (gaps.pairs, gaps.unpaired) == (6, 3) and gaps.sentence.endswith("3 seeds without a pair left out")
    kept = [s for s in range(9) if s not in (2, 5, 6)]
    x, y = ([row[2] for row in rows if row[0] == model and row[1] in kept] for model in ("ideal", "wifi"))
    assert gaps.p == pytest.approx(stats.ttest_rel(y, x).pvalue)


def test_the_reference_is_the_studys_first_value_not_the_tables():
    rows = [("wifi", s, v) for s, v in enumerate([5, 6, 8])] + [("ideal", s, v) for s, v in enumerate([1, 2, 3])]
    found = findings(study(rows))
    assert found.differences[0].reference == "ideal" and found.axes == {"network.model": ["ideal", "wifi"]}


def test_mixed_values_are_matched_as_the_table_writes_them():
    axes = {"network.wifi.rate_mbps": [6, "auto", None]}
    rows = [(v, s, 10 * i + s * s) for i, v in enumerate(("6", "auto", "None")) for s in range(4)]
    found = findings(study(rows, axes))
    assert [level.n for level in found.levels] == [4, 4, 4]
    assert found.differences[0].sentence.startswith(
        "auto raises metrics.x by exactly 10 against network.wifi.rate_mbps = 6"
    )


def test_named_points_and_the_axis_that_is_named():
    axes = {"robots.scout.count": [10, 20], "model": {"all": {"a": 1}, "p50": {"a": 2}}}
    rows = [(c, m, s, c + s * s + (m == "p50")) for c in (10, 20) for m in ("all", "p50") for s in range(3)]
    found = findings(study(rows, axes, compare="model"))
    assert [(one.value, one.at) for one in found.differences] == [
        ("p50", {"robots.scout.count": 10}),
        ("p50", {"robots.scout.count": 20}),
    ]


def test_failed_runs_are_left_out_and_said():
    rows = pairs([1, 2, 3, 5], [2, 4, 4, 5])
    rows[-1] = ("wifi", 3, 999.0, {"status": "failed", "error": "the radio burnt\nat 3 s"})
    found = findings(study(rows))
    assert found.level("metrics.x", {"network.model": "wifi"}).most == 4
    assert found.differences[0].pairs == 3 and found.failures[0].error.startswith("the radio burnt")
    assert any("1 of 8 runs failed and are left out (1 at wifi)" in note for note in found.notes)


def test_runs_without_a_value_and_runs_not_made_are_said():
    rows = pairs([1, 2, 3, 5], [2, None, float("nan"), 5])
    found = findings(study(rows, seeds=6))
    assert found.level("metrics.x", {"network.model": "wifi"}).without == 2
    assert any("2 finished runs have no value of metrics.x (2 at wifi)" in note for note in found.notes)
    assert any("4 of 12 planned runs are not there yet" in note for note in found.notes)


def test_mixed_versions_are_said():
    rows = pairs([1, 2, 3], [2, 4, 4])
    assert findings(study(rows)).notes == []
    rows[0] = (*rows[0], {"robonet": "0.1.0"})
    assert any("0.1.0 (1 runs) and 0.2.0 (5 runs)" in note for note in findings(study(rows)).notes)


def test_a_study_without_axes_or_with_a_single_value():
    alone = findings(study([(s, 1.0 + s) for s in range(3)], {}))
    assert alone.levels[0].n == 3 and alone.differences == [] and "no axis" in alone.notes[0]
    single = findings(study([("wifi", s, 1.0 + s) for s in range(3)], {"network.model": ["wifi"]}))
    assert single.differences == [] and "single value" in single.notes[0]


# --- refusals


def test_a_metric_that_no_run_has_is_named_with_those_that_are_there(tmp_path):
    rows = [(*row, None) for row in pairs([1, 2, 3], [2, 4, 4])]
    folder = tmp_path / "runs" / "run0"
    folder.mkdir(parents=True)
    summary = {
        "packets": {"sent": 3},
        "metrics": {"completion_s": 4.5},
        "delay_s": {"mean": None},
        "status": "finished",
    }
    (folder / "summary.json").write_text(json.dumps(summary))
    found = findings(study(rows, metrics=("metrics.x", "metrics.completion"), folder=tmp_path))
    assert found.metrics == ["metrics.x"]
    said = found.notes[0]
    assert "no run has 'metrics.completion'" in said and "did you mean 'metrics.completion_s'" in said
    assert "they have packets.sent, metrics.completion_s" in said and "delay_s.mean" not in said
    null = findings(study(rows, metrics=("metrics.x", "delay_s.mean"), folder=tmp_path))
    assert "every summary says null" in null.notes[0]
    with pytest.raises(UserError, match="no run has 'metrics.x'"):
        findings(study(pairs([None], [None]), folder=tmp_path))


def test_a_study_without_a_finished_run_is_refused():
    failed = {"status": "failed", "error": "no memory\nsomewhere"}
    with pytest.raises(UserError, match="no run of this study has finished; run0: no memory$"):
        findings(study([("ideal", 1, None, failed), ("wifi", 1, None, failed)]))


def test_without_scipy_the_user_is_told_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    with pytest.raises(UserError, match=r"pip install 'robonet\[study\]'"):
        findings(study(pairs([1, 2], [2, 3])))


# --- as data, in the terminal, in figures of speech


def test_as_json_and_in_the_terminal():
    rows = pairs([1, 2, 3, 5], [2, 4, None, 5])
    found = findings(study(rows))
    data = json.loads(json.dumps(found.as_json(), allow_nan=False))
    assert data["tests"] == 1 and data["runs"] == {"planned": 8, "finished": 8, "failed": 0}
    assert data["differences"][0]["sentence"] == found.differences[0].sentence
    assert data["levels"][1]["by_seed"] == {"0": 2.0, "1": 4.0, "3": 5.0} and data["levels"][1]["n"] == 3
    from rich.console import Console

    console = Console(width=250, record=True, file=io.StringIO())
    console.print(findings_panel(found))
    text = console.export_text()
    assert found.differences[0].sentence in text and found.notes[0] in text and "95 % CI" in text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (-0.5, "−0.5"), (12.345, "12.3"), (1234.5, "1,234"), (0.000123, "0.000123"), (1e-9, "1e-09"),
     (None, "–"), (99.96, "100"), (2.5e7, "2.5e+07")],
)  # fmt: skip
def test_numbers(value, text):
    assert number(value) == text


def test_p_values_and_units():
    assert [p_words(p) for p in (0.0004, 0.0031, 0.032, 0.0496, 0.41, 1.0)] == [
        "p < .001", "p = .003", "p = .03", "p = .050", "p = .41", "p = 1"
    ]  # fmt: skip
    assert [unit_of(m) for m in ("delay_s.p95", "metrics.speed_m_s", "metrics.error_m", "hops.mean")] == [
        "s",
        "m/s",
        "m",
        "",
    ]
    assert label_of("metrics.completion_s") == "completion" and label_of("delay_s.mean") == "mean delay"
