"""The command lines of sysbench, mysqlslap and sql-bench as `mydyno load` takes them."""

from __future__ import annotations

from typing import Any

import pytest
from typer.testing import CliRunner

from mydyno.cli.load import _without_command_of_sysbench, _Workloads
from mydyno.cli.main import app
from mydyno.cli.spellings import respelled
from mydyno.core.errors import UsageError


def command_of(workload: str) -> Any:
    group = _Workloads(name="load")
    return group.get_command(None, workload)


def values(workload: str, *arguments: str) -> dict[str, object]:
    """What the command of a workload understands of these arguments."""
    context = command_of(workload).make_context(workload, list(arguments))
    return {name: value for name, value in context.params.items() if value is not None}


@pytest.mark.parametrize(
    ("workload", "theirs", "name", "value"),
    [
        ("oltp-read-write", "--threads=64", "connections", "64"),
        ("oltp-read-write", "--time=30", "seconds", 30.0),
        ("oltp-read-write", "--seconds=10m", "seconds", 600.0),
        ("oltp-read-write", "--duration=1h", "seconds", 3600.0),
        ("oltp-read-write", "--ramp=500ms", "ramp", 0.5),
        ("oltp-read-write", "--mysql-host=db1", "host", "db1"),
        ("oltp-read-write", "--mysql_user=bench", "user", "bench"),
        ("oltp-read-write", "--mysql-db=sbtest", "database", "sbtest"),
        ("oltp-read-write", "--report-interval=10", "report_interval", 10.0),
        ("oltp-read-write", "--rand-type=uniform", "distribution", "uniform"),
        ("oltp-read-write", "--rand_type=pareto", "distribution", "pareto"),
        ("oltp-read-write", "--table_size=1000000", "table_size", "1000000"),
        ("oltp-read-write", "--skip_trx=on", "skip_trx", True),
        ("oltp-read-write", "--skip-trx=off", "skip_trx", False),
        ("oltp-read-write", "--range_selects=off", "range_selects", False),
        ("oltp-read-write", "--no-range-selects=off", "range_selects", True),
        ("oltp-read-write", "--poisson=off", "poisson", False),
        ("oltp-read-write", "--mysql_storage_engine=myisam", "storage_engine", "myisam"),
        ("slap", "--concurrency=1,10", "connections", "1,10"),
        ("slap", "--number-of-queries=100", "queries", "100"),
        ("slap", "--auto-generate-sql-load-type=write", "load_type", "write"),
        ("slap", "--auto-generate-sql-guid-primary", "guid_primary", True),
        ("slap", "--number-int-cols=10:1", "int_columns", "10:1"),
        ("slap", "--engine=innodb", "engines", "innodb"),
        ("sql-bench", "--small-test", "small", True),
        ("sql-bench", "--small-tables", "small_tables", True),
        ("sql-bench", "--time-limit=60", "time_limit_s", "60"),
        ("sql-bench", "--loop_count=5", "loop_count", "5"),
    ],
)
def test_an_option_of_the_original_is_ours(workload: str, theirs: str, name: str, value: object) -> None:
    assert values(workload, theirs)[name] == value


def test_what_follows_two_dashes_is_left_as_it_is() -> None:
    parameters = command_of("oltp-read-write").params
    assert list(respelled(["--table_size=5", "--", "--table_size=5"], parameters)) == [
        *("--table-size=5", "--", "--table_size=5")
    ]


def test_an_option_that_is_unknown_is_refused_as_it_was_written() -> None:
    result = CliRunner().invoke(app, ["load", "oltp-read-write", "--table_sise=5"])
    assert result.exit_code == 2
    assert "--table_sise" in result.output


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("oltp_read_write --tables=2 run", "oltp-read-write --tables=2"),
        ("oltp_read_only --tables=2 cleanup", "cleanup oltp-read-only --tables=2"),
        ("oltp-read-only --database cleanup", "oltp-read-only --database cleanup"),
        ("oltp_read_only --yes cleanup", "cleanup oltp-read-only --yes"),
        ("smack select-key.smack run", "smack select-key.smack run"),
    ],
)
def test_a_command_of_sysbench_is_the_last_word(theirs: str, ours: str) -> None:
    known = _Workloads(name="load").list_commands(None)
    arguments = theirs.split()
    assert _without_command_of_sysbench(arguments, known) == ours.split()


def test_prepare_of_sysbench_is_explained() -> None:
    result = CliRunner().invoke(app, ["load", "oltp_read_write", "--tables=2", "prepare"])
    assert isinstance(result.exception, UsageError)
    assert "makes missing tables itself" in str(result.exception)
    assert "--prepare create" in str(result.exception.hint)


def test_a_script_of_sysbench_is_found_by_its_own_name() -> None:
    assert command_of("oltp_read_write").name == "oltp-read-write"


@pytest.mark.parametrize(
    ("given", "error"),
    [("--db-driver=pgsql", "MySQL and MariaDB"), ("--db-ps-mode=on", "--db-ps-mode on is not known")],
)
def test_other_drivers_and_modes_of_sysbench_are_refused(given: str, error: str) -> None:
    result = CliRunner().invoke(app, ["load", "oltp_read_only", "--socket", "/nowhere/s.sock", given])
    assert isinstance(result.exception, UsageError)
    assert error in str(result.exception)
