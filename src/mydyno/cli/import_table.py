"""`mydyno import`: results that were measured elsewhere, taken into the lab as an experiment."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mydyno.cli import options, screen
from mydyno.core.errors import UsageError
from mydyno.core.plurals import counted


def import_table(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="The import file (YAML), which says what each column is; or a CSV file, and options do; or"
            " RUN files of sql-bench.",
            metavar="FILE...",
            show_default=False,
        ),
    ],
    table: Annotated[
        Path | None,
        typer.Option("--table", help="The CSV file.", show_default="the one that the import file names"),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option("--name", help="The experiment's name.", show_default="made of the CSV file's"),
    ] = None,
    factor: Annotated[
        list[str] | None,
        typer.Option(
            "--factor",
            help="A column whose texts are the levels of a factor. Several times for several.",
            metavar="COLUMN",
            show_default=False,
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            help="What a column measured: a metric of mydyno's (`queries_per_second`, `latency_p95`, "
            "`running_time`...), its column and, unless its cells write it, its unit.",
            metavar="METRIC=COLUMN[:UNIT]",
            show_default=False,
        ),
    ] = None,
    program: Annotated[
        list[str] | None,
        typer.Option(
            "--program",
            help="A column with the seconds of one test program. Several times for several.",
            metavar="COLUMN",
            show_default=False,
        ),
    ] = None,
    connections: Annotated[
        str | None,
        typer.Option(
            "--connections",
            help="How many connections the load had: a number, or a column.",
            metavar="N|COLUMN",
            show_default=False,
        ),
    ] = None,
    repetition: Annotated[
        str | None,
        typer.Option(
            "--repetition",
            help="The column that numbers the repetitions.",
            metavar="COLUMN",
            show_default="counted",
        ),
    ] = None,
    lab: options.Lab = options.DEFAULT_LAB,
    trust: options.Trust = False,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Write the report at the end.")] = True,
) -> None:
    """Take results that were measured elsewhere into the lab, as an experiment, and report on them.

    Columns of a CSV file become factors and metrics; every row is a trial. With an import file a column can
    be taken apart by regular expressions, and what the source concluded is held beside what mydyno finds.
    RUN files of sql-bench are printed side by side and become an experiment whose report has their totals per
    operation; a single one is an experiment of one point.

    ```text
    mydyno import experiments/imports/sql-bench-2005.yaml
    mydyno import sysbench.csv --factor raid --connections threads --metric queries_per_second=qps
    mydyno import old.csv --factor filesystem --connections 16 --metric latency_p95=p95:ms
    mydyno import RUN-mysql-3.23-Linux_2.4 RUN-mysql-4.0-Linux_2.4
    ```
    """
    from mydyno.cli import experiment_files
    from mydyno.cli.labs import open_lab
    from mydyno.lab.imports.take import are_run_files, from_options, from_run_files, take

    files = [experiment_files.find(file) if file.suffix == ".yaml" else file for file in files]
    if are_run_files(files):
        if any((table, factor, metric, program, connections, repetition)):
            raise UsageError("a RUN file says what is in it", "leave out the options that describe a table")
        source, totals = from_run_files(files, name)
        screen.echo(totals)
    elif len(files) > 1:
        raise UsageError("one table is taken at a time", "only RUN files of sql-bench can be several")
    else:
        source = from_options(
            files[0],
            table,
            name=name,
            factors=factor or (),
            metrics=metric or (),
            programs=program or (),
            connections=connections,
            repetition=repetition,
        )
    with open_lab(lab, write=True, trust=trust) as opened:
        run, notes = take(source, opened)
        for note in notes:
            screen.echo(f"note: {note}", err=True)
        screen.echo(f"{counted(len(run.completed()), 'trial')} in {run.folder}", err=True)
        if report:
            from mydyno.cli.report import write

            write(run, run.report_folder)


def add_to(app: typer.Typer) -> None:
    app.command("import")(import_table)
