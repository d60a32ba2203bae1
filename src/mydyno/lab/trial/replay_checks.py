"""Whether a server has what a trace needs, looked at before its first statement is sent."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mydyno.core.errors import UsageError
from mydyno.core.plurals import counted, listed
from mydyno.core.server_version import parse_version
from mydyno.core.sql_names import SYSTEM_SCHEMAS
from mydyno.lab.trial.traced_tables import missing_tables
from mydyno.lab.workload.trace import Survey
from mydyno.server.access import dbapi

_ELSEWHERE = ("FEDERATED", "CONNECT", "SPIDER")
"""Engines whose tables are on other servers, or read files and run what they are given."""
_NAMED = 10


def reaching_elsewhere(connection: Any) -> dict[str, list[str]]:
    """The engine's `refuse_tables` and `refuse_functions`: tables of other servers, loadable functions."""
    engines = ", ".join(f"'{engine}'" for engine in _ELSEWHERE)
    sql = f"SELECT table_name FROM information_schema.tables WHERE engine IN ({engines})"
    tables = _column(connection, sql)
    try:
        functions = _column(connection, "SELECT name FROM mysql.func")
    except dbapi.Error:
        functions = []  # An account that may not look at them.
    return {"refuse_tables": tables, "refuse_functions": functions}


@dataclass(frozen=True)
class Needs:
    """What the replayed part of a trace needs of a server."""

    survey: Survey
    schema: str | None
    """Of statements whose schema the trace does not know."""

    def check(self, connection: Any) -> list[str]:
        """Warnings, a sentence each. Raises UsageError where a replay would show nothing."""
        if not self.survey.replayed:
            raise UsageError(
                "no statement of the trace would be sent: "
                + (skipped_text(self.survey.skipped) or "it has none"),
                "--all-statements, on a server whose data may change" if self.survey.skipped else None,
            )
        self._check_connections(connection)
        return [*self._release(connection), *self._tables(connection), *self._literals()]

    def _check_connections(self, connection: Any) -> None:
        most = int(_column(connection, "SELECT @@global.max_connections")[0])
        needed = self.survey.peak_connections + 1
        if most < needed:
            raise UsageError(
                f"the trace has up to {counted(self.survey.peak_connections, 'connection')} at a time, and"
                f" max_connections of the server is {most}",
                f"SET GLOBAL max_connections = {needed + 10}, or a shorter part of the trace (--for)",
            )

    def _release(self, connection: Any) -> Iterator[str]:
        version = _column(connection, "SELECT version()")[0]
        then = self.survey.server
        if then is None:
            return
        before, now = _series(then), _series(version)
        if before != now:
            yield f"the trace is of {then}, the server is {version}: statements may fail or return other rows"

    def _tables(self, connection: Any) -> Iterator[str]:
        named = (table.schema_name or self.schema for table in self.survey.tables)
        schemas = {schema for schema in named if schema} | set(self.survey.schemas)
        seen = {
            name.lower()
            for name in _column(connection, "SELECT schema_name FROM information_schema.schemata")
        }
        if hidden := sorted(schema for schema in schemas if schema.lower() not in seen | {*SYSTEM_SCHEMAS}):
            raise UsageError(
                f"the server has no schema {listed(hidden, _NAMED)}, or the account has no right to it",
                "load the data first, or GRANT SELECT on it to the account",
            )
        if self.survey.without_schema and self.schema is None:
            yield (
                f"{counted(self.survey.without_schema, 'statement')} of the trace have no schema: they fail"
                " where they name tables without one; --schema NAME"
            )
        yield from missing_tables(
            self.survey,
            self.schema,
            _existing(connection, schemas),
            "the server",
            "load the data that the trace was recorded on",
        )

    def _literals(self) -> Iterator[str]:
        if self.survey.masked:
            yield "the literals of the trace were masked: results and row counts are not those of the trace"


def skipped_text(skipped: Any) -> str:
    """`150 write, 20 lock`."""
    return ", ".join(
        f"{count:,} {reason}" for reason, count in sorted(skipped.items(), key=lambda one: -one[1])
    )


def _existing(connection: Any, schemas: set[str]) -> set[str]:
    """`schema.table` in small letters."""
    if not schemas:
        return set()
    marks = ", ".join(["%s"] * len(schemas))
    sql = f"SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema IN ({marks})"
    with connection.cursor() as cursor:
        cursor.execute(sql, sorted(schemas))
        return {f"{schema}.{name}".lower() for schema, name in cursor.fetchall()}


def _column(connection: Any, sql: str) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return [str(row[0]) for row in cursor.fetchall()]


def _series(version: str) -> str:
    """`MariaDB 10.11`: what releases of the same behaviour share."""
    parsed = parse_version(f"mysqld  Ver {version.removeprefix('5.5.5-')}")
    return f"{parsed.vendor} {parsed.numbers[0]}.{parsed.numbers[1]}"
