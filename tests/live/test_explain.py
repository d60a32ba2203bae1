"""Examples explained on real servers: with plans where there are some, and never run.

What EXPLAIN itself would do is tried first, so that the fence is known to keep something out.
"""

from __future__ import annotations

import time
from contextlib import closing
from typing import Any

import pytest

from live.test_performance_schema import Counting, on_every_release, run
from mydyno.core.secrets import Secret
from mydyno.lab.stack import RunningServer
from mydyno.lab.stack.undo.base import comes_true
from mydyno.queries.explain import MOST_SECONDS, with_plans
from mydyno.queries.fingerprints import fingerprints
from mydyno.queries.records import Digest, Example, Figures, Group, Plan
from mydyno.server.access.login import Login

pytestmark = pytest.mark.live

STORE = (
    "DROP DATABASE IF EXISTS store",
    "CREATE DATABASE store",
    "USE store",
    "CREATE TABLE items (id INT PRIMARY KEY, kind INT, price INT, KEY kind (kind)) ENGINE=InnoDB",
    "INSERT INTO items VALUES (1, 1, 10), (2, 2, 20), (3, 3, 30)",
    "CREATE TABLE runs (n INT) ENGINE=MyISAM",
    "INSERT INTO runs VALUES (0)",
    "CREATE FUNCTION tick() RETURNS INT BEGIN UPDATE store.runs SET n = n + 1; RETURN 1; END",
    "CREATE VIEW ticking AS SELECT tick() AS id",
    "CREATE VIEW sleepy AS SELECT SLEEP(60) AS id",
)
WITH_A_FUNCTION = "SELECT * FROM items WHERE id = (SELECT id FROM ticking)"


@pytest.fixture
def store(name: str, counting: Counting) -> RunningServer:
    server = counting(name)
    run(server, *STORE)
    return server


def asked(server: RunningServer, statement: str) -> list[tuple[Any, ...]]:
    with server.login.connect("store") as connection, connection.cursor() as cursor:
        cursor.execute(statement)
        return list(cursor.fetchall())


def digest_of(*statements: str, database: str | None = "store") -> Digest:
    """One group for each."""
    groups = [
        Group(
            count=1,
            id=f"{number:016x}",
            fingerprint=fingerprint.text,
            example=Example(text=text, bytes=len(text), database=database),
        )
        for number, (text, fingerprint) in enumerate(zip(statements, fingerprints(statements), strict=True))
    ]
    return Digest(sources=(), total=Figures(count=len(groups)), groups=tuple(groups))


def plans(login: Login, *statements: str, database: str | None = "store") -> list[Plan]:
    digest = with_plans(digest_of(*statements, database=database), login, len(statements))
    found = [group.plan for group in digest.groups if group.plan is not None]
    assert len(found) == len(statements)
    return found


def refusal(login: Login, statement: str, **more: Any) -> str:
    (plan,) = plans(login, statement, **more)
    assert plan.rows == ()
    assert plan.refused is not None
    return plan.refused


@on_every_release
def test_plans_report_the_tables_and_keys_of_what_reads_and_what_writes(
    name: str, store: RunningServer
) -> None:
    before = asked(store, "SELECT * FROM items")
    result = plans(
        store.login,
        "SELECT price FROM items WHERE kind = 2",
        "SELECT price FROM items WHERE kind = 2 FOR UPDATE",
        "UPDATE items SET price = 1 WHERE kind = 2",
        "DELETE FROM items WHERE kind = 2;",
        "INSERT INTO items (id, kind) SELECT price, kind FROM items WHERE kind = 2",
        "SELECT COUNT(*) FROM (SELECT kind FROM items GROUP BY kind) AS kinds",
    )
    assert [plan.refused for plan in result] == [None] * len(result)
    for plan in result[:5]:
        row = next(row for row in plan.rows if row.key is not None)
        assert (row.table, row.key, row.rows) == ("items", "kind", 1)
        assert row.type in ("ref", "range")
    assert len(result[5].rows) == 2
    assert asked(store, "SELECT * FROM items") == before


