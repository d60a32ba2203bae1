"""A statement that reads 100,000 rows for 2, and what is proposed for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mydyno.core.server_version import parse_version
from mydyno.queries.candidates import Column, Definition, Schema, TableName, with_candidates
from mydyno.queries.records import Digest, Group, IndexCandidate
from mydyno.survey.facts.indexes import Part, TableIndex
from queries.builders import digest, group

MYSQL = parse_version("mysqld Ver 8.4.3 (MySQL Community Server - GPL)")
MARIADB = parse_version("mariadbd Ver 10.11.6-MariaDB")


def slow(statement: str, **more: Any) -> Group:
    """A group of ten runs of this statement, in the database shop."""
    fields = {"rows_examined": [100_000] * 10, "rows_sent": [2] * 10, "databases": (("shop", 10),), **more}
    times = [fields.pop("microseconds", 1_000_000)] * 10
    return group(fields.pop("fingerprint", statement.lower()), times, statement, **fields)


def looked(*groups: Group | str, schema: Schema | None = None, most: int = 50) -> Digest:
    made = [slow(each) if isinstance(each, str) else each for each in groups]
    return with_candidates(digest(*made), schema, most)


def only(*groups: Group | str, schema: Schema | None = None) -> IndexCandidate:
    (candidate,) = looked(*groups, schema=schema).candidates
    return candidate


def wanted(*groups: Group | str, schema: Schema | None = None) -> list[str]:
    """As `orders(status, placed)`, in their order."""
    found = looked(*groups, schema=schema).candidates
    return [f"{each.table}({', '.join(each.columns)})" for each in found]


def why(group: Group | str, schema: Schema | None = None) -> str:
    """Why the statement gets no index at all."""
    found = looked(group, schema=schema)
    assert found.candidates == ()
    return "; ".join(found.without_candidate[0].why)


def column(
    name: str, type_: str = "int", collation: str | None = None, characters: int | None = None
) -> Column:
    kind = type_.partition("(")[0].partition(" ")[0]
    of_one = 4 if (collation or "").startswith("utf8mb4") else 1
    size = characters * of_one if characters is not None else None
    return Column(name, kind, type_, collation=collation, bytes=size, characters=characters)


def text(name: str, characters: int = 40, collation: str = "utf8mb4_general_ci") -> Column:
    return column(name, f"varchar({characters})", collation, characters)


def index(name: str, *columns: str | Part, unique: bool = False, **more: Any) -> TableIndex:
    parts = tuple(Part(each) if isinstance(each, str) else each for each in columns)
    return TableIndex("shop.any", name, unique or name == "PRIMARY", more.pop("kind", "BTREE"), parts, **more)


def table(
    name: str, *columns: Column | str, indexes: tuple[TableIndex, ...] = (), rows: int = 100_000, **more: Any
) -> Definition:
    made = tuple(column(each) if isinstance(each, str) else each for each in columns)
    own = tuple(replace(each, table=f"shop.{name}") for each in indexes)
    return Definition(TableName(name, "shop"), rows=rows, columns=made, indexes=own, **more)


def schema(*tables: Definition, release: Any = MYSQL) -> Schema:
    return Schema(release, tables)
