"""What a table has already: then that is told, and nothing proposed."""

from __future__ import annotations

import pytest

from mydyno.queries.candidates import Definition, Schema
from mydyno.survey.facts import Unread
from mydyno.survey.facts.indexes import Part, TableIndex
from queries.candidates.builders import column, index, looked, only, schema, slow, table, text, wanted, why

STATEMENT = "SELECT x FROM t WHERE a = 1 AND b > 2"


def having(*indexes: TableIndex, rows: int = 100_000, engine: str = "InnoDB") -> Schema:
    return schema(table("t", "id", "a", "b", "c", "x", indexes=indexes, rows=rows, engine=engine))


@pytest.mark.parametrize(
    "there",
    [
        index("ab", "a", "b"),
        index("abc", "a", "b", "c"),
        index("PRIMARY", "a", "b"),
        index("u", "a", unique=True),
        index("few", Part("a", cardinality=50_000)),
        index("ab", "A", "B"),
    ],
)
def test_an_index_that_serves_it_already_is_reported(there: TableIndex) -> None:
    said = why(STATEMENT, having(there))
    assert "exists already" in said
    assert (there.name if there.name != "PRIMARY" else "the primary key") in said


@pytest.mark.parametrize(
    "there",
    [
        index("ba", "b", "a"),
        index("c", "c"),
        index("ab", "a", "b", visible=False),
        index("ab", "a", "b", kind="FULLTEXT"),
        index("a", Part("a", cardinality=300)),
        index("xa", Part("(xa 1)"), "a", "b"),
    ],
)
def test_an_index_that_does_not_serve_it_is_no_hindrance(there: TableIndex) -> None:
    assert wanted(STATEMENT, schema=having(there)) == ["t(a, b)"]


def test_an_innodb_index_ends_with_the_primary_key_and_a_myisam_one_does_not() -> None:
    there = (index("PRIMARY", "id"), index("a", "a"))
    statement = "SELECT x FROM t WHERE a = 1 ORDER BY id LIMIT 3"
    assert "index a (a) exists already" in why(statement, having(*there))
    assert wanted(statement, schema=having(*there, engine="MyISAM")) == ["t(a, id)"]


def test_the_beginning_of_a_column_ends_the_order() -> None:
    known = schema(table("t", text("a"), "b", "x", indexes=(index("ab", Part("a", 10), "b"),)))
    assert wanted("SELECT x FROM t WHERE a = 'y' AND b > 2", schema=known) == ["t(a, b)"]
    assert "exists already" in why("SELECT x FROM t WHERE a = 'y'", known)


def test_why_an_index_is_not_used_is_reported_as_far_as_it_can_be_seen() -> None:
    rare = having(index("a", Part("a", cardinality=3)))
    assert "each of its values matches about 33,333 of 100,000 rows" in why(
        "SELECT x FROM t WHERE a = 1", rare
    )
    skewed = having(index("a", Part("a", cardinality=20_000)))
    assert "should find about 5 rows: some values may be far more frequent" in why(
        "SELECT x FROM t WHERE a = 1", skewed
    )


def test_an_index_that_the_new_one_begins_with_could_go() -> None:
    found = only(STATEMENT, schema=having(index("a", Part("a", cardinality=30))))
    assert "index a (a) is redundant with it" in found.caveats
    found = only(STATEMENT, schema=having(index("u", "a", "c", unique=True)))
    assert not any("not needed" in caveat for caveat in found.caveats)


def test_many_indexes_and_writes_are_reported() -> None:
    many = [index(f"x{at}", "x", Part(f"y{at}")) for at in range(7)]
    insert = slow(
        "INSERT INTO t VALUES (1)", fingerprint="insert into `shop`.`t` values (?+)", microseconds=1
    )
    update = slow(
        "UPDATE t SET x = 1 WHERE id = 1", fingerprint="update t set x = ? where id = ?", microseconds=2
    )
    found = looked(STATEMENT, insert, update, schema=having(*many, index("PRIMARY", "id"))).candidates[0]
    assert "the table has 8 indexes already" in found.caveats
    assert any(caveat.startswith("20 statements of the digest write the table") for caveat in found.caveats)


def test_tiny_tables_views_and_tables_that_are_not_there_get_none() -> None:
    assert "has about 900 rows" in why(STATEMENT, having(rows=900))
    assert "shop.t is a view" in why(STATEMENT, schema(table("t", "a", "b", engine=None)))
    assert "shop.t was not found in the schema" in why(STATEMENT, schema())
    unread = Unread(what="table shop.t", why="it is not there", hint="GRANT SELECT ON x TO y")
    assert (
        why(STATEMENT, Schema(unread=(unread,))) == "table shop.t: it is not there (GRANT SELECT ON x TO y)"
    )


def test_a_table_without_a_known_database_is_found_where_one_alone_has_it() -> None:
    found = only(slow(STATEMENT, databases=()), schema=having())
    assert (found.database, found.table) == ("shop", "t")
    two = Schema(None, (*having().tables, Definition(type(having().tables[0].name)("t", "other"))))
    assert "was not found" in why(slow(STATEMENT, databases=()), two)


def test_a_condition_that_leaves_much_of_the_table_gets_none() -> None:
    known = schema(table("t", column("a", "enum('x','y','z')"), column("b", "tinyint(1)"), "x"))
    assert "a has so few values that each matches about 33% of the rows" in why(
        "SELECT x FROM t WHERE a = 'x'", known
    )
    assert wanted("SELECT x FROM t WHERE a = 'x' AND b = 1", schema=known) == ["t(a, b)"]
    assert wanted("SELECT x FROM t WHERE b = 1 ORDER BY x LIMIT 3", schema=known) == ["t(b, x)"]


def test_columns_with_many_values_come_first() -> None:
    known = schema(
        table(
            "t",
            column("a", "enum('x','y')"),
            "b",
            "c",
            "d",
            indexes=(index("c", Part("c", cardinality=90)), index("d", Part("d", cardinality=900))),
        )
    )
    assert wanted("SELECT 1 FROM t WHERE a = 'x' AND b = 1 AND c = 2 AND d = 3", schema=known) == [
        "t(d, c, b, a)"
    ]


def test_nothing_is_proposed_when_the_candidates_are_there() -> None:
    statements = [
        "SELECT x FROM t WHERE a = 1 ORDER BY b LIMIT 3",
        "SELECT x FROM t WHERE a IN (1, 2) AND c = 5",
        "DELETE FROM t WHERE b < 5",
    ]
    found = looked(*statements, schema=having())
    there = [index(f"i{at}", *each.columns) for at, each in enumerate(found.candidates)]
    assert len(there) == 3
    assert looked(*statements, schema=having(*there)).candidates == ()


def test_without_a_schema_that_is_a_caveat() -> None:
    caveat = "the schema was not read: an index that serves this may be there already"
    assert caveat in only(STATEMENT).caveats
    assert caveat not in only(STATEMENT, schema=having()).caveats
