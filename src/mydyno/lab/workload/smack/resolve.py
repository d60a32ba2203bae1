"""A `.smack` file as the workload of an experiment: tables and one client's barrel, without its `main`.

Connections, rounds and times are the experiment's. Rows are made by the engine from the gen-data format, as
are the words of a dictionary that reads the same file, so neither needs the file.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mydyno.core.document.problems import SpecErrors
from mydyno.core.document.source import read_text
from mydyno.core.nearest import nearest
from mydyno.lab.workload.compiler import dataset_of
from mydyno.lab.workload.ddl import Definition, read_definition
from mydyno.lab.workload.file import Resolved
from mydyno.lab.workload.smack import dictionary as dictionaries
from mydyno.lab.workload.smack import generate, grammar, inspect
from mydyno.lab.workload.smack.dictionary import Dictionary
from mydyno.lab.workload.smack.generate import Command, Field, Part
from mydyno.lab.workload.smack.grammar import Script, Section
from mydyno.lab.workload.smack.program import build

_LARGEST = 2**31 - 1
_ENGINE_FILE = "\n"
"""Stands for the words of a dictionary that the engine makes: no word of a file holds a line's end."""


def resolve_file(path: Path, client: str | None = None, strict: bool = False) -> Resolved:
    """The workload in `path` as an experiment takes it; `client` chooses among several with a barrel.

    Raises SpecErrors for a wrong file, and for tables whose rows no gen-data format describes.
    """
    script = grammar.parse(read_text(path), str(path), strict)
    # An experiment does not run main, so any number of arguments will do.
    inspect.check(script, ["1"] * 99)
    chosen = _client(script, client)
    tables = [_table(section, script, strict) for section in script.sections if section.kind == "table"]
    columns = {
        section.name: column
        for section in script.sections
        if section.kind == "dictionary" and (column := _column(section, script))
    }
    words = [_words(section, script, section.name in columns, strict) for section in _dictionaries(script)]
    one = build(script, chosen, words, strict=strict)
    program = one.program
    used = program["dictionaries"]
    program["dictionaries"] = {
        name: {"column": columns[name]} if name in columns else used[name] for name in used
    }
    program["tables"] = [table for table, _ in tables]
    return Resolved(
        name=path.stem,
        options={"client": chosen.name, "strict_compat": strict},
        program=program,
        dataset=dataset_of(program),
        rows=sum(table["rows"] for table, _ in tables),
        data_bytes=round(
            sum(table["rows"] * definition.row_bytes({}, (), ascending=False) for table, definition in tables)
        ),
        statements_per_event=float(one.statements),
        tables=tuple(table["name"] for table, _ in tables),
    )


def _client(script: Script, name: str | None) -> Section:
    with_barrel = {key: one for key, one in script.named("client").items() if one.text("query_barrel")}
    if name is None and len(with_barrel) == 1:
        return next(iter(with_barrel.values()))
    if name in with_barrel:
        return with_barrel[name]
    message = "no client has a query barrel"
    if with_barrel:
        message = (
            "several clients have a query barrel" if name is None else "no client of this name has a barrel"
        )
    near = nearest(name, with_barrel) if name else None
    raise SpecErrors.of(script.file, None, message, name, ", ".join(with_barrel) or None, near)


def _command(table: Section, script: Script) -> Command:
    command = generate.parse_command(table.text("gen_data_file"))
    if command is None:
        message = (
            f"an experiment makes the rows of table {table.name} from a gen-data command, and it has none"
        )
        place = table.place("gen_data_file")
        raise SpecErrors.of(script.file, place, message, table.text("gen_data_file") or None)
    return command


def _table(section: Section, script: Script, strict: bool) -> tuple[dict[str, Any], Definition]:
    command = _command(section, script)
    definition = read_definition(section.text("create"))
    fields = _fields(command.form.parts)
    if definition is None or len(definition.columns) != len(fields):
        has = f"{len(definition.columns)} columns" if definition else "no columns that can be read"
        message = f"table {section.name} has {has}, its gen-data format {len(fields)} fields"
        raise SpecErrors.of(script.file, section.place("create"), message)
    table = {
        "name": section.name,
        "create": section.text("create"),
        "columns": [column.name for column in definition.columns],
        "rows": command.rows,
        "let": [],
        "row": [_expression(field, strict) for field in fields],
        "then": [],
    }
    return table, definition


def _fields(parts: Sequence[Part]) -> list[list[Part]]:
    """The parts of a format between its commas."""
    fields: list[list[Part]] = [[]]
    for part in parts:
        if isinstance(part, Field):
            fields[-1].append(part)
            continue
        first, *rest = part.split(",")
        fields[-1].append(first)
        fields += [[text] for text in rest]
    return [[part for part in field if part] for field in fields]


def _expression(parts: list[Part], strict: bool) -> Any:
    made = [part if isinstance(part, str) else _of_field(part, strict) for part in parts]
    return made[0] if len(made) == 1 else ["concat", *made]


def _of_field(field: Field, strict: bool) -> Any:
    letters = generate.letters(strict)
    low, high = generate.bounds(field, strict)
    if field.kind == "s":
        return ["letters", low, high, letters]
    value: Any = ["row"] if field.kind == "n" else ["uniform", 0, _LARGEST]
    if not high:
        return value
    return ["pad", value, low if low == high else ["uniform", low, high], " "]


def _dictionaries(script: Script) -> list[Section]:
    return [section for section in script.sections if section.kind == "dictionary"]


def _column(section: Section, script: Script) -> dict[str, Any] | None:
    """The column whose values a file dictionary takes, when a table's gen-data makes its file."""
    if section.text("source_type") != "file":
        return None
    tables = (one for one in script.sections if one.kind == "table")
    table = next((one for one in tables if one.text("data_file") == section.text("source")), None)
    if table is None or section.text("delim")[:1] != ",":
        return None
    command = _command(table, script)
    definition = read_definition(table.text("create"))
    if definition is None or not definition.columns:
        return None
    equivalent = int(section.text("file_size_equiv", "0"))
    step = max(int(generate.expected_bytes(command)) // equivalent, 1) if equivalent else 1
    return {"table": table.name, "column": definition.columns[0].name, "every": step}


def _words(section: Section, script: Script, made: bool, strict: bool) -> Dictionary:
    """The dictionary with its words; with a stand-in for those that the engine makes."""
    match section.text("source_type"):
        case "list":
            return dictionaries.from_list(section, strict)[0]
        case "template":
            return dictionaries.from_template(section, script.file, strict)[0]
    if made:
        return Dictionary(section.name, section.text("type"), (_ENGINE_FILE,))
    return dictionaries.read_file(section, Path(script.file).parent, script.file, strict)[0]
