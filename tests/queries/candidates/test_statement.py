"""The ALTER TABLE of a candidate: keys that fit, in the release's syntax."""

from __future__ import annotations

import pytest

from mydyno.core.server_version import parse_version
from mydyno.queries.candidates import with_candidates
from mydyno.queries.records import Source
from queries.builders import digest
from queries.candidates.builders import MARIADB, column, index, looked, only, schema, slow, table, text

ONLINE = ", ALGORITHM=INPLACE, LOCK=NONE"


def test_it_is_made_without_keeping_writers_out() -> None:
    assert only("SELECT x FROM t WHERE a = 1 AND b = 2").statement == (
        "ALTER TABLE `shop`.`t` ADD INDEX `ix_a_b` (`a`, `b`)" + ONLINE
    )


@pytest.mark.parametrize(
    ("release", "is_online"),
    [
        ("mysqld Ver 5.5.62", False),
        ("mysqld Ver 5.6.51", True),
        ("mysqld Ver 5.5.68-MariaDB", False),
        ("mysqld Ver 10.0.38-MariaDB", True),
    ],
)
def test_releases_that_cannot_do_so_do_not_get_it(release: str, is_online: bool) -> None:
    known = schema(table("t", "a", "x"), release=parse_version(release))
    found = only("SELECT x FROM t WHERE a = 1", schema=known)
    assert found.statement.endswith(ONLINE) is is_online
    assert ("adding it blocks writes and copies the table" in found.caveats) is not is_online


def test_other_engines_than_innodb_cannot() -> None:
    known = schema(table("t", "a", "x", engine="MyISAM"), release=MARIADB)
    assert not only("SELECT x FROM t WHERE a = 1", schema=known).statement.endswith(ONLINE)


def test_without_a_schema_the_release_is_that_of_the_logs_banner() -> None:
    old = digest(slow("SELECT x FROM t WHERE a = 1"))
    sources = (Source(name="x", bytes=1, entries=1, server="5.5.62-log (MySQL Community Server (GPL))"),)
    (found,) = with_candidates(old.model_copy(update={"sources": sources}), None, 5).candidates
    assert not found.statement.endswith(ONLINE)


def test_text_is_indexed_by_its_beginning() -> None:
    known = schema(table("t", column("a", "mediumtext", "utf8mb4_bin"), "b", "x"))
    found = only("SELECT x FROM t WHERE a = 'y' AND b = 2 AND x > 3", schema=known)
    assert "ADD INDEX `ix_b_a` (`b`, `a`(32))" in found.statement
    assert any(
        caveat.startswith("only the first 32 characters of a (mediumtext)") for caveat in found.caveats
    )


def test_a_long_column_is_cut_to_what_a_key_holds() -> None:
    long = table("t", text("a", 2_000), "x")
    assert "(`a`(768))" in only("SELECT x FROM t WHERE a = 'y'", schema=schema(long)).statement
    short = table("t", text("a", 255), "x", row_format="Compact")
    assert "(`a`(191))" in only("SELECT x FROM t WHERE a = 'y'", schema=schema(short)).statement
    myisam = table("t", text("a", 300), "x", engine="MyISAM")
    assert "(`a`(250))" in only("SELECT x FROM t WHERE a = 'y'", schema=schema(myisam)).statement


def test_what_does_not_fit_into_a_key_is_left_out_and_reported() -> None:
    known = schema(table("t", text("a", 768), text("b", 768), "x"))
    found = only("SELECT x FROM t WHERE a = 'y' AND b = 'z'", schema=known)
    assert found.columns == ("a",)
    assert "b is left out: a key has 3,072 bytes at most" in found.caveats


def test_columns_that_no_index_holds_are_passed_over() -> None:
    known = schema(table("t", column("a", "json"), "b", "x"))
    assert only("SELECT x FROM t WHERE a = 'y' AND b = 2", schema=known).columns == ("b",)


def test_a_name_that_is_taken_gets_a_number_and_a_long_one_is_cut() -> None:
    known = schema(table("t", "a", "b", "x", indexes=(index("IX_A", "b"),)))
    assert "ADD INDEX `ix_a_2` (`a`)" in only("SELECT x FROM t WHERE a = 1", schema=known).statement
    long = "c" * 60
    name = only(f"SELECT x FROM t WHERE {long} = 1 AND b = 2").statement.split("`")[5]
    assert name == f"ix_{long}_"


def test_a_schema_gives_names_their_own_letters() -> None:
    known = schema(table("Orders", "CustomerId", "x"))
    found = looked(slow("select x from orders where customerid = ?"), schema=known).candidates[0]
    assert (found.table, found.columns) == ("Orders", ("CustomerId",))


def test_columns_that_would_make_it_covering_are_named_where_they_are_few() -> None:
    known = schema(table("t", "a", "b", "c", "d"))
    found = only("SELECT b FROM t WHERE a = 1", schema=known)
    assert "with b at its end it would be a covering index, but wider" in found.caveats
    assert not any(
        "wider" in each for each in only("SELECT b, c, d FROM t WHERE a = 1", schema=known).caveats
    )
