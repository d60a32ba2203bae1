"""The page of a rehearsal in Chromium: its forest is drawn, everyone can use it, nothing in it can run."""

from __future__ import annotations

from pathlib import Path

import pytest
from rehearse.builders import upgrade

from lab.report.test_in_browser import PHONE
from mydyno.core.synthetic import SAYS
from mydyno.rehearse.report.page import rehearsal_html

HOSTILE = "select '<script>document.title=\"owned\"</script><img src=x>' \u202e from t"
OPEN_ALL = "document.querySelectorAll('details').forEach((each) => { each.open = true; })"


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a synthetic trace, with two comparisons."""
    rehearsal = upgrade(*[HOSTILE] * 200)
    (one,) = rehearsal.comparisons
    comparisons = (one, one.model_copy(update={"other": "mariadb-12.0"}))
    file = tmp_path_factory.mktemp("rehearsal") / "rehearsal.html"
    file.write_text(
        rehearsal_html(rehearsal.model_copy(update={"synthetic": True, "comparisons": comparisons}))
    )
    return file


@pytest.mark.parametrize(("width", "dark"), [(1440, True), (PHONE, False)])
def test_axe_finds_no_violation_of_wcag_a_and_aa(chromium, page_file, width, dark):
    with chromium.page(width, dark=dark) as page:
        page.open(page_file)
        page.ask(OPEN_ALL)
        page.draw_all()
        assert page.ask("document.querySelectorAll('.is-live[role=img][aria-label]').length") == 2
        assert page.violations() == []


def test_nothing_runs_the_forest_is_whole_and_a_telephone_needs_no_sideways_scrolling(chromium, page_file):
    with chromium.page(PHONE) as page:
        page.open(page_file)
        page.ask(OPEN_ALL)
        page.draw_all()
        assert page.messages() == []
        assert page.ask("document.title") == "Rehearsal of shop.trace"
        assert page.ask("document.querySelectorAll('img').length") == 0
        assert page.ask("document.documentElement.scrollWidth") == PHONE
        shown = page.ask("document.body.innerText")
        assert SAYS in shown
        drawn = page.ask("document.querySelector('.live').textContent")
        assert "whole trace" in drawn
        assert "'<script>docu…<img src=x>'" in drawn
