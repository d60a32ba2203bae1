"""RUN files of sql-bench as tables of results: those of old suites, and ours."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from load.test_sql_bench import ENDS, HEADER, HELLO, OPERATIONS, STARTS
from typer.testing import CliRunner

from mydyno.cli.main import app
from mydyno.core.errors import UsageError
from mydyno.imports.run_file import OperationTotal, as_csv, as_text, is_run_file, parse
from mydyno.imports.take import from_run_files
from mydyno.load.sql_bench import render
from mydyno.results.store import Lab

# The layout of suite 2.7, with figures of our own.
OLD = """Benchmark DBD suite: 2.7
Date of test:        2000-03-15  1:51:13
Running tests on:    Linux 2.2.14 i686
Arguments:           {arguments}
Comments:            two programs
Limits from:
Server version:      {server}

insert: Estimated total time: 8358 wallclock secs (56.07 usr  0.00 sys +  0.00 cusr  0.00 csys =  0.00 CPU)
wisconsin: Total time: 63 wallclock secs (62.40 usr  0.00 sys +  0.00 cusr  0.00 csys =  0.00 CPU)

All 2 test executed successfully
Tests with estimated time have a + at end of line

Totals per operation:
Operation             seconds     usr     sys     cpu   tests
create+drop                        1433 1433.28    0.00    0.00   10000
insert                              510  508.11    0.00    0.00  350768
outer_join_not_found                606  605.55    0.00    0.00     {tests} +
TOTALS                             2549 2546.94    0.00    0.00  361268 +
"""
FIRST = OLD.format(arguments="", server="MySQL 3.23.13a alpha", tests=500)
SECOND = OLD.format(arguments="--fast", server="MySQL 4.0.1 alpha", tests=50)


def test_an_old_file_tells_its_server_its_programs_and_its_operations() -> None:
    run = parse(FIRST, "RUN-mysql-Linux_2.2.14_i686")
    assert run.name == "mysql-Linux_2.2.14_i686"
    assert run.server == "MySQL 3.23.13a alpha"
    assert run.facts["Running tests on"] == "Linux 2.2.14 i686"
    assert "Arguments" not in run.facts
    assert run.programs == {"insert": 8358.0, "wisconsin": 63.0}
    assert run.operations["create+drop"] == OperationTotal(1433.0, 10_000, "")
    assert run.operations["outer_join_not_found"] == OperationTotal(606.0, 500, "+")
    assert run.total == OperationTotal(2549.0, 361_268, "+")


def test_a_report_of_ours_is_read_as_one_of_the_suite() -> None:
    text = render(HELLO, [*STARTS, *OPERATIONS], ENDS, **HEADER)
    assert is_run_file(text)
    run = parse(text, "RUN-ours")
    assert run.facts["Arguments"] == "--small-test"
    assert run.programs == {"alter-table": 2.0, "insert": 30.0, "select": 700.0}
    assert run.operations["insert"] == OperationTotal(21.0, 310_000, "")
    assert run.total is not None
    assert run.total.seconds == 2427.25


def test_a_table_has_a_row_for_each_run() -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv([parse(FIRST, "a"), parse(SECOND, "b")]).decode())))
    assert [row["server"] for row in rows] == ["MySQL 3.23.13a alpha", "MySQL 4.0.1 alpha"]
    assert [row["Arguments"] for row in rows] == ["", "'--fast"], "no formula"
    assert rows[0]["wisconsin"] == "63.0"
    assert rows[0]["operation create+drop"] == "1433.0"


def test_operations_stand_side_by_side_with_marks() -> None:
    lines = as_text([parse(FIRST, "a"), parse(SECOND, "b")]).splitlines()
    assert lines[:2] == ["1: a: MySQL 3.23.13a alpha", "2: b: MySQL 4.0.1 alpha, --fast"]
    [joined] = [line for line in lines if line.startswith("outer_join_not_found")]
    assert joined.split() == ["outer_join_not_found", "500", "606.00+", "606.00+*"]


def test_a_text_without_totals_is_no_run_file() -> None:
    assert not is_run_file("operation,seconds\n")
    with pytest.raises(UsageError, match="RUN-x is no RUN file"):
        parse("Totals per operation:\n", "RUN-x")


def test_two_files_become_an_experiment_with_the_servers_as_levels(tmp_path: Path) -> None:
    for name, text in (("RUN-a", FIRST), ("RUN-b", SECOND)):
        (tmp_path / name).write_text(text)
    files = [str(tmp_path / name) for name in ("RUN-a", "RUN-b")]
    arguments = ["import", *files, "--lab", str(tmp_path / "lab"), "--no-report"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert "create+drop" in done.output
    with Lab.open(tmp_path / "lab", write=False) as lab:
        [run] = lab.runs()
        assert run.experiment.factors == {"server": ("MySQL 3.23.13a alpha", "MySQL 4.0.1 alpha")}
        assert [trial.totals["running_time"] for trial in run.trials()] == [2549.0, 2549.0]


def test_files_of_one_server_are_told_apart_by_their_names_and_a_single_one_is_only_shown(
    tmp_path: Path,
) -> None:
    for name in ("RUN-a", "RUN-b"):
        (tmp_path / name).write_text(FIRST)
    source, _ = from_run_files([tmp_path / "RUN-a", tmp_path / "RUN-b"], None)
    assert source is not None
    assert list(source.file.factors) == ["run"]
    source, totals = from_run_files([tmp_path / "RUN-a"], None)
    assert source is None
    assert "TOTALS" in totals
