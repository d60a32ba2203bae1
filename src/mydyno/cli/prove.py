"""`mydyno prove`: put advice to the test, each finding alone and all together, before and after."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mydyno.cli import completion, options, outputs, screen
from mydyno.core.errors import ExitCode, UsageError
from mydyno.prove.place import Place

if TYPE_CHECKING:
    from mydyno.cli.proving import Asked
    from mydyno.lab.analysis.verdict import Verdict
    from mydyno.lab.results.run import Run
    from mydyno.lab.results.store import Lab
    from mydyno.prove.condition import Condition
    from mydyno.prove.experiment import Proposal
    from mydyno.prove.stages import Stages

_EXPERIMENT, _LOAD, _SERVER = "Experiment", "Load", "The server itself (--on server)"


def prove(
    advice: Annotated[
        Path, typer.Argument(help="The advice (JSON) that `mydyno advise` wrote.", show_default=False)
    ],
    workload: Annotated[
        str | None,
        typer.Option(
            "--workload",
            help="What drives the server: one of `mydyno workload list`, or a workload file.",
            rich_help_panel=_LOAD,
            show_default="oltp-read-only, -read-write or -write-only, by the advised server's statements",
        ),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(
            "--only",
            metavar="RULES",
            autocompletion=completion.rules,
            help="Only these findings: ids of rules, with commas between.",
            rich_help_panel=_EXPERIMENT,
            show_default="all",
        ),
    ] = None,
    connections: Annotated[
        str | None,
        typer.Option(
            "--connections",
            help="Numbers of connections to hold, as 1,8,32.",
            rich_help_panel=_LOAD,
            show_default="as many as ran statements on the advised server; else 8",
        ),
    ] = None,
    warmup: Annotated[
        str, typer.Option("--warmup", help="Load before measuring.", rich_help_panel=_LOAD)
    ] = "5s",
    measure: Annotated[
        str,
        typer.Option(
            "--measure", help="How long each number of connections is measured.", rich_help_panel=_LOAD
        ),
    ] = "20s",
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
    within: Annotated[
        str,
        typer.Option(
            "--within",
            metavar="TIME",
            help="How long all of it may take. All changes together are measured first, then each finding "
            "alone as time allows.",
            rich_help_panel=_EXPERIMENT,
        ),
    ] = "10m",
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
            autocompletion=completion.releases,
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
            show_default="what the advice carries of them",
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
    trust: options.Trust = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="The experiment file.", show_default="ADVICE-prove.yaml"),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Write the experiment file, show its plan, and end.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    force: outputs.Force = False,
) -> None:
    """Measure what advice is worth: as it is, all changes together, each finding alone.

    Writes an experiment file, shows its plan, asks, runs it as `mydyno run` does (after a kill the same
    command goes on) and says of each finding what it was worth, with its interval. The load is like that of
    the advised server as far as the advice tells: as much data, such statements, keys that miss the buffer
    pool as often. What cannot be measured in that place is told with the reason. Exit code 7 when some trials
    are invalid or failed.

    ```text
    mydyno prove advice.json
    mydyno prove advice.json --within 1h --yes
    mydyno prove advice.json --only buffer-pool,redo-capacity --until ±3%
    mydyno prove advice.json --on server --defaults-file ~/.my.cnf --measure 60s
    ```
    """
    from mydyno.cli import proving
    from mydyno.prove.condition import condition_of

    if on != "server" and (server or user or defaults_file or password_file):
        raise UsageError("an account or address is given without --on server", "a private server has its own")
    found = proving.read_advice_file(advice)
    system = proving.read_facts(facts, found)
    condition = condition_of(system)
    inputs = (advice, facts, workload, defaults_file, password_file)
    target = out or advice.with_name(f"{advice.stem}-prove.yaml")
    files = _Files(outputs.Outputs(inputs, force), target)
    workload = workload or condition.workload
    asked = proving.Asked(
        name=advice.stem,
        advice=found,
        system=system,
        only=tuple(part.strip() for part in only.split(",")) if only else None,
        on=on,
        release=release,
        workload=workload,
        chosen=(*(chosen or ()), *proving.rows_option(workload, rows)),
        data=data,
        load=proving.load(
            workload, connections or str(condition.connections), warmup, measure, repeats, until
        ),
        external=proving.external(server, user, defaults_file, password_file, database),
        lab=lab,
        trust=trust,
        within=proving.seconds(within),
    )
    _show(asked, condition, files.first)
    if dry_run:
        return
    if not yes:
        _ask(on)
    _measure(asked, condition, files)


class _Files:
    """The experiment files: of the first run, of the pilot, and of each finding alone."""

    def __init__(self, written: outputs.Outputs, first: Path) -> None:
        def file(suffix: str) -> outputs.OutputFile:
            path = first.with_name(f"{first.stem}{suffix}{first.suffix}")
            made = written.file("--out", path, outputs.PROOF_EXPERIMENT)
            assert made is not None
            return made

        self.first, self.pilot, self.alone = file(""), file("-pilot"), file("-alone")


def _show(asked: Asked, condition: Condition, file: outputs.OutputFile) -> None:
    """Writes the first experiment file, and shows its plan and what all of it comes to."""
    from mydyno.cli import proving
    from mydyno.cli.planning import prepare
    from mydyno.lab.plan import render
    from mydyno.machine.local import LocalHost

    proposal, pilot, stages = _planned(asked, condition)
    file.write(stages.runs[0].text)
    _, prepared = prepare(
        file.path, None, asked.lab, LocalHost(), trust=asked.trust, own_server=asked.on == "server"
    )
    for line in proving.told(proposal):
        screen.echo(line)
    screen.echo(render(prepared.plan), nl=False)
    seconds = proving.seconds_of(asked.lab)(pilot) if pilot else 0.0
    screen.echo("")
    for line in proving.summary(stages, seconds, asked.within, proposal.shape):
        screen.echo(line)
    same = "the pilot may change its keys" if pilot else f"`mydyno run {file.path}` does the same"
    screen.echo(f"experiment {file.path}: {same}")


def _planned(asked: Asked, condition: Condition) -> tuple[Proposal, Proposal | None, Stages]:
    """All of it, the pilot where there is one to make, and what is measured in the time."""
    from mydyno.cli import proving
    from mydyno.prove.pilot import pilot_of
    from mydyno.prove.stages import stages_of

    proposal = proving.propose(asked)
    pilot = None
    if asked.pilot is None:
        pilot = pilot_of(proposal, condition, proving.has_keys(asked))
    seconds_of = proving.seconds_of(asked.lab)
    spent = seconds_of(pilot) if pilot else 0.0
    return proposal, pilot, stages_of(proposal, seconds_of, asked.within - spent)


def _measure(asked: Asked, condition: Condition, files: _Files) -> None:
    """The pilot, then all runs, each followed by what is known by then."""
    from mydyno.cli import proving
    from mydyno.cli.labs import open_lab
    from mydyno.prove.misses import misses_by_level
    from mydyno.prove.pilot import choose
    from mydyno.prove.stages import with_levels

    proposal, pilot, stages = _planned(asked, condition)
    with open_lab(asked.lab, write=True, trust=asked.trust) as opened:
        if pilot is not None and condition.misses is not None:
            run = _run(pilot, files.pilot, opened, asked)
            asked = replace(asked, pilot=choose(misses_by_level(run), condition.misses))
            proposal, _, stages = _planned(asked, condition)
            screen.echo(
                asked.pilot.note if asked.pilot else "the pilot has no valid trial: nothing is chosen"
            )
        verdicts: dict[str, Verdict] = {}
        measured: set[str] = set()
        invalid, notes = False, [f"not measured yet: {proving.left(stages, 0.0)}"] if stages.left else []
        for number, each in enumerate(stages.runs):
            file = files.first if number == 0 else files.alone
            done = _run(each, file, opened, asked)
            invalid = invalid or bool(done.invalid())
            verdicts |= proving.verdicts_of(done)
            measured |= {level.name for level in each.levels.all}
            levels = [level for level in proposal.levels.all if level.name in measured]
            notes_now = [*proving.misses_note(done, condition), *notes]
            proving.report(done, with_levels(proposal, levels), verdicts, notes_now)
    if invalid:
        raise typer.Exit(ExitCode.INVALID_TRIALS)


def _run(proposal: Proposal, file: outputs.OutputFile, lab: Lab, asked: Asked) -> Run:
    """Runs it as `mydyno run` does; what was measured before is kept."""
    from mydyno.cli import display
    from mydyno.cli.planning import prepare
    from mydyno.lab.trial.campaign import Campaign
    from mydyno.machine.local import LocalHost

    host = LocalHost()
    file.write(proposal.text)
    experiment, prepared = prepare(
        file.path,
        None,
        asked.lab,
        host,
        trust=asked.trust,
        own_server=asked.on == "server",
        install=True,
    )
    with display.for_stream() as show:
        return Campaign(experiment, prepared, host, lab).go(show)


def _ask(on: Place) -> None:
    """Ends the program unless the answer is yes. Raises UsageError where nobody can be asked."""
    if not sys.stdin.isatty():
        raise UsageError(
            "nobody is here to say yes to this plan", "--yes measures without asking, --dry-run only shows it"
        )
    if on == "server":
        screen.echo("The server takes the load and these settings for that time, beside its own work.")
        screen.confirm("Is this the window for it?", abort=True)
    else:
        screen.confirm("Measure it now?", abort=True)


def add_to(app: typer.Typer) -> None:
    app.command()(prove)