@on_every_release
def test_a_function_in_a_view_is_never_run(name: str, store: RunningServer) -> None:
    asked(store, f"EXPLAIN {WITH_A_FUNCTION}")
    assert asked(store, "SELECT n FROM runs") != [(0,)], "this release would not have run it anyway"
    run(store, "UPDATE store.runs SET n = 0")
    assert "would change data" in refusal(store.login, WITH_A_FUNCTION)
    for change in (
        "UPDATE items SET price = 1 WHERE id = (SELECT id FROM ticking)",
        "DELETE FROM items WHERE id = (SELECT id FROM `TICKING`)",
        "INSERT INTO items (id) SELECT id FROM store.ticking",
        "REPLACE INTO items (id) SELECT items.id FROM items JOIN ticking USING (id)",
    ):
        assert "names the view ticking" in refusal(store.login, change)
    assert refusal(store.login, "SELECT * FROM items WHERE id = (SELECT tick())").startswith(
        "it calls tick()"
    )
    assert asked(store, "SELECT n FROM runs") == [(0,)]


@on_every_release
def test_what_waits_is_never_run(name: str, store: RunningServer) -> None:
    sleeping = "SELECT * FROM (SELECT SLEEP(0.2) AS s) AS d"
    began = time.monotonic()
    asked(store, f"EXPLAIN {sleeping}")
    assert time.monotonic() - began >= 0.2, "this release would not have run it anyway"
    assert refusal(store.login, sleeping).startswith("it calls sleep()")
    assert refusal(store.login, "SELECT GET_LOCK('x', 9)").startswith("it calls get_lock()")
    hidden = "SELECT * FROM items WHERE id IN (VALUES (1), (SLEEP(9)))"
    assert refusal(store.login, hidden).startswith("it lists rows of values")


@on_every_release
def test_what_takes_long_is_given_up_and_left_running_nowhere(name: str, store: RunningServer) -> None:
    began = time.monotonic()
    assert f"longer than {MOST_SECONDS} s" in refusal(store.login, "SELECT * FROM sleepy")
    assert time.monotonic() - began < 20

    def runs() -> bool:
        return any("sleepy" in str(cell) for row in asked(store, "SHOW FULL PROCESSLIST") for cell in row)

    assert comes_true(lambda: not runs(), 5.0), "a killed statement ends at the server's next look at it"


@on_every_release
def test_rows_that_are_locked_are_hardly_waited_for(name: str, store: RunningServer) -> None:
    with closing(store.login.connect("store")) as other, other.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute("SELECT * FROM items FOR UPDATE")
        began = time.monotonic()
        (reading, copying, joined) = plans(
            store.login,
            "SELECT * FROM items WHERE id = 1 FOR UPDATE",
            "INSERT INTO runs SELECT price FROM items WHERE id = 1",
            "UPDATE items JOIN items AS more ON more.id = items.price SET items.price = 1 WHERE items.id = 1",
        )
        assert time.monotonic() - began < 20
        cursor.execute("ROLLBACK")
    assert reading.rows
    # MySQL 5.6 logs statements unless told otherwise, and locks what such a statement reads.
    assert copying.rows or (name == "mysql-5.6" and "locked" in (copying.refused or ""))
    assert "locked" in (joined.refused or "")


@on_every_release
def test_why_there_is_no_plan_is_reported(name: str, store: RunningServer) -> None:
    login = store.login
    assert "table no longer exists" in refusal(login, "SELECT * FROM nowhere")
    assert "table has changed" in refusal(login, "SELECT nothing FROM items")
    assert "database no longer exists" in refusal(login, "SELECT 1", database="gone")
    assert "No database selected" in refusal(login, "SELECT * FROM items", database=None)
    assert "prepared statement" in refusal(login, "SELECT * FROM items WHERE id = ?")


@on_every_release
def test_an_account_without_rights_hears_which_grant_helps(name: str, store: RunningServer) -> None:
    run(store, "CREATE USER looker@localhost IDENTIFIED BY 'word'")
    run(store, "CREATE DATABASE IF NOT EXISTS other", "GRANT SELECT ON other.* TO looker@localhost")
    try:
        login = Login("looker", Secret("word"), socket=store.login.socket)
        said = refusal(login, "SELECT * FROM store.items", database="other")
        assert "GRANT SELECT" in said
        assert "TO 'looker'@'localhost'" in said
        run(store, "GRANT SELECT ON store.* TO looker@localhost")
        (plan,) = plans(login, "SELECT * FROM store.items", database="other")
        assert plan.rows
    finally:
        run(store, "DROP USER looker@localhost", "DROP DATABASE other")


@pytest.mark.parametrize("name", ["mysql-9.7"])
def test_only_the_first_groups_are_explained(name: str, store: RunningServer) -> None:
    digest = with_plans(digest_of("SELECT 1", "SELECT 1, 2", "SELECT 1, 2 FROM items"), store.login, 2)
    assert [group.plan is not None for group in digest.groups] == [True, True, False]
