"""`mydyno report`: the page, the pictures and the tables of a run, from the lab alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mydyno.cli import completion, options, outputs, screen
from mydyno.cli.browser import shown
from mydyno.cli.declare import option
from mydyno.cli.labs import LabOptions
from mydyno.cli.quantities import Percent, percentage
from mydyno.cli.shown import width

if TYPE_CHECKING:
    from mydyno.lab.report.report_options import ReportOptions
    from mydyno.lab.results.run import Run


def report(
    name: options.RunName = None,
    lab: LabOptions = LabOptions(),
    out: Path | None = option("--out", "Folder to write into.", show_default="report/ in the run's folder"),
    columns: str | None = option(
        "--columns FACTOR",
        "The factor whose levels are compared, by its name or the last part of it.",
        show_default="the first factor of the experiment",
    ),
    metric: str | None = option(
        "--metric NAME",
        "The metric of the verdicts, as latency_p95; an unknown name lists all.",
        autocompletion=completion.metrics,
        show_default="the rate, or that of the workload",
    ),
    margin: Percent = percentage(
        "--margin", "Equivalence margin of the verdicts.", least=1e-9, most=0.5, default=Percent(0.03)
    ),
    show: bool = option("--open", "Open the page in the browser.", default=False),
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
    from mydyno.lab.report.report_options import ReportOptions

    folder = outputs.Outputs(force=force).folder("--out", out)
    wanted = ReportOptions(columns, metric, margin)
    with lab.reading() as opened:
        run = opened.find_run(name)
        written = write(run, folder or run.report_folder, wanted)
    if show and (why := shown(written)):
        screen.echo(f"the page is not opened: {why}")


def write(run: Run, out: Path, wanted: ReportOptions | None = None) -> Path:
    """Write the files and print the summary and where they are; the page is returned."""
    from mydyno.page.charts.press import press

    press()  # It takes a second to start, as do the modules that follow.
    from mydyno.lab.report.build import build
    from mydyno.lab.report.report_options import DEFAULTS
    from mydyno.lab.report.text import terminal

    files = build(run, out, wanted or DEFAULTS)
    screen.echo(terminal(files.page, width()))
    screen.echo(f"\nreport   {files.html}")
    if files.overview:
        screen.echo(f"picture  {files.overview}")
    return files.html
