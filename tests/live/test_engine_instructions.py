"""How many instructions a query costs the engine in user space: a count, which a busy machine leaves alone.

The server is a thread that answers at once; the difference of two loads leaves out starting and ending.
Counted is the thread that drives the connections: another one samples the machine once a second, which costs
more the longer a busy machine takes. After a change that is worth its cost, record the new figures:

    MYDYNO_RECORD_INSTRUCTIONS=1 pytest tests/live/test_engine_instructions.py
"""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from server.access.hostile_server import EOF, Client, HostileServer, Mode, column, hostile_server, text

from live.programs import program, send, transaction, value
from mydyno.machine.programs import find_program

RECORDED = Path(__file__).parents[1] / "fixtures" / "engine" / "instructions.json"
RECORD = "MYDYNO_RECORD_INSTRUCTIONS"
MOST_GROWTH = 0.10
FEW, MANY = 500, 20_500
"""Queries of the two loads. Starting and ending vary by a million instructions: 50 for each further query."""
PREPARE, EXECUTE, CLOSE = 0x16, 0x17, 0x19
ROW = text(b"x" * 120)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("valgrind") is None, reason="valgrind, which counts instructions, is not installed"
    ),
]


def answer(client: Client, command: int) -> None:
    """A row of 120 characters or two definitions, in one piece: the engine reads once for each query."""
    if command == CLOSE:
        return
    payloads = {
        PREPARE: (b"\0\1\0\0\0\1\0\1\0\0\0\0", column("p"), EOF, column("c"), EOF),
        EXECUTE: (b"\1", column("c"), EOF, b"\0\0" + ROW, EOF),
    }.get(command, (b"\1", column("c"), EOF, ROW, EOF))
    client.raw(
        b"".join(
            struct.pack("<I", len(payload))[:3] + bytes([number]) + payload
            for number, payload in enumerate(payloads, start=1)
        )
    )


def instructions(queries: int, prepared: bool, folder: Path) -> dict[str, int]:
    """What each thread of one load executes in user space."""
    servers: list[HostileServer] = []
    mode = Mode(answers=lambda client: answer(client, servers[0].heard[-1][0]))
    point = send("point", "SELECT c FROM t WHERE id = ", value(["uniform", 1, 1000]))
    with hostile_server(mode) as server:
        servers.append(server)
        job = {
            "protocol": 3,
            "target": {"host": "127.0.0.1", "port": server.port, "user": "u", "database": "d"},
            "workload": program(prepared=prepared, transactions=transaction(point)),
            "phases": [{"connections": 1, "work": {"kind": "rounds", "rounds": queries}}],
            "reactors": 1,
            "interval_s": 3600,
        }
        done = subprocess.run(
            [
                *("valgrind", "--tool=callgrind", "--separate-threads=yes"),
                f"--callgrind-out-file={folder / str(queries)}",
                *(find_program("mydyno-engine"), "run"),
            ],
            input=json.dumps(job),
            capture_output=True,
            text=True,
            check=True,
        )
    [end] = [
        message for message in map(json.loads, done.stdout.splitlines()) if message["type"] == "phase_end"
    ]
    assert end["transactions"]["count"] == queries
    assert end["errors"] == {}
    totals = {
        file.name: re.findall(r"^totals: (\d+)$", file.read_text(), re.MULTILINE)
        for file in folder.glob(f"{queries}-*")
    }
    assert all(totals.values()), done.stderr
    return {name.removeprefix(f"{queries}-"): int(total) for name, [total] in totals.items()}


def per_query(prepared: bool, folder: Path) -> float:
    few, many = (instructions(queries, prepared, folder) for queries in (FEW, MANY))
    return max(many[thread] - few[thread] for thread in few) / (MANY - FEW)


@pytest.mark.parametrize("way", ["text", "prepared"])
def test_a_query_costs_at_most_a_tenth_more_instructions_than_recorded(way: str, tmp_path: Path) -> None:
    found = round(per_query(way == "prepared", tmp_path))
    recorded = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    if os.environ.get(RECORD):
        RECORDED.write_text(json.dumps(recorded | {way: found}, indent=2, sort_keys=True) + "\n")
        pytest.skip(f"recorded {found} instructions per query, {way}")
    assert found <= recorded[way] * (1 + MOST_GROWTH), f"{found} instructions per query, {way}"
