"""Tables of a join: which is read first, and by which columns the others are looked up."""

from __future__ import annotations

import pytest

from mydyno.survey.facts.indexes import Part
from queries.candidates.builders import index, looked, schema, table, wanted, why

COLUMNS: dict[str, list[str]] = {
    "SELECT 1 FROM a JOIN b ON b.a_ref = a.k WHERE a.c = 1": ["a(c)", "b(a_ref)"],
    "SELECT 1 FROM b JOIN a ON b.a_ref = a.k WHERE a.c = 1": ["a(c)", "b(a_ref)"],
    "SELECT 1 FROM a, b WHERE b.a_ref = a.k AND a.c = 1 AND b.z > 3": ["a(c)", "b(a_ref, z)"],
    "SELECT 1 FROM a JOIN b USING (k) WHERE a.c = 1": ["a(c)", "b(k)"],
    "SELECT 1 FROM a LEFT JOIN b ON b.a_ref = a.k AND b.z = 1 WHERE a.c = 1": ["a(c)", "b(z, a_ref)"],
    "SELECT 1 FROM b RIGHT JOIN a ON b.a_ref = a.k WHERE a.c = 1": ["a(c)", "b(a_ref)"],
    "SELECT 1 FROM a LEFT JOIN b ON b.a_ref = a.k AND a.d = 2 WHERE a.c = 1": ["a(c)", "b(a_ref)"],
    "SELECT STRAIGHT_JOIN 1 FROM b JOIN a ON b.a_ref = a.k WHERE a.c = 1": ["a(c, k)"],
    "SELECT 1 FROM b STRAIGHT_JOIN a ON b.a_ref = a.k WHERE a.c = 1": ["a(c, k)"],
    "SELECT 1 FROM a JOIN b ON b.a_ref = a.k JOIN c ON c.b_ref = b.k WHERE a.c = 1": [
        "a(c)",
        "b(a_ref)",
        "c(b_ref)",
    ],
    "SELECT 1 FROM (a JOIN b ON b.a_ref = a.k) LEFT JOIN c ON c.b_ref = b.k WHERE a.c = 1": [
        "a(c)",
        "b(a_ref)",
        "c(b_ref)",
    ],
    "SELECT 1 FROM a JOIN b ON b.a_ref = a.k WHERE a.c = 1 ORDER BY a.d LIMIT 9": ["a(c, d)", "b(a_ref)"],
    "SELECT 1 FROM a JOIN b ON b.a_ref = a.k WHERE a.c = 1 ORDER BY b.d LIMIT 9": ["b(d)", "a(c, k)"],
    "SELECT 1 FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.a_ref = a.k AND b.z = 3)": ["b(a_ref, z)"],
    "SELECT 1 FROM a WHERE a.k IN (SELECT b.a_ref FROM b WHERE b.z = 3)": ["a(k)", "b(z)"],
    "UPDATE a JOIN b ON b.a_ref = a.k SET b.x = 1 WHERE a.c = 1": ["a(c)", "b(a_ref)"],
    "DELETE b FROM a JOIN b ON b.a_ref = a.k WHERE a.c = 1": ["a(c)", "b(a_ref)"],
    "DELETE FROM b USING a JOIN b ON b.a_ref = a.k WHERE a.c = 1": ["a(c)", "b(a_ref)"],
    "(SELECT 1 FROM a WHERE c = 1) UNION (SELECT 1 FROM b WHERE d = 1) ORDER BY 1": ["a(c)", "b(d)"],
    "SELECT 1 FROM a x JOIN a y ON y.parent = x.k WHERE x.c = 1": ["a(c)", "a(parent)"],
    "SELECT 1 FROM a JOIN (SELECT k FROM b WHERE z = 1) d ON d.k = a.b_ref": ["a(b_ref)", "b(z)"],
}


@pytest.mark.parametrize("statement", COLUMNS)
def test_the_narrowest_table_comes_first_and_the_others_are_looked_up_by_what_joins_them(
    statement: str,
) -> None:
    assert sorted(wanted(statement)) == sorted(COLUMNS[statement])


def test_without_a_schema_a_column_of_no_known_table_is_left_out_and_named() -> None:
    found = looked("SELECT 1 FROM a JOIN b ON b.a_ref = a.k WHERE a.c = 1 AND open_one = 2")
    assert [each.columns for each in found.candidates] == [("c",), ("a_ref",)]
    assert "the table of open_one is unknown: left out" in found.candidates[0].caveats


def test_with_a_schema_a_column_is_of_the_table_that_has_it() -> None:
    known = schema(table("a", "k", "c", "d"), table("b", "a_ref", "z"))
    assert wanted("SELECT 1 FROM a JOIN b ON a_ref = k WHERE c = 1 AND z = 2", schema=known) == [
        "a(c)",
        "b(z, a_ref)",
    ]


def test_a_subquery_sees_the_columns_around_it() -> None:
    known = schema(table("a", "k", "c"), table("b", "a_ref", "z"))
    assert "b(a_ref, z)" in wanted(
        "SELECT 1 FROM a WHERE c = (SELECT MAX(z) FROM b WHERE a_ref = k)", schema=known
    )


def test_a_column_that_looks_like_a_primary_key_is_not_proposed_without_a_schema() -> None:
    assert wanted("SELECT 1 FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.placed > 5") == [
        "orders(placed)"
    ]
    assert "id looks like its primary key" in why("SELECT SUM(x) FROM t WHERE id BETWEEN 1 AND 500")


def test_with_a_schema_the_smaller_table_is_read_first() -> None:
    small = table("small", "k", "c", rows=2_000)
    large = table("large", "k", "c", rows=150_000, indexes=(index("x", Part("x")),))
    assert wanted(
        "SELECT 1 FROM large JOIN small ON small.k = large.k WHERE small.c = 1 AND large.c = 1",
        schema=schema(small, large),
    ) == ["large(c, k)", "small(c)"]


def test_columns_of_a_subquery_are_known_by_its_list() -> None:
    known = schema(table("a", "k", "c"), table("b", "a_ref", "z"))
    found = looked(
        "SELECT 1 FROM a JOIN (SELECT a_ref, SUM(z) AS total FROM b WHERE z > 1 GROUP BY 1) d ON a_ref = k"
        " WHERE c = 1 AND total > 5",
        schema=known,
    )
    assert sorted(f"{each.table}({', '.join(each.columns)})" for each in found.candidates) == [
        "a(c, k)",
        "b(z)",
    ]
    assert not any("is unknown: left out" in caveat for each in found.candidates for caveat in each.caveats)


def test_a_table_of_a_join_with_more_rows_than_are_examined_was_found_by_an_index() -> None:
    known = schema(table("a", "k", "c", rows=15_000), table("b", "a_ref", "z", rows=1_000_000))
    found = looked("SELECT 1 FROM a JOIN b ON a_ref = k WHERE c = 1", schema=known)
    assert [each.table for each in found.candidates] == ["a"]
    alone = why("SELECT 1 FROM b JOIN b x ON x.a_ref = b.z", known)
    assert "shop.b has more rows than the statement examines" in alone
