"""RUN files of sql-bench as tables of results: those of old suites, and ours."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from lab.load.test_sql_bench import ENDS, HEADER, HELLO, OPERATIONS, STARTS
from mydyno.cli.main import app
from mydyno.core.errors import UsageError
from mydyno.lab.imports.run_file import as_csv, as_text, is_run_file, parse
from mydyno.lab.imports.take import from_run_files, take
from mydyno.lab.load.sql_bench import render
from mydyno.lab.report.build import build
from mydyno.lab.report.tables import operation_totals_table
from mydyno.lab.results.records import OperationTotal
from mydyno.lab.results.store import Lab

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


def total(name: str, tests: int, seconds: float, user: float, flags: str = "") -> OperationTotal:
    """A row of a file of suite 2.7, which prints 0 for `sys` and `cpu`."""
    return OperationTotal(
        name=name,
        tests=tests,
        elapsed_s=seconds,
        client_cpu_user_s=user,
        client_cpu_system_s=0.0,
        client_cpu_s=0.0,
        estimated="+" in flags,
        warned="?" in flags,
    )


def imported_from(folder: Path, *texts: str) -> Path:
    """A lab with the one run that these RUN files (`RUN-a`, `RUN-b`...) became."""
    files = [folder / f"RUN-{letter}" for letter, _ in zip("abc", texts, strict=False)]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    arguments = ["import", *map(str, files), "--lab", str(folder / "lab"), "--no-report"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert "create+drop" in done.output
    return folder / "lab"


def test_an_old_file_shows_its_server_its_programs_and_its_operations() -> None:
    run = parse(FIRST, "RUN-mysql-Linux_2.2.14_i686")
    assert run.name == "mysql-Linux_2.2.14_i686"
    assert run.server == "MySQL 3.23.13a alpha"
    assert run.facts["Running tests on"] == "Linux 2.2.14 i686"
    assert "Arguments" not in run.facts
    assert run.programs == {"insert": 8358.0, "wisconsin": 63.0}
    assert run.operations["create+drop"] == total("create+drop", 10_000, 1433.0, 1433.28)
    assert run.operations["outer_join_not_found"] == total("outer_join_not_found", 500, 606.0, 605.55, "+")
    assert run.total == total("TOTALS", 361_268, 2549.0, 2546.94, "+")
    assert [row.name for row in run.operation_totals][-2:] == ["outer_join_not_found", "TOTALS"]


def test_a_report_of_ours_is_read_as_one_of_the_suite() -> None:
    text = render(HELLO, [*STARTS, *OPERATIONS], ENDS, **HEADER)
    assert is_run_file(text)
    run = parse(text, "RUN-ours")
    assert run.facts["Arguments"] == "--small-test"
    assert run.programs == {"alter-table": 2.0, "insert": 30.0, "select": 700.0}
    insert = run.operations["insert"]
    assert (insert.elapsed_s, insert.tests, insert.estimated) == (21.0, 310_000, False)
    both = insert.client_cpu_user_s + insert.client_cpu_system_s
    assert insert.client_cpu_s == pytest.approx(both, abs=0.011)
    assert run.total is not None
    assert run.total.elapsed_s == 2427.25


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


def test_a_text_without_totals_is_not_a_run_file() -> None:
    assert not is_run_file("operation,seconds\n")
    with pytest.raises(UsageError, match="RUN-x is not a RUN file"):
        parse("Totals per operation:\n", "RUN-x")


def test_two_files_become_an_experiment_with_the_servers_as_levels(tmp_path: Path) -> None:
    with Lab.open(imported_from(tmp_path, FIRST, SECOND), write=False) as lab:
        [run] = lab.runs()
        assert run.experiment.factors == {"server": ("MySQL 3.23.13a alpha", "MySQL 4.0.1 alpha")}
        assert [trial.totals["running_time"] for trial in run.trials()] == [2549.0, 2549.0]


def test_files_of_one_server_are_distinguished_by_their_names_or_are_repetitions(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("first", "second")]
    for folder in folders:
        folder.mkdir()
        for name in ("RUN-a", "RUN-b"):
            (folder / name).write_text(FIRST)
    source, _ = from_run_files([folders[0] / "RUN-a", folders[0] / "RUN-b"], None)
    assert list(source.file.factors) == ["run"]
    source, _ = from_run_files([folder / "RUN-a" for folder in folders], None)
    assert source.file.factors == {}
    with Lab.open(tmp_path / "lab", write=True) as lab:
        run, _ = take(source, lab)
        assert [(trial.point_id, trial.block) for trial in run.trials()] == [("p1", 1), ("p1", 2)]


def test_the_report_has_the_totals_per_operation_with_ratios_to_the_first_server(tmp_path: Path) -> None:
    slower = SECOND.replace(" 510  508.11", "1020 1000.25")
    with Lab.open(imported_from(tmp_path, FIRST, slower), write=False) as lab:
        [run] = lab.runs()
        files = build(run, tmp_path / "report")
    table = operation_totals_table(files.page.operation_totals)
    assert table.columns[:2] == ("operation", "tests")
    assert [row[0] for row in table.rows] == ["create+drop", "insert", "outer_join_not_found", "TOTALS"]
    inserted = table.rows[1]
    assert inserted[2] == "510 s\nusr 508, sys 0, cpu 0, n=1"
    assert inserted[3] == "1,020 s, 2.000× as long\nusr 1,000, sys 0, cpu 0, n=1"
    joined = table.rows[2]
    assert joined[1] == "500"
    assert joined[2].startswith("606 s+\n")
    assert joined[3].startswith("606 s+*, 1.000× as long")
    assert "Totals per operation" in files.html.read_text()
    rows = pl.read_csv(files.paths["operation-totals.csv"])
    assert rows.height == 8
    assert rows.filter(pl.col("name") == "TOTALS")["elapsed_s"].to_list() == [2549.0, 2549.0]


def test_a_single_file_is_an_experiment_of_one_point_with_its_table(tmp_path: Path) -> None:
    with Lab.open(imported_from(tmp_path, FIRST), write=False) as lab:
        [run] = lab.runs()
        assert run.experiment.factors == {}
        assert [point.title for point in run.experiment.points] == ["the only point"]
        files = build(run, tmp_path / "report")
    table = operation_totals_table(files.page.operation_totals)
    assert table.rows[0][1:] == ("10,000", "1,433 s\nusr 1,433, sys 0, cpu 0, n=1")
    page = files.html.read_text()
    assert "create+drop" in page
    assert "create+drop" in files.paths["summary.md"].read_text()


def test_a_file_in_which_no_program_came_to_its_end_keeps_its_totals(tmp_path: Path) -> None:
    failed = FIRST.replace("Estimated total time", "Failed").replace("Total time", "Failed")
    with Lab.open(imported_from(tmp_path, failed), write=False) as lab:
        [run] = lab.runs()
        files = build(run, tmp_path / "report")
    assert "create+drop" in files.html.read_text()
