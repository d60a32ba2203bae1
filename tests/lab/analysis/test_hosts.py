"""How much hosts differ: shown where they do, not where they do not, and never in a comparison of points."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from lab.analysis.builders import LEFT, RIGHT
from lab.analysis.builders import measured as measured_at
from mydyno.lab.analysis.hosts import (
    compared,
    control_sentence,
    hosts_of_control,
    hosts_of_run,
    run_sentence,
)
from mydyno.lab.analysis.metrics import QUERIES_PER_SECOND
from mydyno.lab.analysis.ratio import compare
from mydyno.lab.results.records import CONTROL_BLOCK, TrialRecord

SPEED = {"a": 1.0, "b": 1.0, "c": 0.7}
POINT = {"p1": 1000.0, "p2": 1100.0}


def trial(point: str, block: int, curve: dict[int, float]) -> TrialRecord:
    return measured_at({"p1": RIGHT, "p2": LEFT}[point], block, curve)


def measured(blocks: int, noise: float, speed: dict[str, float] = SPEED, seed: int = 1) -> list[TrialRecord]:
    """Whole blocks in turn on each host; p2 is 10% quicker than p1 on all."""
    found, hosts, draw = [], list(speed), random.Random(seed)
    for block in range(1, blocks + 1):
        host = hosts[block % len(hosts)]
        for point, rate in POINT.items():
            value = rate * speed[host] * math.exp(draw.gauss(0, noise))
            found.append(replace(trial(point, block, {10: value}), host=host))
    return found


def test_a_slow_host_is_shown_with_its_interval() -> None:
    found = hosts_of_run(measured(9, 0.01), QUERIES_PER_SECOND)
    assert found is not None
    assert found.differ
    assert not found.equal_within()
    widest = found.pairs[0]
    assert widest.right == "c"
    assert widest.interval is not None
    assert widest.interval.low < 1 / 0.7 < widest.interval.high
    assert "they are not equal" in run_sentence(found)


def test_equal_hosts_are_shown_to_be_equal_and_noisy_ones_are_not() -> None:
    equal = dict.fromkeys("abc", 1.0)
    quiet = hosts_of_run(measured(12, 0.002, equal), QUERIES_PER_SECOND)
    noisy = hosts_of_run(measured(6, 0.1, equal), QUERIES_PER_SECOND)
    assert quiet is not None
    assert quiet.equal_within()
    assert "equal within 3%" in run_sentence(quiet)
    assert noisy is not None
    assert not noisy.differ
    assert "no difference is shown" in run_sentence(noisy)


def test_equal_hosts_are_taken_for_different_in_one_of_twenty_runs() -> None:
    equal = dict.fromkeys("abc", 1.0)
    wrong = 0
    for seed in range(400):
        found = hosts_of_run(measured(9, 0.02, equal, seed), QUERIES_PER_SECOND)
        assert found is not None
        wrong += found.differ
    assert 8 <= wrong <= 34  # 20 expected; 99.8% of a binomial distribution


@pytest.mark.parametrize("blocks", [6, 9])
def test_points_are_compared_within_hosts_whatever_the_hosts_differ_by(blocks: int) -> None:
    ratio = compare(measured(blocks, 0.001), "p2", "p1", QUERIES_PER_SECOND).overall
    assert ratio.paired
    assert ratio.interval is not None
    assert ratio.value == pytest.approx(1.1, rel=0.005)
    assert ratio.interval.high / ratio.interval.low < 1.01


def test_of_a_block_whose_host_was_lost_only_what_ran_on_one_host_is_compared() -> None:
    trials = measured(6, 0.001)
    # Block 3 began on one host, and its p2 was measured on a slower one.
    split = [
        replace(each, host="c", phases=trial("p2", 3, {10: 500.0}).phases)
        if (each.block, each.point_id) == (3, "p2")
        else each
        for each in trials
    ]
    ratio = compare(split, "p2", "p1", QUERIES_PER_SECOND).overall
    assert (ratio.n_left, ratio.paired) == (5, True)
    assert ratio.value == pytest.approx(1.1, rel=0.005)


def test_points_that_were_never_on_one_host_are_not_compared() -> None:
    apart = [
        replace(trial(point, block, {10: 1000.0 + block}), host=host)
        for point, host in (("p1", "a"), ("p2", "b"))
        for block in range(1, 6)
    ]
    ratio = compare(apart, "p2", "p1", QUERIES_PER_SECOND).overall
    assert (ratio.value, ratio.interval) == (None, None)
    assert ratio.unlike is not None
    assert ratio.unlike.startswith("it ran on b, the other on a, and")
    assert hosts_of_run(apart, QUERIES_PER_SECOND) is None


def test_a_control_over_hosts_is_judged_from_its_trials() -> None:
    def control(host: str, number: int, rate: float) -> TrialRecord:
        made = trial("p1", CONTROL_BLOCK, {10: rate})
        return replace(made, host=host, trial_id=f"{host}-aa{number}")

    trials = [control(host, number, 1000 * SPEED[host] + number) for host in SPEED for number in (1, 2)]
    found = hosts_of_control(trials, QUERIES_PER_SECOND)
    assert found is not None
    assert found.counts == dict.fromkeys(SPEED, 2)
    assert found.differ
    assert control_sentence(found).startswith("A/A over 3 hosts, the same point twice on each: ")
    once = hosts_of_control([each for each in trials if each.trial_id.endswith("1")], QUERIES_PER_SECOND)
    assert once is not None
    assert once.pairs[0].interval is None
    assert "with no interval" in control_sentence(once)


def test_one_host_is_compared_with_nothing() -> None:
    assert compared({"a": [1.0, 2.0]}, QUERIES_PER_SECOND) is None
    assert hosts_of_run(measured(3, 0.01, {"a": 1.0}), QUERIES_PER_SECOND) is None


def test_two_hosts_are_compared_as_by_student() -> None:
    found = compared({"a": [0.0, 0.2], "b": [1.0, 1.2]}, QUERIES_PER_SECOND)
    assert found is not None
    interval = found.pairs[0].interval
    assert interval is not None
    # t of 2 degrees of freedom is 4.303; the pooled standard deviation is 0.1414, of the difference so too.
    assert math.log(interval.high) == pytest.approx(1 + 4.303 * 0.1414, abs=0.001)
