"""`mydyno import`: results that were measured elsewhere, as an experiment of the lab."""

from pathlib import Path
from typing import Annotated

from mydyno.cli import screen
from mydyno.cli.declare import argument, given_options, option, option_group
from mydyno.cli.labs import LabOptions
from mydyno.core.errors import UsageError
from mydyno.core.plurals import counted


@option_group
class Columns:
    """What the columns of a CSV file are."""

    table: Path | None = option("--table", "The CSV file.", show_default="the one that the import file names")
    factors: list[str] | None = option(
        "--factor COLUMN", "A column whose texts are the levels of a factor. Can be repeated."
    )
    metrics: list[str] | None = option(
        "--metric METRIC=COLUMN[:UNIT]",
        "A metric of mydyno (`queries_per_second`, `latency_p95`, `running_time`...), its column and, "
        "unless the cells have it, its unit. Can be repeated.",
    )
    programs: list[str] | None = option(
        "--program COLUMN", "A column with the seconds of one test program. Can be repeated."
    )
    connections: str | None = option(
        "--connections N|COLUMN", "Connections of the load: a number, or a column."
    )
    repetition: str | None = option(
        "--repetition COLUMN", "The column that numbers the repetitions.", show_default="counted"
    )


_Files = Annotated[
    list[Path],
    argument(
        "FILE",
        "An import file (YAML), which describes the columns; or a CSV file, described by options; or RUN "
        "files of sql-bench.",
    ),
]


def import_(
    files: _Files,
    columns: Columns = Columns(),
    name: str | None = option("--name", "The experiment's name.", show_default="made of the CSV file's"),
    lab: LabOptions = LabOptions(),
    report: bool = option("--report/--no-report", "Write the report at the end.", default=True),
) -> None:
    r"""Import results that were measured elsewhere, as an experiment of the lab.

    Columns of a CSV file become factors and metrics; every row is a trial. An import file can split columns
    by regular expressions, and compares the conclusions of the source with those of mydyno. RUN files of
    sql-bench are printed side by side and become an experiment whose report has their totals per operation;
    a single one is an experiment of one point.

    ```text
    mydyno import experiments/imports/sql-bench-2005.yaml
    mydyno import sysbench.csv --factor raid --connections threads \
        --metric queries_per_second=qps
    mydyno import old.csv --factor filesystem --connections 16 \
        --metric latency_p95=p95:ms
    mydyno import RUN-mysql-3.23-Linux_2.4 RUN-mysql-4.0-Linux_2.4
    ```
    """
    from mydyno.cli import experiment_files
    from mydyno.lab.imports.take import are_run_files, from_options, from_run_files, take

    files = [experiment_files.find(file) if file.suffix == ".yaml" else file for file in files]
    if are_run_files(files):
        if columns != Columns():
            raise UsageError("a RUN file describes itself", "leave out the options that describe a table")
        source, totals = from_run_files(files, name)
        screen.echo(totals)
    elif len(files) > 1:
        raise UsageError("only one table can be imported at a time", "of RUN files there can be several")
    else:
        source = from_options(files[0], name=name, **given_options(columns))
    with lab.open(write=True) as opened:
        run, notes = take(source, opened)
        for note in notes:
            screen.echo(f"note: {note}", err=True)
        screen.echo(f"{counted(len(run.completed()), 'trial')} in {run.folder}", err=True)
        if report:
            from mydyno.cli.report import write

            write(run, run.report_folder)
