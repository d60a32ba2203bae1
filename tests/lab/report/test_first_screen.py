"""What a reader sees first: one answer, one table, one chart, and every number is one of the data."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab.report.builders import MemoryRun, one_point_run, sql_bench_run, storage_run, thread_cache_run
from lab.report.crossed import arrays_run
from lab.report.reading import parse
from lab.report.releases import releases_run
from mydyno.lab.report.build import build
from mydyno.lab.report.evidence import gather
from mydyno.lab.report.html import LEADS
from mydyno.lab.report.views.page import page
from mydyno.page.format import count, latency, number

RUNS: dict[str, Callable[[], MemoryRun]] = {
    "two settings": lambda: thread_cache_run(repeats=3, connections=(10, 100), invalid=()),
    "noisy": lambda: noisy(),
    "one invalid": lambda: thread_cache_run(repeats=4, connections=(10, 100)),
    "not repeated": lambda: thread_cache_run(repeats=1, connections=(10, 100), invalid=()),
    "unfinished": lambda: unfinished(),
    "several settings": lambda: thread_cache_run(
        levels=(8, 64, 256, 450), repeats=3, connections=(10, 100), invalid=()
    ),
    "one point": lambda: one_point_run(connections=(10, 100)),
    "arrays": arrays_run,
    "storage": storage_run,
    "programs": sql_bench_run,
    "releases": releases_run,
}
_NUMBER = re.compile(r"(?<![\w.#])[+-]?(?:\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)(?!\w|\.\d)")


def noisy() -> MemoryRun:
    """Rates that differ from block to block by a factor, so that arithmetic and geometric means do too."""
    run = thread_cache_run(repeats=4, connections=(10, 100), invalid=())
    factors = (1.0, 0.2, 1.7, 0.5, 0.9, 1.4, 0.3, 1.1)
    records = [
        replace(
            trial,
            phases=tuple(
                replace(phase, queries_per_second=(phase.queries_per_second or 0) * factor)
                for phase in trial.phases
            ),
        )
        for trial, factor in zip(run.records, factors, strict=True)
    ]
    return replace(run, records=tuple(records))


def unfinished() -> MemoryRun:
    run = thread_cache_run(repeats=3, connections=(10, 100), invalid=())
    return replace(
        run, records=run.records[:4], experiment=replace(run.experiment, planned_trials=len(run.records))
    )


@pytest.fixture(scope="module", params=list(RUNS))
def report(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(RUNS[request.param](), tmp_path_factory.mktemp("first")).html.parent


def first_screen(folder: Path) -> list[str]:
    """The lines of the header: headline, notices and table."""
    header = parse((folder / "report.html").read_text()).by_id("verdict")
    heading = [header.all("h1")[0].words]
    table = [cell.words for box in header.all(css_class="box") for cell in box.all("tbody")[0].all("td")]
    return [text.replace("−", "-") for text in heading + table]


def values(document: Any) -> Iterator[float]:
    """Every number of the report's JSON."""
    if isinstance(document, dict):
        for each in document.values():
            yield from values(each)
    elif isinstance(document, list):
        for each in document:
            yield from values(each)
    elif isinstance(document, int | float) and not isinstance(document, bool):
        yield float(document)


def shown(value: float) -> set[str]:
    """How a number of the data may stand on the page: as such, as a ratio in percent, as a latency."""
    said = {count(value), number(value), number(value, 4), f"{value:.3f}", f"{value:g}"}
    said |= {latency(value).partition(" ")[0]} if value > 0 else set()
    # Of a time, how much faster is its inverse.
    for percent in (100 * (value - 1), 100 * (1 - value), *((100 * (1 / value - 1),) if value else ())):
        for digits in (0, 1, 2, 3):
            text = f"{percent:.{digits}f}"
            said |= {text, f"+{text}"}
    return {each.replace("−", "-") for each in said}


