"""A report of I/Os speaks of IOPS, queue depths and jobs, and sets settings side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from lab.report.builders import thread_cache_run
from lab.report.disks import disks_run
from mydyno.lab.analysis.metrics import IOS_PER_SECOND, READ_P99, WRITE_P99
from mydyno.lab.report.build import build
from mydyno.lab.report.comparison_tables import long_table
from mydyno.lab.report.csv import points_frame, trials_frame
from mydyno.lab.report.evidence import gather
from mydyno.lab.report.figures import figures
from mydyno.lab.report.text import markdown, summary
from mydyno.lab.report.views.page import page
from mydyno.lab.results.records import Invalidity

pytestmark = pytest.mark.usefixtures("checked_charts")

FOUR = ("1 disk", "raid0 x4", "raid5 x4", "raid10 x4")
QUERY_WORDS = ("quer", "connection", "statement", "test program")


def test_no_word_of_queries_is_in_a_report_of_ios() -> None:
    for run in (disks_run(names=FOUR), disks_run(names=FOUR, depths=(1, 64), mixed=True)):
        whole = page(gather(run))
        text = f"{summary(run)}{markdown(whole, figures(whole))}".lower()
        assert not [word for word in QUERY_WORDS if word in text]
        assert "iops" in text
        assert "queue depth" in text


def test_a_report_of_queries_speaks_of_them_as_ever() -> None:
    text = summary(thread_cache_run(repeats=3, connections=(10, 400), invalid=()))
    assert "Queries/s at 400 connections" in text
    assert "IOPS" not in text


def test_one_phase_a_trial_is_a_bar_a_setting_and_no_curve() -> None:
    whole = page(gather(disks_run()))
    assert [figure.name for figure in figures(whole)] == ["throughput", "latency", "overview"]
    [(place, group)] = whole.throughput_levels.groups
    assert (place, len(group)) == (64, 12)


def test_depths_of_a_few_settings_are_curves_against_queue_depth() -> None:
    whole = page(gather(disks_run(names=FOUR, depths=(1, 8, 64))))
    assert whole.throughput_levels.empty
    assert [figure.name for figure in figures(whole)] == [
        "overview",
        "throughput",
        "ratio",
        "latency",
        "effects",
    ]
    result = {figure.name: figure.picture_title for figure in figures(whole)}
    assert result["throughput"] == "I/Os per second against queue depth"


def test_more_settings_than_colours_are_set_side_by_side_at_each_depth() -> None:
    whole = page(gather(disks_run(depths=(1, 64))))
    assert [place for place, _ in whole.throughput_levels.groups] == [1, 64]
    assert "ratio" not in {figure.name for figure in figures(whole)}


def test_jobs_are_places_with_rates_and_not_work_that_is_given() -> None:
    evidence = gather(disks_run(names=FOUR[:2], labels=("readers", "writers")))
    assert not evidence.by_program
    whole = page(evidence)
    assert whole.verdicts.metric is IOS_PER_SECOND
    assert [place for place, _ in whole.throughput_levels.groups] == ["readers", "writers"]
    assert whole.programs.empty


def test_each_kind_of_io_has_its_own_tail() -> None:
    whole = page(gather(disks_run(names=FOUR, mixed=True)))
    assert [view.metric.noun for view in whole.latency_levels] == [
        "p99 read latency",
        "p99 write latency",
        "p99 fsync latency",
    ]
    writes_only = page(gather(disks_run(names=FOUR)))
    assert [view.metric for view in writes_only.latency_levels] == [WRITE_P99]
    assert READ_P99 not in [view.metric for view in writes_only.latency_levels]


def test_the_headline_of_one_place_names_it() -> None:
    headline = page(gather(disks_run())).verdicts.headline
    assert headline.startswith("For this load, array = raid0 x8 measured best of 12 settings: ")
    assert " at queue depth 64; array = raid0 x8 is faster than array = 1 disk by 651%" in headline


def test_the_table_of_comparisons_has_each_array_against_the_first() -> None:
    table = long_table(page(gather(disks_run())).comparison)
    assert table.columns == ("measured", "array", "mean", "trials", "against 1 disk", "verdict")
    assert table.rows[0][:2] == ("IOPS at queue depth 64", "1 disk")
    assert table.rows[0][-2:] == ("", "")
    assert table.rows[3][-1] == "faster"


def test_files_for_programs_name_ios_and_queue_depths() -> None:
    evidence = gather(disks_run(names=FOUR[:2], mixed=True))
    points, trials = points_frame(evidence), trials_frame(evidence)
    assert {"queue_depth", "ios_per_second", "read_latency_p99_ns", "write_latency_p99_ns"} <= set(
        points.columns
    )
    assert {"queue_depth_asked", "ios"} <= set(trials.columns)
    assert not [name for name in (*points.columns, *trials.columns) if "quer" in name or "connection" in name]
    assert points["ios_per_second"].dtype == pl.Float64


def test_an_invalid_trial_reports_at_which_queue_depth() -> None:
    run = disks_run(names=FOUR[:2], repeats=1)
    first = replace(
        run.records[0],
        status="invalid",
        invalidities=(Invalidity(check="errors", message="1 failed", phase=0),),
    )
    text = summary(replace(run, records=(first, *run.records[1:])))
    assert "errors at queue depth 64: 1 failed" in text


def test_a_setting_that_was_never_measured_is_reported_and_not_drawn_as_nothing() -> None:
    run = disks_run(names=FOUR)
    some = replace(run, records=tuple(each for each in run.records if each.point_id != "p2"))
    group = dict(page(gather(some)).throughput_levels.groups)[64]
    assert [level.at is None for level in group] == [False, True, False, False]
    assert figures(page(gather(some)))[0].draw


@pytest.mark.parametrize("labels", [(), ("readers", "writers")])
def test_the_report_is_written_and_its_first_picture_is_of_the_rates(
    tmp_path: Path, labels: tuple[str, ...]
) -> None:
    files = build(disks_run(names=FOUR, labels=labels, mixed=True), tmp_path)
    assert files.overview is not None
    assert files.overview.name == ("overview.png" if labels else "throughput.png")
    assert ("readers" if labels else "queue depth 64") in files.html.read_text()
