"""Rows of performance_schema under their fingerprints."""

from dataclasses import replace

from mydyno.queries.fingerprints import Fingerprint
from mydyno.queries.statement_groups import Limits, Named, beyond, example, groups_of, representative
from mydyno.queries.summary import Row, Sample

LIMITS = Limits(digest=1024, sample=1024)


def row(count: int, us_each: int, *, schema: str = "shop", sample: Sample | None = None) -> Row:
    ps = us_each * 1_000_000
    numbers = {
        "COUNT_STAR": count,
        "SUM_TIMER_WAIT": count * ps,
        "MIN_TIMER_WAIT": ps,
        "MAX_TIMER_WAIT": ps,
    }
    return Row(schema, "d", numbers, text="SELECT `a` FROM `t` WHERE `b` = ?", sample=sample)


def named(of: Row, id_: str) -> Named:
    fingerprint = Fingerprint(id=id_, text=f"select {id_}", is_cut=False, example="")
    shown = of.sample.text if of.sample else ""
    return Named(of, fingerprint, False, example(of, shown, LIMITS, "server"))


def test_rows_of_one_fingerprint_are_one_group_with_the_slowest_example() -> None:
    quick, slow = Sample("select 1", 100, 5), Sample("select 2", 200, 50)
    (group,) = groups_of(
        [named(row(3, 10, sample=slow), "a"), named(row(5, 10, schema="other", sample=quick), "a")]
    )
    assert (group.count, group.query_time_us) == (8, 80)
    assert group.databases == (("other", 5), ("shop", 3))
    assert group.example is not None
    assert (group.example.text, group.example.database) == ("select 2", "shop")


def test_groups_stand_by_their_time_then_by_their_count_then_by_their_id() -> None:
    rows = [(row(1, 10), "d"), (row(10, 1), "c"), (row(1, 10), "b"), (row(1, 11), "e")]
    assert [group.id for group in groups_of(named(each, id_) for each, id_ in rows)] == ["e", "c", "b", "d"]


def test_the_rest_has_what_is_beyond_the_limit_and_what_found_no_room() -> None:
    groups = groups_of([named(row(1, 30), "a"), named(row(2, 10), "b")])
    rest = beyond(groups, 1, [replace(row(4, 1), schema=None, digest=None)])
    assert rest is not None
    assert (rest.groups, rest.count, rest.query_time_us) == (1, 6, 24)
    assert beyond(groups, None, []) is None
    assert beyond(groups, 2, []) is None


def test_a_digest_that_was_cut_is_completed_by_its_sample_if_that_is_whole() -> None:
    long = " , ".join(f"`column_{number}`" for number in range(100))
    whole, cut = Sample("select column_0, ...", 1, 1), Sample(f"{'x' * 1021}...", 1, 1)
    assert representative(row(1, 1), LIMITS) == ("SELECT `a` FROM `t` WHERE `b` = ?", False)
    assert representative(replace(row(1, 1), text=long, sample=whole), LIMITS) == (whole.text, False)
    assert representative(replace(row(1, 1), text=long, sample=cut), LIMITS)[1]
    assert representative(replace(row(1, 1), text=long), LIMITS)[1]


def test_how_much_a_server_keeps_is_known_from_its_variables() -> None:
    assert Limits.of({}) == Limits(1024, 1024)
    variables = {"max_digest_length": "4096", "performance_schema_max_digest_length": "2048"}
    assert Limits.of(variables).digest == 2048
