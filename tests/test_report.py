"""The report of a study: complete, self-contained, escaped; its figures show what the runs hold."""

import json
import shutil
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import SMALL
from PIL import Image

from robonet.errors import UserError
from robonet.experiments import figures, maps, traces
from robonet.experiments.findings import findings
from robonet.experiments.report import write_report
from robonet.experiments.results import read_results
from robonet.experiments.study import make_plan
from robonet.experiments.sweep import open_folder, sweep

pytestmark = pytest.mark.timeout(400)  # the runs may have to compile kernels first

STUDY = """
study: 1
name: little
description: Does <b>the model</b> & the team matter?
scenario: small.yaml
set: {duration_s: 2}
axes:
  network.model: [ideal, disk, wifi]
  robots.scout.count: [4, 8]
seeds: 3
metrics: [delivery_ratio, delay_s.mean, metrics.nowhere]
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Eighteen runs of two seconds."""
    folder = tmp_path_factory.mktemp("study")
    (folder / "small.yaml").write_text(SMALL)
    (folder / "study.yaml").write_text(STUDY)
    plan = make_plan(folder / "study.yaml")
    outcome = sweep(plan, folder / "out", open_folder(plan, folder / "out"), 2)
    assert outcome.ran == 18 and not outcome.failed
    return folder / "out"


@pytest.fixture(scope="module")
def report(made, tmp_path_factory):
    """Its report, and where that is."""
    out = tmp_path_factory.mktemp("report") / "report.html"
    assert write_report(made, out) == out
    return out


@pytest.fixture
def copy(made, tmp_path):
    """The same study with its tables of runs, to be spoilt."""
    return Path(shutil.copytree(made, tmp_path / "copy"))


def spoil(folder, change):
    """Rewrite the rows of results.parquet."""
    table = pq.read_table(folder / "results.parquet")
    rows = table.to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), folder / "results.parquet")


class Page(HTMLParser):
    """Words, tags and what they refer to."""

    def __init__(self, path):
        super().__init__()
        self.words, self.tags, self.links = "", [], []
        self._open = []
        self.feed(path.read_text(encoding="utf-8"))
        assert not self._open

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.links += [value for name, value in attributes if name in ("src", "href")]
        if tag not in ("meta", "img"):
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        self.words += data


def test_one_file_that_needs_nothing_else(report):
    page = Page(report)
    assert "script" not in page.tags and "link" not in page.tags
    assert page.links and all(
        link.startswith(("data:image/svg+xml;base64,", "data:image/png;base64,")) for link in page.links
    )
    assert report.stat().st_size < 5_000_000
    assert "<b>the model</b>" not in report.read_text() and "Does <b>the model</b> & the team matter?" in page.words


def test_all_that_was_asked_for_is_there(report, made):
    page = Page(report)
    words = page.words.replace("\N{NO-BREAK SPACE}", " ")
    found = findings(read_results(made))
    assert found.tests and all(one.sentence[1:] in words for one in found.differences)
    order = [words.index(head) for head in ("Read this first", "Findings", "Figures", "Tables", "Scenario", "Versions")]
    assert order == sorted(order)
    for said in ("no run has 'metrics.nowhere'"[1:], "18 of 18 finished", "robots.scout.params.speed_m_s", "numba",
                 "robonet sweep study.yaml", "3 to 5 (3)", "ideal | disk | wifi", f"All {found.tests} tests"):  # fmt: skip
        assert said in words, said
    for level in found.levels:
        if level.metric == "delivery_ratio":
            assert f"{level.mean:.3f}" in words
    assert page.tags.count("table") >= 5


