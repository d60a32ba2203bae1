"""Options of a report: another metric, another margin, one family of verdicts."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest

from lab.report.builders import MemoryRun, thread_cache_run
from lab.report.releases import releases_run
from mydyno.core.errors import UsageError
from mydyno.lab.report.comparison_tables import comparison_caption
from mydyno.lab.report.evidence import gather
from mydyno.lab.report.report_options import ReportOptions, metric_named
from mydyno.lab.report.text import markdown, terminal
from mydyno.lab.report.views.curves import curves
from mydyno.lab.report.views.method import method
from mydyno.lab.report.views.page import page
from mydyno.lab.report.views.verdicts import compared_rows, verdicts
from mydyno.lab.results.records import DesignRecord


def small() -> MemoryRun:
    return thread_cache_run(connections=(10, 50), invalid=())


def test_verdicts_are_about_the_metric_that_is_asked_for() -> None:
    found = verdicts(gather(small(), ReportOptions(metric="connect_p95")))
    assert found.metric.name == "connect_p95"
    assert "p95 connect time" in found.headline


def test_an_unknown_metric_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(UsageError, match=r"unknown metric latency_p98\n  hint: did you mean latency_p9\d"):
        gather(small(), ReportOptions(metric="latency_p98"))
    with pytest.raises(UsageError, match="ios_per_second"):
        metric_named("queries_per_second", "ios")


def test_a_wider_margin_calls_more_of_it_no_difference() -> None:
    strict, lenient = (verdicts(gather(small(), ReportOptions(margin=margin))) for margin in (0.001, 0.5))
    assert strict.outcome != "no-difference"
    assert lenient.outcome == "no-difference" or "within the equivalence margin of 50%" in lenient.headline


def test_a_sequential_design_says_what_its_intervals_are_corrected_for() -> None:
    run = small()
    design = DesignRecord(until=0.03, first_look=3, at_most=20)
    whole = page(gather(replace(run, experiment=replace(run.experiment, design=design))))
    assert "corrected for looking up to 18 times)" in whole.verdicts.headline
    assert comparison_caption(whole.comparison).endswith("corrected for looking up to 18 times.")


def test_an_outlier_is_a_warning_and_the_verdict_without_it_is_given() -> None:
    run = thread_cache_run(connections=(10, 50), invalid=(), repeats=5)
    records = [
        replace(
            record,
            phases=tuple(
                replace(each, queries_per_second=(each.queries_per_second or 0) * factor)
                for each in record.phases
            ),
        )
        for record in run.records
        for factor in [(1.3 if record.point_id == "p2" else 1.0) * (0.2 if record.trial_id == "t007" else 1)]
    ]
    whole = page(gather(replace(run, records=tuple(records))))
    (warned,) = whole.trials.with_warnings
    assert (warned.label, warned.warnings[0].check) == ("t007", "outlier")
    (without,) = whole.verdicts.without
    assert without.startswith("Without t007 the verdict would be: thread_cache_size = 450 is faster than")
    assert without in " ".join(terminal(whole).split())
    assert without in markdown(whole, ())


def test_a_control_that_differs_stands_with_the_verdict() -> None:
    run = thread_cache_run(levels=(8, 450, 9), connections=(10, 50), invalid=())
    first, second, third = run.experiment.points
    again = replace(third, control_of=second.point_id, levels=second.levels, title="control")
    design = replace(run.experiment, points=(first, second, again))
    slower = tuple(
        replace(
            record,
            phases=tuple(
                replace(each, queries_per_second=(each.queries_per_second or 0) / 2) for each in record.phases
            ),
        )
        if record.point_id == again.point_id
        else record
        for record in run.records
    )
    evidence = gather(replace(run, experiment=design, records=slower))
    whole = page(evidence)
    (control,) = whole.controls
    assert control.differs
    assert "although both are the same" in " ".join(terminal(whole).split())
    # The setting was measured at its rate and at half of it: the ratio to the mean of both.
    (plain,), (found,) = (
        verdicts(gather(replace(run, experiment=each, records=slower))).ratios
        for each in (replace(design, points=(first, second)), design)
    )
    assert found.overall.value == pytest.approx((plain.overall.value or 0) * 0.5**0.5, rel=0.01)
    for row in whole.comparison.rows:
        one, other = (cell.at for cell in row.cells if cell is not None)
        (ratio,) = (cell.compared for cell in row.cells[1:] if cell is not None)
        assert (one and other and ratio) is not None
        assert ratio.value == pytest.approx(other.value / one.value)
        assert other.n == 2 * one.n
        if isinstance(row.place, int):
            drawn = [curve.at(row.place) for curve in curves(evidence, row.metric).curves]
            assert [point and point.value for point in drawn] == [one.value, other.value]


def test_a_trial_that_is_left_out_for_no_number_is_named() -> None:
    run = small()
    first = run.records[0]
    broken = replace(first, phases=(replace(first.phases[0], queries_per_second=math.nan), *first.phases[1:]))
    evidence = gather(replace(run, records=(broken, *run.records[1:])))
    assert (
        "t001 is left out of the verdict: its queries per second is not a number at 10 connections."
        in method(evidence).remarks
    )
    assert verdicts(evidence).ratios[0].overall.n in ((3, 4), (4, 3))


def test_headline_and_gate_of_a_comparison_come_from_the_same_verdicts_of_all_rows() -> None:
    separate, together = (
        gather(releases_run(), ReportOptions(one_family=one_family)) for one_family in (False, True)
    )
    per_row, gated = (
        [one.overall for row in compared_rows(evidence) for one in row.values()]
        for evidence in (separate, together)
    )
    assert {verdict.ratio.family for verdict in gated} == {len(gated)}
    assert max(verdict.ratio.family for verdict in per_row) < len(gated)
    found = verdicts(together)
    assert [one.overall.outcome for one in found.ratios] == [verdict.outcome for verdict in gated]
    shown = re.search(r"is faster than \S+ in (\d)", found.headline)
    assert (shown is None) == all(verdict.outcome != "faster" for verdict in gated)
