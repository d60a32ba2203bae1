"""Columns, indexes and sizes of the tables that a digest names, read without work for a busy server.

Each table is read by its own name and schema: releases that open every table for information_schema then
open that one alone (MySQL 5.7 Reference Manual, "Optimizing INFORMATION_SCHEMA Queries").
"""

from collections.abc import Iterable
from typing import Any

from mydyno.core.server_version import parse_version
from mydyno.core.sql_names import quote
from mydyno.queries.candidates import Column, Definition, Schema, TableName
from mydyno.server.access.login import Login
from mydyno.server.access.session import session, show_global, version_line
from mydyno.survey.asking import Asking, account_of, text_of
from mydyno.survey.facts.indexes import of_rows
from mydyno.survey.server.schema import limit_questions

Row = dict[str, Any]
_OF_THE_SERVER = "'mysql', 'information_schema', 'performance_schema', 'sys'"


def read_schema(login: Login, tables: Iterable[TableName]) -> Schema:
    """What the server shows of these tables; `unread` lists those that it does not show, and what would help.

    A table without a database is looked for in all, and read from each that has it.
    Raises ServerError when there is no way in.
    """
    with session(login, "the schema could not be read") as cursor:
        asking = Asking(cursor, account_of(cursor), [])
        version = parse_version(version_line(show_global(cursor, "VARIABLES LIKE 'version%'")))
        limit_questions(asking, version)
        wanted = dict.fromkeys(tables)
        definitions = dict.fromkeys(one for table in wanted for one in _definitions(asking, table))
        return Schema(version, tuple(definitions), tuple(asking.unread))


def _definitions(asking: Asking, table: TableName) -> list[Definition]:
    known = len(asking.unread)
    rows = _rows(asking, "TABLES", table)
    if not rows:
        # A fingerprint has its names in lower case.
        named = [name for name in _spellings(asking, table) if name != table]
        rows = [row for name in named for row in _rows(asking, "TABLES", name)]
    if not rows and len(asking.unread) == known:
        where = f"{quote(table.database)}.{quote(table.name)}" if table.database else "*.*"
        why = "it does not exist, or this account may not see it"
        asking.lacks(f"table {table}", why, f"SELECT ON {where}")
    return [_definition(asking, row) for row in rows]


def _spellings(asking: Asking, table: TableName) -> list[TableName]:
    """Tables whose names differ in their case at most: names alone are read without opening any table."""
    where = _where(asking, table, "LOWER({}) = LOWER({})")
    statement = f"SELECT TABLE_NAME, TABLE_SCHEMA FROM information_schema.TABLES{where}"
    rows = asking.rows(f"table {table}", statement, "SELECT ON *.*")
    return [TableName(text_of(name), text_of(database)) for name, database in rows or ()]


def _definition(asking: Asking, row: Row) -> Definition:
    name = TableName(text_of(row["TABLE_NAME"]), text_of(row["TABLE_SCHEMA"]))
    columns = _rows(asking, "COLUMNS", name, "ORDINAL_POSITION")
    indexes = _rows(asking, "STATISTICS", name, "INDEX_NAME")
    is_view = "VIEW" in text_of(row["TABLE_TYPE"])
    return Definition(
        name,
        engine=None if is_view else text_of(row["ENGINE"] or "unknown"),
        rows=_whole(row["TABLE_ROWS"]),
        row_format=text_of(row["ROW_FORMAT"]) if row["ROW_FORMAT"] else None,
        columns=tuple(map(_column, columns)),
        indexes=of_rows(indexes),
    )


def _column(row: Row) -> Column:
    return Column(
        name=text_of(row["COLUMN_NAME"]),
        kind=text_of(row["DATA_TYPE"]).lower(),
        type=text_of(row["COLUMN_TYPE"]),
        nullable=text_of(row["IS_NULLABLE"]) == "YES",
        collation=text_of(row["COLLATION_NAME"]) if row["COLLATION_NAME"] else None,
        bytes=_whole(row["CHARACTER_OCTET_LENGTH"]),
        characters=_whole(row["CHARACTER_MAXIMUM_LENGTH"]),
    )


def _rows(asking: Asking, view: str, table: TableName, order: str | None = None) -> list[Row]:
    """Of a view of information_schema, by the columns' names: some are in some releases only."""
    statement = f"SELECT * FROM information_schema.{view}{_where(asking, table, '{} = {}')}"
    statement += f" ORDER BY {order}" if order else ""
    rows = asking.rows(f"table {table} ({view.lower()})", statement, "SELECT ON *.*")
    names = [str(each[0]).upper() for each in asking.cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in rows or ()]


def _where(asking: Asking, table: TableName, same: str) -> str:
    """Without a database: in all but the server's own. `same` compares a column with a value."""
    of_table, of_schema = same.format("TABLE_NAME", "%s"), same.format("TABLE_SCHEMA", "%s")
    if not table.database:
        own = f"TABLE_SCHEMA NOT IN ({_OF_THE_SERVER})"
        return asking.cursor.mogrify(f" WHERE {own} AND {of_table}", (table.name,))
    return asking.cursor.mogrify(f" WHERE {of_schema} AND {of_table}", (table.database, table.name))


def _whole(value: Any) -> int | None:
    return None if value is None else int(value)
