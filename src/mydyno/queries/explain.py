"""How a server would run the examples of a digest: EXPLAIN, fenced in so that nothing is run or changed.

EXPLAIN is not as harmless as it looks: releases run derived tables and subqueries on constant tables while
they plan, with the functions in them, and lock the rows that a change would read. So a statement is explained
only if everything that it calls is known to be harmless (`explainable`); a statement that reads is explained
in a read-only transaction, which refuses whatever a view may hide; a statement that writes cannot be (no
release explains it there), so it must name no view; locks are hardly waited for; a limit of the server's own
kind ends what takes long, and where there is none the session is killed. Everything is rolled back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from mydyno.core.server_version import Version, parse_version
from mydyno.queries.explainable import Explainable, explainable, without_locks
from mydyno.queries.fingerprints import fingerprints
from mydyno.queries.records import Digest, Example, Group, Plan, PlanRow
from mydyno.server.access import dbapi
from mydyno.server.access.login import Login
from mydyno.server.access.session import session, show_global, version_line
from mydyno.survey.asking import account_of
from mydyno.survey.server.interval import Report
from mydyno.survey.server.schema import time_limit

MOST_SECONDS = 3
_LATER_SECONDS = 1
"""After the server's own limit has failed to end it, the session is killed."""
_OLDEST = {True: (10, 1), False: (5, 6)}
"""Of MariaDB and of MySQL: before, EXPLAIN runs every derived table, and no transaction is read-only."""


def with_plans(digest: Digest, login: Login, most: int, report: Report = lambda text: None) -> Digest:
    """The digest with a plan, or the reason for having none, for each of the first `most` groups.

    Never runs a statement. Raises ServerError when there is no way in; MissingToolError, EngineError.
    """
    chosen = [group for group in digest.groups[:most] if group.kind == "statement"]
    plans = _plans(chosen, login, report) if chosen else {}
    groups = tuple(
        group.model_copy(update={"plan": plans[group.id]}) if group.id in plans else group
        for group in digest.groups
    )
    return digest.model_copy(update={"groups": groups})


def _plans(groups: Sequence[Group], login: Login, report: Report) -> dict[str, Plan]:
    plans = plans_of([group.example for group in groups], login, report)
    return {group.id: plan for group, plan in zip(groups, plans, strict=True)}


def plans_of(
    examples: Sequence[Example | None], login: Login, report: Report = lambda text: None
) -> list[Plan]:
    """A plan, or the reason for having none, for each statement. Raises as `with_plans`."""
    if not examples:
        return []
    texts = [without_locks(each.text) if each else "" for each in examples]
    statements = [
        explainable(example, fingerprint)
        for example, fingerprint in zip(examples, fingerprints(texts), strict=True)
    ]
    changing = [each for each in statements if isinstance(each, Explainable) and each.changes]
    with session(login) as cursor:
        server = _read_server(cursor, login, {word for each in changing for word in each.words})
    plans = []
    for number, (example, statement) in enumerate(zip(examples, statements, strict=True), 1):
        report(f"explaining statements: {number} of {len(examples)}")
        plans.append(server.plan(statement, example.database if example else None))
    return plans


def _read_server(cursor: dbapi.Cursor, login: Login, words: set[str]) -> _Server:
    variables = show_global(cursor, "VARIABLES")
    version = parse_version(version_line(variables))
    logs_statements = (variables.get("log_bin"), variables.get("binlog_format")) == ("ON", "STATEMENT")
    views: frozenset[str] = frozenset()
    if words:
        # Whatever schema it is in: a view is refused once too often rather than once too seldom.
        cursor.execute(
            "SELECT LOWER(TABLE_NAME) FROM information_schema.VIEWS WHERE LOWER(TABLE_NAME) IN %s",
            (sorted(words),),
        )
        views = frozenset(str(name) for (name,) in cursor.fetchall())
    return _Server(login, version, account_of(cursor), views, logs_statements)


