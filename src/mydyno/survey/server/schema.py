"""Tables and indexes that advice is about, read without making a busy server work for it.

information_schema has its price: with innodb_stats_on_metadata it recomputes statistics, MariaDB and MySQL
up to 5.7 open every table, and MySQL 8 writes what it has read to mysql.table_stats, but for a session with
information_schema_stats_expiry = 0 (MySQL Reference Manual, "Optimizing INFORMATION_SCHEMA Queries").
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress

from mydyno.core.server_variables import ON_WORDS
from mydyno.core.server_version import Version
from mydyno.server.access import dbapi
from mydyno.survey.asking import Asking, text_of
from mydyno.survey.facts import Index, Schema, Table, Unread
from mydyno.survey.facts.indexes import PRIMARY, ForeignKey, TableIndex, covered, not_needed, of_rows
from mydyno.survey.server.role import Rights

MOST_SECONDS = 30
"""For each question; a server that answers later is left alone."""
MOST_TABLES = 10_000
"""Above which a server that opens each of them is not queried."""
LISTED = 100
_OF_THE_SERVER = "'mysql', 'information_schema', 'performance_schema', 'sys', 'ndbinfo'"
_INNODB = "InnoDB"
_FRAGMENTED_SHARE, _FRAGMENTED_BYTES = 0.2, 10 << 20
_NEARLY_FULL = 0.5
_READ = "SELECT ON *.*"
_SIZES = ("rows", "data_bytes", "index_bytes", "free_bytes")
_STATISTICS = (
    *("TABLE_SCHEMA", "TABLE_NAME", "INDEX_NAME", "NON_UNIQUE", "SEQ_IN_INDEX"),
    *("COLUMN_NAME", "SUB_PART", "COLLATION", "INDEX_TYPE"),
)
_RANGES = {"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "bigint": 64}
"""Bits of the column types that count (MySQL Reference Manual, "Integer Types")."""


def read_schema(
    asking: Asking, version: Version, variables: Mapping[str, str], rights: Rights | None
) -> Schema | None:
    """None when it was not read, or no table is visible; `asking.unread` says why."""
    what = "the schema"
    if variables.get("innodb_stats_on_metadata", "OFF").casefold() in ON_WORDS:
        why = "innodb_stats_on_metadata is ON, and a look would recompute the statistics of every table"
        asking.unread.append(Unread(what=what, why=why, hint="SET GLOBAL innodb_stats_on_metadata = OFF"))
        return None
    limit_questions(asking, version)
    counted = asking.rows(what, f"SELECT COUNT(*) FROM information_schema.TABLES WHERE {_users()}", _READ)
    if not counted:
        return None
    number, partial = int(counted[0][0]), rights is None or not rights.all_tables
    if partial:
        why = "a server shows an account only those that it has a right to"
        asking.lacks("tables of others", why, _READ)
    if partial and not number:
        return None
    if number > MOST_TABLES and (version.is_mariadb or version.numbers < (8, 0, 0)):
        why = f"this release opens each of {number} tables for it"
        asking.unread.append(Unread(what="the sizes and indexes of the tables", why=why))
        return Schema(tables=number, partial=partial)
    tables = _tables(asking)
    if tables is None:
        return Schema(tables=number, partial=partial)
    indexes = _indexes(asking, version) if rights is not None and not rights.some_columns else None
    if rights is not None and rights.some_columns:
        why = "of some tables the account has a right to a part of the columns only"
        asking.lacks("the indexes", why, _READ)
    # A table that is not seen may refer to one that is, and need its index.
    unused = None if indexes is None or partial else _unused(asking, variables, indexes)
    return made(tables, indexes, _counters(asking), unused, partial)


def limit_questions(asking: Asking, version: Version) -> None:
    """Settings of this session alone; a release that lacks one goes without."""
    for setting in (time_limit(version, MOST_SECONDS), "information_schema_stats_expiry = 0"):
        with suppress(dbapi.Error):
            asking.cursor.execute(f"SET SESSION {setting}")


def time_limit(version: Version, seconds: int) -> str:
    """The setting that ends a statement of a session after so many seconds."""
    return (
        f"max_statement_time = {seconds}" if version.is_mariadb else f"max_execution_time = {seconds * 1000}"
    )


def made(
    tables: Collection[Table],
    indexes: Collection[TableIndex] | None,
    counters: Mapping[str, float] | None,
    unused: tuple[Index, ...] | None,
    partial: bool = False,
) -> Schema:
    """What advice needs of these tables; `partial`: there may be others. Pure."""
    bytes_by_engine: Counter[str] = Counter()
    for table in tables:
        bytes_by_engine[table.engine] += _size(table)
    for engine in {table.engine for table in tables if table.data_bytes is None}:
        del bytes_by_engine[engine]
    sizes = {table.name: _size(table) for table in tables}
    return Schema(
        tables=len(tables),
        partial=partial,
        bytes_by_engine=dict(bytes_by_engine),
        tables_by_engine=dict(Counter(table.engine for table in tables)),
        without_primary_key=None if indexes is None else _without_primary_key(tables, indexes),
        other_engines=_largest(table for table in tables if table.engine != _INNODB),
        fragmented=_largest(table for table in tables if _is_fragmented(table)),
        nearly_full_counters=None if counters is None else _nearly_full(tables, counters),
        unused_indexes=None
        if unused is None
        else tuple(sorted(unused, key=lambda index: -sizes.get(index.table, 0))[:LISTED]),
        redundant_indexes=None if indexes is None else _redundant(indexes, sizes),
    )


def _nearly_full(tables: Iterable[Table], counters: Mapping[str, float]) -> tuple[Table, ...]:
    used = (
        table.model_copy(update={"auto_increment_used": round(counters[table.name], 4)})
        for table in tables
        if counters.get(table.name, 0.0) >= _NEARLY_FULL
    )
    return tuple(sorted(used, key=lambda table: -(table.auto_increment_used or 0))[:LISTED])


def _without_primary_key(tables: Iterable[Table], indexes: Iterable[TableIndex]) -> tuple[Table, ...]:
    keyed = {index.table for index in indexes if index.name == PRIMARY}
    return _largest(table for table in tables if table.name not in keyed)


def _redundant(indexes: Iterable[TableIndex], sizes: Mapping[str, int]) -> tuple[Index, ...]:
    ordered = sorted(covered(indexes), key=lambda each: -sizes.get(each.index.table, 0))
    return tuple(_named(each.index).model_copy(update={"covered_by": each.by}) for each in ordered[:LISTED])


def counter_used(column_type: str, following: int) -> float | None:
    """The share of a column's range that a counter has come through; None for a type without a range."""
    words = column_type.lower().replace("(", " ").split()
    bits = _RANGES.get(words[0].removesuffix("eger")) if words else None
    if bits is None:
        return None
    most: int = (1 << (bits if "unsigned" in words else bits - 1)) - 1
    return min(1.0, max(0, following - 1) / most)


