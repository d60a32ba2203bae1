"""What rows of performance_schema come to, and their difference."""

from dataclasses import replace

from mydyno.queries.summary import Row, difference, figures


def row(
    count: int, *, schema: str = "shop", digest: str = "d1", ps_each: int = 2_000_000, **more: int
) -> Row:
    numbers = {
        "COUNT_STAR": count,
        "SUM_TIMER_WAIT": count * ps_each,
        "MIN_TIMER_WAIT": ps_each,
        "MAX_TIMER_WAIT": ps_each,
        "SUM_ROWS_SENT": count,
        "SUM_NO_INDEX_USED": count,
        **more,
    }
    return Row(schema, digest, numbers, first_us=100, last_us=200)


def test_picoseconds_become_microseconds_and_flags_count_statements() -> None:
    result = figures([row(3)])
    time = result.measures["query_time"]
    assert (time.count, time.sum, time.min, time.max) == (3, 6, 2, 2)
    assert result.measures["rows_sent"].sum == 3
    assert (result.flags["no_index_used"].yes, result.flags["no_index_used"].told) == (3, 3)
    assert (result.first_us, result.last_us) == (100, 200)


def test_what_a_release_does_not_count_is_missing_rather_than_zero() -> None:
    result = figures([row(3)])
    assert "cpu_time" not in result.measures
    assert "errors" not in result.measures
    assert result.measures["query_time"].p95 is None


def test_statements_that_are_not_timed_have_no_time() -> None:
    assert "query_time" not in figures([row(3, ps_each=0)]).measures


def test_the_largest_memory_is_known_of_no_statement_but_the_hungriest() -> None:
    memory = figures([row(3, MAX_TOTAL_MEMORY=4096), row(1, MAX_TOTAL_MEMORY=512)]).measures[
        "max_total_memory"
    ]
    assert (memory.unit, memory.count, memory.sum, memory.max) == ("bytes", 0, 0, 4096)


def test_schemas_are_listed_by_their_counts() -> None:
    assert figures([row(1, schema="b"), row(2, schema="c"), row(1, schema="a")]).databases == (
        ("c", 2),
        ("a", 1),
        ("b", 1),
    )


def test_quantiles_are_bounds_of_buckets_and_none_is_beyond_the_longest() -> None:
    text = figures([replace(row(100, MAX_TIMER_WAIT=45_000_000), buckets={10: 94, 20: 5, 50: 1})])
    time = text.measures["query_time"]
    assert (time.p50, time.p95, time.p99) == (10, 20, 20)
    assert time.histogram == ((10, 94), (20, 5), (45, 1))


def test_an_interval_has_what_was_added_and_no_extremes() -> None:
    (left,) = difference({("shop", "d1"): row(5)}, [row(7), row(4, digest="unused", ps_each=0)][:1])
    result = figures([left])
    assert result.count == 2
    assert result.measures["query_time"].sum == 4
    assert result.measures["query_time"].max is None
    assert (result.first_us, result.last_us) == (None, 200)


def test_what_was_not_used_within_an_interval_is_not_in_it() -> None:
    assert difference({("shop", "d1"): row(5)}, [row(5)]) == []


def test_what_is_new_within_an_interval_is_known_whole() -> None:
    (new,) = difference({}, [row(2)])
    assert figures([new]).measures["query_time"].max == 2


def test_after_the_table_was_emptied_what_ran_since_is_counted() -> None:
    (left,) = difference({("shop", "d1"): row(5)}, [row(2)])
    assert left.count == 2


def test_buckets_are_subtracted_too() -> None:
    before, after = replace(row(5), buckets={10: 5}), replace(row(8), buckets={10: 6, 20: 2})
    (left,) = difference({before.key: before}, [after])
    assert left.buckets == {10: 1, 20: 2}
