"""Programs for live tests: the stock scripts of super-smack 1.3, the OLTP scripts of sysbench 1.0.20."""

from __future__ import annotations

from typing import Any

from live.engine import ROWS, Record

C = ["pattern", "-".join(["#" * 11] * 10)]
PAD = ["pattern", "-".join(["#" * 11] * 5)]
LETTERS = "abcdefghijklmnopqrstuvwxy"
DISTRIBUTIONS: dict[str, tuple[str, list[float]]] = {
    "special": ("special", [12, 1, 75]),
    "gaussian": ("gaussian", [12]),
    "uniform": ("uniform", []),
}


def program(**keys: Any) -> Record:
    return {"program": {"name": "test", **keys}}


def send(name: str, *sql: Any, **more: Any) -> Record:
    return {"send": {"name": name, "sql": list(sql), **more}}


def value(expression: Any) -> Record:
    return {"value": expression}


def transaction(*steps: Record) -> list[Record]:
    return [{"name": "transaction", "steps": list(steps)}]


def smack(scenario: str = "select-key", *, rows: int = ROWS, prepared: bool = False) -> Record:
    word = value(["pick", "word"])
    select = send("select_index", "select * from http_auth where username = ", word)
    update = send("update_index", "update http_auth set pass = ", word, " where username = ", word)
    table = {
        "name": "http_auth",
        "create": "create table http_auth (username char(25) not null primary key, pass char(25), "
        "uid integer not null, gid integer not null)",
        "columns": ["username", "pass", "uid", "gid"],
        "rows": rows,
        "row": [
            ["concat", ["letters", 12, 12, LETTERS], ["row"]],
            ["letters", 25, 25, LETTERS],
            ["row"],
            ["uniform", 0, 2**31 - 1],
        ],
    }
    return program(
        prepared=prepared,
        dictionaries={"word": {"column": {"table": "http_auth", "column": "username", "every": 10}}},
        tables=[table],
        transactions=transaction(*([select, select] if scenario == "select-key" else [select, update])),
    )


def sysbench(
    script: str,
    *,
    tables: int = 1,
    table_size: int = ROWS,
    distribution: str = "special",
    prepared: bool = False,
    skip_trx: bool = False,
) -> Record:
    name, parameters = DISTRIBUTIONS[distribution]
    return program(
        prepared=prepared,
        retry=[1213, 1205, 1020],
        values={"id": [name, 1, table_size, *parameters], "c": C, "pad": PAD},
        tables=[_sbtest(number, table_size) for number in range(1, tables + 1)],
        transactions=transaction(*_steps(script, tables, skip_trx)),
    )


def _sbtest(number: int, rows: int) -> Record:
    return {
        "name": f"sbtest{number}",
        "create": f"CREATE TABLE sbtest{number} (id INTEGER NOT NULL AUTO_INCREMENT, "
        "k INTEGER DEFAULT '0' NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, "
        "pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id))",
        "columns": ["id", "k", "c", "pad"],
        "rows": rows,
        "row": [["row"], ["draw", "id"], ["draw", "c"], ["draw", "pad"]],
        "then": [f"CREATE INDEX k_{number} ON sbtest{number} (k)"],
    }


def _steps(script: str, tables: int, skip_trx: bool) -> list[Record]:
    drawn = value(["draw", "id"])

    def group(*steps: Record, times: int = 1) -> list[Record]:
        """Statements on one table, chosen for all of them."""
        return [
            {"let": ["copy", ["uniform", 1, tables]]},
            {"repeat": {"times": times, "steps": list(steps)}},
        ]

    def statement(name: str, before: str, *after: Any) -> Record:
        return send(name, before, {"copy": True}, *after, copies=tables)

    def span(name: str, select: str, order: str = "") -> list[Record]:
        last = value(["+", ["var", "id"], 99])
        return group(statement(name, select, " WHERE id BETWEEN ", drawn, " AND ", last, order))

    point = statement("point_select", "SELECT c FROM sbtest", " WHERE id=", drawn)
    if script == "oltp_point_select":
        return group(point)
    reads = [
        *group(point, times=10),
        *span("simple_range", "SELECT c FROM sbtest"),
        *span("sum_range", "SELECT SUM(k) FROM sbtest"),
        *span("order_range", "SELECT c FROM sbtest", " ORDER BY c"),
        *span("distinct_range", "SELECT DISTINCT c FROM sbtest", " ORDER BY c"),
    ]
    row = value(["var", "row_id"])
    writes = [
        *group(statement("index_update", "UPDATE sbtest", " SET k=k+1 WHERE id=", drawn)),
        *group(
            statement(
                "non_index_update", "UPDATE sbtest", " SET c=", value(["draw", "c"]), " WHERE id=", drawn
            )
        ),
        *group(
            {"let": ["row_id", ["draw", "id"]]},
            statement("delete", "DELETE FROM sbtest", " WHERE id=", row),
            statement(
                *("insert", "INSERT INTO sbtest", " (id, k, c, pad) VALUES (", row, ", ", drawn, ", "),
                *(value(["draw", "c"]), ", ", value(["draw", "pad"]), ")"),
            ),
        ),
    ]
    steps = {"oltp_read_only": reads, "oltp_write_only": writes, "oltp_read_write": [*reads, *writes]}[script]
    return steps if skip_trx else [send("begin", "BEGIN"), *steps, send("commit", "COMMIT")]
