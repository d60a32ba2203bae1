"""Trials that are not like their fellows, and why that may be."""

from __future__ import annotations

import random
from dataclasses import replace

from lab.analysis.builders import LEFT, RIGHT, measured, timed
from mydyno.lab.analysis.metrics import QUERIES_PER_SECOND, RUNNING_TIME
from mydyno.lab.analysis.outliers import Outlier, outliers, probable_causes
from mydyno.lab.analysis.words import QUERIES
from mydyno.lab.results.records import PointRecord, TrialRecord


def repeated(seed: int = 1, *, blocks: int = 5, noise: float = 0.01) -> list[TrialRecord]:
    random_ = random.Random(seed)
    trials = [
        measured(point, block, {10: 50_000 * random_.gauss(1, noise), 100: 40_000 * random_.gauss(1, noise)})
        for block in range(blocks)
        for point in (LEFT, RIGHT)
    ]
    return [replace(trial, index=number, counters={}) for number, trial in enumerate(trials)]


def slowed(trial: TrialRecord, connections: int, factor: float) -> TrialRecord:
    phases = tuple(
        replace(phase, queries_per_second=(phase.queries_per_second or 0) * factor)
        if phase.connections_asked == connections
        else phase
        for phase in trial.phases
    )
    return replace(trial, phases=phases)


def causes(one: Outlier, found: tuple[Outlier, ...], trials: list[TrialRecord]) -> str:
    return "; ".join(probable_causes(one, found, trials, QUERIES))


def test_a_trial_far_from_its_fellows_is_flagged_with_the_phase_that_carries_it() -> None:
    trials = repeated()
    trials[6] = slowed(trials[6], 100, 0.4)
    (found,) = outliers(trials, QUERIES_PER_SECOND)
    assert found.trial is trials[6]
    assert 0.5 < found.ratio < 0.75
    assert "queries per second at 100 connections is 0.4 times that of the other trials" in causes(
        found, (found,), trials
    )


def test_a_clean_experiment_has_none_in_nineteen_of_twenty_cases() -> None:
    flagged = sum(bool(outliers(repeated(seed, noise=0.05), QUERIES_PER_SECOND)) for seed in range(100))
    assert flagged <= 11


def test_of_a_fleet_a_slow_host_is_no_outlier_and_a_slow_trial_of_it_is() -> None:
    trials = [replace(each, host="abc"[each.block % 3]) for each in repeated(blocks=12)]
    trials = [slowed(slowed(each, 10, 0.5), 100, 0.5) if each.host == "c" else each for each in trials]
    assert outliers(trials, QUERIES_PER_SECOND) == ()
    number = next(at for at, each in enumerate(trials) if each.host == "c" and each.block > 5)
    trials[number] = slowed(trials[number], 100, 0.4)
    (found,) = outliers(trials, QUERIES_PER_SECOND)
    assert found.trial is trials[number]
    assert 0.5 < found.ratio < 0.75


def test_what_lies_within_the_margin_is_never_flagged() -> None:
    trials = repeated(noise=0.0001)
    trials[4] = slowed(slowed(trials[4], 100, 0.98), 10, 0.98)
    assert outliers(trials, QUERIES_PER_SECOND) == ()


def test_a_noisy_point_is_no_outlier() -> None:
    random_ = random.Random(5)
    calm, wild = (
        [measured(point, block, {10: 50_000 * random_.gauss(1, noise)}) for block in range(6)]
        for point, noise in ((LEFT, 0.002), (RIGHT, 0.06))
    )
    assert outliers([*calm, *wild], QUERIES_PER_SECOND) == ()


def test_the_first_trial_and_its_counters_are_named() -> None:
    trials = [replace(trial, counters={"Innodb_row_lock_time": 20}) for trial in repeated()]
    trials[0] = replace(
        slowed(slowed(trials[0], 10, 0.5), 100, 0.5), counters={"Innodb_row_lock_time": 90_000}
    )
    (found,) = outliers(trials, QUERIES_PER_SECOND)
    result = causes(found, (found,), trials)
    assert "000 ms spent waiting for row locks (Innodb_row_lock_time), where 20 are usual" in result
    assert "it was the first trial of the run" in result


def test_a_trial_of_which_nothing_is_known_has_no_made_up_cause() -> None:
    trials = repeated()
    trials[6] = slowed(slowed(trials[6], 100, 0.4), 10, 0.4)
    (found,) = outliers(trials, QUERIES_PER_SECOND)
    assert causes(found, (found,), trials) == ""


def unrepeated() -> list[TrialRecord]:
    """Machine x file system x version x build, once each; 4.1 of build B takes 9,300 s for `insert`."""
    random_ = random.Random(4)
    trials = []
    for number in range(54):
        levels = {
            "machine": ("web", "db")[number % 2],
            "filesystem": ("jfs", "xfs", "ext3")[number // 2 % 3],
            "version": ("4.0", "4.1", "5.0")[number // 6 % 3],
            "build": ("A", "B", "C")[number // 18],
        }
        slow = levels["version"] == "4.1" and levels["build"] == "B"
        point = PointRecord(point_id=f"p{number}", levels=levels, title=", ".join(levels.values()))
        usual = 700 * {"jfs": 0.9, "xfs": 1.0, "ext3": 1.3}[levels["filesystem"]] * random_.gauss(1, 0.03)
        programs = {"insert": 9_300.0 if slow else usual, "create": 300 * random_.gauss(1, 0.03)}
        trials.append(replace(timed(point, 0, programs), index=number, counters={}))
    return trials


def test_in_a_table_of_single_runs_a_median_polish_finds_them_and_the_levels_that_they_share() -> None:
    trials = unrepeated()
    found = outliers(trials, RUNNING_TIME)
    assert len(found) == 6
    assert all(one.fitted and one.ratio > 5 for one in found)
    result = causes(found[0], found, trials)
    assert "insert takes 9,300 of " in result
    assert "all 6 such trials have version = 4.1 and build = B, and no other trial has both" in result


def test_of_four_trials_none_can_be_shown_to_be_far() -> None:
    assert outliers(repeated(blocks=2), QUERIES_PER_SECOND) == ()
