"""What the engine makes, replaces and refuses: tables of its own and those of others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from live.engine import Record, Run, ask, job, phase, rounds, run
from live.programs import program, send, transaction, value
from mydyno.lab.stack import RunningServer

pytestmark = pytest.mark.live


@pytest.fixture(autouse=True)
def _empty_database(server: RunningServer) -> Iterator[None]:
    ask(server, "DROP DATABASE IF EXISTS engine_test")
    ask(server, "CREATE DATABASE engine_test")
    yield
    ask(server, "DROP DATABASE IF EXISTS engine_test")


def fruits(rows: int = 5, **more: Any) -> Record:
    table = {
        "name": "fruits",
        "create": "CREATE TABLE fruits (id INT PRIMARY KEY, name VARCHAR(20))",
        "columns": ["id", "name"],
        "rows": rows,
        "row": [["row"], ["concat", "fruit-", ["row"]]],
        **more,
    }
    return program(tables=[table], transactions=transaction(send("count", "SELECT COUNT(*) FROM fruits")))


def prepare(server: RunningServer, how: str, workload: Record | None = None, **more: Any) -> Run:
    return run(job(server, workload or fruits(), phase(1, rounds(1)), prepare=how, **more))


def rows(server: RunningServer) -> list[tuple[Any, ...]]:
    return ask(server, "SELECT * FROM engine_test.fruits ORDER BY id")


MINE = [(1, "mine")]


def others_table(server: RunningServer, columns: str = "id INT PRIMARY KEY, name VARCHAR(20)") -> None:
    ask(server, f"CREATE TABLE engine_test.fruits ({columns})")
    ask(server, "INSERT INTO engine_test.fruits VALUES (1, 'mine')")


def test_a_table_that_mydyno_made_says_so_and_may_be_made_again(server: RunningServer) -> None:
    for how in ("create", "create", "if-missing"):
        assert prepare(server, how).the("prepared")["tables"] == [{"name": "fruits", "rows": 5}]
        assert rows(server) == [(number, f"fruit-{number}") for number in range(1, 6)]
    comment = "SELECT table_comment FROM information_schema.tables WHERE table_name = 'fruits'"
    assert ask(server, comment) == [("made by mydyno",)]


@pytest.mark.parametrize("how", ["create", "if-missing"])
def test_a_table_of_others_is_refused_and_nothing_is_dropped(server: RunningServer, how: str) -> None:
    others_table(server)
    second = {"name": "apples", "create": "CREATE TABLE apples (id INT)"}
    workload = fruits()
    workload["program"]["tables"].insert(0, second)
    assert (
        prepare(
            server, "create", program(tables=[second], transactions=transaction(send("s", "SELECT 1")))
        ).exit_code
        == 0
    )
    ask(server, "INSERT INTO engine_test.apples VALUES (7)")
    result = prepare(server, how, workload)
    fatal = result.the("fatal")
    assert (fatal["code"], result.exit_code) == ("not-ours", 3)
    assert fatal["message"] == "the table `fruits` in `engine_test` has 1 rows and was not made by mydyno"
    assert "--drop-existing" in fatal["hint"]
    assert rows(server) == MINE
    assert ask(server, "SELECT * FROM engine_test.apples") == [(7,)], "not even what is mydyno's own"


@pytest.mark.parametrize("how", ["create", "if-missing"])
def test_a_table_of_others_is_replaced_when_that_is_allowed(server: RunningServer, how: str) -> None:
    others_table(server)
    assert prepare(server, how, drop_existing=True).exit_code == 0
    assert len(rows(server)) == 5


def test_a_table_of_others_that_is_as_wanted_is_used(server: RunningServer) -> None:
    others_table(server)
    assert prepare(server, "if-missing", fruits(rows=1)).exit_code == 0
    assert prepare(server, "none").exit_code == 0
    assert rows(server) == MINE


@pytest.mark.parametrize("how", ["none", "if-missing"])
@pytest.mark.parametrize(
    "columns", ["id INT PRIMARY KEY, name VARCHAR(21)", "id INT PRIMARY KEY, title VARCHAR(20)"]
)
def test_a_table_with_other_columns_is_refused_with_both_lists(
    server: RunningServer, how: str, columns: str
) -> None:
    others_table(server, columns)
    result = prepare(server, how)
    fatal = result.the("fatal")
    assert (fatal["code"], result.exit_code) == ("bad-table", 3)
    assert "wanted id int(11), name varchar(20); found id int(11), " in fatal["message"]
    assert rows(server) == MINE
    assert [table for (table,) in ask(server, "SHOW TABLES FROM engine_test")] == ["fruits"]


def test_a_table_that_cannot_be_temporary_is_compared_by_its_names(server: RunningServer) -> None:
    create = "CREATE TABLE fruits (id INT PRIMARY KEY, name VARCHAR(20)) PARTITION BY HASH (id)"
    workload = fruits(create=create)
    assert prepare(server, "create", workload).exit_code == 0
    assert prepare(server, "if-missing", workload).exit_code == 0
    ask(server, "ALTER TABLE engine_test.fruits DROP COLUMN name")
    assert prepare(server, "if-missing", workload).the("fatal")["code"] == "bad-table"


def test_the_statements_after_the_rows_are_run(server: RunningServer) -> None:
    prepare(server, "create", fruits(then=["CREATE INDEX by_name ON fruits (name)"]))
    indexes = ask(server, "SHOW INDEX FROM engine_test.fruits")
    assert {row[2] for row in indexes} == {"PRIMARY", "by_name"}


def test_a_refused_statement_of_the_preparation_is_named(server: RunningServer) -> None:
    fatal = prepare(server, "create", fruits(then=["CREATE INDEX x ON fruits (nothing)"])).the("fatal")
    assert fatal["code"] == "sql"
    assert "CREATE INDEX x ON fruits (nothing)" in fatal["message"]


TEXT = 'it\'s \\ "quoted"\n\r\0\x1a ? äöü%_'


@pytest.mark.parametrize("prepared", [False, True])
def test_every_kind_of_value_arrives_as_it_was(server: RunningServer, prepared: bool) -> None:
    ask(
        server,
        "CREATE TABLE engine_test.kinds (i BIGINT, f DOUBLE, d DECIMAL(10,3), t TEXT CHARACTER SET utf8mb4,"
        " n INT, l LONGTEXT)",
    )
    values = [-(2**63), 0.1, ["decimal", -12345, 3], TEXT, None, ["times", 70000, "ab"]]
    parts: list[Any] = ["INSERT INTO kinds VALUES ("]
    for number, one in enumerate(values):
        parts += [", "] * (number > 0) + [value(one)]
    workload = program(prepared=prepared, transactions=transaction(send("insert", *parts, ")")))
    end = prepare(server, "none", workload).the("phase_end")
    assert end["errors"] == {}
    [row] = ask(server, "SELECT i, f, CAST(d AS CHAR), t, n, LENGTH(l) FROM engine_test.kinds")
    assert row == (-(2**63), 0.1, "-12.345", TEXT, None, 140000)


@pytest.fixture(params=["ON", "OFF"])
def local_infile(server: RunningServer, request: pytest.FixtureRequest) -> Iterator[str]:
    """Whether the server takes LOAD DATA LOCAL."""
    ask(server, f"SET GLOBAL local_infile = {request.param}")
    yield request.param
    ask(server, "SET GLOBAL local_infile = ON")


def loads(server: RunningServer) -> int:
    [(_, count)] = ask(server, "SHOW GLOBAL STATUS LIKE 'Com_load'")
    return int(count)


@pytest.mark.parametrize("charset", ["utf8mb4", "latin1", "utf16"])
def test_every_kind_of_value_is_loaded_as_it_is(
    server: RunningServer, local_infile: str, charset: str
) -> None:
    table = {
        "name": "kinds",
        "create": "CREATE TABLE kinds (id BIGINT PRIMARY KEY, f DOUBLE, d DECIMAL(10,3), t TEXT, "
        f"e ENUM('tab', 'cat'), n INT, b BIT(7)) CHARACTER SET {charset}",
        "columns": ["id", "f", "d", "t", "e", "n", "b"],
        "rows": 3000,
        "row": [
            ["+", -(2**63), ["row"]],
            0.1,
            ["decimal", -12345, 3],
            ["if", ["==", ["%", ["row"], 7], 0], "t\tä" + TEXT, "plain"],
            "cat",
            None,
            5,
        ],
    }
    for without in ("b", "none"):
        columns = [name for name in table["columns"] if name != without]
        row = [one for name, one in zip(table["columns"], table["row"], strict=True) if name != without]
        workload = program(
            tables=[{**table, "columns": columns, "row": row}],
            transactions=transaction(send("count", "SELECT COUNT(*) FROM kinds")),
        )
        before = loads(server)
        prepared = run(job(server, workload, phase(1, rounds(1)), prepare="create")).the("prepared")
        assert prepared["tables"] == [{"name": "kinds", "rows": 3000}]
        # BIT has no text in a file; every seventh row has letters that the others have not.
        assert (loads(server) > before) == (local_infile == "ON" and without == "b")
        found = ask(
            server,
            "SELECT MIN(id), MAX(id), SUM(f = 0.1), SUM(CAST(d AS CHAR) = '-12.345'), SUM(t = 'plain'), "
            "SUM(e = 'cat'), COUNT(n), MAX(b + 0) FROM engine_test.kinds",
        )
        bits = None if without == "b" else 5
        assert found == [(-(2**63) + 1, -(2**63) + 3000, 3000, 3000, 2572, 3000, 0, bits)]
        special = ask(server, "SELECT DISTINCT t FROM engine_test.kinds WHERE t <> 'plain'")
        assert special == [("t\tä" + TEXT,)]


@pytest.mark.usefixtures("local_infile")
@pytest.mark.parametrize(
    ("create", "error"),
    [
        ("id INT, name VARCHAR(20) PRIMARY KEY", "Duplicate entry"),
        ("id INT, name VARCHAR(3)", "for column .name. at row 1"),
    ],
)
def test_rows_that_do_not_fit_end_the_preparation(server: RunningServer, create: str, error: str) -> None:
    row = [["row"], ["concat", "same"]]
    fatal = prepare(server, "create", fruits(create=f"CREATE TABLE fruits ({create})", row=row)).the("fatal")
    assert fatal["code"] == "sql"
    assert re.search(error, fatal["message"])


def test_tables_that_refer_to_each_other_are_filled_in_their_order(server: RunningServer) -> None:
    parent = fruits(rows=500)["program"]["tables"][0] | {"rows": 500}
    child = {
        "name": "juices",
        "create": "CREATE TABLE juices (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES fruits (id))",
        "columns": ["id"],
        "rows": 500,
        "row": [["row"]],
    }
    workload = program(
        tables=[parent, child], transactions=transaction(send("count", "SELECT COUNT(*) FROM juices"))
    )
    prepared = prepare(server, "create", workload).the("prepared")
    assert prepared["tables"] == [{"name": "fruits", "rows": 500}, {"name": "juices", "rows": 500}]


@pytest.mark.parametrize("prepared", [False, True])
def test_a_statement_may_have_thousands_of_parameters(server: RunningServer, prepared: bool) -> None:
    parts: list[Any] = ["SELECT COUNT(*) FROM fruits WHERE id IN (0"]
    for _ in range(3000):
        parts += [",", value(["uniform", 1, 9])]
    workload = fruits()
    workload["program"] |= {"prepared": prepared, "transactions": transaction(send("in", *parts, ")"))}
    end = prepare(server, "create", workload).the("phase_end")
    assert (end["errors"], end["statements"]["in"]["rows"]) == ({}, 1)


def test_a_dictionary_holds_what_its_query_returns_before_the_load(server: RunningServer) -> None:
    workload = fruits()
    workload["program"] |= {
        "dictionaries": {
            "ids": {"query": "SELECT id FROM fruits WHERE id > 3"},
            "names": {"query": "SELECT name FROM fruits ORDER BY id"},
        },
        "transactions": transaction(
            send(
                "log", "INSERT INTO log VALUES (", value(["next", "ids"]), ", ", value(["next", "names"]), ")"
            )
        ),
    }
    ask(server, "CREATE TABLE engine_test.log (id INT, name VARCHAR(20))")
    result = run(job(server, workload, phase(1, rounds(3)), prepare="create"))
    assert result.the("phase_end")["errors"] == {}
    assert ask(server, "SELECT * FROM engine_test.log") == [(4, "fruit-1"), (5, "fruit-2"), (4, "fruit-3")]


def test_a_dictionary_without_a_word_ends_the_run(server: RunningServer) -> None:
    workload = fruits()
    workload["program"]["dictionaries"] = {"ids": {"query": "SELECT id FROM fruits WHERE id > 30"}}
    result = prepare(server, "create", workload)
    assert (result.the("fatal")["code"], result.exit_code) == ("sql", 3)
    assert "the dictionary ids is empty" in result.the("fatal")["message"]
