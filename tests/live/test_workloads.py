"""Every built-in workload and every example of the guide on a real server: what it counts, byte by byte.

One connection and one seed, so that no two statements meet.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from lab.workload.test_builtin import EVENTS
from lab.workload.test_docs import EXAMPLES, GUIDE

from live.engine import Record, ask, counting, job, phase, rounds, run
from mydyno.lab import workload
from mydyno.lab.stack import RunningServer

pytestmark = pytest.mark.live

ROUNDS = 10
SMALL: dict[str, Any] = {"table_size": 200, "rows": 400, "rows_per_insert": 50}
COM = {
    "SELECT": "select",
    "UPDATE": "update",
    "DELETE": "delete",
    "INSERT": "insert",
    "BEGIN": "begin",
    "COMMIT": "commit",
    "LOCK": "lock_tables",
    "UNLOCK": "unlock_tables",
}


def small(name: str, options: dict[str, Any]) -> workload.Resolved:
    """The workload with few rows, where it has tables."""
    read = workload.read(name)
    sizes = {key: value for key, value in SMALL.items() if key in read.options.model_fields}
    return read.resolve({**sizes, **options})


def prepare(server: RunningServer, resolved: workload.Resolved) -> None:
    done = run(job(server, {"program": resolved.program}, prepare="create", drop_existing=True))
    assert done.the("done")["exit"] == "ok", done.text


def drive(server: RunningServer, resolved: workload.Resolved, seed: int = 1) -> Record:
    one = phase(1, rounds(ROUNDS))
    return run(job(server, {"program": resolved.program}, one, prepare="none", seed=seed)).the("phase_end")


@pytest.mark.parametrize(("name", "options", "expected"), EVENTS, ids=[f"{n}-{o}" for n, o, _ in EVENTS])
def test_the_server_counts_the_statements_of_the_original(
    name: str, options: dict[str, Any], expected: dict[str, int], server: RunningServer
) -> None:
    resolved = small(name, options)
    prepare(server, resolved)
    with counting(server) as counts:
        end = drive(server, resolved)
    assert end["errors"] == {}, end["error_examples"]
    assert end["transactions"]["count"] == ROUNDS
    assert {kind: counts.get(COM[kind], 0) for kind in COM} == {
        kind: expected.get(kind, 0) * ROUNDS for kind in COM
    }


def logged(server: RunningServer, work: Callable[[], object]) -> list[str]:
    """The statements that the server was sent meanwhile, in order."""
    ask(server, "TRUNCATE mysql.general_log")
    ask(server, "SET GLOBAL log_output = 'TABLE'")
    ask(server, "SET GLOBAL general_log = 1")
    try:
        work()
    finally:
        ask(server, "SET GLOBAL general_log = 0")
    rows = ask(
        server,
        "SELECT argument FROM mysql.general_log WHERE command_type IN ('Query', 'Execute')"
        " AND argument NOT LIKE 'SET %' AND argument NOT LIKE 'SHOW %'",
    )
    return [sql.decode() if isinstance(sql, bytes) else sql for (sql,) in rows]


@pytest.mark.parametrize("name", [*workload.builtin_names()])
def test_two_runs_with_one_seed_send_the_same_bytes(name: str, server: RunningServer) -> None:
    tiny = {"districts": 2, "customers": 30, "orders": 30, "items": 100} if name == "order-entry" else {}
    resolved = small(name, tiny)
    sent = []
    for seed in (7, 7, 8):
        prepare(server, resolved)
        sent.append(logged(server, lambda: drive(server, resolved, seed)))  # noqa: B023
    one, again, other = sent
    assert one
    assert one == again
    # These two send what does not vary: a constant query, ids in their turn.
    assert (one != other) == (name not in ("connect-storm", "idle", "bulk-insert"))


@pytest.mark.parametrize(
    ("name", "options", "columns", "keys"),
    [
        (
            "oltp-read-write",
            {},
            ["id int(11) NO", "k int(11) NO", "c char(120) NO", "pad char(60) NO"],
            {"PRIMARY": "id", "k_1": "k"},
        ),
        (
            "oltp-read-write",
            {"secondary": True},
            ["id int(11) NO", "k int(11) NO", "c char(120) NO", "pad char(60) NO"],
            {"xid": "id", "k_1": "k"},
        ),
        (
            "oltp04",
            {},
            ["id int(10) unsigned NO", "k int(10) unsigned NO", "c char(120) NO", "pad char(60) NO"],
            {"PRIMARY": "id", "k": "k"},
        ),
        (
            "smack",
            {},
            ["username char(25) NO", "pass char(25) YES", "uid int(11) NO", "gid int(11) NO"],
            {"PRIMARY": "username"},
        ),
    ],
)
def test_the_tables_have_the_shape_of_the_originals(
    name: str, options: dict[str, Any], columns: list[str], keys: dict[str, str], server: RunningServer
) -> None:
    resolved = small(name, options)
    prepare(server, resolved)
    table = resolved.tables[0]
    where = f"table_schema = 'engine_test' AND table_name = '{table}'"
    found = ask(
        server,
        "SELECT column_name, column_type, is_nullable FROM information_schema.columns"
        f" WHERE {where} ORDER BY ordinal_position",
    )
    # MySQL 8 shows no display width.
    shown = [" ".join(row) for row in found]
    if "MariaDB" not in str(server.version):
        columns = [column.replace("(11)", "").replace("(10)", "") for column in columns]
    assert shown == columns
    indexes = ask(server, f"SELECT index_name, column_name FROM information_schema.statistics WHERE {where}")
    assert dict(indexes) == keys
    [(rows,)] = ask(server, f"SELECT COUNT(*) FROM engine_test.{table}")
    assert rows == resolved.rows


@pytest.mark.parametrize("text", EXAMPLES, ids=lambda text: text.split("\n")[0].removeprefix("workload: "))
def test_an_example_of_the_guide_runs_without_an_error(text: str, server: RunningServer) -> None:
    resolved = workload.reads(text, "workloads.md", GUIDE.parent).resolve({})
    prepare(server, resolved)
    end = drive(server, resolved)
    assert end["errors"] == {}, end["error_examples"]
    assert end["transactions"]["count"] == ROUNDS
