"""Statements broken into lines for people."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mydyno.queries.report.sql_lines import broken, pieces


def lines(statement: str) -> list[str]:
    return "".join(piece.text for piece in broken(statement)).split("\n")


@pytest.mark.parametrize(
    ("statement", "wanted"),
    [
        (
            "select a, sum(b) from t left outer join u on u.id = t.id where c between ? and ? and d in (?+)"
            " or e = ? group by a order by ? desc limit ?",
            [
                "select a, sum(b)",
                "from t",
                "left outer join u on u.id = t.id",
                "where c between ? and ?",
                "  and d in (?+)",
                "  or e = ?",
                "group by a",
                "order by ? desc",
                "limit ?",
            ],
        ),
        (
            "select a from t where b = ? and exists (select ? from u where x = ? and y = ?) limit ?",
            [
                "select a",
                "from t",
                "where b = ?",
                "  and exists (",
                "    select ?",
                "    from u",
                "    where x = ?",
                "      and y = ?",
                "  )",
                "limit ?",
            ],
        ),
        (
            "insert into t (a, b) values (?+) on duplicate key update a = values(a)",
            ["insert into t (a, b)", "values (?+)", "on duplicate key update a = values(a)"],
        ),
        (
            "update t set a = case when b = ? and c then ? else left(d, ?) end where id = ?",
            ["update t", "set a = case when b = ? and c then ? else left(d, ?) end", "where id = ?"],
        ),
        ("delete from t where a = ?", ["delete from t", "where a = ?"]),
        ("select extract(year from a) from t", ["select extract(year from a)", "from t"]),
        ("set autocommit = ?", ["set autocommit = ?"]),
        ("show full columns from t", ["show full columns from t"]),
        ("Quit", ["Quit"]),
        ("select 'from' /* where */\nfrom t where a", ["select 'from' /* where */", "from t where a"]),
        ("", [""]),
    ],
)
def test_clauses_conditions_and_queries_have_lines_of_their_own(statement, wanted):
    assert lines(statement) == wanted


def test_each_piece_has_its_kind():
    found = [
        (piece.kind, piece.text) for piece in pieces("SELECT `a`, 'it''s', 1.5e3, ?+ /* x */ FROM t -- y")
    ]
    assert [each for each in found if each[0] not in ("space", "other")] == [
        ("keyword", "SELECT"),
        ("name", "`a`"),
        ("string", "'it''s'"),
        ("number", "1.5e3"),
        ("hole", "?+"),
        ("comment", "/* x */"),
        ("keyword", "FROM"),
        ("name", "t"),
        ("comment", "-- y"),
    ]


@pytest.mark.parametrize("tail", ["'never closed", '"never closed', "`never closed", "/* never closed"])
def test_what_was_cut_in_the_middle_is_one_piece_to_its_end(tail):
    assert [piece.text for piece in pieces(f"select {tail} from t")][-1] == f"{tail} from t"


_SYNTAX = (
    "select from where and or between ( ) case end join left on set values , = ? 'a' \" ` /* */ -- # \\ x"
)
_WORDS = st.sampled_from(_SYNTAX.split())


@settings(max_examples=50)
@given(st.one_of(st.text(), st.lists(_WORDS).map(" ".join)))
def test_nothing_is_lost_whatever_comes_in(statement):
    assert "".join(piece.text for piece in pieces(statement)) == statement
    assert "".join("".join(lines(statement)).split()) == "".join(statement.split())


def test_a_long_hostile_statement_takes_no_time_worth_telling():
    for evil in ("'" * 8_000, "'\\" * 4_000, "/*" * 4_000, "(" * 8_000, "(select " * 1_000, "-" * 8_000):
        assert sum(len(piece.text) for piece in broken(evil)) < 5 * len(evil)
