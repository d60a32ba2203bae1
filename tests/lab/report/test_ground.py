"""The ground in the report: its model, the storage as read back, self-checks against theory, marks."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from lab.report.builders import MemoryRun, storage_run, thread_cache_run
from mydyno.lab.report.build import build
from mydyno.lab.report.charts.self_checks import self_checks_chart, short_text
from mydyno.lab.report.comparison_tables import storage_tables
from mydyno.lab.report.evidence import gather
from mydyno.lab.report.figures import GROUND, figures
from mydyno.lab.report.html import html
from mydyno.lab.report.text import markdown, summary
from mydyno.lab.report.views.page import Page, page
from mydyno.lab.results.records import SelfCheckRecord, TrialRecord
from mydyno.page.charts.draw import svg
from mydyno.page.charts.theme import SIZES
from mydyno.page.drawing import drawings

pytestmark = pytest.mark.usefixtures("checked_charts")


def view(run: MemoryRun) -> Page:
    return page(gather(run))


def changed(run: MemoryRun, **changes: object) -> MemoryRun:
    """Every trial with the same changes."""
    return replace(run, records=tuple(replace(each, **changes) for each in run.records))  # type: ignore[arg-type]


def in_ground(run: MemoryRun, point_id: str, **changes: object) -> MemoryRun:
    """The grounds of one point with changes."""

    def moved(trial: TrialRecord) -> TrialRecord:
        assert trial.ground is not None
        if trial.point_id != point_id:
            return trial
        return replace(trial, ground=replace(trial.ground, **changes))  # type: ignore[arg-type]

    return replace(run, records=tuple(map(moved, run.records)))


def with_check(run: MemoryRun, **changes: object) -> MemoryRun:
    def altered(check: SelfCheckRecord) -> SelfCheckRecord:
        return replace(check, **changes)  # type: ignore[arg-type]

    records = tuple(replace(each, self_checks=tuple(map(altered, each.self_checks))) for each in run.records)
    return replace(run, records=records)


def test_a_run_without_a_ground_shows_nothing_of_one():
    plain = view(thread_cache_run(connections=(10, 400)))
    assert plain.ground.empty
    assert plain.method.verified == ()
    text = html(plain, drawings(figures(plain))())
    assert 'id="ground"' not in text
    assert "theory" not in markdown(plain, figures(plain)) + summary(thread_cache_run(connections=(10,)))


def test_the_ground_is_reported_in_words_with_its_kernel_and_how_its_limits_count():
    (model,) = view(storage_run()).ground.models
    assert model.title == "a User-Mode Linux guest, kernel 6.1.176, 1 CPU, 1G of memory"
    assert model.budget == "a disk's limit counts reads and writes separately"
    assert [setting.title for setting in model.settings] == [
        "array = raid1",
        "array = raid5",
        "array = raid10",
    ]


def test_two_kernels_are_two_grounds_and_each_names_its_settings():
    shown = view(in_ground(storage_run(), "p3", kernel="6.12.9"))
    assert [(model.title.split(", ")[1], len(model.settings)) for model in shown.ground.models] == [
        ("kernel 6.1.176", 2),
        ("kernel 6.12.9", 1),
    ]
    assert "array = raid10: a User-Mode Linux guest, kernel 6.12.9" in markdown(shown, figures(shown))


def test_what_differs_in_the_storage_stands_apart_from_what_is_the_same():
    differing, same = storage_tables(view(storage_run()).ground)
    assert differing.columns == ("storage", "array = raid1", "array = raid5", "array = raid10")
    assert [row[0] for row in differing.rows] == ["data: devices", "data: array", "data: chunk"]
    assert differing.rows[2] == ("data: chunk", "–", "512K", "512K")
    assert ("log: devices", "/dev/ubdh") in same.rows


def test_many_settings_stand_below_each_other_with_the_facts_across():
    run = storage_run()
    extra = tuple(
        replace(point, point_id=f"x{place}", title=f"as {point.title}")
        for place, point in enumerate(run.experiment.points)
    )
    many = replace(run, experiment=replace(run.experiment, points=(*run.experiment.points, *extra)))
    table = storage_tables(view(many).ground)[0]
    assert table.columns[0] == "setting"
    assert [row[0] for row in table.rows][:2] == ["array = raid1", "array = raid5"]
    assert len(table.rows) == 6


def test_a_fact_that_was_not_the_same_in_all_trials_of_a_setting_is_a_dash():
    run = storage_run(arrays=("raid5",))
    first, *others = run.records
    assert first.ground is not None
    data, log = first.ground.volumes
    other = replace(data, facts={**data.facts, "chunk": "64K"})
    records = (replace(first, ground=replace(first.ground, volumes=(other, log))), *others)
    (same,) = storage_tables(view(replace(run, records=records)).ground)
    assert ("data: chunk", "–") in same.rows


def test_checks_are_averaged_over_trials_and_failed_ones_are_not_counted():
    rows = {(row.setting.title, row.volume, row.operation): row for row in view(storage_run()).ground.checks}
    log = rows["array = raid5", "log", "randwrite"]
    assert (len(log.measured_iops), log.expected_iops) == (2, 200)
    assert log.ratio == pytest.approx(sum(log.measured_iops) / 2 / 200)
    busy = rows["array = raid5", "data", "randwrite"]
    assert (len(busy.measured_iops), busy.least_idle, busy.tolerance) == (3, 0.04, 0.15)


def test_without_a_theory_the_measured_stands_alone():
    shown = view(with_check(storage_run(), expected_iops=None)).ground
    assert {row.ratio for row in shown.checks} == {None}
    assert "of" not in short_text(shown.checks[0])
    assert svg(self_checks_chart(shown, SIZES[0])).startswith("<svg")


def test_the_figure_has_a_dot_a_trial_and_a_line_for_what_is_expected():
    shown = view(storage_run()).ground
    for size in SIZES:
        drawn = svg(self_checks_chart(shown, size))
        assert drawn.count('aria-label="array = raid5, data, random writes: ') == 3
    assert "388 of 400 (97%)" in svg(self_checks_chart(shown, SIZES[0]))


def test_checks_that_all_failed_leave_no_figure_and_still_a_section():
    shown = view(with_check(storage_run(), measured_iops=None, error="fio: gone"))
    drawn = figures(shown)
    assert GROUND not in [figure.name for figure in drawn]
    assert 'id="ground"' in html(shown, drawings(drawn)())


def test_the_method_says_what_was_verified():
    first, second = view(storage_run()).method.verified
    assert (
        "checked with fio: 4K random writes and reads, bypassing the cache, 16 to 64 in flight, 2 s each"
        in first
    )
    assert second == ("26 of 27 checks could be compared with theory; 1 of 9 trials has a warning from them.")


def test_a_marked_trial_counts_and_carries_a_yellow_sign_with_its_text():
    shown = view(storage_run())
    assert (shown.method.valid, len(shown.trials.with_warnings)) == (9, 1)
    text = html(shown, drawings(figures(shown))())
    assert text.count('<span class="mark">2 warnings</span>') == 1
    assert 'href="#warnings"' in text
    assert "cpu-bound: data, 4K random writes: this environment is CPU-bound at this load" in text
    assert "the check failed: fio: No space left on device" in text


def test_the_kernel_of_the_machine_is_not_shown_for_that_of_the_guest():
    shown = view(storage_run())
    text = html(shown, drawings(figures(shown))())
    facts = text[text.index('<dl class="facts">') : text.index("</dl>")]
    assert "<dt>Storage environment</dt>" in facts
    assert "<dt>Kernel</dt>" not in facts


def test_words_of_tools_are_shown_and_never_obeyed(tmp_path):
    hostile = in_ground(changed(storage_run()), "p1", disk_model="<b>x</b>\x1b[31m", kernel="<i>6</i>")
    shown = view(hostile)
    text = html(shown, drawings(figures(shown))())
    assert "<b>x</b>" not in text
    assert "\x1b" not in text + summary(hostile) + markdown(shown, figures(shown))


def test_the_checks_are_a_csv_file_and_remarks_stand_in_that_of_the_trials(tmp_path):
    files = build(storage_run(), tmp_path)
    checks = pl.read_csv(files.paths["self-checks.csv"])
    assert checks.height == 27
    assert checks.filter(pl.col("error").is_not_null()).select("trial", "ratio").rows() == [("t002", None)]
    remarks = pl.read_csv(files.paths["trials.csv"]).filter(pl.col("remarks").is_not_null())
    assert set(remarks["trial"]) == {"t002"}
    assert (tmp_path / "self-check.png").exists()
    assert files.html.stat().st_size < 1_500_000
