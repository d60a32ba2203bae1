"""`mydyno run`: do an experiment, or go on with one, and write its report."""

from __future__ import annotations

from typing import Annotated

import typer

from mydyno.cli import options, screen
from mydyno.core.errors import ExitCode


def run(
    file: options.ExperimentFile,
    size: options.Size = None,
    lab: options.Lab = options.DEFAULT_LAB,
    trust: options.Trust = False,
    again: Annotated[
        bool, typer.Option("--again", help="Measure anew when this experiment is finished already.")
    ] = False,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Write the report at the end.")] = True,
) -> None:
    """Run an experiment on private servers and write its report.

    Every finished trial is safe at once. After Ctrl-C, a kill or a power loss the same command goes on
    where it stopped. A trial that cannot be built (a server that does not start, a mount option that is
    refused) is recorded as failed and the others go on; a point that fails twice in the same step is not
    tried further. The same command tries failed trials again. Ends with exit code 7 when some trials are
    invalid or failed, and with the first error when none could be measured.

    ```text
    mydyno run experiments/thread-cache.yaml --size demo
    mydyno run experiments/thread-cache.yaml --lab /mnt/fast/lab --again
    ```
    """
    from mydyno.cli import display
    from mydyno.cli.labs import open_lab
    from mydyno.cli.planning import prepare
    from mydyno.lab.trial.campaign import Campaign
    from mydyno.machine.local import LocalHost

    host = LocalHost()
    experiment, prepared = prepare(file, size, lab, host, trust=trust, install=True)
    for warning in prepared.plan.warnings:
        screen.echo(f"warning: {warning}", err=True)
    with open_lab(lab, write=True, trust=trust) as opened:
        with display.for_stream() as show:
            done = Campaign(experiment, prepared, host, opened).go(show, again=again)
        if report:
            from mydyno.cli.report import write

            write(done, done.report_folder)
        invalid = done.invalid()
    if invalid:
        raise typer.Exit(ExitCode.INVALID_TRIALS)


def add_to(app: typer.Typer) -> None:
    app.command()(run)