def test_the_figures_lie_beside_it_and_are_pictures(report):
    folder = report.parent / "figures"
    names = {path.stem for path in folder.glob("*.svg")}
    assert names == {path.stem for path in folder.glob("*.png")}
    assert names == {"curve-delivery-ratio", "curve-delay-s-mean", "cdf-delivery-ratio", "cdf-delay-s-mean",
                     "cdf-packet-delay", "map-delivery", "graph-over-time"}  # fmt: skip
    assert len(Page(report).links) == len(names)
    for path in folder.glob("*.png"):
        with Image.open(path) as picture:
            assert picture.width > 1000 and np.asarray(picture.convert("L")).std() > 5, path
    for path in folder.glob("*.svg"):
        assert ElementTree.parse(path).getroot().tag.endswith("svg")


def test_the_same_study_makes_the_same_report(report, made, tmp_path):
    again = write_report(made, tmp_path / "again.html")
    assert again.read_bytes() == report.read_bytes()


def test_failures_versions_and_hostile_words(copy, report):
    def change(rows):
        rows[0].update(status="failed", error="<script>alert('no')</script>\nlost", **{"delivery_ratio": None})
        rows[1]["robonet"] = "0.0.9"

    spoil(copy, change)
    path = write_report(copy)
    assert path == copy / "report.html" and (copy / "figures" / "map-delivery.svg").is_file()
    page = Page(path)
    assert "script" not in page.tags and "<script>alert('no')</script>" in page.words
    assert "1 of 18 runs failed and are left out" in page.words and "Failed runs" in page.words
    assert "different versions of robonet, 0.0.9 (1 runs)" in page.words
    assert "Failed runs" not in Page(report).words


def test_runs_thrown_away_leave_a_report_of_the_table(copy):
    shutil.rmtree(copy / "runs")
    page = Page(write_report(copy))
    assert "Where packets got through" not in page.words and len(page.links) == 4


def test_refusals_write_nothing(copy, tmp_path):
    with pytest.raises(UserError, match="is not the folder of a study"):
        write_report(tmp_path)
    with pytest.raises(UserError, match="is a folder; name a file"):
        write_report(copy, tmp_path)
    spoil(copy, lambda rows: [row.update(status="failed", error="gone") for row in rows])
    with pytest.raises(UserError, match="no run of this study has finished"):
        write_report(copy)
    assert not (copy / "report.html").exists() and not (copy / "figures").exists()


def test_without_matplotlib_the_user_is_told_what_to_install(made, tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UserError, match=r"pip install 'robonet\[study\]'"):
        write_report(made, tmp_path / "r.html")


# --- what the figures show


def test_curves_go_through_the_means(made):
    found = findings(read_results(made))
    plot = figures.curves(found, "delivery_ratio", "robots.scout.count")
    panel = plot.figure.axes[0]
    lines = {line.get_label(): line for line in panel.get_lines()}
    assert list(lines) == ["ideal", "disk", "wifi"]
    for model, line in lines.items():
        means = [found.level("delivery_ratio", {"network.model": model, "robots.scout.count": n}).mean for n in (4, 8)]
        assert line.get_xdata().tolist() == [4, 8] and line.get_ydata().tolist() == pytest.approx(means)
    disk = found.level("delivery_ratio", {"network.model": "disk", "robots.scout.count": 8})
    band = panel.collections[1].get_paths()[0].vertices
    assert {disk.low, disk.high} <= set(band[band[:, 0] == 8][:, 1].tolist())


def test_boxes_show_every_run(made):
    found = findings(read_results(made))
    plot = figures.boxes(found, "delay_s.mean")
    assert len(plot.figure.axes) == 2 and plot.figure.axes[0].get_title(loc="left") == "robots.scout.count = 4"
    dots = plot.figure.axes[1].collections[1].get_offsets()
    level = found.level("delay_s.mean", {"network.model": "disk", "robots.scout.count": 8})
    assert sorted(dots[:, 1]) == pytest.approx(sorted(1e3 * value for value in level.by_seed.values()))
    assert "(ms)" in plot.figure.get_supylabel()


