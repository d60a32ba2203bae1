"""Index candidates on real servers: once they are there they are used, and nothing more is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from live.conftest import Start
from live.engine import Record, job, phase
from live.engine import run as engine
from mydyno.core.secrets import Secret
from mydyno.lab import workload
from mydyno.lab.stack import RunningServer
from mydyno.queries.candidates import TableName, tables_of, with_candidates
from mydyno.queries.log import read_logs
from mydyno.queries.records import Digest, IndexCandidate
from mydyno.queries.schema import read_schema
from mydyno.server.access.login import Login

pytestmark = pytest.mark.live

MOST = 50
STRANGE = "we`ird \"tab' le"
SHOP = (
    "CREATE DATABASE shop",
    "CREATE TABLE shop.digits (d INT PRIMARY KEY)",
    "INSERT INTO shop.digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)",
    "CREATE TABLE shop.numbers (n INT PRIMARY KEY)",
    "INSERT INTO shop.numbers SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d FROM shop.digits a,"
    " shop.digits b, shop.digits c, shop.digits e",
    "CREATE TABLE shop.customer (id INT PRIMARY KEY, email VARCHAR(80), name VARCHAR(40), country CHAR(2))",
    "INSERT INTO shop.customer SELECT n, CONCAT('user', n, '@example.com'), CONCAT('name ', n), 'de'"
    " FROM shop.numbers WHERE n < 3000",
    "CREATE TABLE shop.orders (id INT PRIMARY KEY, customer_id INT NOT NULL, status ENUM('new', 'paid'),"
    " placed DATETIME NOT NULL, total DECIMAL(9, 2))",
    "INSERT INTO shop.orders SELECT n, n % 600, 1 + n % 2, '2026-01-01' + INTERVAL n MINUTE, n"
    " FROM shop.numbers",
    "CREATE TABLE shop.order_item"
    " (id INT PRIMARY KEY, order_id INT, product_id INT, quantity INT, note TEXT)",
    "INSERT INTO shop.order_item SELECT n, n % 5000, n % 100, 1, CONCAT('note ', n) FROM shop.numbers",
    'CREATE TABLE shop.`we``ird "tab\' le` (id INT PRIMARY KEY, `sel``ect "` INT, `from` INT)',
    "INSERT INTO shop.`we``ird \"tab' le` SELECT n, n, 1 FROM shop.numbers",
    "ANALYZE TABLE shop.customer, shop.orders, shop.order_item, shop.`we``ird \"tab' le`",
)
SLOW = (
    "SELECT id, name FROM customer WHERE email = 'user77@example.com'",
    "SELECT id, total FROM orders WHERE customer_id = 55 AND status = 'paid' ORDER BY placed DESC LIMIT 5",
    "SELECT id FROM orders WHERE customer_id = 56",
    "SELECT c.name, SUM(i.quantity) FROM customer c JOIN orders o ON o.customer_id = c.id"
    " JOIN order_item i ON i.order_id = o.id WHERE c.email = 'user78@example.com' GROUP BY c.name",
    "UPDATE order_item SET quantity = quantity + 1 WHERE product_id = 5 AND order_id BETWEEN 100 AND 600",
    "DELETE FROM order_item WHERE note = 'note 4711'",
    "SELECT COUNT(*) FROM orders WHERE placed >= '2026-01-03' AND placed < '2026-01-03 01:00'",
    'SELECT id FROM `we``ird "tab\' le` WHERE `sel``ect "` = 4711',
)
WANTED = {
    ("customer", ("email",)),
    ("orders", ("customer_id", "status", "placed")),
    ("orders", ("placed",)),
    ("order_item", ("order_id",)),
    ("order_item", ("product_id", "order_id")),
    ("order_item", ("note",)),
    (STRANGE, ('sel`ect "',)),
}
NONE = (
    "SELECT name FROM customer WHERE LOWER(email) = 'user77@example.com'",
    "SELECT d FROM digits WHERE d + 1 = 5",
    "SELECT name FROM customer WHERE id = 5",
)
ORDER_ENTRY = {"warehouses": 1, "districts": 3, "customers": 1010, "orders": 500, "items": 2000}


@pytest.mark.parametrize("name", ["mariadb-10.11", pytest.param("mysql-9.7", marks=pytest.mark.slow)])
def test_candidates_are_used_lower_the_rows_examined_and_are_not_proposed_again(
    name: str, start_release: Callable[[str], Start]
) -> None:
    server = start_release(name)({})
    run(server, SHOP)
    before = logged(server, SLOW * 2 + NONE, "before")
    looked = candidates(server, before)
    served = {id_ for each in looked.candidates for id_ in each.groups}
    assert len(served) == len(SLOW)
    assert {each.group for each in looked.without_candidate} == {each.id for each in before.groups} - served
    assert {(each.table, each.columns) for each in looked.candidates} == WANTED
    names = {added(server, each) for each in looked.candidates}
    run(server, ["ANALYZE TABLE shop.customer, shop.orders, shop.order_item"])
    assert names <= {key for statement in SLOW for key in explained_keys(server, statement)}
    after = logged(server, SLOW * 2 + NONE, "after")
    assert examined(after) * 10 < examined(before)
    again = candidates(server, after)
    assert (again.candidates, len(again.without_candidate)) == ((), len(after.groups))


def test_the_order_entry_workloads_own_tables_need_no_more_indexes(server: RunningServer) -> None:
    program = workload.read("order-entry").resolve(ORDER_ENTRY).program
    checks = program.pop("checks")
    assert checks, "they read whole tables, once, and are no part of the load"
    found = driven(server, program, "order_entry")
    assert len(found.groups) > 30
    assert candidates(server, found).candidates == ()


def test_sysbench_tables_need_no_more_indexes(server: RunningServer) -> None:
    found = driven(server, workload.read("oltp-read-write").resolve({}).program, "sysbench")
    looked = candidates(server, found)
    assert looked.candidates == ()
    (summed,) = [group for group in found.groups if "sum(k)" in group.fingerprint]
    (why,) = [each.why for each in looked.without_candidate if each.group == summed.id]
    assert why == ("sysbench.sbtest1: the primary key (id) exists already and serves it",)


def test_a_table_that_an_account_may_not_see_is_reported_with_the_right_that_helps(
    server: RunningServer,
) -> None:
    run(
        server,
        [
            "CREATE DATABASE hidden",
            "CREATE TABLE hidden.t (a INT)",
            "CREATE USER looker@localhost IDENTIFIED BY 'word'",
        ],
    )
    login = Login("looker", Secret("word"), socket=server.socket)
    schema = read_schema(login, [TableName("t", "hidden"), TableName("nowhere")])
    assert schema.tables == ()
    assert [each.hint for each in schema.unread] == [
        "GRANT SELECT ON `hidden`.`t` TO 'looker'@'localhost'",
        "GRANT SELECT ON *.* TO 'looker'@'localhost'",
    ]
    (seen,) = read_schema(server.login, [TableName("t")]).tables
    assert seen.name == TableName("t", "hidden")


def run(server: RunningServer, statements: Sequence[str], database: str = "") -> None:
    with server.connect() as connection, connection.cursor() as cursor:
        if database:
            connection.select_db(database)
        for statement in statements:
            cursor.execute(statement)
            cursor.fetchall()


def logged(server: RunningServer, statements: Sequence[str], name: str) -> Digest:
    """What the server's slow log tells of these statements."""
    with slow_log(server, name) as log:
        run(server, ["SET long_query_time = 0", *statements], "shop")
    return read_logs([str(log)], filters=["database = shop"])


