"""Statements of all kinds as trees: whatever they are, the answer is a tree or a reason, and soon."""

from __future__ import annotations

import logging
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mydyno.queries.candidates import TableName, tables_of
from mydyno.queries.candidates.parsing import MOST_CHARACTERS, Refused, parse
from mydyno.queries.records import Example
from queries.builders import group
from queries.candidates.builders import looked, slow, why
from queries.candidates.test_choosing import COLUMNS
from queries.candidates.test_joins import COLUMNS as JOINS

PIECES = [*COLUMNS, *JOINS]
FINGERPRINT = "select x from t where a in (?+) and b = ? and c is ? limit ?"


def test_a_statement_that_is_cut_is_read_by_its_fingerprint() -> None:
    cut = Example(text="SELECT x, ", bytes=90_000, is_cut=True)
    found = looked(group(FINGERPRINT, example=cut, rows_examined=[9_999] * 3, rows_sent=[1] * 3))
    assert found.candidates[0].columns == ("b", "c", "a")
    assert "made from the fingerprint: its names are in lower case" in found.candidates[0].caveats


def test_names_of_a_statement_that_is_cut_have_the_case_of_its_beginning() -> None:
    cut = Example(
        text="SELECT X FROM Orders WHERE B = 1 AND C IS 2 AND A IN (1, 2, ", bytes=90_000, is_cut=True
    )
    fingerprint = FINGERPRINT.replace("from t", "from orders")
    found = looked(group(fingerprint, example=cut, rows_examined=[9_999] * 3, rows_sent=[1] * 3))
    assert found.candidates[0].table == "Orders"
    assert not any("lower case" in caveat for caveat in found.candidates[0].caveats)


@pytest.mark.parametrize(
    "comment", ["/* app:shop */ ", "-- a comment\n", "# a comment\n", "/*a*//*b*/\n  /* it's */", "\n"]
)
def test_a_comment_in_front_takes_no_name_its_case(comment: str) -> None:
    text = f"{comment}SELECT X FROM Orders WHERE B = 1 AND A = 2"
    example = Example(text=text, bytes=len(text))
    found = looked(
        group(
            "select x from orders where b = ? and a = ?",
            example=example,
            rows_examined=[9_999],
            rows_sent=[1],
        )
    )
    assert found.candidates[0].table == "Orders"


@pytest.mark.parametrize(
    ("fingerprint", "columns"),
    [
        ("SELECT `x` FROM `t` WHERE `a` IN (...) AND `b` = - ?", ("b", "a")),
        ("SELECT `x` FROM `t` WHERE `a` IN ( ?, ... , ? + ? ) LIMIT ?, ...", ("a",)),
        ("SELECT `x` FROM `t` WHERE ( `a` , `b` ) IN ( (...) /* , ... */ )", ("a", "b")),
        ("SELECT COUNT ( * ) FROM `t` AS `o` WHERE `o` . `a` = TIMESTAMP ?", ("a",)),
        (
            "SELECT `x` FROM `shop` . `t` WHERE `a` = (_charset) ? AND `b` > NOW ( ) - INTERVAL ? DAY",
            ("a", "b"),
        ),
        ("select x from t where a is ? and b between ? and ?", ("a", "b")),
    ],
)
def test_fingerprints_are_read_as_we_and_as_performance_schema_write_them(
    fingerprint: str, columns: tuple[str, ...]
) -> None:
    (found,) = looked(group(fingerprint, rows_examined=[9_999] * 3, rows_sent=[1] * 3)).candidates
    assert found.columns == columns


def test_a_like_of_a_fingerprint_may_begin_with_a_wildcard() -> None:
    found = looked(group("select x from t where a like ?", rows_examined=[9_999] * 3, rows_sent=[1] * 3))
    assert any("whether a pattern of LIKE begins" in caveat for caveat in found.candidates[0].caveats)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("SELECT " + "(" * 900 + "1" + ")" * 900, "it is nested too deeply"),
        ("SELECT * FROM t WHERE " + "NOT " * 2_000 + "a", "it is nested too deeply"),
        ("SELECT x FROM t WHERE a = 'open", "it could not be parsed"),
        ("SELECT x FROM t WHERE )", "it could not be parsed"),
        ("DELETE FRO", "it could not be parsed"),
        ("SELECT 1; DELETE FROM t WHERE a = 1", "it is not one statement"),
        ("SELECT x FROM t " + "JOIN t " * 20 + "WHERE a = 1", "it takes too long to parse"),
        ("SELECT x FROM t WHERE a IN (" + "1," * 9_000 + "1)", "it is longer than"),
    ],
)
def test_what_cannot_be_read_is_reported(statement: str, said: str) -> None:
    assert why(slow(statement, fingerprint="select ?", is_cut=True)).startswith(said)


def test_a_deep_tree_is_no_crash_wherever_it_is_looked_at() -> None:
    for deep in (60, 200, 400):
        statement = (
            "SELECT x FROM t WHERE "
            + " AND ".join(["a = 1"] * deep * 4)
            + " OR (" * deep
            + "b = 2"
            + ")" * deep
        )
        looked(slow(statement, is_cut=True))


def test_the_parser_says_nothing_aloud(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        why(slow("CREATE TABLE t LIKE u FOO BAR BAZ", is_cut=True))
    assert caplog.records == []


def test_the_longest_statement_is_read_soon() -> None:
    statement = "SELECT x FROM t WHERE a = 1" + " OR a = 1" * ((MOST_CHARACTERS - 30) // 9)
    began = time.process_time()
    assert not isinstance(parse(statement), Refused)
    assert time.process_time() - began < 2.0


def test_tables_are_named_as_the_statements_name_them() -> None:
    found = looked("SELECT 1 FROM a JOIN Other.B ON B.k = a.k WHERE a.c = 1", "SHOW TABLES")
    assert tables_of(found, 10) == (TableName("a", "shop"), TableName("B", "Other"))


BITS = (
    "",
    "(",
    ")",
    "'",
    "`",
    '"',
    ",",
    "?",
    ".",
    ";",
    "--",
    "/*",
    "*/",
    "\\",
    "@",
    ":=",
    "1e999",
    "0x",
    "\0",
    "é",
)
WORDS = (" AND ", " OR ", " NOT ", " IN ", " = ", " JOIN t ", "SELECT ", "CASE WHEN ", " END", "* ")
edits = st.tuples(
    st.integers(0, 200), st.integers(0, 12), st.sampled_from(BITS + WORDS) | st.text(max_size=4)
)


def _mutated(text: str, edits: list[tuple[int, int, str]]) -> str:
    for at, length, new in edits:
        text = text[:at] + new + text[at + length :]
    return text


@settings(max_examples=60)
@given(st.sampled_from(PIECES), st.lists(edits, min_size=1, max_size=6))
def test_no_mutated_statement_crashes_and_each_gets_a_candidate_or_a_reason(
    statement: str, edits: list[tuple[int, int, str]]
) -> None:
    found = looked(slow(_mutated(statement, edits), fingerprint="select ?", is_cut=True))
    assert found.candidates or found.without_candidate[0].why
