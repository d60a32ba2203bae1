"""What a plan says and keeps of its design: controls, whole plots, stopping, rests."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.spec.builders import experiment
from mydyno.core.facts import HostFacts
from mydyno.lab import plan

FACTS = HostFacts(memory_bytes=16 * 1024**3, cpus=2, free_disk_bytes=100 * 1024**3)
OPEN = "server.config.max_connections: [100, 200]"
TWO = f"{{{OPEN}}}"
SPLIT = f"{{server.release: [system, mysql-5.6], {OPEN}, workload.pause: [0, 1s]}}"


def made(factors: str = TWO, design: str = "{repeats: 3}", **sections: str) -> plan.Plan:
    return plan.make(experiment(factors=factors, design=design, **sections), FACTS)


def test_a_control_is_the_first_point_once_more_in_each_block() -> None:
    controlled = made(design="{repeats: 3, control: true}")
    first, _, control = controlled.points
    assert (control.id, control.control_of, control.levels) == ("p1-control", "p1", first.levels)
    assert control.title == "max_connections = 100 (A/A control)"
    for block in (1, 2, 3):
        ids = sorted(trial.point_id for trial in controlled.trials if trial.block == block)
        assert ids == ["p1", "p1-control", "p2"]
    assert "p1-control is p1 measured again" in plan.render(controlled)


def test_a_control_comes_by_itself_where_it_takes_at_most_a_tenth_of_the_time() -> None:
    many = "{workload.pause: [0, 1s, 2s], server.config.max_connections: [100, 200, 300, 400]}"
    assert [point.id for point in made(many).points][-1] == "p1-control"
    assert [point.id for point in made().points] == ["p1", "p2"]
    assert [point.id for point in made(many, "{repeats: 3, control: false}").points][-1] == "p12"
    assert [point.id for point in made(many, "{repeats: 2}").points][-1] == "p12", "two show no interval"
    alone = made("{}", workload="{smack: {rows: 10M}, connections: 1, each: {rounds: 5}}")
    assert [point.id for point in alone.points] == ["p1"], "it is compared with nothing"


@settings(max_examples=3, deadline=None)
@given(st.integers(0, 1000))
def test_a_control_stays_in_the_whole_plot_of_its_twin_and_not_always_beside_it(seed: int) -> None:
    controlled = made(SPLIT, f"{{repeats: 30, control: true, seed: {seed}}}")
    apart = 0
    for block in range(1, 31):
        order = [controlled.point(trial.point_id) for trial in controlled.trials if trial.block == block]
        releases = [point.setup.server.release for point in order]
        assert releases in (["system"] * 5 + ["mysql-5.6"] * 4, ["mysql-5.6"] * 4 + ["system"] * 5)
        ids = [point.id for point in order]
        apart += abs(ids.index("p1") - ids.index("p1-control")) > 1
    assert 0 < apart < 30


def test_whole_plots_are_what_stays_together_in_a_block() -> None:
    release, pool, pause = "server.release", "server.config.max_connections", "workload.pause"
    assert made(SPLIT).design.hard_factors == ((release,), (pool,))
    assert made(TWO).design.hard_factors == ()
    assert made(SPLIT, "{repeats: 2, order: sequential}").design.hard_factors == ()
    halved = made(SPLIT, "{repeats: 2, points: {fraction: 1/2}}")
    assert halved.design.hard_factors == ((release,),), f"one {pause} for each {pool} of a release"


def test_a_sequential_design_plans_all_that_it_may_take_and_says_when_it_stops() -> None:
    result = made(design="{until: ±3%, at_most: 20}")
    assert (len(result.trials), result.blocks) == (40, 20)
    assert (result.design.until, result.design.first_look, result.design.at_most) == (0.03, 3, 20)
    text = plan.render(result)
    for said in (
        "6 to 40 trials, seed 1",
        "3 to 20 repetitions: stops when every comparison with the first level is known to ±3%, at an error "
        "rate of 5% over all looks",
        "blocks 4 to 20 in the same way, as needed",
        "at most ",
    ):
        assert said in text
    assert "t006 block 3" in text
    assert "t007" not in text


def test_what_decides_when_to_stop_is_part_of_the_fingerprint_and_nothing_else_has_moved_it() -> None:
    fixed = made(design="{repeats: 20}")
    stops, finer = made(design="{until: 3%, at_most: 20}"), made(design="{until: 1%, at_most: 20}")
    rests = made(design="{repeats: 20, rest: 1s}")
    assert len({each.fingerprint for each in (fixed, stops, finer, rests)}) == 4


def test_rests_are_counted_and_reported() -> None:
    plain, rested = made(), made(design="{repeats: 3, rest: 10min, control: false}")
    assert rested.estimate.seconds - plain.estimate.seconds == pytest.approx(2 * 600)
    assert "pauses 10m 00s between blocks" in plan.render(rested)


def test_the_alias_table_stands_in_the_plan_in_letters_with_the_factors_above() -> None:
    text = plan.render(made(SPLIT, "{repeats: 2, points: {fraction: 1/2}}"))
    assert "4 points of A release · B max_connections · C pause" in text
    assert "  p1   system · 100 · 0" in text
    assert "resolution III: main effects are mixed with interactions of two factors" in text
    assert "defining relation: I = -A×B×C" in text
    assert "not distinguished: A = -B×C" in text


def test_a_nested_level_that_is_not_there_is_a_dash() -> None:
    nested = (
        "{array: {raid1: {workload.pause: 0}, raid5: {workload.pause: 1s}}, server.config.max_connections: "
        "{when: {array: raid5}, levels: [100, 200]}, server.config.table_open_cache: [100, 200]}"
    )
    text = plan.render(made(nested))
    assert "raid1 · – · 100" in text
    assert "raid5 · 200 · 200" in text
