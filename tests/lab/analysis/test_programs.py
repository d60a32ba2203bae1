"""Trials of test programs: compared by their seconds, in each program and in total."""

from __future__ import annotations

import pytest

from lab.analysis.builders import LEFT, RIGHT, measured, timed
from mydyno.lab.analysis.metrics import QUERIES_PER_SECOND, RUNNING_TIME
from mydyno.lab.analysis.observations import by_program, places
from mydyno.lab.analysis.ratio import compare
from mydyno.lab.analysis.summary import summary, total_summary
from mydyno.lab.analysis.verdict import judge_points
from mydyno.lab.results.records import TrialRecord

NOISE = (0.99, 1.0, 1.01, 1.005)
OTHER_NOISE = (0.99 * 1.001, 1.0 / 1.001, 1.01 * 1.002, 1.005 / 1.002)


def trials(left: float = 0.8, right: float = 1.0) -> list[TrialRecord]:
    """Four blocks; `insert` takes 100 s and `ATIS` 2 s, times a factor of the side."""
    return [
        timed(point, block, {"insert": 100 * factor * noise, "ATIS": 2 * factor * noise})
        for point, factor, noises in ((LEFT, left, NOISE), (RIGHT, right, OTHER_NOISE))
        for block, noise in enumerate(noises)
    ]


def test_places_are_connections_ascending_and_programs_as_they_ran() -> None:
    ordinary = [measured(LEFT, 0, {50: 1, 10: 2})]
    assert places(ordinary) == (10, 50)
    assert places(trials()) == ("insert", "ATIS")
    assert places([*trials(), *ordinary]) == (10, 50, "insert", "ATIS")
    assert by_program(trials())
    assert not by_program(ordinary)
    assert not by_program([])
    assert not by_program([*trials(), *ordinary])


def test_each_program_of_a_point_has_a_summary_in_seconds_and_an_interval() -> None:
    found = summary(trials(), [LEFT.point_id], RUNNING_TIME)
    assert list(found) == [(LEFT.point_id, "insert"), (LEFT.point_id, "ATIS")]
    one = found[LEFT.point_id, "insert"]
    assert one.n == 4
    assert one.mean == pytest.approx(80.1)
    assert one.interval is not None
    assert one.interval.contains(80)


def test_the_total_is_the_sum_of_the_programs_of_each_trial() -> None:
    found = total_summary(trials(), [LEFT.point_id], RUNNING_TIME)[LEFT.point_id]
    assert found.values == tuple(pytest.approx(81.6 * noise) for noise in NOISE)


def test_a_program_that_ended_early_has_no_time_and_its_trial_no_total() -> None:
    cut = timed(LEFT, 9, {"insert": None, "ATIS": 1.6})
    lacking = timed(LEFT, 8, {"ATIS": 1.6})
    run = [*trials(), cut, lacking]
    found = summary(run, [LEFT.point_id], RUNNING_TIME)
    assert (found[LEFT.point_id, "insert"].n, found[LEFT.point_id, "ATIS"].n) == (4, 6)
    assert total_summary(run, [LEFT.point_id], RUNNING_TIME)[LEFT.point_id].n == 4
    verdict = judge_points(run, LEFT, RIGHT, RUNNING_TIME)
    assert (verdict.overall.ratio.n_left, verdict.overall.ratio.n_right) == (4, 4)


def test_less_time_is_faster_in_per_cent_of_the_time_of_the_other() -> None:
    found = judge_points(trials(0.8, 1.0), LEFT, RIGHT, RUNNING_TIME)
    assert found.overall.outcome == "faster"
    assert found.overall.sentence.startswith(
        "cache = 450 is faster than cache = 8 by 20.0% in running time (95% CI "
    )
    assert {place: one.outcome for place, one in found.by_place.items()} == {
        "insert": "faster",
        "ATIS": "faster",
    }
    slower = judge_points(trials(1.25, 1.0), LEFT, RIGHT, RUNNING_TIME).overall
    assert slower.sentence.startswith(
        "cache = 450 is slower than cache = 8 by 25.0% in running time (95% CI "
    )


def test_the_total_weighs_seconds_and_a_rate_weighs_places_alike() -> None:
    """`ATIS` twice as slow, `insert` a tenth faster: 102 s become 94 s."""
    run = [
        timed(point, block, {"insert": 100 * insert * noise, "ATIS": 2 * atis * noise})
        for point, insert, atis in ((LEFT, 0.9, 2.0), (RIGHT, 1.0, 1.0))
        for block, noise in enumerate(NOISE)
    ]
    assert compare(run, LEFT.point_id, RIGHT.point_id, RUNNING_TIME).overall.value == pytest.approx(94 / 102)
    assert compare(run, LEFT.point_id, RIGHT.point_id, QUERIES_PER_SECOND).overall.value == pytest.approx(1)


def test_points_that_ran_other_programs_have_no_total_to_compare() -> None:
    run = [
        *(timed(LEFT, block, {"insert": 80 * noise}) for block, noise in enumerate(NOISE)),
        *(timed(RIGHT, block, {"insert": 100 * noise, "ATIS": 2}) for block, noise in enumerate(OTHER_NOISE)),
    ]
    found = judge_points(run, LEFT, RIGHT, RUNNING_TIME)
    assert found.overall.outcome == "not-enough-data"
    assert "no valid trial of cache = 450 has running time" in found.overall.sentence
    assert found.by_place["insert"].outcome == "faster"


def test_programs_are_a_family_and_the_total_is_not() -> None:
    found = compare(trials(), LEFT.point_id, RIGHT.point_id, RUNNING_TIME)
    assert (found.overall.family, found.by_place["ATIS"].family) == (1, 2)
    assert found.over == ("insert", "ATIS")
