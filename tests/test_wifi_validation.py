"""The `wifi` model against Bianchi's and ns-3, row by row; docs/validation.md is made of the same rows.

Sections are shorter here where their tolerance allows; no tolerance is wider than in the page.
"""

import sys

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT))

from benchmarks.validation import chain_break, page, reference, rows

SECTIONS = {
    "bianchi_table": rows.bianchi_table_rows,
    "bianchi": lambda: rows.bianchi_rows(share_of_time=0.5),
    "single": lambda: rows.single_rows(seconds=3.0),
    "contention": lambda: rows.contention_rows(seconds=10.0),
    "distance": rows.distance_rows,
    "hidden": rows.hidden_rows,
    "broadcast": lambda: rows.broadcast_rows(rounds=2000),
    "latency": rows.latency_rows,
    "discovery": lambda: rows.discovery_rows(seeds=10),
    "chain_goodput": lambda: rows.chain_goodput_rows(seeds=(1,)),
    "chain_break": rows.chain_break_rows,
}


def test_every_section_of_the_page_is_tested():
    assert list(SECTIONS) == list(rows.SECTIONS) == list(page.SECTIONS)


@pytest.mark.parametrize("section", SECTIONS)
def test_every_row_is_within_its_tolerance(section):
    found = list(SECTIONS[section]())
    assert found
    assert not page.failures(found), "\n".join(page.failures(found))


@pytest.mark.parametrize("seed", [2, 3])
@pytest.mark.parametrize("rules", ["ns3", "rfc3561"])
def test_the_chain_breaks_in_the_same_way_whatever_the_dice(seed, rules):
    outcome = chain_break.run(seed, rules)
    seen = [frame for frame in outcome.captures[0] if frame.kind not in ("HELLO", "ARP", "RREP-ACK")]
    expected = [(event.sender, event.kind, event.ttl) for event in reference.CHAIN_BREAK_NODE_0]
    assert [(frame.sender, frame.kind, frame.ttl) for frame in seen] == expected
    assert len(outcome.replies) == reference.CHAIN_BREAK_REPLIES


def test_rings_widen_as_rfc_3561_says():
    """2 * 40 ms * (TTL + 2) to the next ring, 2 * 40 ms * 35 after the whole network."""
    asked = [frame for frame in chain_break.run(1).captures[0] if frame.kind == "RREQ" and frame.sender == 0]
    assert [frame.ttl for frame in asked] == [1, 3, 6, 35, 35]
    first, second, third, fourth, fifth = (frame.time_s for frame in asked)
    jitter = 0.0101  # of either, up to 10 ms
    assert abs(second - first - 0.240) <= jitter
    assert abs(fourth - third - 0.640) <= jitter
    assert abs(fifth - fourth - 2.800) <= jitter


def test_the_page_has_no_row_that_does_not_hold():
    text = (ROOT / "docs" / "validation.md").read_text()
    assert page.YES in text
    assert page.NO not in text
    for section in page.SECTIONS.values():
        assert f"## {section.title}" in text