def test_the_delay_curve_ends_at_the_share_delivered(made):
    results = read_results(made)
    plot = figures.delay_cdf(results, findings(results))
    for panel, count in zip(plot.figure.axes, (4, 8), strict=True):
        for line in panel.get_lines():
            sent = delivered = 0
            for folder in (made / "runs").glob(f"{line.get_label()}-{count}-*"):
                packets = json.loads((folder / "summary.json").read_text())["packets"]
                sent, delivered = sent + packets["sent"], delivered + packets["delivered"]
            assert line.get_ydata()[-1] == pytest.approx(delivered / sent)
            assert (np.diff(line.get_ydata()) >= 0).all() and (np.diff(line.get_xdata()) >= 0).all()


def test_the_map_counts_what_was_sent_where(made):
    run = next((made / "runs").glob("disk-8-3-*"))
    part = traces.sends(run, traces.run_scenario_of(run))
    packets = pq.read_table(run / "tables" / "packets").to_pylist()
    poses = {(row["robot"], row["time_ns"]): row for row in pq.read_table(run / "tables" / "poses").to_pylist()}
    assert len(part.xy_m) == len(packets)
    step = 100_000_000
    for packet, (x, y), arrived in zip(packets, part.xy_m, part.has_arrived, strict=True):
        before, after = (poses[packet["source"], (packet["sent_ns"] // step + k) * step] for k in (0, 1))
        share = packet["sent_ns"] % step / step
        assert x == pytest.approx(before["x_m"] + share * (after["x_m"] - before["x_m"]), abs=1e-6)
        assert y == pytest.approx(before["y_m"] + share * (after["y_m"] - before["y_m"]), abs=1e-6)
        assert arrived == (packet["fate"] == "delivered")
    arena, _, shares = maps._shares([run])
    cell = np.floor((part.xy_m - arena.low_m) / (max(arena.size_m) / maps.CELLS)).astype(int)
    for i, j in {tuple(place) for place in cell.tolist()}:
        here = (cell == (i, j)).all(axis=1)
        expected = part.has_arrived[here].mean() if here.sum() >= maps.FEWEST_A_CELL else np.nan
        assert shares[i, j] == pytest.approx(expected, nan_ok=True)


def test_links_are_hops_where_they_were_recorded(made):
    run = next((made / "runs").glob("wifi-8-3-*"))
    seen = traces.moments(run, traces.run_scenario_of(run), 4)
    assert [moment.time_s for moment in seen] == pytest.approx([0.25, 0.75, 1.25, 1.75]) and seen[0].window_s == 0.5
    last = seen[-1]
    assert last.xy_m["base"] == (0, -15) and len(last.xy_m) == 9
    hops = {}
    for row in pq.read_table(run / "tables" / "hops").to_pylist():
        hops.setdefault(row["packet"], {})[row["hop"]] = row
    expected = {}
    for way in hops.values():
        for number, row in way.items():
            if number and 1.5e9 <= row["arrived_ns"] < 2e9:
                pair = tuple(sorted((way[number - 1]["node"], row["node"])))
                expected[pair] = expected.get(pair, 0) + 1
    assert last.links == expected != {}


def test_many_values_and_axes_still_make_figures(made):
    """Nine models and two more axes: panels and lines are bounded, and the caption says so."""
    from test_findings import study

    models = [f"model{i}" for i in range(9)]
    axes = {"network.model": models, "place": ["a", "b", "c", "d"], "kind": ["x", "y"]}
    rows = [
        (m, p, k, s, i + s * 0.1 + len(p))
        for i, m in enumerate(models) for p in axes["place"] for k in axes["kind"] for s in range(3)
    ]  # fmt: skip
    results = study(rows, axes)
    plots = list(figures.study_figures(results, findings(results)))
    assert [plot.name for plot in plots] == ["box-metrics-x", "cdf-metrics-x"]
    assert sum(panel.get_visible() for panel in plots[0].figure.axes) == 6
    assert "first 6 of 8 combinations" in plots[0].caption
    looks = {(line.get_color(), str(line._dash_pattern)) for line in plots[1].figure.axes[0].get_lines()}
    assert len(looks) == 9
