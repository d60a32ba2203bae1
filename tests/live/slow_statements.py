"""Statements of every kind, run on a real server so that its slow log holds each a known number of times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pymysql
import pymysql.cursors

from mydyno.lab.stack import RunningServer

if TYPE_CHECKING:
    from pymysql.connections import Connection
    from pymysql.cursors import Cursor

SHOP, BOOKS = "shop", "books and `ledgers`"
APP, REPORTER = "app", "re@porter"
PASSWORD = "not-in-any-digest"

_TABLES = (
    "CREATE TABLE items (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(80), note BLOB, price DECIMAL(9,2),"
    " kind INT, KEY kind (kind)) ENGINE=InnoDB",
    "CREATE TABLE sales (id INT PRIMARY KEY AUTO_INCREMENT, item INT, n INT, at DATETIME) ENGINE=InnoDB",
)
_ROUTINE = (
    "CREATE PROCEDURE sell(IN which INT) BEGIN"
    " UPDATE items SET price = price + 1 WHERE id = which;"
    " INSERT INTO sales (item, n, at) VALUES (which, 1, NOW()); END"
)


@dataclass
class Truth:
    """What was run: part of the statement -> how often, with the user, the database and the rows it sent."""

    counts: dict[str, int] = field(default_factory=dict)
    sent: dict[str, int] = field(default_factory=dict)
    users: dict[str, set[str]] = field(default_factory=dict)
    databases: dict[str, set[str]] = field(default_factory=dict)

    def note(self, mark: str, *, user: str, database: str, sent: int | None) -> None:
        self.counts[mark] = self.counts.get(mark, 0) + 1
        if sent is not None:
            self.sent[mark] = self.sent.get(mark, 0) + sent
        self.users.setdefault(mark, set()).add(user)
        self.databases.setdefault(mark, set()).add(database)


@dataclass
class Client:
    """One connection that notes what it runs."""

    connection: Connection[Cursor]
    user: str
    database: str
    truth: Truth

    def run(self, mark: str, statement: str | bytes, *, fails: bool = False) -> None:
        """Runs `statement`, the only one in which `mark` stands."""
        text = statement if isinstance(statement, bytes) else statement.encode()
        assert mark.encode() in text
        with self.connection.cursor() as cursor:
            try:
                cursor.execute(text)  # type: ignore[arg-type]  # Bytes are sent as they are.
                rows = cursor.fetchall()
            except pymysql.MySQLError:
                if not fails:
                    raise
                rows = ()
        is_query = text.startswith(b"SELECT") and not fails
        self.truth.note(mark, user=self.user, database=self.database, sent=len(rows) if is_query else None)

    def use(self, database: str) -> None:
        self.connection.select_db(database)
        self.database = database


def prepare(server: RunningServer) -> None:
    """Databases, tables, rows and accounts; before anything is logged."""
    with server.connect() as connection, connection.cursor() as cursor:
        for database in (SHOP, BOOKS):
            cursor.execute(f"CREATE DATABASE {quoted(database)} CHARACTER SET utf8mb4")
            cursor.execute(f"USE {quoted(database)}")
            for statement in _TABLES:
                cursor.execute(statement)
            rows = ", ".join(f"('item {i}', 'note {i}', {i}.5, {i % 7})" for i in range(500))
            cursor.execute(f"INSERT INTO items (name, note, price, kind) VALUES {rows}")
        cursor.execute(f"USE {quoted(SHOP)}")
        cursor.execute(_ROUTINE)
        for user in (APP, REPORTER):
            cursor.execute(f"CREATE USER '{user}'@'localhost' IDENTIFIED BY '{PASSWORD}'")
            cursor.execute(f"GRANT ALL ON *.* TO '{user}'@'localhost'")


def run_everything(server: RunningServer, rounds: int) -> Truth:
    """Every kind of statement, `rounds` times, by two users in two databases."""
    truth = Truth()
    for user, database in ((APP, SHOP), (REPORTER, BOOKS)):
        with _client(server, user, database, truth) as client:
            for number in range(rounds):
                _once(client, number)
            client.use(SHOP)
            client.run("in_shop", "SELECT name AS in_shop FROM items WHERE id = 77")
    with _client(server, APP, SHOP, truth) as client:
        for number in range(rounds):
            client.run("CALL sell", f"CALL sell({number + 1})")
    return truth


def until_logged(connection: Connection[Cursor]) -> None:
    """A server sends a result before it logs its statement, and both before it reads the next command."""
    connection.ping(reconnect=False)


@contextmanager
def _client(server: RunningServer, user: str, database: str, truth: Truth) -> Iterator[Client]:
    connection = pymysql.connect(
        unix_socket=str(server.socket),
        user=user,
        password=PASSWORD,
        database=database,
        autocommit=True,
        charset="utf8mb4",
        client_flag=pymysql.constants.CLIENT.MULTI_STATEMENTS,
    )
    with closing(connection):
        yield Client(connection, user, database, truth)
        until_logged(connection)


def _once(client: Client, number: int) -> None:
    run = client.run
    run("by_key", f"SELECT name AS by_key FROM items WHERE id = {number + 1}")
    run("scanned", f"SELECT id AS scanned FROM items WHERE name LIKE '%{number}%' ORDER BY price DESC")
    listed = ", ".join(str(i) for i in range(1, number + 3))
    run("in_list", f"SELECT id AS in_list FROM items WHERE id IN ({listed})")
    run(
        "many_lines",
        f"SELECT id,\n       name AS many_lines\n  FROM items\n WHERE kind = {number % 7}\n LIMIT 3",
    )
    run(
        "commented",
        f"SELECT /* {number} */ id AS commented -- why {number}\n# a line of its own\nFROM items\nLIMIT 2",
    )
    # What looks like the log's own lines, inside a statement.
    run(
        "looks_alike",
        f"SELECT 'one\n# Query of mine: {number}\nuse nothing;\nSET timestamp=1;\nlast' AS looks_alike",
    )
    run(
        "written",
        b"INSERT INTO sales /* written */ (item, n, at) VALUES (1, 2, NOW()), (%d, 3, NOW())" % number,
    )
    run(
        "raw",
        b"UPDATE items SET note = _binary'\x00\xff\xfe\x80\\'\n\x1a' WHERE id = %d /* raw */" % (number + 1),
    )
    run("스캔", f"SELECT id AS 스캔 FROM items WHERE name = '항목 {number}' LIMIT 1")
    run("joined", "SELECT i.id AS joined FROM items i JOIN sales s ON s.item = i.id GROUP BY i.id LIMIT 4")
    run("grouped", "SELECT kind AS grouped, COUNT(*), SUM(price) FROM items GROUP BY kind ORDER BY 2 DESC")
    run(
        "nested",
        f"SELECT id AS nested FROM items WHERE price > (SELECT AVG(price) FROM items WHERE kind = {number})",
    )
    run("removed", f"DELETE FROM sales WHERE id < -{number} AND n <> 7 /* removed */")
    run("slept", "SELECT SLEEP(0.02) AS slept")
    run("missing", "SELECT missing FROM no_such_table", fails=True)
    run(
        "prepared_one FROM",
        f"PREPARE prepared_one FROM 'SELECT id AS executed FROM items WHERE kind = ? LIMIT {number}'",
    )
    with client.connection.cursor() as cursor:
        cursor.execute(f"SET @kind = {number}")
        cursor.execute("EXECUTE prepared_one USING @kind")
        cursor.execute("DEALLOCATE PREPARE prepared_one")
    table = f"extra_{client.user[0]}_{number}"
    run("created", f"CREATE TABLE {table} (id INT) /* created */")
    run("altered", f"ALTER TABLE {table} ADD COLUMN altered INT")
    run("analysed", "ANALYZE TABLE items /* analysed */")
    run("dropped", f"DROP TABLE {table} /* dropped */")


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def logged(server: RunningServer) -> Path:
    """Where the server writes its slow log."""
    name = Path(server.variables()["slow_query_log_file"])
    return name if name.is_absolute() else server.datadir / name


def set_globals(server: RunningServer, values: Mapping[str, str]) -> None:
    """In the order given."""
    with server.connect() as connection, connection.cursor() as cursor:
        for name, value in values.items():
            number = value.isdigit()
            cursor.execute(f"SET GLOBAL {name} = {int(value) if number else repr(value)}")