def _tables(asking: Asking) -> list[Table] | None:
    rows = asking.rows(
        "the sizes of the tables",
        "SELECT TABLE_SCHEMA, TABLE_NAME, ENGINE, TABLE_ROWS, DATA_LENGTH, INDEX_LENGTH, DATA_FREE"
        f" FROM information_schema.TABLES WHERE {_users()} AND ENGINE IS NOT NULL",
        _READ,
    )
    if rows is None:
        return None
    return [
        Table(
            name=f"{schema}.{name}",
            engine=str(engine),
            **{field: None if size is None else int(size) for field, size in zip(_SIZES, sizes, strict=True)},
        )
        for schema, name, engine, *sizes in rows
    ]


def _indexes(asking: Asking, version: Version) -> tuple[TableIndex, ...] | None:
    columns = (*_visibility(version), *_STATISTICS)
    rows = asking.rows(
        "the indexes",
        f"SELECT {', '.join(columns)} FROM information_schema.STATISTICS"
        f" WHERE TABLE_SCHEMA NOT IN ({_OF_THE_SERVER})",
        _READ,
    )
    return None if rows is None else of_rows(dict(zip(columns, row, strict=True)) for row in rows)


def _visibility(version: Version) -> tuple[str, ...]:
    """The column that shows whether the optimizer uses an index, in releases that can hide one."""
    if version.is_mariadb:
        return ("IGNORED",) if version.numbers >= (10, 6, 0) else ()
    return ("IS_VISIBLE",) if version.numbers >= (8, 0, 0) else ()


