"""`mydyno export`: a run for Prometheus, Grafana, spreadsheets and programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mydyno.cli import options
from mydyno.core.errors import UsageError
from mydyno.core.plurals import counted

if TYPE_CHECKING:
    from mydyno.results.run import Run


Format = Literal["openmetrics", "prometheus", "csv", "parquet", "json"]


def export(
    name: options.RunName = None,
    form: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="openmetrics and prometheus: the series, with timestamps; csv, parquet and json: every "
            "number, a file for each table.",
            show_default=False,
        ),
    ] = None,
    lab: options.Lab = options.DEFAULT_LAB,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="The file to write, or for csv, parquet and json the folder.",
            show_default="standard output, or RUN-FORMAT/ here",
        ),
    ] = None,
    grafana_dashboard: Annotated[
        Path | None,
        typer.Option(
            "--grafana-dashboard",
            help="Write a dashboard for the exported series into this file; needs no lab.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write a run for other programs: its samples and intervals for Prometheus, or every number as tables.

    Prometheus takes the series of the past by `promtool tsdb create-blocks-from openmetrics`; docs/sharing.md
    shows how. Whatever is written is whole or not there.

    ```text
    mydyno export thread-cache --format openmetrics --out thread-cache.om
    mydyno export thread-cache --format parquet --out numbers
    mydyno export --grafana-dashboard dashboard.json
    ```
    """
    from mydyno.cli.labs import open_lab

    if form is None and grafana_dashboard is None:
        raise UsageError(
            "export into what?",
            "--format openmetrics, prometheus, csv, parquet or json; or --grafana-dashboard",
        )
    if grafana_dashboard is not None:
        from mydyno.report.export.dashboard import dashboard
        from mydyno.report.export.whole import whole_file

        with whole_file(grafana_dashboard) as file:
            file.write(dashboard().encode())
        typer.echo(f"{grafana_dashboard}: import it in Grafana (Dashboards, New, Import)")
    if form is not None:
        with open_lab(lab, write=False) as opened:
            lost = _write(opened.find_run(name), form, out)
        for sentence in lost:
            typer.echo(f"note: a series is lost: {sentence}", err=True)


def _write(run: Run, form: Format, out: Path | None) -> tuple[str, ...]:
    """What the lab could not give."""
    from mydyno.report.export.exposition import Exposition
    from mydyno.report.export.tables import write_tables
    from mydyno.report.export.whole import whole_file, whole_folder

    if form == "openmetrics" or form == "prometheus":
        exposition = Exposition(run, form)
        if out is None:
            for chunk in exposition.chunks():
                sys.stdout.buffer.write(chunk)
        else:
            with whole_file(out) as file:
                for chunk in exposition.chunks():
                    file.write(chunk)
        return tuple(exposition.lost)
    folder = out or Path(f"{run.folder.name}-{form}")
    with whole_folder(folder) as partial:
        written = write_tables(run, partial, form)
    typer.echo(
        f"{folder}: {counted(len(written.tables), 'table')}; {written.tables[-1]} explains their columns"
    )
    return written.lost


def add_to(app: typer.Typer) -> None:
    app.command()(export)
