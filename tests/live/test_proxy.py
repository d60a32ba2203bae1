"""The engine through a proxy that shares the server's connections and refuses LOAD DATA LOCAL."""

from __future__ import annotations

from pathlib import Path

import pytest
from server.access.certificates import make_certificates

from live.conftest import Start
from live.engine import Record, phase, rounds, run
from live.proxy import proxy

pytestmark = pytest.mark.live

ROWS, CLIENTS, ROUNDS = 3000, 6, 20


def workload(prepared: bool) -> Record:
    """A transaction that counts its rounds, and a select outside of it."""

    def send(name: str, *sql: object) -> Record:
        return {"send": {"name": name, "sql": list(sql)}}

    some = {"value": ["uniform", 1, ROWS]}
    return {
        "program": {
            "name": "accounts",
            "prepared": prepared,
            "tables": [
                {
                    "name": "accounts",
                    "create": "CREATE TABLE accounts (id INT PRIMARY KEY, n INT NOT NULL, t VARCHAR(99))",
                    "columns": ["id", "n", "t"],
                    "rows": ROWS,
                    "row": [["row"], 0, ["concat", "a\t", ["row"]]],
                }
            ],
            "transactions": [
                {
                    "name": "add",
                    "steps": [
                        send("begin", "BEGIN"),
                        send("update", "UPDATE accounts SET n = n + 1 WHERE id = ", some),
                        send("commit", "COMMIT"),
                        send(
                            "select",
                            "SELECT n, t FROM accounts WHERE id = ",
                            some,
                            " AND t <> ",
                            {"value": "x"},
                        ),
                    ],
                }
            ],
        }
    }


@pytest.mark.parametrize("prepared", [False, True])
@pytest.mark.parametrize("encrypted", [False, True])
def test_tables_are_filled_and_loaded_through_a_proxy(
    start: Start, lab: Path, prepared: bool, encrypted: bool
) -> None:
    make_certificates(lab)
    server = start({"local_infile": True})
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE bench")
    with proxy(server, lab, connections=3) as (through, port):
        place: Record = {"host": "127.0.0.1", "port": port, "user": "u", "password": "", "database": "bench"}
        if encrypted:
            place["tls"] = {"mode": "verify-identity", "ca": str(lab / "ca.pem")}
        done = run(
            {
                "protocol": 3,
                "target": place,
                "workload": workload(prepared),
                "prepare": "create",
                "phases": [phase(CLIENTS, rounds(ROUNDS))],
            }
        )
    assert done.exit_code == 0, done.text
    end = done.the("phase_end")
    assert not end["errors"], end["error_examples"]
    assert end["transactions"]["count"] == CLIENTS * ROUNDS
    assert end["statements"]["select"]["rows"] == CLIENTS * ROUNDS
    assert through.refused > 0
    assert through.moved > CLIENTS, "statements went over several connections of the server"
    assert (through.encrypted > CLIENTS) == encrypted
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*), SUM(n), SUM(t = CONCAT('a\t', id)) FROM bench.accounts")
        assert cursor.fetchone() == (ROWS, CLIENTS * ROUNDS, ROWS)
        cursor.execute("SHOW GLOBAL STATUS LIKE 'Com_load'")
        assert cursor.fetchall() == (("Com_load", "0"),)
