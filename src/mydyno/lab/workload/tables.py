"""Tables: how they are made and filled."""

from dataclasses import dataclass, field, replace
from typing import Any

from mydyno.core.nearest import nearest
from mydyno.lab.workload.constants import Expression, uses
from mydyno.lab.workload.ddl import STORAGE_ENGINES, Definition, read_definition
from mydyno.lab.workload.estimate import mean_length
from mydyno.lab.workload.expressions import compile_written, number_of
from mydyno.lab.workload.functions import Names
from mydyno.lab.workload.options import check_name, wrong_engine
from mydyno.lab.workload.sql import Context, Tables, compile_fixed_sql
from mydyno.lab.workload.written import Gathered, Written, Wrong

TABLE_KEYS = {
    "create": "The CREATE TABLE statement.",
    "rows": "How many rows it gets, a number or an expression; 0 without it.",
    "fill": "COLUMN: EXPRESSION for every column that is filled; `row` is the number of the row.",
    "let": "NAME: EXPRESSION, worked out once a row before `fill`, for values that several columns share.",
    "then": "Statements after the rows are in, as CREATE INDEX.",
    "copies": "So many tables of this kind, called NAME1, NAME2 and so on; `{NAME}` is the name of the one "
    "at hand and `{copy}` its number.",
}
OF_A_LOAD = ("unique", "counter", "next")
"""Functions whose values depend on what was drawn before, by whichever connection: not for rows."""
MOST_COPIES = 10_000


@dataclass
class Compiled:
    """The tables of a program and what the rest has to know of them."""

    programs: list[dict[str, Any]] = field(default_factory=list)
    single: set[str] = field(default_factory=set)
    copied: dict[str, int] = field(default_factory=dict)
    bytes: float = 0.0

    @property
    def names(self) -> Tables:
        return Tables(frozenset(self.single), frozenset(self.copied))

    @property
    def columns(self) -> dict[str, list[str]]:
        return {table["name"]: table["columns"] for table in self.programs}

    @property
    def rows(self) -> int:
        return sum(table["rows"] for table in self.programs)


def declare(declared: dict[str, Written], names: Names, gathered: Gathered) -> Compiled:
    """The tables by name and number of copies, before anything of them is compiled."""
    compiled = Compiled()
    for name, written in declared.items():
        with gathered.here():
            copies = written.get("copies")
            if copies is None:
                compiled.single.add(name)
                continue
            compiled.copied[name] = 1
            count = number_of(copies, names, f"tables.{name}.copies", 1)
            if count > MOST_COPIES:
                raise copies.wrong(f"tables.{name}.copies is too large", f"{MOST_COPIES:,} or less")
            compiled.copied[name] = count
    return compiled


def compile_tables(
    declared: dict[str, Written], compiled: Compiled, names: Names, gathered: Gathered
) -> None:
    """Completes `compiled`; what is wrong goes to `gathered`."""
    for name, written in declared.items():
        with gathered.here():
            _Table(name, written, names, compiled, gathered).compile()


