"""Conditions that no index can look up: what to write instead."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mydyno.core.server_version import parse_version
from mydyno.queries.candidates import Schema
from queries.candidates.builders import MARIADB, column, index, looked, only, schema, table, text, wanted, why

INSTEAD = {
    "DATE(a) = '2026-01-01'": "write a >= day AND a < day + INTERVAL 1 DAY",
    "YEAR(a) = 2026": "write a range: a >= its first day",
    "LOWER(a) = 'x'": "a collation _ci compares without case",
    "a + 1 = 5": "write a alone on one side",
    "a + INTERVAL 1 DAY > NOW()": "write a alone on one side",
    "DATE_ADD(a, INTERVAL 1 DAY) > NOW()": "write a alone on one side",
    "a BETWEEN 5 AND a + b": "no condition",
    "COALESCE(a, 0) = 0": "write a = value OR a IS NULL",
    "SUBSTRING(a, 1, 3) = 'abc'": "a generated column with an index",
    "a LIKE '%end'": "a LIKE '%end' begins with a wildcard",
    "a LIKE '_nd'": "begins with a wildcard",
    "a LIKE CONCAT('%', 'x')": "begins with a wildcard",
    "a RLIKE 'x'": "a regular expression on a",
    "a = FLOOR(RAND() * 9)": "is evaluated again for every row",
    "a": "write a = 1",
    "a IS TRUE": "write a = 1",
    "a = 1 OR b = 2": "OR over a and b",
    "(a, b) > (1, 2)": "(a, b) compared by < or > as a row",
    "MATCH (a, b) AGAINST ('x')": "MATCH needs a FULLTEXT index on exactly (a, b)",
    "a->>'$.x' = 'y'": "a generated column with an index",
    "BINARY a = 'x'": "is computed for every row",
    "CAST(a AS DATE) BETWEEN '2026-01-01' AND '2026-01-02'": "is computed for every row",
}


@pytest.mark.parametrize("condition", INSTEAD)
def test_what_is_in_the_way_is_reported_with_what_to_write_instead(condition: str) -> None:
    assert INSTEAD[condition] in why(f"SELECT x FROM t WHERE {condition}")


def test_an_obstacle_of_a_candidate_is_its_caveat() -> None:
    found = only("SELECT x FROM t WHERE b = 1 AND a LIKE '%end'")
    assert found.columns == ("b",)
    assert any("begins with a wildcard" in caveat for caveat in found.caveats)


def test_an_obstacle_of_another_table_of_the_statement_is_a_caveat_too() -> None:
    found = only("SELECT 1 FROM a JOIN b ON LOWER(b.word) = a.word WHERE a.c = 1")
    assert (found.table, found.columns) == ("a", ("c",))
    assert any("LOWER(b.word) is computed for every row" in caveat for caveat in found.caveats)


def test_dates_are_ranges_where_the_release_makes_them_so() -> None:
    known = table("t", column("a", "datetime"), "x")
    statement = "SELECT x FROM t WHERE DATE(a) = '2026-01-01'"
    new = parse_version("mariadbd Ver 11.4.2-MariaDB")
    assert wanted(statement, schema=schema(known, release=new)) == ["t(a)"]
    assert wanted("SELECT x FROM t WHERE YEAR(a) = 2026", schema=schema(known, release=new)) == ["t(a)"]
    assert "write a >= day" in why(statement, schema=schema(known, release=MARIADB))


def test_text_that_is_compared_with_a_number_is_known_from_the_schema() -> None:
    known = schema(table("t", text("code"), "x", indexes=(index("code", "code"),)))
    for condition in ("code = 17", "code IN ('a', 17)", "code > -17", "code = 17 * (2 + 1)"):
        said = why(f"SELECT x FROM t WHERE {condition}", schema=known)
        assert "code is varchar(40) and compared with a number" in said
        assert "index code (code) of shop.t exists and cannot be used for it" in said


def test_joins_of_unlike_columns_are_known_from_the_schema() -> None:
    join = "SELECT STRAIGHT_JOIN 1 FROM b JOIN a ON a.k = b.a_ref WHERE b.word = 'x'"
    latin = schema(
        table("a", text("k", collation="latin1_swedish_ci"), "c"), table("b", text("a_ref"), text("word"))
    )
    found = looked(join, schema=latin)
    assert [each.columns for each in found.candidates] == [("word",)]
    assert "k is latin1_swedish_ci and a_ref is utf8mb4_general_ci" in why(join, having_word(latin))
    number = schema(table("a", text("k"), "c"), table("b", "a_ref", text("word")))
    assert "k is varchar(40) and a_ref is int: use one type for both" in why(join, having_word(number))
    other_way = schema(table("a", "k", "c"), table("b", text("a_ref"), text("word")))
    assert sorted(wanted(join, schema=other_way)) == ["a(k)", "b(word)"]


def test_an_index_that_may_help_all_the_same_is_not_said_to_be_useless() -> None:
    known = schema(table("t", "a", "b", "x", indexes=(index("a", "a"), index("b", "b"))))
    for condition in ("a = 1 OR b = 2", "a"):
        assert "cannot be used" not in why(f"SELECT x FROM t WHERE {condition}", known)
    assert "index a (a) of shop.t exists and cannot be used" in why("SELECT x FROM t WHERE a + 1 = 5", known)


def test_a_binary_collation_is_in_the_way_of_mysql_alone() -> None:
    join = "SELECT STRAIGHT_JOIN 1 FROM b JOIN a ON a.k = b.a_ref WHERE b.word = 'x'"
    tables = (table("a", text("k"), "c"), table("b", text("a_ref", collation="utf8mb4_bin"), text("word")))
    assert "a_ref is utf8mb4_bin" in why(join, having_word(schema(*tables)))
    assert wanted(join, schema=having_word(schema(*tables, release=MARIADB))) == ["a(k)"]


def having_word(known: Schema) -> Schema:
    """The same with an index on b.word."""
    a, b = known.tables
    return schema(a, replace(b, indexes=(index("word", "word"),)), release=known.release)
