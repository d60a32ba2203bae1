"""`mydyno run`: run an experiment, or continue one, and write its report."""

from contextlib import nullcontext

import typer

from mydyno.cli import options, screen
from mydyno.cli.declare import option
from mydyno.cli.labs import LabOptions
from mydyno.core.errors import ExitCode


def run(
    file: options.ExperimentFile,
    size: options.Size = None,
    lab: LabOptions = LabOptions(),
    hosts: options.Hosts = None,
    launcher: options.Launcher = None,
    partition: options.Partition = None,
    again: bool = option("--again", "Measure again although this experiment is finished.", default=False),
    report: bool = option("--report/--no-report", "Write the report at the end.", default=True),
    serve: bool = option(
        "--serve",
        "Also show the run in a browser while it is under way, as `mydyno serve` does.",
        default=False,
    ),
) -> None:
    """Run an experiment on private servers and write its report.

    A finished trial is saved at once. After Ctrl-C, a kill or a power loss the same command continues where
    it stopped. A trial whose environment cannot be built (a server that does not start, a mount option that
    is refused) is recorded as failed, and the run continues; a point that fails twice in the same step is
    skipped. The same command tries failed trials again. With `host: ssh` the trials are spread over the
    machines of --hosts (docs/how-to/fleet.md). Ends with exit code 7 when some trials are invalid
    or failed, and with the first error when none could be measured.

    ```text
    mydyno run experiments/thread-cache.yaml --size demo
    mydyno run experiments/thread-cache.yaml --lab /mnt/fast/lab --again
    mydyno run experiments/thread-cache.yaml --size demo --serve
    ```
    """
    from mydyno.cli import display
    from mydyno.cli.planning import limit_seconds, machines_of, prepare
    from mydyno.cli.serving import served
    from mydyno.lab.trial.campaign import Campaign
    from mydyno.machine.local import LocalHost

    host = LocalHost()
    with machines_of(hosts, launcher, partition, session=True) as machines:
        experiment, prepared = prepare(file, size, lab, host, install=True, machines=machines)
        machines.limit(limit_seconds(prepared.plan))
        for warning in prepared.plan.warnings:
            screen.echo(f"warning: {warning}", err=True)
        with lab.open(write=True) as opened:
            with served(lab) if serve else nullcontext(), display.for_stream() as show:
                done = Campaign(experiment, prepared, host, opened).go(show, again=again)
            machines.close()
            if report:
                from mydyno.cli.report import write

                write(done, done.report_folder)
            invalid = done.invalid()
    if invalid:
        raise typer.Exit(ExitCode.INVALID_TRIALS)