def driven(server: RunningServer, program: Record, database: str) -> Digest:
    """What the log tells of a load on tables of its own."""
    run(server, [f"CREATE DATABASE {database}"])
    one = job(server, {"program": program}, phase(2, {"kind": "events", "events": 300}), prepare="create")
    one["target"]["database"] = database
    with slow_log(server, database) as log:
        done = engine(one)
    assert done.exit_code == 0, done.text
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute(
            "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = %s", (database,)
        )
        tables = [str(name) for (name,) in cursor.fetchall()]
    run(server, [f"ANALYZE TABLE {', '.join(tables)}"], database)
    return read_logs([str(log)], filters=[f"database = {database}"])


@contextmanager
def slow_log(server: RunningServer, name: str) -> Iterator[Path]:
    """Every statement of new sessions is logged."""
    log = server.datadir / f"slow-{name}.log"
    on = ("long_query_time = 0", f"slow_query_log_file = '{log}'", "slow_query_log = ON")
    run(server, [f"SET GLOBAL {setting}" for setting in on])
    yield log
    run(server, ["SET GLOBAL slow_query_log = OFF"])


def candidates(server: RunningServer, found: Digest) -> Digest:
    return with_candidates(found, read_schema(server.login, tables_of(found, MOST)), MOST)


def examined(found: Digest) -> int:
    return found.total.measures["rows_examined"].sum


def added(server: RunningServer, candidate: IndexCandidate) -> str:
    run(server, [candidate.statement])
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute(
            "SELECT INDEX_NAME FROM information_schema.STATISTICS"
            " WHERE TABLE_SCHEMA = 'shop' AND TABLE_NAME = %s GROUP BY INDEX_NAME"
            " HAVING GROUP_CONCAT(COLUMN_NAME ORDER BY SEQ_IN_INDEX SEPARATOR '\\n') = %s",
            (candidate.table, "\n".join(candidate.columns)),
        )
        ((name,),) = cursor.fetchall()
        return str(name)


def explained_keys(server: RunningServer, statement: str, table: str | None = None) -> set[str]:
    """The keys by which EXPLAIN finds rows (a scan of a whole index is none); of one table or of all."""
    with server.connect() as connection, connection.cursor() as cursor:
        connection.select_db("shop")
        cursor.execute(f"EXPLAIN FORMAT=TRADITIONAL {statement}")
        names = [each[0] for each in cursor.description or ()]
        rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        looked_up = [row for row in rows if row["key"] and row["type"] != "index"]
        return {str(row["key"]) for row in looked_up if table in (None, row["table"])}
