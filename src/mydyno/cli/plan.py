"""`mydyno plan`: what an experiment would do."""

from __future__ import annotations

import typer

from mydyno.cli import options, screen


def plan(
    file: options.ExperimentFile,
    size: options.Size = None,
    lab: options.Lab = options.DEFAULT_LAB,
    trust: options.Trust = False,
    as_json: options.AsJson = False,
) -> None:
    """Show the points, the trials and their order, how long it takes, and everything done outside the lab.

    Changes nothing. The settings are checked against the very server binary that would be run.

    ```text
    mydyno plan experiments/thread-cache.yaml
    mydyno plan experiments/thread-cache.yaml --size demo --json | jq .estimate
    ```
    """
    from mydyno.cli.planning import prepare
    from mydyno.lab.plan import render
    from mydyno.lab.trial.power import power_sentence
    from mydyno.machine.local import LocalHost

    _, prepared = prepare(file, size, lab, LocalHost(), trust=trust)
    if as_json:
        screen.echo_json(prepared.plan.model_dump_json(indent=2))
        return
    screen.echo(render(prepared.plan), nl=False)
    if (power := power_sentence(prepared.plan, lab)) is not None:
        screen.echo(f"\n{power}")
    for binary in sorted({f"{one.version} ({one.path})" for one in prepared.binaries.values()}):
        screen.echo(f"\nserver {binary}: takes every setting that the experiment asks for")
    for server in sorted({f"{one.version} at {one.login.address}" for one in prepared.externals.values()}):
        screen.echo(f"\nexternal server {server}: takes every setting of the experiment while it runs")
    for name in prepared.missing:
        screen.echo(
            f"\nserver {name} is not installed: `mydyno run` installs it and then checks its settings; "
            f"to have them checked now: mydyno servers add {name}"
        )


def add_to(app: typer.Typer) -> None:
    app.command()(plan)