def _foreign_keys(asking: Asking) -> tuple[ForeignKey, ...] | None:
    """Both sides of each."""
    rows = asking.rows(
        "the foreign keys",
        "SELECT CONSTRAINT_SCHEMA, CONSTRAINT_NAME, TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME,"
        " REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME"
        " FROM information_schema.KEY_COLUMN_USAGE WHERE REFERENCED_TABLE_NAME IS NOT NULL"
        f" AND TABLE_SCHEMA NOT IN ({_OF_THE_SERVER}) ORDER BY 1, 2, 3, 4, ORDINAL_POSITION",
        _READ,
    )
    if rows is None:
        return None
    sides: dict[tuple[str, ...], list[str]] = {}
    for schema, name, own, table, column, other, parent, referenced in rows:
        sides.setdefault((schema, name, f"{own}.{table}", "refers"), []).append(column)
        sides.setdefault((schema, name, f"{other}.{parent}", f"of {own}.{table}"), []).append(referenced)
    return tuple(ForeignKey(side[2], tuple(columns)) for side, columns in sides.items())


def _counters(asking: Asking) -> dict[str, float] | None:
    """The used share of each AUTO_INCREMENT column's range, by table."""
    rows = asking.rows(
        "the counters of AUTO_INCREMENT columns",
        "SELECT c.TABLE_SCHEMA, c.TABLE_NAME, c.COLUMN_TYPE, t.AUTO_INCREMENT"
        " FROM information_schema.COLUMNS c JOIN information_schema.TABLES t"
        " ON t.TABLE_SCHEMA = c.TABLE_SCHEMA AND t.TABLE_NAME = c.TABLE_NAME"
        " WHERE c.EXTRA LIKE '%auto_increment%' AND t.AUTO_INCREMENT IS NOT NULL"
        f" AND c.TABLE_SCHEMA NOT IN ({_OF_THE_SERVER})",
        _READ,
    )
    if rows is None:
        return None
    return {
        f"{schema}.{table}": used
        for schema, table, kind, following in rows
        if (used := counter_used(text_of(kind), int(following))) is not None
    }


def _unused(
    asking: Asking, variables: Mapping[str, str], indexes: Collection[TableIndex]
) -> tuple[Index, ...] | None:
    """Indexes that nothing has read since the start; those that keep values unique have a use anyway."""
    what = "which indexes are used"
    if variables.get("performance_schema", "OFF").casefold() not in ON_WORDS:
        off = Unread(what=what, why="performance_schema is off", hint="performance_schema = ON")
        asking.unread.append(off)
        return None
    rows = asking.rows(
        what,
        "SELECT OBJECT_SCHEMA, OBJECT_NAME, INDEX_NAME"
        " FROM performance_schema.table_io_waits_summary_by_index_usage"
        f" WHERE INDEX_NAME IS NOT NULL AND COUNT_STAR = 0 AND OBJECT_SCHEMA NOT IN ({_OF_THE_SERVER})",
        "SELECT ON performance_schema.*",
    )
    if rows is None:
        return None
    silent = {(f"{schema}.{table}", str(name)) for schema, table, name in rows}
    unused = [index for index in indexes if not index.unique and (index.table, index.name) in silent]
    keys = _foreign_keys(asking) if unused else ()
    return None if keys is None else tuple(map(_named, not_needed(unused, indexes, keys)))


def _named(index: TableIndex) -> Index:
    return Index(
        table=index.table,
        name=index.name,
        columns=tuple(part.column for part in index.parts),
        hidden=not index.visible,
    )


def _largest(tables: Iterable[Table]) -> tuple[Table, ...]:
    return tuple(sorted(tables, key=_size, reverse=True)[:LISTED])


def _size(table: Table) -> int:
    return (table.data_bytes or 0) + (table.index_bytes or 0)


def _is_fragmented(table: Table) -> bool:
    free = table.free_bytes or 0
    return free >= _FRAGMENTED_BYTES and free >= _FRAGMENTED_SHARE * (free + _size(table))


def _users() -> str:
    return f"TABLE_TYPE = 'BASE TABLE' AND TABLE_SCHEMA NOT IN ({_OF_THE_SERVER})"
