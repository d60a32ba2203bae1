"""Our fingerprints held against performance_schema's digests of the same statements, run on real servers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache

import pymysql
import pytest

from live.statement_families import FAMILIES
from live.test_performance_schema import Counting, on_every_release, run
from mydyno.lab.stack import RunningServer
from mydyno.queries.fingerprints import fingerprints
from mydyno.queries.statement_groups import as_statement

pytestmark = pytest.mark.live

Digest = tuple[str, str]
"""The server's hash of a statement, and its text."""

_LAST = (
    "SELECT EVENT_ID, DIGEST, DIGEST_TEXT FROM performance_schema.events_statements_current"
    " WHERE THREAD_ID = %s AND EVENT_ID > %s AND TIMER_END IS NOT NULL"
    " AND (NESTING_EVENT_TYPE IS NULL OR NESTING_EVENT_TYPE <> 'STATEMENT')"
)
_SYNTAX_ERROR = 1064


def digests(server: RunningServer, statements: Sequence[str]) -> dict[str, Digest]:
    """Runs each statement; those that this server does not understand are left out."""
    run(
        server,
        "UPDATE performance_schema.setup_consumers SET ENABLED = 'YES'"
        " WHERE NAME = 'events_statements_current'",
        "CREATE DATABASE IF NOT EXISTS corpus",
        "CREATE TABLE IF NOT EXISTS corpus.t (id INT PRIMARY KEY, a INT, b INT, c INT)",
    )
    found: dict[str, Digest] = {}
    with server.login.connect("corpus") as one, server.login.connect() as other, other.cursor() as watching:
        with one.cursor() as cursor:
            cursor.execute("SELECT CONNECTION_ID()")
            connection = cursor.fetchone()
        watching.execute(
            "SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = %s", connection
        )
        ((thread,),) = watching.fetchall()
        last = _ended(watching, thread, 0, with_digest=True)[0]
        for statement in statements:
            is_one = _runs(one, statement)
            last, digest, text = _ended(watching, thread, last, with_digest=is_one)
            if is_one:
                found[statement] = (digest, text)
    return found


def _ended(
    watching: pymysql.cursors.Cursor, thread: int, after: int, *, with_digest: bool
) -> tuple[int, str, str]:
    """The event of the thread's last statement, which is there whole a moment after its answer."""
    given_up = time.monotonic() + 5
    while time.monotonic() < given_up:
        watching.execute(_LAST, (thread, after))
        row = watching.fetchone()
        if row and (row[1] or not with_digest):
            return int(row[0]), str(row[1]), str(row[2])
    raise AssertionError("the server does not tell of its last statement")


def _runs(connection: pymysql.connections.Connection[pymysql.cursors.Cursor], statement: str) -> bool:
    """Whether the server takes it for a statement; whether it can do it does not matter."""
    with connection.cursor() as cursor:
        try:
            cursor.execute(statement)
        except pymysql.Error as error:
            return bool(error.args[0] != _SYNTAX_ERROR)
    return True


@cache
def ours() -> dict[str, str]:
    """Statement -> id."""
    statements = [statement for family in FAMILIES for statement in family.statements]
    assert len(set(statements)) == len(statements)
    return {
        statement: found.id for statement, found in zip(statements, fingerprints(statements), strict=True)
    }


def test_families_have_the_groups_that_they_say_and_share_none() -> None:
    groups = {family.statements: {ours()[each] for each in family.statements} for family in FAMILIES}
    assert {family.statements: family.ours for family in FAMILIES} == {
        statements: len(ids) for statements, ids in groups.items()
    }
    assert sum(map(len, groups.values())) == len(set.union(*groups.values()))


@on_every_release
def test_groups_are_the_servers_digests_but_for_known_differences(name: str, counting: Counting) -> None:
    found = digests(counting(name), list(ours()))
    assert len(found) > 0.9 * len(ours())
    lines = [family for family in FAMILIES if all(statement in found for statement in family.statements)]
    seen = {family.statements: {found[statement][0] for statement in family.statements} for family in lines}
    assert {statements: len(hashes) for statements, hashes in seen.items()} == {
        family.statements: family.elsewhere.get(name, family.theirs) for family in lines
    }
    assert sum(map(len, seen.values())) == len(set.union(*seen.values()))


@on_every_release
def test_a_digest_has_the_id_of_its_statements(name: str, counting: Counting) -> None:
    named = [statement for family in FAMILIES if family.named for statement in family.statements]
    found = digests(counting(name), named)
    texts = [as_statement(text) for _, text in found.values()]
    differing = {
        statement: text
        for (statement, (_, text)), theirs in zip(found.items(), fingerprints(texts), strict=True)
        if theirs.id != ours()[statement]
    }
    assert differing == {}
