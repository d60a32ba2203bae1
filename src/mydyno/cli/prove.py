"""`mydyno prove`: measure advice, each finding alone and all together, before and after."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from mydyno.cli import options, outputs, screen
from mydyno.cli.declare import option
from mydyno.cli.inputs import advice_of, facts_of
from mydyno.cli.labs import LabOptions
from mydyno.cli.login_options import LoginOptions
from mydyno.cli.prove_options import ExperimentOptions, LoadOptions
from mydyno.core.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from mydyno.cli.proving import Request
    from mydyno.lab.analysis.verdict import Verdict
    from mydyno.lab.results.run import Run
    from mydyno.lab.results.store import Lab
    from mydyno.prove.experiment import Proposal
    from mydyno.prove.place import Place
    from mydyno.prove.stages import Stages


def prove(
    server: LoginOptions,
    advice: options.AdviceFile,
    load: LoadOptions,
    experiment: ExperimentOptions,
    lab: LabOptions = LabOptions(),
    out: Path | None = option("--out", "The experiment file.", show_default="ADVICE-prove.yaml"),
    dry_run: bool = option("--dry-run", "Write the experiment file, show its plan, and end.", default=False),
    yes: options.Yes = False,
    force: outputs.Force = False,
) -> None:
    """Measure what advice is worth: all changes together, and each finding alone.

    Writes an experiment file, shows its plan, asks, runs it as `mydyno run` does (after a kill the same
    command continues) and reports for each finding what it was worth, with its interval. The load resembles
    that of the advised server as far as the advice describes it: size of the data, kinds of statements,
    misses of the buffer pool. What cannot be measured in that environment is listed with the reason. The
    options of the server are for --on server. Exit code 7 when some trials are invalid or failed.

    ```text
    mydyno prove advice.json
    mydyno prove advice.json --within 1h --yes
    mydyno prove advice.json --only buffer-pool,redo-capacity --until 3%
    mydyno prove advice.json --on server --defaults-file ~/.my.cnf --measure 60s
    ```
    """
    from mydyno.cli import proving
    from mydyno.prove.condition import condition_of

    if experiment.on != "server" and server != LoginOptions():
        raise UsageError("a login is given without --on server", "a private server needs none")
    read = advice_of(advice)
    system = read.facts if experiment.facts is None else facts_of(experiment.facts)
    condition = condition_of(system)
    inputs = (advice, experiment.facts, load.workload, server.defaults_file, server.password_file)
    target = out or advice.with_name(f"{advice.stem}-prove.yaml")
    files = _Files(outputs.Outputs(inputs, force), target)
    request = proving.Request(
        name=advice.stem,
        advice=read,
        system=system,
        experiment=experiment,
        options=load,
        condition=condition,
        external=proving.external(server, experiment.database),
        lab=lab,
    )
    _show(request, files.first)
    if not dry_run:
        if not yes:
            _ask(experiment.on)
        _measure(request, files)


class _Files:
    """The experiment files: of the first run, of the pilot, and of each finding alone."""

    def __init__(self, written: outputs.Outputs, first: Path) -> None:
        def file(suffix: str) -> outputs.OutputFile:
            path = first.with_name(f"{first.stem}{suffix}{first.suffix}")
            made = written.file("--out", path, outputs.PROOF_EXPERIMENT)
            assert made is not None
            return made

        self.first, self.pilot, self.alone = file(""), file("-pilot"), file("-alone")


def _show(request: Request, file: outputs.OutputFile) -> None:
    """Writes the first experiment file, and shows its plan and the total."""
    from mydyno.cli import proving
    from mydyno.cli.planning import prepare
    from mydyno.lab.plan import render
    from mydyno.machine.local import LocalHost

    proposal, pilot, stages = _planned(request)
    file.write(stages.runs[0].text)
    _, prepared = prepare(file.path, None, request.lab, LocalHost(), own_server=request.on == "server")
    for line in proving.before_the_plan(proposal):
        screen.echo(line)
    screen.echo(render(prepared.plan), nl=False)
    seconds = proving.seconds_of(request.lab.folder)(pilot) if pilot else 0.0
    screen.echo("")
    for line in proving.summary(stages, seconds, request.within, proposal.shape):
        screen.echo(line)
    same = "the pilot may change its keys" if pilot else f"`mydyno run {file.path}` does the same"
    screen.echo(f"experiment {file.path}: {same}")


def _planned(request: Request) -> tuple[Proposal, Proposal | None, Stages]:
    """The whole experiment, its pilot if it needs one, and what is measured in the time."""
    from mydyno.cli import proving
    from mydyno.prove.pilot import pilot_of
    from mydyno.prove.stages import stages_of

    proposal = proving.propose(request)
    pilot = None
    if request.pilot is None:
        pilot = pilot_of(proposal, request.condition, proving.has_keys(request))
    seconds_of = proving.seconds_of(request.lab.folder)
    spent = seconds_of(pilot) if pilot else 0.0
    return proposal, pilot, stages_of(proposal, seconds_of, request.within - spent)


def _measure(request: Request, files: _Files) -> None:
    """The pilot, then all runs, each followed by the results so far."""
    from mydyno.cli import proving
    from mydyno.prove.misses import misses_by_level
    from mydyno.prove.pilot import choose
    from mydyno.prove.stages import with_levels

    proposal, pilot, stages = _planned(request)
    condition = request.condition
    with request.lab.open(write=True) as opened:
        if pilot is not None and condition.misses is not None:
            run = _run(pilot, files.pilot, opened, request)
            request = replace(request, pilot=choose(misses_by_level(run), condition.misses))
            proposal, _, stages = _planned(request)
            screen.echo(
                request.pilot.note if request.pilot else "the pilot has no valid trial: it chooses nothing"
            )
        verdicts: dict[str, Verdict] = {}
        measured: set[str] = set()
        invalid, notes = False, [f"not measured yet: {proving.left(stages, 0.0)}"] if stages.left else []
        for number, each in enumerate(stages.runs):
            file = files.first if number == 0 else files.alone
            done = _run(each, file, opened, request)
            invalid = invalid or bool(done.invalid())
            verdicts |= proving.verdicts_of(done)
            measured |= {level.name for level in each.levels.all}
            levels = [level for level in proposal.levels.all if level.name in measured]
            notes_now = [*proving.misses_note(done, condition), *notes]
            proving.report(done, with_levels(proposal, levels), verdicts, notes_now)
    if invalid:
        raise typer.Exit(ExitCode.INVALID_TRIALS)


def _run(proposal: Proposal, file: outputs.OutputFile, lab: Lab, request: Request) -> Run:
    """Runs it as `mydyno run` does; earlier trials are kept."""
    from mydyno.cli import display
    from mydyno.cli.planning import prepare
    from mydyno.lab.trial.campaign import Campaign
    from mydyno.machine.local import LocalHost

    host = LocalHost()
    file.write(proposal.text)
    experiment, prepared = prepare(
        file.path, None, request.lab, host, own_server=request.on == "server", install=True
    )
    with display.for_stream() as show:
        return Campaign(experiment, prepared, host, lab).go(show)


def _ask(on: Place) -> None:
    """Ends the program unless the answer is yes. Raises UsageError without a terminal."""
    if not sys.stdin.isatty():
        raise UsageError(
            "standard input is not a terminal", "--yes measures without asking, --dry-run only shows the plan"
        )
    if on == "server":
        screen.echo(
            "During that time the server runs with the load and these settings, next to its own work."
        )
        screen.confirm("Is this the maintenance window for it?", abort=True)
    else:
        screen.confirm("Measure it now?", abort=True)
