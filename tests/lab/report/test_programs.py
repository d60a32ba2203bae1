"""Runs of test programs, and of external programs: views, tables, texts, pages and files."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import polars as pl
import pytest

from lab.report.builders import (
    MemoryRun,
    phase,
    sql_bench_run,
    thread_cache_run,
    told_by_a_foreign_program,
)
from lab.report.reading import parse
from mydyno.lab.analysis.metrics import LATENCY_P95, QUERIES_PER_SECOND, RUNNING_TIME
from mydyno.lab.report.build import ReportFiles, build
from mydyno.lab.report.evidence import gather
from mydyno.lab.report.figures import figures
from mydyno.lab.report.html import html
from mydyno.lab.report.tables import operations_table, programs_table, trials_table
from mydyno.lab.report.text import summary
from mydyno.lab.report.views.page import Page, page
from mydyno.lab.results.records import Invalidity
from mydyno.page.charts import draw, theme
from mydyno.page.drawing import drawings

pytestmark = pytest.mark.usefixtures("checked_charts")

TWO = {"InnoDB": 1.0, "MyISAM": 0.8}
SHORT = ("ATIS", "insert", "wisconsin")


def two_engines(repeats: int = 3) -> MemoryRun:
    return sql_bench_run(repeats=repeats, engines=TWO, programs=SHORT)


@cache
def two_engines_page() -> Page:
    return page(gather(two_engines()))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> ReportFiles:
    return build(two_engines(), tmp_path_factory.mktemp("report"))


def last_program_cut(run: MemoryRun, trial_id: str) -> MemoryRun:
    """The last program of a trial ended early; the trial counts all the same."""

    def cut(each):
        last = replace(each.phases[-1], aborted="the server is gone")
        return replace(each, phases=(*each.phases[:-1], last))

    records = tuple(cut(each) if each.trial_id == trial_id else each for each in run.records)
    return replace(run, records=records)


def test_the_verdict_is_on_the_total_running_time_and_each_program_has_its_ratio():
    found = two_engines_page().verdicts
    assert found.metric is RUNNING_TIME
    assert found.outcome == "faster"
    assert re.match(
        r"engine = MyISAM is faster than engine = InnoDB by \d+\.\d% in running time \(95% CI",
        found.headline,
    )
    (ratios,) = found.ratios
    assert [row.place for row in ratios.rows] == [*SHORT, None]
    assert all(0.75 < (row.value or 0) < 0.85 for row in ratios.rows)
    assert found.others == (), "neither a rate nor a percentile of mixed statements says anything"


def test_one_engine_alone_is_shown_its_total():
    view = page(gather(sql_bench_run(repeats=3, engines={"InnoDB": 1.0}, programs=SHORT)))
    assert re.match(
        r"Running time of \d+ s in all test programs \(95% CI .* to .* s\), n=3\.", view.verdicts.headline
    )


def test_the_rows_are_the_programs_as_they_ran_and_the_total_is_that_of_whole_trials():
    view = two_engines_page().programs
    assert [row.program for row in view.rows] == [*SHORT, None]
    for place in range(2):
        *each, total = [row.seconds[place] for row in view.rows]
        assert total is not None
        assert total.value == pytest.approx(sum(cell.value for cell in each if cell), rel=1e-3)
        assert total.n == 3


def test_a_trial_with_a_program_that_ended_early_is_in_no_total():
    run = two_engines(4)
    of_first = next(each.trial_id for each in run.records if each.point_id == "p1")
    rows = {row.program: row for row in page(gather(last_program_cut(run, of_first))).programs.rows}
    counts = {name: row.seconds[0].n for name, row in rows.items() if row.seconds[0]}
    assert counts == {"ATIS": 4, "insert": 4, "wisconsin": 3, None: 3}


def test_curves_against_connections_are_left_out():
    view = two_engines_page()
    assert view.throughput.empty
    assert [figure.name for figure in figures(view)] == ["overview", "programs", "ratio"]
    assert [number.name for number in view.key_numbers] == ["Running time"]


def test_an_ordinary_run_has_no_programs():
    view = page(gather(thread_cache_run(repeats=1, connections=(10,))))
    assert view.programs.rows == ()
    assert view.operations.rows == ()


def test_the_phases_over_time_carry_the_names_of_their_programs():
    spans = two_engines_page().overview.panels[0].spans
    assert [span.place for span in spans] == list(SHORT)
    figure = figures(two_engines_page())[0]
    svg = draw.svg(figure.draw(theme.WIDE))
    assert "insert" in svg
    assert "test programs" in svg
    assert "its test program above" in figure.caption


@pytest.mark.parametrize("size", theme.SIZES)
def test_the_figure_names_programs_and_settings_and_fits_its_width(size):
    figure = next(figure for figure in figures(two_engines_page()) if figure.name == "programs")
    svg = draw.svg(figure.draw(size))
    root = parse(svg).all("svg")[0]
    assert float(root.attributes["width"]) <= size.width * 1.03
    result = {element.text for element in root.all("text")}
    assert {*SHORT, "total"} <= result
    assert ("engine = MyISAM" in result) is not size.narrow, "a narrow page has a legend of its own"
    assert "NaN" not in svg
    assert {theme.color(0), theme.color(1)} <= set(re.findall(r"#[0-9a-f]{6}", svg))


def test_a_total_far_above_the_programs_gets_a_logarithmic_axis():
    figure = next(figure for figure in figures(two_engines_page()) if figure.name == "programs")
    assert "logarithmic" in draw.svg(figure.draw(theme.WIDE))
    alike = page(gather(sql_bench_run(repeats=1, engines=TWO, programs=("ATIS", "wisconsin"))))
    (figure,) = (figure for figure in figures(alike) if figure.name == "programs")
    assert "logarithmic" not in draw.svg(figure.draw(theme.WIDE))


def test_the_table_reports_mean_interval_and_n():
    table = programs_table(two_engines_page().programs)
    assert table.columns == ("test program", "engine = InnoDB", "engine = MyISAM")
    assert [row[0] for row in table.rows] == [*SHORT, "total"]
    assert re.fullmatch(r"2\.\d\d s \(.* to .*\)\nn=3", table.rows[0][1])


def test_operations_report_both_counts_both_cpu_times_and_what_the_original_misses():
    view = page(gather(sql_bench_run(repeats=2, engines=TWO, programs=("insert", "select")))).operations
    table = operations_table(view)
    rows = {(row[0], row[1].splitlines()[0]): row for row in table.rows}
    assert rows["insert", "insert_duplicates"][2:4] == ("100,000", "100,002")
    assert re.fullmatch(
        r"1[78]\.\d s, n=2\nCPU: client 2\.7, server 1\d", rows["insert", "insert_duplicates"][4]
    )
    assert rows["insert", "delete_key"][1] == "delete_key\n(not in the original's totals)"
    assert rows["select", "max_group"][1] == "max_group\n(estimated: cut off by the time limit)"
    assert rows["insert", "insert"][1] == "insert"


def test_an_operation_without_a_reading_of_the_server_or_of_another_setting_shows_a_dash():
    run = two_engines(1)
    first, second = run.records
    (atis, *_) = first.phases
    blind = tuple(
        replace(each, server_cpu_user_s=None, server_cpu_system_s=None, failed=2, warning="a warning")
        for each in atis.operations
    )
    records = (
        replace(first, phases=(replace(atis, operations=blind),)),
        replace(second, phases=(replace(second.phases[0], operations=()),)),
    )
    table = operations_table(page(gather(replace(run, records=records))).operations)
    there = 4 if first.point_id == "p1" else 5
    assert table.rows[0][there].endswith("server –")
    assert table.rows[0][9 - there] == "–"
    assert table.rows[0][1].endswith("\n(2 failed; a warning)")


def test_totals_per_operation_sum_over_the_programs_of_a_trial_of_ours_as_the_suite_does():
    """`insert` is timed in alter-table and in insert; delete_key is missing in the totals of the original."""
    run = sql_bench_run(repeats=2, engines=TWO, programs=("alter-table", "insert"))
    view = page(gather(run)).operation_totals
    by_name = {row.name: row for row in view.rows}
    assert list(by_name) == [*sorted(name for name in by_name if name != "TOTALS"), "TOTALS"]
    assert "delete_key" not in by_name
    first, second = by_name["insert"].cells
    assert first.tests == (1000 + 350_768,)
    taken = [
        sum(each.elapsed_ns for phase in trial.phases for each in phase.operations if each.name == "insert")
        for trial in run.records
        if trial.point_id == view.settings[0].point_id
    ]
    assert first.elapsed_s == pytest.approx(sum(taken) / len(taken) / 1e9)
    assert first.client_cpu_s == pytest.approx(first.client_cpu_user_s + first.client_cpu_system_s)
    assert first.ratio is None
    assert second.ratio == pytest.approx(second.elapsed_s / first.elapsed_s)
    others = [row.cells[0].elapsed_s for row in view.rows if row.name != "TOTALS"]
    assert by_name["TOTALS"].cells[0].elapsed_s == pytest.approx(sum(others))


def test_operations_of_one_name_in_one_program_stay_apart_and_n_stays_a_number_of_trials():
    run = two_engines()

    def doubled(each):
        atis, *others = each.phases
        again = replace(atis, operations=(*atis.operations, atis.operations[0]))
        return replace(each, phases=(again, *others))

    view = page(gather(replace(run, records=tuple(map(doubled, run.records))))).operations
    seen = [(row.name, row.turn) for row in view.rows if row.program == "ATIS"]
    assert seen == [
        ("Insert into table", 1),
        ("select_simple_join", 1),
        ("select_group", 1),
        ("Insert into table", 2),
    ]
    assert {cost.n for row in view.rows for cost in row.costs if cost} == {3}
    assert operations_table(view).rows[3][1] == "Insert into table\n(occurrence 2 of this name)"


def test_trials_show_their_running_time_and_what_their_checks_found():
    table = trials_table(two_engines_page().trials)
    assert table.columns[4:] == (
        "running time",
        "of its median",
        "errors",
        "Threads_created",
        "checks",
        "took",
        "status",
    )
    assert re.fullmatch(r"\d\d+(\.\d)? s", table.rows[0][4])
    assert [row[8] for row in table.rows[:3]] == ["2 hold", "1 of 2 does not hold", "2 hold"]


def test_retries_and_reconnects_stand_beside_the_errors_when_there_were_some():
    run = thread_cache_run(repeats=1, connections=(10, 50), invalid=())
    assert "retries" not in trials_table(page(gather(run)).trials).columns
    first, second = run.records
    troubled = tuple(replace(each, retries=3, reconnects=1) for each in first.phases)
    view = page(gather(replace(run, records=(replace(first, phases=troubled), second)))).trials
    table = trials_table(view)
    assert table.columns[6:9] == ("errors", "retries", "reconnects")
    assert [row[7:9] for row in table.rows] == [("6", "2"), ("–", "–")]


def test_an_invalid_trial_names_the_program_in_which_it_was_seen():
    run = two_engines(1)
    reason = Invalidity(check="server-alive", message="it was gone", phase=1)
    broken = replace(run.records[0], status="invalid", invalidities=(reason,))
    text = summary(replace(run, records=(broken, *run.records[1:])))
    assert "server-alive in insert: it was gone" in text


def test_the_page_shows_the_programs_folds_the_operations_and_lists_the_checks():
    view = two_engines_page()
    tree = parse(html(view, drawings(figures(view))()))
    section = tree.by_id("programs")
    (folded,) = section.all("details")
    assert folded.all("summary")[0].words == "The numbers"
    assert [title.words for title in folded.all("h3")] == ["Totals per operation", "Operations"]
    assert "select_simple_join" in folded.words
    (compared,) = tree.by_id("comparison").all("table")
    assert "seconds in ATIS" in compared.words
    assert "select_simple_join" not in compared.words
    validity = tree.by_id("validity")
    assert "rows of fare does not hold: 2,534 of 2,536" in validity.all("ul", "invalid-trials")[0].words
    rows = validity.all("details")[0].all("tr")[1:]
    assert len(rows) == 2 * 6
    assert sum(row.words.endswith("holds") for row in rows) == 11
    assert "None" not in tree.all("main")[0].words


def test_the_files_hold_programs_operations_and_labels(files):
    compared = pl.read_csv(files.paths["comparison.csv"])
    assert compared.height == 8
    assert compared["label"].to_list()[::2] == [*SHORT, None]
    total = compared.row(7, named=True)
    assert total["ratio_low"] < total["ratio"] < total["ratio_high"] < 1
    assert (total["metric"], total["unit"], total["verdict"]) == ("running_time", "s", "faster")
    assert pl.read_csv(files.paths["operations.csv"]).height == 6 * 9
    trials = pl.read_csv(files.paths["trials.csv"])
    assert trials["label"].to_list()[:3] == list(SHORT)
    assert trials["retries"].to_list()[:3] == [0, 0, 0]
    points = pl.read_csv(files.paths["points.csv"])
    assert points["label"].to_list() == [*SHORT, *SHORT]
    assert points["connections"].null_count() == 6
    assert {path.name for path in files.pictures if path.suffix == ".png"} == {
        "overview.png",
        "programs.png",
        "ratio.png",
    }


def test_the_documentation_names_the_files_of_test_programs(files):
    text = (Path(__file__).parents[3] / "docs" / "reference" / "report.md").read_text()
    for path in (files.paths["comparison.csv"], files.paths["operations.csv"]):
        assert f"`{path.name}`" in text
    assert "`programs`" in text


def test_hostile_labels_are_shown_and_never_obeyed():
    run = sql_bench_run(repeats=1, engines=TWO, programs=("ATIS",))
    evil = '<script>alert("1")</script>\x1b[2J'

    def poisoned(each):
        (only,) = each.phases
        operations = tuple(replace(one, name=evil, warning=evil) for one in only.operations[:1])
        checks = tuple(replace(check, name=evil, detail=evil) for check in each.checks)
        return replace(each, phases=(replace(only, label=evil, operations=operations),), checks=checks)

    run = replace(run, records=tuple(map(poisoned, run.records)))
    view = page(gather(run))
    text = html(view, drawings(figures(view))())
    scripts = parse(text).all("script")
    assert len([script for script in scripts if script.attributes.get("type") != "application/json"]) == 2
    assert "\x1b" not in text
    assert "\x1b" not in summary(run)


def foreign_run(point_ids: tuple[str, ...] | None = None, repeats: int = 3) -> MemoryRun:
    return told_by_a_foreign_program(
        thread_cache_run(repeats=repeats, connections=(10, 100), invalid=()), point_ids
    )


def test_a_foreign_program_that_gives_p95_alone_is_shown_by_p95():
    view = page(gather(foreign_run()))
    assert [curves.empty for curves in view.latency] == [False, True]
    assert "latency" in {figure.name for figure in figures(view)}
    assert "connect" not in {figure.name for figure in figures(view)}
    assert [number.name for number in view.key_numbers][:2] == ["Queries/s", "P95 latency"]
    assert [one.metric for one in view.verdicts.others] == [LATENCY_P95]


def test_beside_our_own_engine_what_it_does_not_report_is_a_dash():
    view = page(gather(foreign_run(("p2",))))
    p95, p99 = view.latency
    assert [bool(curve.points) for curve in p99.curves] == [True, False]
    assert all(curve.points for curve in p95.curves)
    text = summary(foreign_run(("p2",)))
    assert re.search(r"P95 latency at 100 connections +\S+ ms +\S+ ms", text)
    assert re.search(r"Mean connect time at 100 connections +\S+ (ms|µs) +–", text)


def test_the_page_and_the_files_of_a_foreign_program_are_whole(tmp_path):
    made = build(foreign_run(("p2",), repeats=1), tmp_path)
    main = parse(made.html.read_text()).all("main")[0].words
    assert "None" not in main
    assert "nan" not in main.split()
    assert "operations.csv" not in made.paths
    rows = pl.read_csv(made.paths["trials.csv"]).filter(pl.col("point") == "p2")
    assert rows["latency_p99_ns"].null_count() == rows.height
    assert rows["connect_mean_ns"].null_count() == rows.height
    assert rows["latency_p95_ns"].null_count() == 0


def test_a_given_rate_is_judged_by_p95_where_no_more_is_reported():
    run = foreign_run()
    response = tuple(
        replace(each, phases=tuple(replace(one, latency_kind="response") for one in each.phases))
        for each in run.records
    )
    assert page(gather(replace(run, records=response))).verdicts.metric is LATENCY_P95


def test_programs_beside_a_load_at_connections_are_no_run_of_programs():
    run = two_engines(1)
    first, second = run.records
    mixed = replace(run, records=(first, replace(second, phases=(phase(0, 10, 900.0),))))
    view = page(gather(mixed))
    assert view.verdicts.metric is QUERIES_PER_SECOND
    assert view.throughput.connections == (10,)
    assert [row.program for row in view.programs.rows] == [*SHORT, None]
    assert len(view.programs.settings) == 1, "what runs no program has no place among them"
    assert summary(mixed)
