"""Caches of open tables and definitions, and the files that all of it opens.

A table that is not in the cache is opened for the statement (MySQL Reference Manual, "How MySQL Opens and
Closes Tables": one handler for each table of each connection that uses it). The server's own wish for files
at its start is 10 + max_connections + 2 x table_open_cache (ibid., open_files_limit); InnoDB's files and the
binary logs come on top.
"""

from dataclasses import dataclass

from mydyno.advisor.targets.steps import up_to
from mydyno.survey.facts import Schema, Server

_FULL = 0.9
_OFTEN = 1.0
"""Tables opened again each second from which the cache is worth making larger."""
_MOST = 65_536
_MOST_FILES = 20_000
_OWN_FILES = 100
"""Logs, sockets, system tablespaces, temporary files."""
_USUAL = 2000
"""table_open_cache of MariaDB without configuration, half of MySQL's."""
_TABLES_OF_A_STATEMENT = 4
_FEWEST_DEFINITIONS, _MOST_DEFINITIONS = 400, 2000
"""MySQL's own size of table_definition_cache: 400 + table_open_cache / 2, no more than 2000."""


@dataclass(frozen=True)
class TableCaches:
    open_cache: int | None
    definition_cache: int | None
    lines: tuple[str, ...]


def table_caches(server: Server) -> TableCaches:
    """As large as tables and connections can need, where a cache is full and tables are opened again all the
    time. What is open in a full cache does not show the need, so it is not in the sum: the size that is
    advised is advised once."""
    opened, first = _cache(server, "table_open_cache", "Open_tables", "Opened_tables", _handlers(server))
    names = ("table_definition_cache", "Open_table_definitions", "Opened_table_definitions")
    defined, second = _cache(server, *names, _definitions(server, opened))
    return TableCaches(opened, defined, (*first, *second))


def _cache(
    server: Server, name: str, in_use: str, missed: str, need: tuple[int, str]
) -> tuple[int | None, tuple[str, ...]]:
    now, filled = server.number(name), server.counter(in_use)
    if now is None or filled is None:
        return None, ()
    rates = [rate for rate in (server.rate(missed), server.average(missed)) if rate is not None]
    line = f"{in_use} = {filled:.0f} of {name} = {now}"
    if rates:
        line += f", {max(rates):.2g} reopened each second"
    if filled < _FULL * now or not rates or max(rates) < _OFTEN:
        return now, (line,)
    wanted, sum_of = min(_MOST, up_to(need[0], 100)), need[1]
    return max(now, wanted), (line, f"{name}: {sum_of}; in hundreds {wanted}")


def _handlers(server: Server) -> tuple[int, str]:
    """One for each table, and one for each table that each connection may use at the same time."""
    tables, connections = _tables(server), int(server.counter("Max_used_connections") or 0)
    need = tables + connections * _TABLES_OF_A_STATEMENT
    arithmetic = f"{tables} tables + {connections} connections x {_TABLES_OF_A_STATEMENT} tables = {need}"
    return max(_USUAL, need), f"{arithmetic}, at least {_USUAL}"


def _definitions(server: Server, open_cache: int | None) -> tuple[int, str]:
    if _whole_schema(server) is not None:
        tables = _tables(server)
        return max(_FEWEST_DEFINITIONS, tables), f"{tables} tables, at least {_FEWEST_DEFINITIONS}"
    half = (open_cache or 0) // 2
    need = min(_MOST_DEFINITIONS, _FEWEST_DEFINITIONS + half)
    return need, f"{_FEWEST_DEFINITIONS} + table_open_cache / 2 = {_FEWEST_DEFINITIONS + half}, at most 2000"


def _tables(server: Server) -> int:
    """How many tables there are; where the schema was not read in full, how many definitions are open."""
    schema = _whole_schema(server)
    return schema.tables if schema else int(server.counter("Open_table_definitions") or 0)


def _whole_schema(server: Server) -> Schema | None:
    schema = server.schema_facts
    return None if schema is None or schema.partial else schema


def innodb_open_files(server: Server) -> int | None:
    """Raised to the number of InnoDB's tables where its places are used up and there are more tables.

    None: not known what is open or how many tables there are.
    """
    now, opened = server.number("innodb_open_files"), server.counter("Innodb_num_open_files")
    schema = server.schema_facts
    tables = (schema.tables_by_engine or {}).get("InnoDB") if schema else None
    if now is None or opened is None or tables is None:
        return None
    if opened < _FULL * now or tables <= now:
        return now
    return max(now, min(_round(tables), _MOST_FILES))


def open_files(
    server: Server, connections: int | None, open_cache: int | None, innodb_files: int | None
) -> tuple[int, str] | None:
    """How many the process may need, and the sum in words."""
    most = connections if connections is not None else server.number("max_connections")
    tables = open_cache if open_cache is not None else server.number("table_open_cache")
    if most is None or tables is None:
        return None
    innodb = innodb_files or server.number("innodb_open_files") or 0
    if tables > (server.number("table_open_cache") or 0):
        # Unless it is set, innodb_open_files follows table_open_cache at the next start (manuals of both).
        innodb = max(innodb, tables)
    need = most + 2 * tables + innodb + _OWN_FILES
    return up_to(need, 1000), (
        f"{most} connections + 2 x {tables} tables + {innodb} files of InnoDB + {_OWN_FILES} others = {need}"
    )


def _round(number: float) -> int:
    """Rounded up to tens, from a thousand on to hundreds."""
    return up_to(number, 100 if number > 1000 else 10)
