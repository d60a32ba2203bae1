"""The table of comparisons: what stands across, what is held against what, and how it is told."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import polars as pl
import pytest

from lab.report.builders import one_point_run, thread_cache_run
from lab.report.reading import parse
from lab.report.releases import PROGRAMS, RELEASE, releases_run
from mydyno.core.errors import UsageError
from mydyno.lab.analysis.metrics import QUERIES_PER_SECOND, RUNNING_TIME
from mydyno.lab.report.build import build
from mydyno.lab.report.comparison_tables import cell_text, long_table, wide_table
from mydyno.lab.report.evidence import gather
from mydyno.lab.report.figures import figures
from mydyno.lab.report.html import durability, html
from mydyno.lab.report.report_options import ReportOptions
from mydyno.lab.report.text import summary
from mydyno.lab.report.views.comparison import ComparisonTable, Row
from mydyno.lab.report.views.page import Page, page
from mydyno.page.charts import theme
from mydyno.page.charts.draw import svg
from mydyno.page.drawing import drawings

pytestmark = pytest.mark.usefixtures("checked_charts")

LESS = "loses up to 1 s on OS crash"


@cache
def whole() -> Page:
    return page(gather(releases_run(durability={"mariadb-11.8": LESS}, invalid=[("mysql-9.7", "sql-bench")])))


def of(view: ComparisonTable, *labels: str) -> Row:
    """The row whose levels and place are `labels`."""
    (found,) = (row for row in view.rows if (*row.levels, str(row.place)) == labels)
    return found


def test_the_first_factor_is_across_and_the_loads_are_down_place_by_place():
    view = whole().comparison
    assert (view.factor, view.others) == (RELEASE, ("load",))
    assert [column.level for column in view.columns] == ["mysql-5.6", "mysql-9.7", "mariadb-11.8"]
    assert [(*row.levels, row.place) for row in view.rows] == [
        ("read only", 1),
        ("read only", 8),
        ("read only", None),
        ("point select", 8),
        *(("sql-bench", program) for program in PROGRAMS),
        ("sql-bench", None),
    ]


def test_each_row_has_the_metric_of_its_own_load():
    metrics = {row.levels[0]: row.metric for row in whole().comparison.rows}
    assert metrics == {
        "read only": QUERIES_PER_SECOND,
        "point select": QUERIES_PER_SECOND,
        "sql-bench": RUNNING_TIME,
    }


def test_every_cell_is_compared_with_the_first_column_of_its_own_row():
    row = of(whole().comparison, "point select", "8")
    first, slow, fast = row.cells
    assert first
    assert slow
    assert fast
    assert first.compared is None
    assert slow.compared
    assert fast.compared
    assert slow.compared.value == pytest.approx(0.8, rel=0.05)
    assert (slow.compared.outcome, fast.compared.outcome) == ("slower", "faster")
    assert slow.at
    assert slow.at.low
    assert slow.at.low < slow.at.value


def test_less_seconds_are_faster_and_the_ratio_is_one_of_times():
    cell = of(whole().comparison, "sql-bench", "None").cells[2]
    assert cell
    assert cell.compared
    assert cell.compared.value
    assert cell.compared.value == pytest.approx(1 / 1.3, rel=0.05)
    assert cell.compared.outcome == "faster"


def test_a_cell_without_a_valid_trial_says_so_and_has_no_number():
    row = of(whole().comparison, "sql-bench", "alter-table")
    assert cell_text(row, row.cells[1]).lines == ("–", "no valid trial")
    unfinished = releases_run(repeats=1)
    some = [each for each in unfinished.records if each.point_id != "p5"]
    view = page(gather(type(unfinished)(unfinished.experiment, tuple(some), {}))).comparison
    point_select = of(view, "point select", "8")
    assert cell_text(point_select, point_select.cells[1]).lines == ("–", "not run yet")


def test_trials_that_are_left_out_are_counted_beside_those_that_are_not():
    run = thread_cache_run(repeats=4, connections=(10,), invalid=(4,))
    (row,) = page(gather(run)).comparison.rows
    assert {cell_text(row, cell).size for cell in row.cells} == {"n=4", "n=3, 1 invalid"}


def test_without_trials_enough_there_is_neither_an_interval_nor_a_difference():
    row = of(page(gather(releases_run(repeats=2))).comparison, "point select", "8")
    cell = cell_text(row, row.cells[2])
    assert "(" not in cell.mean + cell.ratio
    assert not cell.shown
    assert cell.verdict == "not enough data"


def test_many_settings_with_too_few_trials_are_one_sentence():
    (sentence,) = page(gather(releases_run(repeats=2))).method.remarks
    assert sentence.startswith("9 of 9 settings: 2 valid trials; intervals and verdicts need at least 3")


def test_a_column_that_is_faster_for_less_durability_is_reported_to_be():
    view = whole().comparison
    assert [column.durability for column in view.columns] == ["durable", "durable", LESS]
    row = of(view, "point select", "8")
    assert cell_text(row, row.cells[2]).verdict == "faster but less durable"
    assert "less durable" in whole().verdicts.headline
    assert durability(whole())[-1] == ("mariadb-11.8", LESS)


def test_a_slower_column_that_is_more_durable_is_reported_to_be():
    run = releases_run(durability={"mysql-5.6": LESS})
    row = of(page(gather(run)).comparison, "point select", "8")
    assert cell_text(row, row.cells[1]).verdict == "slower but more durable"


def test_the_headline_counts_cases_and_there_is_a_sentence_for_each_column():
    found = whole().verdicts
    assert found.headline.startswith(
        "release: mariadb-11.8 is faster than mysql-5.6 in 3 of 3 cases of load: +29.4% to +31.2% speed"
    )
    assert [sentence.split(":")[0] for sentence in found.sentences] == [
        "mysql-9.7 against mysql-5.6",
        "mariadb-11.8 against mysql-5.6",
    ]
    assert "slower in 2 of 3 cases, read only −19." in found.sentences[0]
    assert "sql-bench −" in found.sentences[1]
    assert "in running time" in found.sentences[1]


def test_ties_share_the_headline():
    run = releases_run(releases={"a": 1.0, "b": 1.2, "c": 1.3}, loads={"x": (4,), "y": (4,)})
    headline = page(gather(run)).verdicts.headline
    assert headline.startswith(
        "release: b and c are faster than a in 2 of 2 cases of load each: +19.5% to +29.4%"
    )


def test_nobody_is_crowned_where_nothing_is_shown():
    run = releases_run(releases={"a": 1.0, "b": 1.0, "c": 0.8}, loads={"x": (4,), "y": (4,)})
    headline = page(gather(run)).verdicts.headline
    assert headline.startswith(
        "release: c is slower than a in 2 of 2 cases of load: −20.9% to −20.4% queries"
    )


def test_where_nothing_is_shown_the_headline_names_factors_levels_and_what_was_measured():
    run = releases_run(repeats=1, releases={"a": 1.0, "b": 1.0, "c": 0.8}, loads={"x": (4,), "y": (4,)})
    headline = page(gather(run)).verdicts.headline
    assert headline.startswith(
        "release: neither b nor c is shown to differ from a in any of 2 cases of load: −2"
    )
    assert headline.endswith("queries per second (no interval: that needs 3 valid trials of each).")


@pytest.mark.parametrize("name", ["load", RELEASE, "release"])
def test_another_factor_can_be_across_by_its_name_or_the_end_of_it(name):
    view = page(gather(releases_run(repeats=1), ReportOptions(columns=name))).comparison
    assert view.name == name.rpartition(".")[2]
    assert len(view.columns) == 3


def test_rows_of_one_load_have_no_column_of_what_was_measured():
    run = releases_run(loads={"x": (4,), "y": (4,)})
    assert wide_table(page(gather(run)).comparison).columns == (
        "load",
        *("mysql-5.6", "mysql-9.7", "mariadb-11.8"),
    )


def test_a_factor_that_is_not_there_is_named_with_those_that_are():
    with pytest.raises(
        UsageError, match=r"no factor lood\n  hint: its factors are server.release, load; did"
    ):
        gather(releases_run(repeats=1), ReportOptions(columns="lood"))
    with pytest.raises(UsageError, match="nothing varies"):
        gather(one_point_run(), ReportOptions(columns="load"))


def test_colours_are_those_of_the_columns_where_several_factors_vary():
    evidence = gather(releases_run(repeats=1))
    assert [setting.slot for setting in evidence.settings] == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    few = gather(releases_run(repeats=1, loads={"x": (4,), "y": (4,)}))
    assert [setting.slot for setting in few.settings] == [0, 0, 1, 1, 2, 2]


def test_test_programs_are_on_no_picture_of_rates_and_other_loads_on_none_of_seconds():
    view = whole()
    assert {setting.levels[1] for setting in view.programs.settings} == {"sql-bench"}
    shown = [level.setting.levels for _, group in view.throughput_levels.groups for level in group]
    assert {load for _, load in shown} == {"read only", "point select"}
    assert shown[:3] == [(release, "read only") for release in ("mysql-5.6", "mysql-9.7", "mariadb-11.8")]


def test_the_page_shows_the_table_first_with_the_labels_of_durability():
    tree = parse(html(whole(), drawings(figures(whole()))()))
    table = tree.by_id("comparison").all("table")[0]
    heads = [cell.words for cell in table.all("thead")[0].all("th")]
    assert heads[:2] == ["load", "measured"]
    assert [head.split()[0] for head in heads[2:]] == ["mysql-5.6", "mysql-9.7", "mariadb-11.8"]
    assert heads[4].endswith(LESS)
    shown = table.all("td", "shown")
    assert len(shown) == 4 * 2 + 3
    assert "None" not in table.words


@pytest.mark.parametrize("size", theme.SIZES)
def test_the_picture_has_a_mark_for_each_ratio_and_says_which_are_shown(size):
    (figure,) = (figure for figure in figures(whole()) if figure.name == "speed")
    drawn = svg(figure.draw(size))
    marks = re.findall(r'aria-label="(mysql-9.7|mariadb-11.8), ([^"]*)"', drawn)
    assert len(marks) == 4 + 7
    assert all("times as fast (" in result for _, result in marks)
    assert "NaN" not in drawn
    root = parse(drawn).all("svg")[0]
    assert float(root.attributes["width"]) <= size.width * 1.03


def test_a_difference_that_is_not_shown_is_a_hollow_mark():
    alike = page(gather(releases_run(releases={"a": 1.0, "b": 1.0}, loads={"x": (4,), "y": (4,)})))
    (figure,) = (figure for figure in figures(alike) if figure.name == "speed")
    drawn = svg(figure.draw(theme.WIDE))
    marks = re.findall(r'aria-label="b, [^>]*fill="([^"]*)"', drawn)
    assert set(marks) == {theme.PAPER}


def test_of_test_programs_the_picture_shows_speed_and_not_time():
    row = of(whole().comparison, "sql-bench", "None")
    cell = row.cells[2]
    assert cell is not None
    speed = cell.speed(row.metric)
    assert speed is not None
    value, low, high = speed
    assert low is not None
    assert high is not None
    assert low < value < high
    assert value == pytest.approx(1.3, rel=0.05)


def test_one_point_alone_has_no_table():
    alone = page(gather(one_point_run(connections=(10, 50))))
    assert alone.comparison.empty
    assert 'id="comparison"' not in html(alone, drawings(figures(alone))())


def test_a_narrow_place_has_a_line_for_each_cell():
    table = long_table(whole().comparison)
    assert table.columns == ("load", "measured", "release", "mean", "trials", "against mysql-5.6", "verdict")
    assert table.rows[1][:3] == ("", "", "mysql-9.7")
    assert len(table.rows) == 7 * 3
    assert "By release (queries/s: higher is better; seconds: lower is better)" in summary(
        releases_run(repeats=1)
    )


def test_the_file_has_a_row_for_each_cell(tmp_path: Path):
    files = build(releases_run(durability={"mariadb-11.8": LESS}), tmp_path)
    frame = pl.read_csv(files.paths["comparison.csv"])
    assert frame.height == 7 * 3
    row = frame.filter((pl.col("load") == "point select") & (pl.col(RELEASE) == "mariadb-11.8")).row(
        0, named=True
    )
    assert (row["connections"], row["metric"], row["unit"], row["better"]) == (
        8,
        "queries_per_second",
        "1/s",
        "higher",
    )
    assert (row["n"], row["invalid"], row["verdict"], row["less_durable"]) == (3, 0, "faster", True)
    assert row["ratio_low"] < row["ratio"] < row["ratio_high"]
