from pathlib import Path

import pytest
from lab.stack.builders import mariadb, mysql, options_of

from mydyno.core.errors import SpecError
from mydyno.core.server_variables import Setting
from mydyno.core.server_version import Vendor, Version
from mydyno.server.program.binary import ServerBinary
from mydyno.server.variables.names import SettingsError, canonical, understand


def problem(name: str, value: Setting = 1, *, on_mysql: bool = False) -> str:
    (found,) = understand(mysql() if on_mysql else mariadb(), {name: value}).problems
    return str(found)


def problem_of(config: dict[str, Setting], name: str) -> str:
    return next(str(found) for found in understand(mysql(), config).problems if found.name == name)


@pytest.mark.parametrize(
    ("written", "value", "name", "meant"),
    [
        ("max_connections", 450, "max_connections", 450),
        ("max-connections", 450, "max_connections", 450),
        ("Max_Connections", 450, "max_connections", 450),
        ("loose_max_connections", 450, "max_connections", 450),
        ("skip-log-bin", True, "log_bin", False),
        ("skip_log_bin", "no", "log_bin", True),
        ("disable-local-infile", 1, "local_infile", False),
        ("enable_local_infile", True, "local_infile", True),
        ("skip_name_resolve", True, "skip_name_resolve", True),
        ("wsrep-OSU-method", "TOI", "wsrep_osu_method", "TOI"),
    ],
)
def test_spellings_that_the_server_takes_are_brought_to_one(
    written: str, value: Setting, name: str, meant: Setting
) -> None:
    assert canonical(mariadb(), {written: value}) == {name: meant}


def test_mysql_before_5_6_is_given_switches_as_numbers() -> None:
    old = Version(Vendor.MYSQL, (5, 5, 34), "5.5.34")
    binary = ServerBinary(Path("/usr/sbin/mysqld"), old, options_of("mysql-5.5.34"))
    config: dict[str, Setting] = {
        "innodb_file_per_table": "on",
        "skip_innodb_adaptive_flushing": True,
        "query_cache_type": "ON",
        "sort_buffer_size": 1,
    }
    assert [*map(repr, canonical(binary, config).values())] == ["1", "0", "'ON'", "1"]
    assert canonical(mysql(), {"innodb_file_per_table": "on"}) == {"innodb_file_per_table": "on"}


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("max_conections", "max_connections"),
        ("thread_cach_size", "thread_cache_size"),
        ("innodb_bufer_pool_size", "innodb_buffer_pool_size"),
        ("inodb-flush-log-at-trx-commit", "innodb_flush_log_at_trx_commit"),
    ],
)
def test_a_misspelt_setting_is_refused_with_the_nearest_name(name: str, nearest: str) -> None:
    assert f"did you mean {nearest}" in problem(name)


def test_a_name_like_no_other_is_refused_without_a_guess() -> None:
    assert problem("xyzzy") == "xyzzy: this server has no such setting"


def test_a_setting_of_another_release_is_translated_and_that_is_reported() -> None:
    asked: dict[str, Setting] = {"innodb_redo_log_capacity": "1G", "tx_isolation": "READ-COMMITTED"}
    understood = understand(mariadb(), asked)
    assert dict(understood.settings) == {
        "innodb_log_file_size": "1G",
        "transaction_isolation": "READ-COMMITTED",
    }
    assert [str(note) for note in understood.notes] == [
        "innodb_redo_log_capacity = 1G: innodb_log_file_size = 1G here (MariaDB has one file of redo log)",
        "tx_isolation = READ-COMMITTED: transaction_isolation = READ-COMMITTED here "
        "(my.cnf calls it transaction_isolation)",
    ]
    assert canonical(mariadb(), asked) == dict(understood.settings)
    assert understand(mysql(), {"innodb_redo_log_capacity": "1G"}).notes == ()


def test_what_cannot_be_translated_is_refused_with_its_history_and_the_alternative() -> None:
    said = problem("query_cache_size", "64M", on_mysql=True)
    assert "MySQL removed it in 8.0.3; MariaDB has it" in said
    assert "cache in the application or in a proxy" in said
    assert understand(mariadb(), {"query_cache_size": "64M"}).problems == ()


def test_a_setting_switched_off_is_understood_where_the_server_does_not_have_it() -> None:
    understood = understand(mysql(), {"skip-innodb-checksums": True, "skip-sync-frm": True})
    assert dict(understood.settings) == {"innodb_checksum_algorithm": "none"}


def test_two_settings_that_become_the_same_are_refused() -> None:
    said = problem_of({"expire_logs_days": 1, "binlog_expire_logs_seconds": 60}, "expire_logs_days")
    assert said == (
        "expire_logs_days: it is binlog_expire_logs_seconds here, which is configured, too: one of them"
    )


def test_the_place_of_a_file_is_refused_under_its_older_name_too() -> None:
    assert "inside the data directory" in str(
        understand(mariadb(), {"log_slow_queries": "/var/log/slow.log"}).problems[0]
    )


def test_loose_does_not_excuse_an_unknown_setting() -> None:
    assert "no such setting" in problem("loose_xyzzy")


def test_a_variable_that_no_option_sets_is_refused() -> None:
    assert "only a running server has it" in problem("foreign_key_checks", 0)


CONTROLLED = (
    "datadir socket port pid-file user log_error skip-networking init_file skip_grant_tables "
    "bind-address tmpdir loose_port log-basename"
)


@pytest.mark.parametrize("name", CONTROLLED.split())
def test_what_mydyno_controls_is_refused_with_a_reason(name: str) -> None:
    assert "an experiment may not set it: mydyno" in problem(name, "x")


@pytest.mark.parametrize("place", ["/var/log/slow.log", "../slow.log", "logs/../../slow.log"])
def test_files_may_not_be_put_outside_the_data_directory(place: str) -> None:
    assert "inside the data directory" in problem("slow_query_log_file", place)


def test_files_inside_the_data_directory_are_allowed() -> None:
    assert understand(mariadb(), {"slow_query_log_file": "slow.log", "log_bin": "mysql-bin"}).problems == ()


def test_a_value_that_would_break_out_of_its_line_is_refused() -> None:
    assert "control character" in problem("init_connect", "SET @a=1\nport=3306")


def test_one_setting_written_twice_is_refused() -> None:
    (found,) = understand(mariadb(), {"max_connections": 1, "max-connections": 2}).problems
    assert str(found) == "max-connections: is the same setting as max_connections"


def test_all_problems_are_reported_at_once_and_count_as_a_wrong_experiment() -> None:
    with pytest.raises(SettingsError) as caught:
        canonical(mariadb(), {"max_conections": 1, "port": 3306, "thread_cache_size": 8})
    assert isinstance(caught.value, SpecError)
    assert [problem.name for problem in caught.value.problems] == ["max_conections", "port"]
    assert "MariaDB 10.11.19" in str(caught.value)
