"""Which groups get an index at all, and in which order the indexes come."""

from __future__ import annotations

from typing import Any

import pytest

from mydyno.queries.records import Flag, Plan, PlanRow
from queries.candidates.builders import only, slow, wanted, why

STATEMENT = "SELECT x FROM t WHERE a = 1"


def planned(**row: Any) -> Plan:
    return Plan(rows=(PlanRow(table="t", **row),))


def test_a_group_that_examines_hardly_more_than_it_sends_gets_none_and_is_reported() -> None:
    said = why(slow(STATEMENT, rows_sent=[45_000] * 10))
    assert said == "it examines 100,000 rows a run, hardly more than it needs (2.2 for each)"


def test_rows_that_are_changed_are_of_use_too() -> None:
    assert "hardly more" in why(slow("UPDATE t SET x = 1 WHERE a = 1", rows_affected=[95_000] * 10))


def test_a_few_rows_need_no_index() -> None:
    assert (
        why(slow(STATEMENT, rows_examined=[40] * 10)) == "it examines 40 rows a run: too few to need an index"
    )


def test_rows_examined_for_each_that_is_sent_are_the_first_evidence() -> None:
    reasons = only(STATEMENT).reasons
    assert reasons[0] == "it examines 100,000 rows a run, 50,000 for each row that it sends or changes"


def test_flags_speak_where_rows_are_not_known() -> None:
    silent = {"rows_examined": [], "rows_sent": []}
    scan = slow(STATEMENT, **silent, flags={"full_scan": Flag(yes=9, told=10)})
    assert "full scan in 9 of 10 runs" in only(scan).reasons
    none = slow(STATEMENT, **silent, flags={"full_scan": Flag(yes=0, told=10)})
    assert why(none) == "it scans no table, and its rows examined are not known"


@pytest.mark.parametrize(
    "row",
    [
        {"type": "ALL", "rows": 20_000},
        {"type": "index", "key": "PRIMARY", "rows": 20_000},
        {"type": "ref", "key": "b", "rows": 9_000},
        {"type": "ref", "key": "b", "rows": 9, "extra": "Using filesort"},
    ],
)
def test_a_plan_that_scans_or_sorts_is_quoted(row: dict[str, Any]) -> None:
    reasons = only(slow(STATEMENT, plan=planned(**row))).reasons
    assert any(reason.startswith(f"EXPLAIN reads it with type {row['type']}") for reason in reasons)


@pytest.mark.parametrize("row", [{"type": "const", "key": "u"}, {"type": "ref", "key": "a", "rows": 3}])
def test_a_table_that_the_plan_finds_by_a_key_gets_none(row: dict[str, Any]) -> None:
    assert f"EXPLAIN reads it with type {row['type']}, key" in why(slow(STATEMENT, plan=planned(**row)))


def test_candidates_come_by_the_time_of_their_groups_then_by_rows_read_in_vain() -> None:
    longest = slow("SELECT x FROM v WHERE c = 1", microseconds=2_000_000)
    more = slow("SELECT x FROM u WHERE b = 1", rows_examined=[400_000] * 10)
    assert wanted(STATEMENT, more, longest) == ["v(c)", "u(b)", "t(a)"]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("SHOW TABLES", "it searches no rows of a table"),
        ("INSERT INTO t VALUES (1)", "it searches no rows of a table"),
        ("SELECT 1", "it searches no rows of a table"),
        ("SELECT * FROM information_schema.tables WHERE table_name = 'x'", "it searches no rows of a table"),
        ("SELECT COUNT(*) FROM t", "shop.t: no condition and no ORDER BY with LIMIT"),
        ("SELECT x FROM t ORDER BY b", "shop.t: no condition and no ORDER BY with LIMIT"),
    ],
)
def test_what_has_no_use_for_an_index_is_reported(statement: str, said: str) -> None:
    assert why(statement).startswith(said)


def test_administrator_commands_are_no_statements() -> None:
    assert why(slow("Quit", kind="administrator-command")) == "it is not a statement"
