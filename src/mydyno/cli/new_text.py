"""The text of a new experiment file: what was chosen, with a comment on each part."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mydyno.core.document.yaml_text import comment, inline

_USUAL_MAX_CONNECTIONS = 100
"""Below it every release's own max_connections is enough."""


@dataclass(frozen=True)
class Choices:
    """What the options or the answers say, as they were written."""

    name: str = "my-experiment"
    question: str = ""
    host: str = "local"
    release: str = "system"
    factors: tuple[str, ...] = ()
    """PATH=LEVEL,LEVEL each; a path without a dot is a server variable."""
    workload: str = "oltp-read-write"
    settings: tuple[str, ...] = ()
    """NAME=VALUE: options of the workload."""
    connections: str = "16"
    warmup: str = "5s"
    duration: str = "30s"
    repeats: int = 5


def text_of(choices: Choices, file: Path) -> str:
    """The whole file. Not every choice is a valid one: the spec's reader decides that."""
    return "\n".join([*_head(choices, file), *_setup(choices), *_factors(choices), *_load(choices)]) + "\n"


def name_of(file: Path) -> str:
    """An experiment's name, made of its file's."""
    return re.sub(r"[^a-z0-9]+", "-", file.stem.lower()).strip("-")[:64].strip("-") or Choices.name


def _head(choices: Choices, file: Path) -> Iterator[str]:
    yield from comment(choices.question or f"The experiment {choices.name}.")
    yield "#"
    yield f"#   mydyno plan {file}               what it would do and how long it takes; changes nothing"
    yield f"#   mydyno run {file} --size toy     a few seconds: does everything work?"
    yield f"#   mydyno run {file}                do it, and write the report"
    yield "#"
    yield "# Every key: docs/reference/experiment-file.md; for completion in editors: mydyno schema --help"
    yield ""
    yield f"experiment: {inline(choices.name)}"
    if choices.question:
        yield f"question: {inline(choices.question)}"


def _setup(choices: Choices) -> Iterator[str]:
    yield ""
    yield "# The system under test: a private server with a new data directory for every trial."
    yield "setup:"
    yield f"  host: {inline(choices.host)}  # local, or a guest with disks: uml, vm (mydyno doctor)"
    yield "  server:"
    yield f"    release: {inline(choices.release)}  # system: the installed one; all: mydyno servers list"
    most = max((int(number) for number in re.findall(r"\d+", choices.connections)), default=0)
    if most > _USUAL_MAX_CONNECTIONS:
        yield "    config:  # server variables that do not vary"
        yield f"      max_connections: {most + 10}"
    else:
        yield "    config: {}  # server variables that do not vary, as {innodb_buffer_pool_size: 1G}"


def _factors(choices: Choices) -> Iterator[str]:
    yield ""
    if not choices.factors:
        yield "# What varies: a path and its levels. Without a factor the report has one curve."
        yield "# factors:"
        yield "#   server.config.innodb_buffer_pool_size: [256M, 1G]"
        return
    yield "# What varies: every combination of levels is measured, and compared with the first one."
    yield "factors:"
    for factor in choices.factors:
        path, levels = assigned(factor)
        path = path if "." in path else f"server.config.{path}"
        yield f"  {path}: {inline([_value(level) for level in levels.split(',')])}"


def _load(choices: Choices) -> Iterator[str]:
    options = {name: _value(value) for name, value in map(assigned, choices.settings)}
    connections = [_value(part) for part in choices.connections.split(",")]
    yield ""
    yield f"# The load. Its options: mydyno workload show {choices.workload}"
    yield "workload:"
    yield f"  {choices.workload}: {inline(options)}"
    yield f"  connections: {inline(connections if len(connections) > 1 else connections[0])}"
    yield f"  each: {{warmup: {_seconds(choices.warmup)}, measure: {_seconds(choices.duration)}}}"
    yield ""
    yield "# Trials of each point, in shuffled blocks: a drift of the machine affects all points alike."
    yield f"design: {{repeats: {choices.repeats}, seed: 1}}"
    yield ""
    yield "# What --size replaces."
    yield "sizes:"
    yield "  toy: {workload.connections: [2], workload.each: {measure: 1s}, design.repeats: 2}"


def assigned(text: str) -> tuple[str, str]:
    """The two sides of NAME=VALUE; the second is empty when there is none."""
    name, _, value = text.partition("=")
    return name.strip(), value.strip()


def _seconds(duration: str) -> str:
    """A bare number means seconds on the command line; an experiment file wants the unit."""
    return inline(f"{duration}s" if duration.isdecimal() else duration)


def _value(text: str) -> str | bool:
    text = text.strip()
    return text == "true" if text in ("true", "false") else text