class _Table:
    def __init__(
        self, name: str, written: Written, names: Names, compiled: Compiled, gathered: Gathered
    ) -> None:
        self.name = name
        self.written = written
        self.entries = written.entries(f"tables.{name}")
        self.names = replace(names, words=frozenset({"row"}))
        self.compiled = compiled
        self.gathered = gathered

    def compile(self) -> None:
        self.gathered.add(*self.written.only(TABLE_KEYS, f"tables.{self.name}"))
        if "create" not in self.entries:
            raise self.written.wrong_key(f"tables.{self.name} has no create", "create: CREATE TABLE ...")
        copies = self.compiled.copied.get(self.name)
        if copies is None:
            self._add(None)
            return
        before = len(self.gathered.problems)
        for number in range(1, copies + 1):
            self._add(number)
            if len(self.gathered.problems) > before:
                break  # The same is wrong with every copy.

    def _add(self, number: int | None) -> None:
        wanted = self.name if number is None else f"{self.name}{number}"
        names = self.names if number is None else self.names.with_constants({"copy": number})
        chosen = self.name if number is not None else None
        tables = replace(self.compiled.names, chosen=chosen, number=number)
        context = Context(names, tables)
        create = compile_fixed_sql(self.entries["create"], f"tables.{self.name}.create", context)
        definition = self._check(create, wanted)
        rows = (
            number_of(self.entries["rows"], names, f"tables.{self.name}.rows")
            if "rows" in self.entries
            else 0
        )
        lets, names = self._lets(names)
        filled = self._filled(names, definition, rows)
        then = self._then(context)
        program = {
            "name": wanted,
            "create": create,
            "columns": list(filled),
            "rows": rows,
            "let": [list(each) for each in lets],
            "row": list(filled.values()),
            "then": then,
        }
        self.compiled.programs.append(program)
        if definition is not None:
            bound = dict(lets)
            lengths = {column: mean_length(value, bound) for column, value in filled.items()}
            ascending = all(filled.get(column, ["row"]) == ["row"] for column in definition.primary)
            a_row = definition.row_bytes(lengths, tuple(then), ascending=ascending)
            self.compiled.bytes += rows * a_row

    def _check(self, create: str, wanted: str) -> Definition | None:
        written = self.entries["create"]
        definition = read_definition(create)
        if definition is None:
            raise written.wrong(f"tables.{self.name}.create makes no table", "CREATE TABLE ...")
        if definition.table != wanted:
            message = f"tables.{self.name} creates {definition.table}"
            template = f"{{{self.name}}}" if self.name in self.compiled.copied else self.name
            raise written.wrong(message, f"CREATE TABLE {template} (...)")
        if definition.engine is not None and definition.engine.lower() not in STORAGE_ENGINES:
            self.gathered.add(wrong_engine(written, definition.engine))
        return definition

    def _lets(self, names: Names) -> tuple[list[tuple[str, Expression]], Names]:
        lets: list[tuple[str, Expression]] = []
        if "let" in self.entries:
            for name, written in self.entries["let"].entries(f"tables.{self.name}.let").items():
                check_name(name, written, "a name")
                lets.append((name, _in_row(written, names, f"tables.{self.name}.let.{name}")))
                names = replace(names, registers=names.registers | {name})
        return lets, names

    def _filled(self, names: Names, definition: Definition | None, rows: int) -> dict[str, Expression]:
        if "fill" not in self.entries:
            if rows:
                raise self.written.wrong_key(
                    f"tables.{self.name} has rows and no fill", "fill: {COLUMN: EXPRESSION}"
                )
            return {}
        known = [column.name for column in definition.columns] if definition else []
        filled: dict[str, Expression] = {}
        for column, written in self.entries["fill"].entries(f"tables.{self.name}.fill").items():
            with self.gathered.here():
                if known and column.lower() not in [each.lower() for each in known]:
                    raise self._no_column(column, written, known)
                filled[column] = _in_row(written, names, f"tables.{self.name}.fill.{column}")
        return filled

    def _no_column(self, column: str, written: Written, known: list[str]) -> Wrong:
        message = f"{self.name} has no column {column}"
        return written.at(written.key, message, column, ", ".join(known), nearest(column, known))

    def _then(self, context: Context) -> list[str]:
        if "then" not in self.entries:
            return []
        return [
            sql
            for item in self.entries["then"].items(f"tables.{self.name}.then")
            if (sql := _when(item, context, f"tables.{self.name}.then"))
        ]


def _in_row(written: Written, names: Names, what: str) -> Expression:
    """The expression, which has to give the same at every run. Raises Wrong."""
    expression = compile_written(written, names, what)
    for function in OF_A_LOAD:
        if uses(expression, function):
            raise written.wrong(f"{what} uses {function}, and rows are the same at every run", "row, say")
    return expression


def _when(item: Written, context: Context, what: str) -> str | None:
    """A statement, or `{when: CONDITION, sql: STATEMENT}`; None when the condition does not hold."""
    if not item.is_mapping:
        return compile_fixed_sql(item, what, context)
    entries = item.entries(what)
    for wrong in item.only(("when", "sql"), what):
        raise wrong
    if set(entries) != {"when", "sql"}:
        raise item.wrong(f"{what} is a statement", "STATEMENT, or {when: CONDITION, sql: STATEMENT}")
    wanted = number_of(entries["when"], context.names, f"{what}.when")
    sql = compile_fixed_sql(entries["sql"], what, context)
    return sql if wanted else None