@dataclass(frozen=True)
class _Server:
    login: Login
    version: Version
    account: str
    views: frozenset[str]
    """Those that a changing statement may name."""
    logs_statements: bool
    """Whether its binary log holds statements, for which no change may be of READ UNCOMMITTED."""

    def plan(self, statement: Explainable | str, database: str | None) -> Plan:
        if isinstance(statement, str):
            return Plan(refused=statement)
        if self.version.numbers < (*_OLDEST[self.version.is_mariadb], 0):
            return Plan(refused=f"{self.version} runs parts of a statement to explain it")
        if statement.changes and (hidden := sorted(statement.words & self.views)):
            return Plan(refused=f"it changes rows and names the view {hidden[0]}, which may call anything")
        try:
            with self._fence(database, read_only=not statement.changes) as cursor:
                cursor.execute(f"{self._explain} {statement.text}")
                names = [str(column[0]).lower() for column in cursor.description or ()]
                return Plan(rows=tuple(_row(dict(zip(names, row, strict=True))) for row in cursor.fetchall()))
        except dbapi.Error as error:
            return Plan(refused=self._why(error, database))

    @property
    def _explain(self) -> str:
        # MySQL's other formats are a variable's choice (explain_format); MariaDB has only this table.
        return "EXPLAIN" if self.version.is_mariadb else "EXPLAIN FORMAT=TRADITIONAL"

    @contextmanager
    def _fence(self, database: str | None, *, read_only: bool) -> Iterator[dbapi.Cursor]:
        """A transaction that is rolled back, in a separate session. Raises dbapi.Error."""
        connection = self.login.connect(database, answer_seconds=MOST_SECONDS + _LATER_SECONDS)
        with connection, connection.cursor() as cursor:
            cursor.execute("SELECT CONNECTION_ID()")
            itself = next(iter(cursor.fetchone() or ()), None)
            try:
                self._limit(cursor)
                cursor.execute("START TRANSACTION READ ONLY" if read_only else "START TRANSACTION")
                yield cursor
                cursor.execute("ROLLBACK")
            except BaseException as error:
                if itself is not None and _is_unfinished(error):
                    self._kill(itself)
                raise

    def _limit(self, cursor: dbapi.Cursor) -> None:
        # The text was looked through as this mode reads it.
        cursor.execute(
            "SET SESSION sql_mode = '', SESSION innodb_lock_wait_timeout = 1, SESSION lock_wait_timeout = 1"
        )
        if not self.logs_statements:
            # INSERT ... SELECT locks the rows that it reads, but for this level.
            cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED")
        with suppress(dbapi.Error):  # MySQL has none before 5.7.8.
            cursor.execute(f"SET SESSION {time_limit(self.version, MOST_SECONDS)}")

    def _kill(self, number: int) -> None:
        """Ends a session that may still be at work; one that has ended already is what is wanted."""
        with suppress(dbapi.Error), self.login.connect() as other, other.cursor() as cursor:
            cursor.execute("KILL %s", (number,))

    def _why(self, error: BaseException, database: str | None) -> str:
        number, text = dbapi.number_of(error) or 0, dbapi.text_of(error) or type(error).__name__
        if number in _NO_RIGHT:
            where = f"`{database}`.*" if database else "*.*"
            return (
                f"{text}: GRANT SELECT ON {where} TO {self.account}, and for statements that change rows"
                " their privileges too"
            )
        return f"{_REASONS[number]} ({text})" if number in _REASONS else text


def _is_unfinished(error: BaseException) -> bool:
    """Whether the server may still be at work: no answer came, or the wait for it ended."""
    return not isinstance(error, dbapi.Error) or dbapi.number_of(error) == _NO_ANSWER


_NO_ANSWER = 2013
_NO_RIGHT = frozenset({1044, 1142, 1143, 1345, 1370})
"""No right to a database, a table, a column, a view's tables, a routine (MySQL Server Error Reference)."""
_TOO_LONG = f"explaining it took longer than {MOST_SECONDS} s"
_REASONS: Mapping[int, str] = {
    1049: "its database no longer exists",
    1146: "its table no longer exists",
    1054: "its table has changed",
    1064: "the server does not accept its example (a prepared statement without its values?)",
    1205: "rows that it reads are locked",
    1290: "the server is read-only",
    1792: "it would change data, perhaps by a function in a view",
    1317: _TOO_LONG,
    1969: _TOO_LONG,
    _NO_ANSWER: _TOO_LONG,
    3024: _TOO_LONG,
}


def _row(cells: Mapping[str, Any]) -> PlanRow:
    texts = {name: str(cells[name]) for name in PlanRow.model_fields if cells.get(name) not in (None, "")}
    for name in ("id", "rows"):
        # MariaDB's filters add their share: `1021 (12%)`.
        number = re.match(r"\d+", texts.pop(name, ""))
        texts |= {name: number[0]} if number else {}
    return PlanRow.model_validate(texts)
