"""Workloads that are not files of mydyno's dialect: those of other programs, and super-smack's scripts."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mydyno.core.plurals import counted

if TYPE_CHECKING:
    from mydyno.core.document.base import Section
    from mydyno.lab.workload.smack.grammar import Script
    from mydyno.lab.workload.smack.grammar import Section as Part

PROGRAMS = {
    "slap": "mysqlslap's auto-generated load, by mydyno's engine.",
    "sql-bench": "sql-bench's test programs and their RUN report, by mydyno's engine.",
    "sysbench": "The real sysbench, where it is installed.",
    "mysqlslap": "The real mysqlslap or mariadb-slap, where it is installed.",
    "fio": "fio's jobs on the disks of an experiment, without a server.",
}
"""Name -> what it is. Their options are keys of an experiment file, and options of `mydyno load`."""
_SUFFIX = ".smack"
_ARGUMENTS = ("1",) * 9
"""In place of those of a command line, `$1` to `$9`: a check is of the script alone."""


def is_script(name: str) -> bool:
    return name.endswith(_SUFFIX)


def describe_program(name: str, assignments: Iterable[str], width: int) -> str:
    """What it is, and its options with the values that are chosen. Raises SpecErrors, UsageError."""
    from mydyno.core.document.given import validated
    from mydyno.lab.workload.file import assigned

    section = _section(name)
    fields = section.model_fields
    values = {key: field.get_default(call_default_factory=True) for key, field in fields.items()}
    if chosen := assigned(name, fields, assignments):
        values |= dict(validated(section, chosen, name))
    lines = [name, *textwrap.wrap(PROGRAMS[name], width, initial_indent="  ", subsequent_indent="  ")]
    lines += ["", "options"]
    for key, field in fields.items():
        value = values[key]
        written = str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)
        head = f"  {key:<20} {written:<12} "
        lines += textwrap.wrap(
            field.description or "", width, initial_indent=head, subsequent_indent=" " * 36
        ) or [head.rstrip()]
    return "\n".join(lines)


def describe_script(path: Path, width: int) -> str:
    """What the sections of a script are, and which defects of super-smack it meets. Raises SpecErrors."""
    from mydyno.lab.workload.smack import inspect

    script = _checked(path)
    lines = [f"{path}: a script of super-smack", ""]
    for section in script.sections:
        lines += textwrap.wrap(
            f"{section.kind} {section.name}: {_about(section)}", width, subsequent_indent="  "
        )
    traps = [trap.message(str(path), strict=False) for trap in inspect.traps(script)]
    if traps:
        lines += ["", counted(len(traps), "defect") + " of super-smack that it meets"]
        lines += [line for trap in traps for line in textwrap.wrap(trap, width, subsequent_indent="  ")]
    return "\n".join(lines)


def check_script(path: Path) -> Iterator[str]:
    """The defects of super-smack that a script meets, a line each. Raises SpecErrors for a wrong one."""
    from mydyno.lab.workload.smack import inspect

    yield from (trap.message(str(path), strict=False) for trap in inspect.traps(_checked(path)))


def _checked(path: Path) -> Script:
    from mydyno.core.document.source import read_text
    from mydyno.lab.workload.smack import grammar, inspect

    script = grammar.parse(read_text(path), str(path))
    inspect.check(script, _ARGUMENTS)
    return script


def _about(part: Part) -> str:
    """The attribute that says most of a section: a query's SQL, a client's barrel..."""
    word = {"query": "query", "client": "query_barrel", "dictionary": "source", "table": "create"}
    return " ".join(part.text(word.get(part.kind, "")).split())


def _section(name: str) -> type[Section]:
    if name == "slap":
        from mydyno.lab.workload.slap.options import Options

        return Options
    if name == "sql-bench":
        from mydyno.lab.workload.sql_bench import SqlBench

        return SqlBench
    if name == "fio":
        from mydyno.lab.workload.external_program.fio import FioOptions

        return FioOptions
    from mydyno.lab.workload.external_program import ExternalSlap, ExternalSysbench

    return ExternalSysbench if name == "sysbench" else ExternalSlap
