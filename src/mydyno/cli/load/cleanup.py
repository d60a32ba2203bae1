"""`mydyno load cleanup WORKLOAD`: drop what a load has made."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from mydyno.cli import inputs, options, screen
from mydyno.cli.declare import argument
from mydyno.cli.load import driving, parameters
from mydyno.core.errors import UsageError
from mydyno.core.plurals import counted, plural
from mydyno.lab.load import sessions
from mydyno.lab.workload import read
from mydyno.server.access import dbapi

_HELP = """Drop the tables that a load has made, and its database.

The tables of the workload are dropped if their comment says that mydyno made them; others are refused. For
sql-bench, slap and mysqlslap these are all tables of the schema that mydyno made. The database is dropped if
it is empty then and mydyno made it: it is named `mydyno`, or on MariaDB its comment says so.

```text
mydyno load cleanup oltp-read-write --socket /run/mysqld/mysqld.sock
mydyno load cleanup order-entry --defaults-file ~/.my.cnf --yes
```
"""
_WORKLOAD = parameters.Parameter(
    "workload", Annotated[str, argument("WORKLOAD", "The workload, or its file.")], ...
)
_YES = parameters.Parameter("yes", options.Yes, False)
_WITHOUT_EFFECT = tuple(
    parameters.option(name, str | None, None, "", parameters.WORKLOAD, hidden=True)
    for name in ("tables", "table_size", "connections", "seconds")
)
"""Options of the load that a script gives to the cleanup, too: all tables of the workload are dropped."""
_PROGRAMS = ("slap", "mysqlslap", "sql-bench")
"""They choose the names of their tables."""


def command(name_of: Callable[[str], str]) -> Callable[..., None]:
    """`name_of` gives a workload's own name, and raises UsageError for an unknown workload."""

    def run(values: dict[str, Any]) -> None:
        _clean(table_names(name_of(values["workload"])), values)

    taken = (_WORKLOAD, *parameters.LOGIN, parameters.DATABASE, _YES, *_WITHOUT_EFFECT)
    return parameters.make_command(taken, run, _HELP)


def table_names(workload: str) -> Sequence[str] | None:
    """Of the workload with its default options; None for the programs that choose them."""
    if workload in _PROGRAMS:
        return None
    return ("sbtest1",) if workload == "sysbench" else read(workload).resolve({}).tables


def _clean(names: Sequence[str] | None, values: dict[str, Any]) -> None:
    target = driving.target_of(values)
    schema = target.database
    try:
        with sessions.connect(target) as connection, connection.cursor() as cursor:
            left = sessions.leftovers(cursor, schema, names, parameters.DATABASE.default)
            _refuse_foreign(left)
            what = _what(left)
            if what is None:
                screen.echo(f"{schema} on {target.address}: nothing to drop")
                return
            for name, rows in left.tables.items():
                screen.echo(f"  {schema}.{name}  about {rows:,} {plural(rows, 'row')}")
            if not values["yes"]:
                inputs.confirm(f"Drop {what} on {target.address}?", "add --yes")
            sessions.drop(cursor, left, names or ())
    except dbapi.Error as error:
        raise sessions.failed(target, f"the cleanup of {schema} failed", error) from None
    screen.echo(f"dropped {what}")


def _what(left: sessions.Leftovers) -> str | None:
    """`2 tables and the database mydyno`; None for nothing."""
    parts = [counted(len(left.tables), "table")] if left.tables else []
    parts += [f"the database {left.schema}"] if left.with_schema else []
    return " and ".join(parts) or None


def _refuse_foreign(left: sessions.Leftovers) -> None:
    if not left.foreign:
        return
    sentence = (
        f"{', '.join(f'{left.schema}.{name}' for name in left.foreign)}: not made by mydyno, and left alone"
    )
    if not left.tables:
        raise UsageError(sentence, "drop them by hand, or name the schema of the load with --database")
    screen.echo(f"warning: {sentence}", err=True)
