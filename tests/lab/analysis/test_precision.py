"""How well a run knows what it compares, and that stopping when it is enough keeps the promise of 95%."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from lab.analysis.builders import LEFT, RIGHT, measured
from lab.results.builders import experiment
from mydyno.lab.analysis.precision import first_comparisons, precision, spread_of
from mydyno.lab.analysis.sequential import nominal_level
from mydyno.lab.results.records import DesignRecord, ExperimentRecord, PointRecord, TrialRecord

CONTROL = replace(RIGHT, point_id="p1-control", control_of="p1")


def sequential(until: float = 0.03, at_most: int = 20, *more: PointRecord) -> ExperimentRecord:
    design = DesignRecord(until=until, first_look=3, at_most=at_most)
    return replace(experiment(), points=(RIGHT, LEFT, *more), design=design)


def trials(left: list[float], right: list[float]) -> list[TrialRecord]:
    return [
        *(measured(LEFT, block, {10: value}) for block, value in enumerate(left, 1)),
        *(measured(RIGHT, block, {10: value}) for block, value in enumerate(right, 1)),
    ]


def test_trials_that_hardly_differ_are_known_well_and_others_are_not() -> None:
    close = trials([1100, 1101, 1099, 1100], [1000, 1000, 1001, 1000])
    assert precision(close, sequential()).reached
    apart = precision(trials([1100, 1300, 900, 1100], [1000, 1000, 1001, 1000]), sequential())
    assert not apart.reached
    assert apart.half_width is not None
    assert apart.half_width > 0.1
    assert apart.worst == LEFT.title


def test_the_interval_is_that_of_many_looks() -> None:
    some = trials([1100, 1110, 1090, 1105], [1000, 1000, 1001, 1000])
    [(_, found)] = first_comparisons(some, sequential(), nominal_level(3, 20))
    [(_, plain)] = first_comparisons(some, sequential())
    assert found is not None
    assert plain is not None
    assert found.interval is not None
    assert plain.interval is not None
    seen = precision(some, sequential()).half_width
    assert seen == pytest.approx(found.interval.high / (found.value or 0) - 1)
    assert found.interval.high > plain.interval.high


def test_two_trials_or_a_point_without_valid_ones_are_no_knowledge() -> None:
    two = precision(trials([1100, 1100], [1000, 1000]), sequential())
    assert (two.half_width, two.reached) == (None, False)
    assert precision(trials([], [1000] * 5), sequential()).half_width is None


def test_a_control_is_a_second_measurement_of_its_point() -> None:
    run = trials([1100, 1110, 1090], [1000, 1020, 990])
    other = [measured(CONTROL, block, {10: value}) for block, value in enumerate([1010, 980, 1030], 1)]
    means = [(one * two) ** 0.5 for one, two in zip([1000, 1020, 990], [1010, 980, 1030], strict=True)]
    both = precision([*run, *other], sequential(0.03, 20, CONTROL)).half_width
    assert both == pytest.approx(precision(trials([1100, 1110, 1090], means), sequential()).half_width)


def test_a_single_point_is_known_by_its_mean() -> None:
    alone = replace(sequential(), points=(RIGHT,))
    seen = precision(trials([], [1000, 1010, 990, 1000, 1000]), alone)
    assert seen.half_width is not None
    assert 0.005 < seen.half_width < 0.05
    assert (seen.worst, seen.reached) == (RIGHT.title, seen.half_width <= 0.03)


def test_the_spread_for_planning_is_that_of_a_trial_over_another() -> None:
    random = np.random.default_rng(3)
    left, right = (list(1000 * np.exp(random.normal(0, 0.02, 200))) for _ in range(2))
    seen = spread_of(trials(left, right), experiment())
    assert seen is not None
    assert seen.value == pytest.approx(math.sqrt(2) * 0.02, rel=0.15)
    assert (seen.paired, seen.trials) == (True, 400)
    assert spread_of(trials([1.0], [2.0]), experiment()) is None


@pytest.mark.slow
@pytest.mark.parametrize("tails", ["normal", "heavy"])
def test_the_interval_at_which_a_run_stops_holds_the_truth_at_least_93_times_in_100(tails: str) -> None:
    random = np.random.default_rng(6)
    runs, held = 400, 0
    design = sequential(0.04, 12)
    for _ in range(runs):
        noise = random.normal(0, 0.03, (2, 12)) if tails == "normal" else 0.02 * random.standard_t(5, (2, 12))
        left, right = (list(1000 * np.exp(side)) for side in noise)
        for block in range(3, 13):
            seen = trials(left[:block], right[:block])
            if precision(seen, design).reached or block == 12:
                [(_, found)] = first_comparisons(seen, design, nominal_level(3, 12))
                assert found is not None
                assert found.interval is not None
                held += found.interval.contains(1.0)
                break
    assert held / runs >= 0.93
