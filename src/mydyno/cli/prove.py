"""`mydyno prove`: put advice to the test, each finding alone and all together, before and after."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mydyno.cli import options, outputs
from mydyno.core.errors import ExitCode, UsageError
from mydyno.prove.place import Place

_EXPERIMENT, _LOAD, _SERVER = "Experiment", "Load", "The server itself (--on server)"


def prove(
    advice: Annotated[
        Path, typer.Argument(help="The advice (JSON) that `mydyno advise` wrote.", show_default=False)
    ],
    workload: Annotated[
        str,
        typer.Option(
            "--workload",
            help="What drives the server: one of `mydyno workload list`, or a workload file.",
            rich_help_panel=_LOAD,
        ),
    ] = "oltp-read-write",
    only: Annotated[
        str | None,
        typer.Option(
            "--only",
            metavar="RULES",
            help="Only these findings: ids of rules, with commas between.",
            rich_help_panel=_EXPERIMENT,
            show_default="all",
        ),
    ] = None,
    connections: Annotated[
        str,
        typer.Option("--connections", help="Numbers of connections to hold.", rich_help_panel=_LOAD),
    ] = "1,8,32",
    warmup: Annotated[
        str, typer.Option("--warmup", help="Load before measuring.", rich_help_panel=_LOAD)
    ] = "5s",
    measure: Annotated[
        str,
        typer.Option(
            "--measure", help="How long each number of connections is measured.", rich_help_panel=_LOAD
        ),
    ] = "30s",
    chosen: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="An option of the workload, as tables=4; may be given several times.",
            rich_help_panel=_LOAD,
            show_default=False,
        ),
    ] = None,
    rows: Annotated[
        str | None,
        typer.Option(
            "--rows",
            help="Rows of each table (or warehouses), as 100k.",
            rich_help_panel=_LOAD,
            show_default="as many as make the advised server's data",
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            "--data",
            metavar="SIZE",
            help="How much the tables take, as 2G, instead of --rows.",
            rich_help_panel=_LOAD,
            show_default=False,
        ),
    ] = None,
    repeats: Annotated[
        int, typer.Option("--repeats", help="Trials of each level.", min=1, rich_help_panel=_EXPERIMENT)
    ] = 5,
    until: Annotated[
        str | None,
        typer.Option(
            "--until",
            metavar="SHARE",
            help="Repeat until every finding is known so well, ±3% say, instead of --repeats.",
            rich_help_panel=_EXPERIMENT,
            show_default=False,
        ),
    ] = None,
    on: Annotated[
        Place,
        typer.Option(
            "--on",
            help="sandbox: a private server here. vm, uml: one in a guest with disks of its own, for mounts, "
            "queues and file systems. server: the advised server itself, which takes the load meanwhile.",
            rich_help_panel=_EXPERIMENT,
        ),
    ] = "sandbox",
    release: Annotated[
        str | None,
        typer.Option(
            "--release",
            help="The private server's release (`mydyno servers list`).",
            rich_help_panel=_EXPERIMENT,
            show_default="the advised server's, where it can be had; else this machine's",
        ),
    ] = None,
    facts: Annotated[
        Path | None,
        typer.Option(
            "--facts",
            help="The facts that the advice was made of (`mydyno facts`): how much data there is, the other "
            "settings, the disks.",
            rich_help_panel=_EXPERIMENT,
            show_default=False,
        ),
    ] = None,
    server: Annotated[
        str | None,
        typer.Option(
            "--server",
            metavar="SOCKET|DSN",
            help="Its unix socket, or mysql://USER@HOST:PORT.",
            rich_help_panel=_SERVER,
            show_default=False,
        ),
    ] = None,
    user: Annotated[
        str | None, typer.Option("--user", help="Account.", rich_help_panel=_SERVER, show_default=False)
    ] = None,
    defaults_file: Annotated[
        Path | None,
        typer.Option(
            "--defaults-file",
            help="Client option file with socket or host, user, password.",
            rich_help_panel=_SERVER,
            show_default=False,
        ),
    ] = None,
    password_file: Annotated[
        Path | None,
        typer.Option(
            "--password-file",
            help="File whose first line is the password.",
            rich_help_panel=_SERVER,
            show_default=False,
        ),
    ] = None,
    database: Annotated[
        str,
        typer.Option("--database", help="Schema for the load's tables; it is made.", rich_help_panel=_SERVER),
    ] = "mydyno",
    lab: options.Lab = options.DEFAULT_LAB,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="The experiment file.", show_default="ADVICE-prove.yaml"),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Write the experiment file, show its plan, and end.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --on server: do not ask.")] = False,
    force: outputs.Force = False,
) -> None:
    """Measure what advice is worth: as it is, each finding alone, all together.

    Writes an experiment file, shows its plan, runs it as `mydyno run` does (after a kill the same command
    goes on) and says of each finding what it was worth, with its interval. What cannot be measured in that
    place is told with the reason. Exit code 7 when some trials are invalid or failed.

    ```text
    mydyno prove advice.json --workload oltp-read-write --facts facts.json
    mydyno prove advice.json --only buffer-pool,redo-capacity --until ±3%
    mydyno prove advice.json --on server --defaults-file ~/.my.cnf --measure 60s
    ```
    """
    from mydyno.cli import display, proving
    from mydyno.cli.labs import open_lab
    from mydyno.cli.planning import prepare
    from mydyno.host.local import LocalHost
    from mydyno.plan import render
    from mydyno.trial.campaign import Campaign

    if yes and on != "server":
        raise UsageError("--yes is for --on server", "a private server needs no leave")
    if on != "server" and (server or user or defaults_file or password_file):
        raise UsageError("an account or address is given without --on server", "a private server has its own")
    target = out or advice.with_name(f"{advice.stem}-prove.yaml")
    inputs = (advice, facts, workload, defaults_file, password_file)
    file = outputs.Outputs(inputs, force).file("--out", target, outputs.PROOF_EXPERIMENT)
    assert file is not None
    asked = proving.Asked(
        advice=advice,
        facts=facts,
        only=tuple(part.strip() for part in only.split(",")) if only else None,
        on=on,
        release=release,
        workload=workload,
        chosen=(*(chosen or ()), *proving.rows_option(workload, rows)),
        data=data,
        load=proving.load(workload, connections, warmup, measure, repeats, until),
        external=proving.external(server, user, defaults_file, password_file, database),
        lab=lab,
    )
    proposal = proving.propose(asked)
    file.write(proposal.text)
    host = LocalHost()
    experiment, prepared = prepare(target, None, lab, host, install=not dry_run)
    for line in proving.told(proposal):
        typer.echo(line)
    typer.echo(render(prepared.plan), nl=False)
    typer.echo(f"\nexperiment {target}: `mydyno run {target}` does the same")
    if dry_run:
        return
    if on == "server" and not yes:
        typer.echo("The server takes the load and these settings for that time, beside its own work.")
        typer.confirm("Is this the window for it?", abort=True)
    with open_lab(lab, write=True) as opened:
        with display.for_stream() as show:
            done = Campaign(experiment, prepared, host, opened).go(show)
        proving.report(done, proposal)
        invalid = done.invalid()
    if invalid:
        raise typer.Exit(ExitCode.INVALID_TRIALS)


def add_to(app: typer.Typer) -> None:
    app.command()(prove)
