"""`mydyno export`: a run for Prometheus, Grafana, spreadsheets and programs."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mydyno.cli import options, outputs, screen
from mydyno.cli.declare import option
from mydyno.cli.labs import LabOptions
from mydyno.core.errors import UsageError
from mydyno.core.plurals import counted

if TYPE_CHECKING:
    from mydyno.lab.results.run import Run


SeriesFormat = Literal["openmetrics", "prometheus"]
TableFormat = Literal["csv", "parquet", "json"]
Format = Literal[SeriesFormat, TableFormat]


def export(
    name: options.RunName = None,
    form: Format | None = option(
        "--format FORMAT",
        "openmetrics and prometheus: the series, with timestamps; csv, parquet and json: all numbers, a file "
        "for each table.",
    ),
    lab: LabOptions = LabOptions(),
    out: Path | None = option(
        "--out",
        "The file to write, or for csv, parquet and json the folder.",
        show_default="standard output, or RUN-FORMAT/ here",
    ),
    grafana_dashboard: Path | None = option(
        "--grafana-dashboard", "Write a dashboard for the exported series into this file; needs no lab."
    ),
    force: outputs.Force = False,
) -> None:
    """Export a run for other programs: its samples for Prometheus, or its numbers as tables.

    Prometheus imports past series with `promtool tsdb create-blocks-from openmetrics`;
    docs/how-to/sharing.md shows how. An output file is complete or absent.

    ```text
    mydyno export thread-cache --format openmetrics --out thread-cache.om
    mydyno export thread-cache --format parquet --out numbers
    mydyno export --grafana-dashboard dashboard.json
    ```
    """
    from mydyno.lab.results.files import lost_series

    if form is None and grafana_dashboard is None:
        raise UsageError(
            "which format?", "--format openmetrics, prometheus, csv, parquet or json; or --grafana-dashboard"
        )
    allowed = outputs.Outputs((lab.database,), force)
    for_grafana = allowed.file("--grafana-dashboard", grafana_dashboard, outputs.DASHBOARD)
    series = allowed.file("--out", out, outputs.SERIES) if form in ("openmetrics", "prometheus") else None
    if for_grafana is not None:
        from mydyno.lab.report.export.dashboard import dashboard

        for_grafana.write(dashboard())
        screen.echo(f"{grafana_dashboard}: import it in Grafana (Dashboards, New, Import)")
    if form is not None:
        with lab.reading() as opened:
            run = opened.find_run(name)
            if form == "openmetrics" or form == "prometheus":
                lost = _write_series(run, form, series)
            else:
                lost = _write_tables(run, form, out)
        for sentence in lost_series(lost):
            screen.echo(f"note: {sentence}", err=True)


def _write_series(run: Run, form: SeriesFormat, file: outputs.OutputFile | None) -> tuple[str, ...]:
    """What the lab could not give."""
    from mydyno.lab.report.export.exposition import Exposition

    exposition = Exposition(run, form)
    with nullcontext(screen.data_stream()) if file is None else file.open() as stream:
        for chunk in exposition.chunks():
            stream.write(chunk)
    return tuple(exposition.lost)


def _write_tables(run: Run, form: TableFormat, out: Path | None) -> tuple[str, ...]:
    """What the lab could not give."""
    from mydyno.lab.report.export.tables import whole_folder, write_tables

    folder = out or Path(f"{run.folder.name}-{form}")
    with whole_folder(folder) as partial:
        written = write_tables(run, partial, form)
    screen.echo(
        f"{folder}: {counted(len(written.tables), 'table')}; {written.tables[-1]} explains their columns"
    )
    return written.lost
