"""What a plan learns from the last trials of this machine, and what must not depend on them."""

from __future__ import annotations

import pytest

from lab.spec.builders import experiment
from mydyno.core.facts import HostFacts
from mydyno.core.units import format_range
from mydyno.lab import plan
from mydyno.lab.plan import Plan, TrialTime, time_of

FACTS = HostFacts(memory_bytes=16 * 1024**3, cpus=2, free_disk_bytes=100 * 1024**3)
FACTORS = "{server.config.max_connections: [100, 200]}"


def made(*past: TrialTime, workload: str = "{sql-bench: {groups: [insert]}}") -> Plan:
    return plan.make(experiment(factors=FACTORS, workload=workload), FACTS, past=past)


def took(of: Plan, point_id: str, *seconds: float) -> list[TrialTime]:
    point = of.point(point_id)
    return [time_of(point, of.estimate.trials[point_id], each) for each in seconds]


def test_without_any_trial_the_range_is_wide_and_says_why() -> None:
    estimate = made().estimate
    assert estimate.low_seconds < estimate.seconds < estimate.high_seconds
    assert estimate.high_seconds > 1.5 * estimate.low_seconds
    assert any("no similar trial was run on this machine" in said for said in estimate.assumptions)


def test_a_point_that_was_run_before_takes_what_it_took() -> None:
    first = made()
    past = [*took(first, "p1", 80, 90, 100), *took(first, "p2", 10, 10, 10)]
    costs = made(*past).estimate.trials
    assert (costs["p1"].low, costs["p1"].middle, costs["p1"].high) == pytest.approx((80, 90, 100))
    assert (costs["p2"].low, costs["p2"].middle, costs["p2"].high) == pytest.approx((9, 10, 11))


def test_other_points_of_the_same_program_are_longer_by_the_same_factor() -> None:
    first = made()
    assumed = first.estimate.trials["p1"].assumed
    learned = made(*took(first, "p1", *[10 * assumed] * 4))
    assert learned.estimate.trials["p2"].middle == pytest.approx(10 * assumed)
    assert learned.estimate.trials["p2"].basis == "same program"
    other = made(
        *took(first, "p1", 1000), workload="{oltp-read-only: {}, connections: 1, each: {measure: 1s}}"
    )
    assert {cost.basis for cost in other.estimate.trials.values()} == {"assumptions"}


def test_seconds_that_a_clock_ends_are_not_multiplied() -> None:
    timed = "{oltp-read-only: {}, connections: [1, 2], each: {measure: 100s}}"
    short = "{oltp-read-only: {}, connections: [1], each: {measure: 1s}}"
    cost = made(workload=timed).estimate.trials["p1"]
    assert cost.clocked == 200
    slow = made(workload=short)
    past = took(slow, "p1", 1 + 3 * slow.estimate.trials["p1"].assumed)
    assert made(*past, workload=timed).estimate.trials["p1"].middle == pytest.approx(200 + 3 * cost.assumed)


def test_what_is_measured_does_not_depend_on_the_past() -> None:
    first = made()
    learned = made(*took(first, "p1", 1), *took(first, "p2", 10_000))
    assert learned.estimate.seconds != first.estimate.seconds
    assert learned.fingerprint == first.fingerprint
    assert learned.points == first.points


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (40, 90, "40 to 90 seconds"),
        (0.2, 0.9, "about 1 second"),
        (12 * 60, 25 * 60, "12 to 25 minutes"),
        (20, 130, "up to 2 minutes"),
        (3 * 3600, 3.2 * 3600, "about 3 hours"),
        (86400, 5 * 86400, "1 to 5 days"),
    ],
)
def test_a_range_is_said_in_whole_units(low: float, high: float, text: str) -> None:
    assert format_range(low, high) == text
