"""The page of a digest in Chromium: quick, inert, usable by everyone, on every screen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from queries.builders import digest

from lab.report.digests import full, hostile, many, nights
from lab.report.test_in_browser import PHONE
from mydyno.queries.comparison import compare
from mydyno.queries.report.page import comparison_html, digest_html

SHOWN = "[...document.querySelectorAll('.statements tbody tr')].filter((row) => row.checkVisibility())"


def written(text: str, folder: Path, name: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(digest_html(full()), tmp_path_factory.mktemp("digest"), "night.html")


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(digest_html(many(2_000)), tmp_path_factory.mktemp("digest"), "busy.html")


@pytest.fixture(scope="module")
def two_nights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(comparison_html(nights()), tmp_path_factory.mktemp("comparison"), "nights.html")


@pytest.mark.parametrize(
    ("which", "width", "dark"),
    [("night", 1200, True), ("night", PHONE, False), ("two_nights", 1200, False)],
)
def test_axe_finds_no_violation_of_wcag_a_and_aa(chromium, request, which, width, dark):
    with chromium.page(width, dark=dark) as page:
        page.open(request.getfixturevalue(which))
        page.ask("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        page.draw_all()
        assert page.violations() == []


@pytest.mark.parametrize(
    ("made", "title"),
    [
        (lambda: digest_html(hostile()), "One of 13 statements takes 90% of the time"),
        (lambda: comparison_html(compare(hostile(), digest(*hostile().groups[:3]))), "statements: 9 gone"),
    ],
)
def test_nothing_that_came_in_can_run_and_all_of_it_is_shown(chromium, tmp_path, made, title):
    with chromium.page() as page:
        page.open(written(made(), tmp_path, "hostile.html"))
        page.ask("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        page.draw_all()
        assert page.messages() == []
        assert title in page.ask("document.title")
        assert page.ask("document.querySelectorAll('img').length") == 0
        assert page.ask(
            "document.body.innerText.includes(\"<script>document.title='owned'</script><img src=x\")"
        )


def test_charts_are_drawn_and_the_load_is_zoomed_along_its_time(chromium, night):
    ticks = (
        "[...document.querySelectorAll('#load .live .role-axis-label text')]"
        ".map((each) => each.textContent).join(' ')"
    )
    with chromium.page() as page:
        page.open(night)
        page.draw_all()
        assert page.messages() == []
        whole = page.ask(ticks)
        assert "03:15" in whole
        page.ask("document.querySelector('#load [aria-label=\"zoom in\"]').click()")
        page.ask("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert page.ask(ticks) != whole


@pytest.mark.parametrize("which", ["night", "two_nights"])
def test_a_telephone_needs_no_sideways_scrolling_of_the_page(chromium, request, which):
    with chromium.page(PHONE) as page:
        page.open(request.getfixturevalue(which))
        page.ask("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        page.draw_all()
        assert page.ask("document.documentElement.scrollWidth") == PHONE


def test_2000_statements_take_little_of_a_processor_to_open_and_50_are_shown(chromium, busy):
    with chromium.page() as page:
        page.call("Performance.enable", timeDomain="threadTicks")
        page.open(busy)
        assert page.ask(f"{SHOWN}.length") == 50
        metrics = page.call("Performance.getMetrics")["metrics"]
    spent_s = {each["name"]: each["value"] for each in metrics}["TaskDuration"]
    assert 0 < spent_s < 1.5


def test_the_table_is_searched_sorted_and_shown_whole(chromium, busy):
    first = f"{SHOWN}[0].cells[1].textContent"
    with chromium.page() as page:
        page.open(busy)
        page.ask("document.querySelector('th[data-key=rows_examined] button').click()")
        assert "table_1999" in page.ask(first)
        assert page.ask("document.querySelector('th[data-key=rows_examined]').ariaSort") == "descending"
        page.ask("document.querySelector('th[data-key=rows_examined] button').click()")
        assert "table_0" in page.ask(first)
        page.ask(
            "(() => { const input = document.querySelector('.find input');"
            " input.value = 'WEB table_19 kind'; input.dispatchEvent(new Event('input')); })()"
        )
        assert page.ask(f"{SHOWN}.length") == 50
        assert page.ask("document.querySelector('.find output').textContent") == (
            "50 of 2000 shown, 110 match"
        )
        page.ask("document.querySelector('.more-rows button').click()")
        assert page.ask(f"{SHOWN}.length") == 110


def test_a_link_to_a_statement_unfolds_it_or_shows_its_row(chromium, busy):
    arrived = """(async (id) => {
      location.hash = id;
      const top = () => document.getElementById(id).getBoundingClientRect().top;
      const there = () => document.getElementById(id).checkVisibility() && top() >= 0 && top() < innerHeight;
      const frame = () => new Promise((done) => requestAnimationFrame(done));
      for (let turn = 0; !there() && turn < 300; turn++) await frame();
      return there();
    })"""
    groups = many(2_000).groups
    with chromium.page() as page:
        still = [{"name": "prefers-reduced-motion", "value": "reduce"}]
        page.call("Emulation.setEmulatedMedia", features=still)
        page.open(busy)
        for place in (9, 1_500):
            assert page.ask(f"{arrived}({json.dumps(groups[place].id)})")


def test_without_script_every_statement_is_there_with_its_pictures(chromium, busy):
    with chromium.page(script=False) as page:
        page.open(busy)
        root = page.call("DOM.getDocument")["root"]["nodeId"]
        rows = page.call("DOM.querySelectorAll", nodeId=root, selector=".statements tbody.more tr")["nodeIds"]
        stills = page.call("DOM.querySelectorAll", nodeId=root, selector="figure .still svg")["nodeIds"]
        box = page.call("DOM.getBoxModel", nodeId=rows[-1])["model"]
    assert len(rows) == 1_950
    assert len(stills) == 1
    assert box["height"] > 0


@pytest.mark.parametrize("which", ["night", "two_nights"])
def test_printed_it_fits_a_sheet_and_has_nothing_to_press(chromium, request, which):
    a4_px = 688
    with chromium.page(a4_px) as page:
        page.open(request.getfixturevalue(which))
        page.draw_all()
        page.ask("dispatchEvent(new Event('beforeprint'))")
        page.call("Emulation.setEmulatedMedia", media="print")
        assert page.ask("document.documentElement.scrollWidth") == a4_px
        for hidden in ("nav", ".find", ".more-rows", ".between"):
            assert page.ask(f"getComputedStyle(document.querySelector('{hidden}')).display") == "none", hidden
