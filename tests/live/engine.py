"""Running the real engine in live tests: jobs as the engine reads them, messages as it writes them."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from mydyno.lab.stack import RunningServer
from mydyno.machine.programs import find_program

Record = dict[str, Any]

ROWS = 2000


@dataclass(frozen=True)
class Run:
    """What one engine said: its messages in order, and how the process ended."""

    messages: list[Record]
    exit_code: int
    text: str

    def of(self, kind: str) -> list[Record]:
        return [message for message in self.messages if message["type"] == kind]

    def the(self, kind: str) -> Record:
        [message] = self.of(kind)
        return message

    @property
    def kinds(self) -> list[str]:
        return [message["type"] for message in self.messages]


def target(server: RunningServer, *, tcp: bool = False) -> Record:
    where: Record = {"host": "127.0.0.1", "port": server.port} if tcp else {"socket": str(server.socket)}
    return {
        **where,
        "user": server.login.user,
        "password": server.login.password.reveal(),
        "database": "engine_test",
    }


def job(server: RunningServer, workload: Record, *phases: Record, **more: Any) -> Record:
    return {
        "protocol": 3,
        "target": target(server),
        "workload": workload,
        "prepare": "if-missing",
        "phases": list(phases),
        **more,
    }


def phase(connections: int, work: Record, **more: Any) -> Record:
    return {"connections": connections, "work": work, **more}


def rounds(count: int) -> Record:
    return {"kind": "rounds", "rounds": count}


def timed(measure_s: float, warmup_s: float = 0.0) -> Record:
    return {"kind": "timed", "warmup_s": warmup_s, "measure_s": measure_s}


def start(job: Record) -> subprocess.Popen[str]:
    """An engine that has been given its job and goes on by itself."""
    process = subprocess.Popen(
        [find_program("mydyno-engine"), "run"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(job))
    process.stdin.close()
    return process


def finish(process: subprocess.Popen[str], said: str = "") -> Run:
    """Listens to the end; `said` is what was read from it before."""
    assert process.stdout is not None
    text = said + process.stdout.read()
    process.stdout.close()
    code = process.wait(timeout=30)
    return Run([json.loads(line) for line in text.splitlines()], code, text)


def listen_until(process: subprocess.Popen[str], kind: str, **fields: Any) -> str:
    """What the engine says up to the first message of a kind that has these fields."""
    assert process.stdout is not None
    said = ""
    for line in process.stdout:
        said += line
        message = json.loads(line)
        if message["type"] == kind and fields.items() <= message.items():
            return said
    raise AssertionError(f"the engine ended without saying {kind} {fields}: {said}")


def run(job: Record) -> Run:
    return finish(start(job))


@contextmanager
def counting(server: RunningServer) -> Iterator[dict[str, int]]:
    """How often each kind of statement was run by others meanwhile: `Com_*` without the prefix."""
    before = server.status()
    counts: dict[str, int] = {}
    yield counts
    after = server.status()
    for name, value in after.items():
        if name.startswith("Com_") and int(value) != int(before[name]):
            counts[name.removeprefix("Com_")] = int(value) - int(before[name])
    counts["show_status"] -= 1


def once_under_load(server: RunningServer, act: Callable[[], object], seconds: float = 60.0) -> None:
    """Does `act`, in another thread, when somebody else has sent the server a hundred SELECTs."""

    def selects() -> int:
        return int(server.status()["Com_select"])

    def watch() -> None:
        deadline = time.monotonic() + seconds
        while selects() < before + 100 and time.monotonic() < deadline:
            time.sleep(0.02)
        act()

    before = selects()
    threading.Thread(target=watch, daemon=True).start()


def ask(server: RunningServer, sql: str) -> list[tuple[Any, ...]]:
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute(sql)
        return list(cursor.fetchall())
