"""`mydyno digest` beside a running server: its slow log, its performance_schema, its plans."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from live.conftest import Start
from mydyno.cli.main import app
from mydyno.core.errors import ServerError
from mydyno.lab.stack import RunningServer
from mydyno.queries.comparison import Comparison
from mydyno.queries.records import Digest
from mydyno.queries.saved import to_json

pytestmark = pytest.mark.live

TABLES = (
    "CREATE DATABASE shop",
    "CREATE TABLE shop.digits (d INT PRIMARY KEY)",
    "INSERT INTO shop.digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)",
    "CREATE TABLE shop.customer (id INT PRIMARY KEY, email VARCHAR(80))",
    "INSERT INTO shop.customer SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d,"
    " CONCAT('user', a.d + 10 * b.d + 100 * c.d + 1000 * e.d)"
    " FROM shop.digits a, shop.digits b, shop.digits c, shop.digits e",
    "ANALYZE TABLE shop.customer",
)
ROWS = "SELECT id, id FROM shop.customer"
CALLS = 60
LOOKUP = "select id from customer where email = ?"


def run(*arguments: str) -> str:
    answer = CliRunner().invoke(app, ["digest", *arguments])
    if answer.exception is not None:
        raise answer.exception
    return answer.stdout


def asked(server: RunningServer, *statements: str) -> None:
    with server.connect() as connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
            cursor.fetchall()


def logged(server: RunningServer, name: str) -> str:
    """A slow log of lookups, written by the server."""
    log = server.datadir / name
    on = (f"SET GLOBAL slow_query_log_file = '{log}'", "SET GLOBAL slow_query_log = ON")
    lookups = (f"SELECT id FROM customer WHERE email = 'user{number}'" for number in range(CALLS))
    # In MariaDB a session keeps what was on when it began.
    asked(server, *on)
    asked(server, "SET long_query_time = 0", "USE shop", *lookups, "SET GLOBAL slow_query_log = OFF")
    return str(log)


@pytest.mark.parametrize("name", ["mariadb-10.11", pytest.param("mysql-9.7", marks=pytest.mark.slow)])
def test_a_slow_statement_is_found_explained_given_an_index_and_shown_to_be_faster(
    start_release: Callable[[str], Start], name: str, tmp_path: Path
) -> None:
    server = start_release(name)({"performance_schema": "ON"})
    asked(server, *TABLES)
    secret = tmp_path / "secret"
    secret.write_text(server.login.password.reveal())
    reach = ("--server", str(server.socket), "--password-file", str(secret))

    slow = logged(server, "slow.log")
    found = Digest.model_validate_json(run(slow, *reach, "--json"))
    group = next(each for each in found.groups if each.fingerprint == LOOKUP)
    assert group.count == CALLS
    assert group.plan is not None
    assert [row.type for row in group.plan.rows] == ["ALL"]
    (candidate,) = found.candidates
    assert candidate.columns == ("email",)

    # A fingerprint has the table in lower case; the server knows it by its own name.
    folded = tmp_path / "folded.json"
    bare = group.model_copy(update={"example": None, "fingerprint": "select v from mixed where v = ?"})
    asked(server, "CREATE TABLE shop.Mixed (id INT PRIMARY KEY, V INT)", f"INSERT INTO shop.Mixed {ROWS}")
    asked(server, "ANALYZE TABLE shop.Mixed")
    folded.write_text(to_json(found.model_copy(update={"groups": (bare,), "candidates": ()})))
    (of_mixed,) = Digest.model_validate_json(run(str(folded), *reach, "--json")).candidates
    assert (of_mixed.table, of_mixed.columns) == ("Mixed", ("V",))

    text = run(slow, *reach)
    assert "      ^ reads the whole table\n" in text
    # A statement may take several lines, as SQL can.
    assert f"1. {candidate.statement} " in " ".join(text.split())

    of_server = Digest.model_validate_json(run(*reach, "--json"))
    assert [each.count for each in of_server.groups if each.id == group.id] == [CALLS]

    asked(server, "SET GLOBAL log_output = 'TABLE'")
    logged(server, "none.log")
    asked(server, "SET GLOBAL log_output = 'FILE'")
    of_table = Digest.model_validate_json(run(*reach, "--from-table", "--json"))
    assert [each.count for each in of_table.groups if each.id == group.id] == [CALLS]
    assert of_table.sources[0].name.startswith("mysql.slow_log of ")

    asked(server, candidate.statement)
    quick = logged(server, "quick.log")
    changed = Comparison.model_validate_json(run("--compare", slow, quick, "--json"))
    assert [each.times for each in changed.changes if each.id == group.id] == ["faster"]

    secret.write_text("another")
    with pytest.raises(ServerError, match="Access denied"):
        run(quick, *reach)
    secret.write_text(server.login.password.reveal())
    again = Digest.model_validate_json(run(quick, *reach, "--json"))
    assert again.candidates == ()
