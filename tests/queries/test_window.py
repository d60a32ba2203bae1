"""Which settings a window needs on which release, what it leaves out, and what of a log is in it."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from mydyno.core.errors import UsageError
from mydyno.core.server_version import Vendor, Version
from mydyno.queries.window.pieces import Piece, Pieces, begins_at, entries_in
from mydyno.queries.window.settings import Wish, hidden, settings, unseen
from mydyno.queries.window.table import Row, start_us, text_of

OFF = {
    "log_output": "FILE",
    "slow_query_log": "OFF",
    "general_log": "OFF",
    "long_query_time": "10.000000",
    "min_examined_row_limit": "0",
    "log_queries_not_using_indexes": "OFF",
}
MARIADB = OFF | {
    "log_slow_verbosity": "",
    "log_slow_filter": "admin,filesort,full_join,full_scan,query_cache,query_cache_miss,tmp_table",
    "log_slow_rate_limit": "1",
    "log_slow_disabled_statements": "sp",
    "log_slow_query": "OFF",
    "log_slow_query_time": "10.000000",
}
MYSQL_56 = OFF | {"log_slow_admin_statements": "OFF", "log_slow_slave_statements": "OFF"}
MYSQL_97 = MYSQL_56 | {"log_slow_extra": "OFF", "log_slow_replica_statements": "OFF"}
PERCONA = MYSQL_97 | {
    "log_slow_verbosity": "",
    "slow_query_log_use_global_control": "",
    "log_slow_filter": "",
    "log_slow_rate_limit": "1",
    "log_slow_rate_type": "session",
}
LEVELS = {"innodb", "query_plan", "explain", "engine", "warnings", "full"}
WISH = Wish(0.5)

ON_MARIADB = Version(Vendor.MARIADB, (10, 11, 19), "10.11.19")
ON_MYSQL = Version(Vendor.MYSQL, (9, 7, 4), "9.7.4")
ON_PERCONA = Version(Vendor.PERCONA, (8, 0, 36), "8.0.36-28")


def values(
    variables: dict[str, str], wish: Wish = WISH, *, levels: set[str] | None = None, reads_file: bool = True
) -> dict[str, object]:
    return dict(settings(variables, wish, levels=levels or set(), reads_file=reads_file).values)


def test_an_old_mysql_needs_the_threshold_and_the_log_which_comes_last() -> None:
    assert list(values(MYSQL_56).items()) == [("long_query_time", 0.5), ("slow_query_log", "ON")]


def test_a_new_mysql_logs_more_when_its_file_is_read() -> None:
    assert values(MYSQL_97)["log_slow_extra"] == "ON"
    assert "log_slow_extra" not in values(MYSQL_97, reads_file=False)


def test_mariadb_logs_figures_and_those_only_that_its_release_knows() -> None:
    assert values(MARIADB, levels=LEVELS)["log_slow_verbosity"] == "query_plan,engine"
    older = values(MARIADB, levels={"microtime", "query_plan", "innodb", "explain"})
    assert older["log_slow_verbosity"] == "query_plan"
    assert not {"log_slow_query", "log_slow_query_time"} & older.keys()


def test_what_is_set_already_is_kept() -> None:
    explains = MARIADB | {"log_slow_verbosity": "explain"}
    assert values(explains, levels=LEVELS)["log_slow_verbosity"] == "explain,query_plan,engine"
    assert "log_slow_verbosity" not in values(MARIADB | {"log_slow_verbosity": "full"}, levels=LEVELS)
    ours = MARIADB | {"log_slow_verbosity": "engine,query_plan"}
    assert "log_slow_verbosity" not in values(ours, levels=LEVELS)


def test_percona_makes_old_connections_obey_the_global_threshold() -> None:
    wanted = values(PERCONA)
    assert wanted["log_slow_verbosity"] == "microtime,query_plan,innodb"
    assert "long_query_time" in str(wanted["slow_query_log_use_global_control"])
    obeying = PERCONA | {"slow_query_log_use_global_control": "all"}
    assert "slow_query_log_use_global_control" not in values(obeying)
    assert unseen(ON_PERCONA, PERCONA, WISH, 12, None) is None


def test_a_limit_on_rows_is_lifted_and_statements_without_an_index_are_an_option() -> None:
    assert values(OFF | {"min_examined_row_limit": "1000"})["min_examined_row_limit"] == 0
    assert "log_queries_not_using_indexes" not in values(OFF)
    assert values(OFF, Wish(0.5, not_using_indexes=True))["log_queries_not_using_indexes"] == "ON"
    on = OFF | {"log_queries_not_using_indexes": "ON"}
    assert "log_queries_not_using_indexes" not in values(on, Wish(0.5, not_using_indexes=True))


@pytest.mark.parametrize(
    ("output", "slow_log", "reads_file", "becomes"),
    [
        ("FILE", "OFF", True, None),
        ("FILE,TABLE", "OFF", True, None),
        ("TABLE", "OFF", True, "FILE"),
        ("TABLE", "ON", True, "FILE,TABLE"),
        ("NONE", "ON", True, "FILE"),
        ("FILE", "OFF", False, "TABLE"),
        ("FILE", "ON", False, "FILE,TABLE"),
        ("TABLE", "ON", False, None),
        ("NONE", "OFF", False, "TABLE"),
    ],
)
def test_the_output_is_one_that_can_be_read_and_its_owners_goes_on(
    output: str, slow_log: str, reads_file: bool, becomes: str | None
) -> None:
    variables = OFF | {"log_output": output, "slow_query_log": slow_log}
    found = settings(variables, WISH, reads_file=reads_file)
    assert found.values.get("log_output") == becomes
    assert found.output == ("FILE" if reads_file else "TABLE")


def test_the_general_log_is_never_sent_to_another_place() -> None:
    general = OFF | {"general_log": "ON"}
    assert settings(general, WISH, reads_file=True).values.get("log_output") is None
    into_the_table = settings(general | {"log_output": "TABLE"}, WISH, reads_file=True)
    assert (into_the_table.output, into_the_table.values.get("log_output")) == ("TABLE", None)
    with pytest.raises(UsageError, match="general_log is ON"):
        settings(general, WISH, reads_file=False)
    with pytest.raises(UsageError, match="general_log is ON"):
        settings(general | {"log_output": "NONE"}, WISH, reads_file=True)


def test_what_hides_statements_is_reported() -> None:
    assert hidden(ON_MARIADB, MARIADB | {"log_slow_disabled_statements": ""}, WISH) == ()
    (entry,) = hidden(ON_MARIADB, MARIADB, WISH)
    assert "stored procedures" in entry
    some = MARIADB | {"log_slow_rate_limit": "100", "log_slow_filter": "full_join"}
    assert [line.partition(" =")[0] for line in hidden(ON_MARIADB, some, WISH)] == [
        "log_slow_rate_limit",
        "log_slow_filter",
        "log_slow_disabled_statements",
    ]
    (admin,) = hidden(ON_MYSQL, MYSQL_97, WISH)
    assert "ALTER TABLE" in admin
    replica = MYSQL_97 | {"read_only": "ON"}
    assert any(line.startswith("log_slow_replica_statements") for line in hidden(ON_MYSQL, replica, WISH))
    (rate, *_) = hidden(ON_PERCONA, PERCONA | {"log_slow_rate_limit": "10"}, WISH)
    assert "one session in 10" in rate
    throttled = MYSQL_97 | {"log_throttle_queries_not_using_indexes": "60"}
    assert len(hidden(ON_MYSQL, throttled, Wish(0.5, not_using_indexes=True))) == 2


def test_who_was_there_before_keeps_its_own_threshold() -> None:
    assert unseen(ON_MYSQL, MYSQL_97, WISH, 0, 0) is None
    assert unseen(ON_MYSQL, MYSQL_97, WISH, 12, 0) is None
    assert "7 connections were open before" in str(unseen(ON_MYSQL, MYSQL_97, WISH, 12, 7))
    assert "12 connections were open before" in str(unseen(ON_MYSQL, MYSQL_56, WISH, 12, None))
    assert unseen(ON_MYSQL, MYSQL_56 | {"long_query_time": "0.1"}, WISH, 12, None) is None
    assert "MariaDB never logs" in str(unseen(ON_MARIADB, MARIADB, WISH, 1, None))
    on = MARIADB | {"slow_query_log": "ON"}
    assert "a higher threshold: 10 s" in str(unseen(ON_MARIADB, on, WISH, 1, None))


def test_a_file_that_is_renamed_and_begun_again_is_two_pieces() -> None:
    pieces = Pieces([Piece(1, 100, 100)])
    pieces.see(1, 150)
    pieces.grew(1, 170)
    pieces.see(2, 30)
    pieces.see(2, 40)
    assert [(piece.inode, piece.begin, piece.end) for piece in pieces.all] == [(1, 100, 170), (2, 0, 40)]
    assert (pieces.bytes, pieces.lost) == (110, 0)


def test_a_file_that_was_cut_begins_again_and_what_is_gone_is_counted() -> None:
    pieces = Pieces([Piece(1, 100, 180)])
    pieces.see(1, 20)
    assert [(piece.begin, piece.end) for piece in pieces.all] == [(0, 20)]
    assert pieces.lost == 80


def test_entries_begin_at_their_headers() -> None:
    text = b"t 1;\n# Time: 261122  2:44:25\n# User@Host: a[a] @ h []\nselect 1;\n# User@Host: a[a] @ h []\n"
    assert begins_at(text) == 5
    assert begins_at(b"select '# Time: ';\n") is None
    assert entries_in(text) == 2
    assert entries_in(text[text.index(b"# User") :]) == 2


def a_row(statement: bytes, **more: int) -> Row:
    return Row(
        start_us=1795315504_355668,
        user_host=b"root[root] @ localhost []",
        query_time=timedelta(hours=30, microseconds=7),
        lock_time=timedelta(0),
        rows_sent=1,
        rows_examined=2,
        database=b"a b",
        statement=statement,
        **more,
    )


def test_a_row_of_the_table_is_an_entry_to_the_microsecond_and_the_byte() -> None:
    assert text_of(a_row(b"select '\xff\x00;'", thread_id=12, rows_affected=3)) == (
        b"# Time: 2026-11-22T02:45:04.355668Z\n"
        b"# User@Host: root[root] @ localhost []  Id: 12\n"
        b"# Query_time: 108000.000007  Lock_time: 0.000000  Rows_sent: 1  Rows_examined: 2"
        b"  Rows_affected: 3\n"
        b"use a b;\n"
        b"select '\xff\x00;';\n"
    )


def test_a_command_without_a_statement_is_marked_as_in_a_file() -> None:
    assert text_of(a_row(b"Quit")).endswith(b"\n# administrator command: Quit;\n")
    assert text_of(a_row(b"quit")).endswith(b"\nquit;\n")


def test_mysql_logs_the_end_of_a_statement_and_mariadb_its_start() -> None:
    at, span = Decimal("1795315504.355668"), timedelta(seconds=1, microseconds=400474)
    assert start_us(at, span, is_end=True) == 1795315502_955194
    assert start_us(at, span, is_end=False) == 1795315504_355668
    assert start_us(1795315504, span, is_end=False) == 1795315504_000000
