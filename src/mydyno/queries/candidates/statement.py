"""The ALTER TABLE that adds an index, in a release's own syntax."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from mydyno.core.server_version import Version
from mydyno.core.sql_names import quote
from mydyno.queries.candidates.schema import TableName
from mydyno.survey.facts.indexes import Part

_LONGEST_NAME = 64
_ONLINE_ENGINE = "innodb"


def index_name(columns: Sequence[str], taken: Collection[str]) -> str:
    """`ix_status_placed_at`: named after its columns, unlike all that the table has."""
    folded = {name.casefold() for name in taken}
    whole = f"ix_{'_'.join(columns)}"
    base = whole[:_LONGEST_NAME].rstrip()
    name, number = base, 2
    while name.casefold() in folded:
        ending = f"_{number}"
        name, number = base[: _LONGEST_NAME - len(ending)] + ending, number + 1
    return name


def add_index(
    table: TableName, name: str, parts: Sequence[Part], engine: str | None, release: Version | None
) -> str:
    """`engine` and `release` None where they are not known: then those of today.

    ALGORITHM and LOCK make the server refuse what would keep writers out or copy the table, instead of doing
    so (MySQL Reference Manual, "Online DDL Operations": since 5.6; MariaDB documentation, "InnoDB Online DDL
    Overview": since 10.0).
    """
    where = f"{quote(table.database)}.{quote(table.name)}" if table.database else quote(table.name)
    columns = ", ".join(quote(part.column) + (f"({part.length})" if part.length else "") for part in parts)
    online = ", ALGORITHM=INPLACE, LOCK=NONE" if is_online(engine, release) else ""
    return f"ALTER TABLE {where} ADD INDEX {quote(name)} ({columns}){online}"


def is_online(engine: str | None, release: Version | None) -> bool:
    """Whether an index can be added while others write."""
    if engine is not None and engine.casefold() != _ONLINE_ENGINE:
        return False
    return release is None or release.numbers >= ((10, 0, 0) if release.is_mariadb else (5, 6, 0))
