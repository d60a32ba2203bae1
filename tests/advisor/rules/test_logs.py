import pytest

from advisor.builders import GIB, MARIADB, MYSQL_57, MYSQL_84, host, server
from advisor.disks import filesystem, stored
from advisor.rules.judging import finding, judged, sentences
from mydyno.advisor.rule import Fine, NotHere
from mydyno.apply.finding import Severity


def test_slow_statements_are_written_down_unless_that_were_a_flood() -> None:
    off = {"slow_query_log": "OFF", "long_query_time": "10.000000"}
    found = finding("slow-log", server(MARIADB, off, {"Slow_queries": 9}))
    assert sentences(found) == ["slow_query_log = ON (now OFF)"]
    flood = server(MARIADB, off, {"Slow_queries": 60_000}, before={"Slow_queries": 0})
    assert isinstance(judged("slow-log", flood), Fine)
    assert isinstance(judged("slow-log", server(MARIADB, {"slow_query_log": "ON"})), Fine)


def test_the_slow_log_is_not_switched_on_where_it_would_soon_fill_the_disk() -> None:
    slow = server(MARIADB, {"slow_query_log": "OFF", "long_query_time": "1"}, {"Slow_queries": 10 * 864_000})
    found = judged("slow-log", slow, host=stored(filesystem(free_bytes=2 << 30)))
    assert isinstance(found, Fine)
    assert "2G that are free in 2.4 days" in found.because
    assert finding("slow-log", slow, host=stored(filesystem(free_bytes=100 << 30)))


def test_ten_seconds_hide_what_users_wait_for() -> None:
    hidden = server(MYSQL_84, {"long_query_time": "10.000000"}, {"Slow_queries": 3})
    assert sentences(finding("long-query-time", hidden)) == ["long_query_time = 1 (now 10.000000)"]
    seen = server(MYSQL_84, {"long_query_time": "0.500000"}, {"Slow_queries": 3})
    assert isinstance(judged("long-query-time", seen), Fine)


def test_a_slow_log_of_everything_is_left_to_the_user() -> None:
    everything = server(
        MARIADB,
        {"long_query_time": "0.000000", "slow_query_log": "ON", "log_slow_rate_limit": "1"},
        {"Slow_queries": 600_000},
        before={"Slow_queries": 0},
    )
    found = finding("long-query-time", everything)
    assert [change.kind for change in found.changes] == ["by hand"]
    assert "log_slow_rate_limit" in str(found.changes[0])


def test_a_log_of_all_statements_without_an_index_is_for_an_hour() -> None:
    flooded = server(
        MARIADB, {"log_queries_not_using_indexes": "ON"}, {"Slow_queries": 6000}, before={"Slow_queries": 0}
    )
    assert sentences(finding("log-not-using-indexes", flooded)) == [
        "log_queries_not_using_indexes = OFF (now ON)"
    ]
    throttled = server(
        MYSQL_84,
        {"log_queries_not_using_indexes": "ON", "log_throttle_queries_not_using_indexes": "10"},
        {"Slow_queries": 6000},
        before={"Slow_queries": 0},
    )
    assert isinstance(judged("log-not-using-indexes", throttled), Fine)


def test_the_general_log_is_switched_off_the_sooner_the_busier_the_server() -> None:
    on = {"general_log": "ON", "log_output": "FILE"}
    busy = server(variables=on, status={"Questions": 600_000}, before={"Questions": 0})
    assert finding("general-log", busy).severity is Severity.HIGH
    assert sentences(finding("general-log", server(variables=on))) == ["general_log = OFF (now ON)"]
    mute = server(variables={"general_log": "ON", "log_output": "NONE"})
    assert isinstance(judged("general-log", mute), Fine)


def test_logs_go_to_files() -> None:
    assert sentences(finding("log-output", server(variables={"log_output": "FILE,TABLE"}))) == [
        "log_output = FILE (now FILE,TABLE)"
    ]
    assert isinstance(judged("log-output", server(variables={"log_output": "FILE"})), Fine)


def test_performance_schema_is_the_owners_choice_where_memory_is_there() -> None:
    off = server(MARIADB, {"performance_schema": "OFF"})
    assert [change.kind for change in finding("performance-schema", off).changes] == ["by hand"]
    assert isinstance(judged("performance-schema", off, host=host(memory=GIB)), NotHere)
    assert isinstance(judged("performance-schema", server(MYSQL_84, {"performance_schema": "ON"})), Fine)


@pytest.mark.parametrize(
    ("version", "name", "little", "enough"),
    [
        (MYSQL_84, "log_error_verbosity", "1", "2"),
        (MARIADB, "log_warnings", "0", "1"),
        (MYSQL_57, "log_error_verbosity", "1", "3"),
    ],
)
def test_warnings_are_written_down(version: str, name: str, little: str, enough: str) -> None:
    assert sentences(finding("error-log-warnings", server(version, {name: little}))) == [
        f"{name} = 2 (now {little})"
    ]
    assert isinstance(judged("error-log-warnings", server(version, {name: enough})), Fine)


def test_values_that_do_not_fit_are_refused_after_a_test_of_the_application() -> None:
    lax = server(variables={"sql_mode": "NO_ENGINE_SUBSTITUTION"})
    assert "SET GLOBAL sql_mode = 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION';" in str(
        finding("sql-mode", lax).changes[0]
    )
    strict = server(variables={"sql_mode": "STRICT_TRANS_TABLES,NO_ZERO_DATE"})
    assert isinstance(judged("sql-mode", strict), Fine)


def test_no_statement_waits_a_year_for_the_definition_of_a_table() -> None:
    year = server(MYSQL_84, {"lock_wait_timeout": "31536000"})
    assert "365 days" in finding("metadata-lock-wait", year).title
    assert isinstance(judged("metadata-lock-wait", server(variables={"lock_wait_timeout": "3600"})), Fine)


def test_misses_of_aria_are_left_to_the_user_and_mysql_has_no_aria() -> None:
    missing = {"Aria_pagecache_reads": 60_000, "Aria_pagecache_read_requests": 600_000}
    found = finding(
        "aria-page-cache",
        server(
            MARIADB, {"aria_pagecache_buffer_size": "134217728"}, missing, before={"Aria_pagecache_reads": 0}
        ),
    )
    assert "256M" in found.changes[0].sentence()
    assert isinstance(judged("aria-page-cache", server(MYSQL_84)), NotHere)
