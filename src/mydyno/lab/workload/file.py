"""Workload files: read, checked, and resolved to what the engine runs, with options as the command line
gives them: NAME=VALUE.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, get_args

from pydantic import JsonValue
from pydantic.fields import FieldInfo

from mydyno.core.document.base import Section
from mydyno.core.document.given import validated
from mydyno.core.document.problems import Problem, SpecErrors
from mydyno.core.errors import UsageError
from mydyno.core.nearest import nearest
from mydyno.lab.workload.compiler import Product, Program, compile_program, dataset_of
from mydyno.lab.workload.constants import Constant
from mydyno.lab.workload.definitions import Definitions, builtin_names, open_part, part_from, read_definitions
from mydyno.lab.workload.estimate import statements_per_event
from mydyno.lab.workload.options import Options, section_from
from mydyno.lab.workload.written import Gathered, Part

_SWITCHES = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def options_from(workload: WorkloadFile, assignments: Iterable[str]) -> dict[str, Any]:
    """The options as `WorkloadFile.resolve` takes them; the values are checked there.

    Raises UsageError for something that is not an assignment to an option of this workload.
    """
    return assigned(workload.name, workload.options.model_fields, assignments)


def assigned(workload: str, fields: Mapping[str, FieldInfo], assignments: Iterable[str]) -> dict[str, Any]:
    """The same for a workload with these options."""
    chosen: dict[str, Any] = {}
    for assignment in assignments:
        written, equals, value = assignment.partition("=")
        name = written.strip().replace("-", "_")
        if not equals:
            raise UsageError(
                f"{assignment} is not an option with a value", "write NAME=VALUE, as table_size=20k"
            )
        if name not in fields:
            close = nearest(name, fields)
            known = f"{workload} has {', '.join(fields) or 'no options'}"
            hint = f"did you mean {close}? {known}" if close else known
            raise UsageError(f"{workload} has no option {written.strip()}", hint)
        if name in chosen:
            raise UsageError(f"{name} is given twice", "give each option once")
        chosen[name] = _value(value.strip(), fields[name])
    return chosen


def _value(text: str, field: FieldInfo) -> Any:
    """The value that the option's type has a place for; the text itself when it does not look like one."""
    if field.annotation is str or text in get_args(field.annotation):
        return text
    if field.annotation is bool:
        return _SWITCHES.get(text.lower(), text)
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


_MOST_REMEMBERED = 64


@dataclass(frozen=True)
class Resolved:
    """A workload with its options chosen: what the engine runs, and what a plan has to know of it."""

    name: str
    options: dict[str, JsonValue]
    """Every option with the value that counts, as JSON."""
    program: Program
    """docs/reference/engine-protocol.md says what it is made of."""
    dataset: JsonValue
    """Equal for two resolved workloads exactly when their freshly loaded tables hold the same bytes."""
    rows: int
    """Of all tables, freshly loaded."""
    data_bytes: int
    """What the tables take on disk, freshly loaded into InnoDB: an estimate from their definition."""
    statements_per_event: float
    """The mean; BEGIN and COMMIT count, repeats after errors do not."""
    tables: tuple[str, ...]


@dataclass(frozen=True)
class WorkloadFile:
    """A workload file that has nothing wrong with it."""

    name: str
    about: str
    source: str | None
    """Where its facts come from."""
    text: str
    options: type[Options]
    """The declared options as a section, which an experiment file embeds."""
    definitions: Definitions

    def resolve(self, options: Section | Mapping[str, Any]) -> Resolved:
        """What the engine is to run with these options. Raises SpecErrors."""
        chosen = options if isinstance(options, self.options) else self._validated(options)
        product = self.compile(chosen.constants())
        program = product.program
        return Resolved(
            name=self.name,
            options=chosen.model_dump(mode="json"),
            program=program,
            dataset=dataset_of(program),
            rows=product.tables.rows,
            data_bytes=round(product.tables.bytes),
            statements_per_event=statements_per_event(program),
            tables=tuple(table["name"] for table in program["tables"]),
        )

    def compile(self, constants: Mapping[str, Constant]) -> Product:
        """The program for values of the options that are known to be valid. Raises SpecErrors."""
        return self._compile_once(tuple(constants.items()))

    @cached_property
    def _compile_once(self) -> Callable[[tuple[tuple[str, Constant], ...]], Product]:
        """Compiles; an experiment asks for the same options many times."""
        return lru_cache(_MOST_REMEMBERED)(lambda options: compile_program(self.definitions, dict(options)))

    def _validated(self, options: Section | Mapping[str, Any]) -> Options:
        given = options.model_dump(mode="json") if isinstance(options, Section) else options
        return validated(self.options, given, self.name, _of_options)


def read(name_or_path: str | Path) -> WorkloadFile:
    """The built-in workload of a name, or the one in a file. Raises SpecErrors with all that is wrong."""
    if name_or_path in builtin_names():
        return _read_builtin(str(name_or_path))
    return _read(open_part(name_or_path))


def reads(text: str, name: str, folder: Path | None = None) -> WorkloadFile:
    """As `read`, from text; `name` stands for the file in messages, `folder` is where its files are."""
    return _read(part_from(text, name, folder or Path()))


@lru_cache
def _read_builtin(name: str) -> WorkloadFile:
    """A built-in workload; it is read once."""
    return _read(open_part(name))


def _read(part: Part) -> WorkloadFile:
    gathered = Gathered()
    definitions = read_definitions(part, gathered)
    section = section_from(
        definitions.name or part.file, definitions.about, definitions.named["options"], gathered
    )
    problems: list[Problem] = list(gathered.problems)
    try:
        compile_program(definitions, _defaults(section, definitions))
    except SpecErrors as errors:
        problems += errors.problems
    if problems:
        raise SpecErrors(problems)
    read = WorkloadFile(
        definitions.name, definitions.about, definitions.source, part.text, section, definitions
    )
    section._check = read.compile
    return read


def _of_options(message: str) -> str:
    """The message about options that stand in no file."""
    return message.replace("unknown key", "unknown option")


def _defaults(section: type[Options], definitions: Definitions) -> dict[str, Constant]:
    """The default of every declared option, and something harmless for one whose declaration is wrong."""
    made = section.model_construct().constants()
    for name, written in definitions.named["options"].items():
        kind = written.get("kind")
        made.setdefault(name, "innodb" if kind is not None and kind.text == "storage_engine" else 1)
    return made
