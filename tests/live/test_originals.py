"""The real sysbench and mysqlslap, and our copies, on one server: the general log of what both send.

What sql-bench sends is compared without a server (crates/engine/src/sqlbench/shapes).
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from live.engine import ask, job, phase, rounds, run
from live.general_log import sent
from mydyno.lab import workload
from mydyno.lab.load.job import Target
from mydyno.lab.load.slap import Settings
from mydyno.lab.load.slap import run as run_slap
from mydyno.lab.stack import RunningServer
from mydyno.lab.workload.slap import Options, OwnSql

pytestmark = pytest.mark.live

DATABASE = "engine_test"
SCHEMA = "slap_originals"
SYSBENCH = shutil.which("sysbench")
SLAP = shutil.which("mariadb-slap") or shutil.which("mysqlslap")
EVENTS = 3


@pytest.fixture
def options_file(server: RunningServer, tmp_path: Path) -> Iterator[Path]:
    """Where both programs read the way into the server from."""
    path = tmp_path / "client.cnf"
    path.touch(mode=0o600)
    password = server.login.password.reveal()
    path.write_text(f"[client]\nuser={server.login.user}\npassword='{password}'\nsocket={server.socket}\n")
    of_sysbench = path.with_name("sysbench.cnf")
    of_sysbench.touch(mode=0o600)
    of_sysbench.write_text(
        f"mysql-user={server.login.user}\nmysql-password={password}\nmysql-socket={server.socket}\n"
    )
    yield path
    ask(server, f"DROP DATABASE IF EXISTS {SCHEMA}")


def sysbench(options: Path, script: str, command: str, *more: str) -> None:
    assert SYSBENCH
    server = (f"--config-file={options.with_name('sysbench.cnf')}", f"--mysql-db={DATABASE}")
    subprocess.run(
        [SYSBENCH, script, *server, "--table-size=100", *more, command],
        check=True,
        capture_output=True,
        timeout=120,
    )


SCRIPTS = {
    "oltp-read-write": "oltp_read_write",
    "oltp-read-only": "oltp_read_only",
    "oltp-write-only": "oltp_write_only",
    "oltp-point-select": "oltp_point_select",
    "oltp-update-index": "oltp_update_index",
    "oltp-update-non-index": "oltp_update_non_index",
    "oltp-delete": "oltp_delete",
    "oltp-insert": "oltp_insert",
    "select-random-points": "select_random_points",
    "select-random-ranges": "select_random_ranges",
}


@pytest.mark.skipif(not SYSBENCH, reason="sysbench is not installed: apt-get install sysbench")
@pytest.mark.parametrize("prepared", [False, True], ids=["text", "prepared"])
def test_sysbench_and_its_copies_send_the_same_statements(
    server: RunningServer, options_file: Path, prepared: bool
) -> None:
    ask(server, f"CREATE DATABASE IF NOT EXISTS {DATABASE}")
    differing = {}
    for name, script in SCRIPTS.items():
        mode = f"--db-ps-mode={'auto' if prepared else 'disable'}"
        load = ("--threads=1", f"--events={EVENTS}", "--time=0", mode)
        ask(server, f"DROP TABLE IF EXISTS {DATABASE}.sbtest1")
        sysbench(options_file, script, "prepare")
        theirs = sent(server, DATABASE, lambda: sysbench(options_file, script, "run", *load))  # noqa: B023
        read = workload.read(name)
        options: dict[str, Any] = {"table_size": 100}
        if "prepared" in read.options.model_fields:
            # sysbench sends this one as text in either mode.
            options["prepared"] = prepared and script != "oltp_insert"
        program = {"program": read.resolve(options).program}
        made = run(job(server, program, prepare="create", drop_existing=True))
        assert made.the("done")["exit"] == "ok", made.text
        one = job(server, program, phase(1, rounds(EVENTS)), prepare="none")
        ours = sent(server, DATABASE, lambda: run(one))  # noqa: B023
        if ours != theirs:
            differing[name] = [pair for pair in zip_longest(ours, theirs) if pair[0] != pair[1]][:3]
        assert theirs, f"{script} sent nothing"
    assert differing == {}


GENERATED = ["--auto-generate-sql"]
OWN = OwnSql(queries=("SELECT 1", "SELECT 2 FROM DUAL", "SELECT 3 + 4"), create=())
SLAPS: dict[str, tuple[dict[str, Any], OwnSql | None, list[str]]] = {
    "the default": ({}, None, GENERATED),
    "writes": (
        {"load_type": "write", "execute_number": 25},
        None,
        [*GENERATED, "--auto-generate-sql-load-type=write", "--auto-generate-sql-execute-number=25"],
    ),
    "reads by key": (
        {"load_type": "key", "guid_primary": True, "queries": 20},
        None,
        [
            *(*GENERATED, "--auto-generate-sql-load-type=key", "--auto-generate-sql-guid-primary"),
            "--number-of-queries=20",
        ],
    ),
    "updates": (
        {"load_type": "update", "autoincrement": True, "execute_number": 12},
        None,
        [
            *(*GENERATED, "--auto-generate-sql-load-type=update", "--auto-generate-sql-add-autoincrement"),
            "--auto-generate-sql-execute-number=12",
        ],
    ),
    "several columns with indexes": (
        {"int_columns": 3, "int_indexes": True, "char_columns": 2, "secondary_indexes": 2},
        None,
        [
            *(*GENERATED, "--number-int-cols=3:1", "--number-char-cols=2"),
            "--auto-generate-sql-secondary-indexes=2",
        ],
    ),
    "transactions": (
        {"commit": 4, "execute_number": 10},
        None,
        [*GENERATED, "--commit=4", "--auto-generate-sql-execute-number=10"],
    ),
    "new connections": (
        {"detach": 4, "load_type": "write", "execute_number": 30},
        None,
        [
            *(*GENERATED, "--detach=4", "--auto-generate-sql-load-type=write"),
            "--auto-generate-sql-execute-number=30",
        ],
    ),
    "own statements": ({}, OWN, ["--query=SELECT 1;SELECT 2 FROM DUAL;SELECT 3 + 4", "--delimiter=;"]),
    "own statements several times": (
        {"queries": 8},
        OWN,
        ["--query=SELECT 1;SELECT 2 FROM DUAL;SELECT 3 + 4", "--delimiter=;", "--number-of-queries=8"],
    ),
}


@pytest.mark.skipif(not SLAP, reason="mariadb-slap is not installed: apt-get install mariadb-client")
def test_mysqlslap_and_its_copy_send_the_same_statements_and_print_the_same_line(
    server: RunningServer, options_file: Path
) -> None:
    target = Target(
        user=server.login.user, password=server.login.password, database=SCHEMA, socket=server.socket
    )
    differing = {}
    for name, (options, own, arguments) in SLAPS.items():
        lines: list[str] = []

        def original() -> None:
            assert SLAP
            # Without a schema of its own mysqlslap ends when it only has own statements.
            ask(server, f"CREATE DATABASE IF NOT EXISTS {SCHEMA}")
            done = subprocess.run(
                [SLAP, f"--defaults-file={options_file}", f"--create-schema={SCHEMA}", "--csv", *arguments],  # noqa: B023
                check=True,
                capture_output=True,
                text=True,
                timeout=120,
            )
            lines.append(done.stdout.strip())  # noqa: B023

        def copy() -> None:
            settings = Settings(options=Options(**options), own=own, csv=True)  # noqa: B023
            run_slap(target, settings, lambda kind, text: lines.append(text) if kind == "output" else None)  # noqa: B023

        theirs, ours = (sent(server, SCHEMA, one) for one in (original, copy))
        assert theirs, f"{name}: mysqlslap sent nothing"
        if ours != theirs:
            differing[name] = [pair for pair in zip_longest(ours, theirs) if pair[0] != pair[1]][:3]
        # Engine, load type, seconds, clients, queries of a client.
        their_line, our_line = (line.split(",") for line in lines)
        assert (our_line[:2], our_line[5:]) == (their_line[:2], their_line[5:]), name
    assert differing == {}
