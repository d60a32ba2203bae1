"""A load put together where there is no trace: statements drawn by how often they ran, with values of the
real columns.

What it keeps: which statements, how often, and which values there are. What it cannot know: the order of
statements, transactions, which values are used together or more often than others. So its trace is
called synthetic in its header and on every page.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlglot import exp

from mydyno.core.errors import UsageError
from mydyno.core.sql_names import SYSTEM_SCHEMAS, quote
from mydyno.queries.candidates.parsing import Refused, parse_group
from mydyno.queries.records import Digest, Group
from mydyno.server.access import dbapi

_COMPARED = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like, exp.NullSafeEQ)
_SAMPLED = 500
"""Values of a column that statements draw from."""
_LIMIT = 10
"""For LIMIT ?, of which nothing is known."""
_START = datetime(2026, 1, 1, tzinfo=UTC)

Column = tuple[str | None, str, str]
"""Schema, table, column."""
Sample = Callable[[Column], Sequence[str]]
"""Literals of values that the column has; empty where there are none."""


@dataclass(frozen=True)
class Shape:
    """A statement with the places of its values."""

    tree: exp.Expr
    database: str | None
    weight: int
    mean_us: int | None
    """Of one execution; None where the digest has no times."""


@dataclass(frozen=True)
class LeftOut:
    fingerprint: str
    count: int
    why: str


def shapes_of(digest: Digest) -> tuple[list[Shape], list[LeftOut]]:
    """Those that can be put together again, and the others with the reason. Raises UsageError for none."""
    shapes, left_out = [], []
    for group in digest.groups:
        why = _unfit(group)
        parsed = parse_group(group) if why is None else Refused(why)
        if isinstance(parsed, Refused):
            left_out.append(LeftOut(group.fingerprint, group.count, parsed.why))
            continue
        shapes.append(Shape(parsed.tree, _database(group), group.count, _mean_us(group)))
    if not shapes:
        raise UsageError(
            "the digest has no statement that can be put together again", "capture a trace instead"
        )
    return shapes, left_out


def _database(group: Group) -> str | None:
    """That of its example; else, as MariaDB keeps no examples, that in which it ran most often."""
    if group.example is not None and group.example.database is not None:
        return group.example.database
    return next((name for name, _ in group.databases if name), None)


def _mean_us(group: Group) -> int | None:
    mean = group.query_time.mean if group.query_time else None
    return None if mean is None else round(mean)


def _unfit(group: Group) -> str | None:
    if group.kind != "statement":
        return "it is not a statement"
    if group.fingerprint.lstrip("( ").startswith("replace"):
        return "REPLACE deletes rows by keys that are drawn"
    if any(
        f"{schema} ." in group.fingerprint or f"{schema}." in group.fingerprint for schema in SYSTEM_SCHEMAS
    ):
        return "it is about the server itself"
    return None


def slow_log(
    shapes: Sequence[Shape], sample: Sample, *, seconds: float, rate: float, connections: int, seed: int
) -> Iterator[str]:
    """Entries of a slow log, in the order of their ends; starts are a Poisson process of `rate` a second.

    They have no row counts: how many rows a statement with drawn values returns is not known.
    """
    draw = random.Random(seed)
    weights = [shape.weight for shape in shapes]
    slots = [list(_slots(shape)) for shape in shapes]
    entries = []
    at = draw.expovariate(rate)
    while at < seconds:
        (number,) = draw.choices(range(len(shapes)), weights)
        shape = shapes[number]
        text = _text(shape, slots[number], sample, draw)
        entries.append((at + (shape.mean_us or 0) / 1e6, shape, text, 1 + draw.randrange(connections)))
        at += draw.expovariate(rate)
    for end, shape, text, connection in sorted(entries, key=lambda each: each[0]):
        when = (_START + timedelta(seconds=end)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        yield f"# Time: {when}\n# User@Host: synthetic[synthetic] @ localhost []  Id: {connection}\n"
        if shape.mean_us is not None:
            yield f"# Query_time: {shape.mean_us / 1e6:.6f}\n"
        if shape.database is not None:
            yield f"use {shape.database};\n"
        yield f"SET timestamp={int((_START + timedelta(seconds=end)).timestamp())};\n{text};\n"


@dataclass
class _Slot:
    """A value in a tree: of a column, or a number that nothing is known of."""

    node: exp.Expr
    column: Column | None
    is_open: bool
    """Whether the place is empty."""


def _slots(shape: Shape) -> Iterator[_Slot]:
    """Every literal and placeholder with the column that it is compared with, or put into."""
    tables = {
        table.alias_or_name: (table.db or shape.database, table.name)
        for table in shape.tree.find_all(exp.Table)
    }
    for node in list(shape.tree.find_all(exp.Placeholder, exp.Literal)):
        column = _column_of(node)
        named = None if column is None else _named(column, tables)
        if named is not None or isinstance(node, exp.Placeholder):
            yield _Slot(node, named, isinstance(node, exp.Placeholder))


def _named(
    column: exp.Expr | tuple[exp.Expr, str], tables: Mapping[str, tuple[str | None, str]]
) -> Column | None:
    if isinstance(column, tuple):
        table, name = column
        assert isinstance(table, exp.Table)
        return (*tables[table.alias_or_name], name)
    assert isinstance(column, exp.Column)
    if column.table in tables:
        return (*tables[column.table], column.name)
    # Without a table in front, only their columns would show which of several tables is meant.
    return (*next(iter(tables.values())), column.name) if len(tables) == 1 else None


def _column_of(node: exp.Expr) -> exp.Expr | tuple[exp.Expr, str] | None:
    parent = node.parent
    if isinstance(parent, exp.Neg | exp.Paren):
        node, parent = parent, parent.parent
    if isinstance(parent, (*_COMPARED, exp.In, exp.Between)):
        others = [parent.this, parent.args.get("expression")]
        return next((each for each in others if isinstance(each, exp.Column)), None)
    if isinstance(parent, exp.Tuple) and isinstance(insert := parent.find_ancestor(exp.Insert), exp.Insert):
        into = insert.this
        if isinstance(into, exp.Schema) and isinstance(into.this, exp.Table):
            at = parent.expressions.index(node) if node in parent.expressions else len(into.expressions)
            if at < len(into.expressions):
                return into.this, into.expressions[at].name
    return None


def _text(shape: Shape, slots: Sequence[_Slot], sample: Sample, draw: random.Random) -> str:
    """The statement with drawn values: its tree is changed and written out."""
    for slot in slots:
        values = sample(slot.column) if slot.column is not None else ()
        if values:
            literal: exp.Expr = exp.Var(this=draw.choice(values))
        elif slot.is_open:
            literal = exp.Var(this=str(_LIMIT))
        else:
            continue
        slot.node.replace(literal)
        slot.node = literal
    text = shape.tree.sql(dialect="mysql")
    return " ".join(text.split("\n"))


class ColumnValues:
    """Values of a server's columns, read once each: a random part of the table, at most `_SAMPLED`."""

    def __init__(self, cursor: dbapi.Cursor) -> None:
        self._cursor = cursor
        self._known: dict[Column, Sequence[str]] = {}

    def __call__(self, column: Column) -> Sequence[str]:
        if column not in self._known:
            try:
                self._known[column] = self._read(column)
            except dbapi.Error:
                self._known[column] = ()  # A column that is not there, or that may not be read.
        return self._known[column]

    def _read(self, column: Column) -> Sequence[str]:
        schema, table, name = column
        if schema is None:
            return ()
        place = quote(schema, table)
        self._cursor.execute(
            "SELECT TABLE_ROWS FROM information_schema.TABLES WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s",
            (schema, table),
        )
        (rows,) = self._cursor.fetchone() or (None,)
        share = min(1.0, 4 * _SAMPLED / max(int(rows or 1), 1))
        self._cursor.execute(
            f"SELECT {quote(name)} FROM {place} WHERE {quote(name)} IS NOT NULL AND RAND() < {share:.9f} "
            f"LIMIT {_SAMPLED}"
        )
        return [literal_of(value) for (value,) in self._cursor.fetchall()]


def literal_of(value: object) -> str:
    """A value as SQL has it."""
    if isinstance(value, bool | int | float) or type(value).__name__ == "Decimal":
        return str(value)
    if isinstance(value, bytes | bytearray):
        return f"X'{bytes(value).hex()}'"
    text = str(value).replace("\\", "\\\\").replace("'", "''")
    return "'" + text.replace("\n", "\\n").replace("\r", "\\r").replace("\0", "\\0") + "'"
