"""`mydyno new`: a commented experiment file from options or from a few questions."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from mydyno.cli import completion, outputs, screen
from mydyno.cli.new_text import Choices, assigned, name_of, text_of
from mydyno.core.document.problems import SpecErrors
from mydyno.core.errors import UsageError

_NOT_WRITTEN = "nothing was written; change the option that gave this value"


def new(
    file: Annotated[
        Path, typer.Argument(help="The experiment file to write.", metavar="FILE", show_default=False)
    ],
    factor: Annotated[
        list[str] | None,
        typer.Option(
            "--factor",
            help="What varies: a server variable, or a path as in experiment files. May be repeated.",
            metavar="NAME=LEVEL,LEVEL...",
            show_default=False,
        ),
    ] = None,
    workload: Annotated[
        str | None,
        typer.Option(
            "--workload",
            help="The load: one of `mydyno workload list`.",
            metavar="NAME",
            show_default=Choices.workload,
            autocompletion=completion.workloads,
        ),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="An option of the workload, as table_size=20k. May be repeated.",
            metavar="NAME=VALUE",
            show_default=False,
        ),
    ] = None,
    connections: Annotated[
        str | None,
        typer.Option(
            "--connections",
            "--threads",
            help="Connections of the load: 16, 1,8,64 or 10..400 step 10.",
            metavar="N",
            show_default=Choices.connections,
        ),
    ] = None,
    duration: Annotated[
        str | None,
        typer.Option(
            "--duration",
            "--time",
            help="How long each number of connections is measured.",
            metavar="DURATION",
            show_default=Choices.duration,
        ),
    ] = None,
    warmup: Annotated[
        str | None,
        typer.Option(
            "--warmup", help="Load before measuring.", metavar="DURATION", show_default=Choices.warmup
        ),
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option("--repeats", help="Trials of each point.", min=1, show_default=str(Choices.repeats)),
    ] = None,
    release: Annotated[
        str | None,
        typer.Option(
            "--release",
            help="The server's release (`mydyno servers list`).",
            metavar="NAME",
            show_default=Choices.release,
            autocompletion=completion.releases,
        ),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(
            "--environment",
            help="Where the server runs: local, uml or vm.",
            metavar="NAME",
            show_default=Choices.host,
        ),
    ] = None,
    question: Annotated[
        str | None,
        typer.Option("--question", help="What the experiment is to answer.", show_default=False),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace FILE.")] = False,
) -> None:
    """Write a commented experiment file from options, or from a few questions on a terminal.

    The file is checked before it is written, so `mydyno plan FILE` takes it as it is. With any option there
    are no questions: what is not given has its default.

    ```text
    mydyno new pool.yaml
    mydyno new pool.yaml --factor innodb_buffer_pool_size=1G,4G --duration 60s
    mydyno new log.yaml --factor sync_binlog=0,1 --workload oltp-write-only
    ```
    """
    if file.exists() and not force:
        raise UsageError(f"{file} exists", "name another file, or replace this one with --force")
    output = outputs.Outputs(force=True).file("FILE", file, outputs.EXPERIMENT)
    assert output is not None
    given: dict[str, Any] = {
        "question": question,
        "host": host,
        "release": release,
        "factors": tuple(factor) if factor else None,
        "workload": workload,
        "settings": tuple(setting) if setting else None,
        "connections": connections,
        "warmup": warmup,
        "duration": duration,
        "repeats": repeats,
    }
    given = {name: value for name, value in given.items() if value is not None}
    choices = Choices(name=name_of(file))
    if given or not sys.stdin.isatty():
        choices = replace(choices, **given)
        _check(choices, file)
    else:
        choices = _answered(choices, file)
    output.write(text_of(choices, file))
    screen.echo(f"wrote {file}; what it does: mydyno plan {file}")


def _check(choices: Choices, file: Path) -> None:
    """Raises UsageError and SpecErrors when it is no experiment."""
    from mydyno.lab import spec
    from mydyno.lab.workload import builtin_names

    known = builtin_names()
    if choices.workload not in known:
        from mydyno.core.nearest import did_you_mean

        hint = did_you_mean(choices.workload, known, f"there are: {', '.join(known)}")
        raise UsageError(f"unknown workload '{choices.workload}'", hint)
    for option, values in (("--factor", choices.factors), ("--set", choices.settings)):
        for value in values:
            if not all(assigned(value)):
                raise UsageError(f"{option} {value}: no value is given", f"{option} NAME=VALUE")
    try:
        spec.loads(text_of(choices, file), str(file))
    except SpecErrors as error:
        raise SpecErrors(error.problems, _NOT_WRITTEN) from error


@dataclass(frozen=True)
class _Question:
    """One line to explain it, and the field of Choices that the answer becomes."""

    field: str
    text: str

    def taken(self, answer: str) -> Any:
        if self.field == "factors":
            return tuple(part.strip() for part in answer.split(";") if part.strip())
        return int(answer) if self.field == "repeats" else answer


_QUESTIONS = (
    _Question("question", "What is the experiment to answer? One sentence, for the report"),
    _Question("factors", "What varies? NAME=LEVEL,LEVEL; several with ; between. Empty: nothing"),
    _Question("release", "Which release of the server? system is the installed one"),
    _Question("workload", "Which load? mydyno workload list shows all"),
    _Question("connections", "How many connections? A number, a list 1,8,64 or a range 10..400 step 10"),
    _Question("warmup", "How long is the load run before measuring?"),
    _Question("duration", "How long is each number of connections measured?"),
    _Question("repeats", "How many trials of each point? More make shorter confidence intervals"),
)


def _answered(choices: Choices, file: Path) -> Choices:
    """The choices with the answers, each of which is checked before the next question."""
    for question in _QUESTIONS:
        while True:
            default = getattr(choices, question.field)
            answer = screen.ask(question.text, str(default or ""))
            try:
                candidate = replace(choices, **{question.field: question.taken(answer)})
                _check(candidate, file)
            except SpecErrors as error:
                for problem in error.problems:
                    screen.echo(f"  {replace(problem, position=None)}", err=True)
            except (UsageError, ValueError) as error:
                screen.echo(f"  {error}", err=True)
            else:
                choices = candidate
                break
    return choices


def add_to(app: typer.Typer) -> None:
    app.command()(new)
