"""Whatever a server does, a client ends in time, in little memory, with one error, and keeps the password."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pymysql
import pytest

from mydyno.core.secrets import Secret
from mydyno.server.access.login import Login
from server.access.hostile_client import PASSWORD
from server.access.hostile_server import MODES, HostileServer, hostile_server

SECONDS = 0.3
"""The deadlines where only they end it. The others are as long as a user's."""
SLACK = 20.0
"""Seconds that reading takes on a busy machine: a client without bounds never ends."""
MOST_MB = 300
UNDERSTOOD = {
    "unknown character set",
    "NULL everywhere",
    "one NULL",
    "binary text",
    "no rows",
    "answer without columns",
    "many columns",
}
"""Answers that keep the protocol: what they lack is for the one who asked to find out."""


@dataclass(frozen=True)
class End:
    seconds: float
    error: list[object] | None
    peak_mb: float
    heard: list[bytes]


@pytest.fixture(scope="module")
def ends() -> Iterator[dict[str, End]]:
    """How a client ended with a server of each mode: all in one process, the worst for its memory."""
    with ExitStack() as stack:
        servers: dict[str, HostileServer] = {
            name: stack.enter_context(hostile_server(mode)) for name, mode in MODES.items()
        }
        child = subprocess.run(
            [sys.executable, "-m", "server.access.hostile_client"],
            input=json.dumps(
                {
                    name: (server.port, SECONDS if MODES[name].slow else None)
                    for name, server in servers.items()
                }
            ),
            capture_output=True,
            text=True,
            cwd=Path(__file__).parents[2],
            timeout=200,
        )
        assert child.returncode == 0, child.stderr
        assert child.stderr == ""
        lines = [json.loads(line) for line in child.stdout.splitlines()]
        yield {
            line["mode"]: End(line["seconds"], line["error"], line["peak_mb"], servers[line["mode"]].heard)
            for line in lines
        }


@pytest.mark.parametrize("mode", MODES)
def test_a_client_lives_through_a_server_of_every_mode(mode: str, ends: dict[str, End]) -> None:
    end = ends[mode]
    assert end.seconds < SLACK
    assert end.peak_mb < MOST_MB
    assert not any(PASSWORD.encode() in packet for packet in end.heard)
    if mode in UNDERSTOOD:
        assert end.error is None
        return
    assert end.error is not None
    number, said = end.error[:2]
    assert isinstance(number, int)
    assert isinstance(said, str)
    assert said.strip()
    assert said.isprintable()
    assert len(said) < 1200


@pytest.mark.parametrize("mode", [name for name, mode in MODES.items() if mode.slow])
def test_a_server_that_does_not_go_on_is_given_up_when_the_time_is_over(
    mode: str, ends: dict[str, End]
) -> None:
    error = ends[mode].error
    assert error is not None
    assert str(error[1]).endswith(f"within {SECONDS:g} s")


def test_a_connection_that_was_ended_says_why_when_it_is_used_again() -> None:
    with hostile_server(MODES["text for numbers"]) as server:
        login = Login("root", Secret(PASSWORD), host="127.0.0.1", port=server.port)
        with login.connect() as connection, connection.cursor() as cursor:
            said = []
            for _ in range(2):
                with pytest.raises(pymysql.OperationalError) as caught:
                    cursor.execute("SELECT 1")
                said.append(caught.value.args)
    assert said[0] == said[1]
    assert "is not of the MySQL protocol" in said[1][1]
