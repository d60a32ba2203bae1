"""Connections, rate and response time of a phase must fit each other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.results.builders import phase
from mydyno.lab.analysis.littles_law import Load, breach
from mydyno.lab.results.records import NO_LATENCY, Latency, PhaseRecord, StatementRecord

CLOSED = Load(40, closed=True)


def measured(per_second: float, mean_ms: float, *, longest_ms: float | None = None) -> PhaseRecord:
    """Ten seconds."""
    count = round(per_second * 10)
    return replace(
        phase(0, 40, per_second),
        measured_from_s=1.0,
        measured_to_s=11.0,
        transactions=count,
        transaction_latency=Latency(
            count=count, mean_ns=mean_ms * 1e6, max_ns=round((longest_ms or mean_ms) * 1e6)
        ),
        errors={},
        statements=(),
    )


def test_the_law_holds_where_all_connections_are_busy() -> None:
    assert breach(measured(20_000, 2.0), CLOSED) is None
    assert breach(measured(20_000, 1.95), CLOSED) is None


def test_a_window_that_one_moment_without_a_cpu_would_spoil_is_not_judged() -> None:
    short = replace(measured(12_300, 1.9), measured_to_s=1.9, transactions=11_070)
    assert breach(short, CLOSED) is None
    assert breach(replace(short, measured_to_s=2.0, transactions=12_300), CLOSED) is not None


def test_connections_that_do_nothing_break_it_and_the_calculation_is_reported() -> None:
    found = breach(measured(12_300, 1.9), CLOSED)
    assert found is not None
    assert found.calculation == "40 connections, but 12,300 transactions/s x 1.9 ms = 23.4 in flight"


def test_more_in_flight_than_connections_is_impossible() -> None:
    found = breach(measured(30_000, 2.0), CLOSED)
    assert found is not None
    assert "60.0 in flight" in found.calculation


def test_rests_between_transactions_are_part_of_the_law() -> None:
    resting = replace(CLOSED, rest_s=0.018)
    assert breach(measured(2_000, 2.0), resting) is None
    assert breach(measured(2_000, 2.0), CLOSED) is not None
    found = breach(measured(1_000, 2.0), resting)
    assert found is not None
    assert "x (2 ms + 18 ms rest) = 20.0 in flight" in found.calculation


def test_only_connections_that_carry_transactions_count() -> None:
    assert breach(measured(5_000, 2.0), replace(CLOSED, connections=10)) is None


def test_transactions_as_long_as_the_phase_may_lie_across_its_ends() -> None:
    assert breach(measured(1.5, 20_000.0, longest_ms=25_000.0), CLOSED) is None
    assert breach(measured(12_000, 2.0, longest_ms=5_000.0), CLOSED) is None


def test_given_shares_end_at_different_times_so_only_too_many_in_flight_are_wrong() -> None:
    shares = replace(CLOSED, all_busy=False)
    assert breach(measured(1_000, 2.0), shares) is None
    assert breach(measured(30_000, 2.0), shares) is not None


def test_an_open_loop_has_at_most_its_connections_and_its_backlog_under_way() -> None:
    arriving = replace(CLOSED, closed=False)
    assert breach(measured(100, 2.0), arriving) is None
    waiting = replace(measured(1_000, 100.0), backlog_max=60)
    assert breach(waiting, arriving) is None
    found = breach(replace(waiting, backlog_max=0), arriving)
    assert found is not None
    assert found.calculation.startswith(
        "40 connections and a backlog of 0, but 1,000 transactions/s x 100 ms"
    )


def test_connections_that_transactions_open_are_time_too() -> None:
    opening = StatementRecord(
        kind="connect", count=100_000, errors=0, rows=0, latency=Latency(count=100_000, mean_ns=1e6)
    )
    assert breach(replace(measured(10_000, 3.0), statements=(opening,)), CLOSED) is None
    assert breach(measured(10_000, 3.0), CLOSED) is not None


@pytest.mark.parametrize(
    "phase",
    [
        replace(measured(100, 1.0), aborted="the server is gone"),
        replace(measured(100, 1.0), measured_from_s=None),
        replace(measured(100, 1.0), measured_to_s=1.0),
        replace(measured(100, 1.0), measured_to_s=0.5),
        replace(measured(100, 1.0), transactions=0),
        replace(measured(100, 1.0), transactions=None),
        replace(measured(100, 1.0), transaction_latency=NO_LATENCY),
        replace(measured(100, 1.0), errors={"1205": 500}),
    ],
    ids=["aborted", "unmeasured", "empty", "clock", "nothing", "untold", "untimed", "failed"],
)
def test_a_phase_that_reports_too_little_is_not_checked(phase: PhaseRecord) -> None:
    assert breach(phase, CLOSED) is None
    assert breach(replace(phase, retries=0), CLOSED) is None


def test_retried_transactions_were_under_way_all_the_time() -> None:
    assert breach(replace(measured(20_000, 2.0), errors={"1213": 90_000}, retries=90_000), CLOSED) is None
    assert breach(replace(measured(2_000, 2.0), errors={"1213": 9_000}, retries=9_000), CLOSED) is not None
