"""Random statements: what is proposed stands in them, fits, and once it is there nothing more is proposed."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from mydyno.queries.candidates import Schema
from mydyno.queries.records import IndexCandidate
from mydyno.survey.facts.indexes import Part, TableIndex
from queries.candidates.builders import column, index, looked, schema, slow, table, text

COLUMNS = ("a", "b", "c", "d", "e")
TABLE = table(
    "t",
    "a",
    column("b", "enum('x','y')"),
    text("c"),
    column("d", "datetime"),
    column("e", "text", "utf8mb4_bin"),
    "id",
    indexes=(index("PRIMARY", "id"),),
)
_PARTS = re.compile(r"[(,] ?\(?`(\w+)`(?:\((\d+)\))?(?=[,)])")
columns = st.sampled_from(COLUMNS)
plain = st.builds(
    lambda column, how: how.format(column),
    columns,
    st.sampled_from(
        ["{} = 1", "{} > 'x'", "{} IN (1, 2)", "{} IS NULL", "{} LIKE 'x%'", "{} LIKE '%x'", "{}", "{} <> 3"],
    )
    | st.sampled_from(
        [
            "DATE({0}) = '2026-01-01'",
            "{} BETWEEN 1 AND 2",
            "{} = a + 1",
            "{} = (SELECT MAX(b) FROM t)",
            "{} <=> 'y'",
        ]
    ),
)
conditions = st.recursive(
    plain,
    lambda inner: st.builds(
        lambda one, word, other: f"({one} {word} {other})",
        inner,
        st.sampled_from(["AND", "OR", "AND NOT"]),
        inner,
    ),
    max_leaves=6,
)
endings = st.builds(
    lambda column, way, limit: f" ORDER BY {column}{way}{limit}",
    columns,
    st.sampled_from(["", " DESC", ", a", ", b DESC"]),
    st.sampled_from(["", " LIMIT 5"]),
) | st.just("")
statements = st.builds(
    lambda verb, condition, ending: f"{verb} WHERE {condition}{ending}",
    st.sampled_from(["SELECT * FROM t", "SELECT a, b FROM t", "DELETE FROM t", "UPDATE t SET a = 1"]),
    conditions,
    endings,
)


@settings(max_examples=40)
@given(st.lists(statements, min_size=1, max_size=3, unique=True))
def test_once_the_candidates_are_there_nothing_more_is_proposed(found: list[str]) -> None:
    groups = [slow(each) for each in found]
    before = looked(*groups, schema=schema(TABLE))
    for candidate in before.candidates:
        assert set(candidate.columns) <= {*COLUMNS}
        assert len(set(candidate.columns)) == len(candidate.columns)
    assert looked(*groups, schema=_with(before.candidates)).candidates == ()
    looked_at = {group for each in before.candidates for group in each.groups}
    assert looked_at | {each.group for each in before.without_candidate} == {each.id for each in groups}


def _with(candidates: tuple[IndexCandidate, ...]) -> Schema:
    own = tuple(
        TableIndex("shop.t", f"new{at}", False, "BTREE", tuple(map(_part, _PARTS.findall(each.statement))))
        for at, each in enumerate(candidates)
    )
    return schema(replace(TABLE, indexes=(*TABLE.indexes, *own)))


def _part(found: tuple[str, str]) -> Part:
    return Part(found[0], int(found[1]) if found[1] else None)
