"""Index candidates on real servers: once they are there they are used, and nothing more is asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pytest
from digest.builders import digest, group

from live.conftest import Start
from mydyno.digest.candidates import tables_of, with_candidates
from mydyno.digest.records import Digest, IndexCandidate
from mydyno.stack import RunningServer
from mydyno.statements.schema import read_schema

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
_ENTRY = re.compile(
    r"# Query_time: (?P<time>[\d.]+)[^\n]*? Rows_sent: (?P<sent>\d+)\s+Rows_examined: (?P<examined>\d+)"
    r"[^\n]*\n(?:#[^\n]*\n)*(?:use [^\n]*\n)?SET timestamp=\d+;\n(?P<text>[^;]*);",
    re.IGNORECASE,
)


@pytest.mark.parametrize("name", ["mariadb-10.11", "mysql-9.7"])
def test_candidates_are_used_lower_the_rows_examined_and_are_not_proposed_again(
    name: str, start_release: Callable[[str], Start]
) -> None:
    server = start_release(name)({})
    run(server, SHOP)
    before = logged(server, SLOW * 2)
    looked = candidates(server, before)
    assert {(each.table, each.columns) for each in looked.candidates} == WANTED
    names = [added(server, each) for each in looked.candidates]
    run(server, ["ANALYZE TABLE shop.customer, shop.orders, shop.order_item"])
    keys = {key for statement in SLOW for key in explained_keys(server, statement)}
    assert set(names) <= keys
    after = logged(server, SLOW * 2)
    assert examined(after) * 20 < examined(before)
    again = candidates(server, after)
    assert (again.candidates, len(again.without_candidate)) == ((), len(SLOW))


def run(server: RunningServer, statements: Sequence[str], database: str = "") -> None:
    with server.connect() as connection, connection.cursor() as cursor:
        if database:
            connection.select_db(database)
        for statement in statements:
            cursor.execute(statement)
            cursor.fetchall()


def logged(server: RunningServer, statements: Sequence[str]) -> Digest:
    """What the server's slow log tells of these statements."""
    log = server.datadir / "slow.log"
    run(server, [f"SET GLOBAL slow_query_log_file = '{log}'", "SET GLOBAL slow_query_log = ON"])
    run(server, ["SET long_query_time = 0", *statements], "shop")
    run(server, ["SET GLOBAL slow_query_log = OFF"])
    text = log.read_text()
    log.write_text("")
    by_text: dict[str, list[re.Match[str]]] = {}
    for entry in _ENTRY.finditer(text):
        if entry["text"] in statements:
            by_text.setdefault(entry["text"], []).append(entry)
    return digest(
        *(
            group(
                statement,
                [round(float(each["time"]) * 1e6) for each in entries],
                example=statement,
                rows_sent=[int(each["sent"]) for each in entries],
                rows_examined=[int(each["examined"]) for each in entries],
                databases=(("shop", len(entries)),),
            )
            for statement, entries in by_text.items()
        )
    )


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


def explained_keys(server: RunningServer, statement: str) -> set[str]:
    with server.connect() as connection, connection.cursor() as cursor:
        connection.select_db("shop")
        cursor.execute(f"EXPLAIN FORMAT=TRADITIONAL {statement}")
        names = [each[0] for each in cursor.description or ()]
        return {str(dict(zip(names, row, strict=True))["key"]) for row in cursor.fetchall()}
