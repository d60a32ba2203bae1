"""Who is stopped, who leads, and how much noise there is."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from lab.results.builders import trial

from mydyno.lab.results.records import TrialRecord
from mydyno.lab.spec.search import Constraints, Prices
from mydyno.tune.racing import GUESS_SD, GUESS_WEIGHT, is_better, is_worse, pooled
from mydyno.tune.scores import logs_to_leader, measured, noise_of, scores
from tune.builders import candidate, round_of


def test_without_repeats_the_noise_is_the_first_guess() -> None:
    noise = pooled([[0.1], [0.2]])
    assert noise.sd == pytest.approx(GUESS_SD)
    assert noise.df == GUESS_WEIGHT


def test_repeats_are_pooled_over_candidates_by_their_degrees_of_freedom() -> None:
    noise = pooled([[0.0, 0.2], [1.0, 1.2]])
    assert noise.df == GUESS_WEIGHT + 2
    assert noise.sd == pytest.approx(math.sqrt((GUESS_WEIGHT * GUESS_SD**2 + 2 * 0.02) / (GUESS_WEIGHT + 2)))


def test_one_round_can_stop_a_candidate_and_never_makes_it_lead() -> None:
    noise = pooled([])
    assert is_worse([math.log(0.85)], noise)
    assert not is_worse([math.log(0.95)], noise)
    assert not is_better([math.log(2.0)], noise)
    assert is_better([math.log(1.2), math.log(1.2)], noise)
    assert not is_worse([], noise)


def test_more_noise_stops_fewer() -> None:
    quiet, loud = pooled([]), pooled([[-0.5, 0.5, -0.4, 0.4]])
    assert is_worse([math.log(0.85)], quiet)
    assert not is_worse([math.log(0.85)], loud)


def test_a_score_is_the_ratio_to_the_leader_times_that_of_the_leader() -> None:
    candidates = {number: candidate(number) for number in range(3)}
    rounds = [
        round_of(1, 1, 0, t0=1000.0, t1=1500.0),
        # The machine is half as fast in the second heat, which the ratios do not see.
        round_of(2, 1, 1, t1=750.0, t2=825.0),
    ]
    known = scores(candidates, rounds, ("throughput",))
    assert known[1].ratio("throughput") == pytest.approx(1.5)
    assert known[2].ratio("throughput") == pytest.approx(1.65)
    assert known[0].ratio("throughput") == pytest.approx(1.0)


def test_what_failed_or_was_not_measured_has_no_ratio() -> None:
    candidates = {number: candidate(number) for number in range(3)}
    rounds = [round_of(1, 1, 0, t0=1000.0, t1="it ended with exit code 1", t2=None)]
    known = scores(candidates, rounds, ("throughput",))
    assert (known[1].state, known[1].failure) == ("failed", "it ended with exit code 1")
    assert known[2].state == "unmeasured"
    assert not known[1].feasible
    assert not known[2].feasible


def test_a_round_without_its_leader_says_nothing_of_the_others() -> None:
    rounds = [round_of(1, 1, 0, t0=None, t1=1500.0), round_of(1, 2, 0, t0=1000.0, t1=1100.0)]
    assert logs_to_leader(rounds, 1, "throughput") == [pytest.approx(math.log(1.1))]
    assert noise_of(rounds, "throughput").df == GUESS_WEIGHT


def test_the_cost_of_a_transaction_is_what_the_server_takes_over_its_rate() -> None:
    """A pool of 2 GiB, a redo log of 512 MiB and 300 us of CPU a query, two queries a transaction."""
    made = trial(queries_per_second=2000.0)
    sizes = {"innodb_buffer_pool_size": "2147483648", "innodb_log_file_size": "536870912"}
    first = replace(made.phases[0], costs={"server_cpu_per_query": 300_000.0})
    ran = replace(made, levels={"candidate": "start"}, settings_in_force=sizes, phases=(first,))
    of_server = {"memory": 4.0, "disk": 2.0, "server": 1.0}
    racers = [candidate(0, "start")]
    for prices, cost in (
        (Prices(**of_server), (8.0 + 1.0 + 1.0) / 1000),
        (Prices(**of_server, cpu=50.0), (8.0 + 1.0 + 1.0) / 1000 + 50.0 * 600e-6),
        (Prices(cpu=50.0), 50.0 * 600e-6),
    ):
        [found] = measured([ran], racers, ["cost", "throughput"], Constraints(), prices)
        assert found.values == {"cost": pytest.approx(cost), "throughput": pytest.approx(1000.0)}
    without_cpu = replace(ran, phases=(replace(first, costs={}),))
    [found] = measured([without_cpu], racers, ["cost", "throughput"], Constraints(), Prices(cpu=50.0))
    assert found.values == {"throughput": pytest.approx(1000.0)}


def test_a_candidate_is_compared_on_the_host_of_the_leader_only() -> None:
    """The host of trial 2 was lost: its last attempt ran on another than the leader's."""
    racers = [candidate(number) for number in range(3)]

    def ran(number: int, host: str, attempt: int = 1) -> TrialRecord:
        made = trial()
        levels = {"candidate": racers[number].title}
        return replace(made, levels=levels, phases=made.phases[:1], host=host, attempt=attempt)

    trials = [ran(0, "db1"), ran(1, "db1"), ran(2, "db1"), ran(2, "db2", attempt=2)]
    found = measured(trials, racers, ["throughput"], Constraints())
    assert [each.number for each in found] == [0, 1, 2]
    assert [bool(each.values) for each in found] == [True, True, False]
    assert found[2].failure is None
