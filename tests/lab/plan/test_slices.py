"""Which experiments are measured in slices, why others are not, and the order of the slices."""

from __future__ import annotations

import pytest

from lab.spec.builders import experiment
from mydyno.core.facts import HostFacts
from mydyno.lab import plan
from mydyno.lab.plan.slices import longest_slice_s, slice_order
from mydyno.lab.spec import SpecErrors

GIB = 1024**3
FACTS = HostFacts(memory_bytes=16 * GIB, cpus=2, free_disk_bytes=100 * GIB)
TIMED = "{oltp-point-select: {table_size: 1000}, connections: [4], each: {measure: 5s}}"
FACTORS = "{server.config.max_connections: [100, 200]}"


def made(
    facts: HostFacts = FACTS, workload: str = TIMED, factors: str = FACTORS, **sections: str
) -> plan.Plan:
    return plan.make(experiment(workload=workload, factors=factors, **sections), facts)


def test_a_load_of_a_given_time_is_measured_in_slices_with_an_a_a_control() -> None:
    sliced = made()
    assert sliced.design.slice_s == (0.1,)
    assert [point.id for point in sliced.points] == ["p1", "p2", "p1-control"]
    assert "in each block the servers of all 3 points run at the same time" in plan.render(sliced)
    assert "and 3 clones of the largest" in plan.render(sliced)
    alone = made(design="{repeats: 3, control: false}")
    assert [point.id for point in alone.points] == ["p1", "p2"]


def test_a_load_that_writes_has_longer_slices_and_the_file_may_give_their_length() -> None:
    writing = TIMED.replace("oltp-point-select", "oltp-read-write").replace("5s", "10s")
    assert made(workload=writing).design.slice_s == (2.0,)
    assert made(workload=writing, design="{slice: 250ms}").design.slice_s == (0.25,)


def test_slices_that_are_too_long_for_five_rounds_are_a_warning() -> None:
    (warning,) = [each for each in made(design="{repeats: 5, slice: 2s}").warnings if "slices" in each]
    assert warning == (
        "slices of 2s make fewer than 5 rounds in the 5s that a phase is measured, too few to show whether "
        "the servers disturb each other: use shorter slices, or measure for 10s"
    )
    assert made(design="{repeats: 5, slice: 1s}").warnings == ()
    alone = made(design="{repeats: 5, slice: 2s}", factors="{}").warnings
    assert not any("slices" in each for each in alone), "nothing is measured in slices"


@pytest.mark.parametrize(("measure", "length"), [("60s", 2.0), ("4s", 0.8), ("600ms", 0.12), ("200ms", 0.1)])
def test_the_slices_of_a_short_load_that_writes_are_short_enough_for_five_rounds(
    measure: str, length: float
) -> None:
    writing = TIMED.replace("oltp-point-select", "oltp-read-write").replace("5s", measure)
    assert made(workload=writing).design.slice_s == (pytest.approx(length),)


@pytest.mark.parametrize(("measure", "length"), [("60s", 5.0), ("4s", 0.8), ("800ms", 0.16)])
def test_slices_are_lengthened_as_far_as_five_rounds_allow(measure: str, length: float) -> None:
    points = made(workload=TIMED.replace("5s", measure)).points
    assert longest_slice_s(points) == pytest.approx(length)


def test_one_point_has_nothing_to_be_compared_with() -> None:
    assert made(factors="{}").design.sliced == ()
    assert made(factors="{}").design.no_slices == ()


