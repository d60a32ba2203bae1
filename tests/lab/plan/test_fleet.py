"""How the trials of a run are spread over hosts: balanced, the same for the same seed, and after a loss."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.spec.builders import experiment
from mydyno.core.facts import HostFacts
from mydyno.lab import plan, spec
from mydyno.lab.plan.fleet import Assignment, hosts_of_blocks
from mydyno.machine.hosts.entry import hosts_in

GUIDE = (Path(__file__).parents[3] / "docs" / "how-to" / "fleet.md").read_text("utf-8")
GIB = 1024**3
FACTS = HostFacts(memory_bytes=16 * GIB, cpus=2, free_disk_bytes=100 * GIB)
FAR = HostFacts(memory_bytes=8 * GIB, cpus=4, free_disk_bytes=100 * GIB, kernel="6.1.0")
THREE = replace(FACTS, others={"a": FAR, "b": FAR, "c": replace(FAR, memory_bytes=4 * GIB)})
TWO_CACHES = "{server.config.thread_cache_size: [0, 8]}"

seeds = st.integers(0, 2**32)
fleets = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=6, unique=True)


@dataclass(frozen=True)
class Trial:
    id: str
    block: int


def planned(blocks: int, points: int = 2) -> list[Trial]:
    return [Trial(f"t{block}.{point}", block) for block in range(1, blocks + 1) for point in range(points)]


def on_fleet(**sections: str) -> plan.Plan:
    return plan.make(experiment(setup="{host: ssh}", **sections), THREE)


def played(
    assignment: Assignment, hosts: list[str], lost_after: Mapping[str, int], most: int | None = None
) -> dict[str, str]:
    """Every host runs a trial in each round; some are lost in one after so many. Trial -> who measured it."""
    done: dict[str, str] = {}
    alive = list(hosts)
    ran = dict.fromkeys(hosts, 0)
    for host in hosts:
        assignment.joins(host)
    while assignment.left(1000) and alive and (most is None or len(done) < most):
        for host in alive:
            if (trial := assignment.next(host, 1000)) is not None:
                assignment.started(host, trial)
        assert len(set(assignment.running.values())) == len(assignment.running)
        for host, trial in dict(assignment.running).items():
            if ran[host] == lost_after.get(host):
                assert assignment.leaves(host) == trial
                alive.remove(host)
            else:
                assignment.finished(host)
                done[trial] = host
                ran[host] += 1
    return done


@given(blocks=st.integers(1, 40), hosts=fleets, seed=seeds)
def test_hosts_get_as_many_blocks_as_each_other_also_early(blocks: int, hosts: list[str], seed: int) -> None:
    found = hosts_of_blocks(blocks, hosts, seed)
    assert sorted(found) == list(range(1, blocks + 1))
    for until in found:
        counts = Counter(host for block, host in found.items() if block <= until)
        assert max(counts.values()) - min(counts.get(host, 0) for host in hosts) <= 1


@given(blocks=st.integers(1, 40), hosts=fleets, seed=seeds)
def test_the_order_of_hosts_in_the_file_does_not_matter(blocks: int, hosts: list[str], seed: int) -> None:
    assert hosts_of_blocks(blocks, hosts, seed) == hosts_of_blocks(blocks, hosts[::-1], seed)


def test_another_seed_deals_in_another_order() -> None:
    assert len({tuple(hosts_of_blocks(6, "abc", seed).values()) for seed in range(20)}) > 3


@given(blocks=st.integers(1, 12), points=st.integers(1, 4), hosts=fleets, seed=seeds)
def test_a_block_is_whole_on_its_host_where_none_is_lost(
    blocks: int, points: int, hosts: list[str], seed: int
) -> None:
    trials = planned(blocks, points)
    done = played(Assignment(trials, seed, {}), hosts, {})
    expected = hosts_of_blocks(blocks, hosts, seed)
    assert done == {trial.id: expected[trial.block] for trial in trials}


@settings(max_examples=200)
@given(
    blocks=st.integers(1, 12),
    points=st.integers(1, 4),
    hosts=st.lists(st.sampled_from("abcde"), min_size=2, max_size=5, unique=True),
    seed=seeds,
    data=st.data(),
)
def test_hosts_that_are_lost_cost_no_trial_while_one_is_left(
    blocks: int, points: int, hosts: list[str], seed: int, data: st.DataObject
) -> None:
    lost = data.draw(st.lists(st.sampled_from(hosts), max_size=len(hosts) - 1, unique=True))
    after = {host: data.draw(st.integers(0, 6)) for host in lost}
    trials = planned(blocks, points)
    done = played(Assignment(trials, seed, {}), hosts, after)
    assert done.keys() == {trial.id for trial in trials}


@given(blocks=st.integers(1, 12), hosts=fleets, seed=seeds, stop=st.integers(0, 24))
def test_a_run_that_was_stopped_goes_on_as_if_it_had_not_been(
    blocks: int, hosts: list[str], seed: int, stop: int
) -> None:
    trials = planned(blocks)
    without = played(Assignment(trials, seed, {}), hosts, {})
    first = played(Assignment(trials, seed, {}), hosts, {}, most=stop)
    again = played(Assignment(trials, seed, first), hosts, {})
    assert {**first, **again} == without


def test_a_host_that_returns_takes_blocks_again_and_ends_the_one_that_it_began() -> None:
    assignment = Assignment(planned(4), 1, {})
    for host in ("a", "b"):
        assignment.joins(host)
    first = assignment.next("a", 4)
    assert first is not None
    assignment.started("a", first)
    assignment.finished("a")
    assignment.leaves("a")
    assert set(assignment.blocks().values()) == {"b"}
    assignment.joins("a")
    second = assignment.next("a", 4)
    assert second is not None
    assert second != first
    assert second.split(".")[0] == first.split(".")[0]


def test_no_host_gets_a_trial_of_a_block_behind_the_next_look() -> None:
    assignment = Assignment(planned(6), 1, {})
    for host in ("a", "b", "c"):
        assignment.joins(host)
    taken = {trial for host in ("a", "b", "c") if (trial := assignment.next(host, 2)) is not None}
    assert len(taken) == 2
    assert all(trial.startswith(("t1.", "t2.")) for trial in taken)


def test_a_plan_says_who_runs_what_what_differs_and_how_long_it_takes_with_how_many() -> None:
    made = on_fleet(factors=TWO_CACHES, design="{repeats: 6, control: false}")
    text = plan.render(made)
    assert "fleet of 3 hosts: each runs whole blocks" in text
    assert "a (4 CPUs, 8G of memory, kernel 6.1.0): blocks " in text
    assert "the hosts differ in memory: 8G on a, 8G on b, 4G on c" in text
    assert made.fleet is not None
    one, two, three = made.fleet.times
    assert one.seconds > 1.7 * two.seconds > 1.7 * three.seconds
    assert (made.estimate.seconds, made.estimate.low_seconds) == (three.seconds, three.low_seconds)


def test_the_hosts_are_compared_before_block_1_unless_no_control_is_wanted_or_there_is_one_host() -> None:
    assert "an A/A over hosts" in plan.render(on_fleet(design="{repeats: 3}"))
    assert "A/A over hosts" not in plan.render(on_fleet(design="{repeats: 3, control: false}"))
    alone = plan.make(experiment(setup="{host: ssh}"), replace(FACTS, others={"a": FAR}))
    assert alone.fleet is not None
    assert alone.fleet.control_trials == 0


def test_a_host_without_a_block_is_said() -> None:
    text = plan.render(on_fleet(factors=TWO_CACHES, design="{repeats: 2}"))
    assert "no block: there are fewer than hosts" in text


def test_a_share_of_memory_is_one_of_the_smallest_host() -> None:
    made = on_fleet_with("{innodb_buffer_pool_size: 50% of memory}")
    assert made.points[0].setup.server.config["innodb_buffer_pool_size"].number == 2 * GIB


def test_a_run_goes_on_with_other_hosts_so_they_are_not_part_of_its_identity() -> None:
    few = replace(FACTS, others={"b": FAR})
    made = experiment(setup="{host: ssh}", factors=TWO_CACHES)
    assert plan.make(made, THREE).fingerprint == plan.make(made, few).fingerprint
    assert plan.make(made, THREE).fingerprint != plan.make(experiment(factors=TWO_CACHES), FACTS).fingerprint


def test_a_fleet_next_to_a_named_host_is_refused() -> None:
    mixed = experiment(setup="{}", factors="{host: [ssh, ssh:a]}")
    with pytest.raises(spec.SpecErrors, match="some points run on any host of the fleet"):
        plan.make(mixed, THREE)


def on_fleet_with(config: str) -> plan.Plan:
    return plan.make(experiment(setup=f"{{host: ssh, server: {{config: {config}}}}}"), THREE)


def test_the_experiment_of_the_guide_is_planned_and_the_hosts_of_the_guide_are_read() -> None:
    first, hosts = re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL)
    made = plan.make(spec.loads(first, "fleet.md"), THREE)
    assert made.fleet is not None
    assert [time.hosts for time in made.fleet.times] == [1, 2, 3]
    assert hosts_in(hosts, "hosts.yaml")["n1"].launcher == "slurm"
