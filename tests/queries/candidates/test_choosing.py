"""Which columns an index gets, and in which order."""

from __future__ import annotations

import pytest

from queries.candidates.builders import looked, only, slow, wanted

COLUMNS = {
    "SELECT x FROM t WHERE a = 1": "t(a)",
    "SELECT x FROM t WHERE a = 1 AND b = 2": "t(a, b)",
    "SELECT x FROM t WHERE b > 5 AND a = 1": "t(a, b)",
    "SELECT x FROM t WHERE b BETWEEN 1 AND 2 AND a <=> NULL": "t(a, b)",
    "SELECT x FROM t WHERE a IS NULL AND b LIKE 'be%'": "t(a, b)",
    "SELECT x FROM t WHERE a IN (1, 2) AND b = 3": "t(b, a)",
    "SELECT x FROM t WHERE a IN (1) AND b > 3": "t(a, b)",
    "SELECT x FROM t WHERE (a, b) = (1, 2)": "t(a, b)",
    "SELECT x FROM t WHERE (a, b) IN ((1, 2), (3, 4))": "t(a, b)",
    "SELECT x FROM t WHERE 5 < a": "t(a)",
    "SELECT x FROM t WHERE 5 BETWEEN a AND b": "t(a)",
    "SELECT x FROM t WHERE a = 1 OR a = 2": "t(a)",
    "SELECT x FROM t WHERE a = 1 AND b = 2 OR a = 2 AND b > 3": "t(a, b)",
    "SELECT x FROM t WHERE a = NOW() - INTERVAL 1 DAY": "t(a)",
    "SELECT x FROM t WHERE a = @a AND b = :b": "t(a, b)",
    "SELECT x FROM t WHERE a = 1 AND b <> 2 AND c IS NOT NULL AND NOT d = 4": "t(a)",
    "SELECT x FROM t WHERE a = 1 ORDER BY b LIMIT 5": "t(a, b)",
    "SELECT x FROM t WHERE a = 1 ORDER BY a, b DESC, c DESC LIMIT 5": "t(a, b, c)",
    "SELECT x FROM t ORDER BY b DESC LIMIT 5": "t(b)",
    "SELECT x, b AS y FROM t WHERE a = 1 ORDER BY y LIMIT 5": "t(a, b)",
    "SELECT x, b FROM t WHERE a = 1 ORDER BY 2 LIMIT 5": "t(a, b)",
    "SELECT x FROM t WHERE a = 1 AND b > 3 ORDER BY b, c LIMIT 5": "t(a, b, c)",
    "SELECT x FROM t WHERE a = 1 AND b > 3 ORDER BY c LIMIT 5": "t(a, b)",
    "SELECT b, COUNT(*) FROM t WHERE a = 1 GROUP BY b": "t(a, b)",
    "SELECT MAX(b) FROM t WHERE a = 1": "t(a, b)",
    "UPDATE t SET x = 1 WHERE a = 1 AND b < 2": "t(a, b)",
    "UPDATE LOW_PRIORITY t SET x = 1 WHERE a = 1": "t(a)",
    "DELETE FROM t WHERE a < 1 ORDER BY a LIMIT 10": "t(a)",
    "INSERT INTO u SELECT x FROM t WHERE a = 1": "t(a)",
    "REPLACE INTO u SELECT x FROM t WHERE a = 1": "t(a)",
    "CREATE TABLE u AS SELECT x FROM t WHERE a = 1": "t(a)",
    "SELECT SQL_NO_CACHE DISTINCT x FROM t WHERE a = 1": "t(a)",
    "SELECT x FROM t WHERE a = (SELECT COUNT(*) FROM u)": "t(a)",
    "SELECT MIN(b) FROM t": "t(b)",
    "WITH w AS (SELECT x FROM t WHERE a = 1) SELECT * FROM w WHERE x = 3": "t(a)",
    "SELECT * FROM (SELECT x FROM t WHERE a = 1 ORDER BY b LIMIT 5) d WHERE d.x = 1": "t(a, b)",
}


@pytest.mark.parametrize("statement", COLUMNS)
def test_columns_with_one_value_come_first_then_lists_then_one_range_or_the_order(statement: str) -> None:
    assert wanted(statement) == [COLUMNS[statement]]


def test_a_rule_and_what_it_leaves_undone_are_reported() -> None:
    found = only("SELECT x FROM t WHERE a = 1 AND b > 3 AND c > 4 ORDER BY d LIMIT 5")
    assert "looks up a with one value, then the range of b" in found.reasons
    assert {
        "after the range of b c cannot narrow the search",
        "ORDER BY d is still sorted: a range comes before it",
    } <= set(found.caveats)
    found = only("SELECT x FROM t WHERE a IN (1, 2) ORDER BY d LIMIT 5")
    assert "ORDER BY d is still sorted: a list of values comes before it" in found.caveats


def test_an_order_that_no_index_has_is_reported() -> None:
    assert any(
        "goes up and down" in caveat
        for caveat in only("SELECT x FROM t WHERE a = 1 ORDER BY b, c DESC LIMIT 5").caveats
    )
    assert any(
        "uses an expression" in caveat
        for caveat in only("SELECT x FROM t WHERE a = 1 ORDER BY b + c LIMIT 5").caveats
    )


def test_a_few_rows_are_sorted_without_an_index_and_many_are_not() -> None:
    statement = "SELECT x FROM t WHERE a = 1 ORDER BY b"
    assert wanted(statement) == ["t(a)"]
    assert wanted(slow(statement, rows_sent=[3_000] * 10)) == ["t(a, b)"]


def test_more_columns_than_are_of_use_are_left_out() -> None:
    found = only("SELECT x FROM t WHERE " + " AND ".join(f"c{at} = 1" for at in range(9)))
    assert found.columns == ("c0", "c1", "c2", "c3", "c4", "c5")
    assert "left out to keep it narrow: c6, c7 and c8" in found.caveats


def test_an_index_that_holds_all_that_is_read_is_praised() -> None:
    praise = "it is a covering index: the table's rows are not read"
    assert praise in only("SELECT b FROM t WHERE a = 1 ORDER BY b LIMIT 3").reasons
    assert praise not in only("SELECT x FROM t WHERE a = 1").reasons
    assert praise not in only("SELECT * FROM t WHERE a = 1").reasons
    assert praise not in only("UPDATE t SET a = 2 WHERE a = 1").reasons


def test_what_locks_the_rows_that_it_reads_says_so() -> None:
    for statement in (
        "UPDATE t SET x = 1 WHERE a = 1",
        "DELETE FROM t WHERE a = 1",
        "SELECT x FROM t WHERE a = 1 FOR UPDATE",
    ):
        assert any("locks every row" in reason for reason in only(statement).reasons)
    assert not any("locks" in reason for reason in only("SELECT x FROM t WHERE a = 1").reasons)


def test_names_keep_their_letters_and_any_character() -> None:
    found = only("SELECT x FROM `We``ird\" t'able` WHERE `se lect` = 1 AND Ünïcode = 2")
    assert (found.table, found.columns) == ("We`ird\" t'able", ("se lect", "Ünïcode"))
    assert found.statement.startswith(
        "ALTER TABLE `shop`.`We``ird\" t'able` ADD INDEX `ix_se lect_Ünïcode` ("
    )


def test_only_the_first_groups_are_looked_at() -> None:
    found = looked("SELECT x FROM t WHERE a = 1", "SELECT x FROM u WHERE a = 1", most=1)
    assert len(found.candidates) == 1
    assert found.without_candidate == ()
