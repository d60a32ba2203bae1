"""What a reader may ask of a report: another metric, another margin."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from mydyno.core.errors import UsageError
from mydyno.report.asked import Asked, metric_named, parse_margin
from mydyno.report.evidence import gather
from mydyno.report.views.method import method
from mydyno.report.views.verdicts import verdicts
from report.builders import MemoryRun, thread_cache_run


def small() -> MemoryRun:
    return thread_cache_run(connections=(10, 50), invalid=())


def test_verdicts_are_about_the_metric_that_is_asked_for() -> None:
    found = verdicts(gather(small(), Asked(metric="connect_p95")))
    assert found.metric.name == "connect_p95"
    assert "p95 connect time" in found.headline


def test_an_unknown_metric_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(UsageError, match=r"no metric latency_p98\n  hint: did you mean latency_p9\d"):
        gather(small(), Asked(metric="latency_p98"))
    with pytest.raises(UsageError, match="ios_per_second"):
        metric_named("queries_per_second", "ios")


@pytest.mark.parametrize(("text", "margin"), [("5%", 0.05), ("0.05", 0.05), (" 2.5 % ", 0.025), ("50%", 0.5)])
def test_a_margin_is_a_share(text: str, margin: float) -> None:
    assert parse_margin(text) == pytest.approx(margin)


@pytest.mark.parametrize("text", ["0%", "5", "-3%", "60%", "three", "", "3%%", "nan"])
def test_what_is_no_margin_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no margin"):
        parse_margin(text)


def test_a_wider_margin_calls_more_of_it_no_difference() -> None:
    strict, lenient = (verdicts(gather(small(), Asked(margin=margin))) for margin in (0.001, 0.5))
    assert strict.outcome != "no-difference"
    assert lenient.outcome == "no-difference" or "a real difference, but below 50 %" in lenient.headline


def test_a_trial_that_is_left_out_for_no_number_is_named() -> None:
    run = small()
    first = run.records[0]
    broken = replace(first, phases=(replace(first.phases[0], queries_per_second=math.nan), *first.phases[1:]))
    evidence = gather(replace(run, records=(broken, *run.records[1:])))
    assert (
        "t001 is left out of the verdict: its queries per second is no number at 10 connections."
        in method(evidence).remarks
    )
    assert verdicts(evidence).ratios[0].overall.n in ((3, 4), (4, 3))
