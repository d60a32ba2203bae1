"""Which indexes could go."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mydyno.survey.facts.indexes import ForeignKey, Part, TableIndex, covered, not_needed, of_rows


def index(name: str, *columns: str | Part, unique: bool = False, kind: str = "BTREE") -> TableIndex:
    parts = tuple(Part(column) if isinstance(column, str) else column for column in columns)
    return TableIndex("shop.orders", name, unique or name == "PRIMARY", kind, parts)


def found(*indexes: TableIndex) -> dict[str, str]:
    return {each.index.name: each.by for each in covered(indexes)}


def test_an_index_that_another_one_begins_with_could_go() -> None:
    assert found(index("a", "a"), index("ab", "a", "b"), index("b", "b")) == {"a": "ab"}


def test_of_two_alike_the_primary_key_stays_then_the_unique_one_then_the_first_by_name() -> None:
    assert found(index("PRIMARY", "id"), index("i", "id")) == {"i": "PRIMARY"}
    assert found(index("u", "a", unique=True), index("a", "a")) == {"a": "u"}
    assert found(index("x", "a"), index("w", "a")) == {"x": "w"}


def test_a_unique_index_stays_for_what_it_forbids() -> None:
    assert found(index("u", "a", unique=True), index("ab", "a", "b")) == {}
    assert found(index("u", "a", unique=True), index("v", "a", unique=True)) == {"v": "u"}
    assert found(index("PRIMARY", "id"), index("id_a", "id", "a")) == {}


def test_the_beginning_of_a_column_its_order_and_a_hash_are_something_else() -> None:
    assert found(index("a", Part("a", 10)), index("ab", "a", "b")) == {}
    assert found(index("a", Part("a", descending=True)), index("ab", "a", "b")) == {}
    assert found(index("a", "a", kind="FULLTEXT"), index("ab", "a", "b")) == {}
    assert found(index("a", Part("a", 10)), index("ab", Part("a", 10), "b")) == {"a": "ab"}


def test_rows_of_information_schema_become_indexes_in_the_order_of_their_columns() -> None:
    row = {
        "TABLE_SCHEMA": "shop",
        "TABLE_NAME": "orders",
        "INDEX_NAME": "ab",
        "NON_UNIQUE": 1,
        "SUB_PART": None,
        "COLLATION": "A",
        "INDEX_TYPE": "BTREE",
    }
    (made,) = of_rows(
        [
            {**row, "SEQ_IN_INDEX": 2, "COLUMN_NAME": "b", "COLLATION": "D"},
            {**row, "SEQ_IN_INDEX": 1, "COLUMN_NAME": "a", "SUB_PART": 7},
        ]
    )
    assert made == index("ab", Part("a", 7), Part("b", descending=True))


def test_two_indexes_on_expressions_are_never_taken_for_the_same() -> None:
    row = {"TABLE_SCHEMA": "s", "TABLE_NAME": "t", "NON_UNIQUE": 1, "SEQ_IN_INDEX": 1, "COLUMN_NAME": None}
    rest = {"SUB_PART": None, "COLLATION": "A", "INDEX_TYPE": "BTREE"}
    made = of_rows([{**row, **rest, "INDEX_NAME": "e"}, {**row, **rest, "INDEX_NAME": "f"}])
    assert list(covered(made)) == []


def test_a_row_shows_how_many_values_there_are_and_whether_the_optimizer_looks_at_it() -> None:
    row = {"TABLE_SCHEMA": "s", "TABLE_NAME": "t", "NON_UNIQUE": 1, "SEQ_IN_INDEX": 1, "COLUMN_NAME": "a"}
    row |= {"SUB_PART": None, "COLLATION": "A", "INDEX_TYPE": "BTREE", "CARDINALITY": 7}
    of_mysql, of_mariadb, plain = of_rows(
        [
            {**row, "INDEX_NAME": "x", "IS_VISIBLE": "NO"},
            {**row, "INDEX_NAME": "y", "IGNORED": "YES"},
            {**row, "INDEX_NAME": "z"},
        ]
    )
    assert [each.visible for each in (of_mysql, of_mariadb, plain)] == [False, False, True]
    assert plain.parts[0].cardinality == 7


def test_a_hidden_index_stands_in_for_none_that_is_seen() -> None:
    seen, hidden = (
        index("a", "a"),
        TableIndex("shop.orders", "ab", False, "BTREE", (Part("a"), Part("b")), False),
    )
    assert found(seen, hidden) == {}
    assert found(hidden, index("abc", "a", "b", "c")) == {"ab": "abc"}


def test_an_unused_index_stays_for_a_foreign_key_that_no_other_serves() -> None:
    key = ForeignKey("shop.orders", ("a",))
    only, other = index("a", "a"), index("a_b", Part("a"), Part("b"))
    assert not_needed((only,), (only, index("b", "b")), (key,)) == ()
    assert not_needed((other,), (other, index("ac", "a", "c")), (key,)) == (other,)


_COLUMNS = st.lists(st.sampled_from("abc"), min_size=1, max_size=3, unique=True)


@given(st.lists(_COLUMNS, min_size=1, max_size=6), st.lists(st.booleans(), min_size=6, max_size=6), _COLUMNS)
def test_a_foreign_key_keeps_an_index_and_a_covered_one_what_covers_it(
    columns: list[list[str]], silent: list[bool], of_key: list[str]
) -> None:
    indexes = [index(f"i{number}", *names) for number, names in enumerate(columns)]
    unused = [each for each, is_silent in zip(indexes, silent, strict=False) if is_silent]
    key = ForeignKey("shop.orders", tuple(of_key))
    gone = {each.index.name for each in covered(indexes)}
    hidden = {each.name for each in not_needed(unused, indexes, (key,))}
    left = [names for each, names in zip(indexes, columns, strict=True) if each.name not in gone | hidden]
    assert gone | hidden <= {each.name for each in indexes}
    serves = [names[: len(of_key)] == of_key for names in columns]
    assert not any(serves) or any(names[: len(of_key)] == of_key for names in left)
    for each, names in zip(indexes, columns, strict=True):
        if each.name in gone:
            assert any(kept[: len(names)] == names for kept in left)
