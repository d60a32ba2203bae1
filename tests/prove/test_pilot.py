"""The pilot: which keys miss the buffer pool as often as the advised server did."""

from __future__ import annotations

from mydyno.lab import spec
from mydyno.prove.condition import Condition
from mydyno.prove.pilot import CANDIDATES, choose, pilot_of
from prove.builders import GIB, POOL, THREADS, finding, variable
from prove.test_propose import facts, proposed

SEEN = Condition(misses=0.17)


def test_the_pilot_is_an_experiment_of_keys_and_shares_of_the_pool() -> None:
    pilot = pilot_of(proposed(POOL, facts=facts("128M", data=GIB)), SEEN, has_keys=True)
    assert pilot is not None
    experiment = spec.loads(pilot.text, "pilot.yaml")
    assert experiment.name == "prove-advice-pilot"
    [factor] = experiment.factors
    assert [level.name for level in factor.levels] == [each.level for each in CANDIDATES]
    assert "workload.oltp-read-write.distribution: uniform" in pilot.text
    assert "server.config.innodb_buffer_pool_size: 64M" in pilot.text
    assert "server.config.innodb_buffer_pool_size: 32M" in pilot.text


def test_a_pool_that_is_as_small_as_can_be_is_not_halved() -> None:
    small = finding("buffer-pool", variable("innodb_buffer_pool_size", "64M", "6291456"))
    pilot = pilot_of(proposed(small, facts=facts("6291456", data=24 << 20)), SEEN, has_keys=True)
    assert pilot is not None
    [factor] = spec.loads(pilot.text, "pilot.yaml").factors
    assert [level.name for level in factor.levels] == ["as it is", "pareto", "uniform"]


def test_there_is_no_pilot_where_nothing_holds_data_or_nothing_is_known_or_keys_were_chosen() -> None:
    assert pilot_of(proposed(THREADS, facts=facts("128M", data=GIB)), SEEN, has_keys=True) is None
    pool = proposed(POOL, facts=facts("128M", data=GIB))
    assert pilot_of(pool, Condition(), has_keys=True) is None
    assert pilot_of(pool, SEEN, has_keys=False) is None


def test_the_nearest_misses_are_taken_and_reported() -> None:
    found = choose({"as it is": 0.024, "uniform": 0.15, "pareto": 0.05}, 0.17)
    assert found is not None
    assert (found.candidate.keys, found.candidate.pool_share) == ("uniform", 1.0)
    assert found.note == (
        "17.00% of page requests missed the buffer pool of the advised server, "
        "15.00% miss it here with uniform keys"
    )


def test_where_none_is_near_it_is_reported_by_how_much() -> None:
    found = choose({"as it is": 0.024, "uniform": 0.034}, 0.17)
    assert found is not None
    assert "less by a factor of 5.0, and the nearest of 2 loads" in found.note
    assert "memory has more effect there than measured here" in found.note
    assert choose({}, 0.17) is None


def test_the_tables_are_read_first_where_a_finding_is_about_memory() -> None:
    """A large pool that is cold is worth no more than a small one."""
    assert "cache: scan" in proposed(POOL).text
    assert "cache: scan" not in proposed(THREADS).text
