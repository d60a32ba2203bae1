"""The section of failed points: one sentence a point, each reason once, and only as long as they fail."""

from __future__ import annotations

from dataclasses import replace

from lab.report.builders import MemoryRun, thread_cache_run
from mydyno.lab.report.evidence import gather
from mydyno.lab.report.html import html
from mydyno.lab.report.text import markdown, summary
from mydyno.lab.report.views.page import page
from mydyno.lab.results.records import Invalidity, TrialRecord


def failing() -> MemoryRun:
    """Every trial of the second point failed, but the last, which was not tried."""
    run = thread_cache_run(connections=(10,), repeats=3, invalid=())
    of_point = [trial for trial in run.records if trial.point_id == run.experiment.points[1].point_id]
    return replace(
        run, records=tuple(_failed(trial, of_point) if trial in of_point else trial for trial in run.records)
    )


def _failed(trial: TrialRecord, of_point: list[TrialRecord]) -> TrialRecord:
    last = trial is of_point[-1]
    reason = (
        Invalidity(check="skipped", message="not tried: 2 trials of this point failed in the same step")
        if last
        else Invalidity(check="failed", message=f"mount data: <refused> at 10:00:0{trial.index}")
    )
    return replace(trial, status="invalid", invalidities=(reason,), phases=(), counters={})


def test_a_failed_point_is_in_every_form_of_the_report_with_each_reason_once() -> None:
    view = page(gather(failing()))
    result = "FAILED thread_cache_size = 450: 2 of 3 trials failed, 1 was not tried\n  mount data: <refused>"
    terminal = summary(failing())
    assert result in terminal
    assert terminal.count("<refused>") == 1
    assert "INVALID" not in terminal
    assert "**FAILED** thread_cache_size = 450: 2 of 3 trials failed" in markdown(view, [])
    written = html(view, [])
    assert 'id="failures"' in written
    assert "mount data: &lt;refused&gt;" in written


def test_a_point_that_was_measured_in_a_later_attempt_is_not_among_the_failed_ones() -> None:
    run = failing()
    whole = thread_cache_run(connections=(10,), repeats=3, invalid=())
    later = [
        replace(again, attempt=2)
        for again, trial in zip(whole.records, run.records, strict=True)
        if not trial.measured
    ]
    assert page(gather(replace(run, records=(*run.records, *later)))).failures == ()
