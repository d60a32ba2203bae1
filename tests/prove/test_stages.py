"""Which levels are measured in the time that there is."""

from __future__ import annotations

from mydyno.prove.experiment import Proposal
from mydyno.prove.stages import stages_of
from prove.builders import POOL, SYNC, THREADS
from prove.test_propose import proposed

TRIAL = 60.0


def seconds_of(proposal: Proposal) -> float:
    """A minute a level, and a minute for the data."""
    return TRIAL + TRIAL * len(proposal.levels.all)


def names(proposal: Proposal) -> list[str]:
    return [level.name for level in proposal.levels.all]


ALL = proposed(POOL, THREADS, SYNC)


def test_what_fits_into_the_time_is_one_run() -> None:
    found = stages_of(ALL, seconds_of, within=600)
    assert [names(run) for run in found.runs] == [names(ALL)]
    assert (found.left, found.seconds) == ((), 420)


def test_otherwise_all_together_comes_first_and_each_alone_as_time_allows() -> None:
    found = stages_of(ALL, seconds_of, within=415)
    assert [names(run) for run in found.runs] == [
        ["as it is", "all together"],
        ["as it is", "buffer-pool"],
    ]
    assert [run.name for run in found.runs] == ["prove-advice", "prove-advice-alone"]
    assert [level.name for level in found.left] == [
        "thread-cache",
        "flush-at-commit",
        "all together and safer",
    ]
    assert found.seconds == 180 + 180
    assert found.whole_seconds == 180 + 360


def test_the_first_answer_is_measured_even_where_there_is_no_time_at_all() -> None:
    found = stages_of(ALL, seconds_of, within=10)
    assert [names(run) for run in found.runs] == [["as it is", "all together"]]
    assert len(found.left) == 4


def test_a_long_time_is_no_reason_to_wait_for_the_first_answer() -> None:
    found = stages_of(ALL, lambda proposal: 10 * seconds_of(proposal), within=1e6)
    assert names(found.runs[0]) == ["as it is", "all together"]
    assert found.left == ()


def test_a_single_finding_is_one_run_whatever_it_takes() -> None:
    one = proposed(POOL)
    assert stages_of(one, seconds_of, within=1).runs == (one,)