@pytest.mark.parametrize(
    ("sections", "reason"),
    [
        ({"workload": TIMED.replace("measure: 5s", "rounds: 5")}, "a fixed amount of work"),
        ({"workload": TIMED.replace("connections", "arrival: {fixed: 100/s}, connections")}, "a given rate"),
        ({"workload": TIMED.replace("connections", "ramp: 1s, connections")}, "opened over a time"),
        ({"workload": "{sql-bench: {groups: [ATIS]}}"}, "its own control flow"),
        ({"setup": "{host: uml, storage: {data: {disks: {size: 2G}}}}"}, "guests"),
        ({"factors": "{workload.connections: [[4], [4, 8]]}"}, "different numbers of phases"),
        ({"load": "{hosts: [c1], address: 10.0.0.5}"}, "the load comes from several machines"),
        ({"setup": "{server: {network: {port: 3399}}}"}, "would use port 3399"),
        ({"factors": f"{{server.config.max_connections: {list(range(100, 120))}}}"}, "at most 16 can"),
        (
            {"setup": "{server: {config: {innodb_buffer_pool_size: 6G}}}"},
            "of memory, and this machine has 16G",
        ),
    ],
)
def test_what_rules_slices_out_is_said_and_blocks_are_taken(sections: dict[str, str], reason: str) -> None:
    blocked = made(**sections)  # type: ignore[arg-type]
    assert blocked.design.sliced == ()
    sentence = "; ".join(blocked.design.no_slices)
    assert reason in sentence
    assert f"blocks, not slices: {sentence}" in plan.render(blocked)
    with pytest.raises(SpecErrors) as caught:
        made(**sections, design="{order: slices}")  # type: ignore[arg-type]
    [problem] = caught.value.problems
    assert reason in problem.message
    assert problem.position is not None


def test_points_of_each_load_are_measured_together_where_not_all_can_be() -> None:
    timed = "workload.connections: [4], workload.each: {measure: 5s}"
    loads = (
        "{server.config.max_connections: [100, 200], load: {suite: {workload.sql-bench: {groups: [ATIS]}}, "
        f"point: {{workload.oltp-point-select: {{table_size: 1000}}, {timed}}}, "
        f"read: {{workload.oltp-read-only: {{table_size: 1000}}, {timed}}}}}}}"
    )
    mixed = made(
        factors=loads, workload="{sql-bench: {groups: [ATIS]}}", design="{repeats: 2, control: false}"
    )
    assert mixed.design.sliced == (("p2", "p5"), ("p3", "p6"))
    assert mixed.design.no_slices == ("the load is a program or a test suite with its own control flow",)
    for block in (1, 2):
        order = [trial.point_id for trial in mixed.trials if trial.block == block]
        assert sorted(order) == ["p1", "p2", "p3", "p4", "p5", "p6"]
        assert order.index("p5") == order.index("p2") + 1
        assert order.index("p6") == order.index("p3") + 1
    assert "the others in blocks, not slices" in plan.render(mixed)


def test_blocks_that_were_chosen_need_no_reason() -> None:
    chosen = made(design="{order: blocked}")
    assert (chosen.design.sliced, chosen.design.no_slices) == ((), ())


def test_the_length_of_a_slice_is_checked() -> None:
    with pytest.raises(SpecErrors, match="is too short"):
        experiment(design="{slice: 10ms}")
    with pytest.raises(SpecErrors, match="slice has no meaning with order: blocked"):
        experiment(design="{slice: 1s, order: blocked}")


def test_slices_and_their_length_are_part_of_what_is_measured() -> None:
    plans = [made(), made(design="{order: blocked}"), made(design="{slice: 1s}")]
    assert len({one.fingerprint for one in plans}) == 3


@pytest.mark.parametrize("servers", [2, 3, 5])
def test_each_order_comes_reversed_next_and_is_another_one_in_each_block(servers: int) -> None:
    order = slice_order(servers, 100, seed=1, block=1)
    assert all(sorted(one) == list(range(servers)) for one in order)
    assert all(one == other[::-1] for one, other in zip(order[::2], order[1::2], strict=True))
    assert order != slice_order(servers, 100, seed=1, block=2)
    first = [one[0] for one in order]
    assert all(first.count(server) >= 50 / servers for server in range(servers))


def test_generators_are_part_of_what_is_measured_and_the_address_is_not() -> None:
    alone = made()
    one = made(load="{hosts: c1, address: 10.0.0.5}")
    two = made(load="{hosts: [c1, c2], address: 10.0.0.5}")
    assert len({alone.fingerprint, one.fingerprint, two.fingerprint}) == 3
    assert made(load="{hosts: c1, address: 10.0.0.6, port: 3310}").fingerprint == one.fingerprint
    assert "on c1 and c2, over ssh: copies mydyno's programs" in plan.render(two)
