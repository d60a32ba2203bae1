"""One index for several groups."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from mydyno.queries.candidates.choosing import Pattern, begins, columns_of, merged
from queries.candidates.builders import looked, only, slow, wanted


def test_an_index_that_another_one_begins_with_is_served_by_it() -> None:
    short, long = "SELECT x FROM t WHERE a = 1", "SELECT x FROM t WHERE a = 1 AND b = 2 ORDER BY c LIMIT 3"
    found = only(slow(short, microseconds=5_000), slow(long, microseconds=9_000))
    assert found.columns == ("a", "b", "c")
    assert len(found.groups) == 2
    assert found.query_time_us == 140_000
    assert (
        found.reasons[1]
        == f"{found.groups[0]}: looks up a and b with one value, then c in the order of ORDER BY"
    )


def test_columns_with_one_value_change_places_for_that() -> None:
    assert wanted("SELECT x FROM t WHERE a = 1 AND b = 2", "SELECT x FROM t WHERE b = 2") == ["t(b, a)"]
    both = wanted("SELECT x FROM t WHERE a = 1 AND b = 2", "SELECT x FROM t WHERE b = 2 AND c > 3")
    assert sorted(both) == ["t(a, b)", "t(b, c)"]


def test_orders_that_do_not_agree_are_two_indexes_with_separate_names() -> None:
    found = looked(
        "SELECT x FROM t WHERE a = 1 ORDER BY b LIMIT 3", "SELECT x FROM t WHERE a = 1 ORDER BY c LIMIT 3"
    )
    assert {each.columns for each in found.candidates} == {("a", "b"), ("a", "c")}
    assert len({each.statement for each in found.candidates}) == 2


def test_tables_of_two_databases_are_two_tables() -> None:
    statement = "SELECT x FROM t WHERE a = 1"
    here, there = slow(statement), slow(statement, fingerprint="another", databases=(("other", 10),))
    assert {each.database for each in looked(here, there).candidates} == {"shop", "other"}


def test_a_group_of_many_databases_says_which_one_it_is_for() -> None:
    many = slow("SELECT x FROM s1.t WHERE a = 1", databases=(("s1", 8), ("s2", 2)))
    assert only(many).database == "s1"


blocks = st.lists(
    st.frozensets(st.sampled_from("abcdef"), min_size=1, max_size=3), min_size=1, max_size=4
).map(lambda found: _disjoint(found))


def _disjoint(found: list[frozenset[str]]) -> Pattern:
    seen: set[str] = set()
    kept = []
    for block in found:
        kept += [block - seen] if block - seen else []
        seen |= block
    return tuple(kept)


@settings(max_examples=60)
@given(blocks, blocks)
def test_an_index_on_the_merged_pattern_begins_with_both(one: Pattern, other: Pattern) -> None:
    together = merged(one, other)
    if together is None:
        assert not any(
            begins(columns, one) and begins(columns, other)
            for columns in itertools.permutations(columns_of(one) | columns_of(other))
        )
        return
    columns = [column for block in together for column in sorted(block)]
    assert begins(columns, one)
    assert begins(columns, other)
    assert set(columns) == columns_of(one) | columns_of(other)
    assert merged(other, one) == together
