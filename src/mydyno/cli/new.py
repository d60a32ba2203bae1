"""`mydyno new`: a commented experiment file from options or from a few questions."""

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from mydyno.cli import completion, outputs, screen
from mydyno.cli.declare import argument, given_options, option, option_group
from mydyno.cli.new_text import Choices, assigned, name_of, text_of
from mydyno.core.document.problems import SpecErrors
from mydyno.core.errors import UsageError

_NOT_WRITTEN = "nothing was written; change the option that gave this value"


@option_group
class NewOptions:
    """What an option gives of `Choices`, under the same name."""

    factors: list[str] | None = option(
        "--factor NAME=LEVEL,LEVEL...",
        "What varies: a server variable, or a path as in experiment files. May be repeated.",
    )
    workload: str | None = option(
        "--workload NAME",
        "The load: one of `mydyno workload list`.",
        show_default=Choices.workload,
        autocompletion=completion.workloads,
    )
    settings: list[str] | None = option(
        "--set NAME=VALUE", "An option of the workload, as table_size=20k. May be repeated."
    )
    connections: str | None = option(
        "--connections --threads N",
        "Connections of the load: 16, 1,8,64 or 10..400 step 10.",
        show_default=Choices.connections,
    )
    duration: str | None = option(
        "--duration --time DURATION",
        "How long each number of connections is measured.",
        show_default=Choices.duration,
    )
    warmup: str | None = option("--warmup DURATION", "Load before measuring.", show_default=Choices.warmup)
    repeats: int | None = option(
        "--repeats", "Trials of each point.", min=1, show_default=str(Choices.repeats)
    )
    release: str | None = option(
        "--release NAME",
        "The server's release (`mydyno servers list`).",
        show_default=Choices.release,
        autocompletion=completion.releases,
    )
    host: str | None = option(
        "--environment NAME", "Where the server runs: local, uml or vm.", show_default=Choices.host
    )
    question: str | None = option("--question", "What the experiment is to answer.")


def new(
    file: Annotated[Path, argument("FILE", "The experiment file to write.")],
    options: NewOptions,
    force: bool = option("--force", "Replace FILE.", default=False),
) -> None:
    """Write a commented experiment file from options, or from a few questions on a terminal.

    The file is checked before it is written, so `mydyno plan FILE` takes it as it is. With any option it
    does not ask: what is not given has its default.

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
    choices = Choices(name=name_of(file))
    if (given := given_options(options)) or not sys.stdin.isatty():
        choices = replace(choices, **given)
        _check(choices, file)
    else:
        choices = _answered(choices, file)
    output.write(text_of(choices, file))
    screen.echo(f"wrote {file}; what it does: mydyno plan {file}")


def _check(choices: Choices, file: Path) -> None:
    """Raises UsageError and SpecErrors when it is not an experiment."""
    from mydyno.lab import spec
    from mydyno.lab.workload import builtin_names

    known = builtin_names()
    if choices.workload not in known:
        from mydyno.core.nearest import did_you_mean

        hint = did_you_mean(choices.workload, known, f"there are: {', '.join(known)}")
        raise UsageError(f"unknown workload '{choices.workload}'", hint)
    for flag, values in (("--factor", choices.factors), ("--set", choices.settings)):
        for value in values:
            if not all(assigned(value)):
                raise UsageError(f"{flag} {value}: no value is given", f"{flag} NAME=VALUE")
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
