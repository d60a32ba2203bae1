"""`mydyno report`: the page, the pictures and the tables of a run, from the lab alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mydyno.cli import options, outputs, screen
from mydyno.cli.browser import shown
from mydyno.cli.labs import LabOptions
from mydyno.cli.quantities import Percent, percentage
from mydyno.cli.shown import width

if TYPE_CHECKING:
    from mydyno.lab.report.asked import Asked
    from mydyno.lab.results.run import Run


def report(
    name: options.RunName = None,
    lab: LabOptions = LabOptions(),
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder to write into.", show_default="report/ in the run's folder"),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            help="The factor whose levels are compared, by its name or the last part of it.",
            metavar="FACTOR",
            show_default="the first factor of the experiment",
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            "--metric",
            help="The metric of the verdicts, as latency_p95; an unknown name lists all.",
            metavar="NAME",
            show_default="the rate, or that of the workload",
        ),
    ] = None,
    margin: Annotated[
        Percent,
        percentage("--margin", help="Equivalence margin of the verdicts.", least=1e-9, most=0.5),
    ] = Percent(0.03),
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    force: outputs.Force = False,
) -> None:
    """Write the report of a run: an HTML page, pictures, Markdown and CSV.

    Needs only the lab: no server, no root, not the machine that measured. For a run that is not finished,
    reports the finished trials.

    ```text
    mydyno report
    mydyno report thread-cache --lab lab --out /tmp/report
    mydyno report raid-vs-memory --columns innodb_buffer_pool_size
    mydyno report --open
    mydyno report thread-cache --metric latency_p99 --margin 5%
    ```
    """
    from mydyno.lab.report.asked import Asked

    folder = outputs.Outputs(force=force).folder("--out", out)
    asked = Asked(columns, metric, margin)
    with lab.reading() as opened:
        run = opened.find_run(name)
        written = write(run, folder or run.report_folder, asked)
    if show and (why := shown(written)):
        screen.echo(f"the page is not opened: {why}")


def write(run: Run, out: Path, asked: Asked | None = None) -> Path:
    """Write the files and print the summary and where they are; the page is returned."""
    from mydyno.page.charts.press import press

    press()  # It takes a second to start, as do the modules that follow.
    from mydyno.lab.report.asked import AS_IT_IS
    from mydyno.lab.report.build import build
    from mydyno.lab.report.text import terminal

    files = build(run, out, asked or AS_IT_IS)
    screen.echo(terminal(files.page, width()))
    screen.echo(f"\nreport   {files.html}")
    if files.overview:
        screen.echo(f"picture  {files.overview}")
    return files.html


def add_to(app: typer.Typer) -> None:
    app.command()(report)