def test_every_number_of_the_first_screen_is_one_of_the_data(report):
    document = json.loads((report / "report.json").read_text())
    known = {text for value in values(document) if math.isfinite(value) for text in shown(value)}
    # The level of every interval, and the names of settings and places, which hold numbers too.
    names = json.dumps([document["experiment"], document["factors"], document["points"]])
    known |= {"95", "3"} | set(re.findall(r"\d+(?:\.\d+)?", names))
    foreign = [
        (found.strip(), text)
        for text in first_screen(report)
        for found in _NUMBER.findall(text)
        if found.strip() not in known
    ]
    assert foreign == []


def test_the_best_of_the_headline_is_the_mean_of_the_table_below_it(tmp_path):
    header = parse(build(RUNS["several settings"](), tmp_path).html.read_text()).by_id("verdict")
    best = re.search(r"of 4 settings: ([\d,]+) queries", header.all("h1")[0].words)
    assert best is not None
    means = [each.words for each in header.all(css_class="mean")]
    assert any(mean.startswith(f"{best[1]} (") for mean in means), (best[1], means)


def test_the_ratio_is_that_of_the_two_means_beside_it_even_where_trials_differ_by_factors(tmp_path):
    made = build(RUNS["noisy"](), tmp_path).page
    for row in made.comparison.rows:
        first, other = row.cells
        assert first is not None
        assert other is not None
        assert first.at is not None
        assert other.at is not None
        assert other.compared is not None
        assert other.compared.value == pytest.approx(other.at.value / first.at.value)
        assert first.at.low is not None
        assert first.at.low > 0, "an interval of a rate never reaches 0"


def test_the_first_screen_is_the_verdict_one_table_and_one_chart(report):
    text = (report / "report.html").read_text()
    header = parse(text).by_id("verdict")
    assert len(header.all("h1")) == 1
    assert len(header.all("table")) <= 1
    assert header.all(css_class="sentences") == []
    before = parse(text[text.index("<main") : text.index("<nav")].replace("<main", "<div") + "</div>")
    assert len(before.all("figure")) == 1
    assert before.all("section")[0].attributes["id"] in LEADS


def test_an_unfinished_run_says_how_much_of_it_is_done_and_what_is_repeated(tmp_path):
    made = build(unfinished(), tmp_path).page
    assert made.method.trials == "4 of 6 trials done, 4 valid"
    assert "nothing was repeated" not in (made.effects.sentence or "")


def test_cards_of_threads_and_connecting_are_only_where_a_factor_is_about_them():
    def names(run: MemoryRun) -> list[str]:
        return [one.name for one in page(gather(run)).key_numbers]

    assert "Threads_created" in names(thread_cache_run(repeats=1, connections=(10, 100), invalid=()))
    of_disks = names(storage_run())
    assert of_disks
    assert not {"Threads_created", "Max_used_connections", "Mean connect time"} & set(of_disks)


WIDTHS = (390, 1440)
_TOO_WIDE = """(() => {
  document.querySelectorAll('details:not(.trial)').forEach((each) => { each.open = true; });
  return new Promise((done) => setTimeout(done, 0)).then(() => new Promise((done) =>
    requestAnimationFrame(() => requestAnimationFrame(done)))).then(() =>
    [...document.querySelectorAll('main *')]
      .filter((each) => each.checkVisibility() && !each.closest('svg, pre, .unseen, .skip, thead')
        && each.getBoundingClientRect().width > 0
        && (each.getBoundingClientRect().right > innerWidth + 0.5 || each.getBoundingClientRect().left < -0.5
            || (each.matches('.box, nav, td, th, li, h1, p') && each.scrollWidth > each.clientWidth + 1
                && getComputedStyle(each).display !== 'inline')))
      .map((each) => `${each.tagName}.${each.className} of ${each.closest('[id]')?.id}: `
        + each.textContent.trim().slice(0, 60))
      .slice(0, 5));
})()"""


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_wider_than_the_window_of_a_telephone_or_a_desktop(chromium, report, width):
    with chromium.page(width) as tab:
        tab.open(report / "report.html")
        tab.draw_first()
        assert tab.ask(_TOO_WIDE) == []
