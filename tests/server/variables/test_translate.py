"""Settings written for one release, on the servers of others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mydyno.core.server_variables import Setting
from mydyno.core.server_version import Vendor, Version
from mydyno.server.variables import Translation, catalogue, translate
from server.variables.releases import (
    LISTED,
    MARIADB_105,
    MARIADB_118,
    MARIADB_1011,
    MYSQL_56,
    MYSQL_97,
)

MYSQL_80 = Version(Vendor.MYSQL, (8, 0, 36), "8.0.36")
PERCONA = Version(Vendor.PERCONA, (9, 7, 4), "9.7.4-1")


def on(version: Version, **asked: Setting) -> Translation:
    known = LISTED.get(version) or frozenset(catalogue().names_of(version))
    return translate(asked, known, version, catalogue())


def settings(version: Version, **asked: Setting) -> dict[str, Setting]:
    translation = on(version, **asked)
    assert translation.problems == ()
    return dict(translation.settings)


def problem(version: Version, **asked: Setting) -> str:
    (found,) = on(version, **asked).problems
    return f"{found.name}: {found.why}"


def test_size_and_number_of_redo_log_files_become_the_capacity_of_mysql() -> None:
    asked: dict[str, Setting] = {"innodb_log_file_size": "512M", "innodb_log_files_in_group": 4}
    assert settings(MYSQL_97, **asked) == {"innodb_redo_log_capacity": "2G"}
    assert settings(MYSQL_97, **dict(reversed(asked.items()))) == {"innodb_redo_log_capacity": "2G"}
    assert settings(MYSQL_56, **asked) == asked, "that release has both"


def test_a_size_alone_counts_for_the_two_files_that_there_were_by_default() -> None:
    (note,) = on(MYSQL_97, innodb_log_file_size="512M").notes
    assert str(note) == (
        "innodb_log_file_size = 512M: innodb_redo_log_capacity = 1G here "
        "(MySQL 8.0.30 and later: size x files)"
    )


@pytest.mark.parametrize("version", [MARIADB_105, MARIADB_1011, MARIADB_118], ids=str)
def test_mariadb_has_the_whole_redo_log_in_one_file(version: Version) -> None:
    both = settings(version, innodb_log_file_size="512M", innodb_log_files_in_group=2)
    assert both == {"innodb_log_file_size": "1G"}, "10.5 lists the number of files and does not heed it"
    assert settings(version, innodb_redo_log_capacity="1G") == {"innodb_log_file_size": "1G"}


def test_the_capacity_is_shared_among_the_files_of_an_old_mysql() -> None:
    assert settings(MYSQL_56, innodb_redo_log_capacity="1G") == {"innodb_log_file_size": "512M"}
    assert settings(MYSQL_56, innodb_redo_log_capacity="1G", innodb_log_files_in_group=4) == {
        "innodb_log_file_size": "256M",
        "innodb_log_files_in_group": 4,
    }


def test_a_share_that_was_worked_out_is_a_number_and_is_translated_as_such() -> None:
    assert settings(MYSQL_97, innodb_log_file_size=256 * 1024**2) == {"innodb_redo_log_capacity": "512M"}
    assert settings(MYSQL_97, innodb_log_file_size=50_000_001) == {"innodb_redo_log_capacity": 100_000_002}


def test_a_query_cache_switched_off_is_left_out_where_there_is_none() -> None:
    translation = on(MYSQL_97, query_cache_size=0, query_cache_type="OFF", query_cache_limit="1M")
    assert translation.settings == {}
    assert str(translation.notes[0]) == "query_cache_size = 0: left out here (there is no query cache)"
    assert settings(MARIADB_1011, query_cache_size="64M") == {"query_cache_size": "64M"}


def test_a_query_cache_that_is_wanted_is_an_error_with_the_alternative() -> None:
    said = problem(MYSQL_97, query_cache_size="64M")
    assert said == (
        "query_cache_size: this server has no such setting; MySQL removed it in 8.0.3; MariaDB has it; "
        "cache in the application or in a proxy"
    )


TRANSLATED: list[tuple[Version, str, Setting, dict[str, Setting]]] = [
    (MYSQL_97, "expire_logs_days", 7, {"binlog_expire_logs_seconds": 604800}),
    (MYSQL_56, "binlog_expire_logs_seconds", 604800, {"expire_logs_days": 7}),
    (MYSQL_97, "log_warnings", 2, {"log_error_verbosity": "3"}),
    (MARIADB_1011, "log_error_verbosity", 1, {"log_warnings": "0"}),
    (MYSQL_97, "tx_isolation", "READ-COMMITTED", {"transaction_isolation": "READ-COMMITTED"}),
    (MARIADB_118, "tx_isolation", "READ-COMMITTED", {"transaction_isolation": "READ-COMMITTED"}),
    (MYSQL_97, "table_cache", 400, {"table_open_cache": 400}),
    (MYSQL_97, "key_buffer", "16M", {"key_buffer_size": "16M"}),
    (MYSQL_97, "myisam_recover", "BACKUP", {"myisam_recover_options": "BACKUP"}),
    (MYSQL_97, "log_slow_queries", True, {"slow_query_log": True}),
    (MYSQL_97, "log_slow_queries", "slow.log", {"slow_query_log": True, "slow_query_log_file": "slow.log"}),
    (MYSQL_97, "innodb_checksums", "OFF", {"innodb_checksum_algorithm": "none"}),
    (MYSQL_97, "innodb_file_format", "Antelope", {"innodb_default_row_format": "compact"}),
    (MYSQL_97, "innodb_file_format", "Barracuda", {}),
    (MARIADB_105, "innodb_file_format", "Barracuda", {}),
    (MYSQL_97, "innodb_large_prefix", True, {}),
    (MYSQL_97, "innodb_additional_mem_pool_size", "20M", {}),
    (MYSQL_97, "innodb_undo_logs", 128, {"innodb_rollback_segments": 128}),
    (MARIADB_1011, "innodb_undo_logs", 64, {}),
    (MARIADB_1011, "innodb_buffer_pool_instances", 8, {}),
    (MARIADB_105, "innodb_buffer_pool_instances", 8, {}),
    (MARIADB_1011, "innodb_thread_concurrency", 0, {}),
    (MYSQL_97, "innodb_locks_unsafe_for_binlog", 0, {}),
    (MYSQL_97, "innodb_support_xa", 1, {}),
    (MYSQL_97, "sync_frm", "OFF", {}),
    (MYSQL_97, "thread_concurrency", 8, {}),
    (MYSQL_97, "old_passwords", 0, {}),
    (MARIADB_118, "innodb_change_buffering", "none", {}),
    (MYSQL_56, "replica_parallel_workers", 4, {"slave_parallel_workers": 4}),
    (MARIADB_1011, "log_replica_updates", "ON", {"log_slave_updates": "ON"}),
    (MYSQL_97, "slave_parallel_threads", 4, {"replica_parallel_workers": 4}),
    (MYSQL_97, "max_statement_time", 1.5, {"max_execution_time": 1500}),
    (MARIADB_1011, "max_execution_time", 1500, {"max_statement_time": 1.5}),
    (MARIADB_1011, "innodb_data_file_buffering", True, {"innodb_flush_method": "fsync"}),
    (
        MYSQL_97,
        "default_authentication_plugin",
        "sha256_password",
        {"authentication_policy": "sha256_password,,"},
    ),
    (MARIADB_1011, "default_authentication_plugin", "mysql_native_password", {}),
    (MYSQL_97, "skip_external_locking", True, {"external_locking": False}),
    (MYSQL_56, "innodb_dedicated_server", False, {}),
    (MYSQL_80, "innodb_log_files_in_group", 3, {"innodb_log_files_in_group": 3}),
]


@pytest.mark.parametrize(("version", "name", "value", "expected"), TRANSLATED)
def test_a_setting_becomes_what_it_is_on_another_release(
    version: Version, name: str, value: Setting, expected: dict[str, Setting]
) -> None:
    translation = on(version, **{name: value})
    assert (dict(translation.settings), translation.problems) == (expected, ())
    assert len(translation.notes) == (expected != {name: value}), "and it is told"


REFUSED: list[tuple[Version, str, Setting, str]] = [
    (MYSQL_97, "query_cache_type", "DEMAND", "cache in the application"),
    (MYSQL_97, "thread_pool_size", 8, "MySQL Community has no thread pool"),
    (MYSQL_97, "thread_handling", "pool-of-threads", "only MariaDB and Percona Server"),
    (MYSQL_97, "innodb_locks_unsafe_for_binlog", 1, "transaction_isolation = READ-COMMITTED"),
    (MYSQL_97, "innodb_support_xa", 0, "turn the binary log off"),
    (MYSQL_97, "innodb_doublewrite", "fast", "only MariaDB has fast"),
    (MARIADB_1011, "innodb_thread_concurrency", 16, "thread_handling = pool-of-threads"),
    (MARIADB_105, "innodb_thread_concurrency", 16, "lists it without heeding it"),
    (MARIADB_118, "innodb_change_buffering", "all", "MariaDB 11.0 and later"),
    (MARIADB_1011, "innodb_dedicated_server", True, "75% of memory"),
    (MARIADB_105, "binlog_expire_logs_seconds", 3600, "not a whole number of days"),
    (MYSQL_97, "log_warnings", 9, "has no counterpart"),
    (MYSQL_97, "default_authentication_plugin", "mysql_native_password", "has no counterpart"),
    (MYSQL_97, "innodb_log_file_size", "a lot", "not a number"),
    (MYSQL_97, "foreign_key_checks", 0, "only a running server has it"),
    (MARIADB_1011, "innodb_checksum_algorithm", "none", "always write checksums"),
    (
        MARIADB_1011,
        "innodb_checksums",
        "OFF",
        "= none here, and MariaDB 10.6",
    ),
]


@pytest.mark.parametrize(("version", "name", "value", "said"), REFUSED)
def test_what_cannot_be_brought_over_is_refused_with_what_to_do(
    version: Version, name: str, value: Setting, said: str
) -> None:
    assert said in problem(version, **{name: value})


def test_percona_server_has_the_thread_pool() -> None:
    assert settings(PERCONA, thread_handling="pool-of-threads") == {"thread_handling": "pool-of-threads"}


def test_the_flush_method_of_mariadb_11_is_passed_on_with_what_it_stands_for() -> None:
    translation = on(MARIADB_118, innodb_flush_method="O_DIRECT")
    assert translation.settings == {"innodb_flush_method": "O_DIRECT"}
    (note,) = translation.notes
    assert str(note) == (
        "innodb_flush_method = O_DIRECT: deprecated here: it stands for innodb_data_file_buffering = OFF"
    )
    assert on(MARIADB_1011, innodb_flush_method="O_DIRECT").notes == ()


def test_two_settings_that_become_one_are_refused() -> None:
    said = problem(MARIADB_1011, innodb_log_file_size="1G", innodb_redo_log_capacity="1G")
    assert (
        said == "innodb_redo_log_capacity: it is innodb_log_file_size here, "
        "which is configured, too: one of them"
    )
    said = problem(MYSQL_97, log_slow_query=True, log_slow_queries=True)
    assert said == "log_slow_queries: it is slow_query_log here, and so is log_slow_query: one of them"


def test_a_name_that_is_unknown_is_passed_on_for_others_to_judge() -> None:
    assert on(MYSQL_97, xyzzy=1) == Translation({"xyzzy": 1}, (), ())


names = st.sampled_from(sorted(catalogue().variables))
values = st.one_of(st.integers(0, 10**6), st.booleans(), st.sampled_from(["ON", "OFF", "0", "128M", "fast"]))
configurations = st.dictionaries(names, values, max_size=6)


@given(configured=configurations, version=st.sampled_from(list(LISTED)))
def test_every_setting_ends_as_a_setting_of_that_server_a_note_or_a_problem(
    configured: dict[str, Setting], version: Version
) -> None:
    translation = translate(configured, LISTED[version], version, catalogue())
    assert set(translation.settings) <= set(LISTED[version]), "nothing that the server does not know"
    reported = {note.name for note in translation.notes} | {problem.name for problem in translation.problems}
    for name, value in configured.items():
        passed_on = translation.settings.get(name) == value
        counted_in = any(f"with {name} =" in str(note) for note in translation.notes)
        assert passed_on or name in reported or counted_in, name


@given(configured=configurations)
def test_a_release_that_knows_every_name_gets_what_was_configured(configured: dict[str, Setting]) -> None:
    newest = Version(Vendor.PERCONA, (5, 6, 1), "5.6.1")
    translation = translate(configured, catalogue().variables, newest, catalogue())
    refused = {problem.name for problem in translation.problems}
    assert translation.settings == {name: value for name, value in configured.items() if name not in refused}
    assert translation.notes == ()


@given(configured=configurations, version=st.sampled_from(list(LISTED)))
def test_what_was_translated_needs_no_further_translation(
    configured: dict[str, Setting], version: Version
) -> None:
    once = translate(configured, LISTED[version], version, catalogue())
    again = translate(once.settings, LISTED[version], version, catalogue())
    assert again.settings == {
        name: value for name, value in once.settings.items() if name not in {p.name for p in again.problems}
    }
    assert all(problem.name not in configured for problem in again.problems)
