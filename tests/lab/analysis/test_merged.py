"""Runs become levels of a factor; what did not run side by side is never paired."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.report.builders import FACTOR, thread_cache_run
from mydyno.core.errors import UsageError
from mydyno.lab.analysis.merged import Part, merge
from mydyno.lab.analysis.metrics import QUERIES_PER_SECOND
from mydyno.lab.analysis.verdict import judge_points


def part(name: str, run: str = "", level: str | None = None) -> Part:
    made = thread_cache_run(repeats=4, seed=len(name))
    levels = {} if level is None else {FACTOR: level}
    return Part(name, run or name, made.experiment, made.records, levels)


def test_points_with_equal_levels_stand_in_a_row_under_their_runs() -> None:
    merged = merge([part("before"), part("after")])
    assert merged.experiment.factors == {"run": ("before", "after"), FACTOR: ("8", "450")}
    assert [tuple(point.levels.values()) for point in merged.experiment.points] == [
        ("before", "8"),
        ("before", "450"),
        ("after", "8"),
        ("after", "450"),
    ]
    assert {trial.trial_id.partition(":")[0] for trial in merged.trials} == {"before", "after"}


def test_trials_of_two_runs_are_not_paired_and_those_of_one_are() -> None:
    apart = merge([part("before"), part("after")])
    both = apart.experiment.points[0], apart.experiment.points[2]
    assert not judge_points(apart.trials, *both, QUERIES_PER_SECOND).comparison.overall.paired
    within = merge([part("8", "one", level="8"), part("450", "one", level="450")])
    assert within.experiment.factors == {"run": ("8", "450")}
    assert judge_points(
        within.trials, *within.experiment.points, QUERIES_PER_SECOND
    ).comparison.overall.paired


def test_what_only_one_run_has_is_reported() -> None:
    one, other = part("before"), part("after")
    fewer = replace(other, experiment=replace(other.experiment, points=other.experiment.points[:1]))
    assert merge([one, fewer]).notes == ("not in every run: 450 of before",)
    cut = [replace(trial, phases=trial.phases[:-1]) for trial in other.trials]
    assert merge([one, replace(other, trials=cut)]).notes == ("measured in before and not in every run: 400",)


def test_what_cannot_be_compared_is_refused_with_the_way_out() -> None:
    one, other = part("before"), part("after")
    with pytest.raises(UsageError, match="named twice"):
        merge([one, one])
    with pytest.raises(UsageError) as caught:
        merge([one, part("after", level="8")])
    assert caught.value.hint == "choose one of its levels: before@thread_cache_size=8"
    with pytest.raises(UsageError, match="counts queries and after ios"):
        merge([one, replace(other, experiment=replace(other.experiment, work="ios"))])
