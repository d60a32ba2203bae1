"""Every command that speaks to a server ends in time, in little memory, with one error, whatever it meets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from apply.builders import advice, finding
from server.access.hostile_client import PASSWORD as WORD
from server.access.hostile_server import MODES, hostile_server

from mydyno.apply.change import SetVariable
from mydyno.core.errors import ExitCode

SECONDS = 0.3
"""The deadlines where only they end it. The others are as long as a user's."""
MOST_SECONDS = 30.0
"""Connecting has 10 s and an answer 30 s: none of the other modes may come to a deadline of a user's."""
MOST_MB = 300
MOST_CHARACTERS = 4000
WHOLE = "MYDYNO_HOSTILE_WHOLE"
"""Set: every command with every mode after each number of good answers. Else each mode with one command."""
GOOD_ANSWERS = (0, 1, 4, 9)
"""So many statements are answered well before the mode begins."""
BATCH = 100
"""Commands of one process: each has a server, all of which listen at a time."""

ADVISED = "MySQL 8.0.40 at /run/mysqld/mysqld.sock"
LOG = """# Time: 2026-01-02T03:04:05.000006Z
# User@Host: app[app] @  [10.0.0.1]  Id:     7
# Query_time: 1.5  Lock_time: 0.0 Rows_sent: 1  Rows_examined: 100
use shop;
SET timestamp=1767323045;
SELECT * FROM t WHERE a = 1;
"""
EXPERIMENT = """
experiment: hostile
setup: {server: {external: {host: 127.0.0.1, port: PORT, user: root, password_file: PASSWORD}}}
factors: {server.config.long_query_time: [1, 2]}
workload:
  oltp-read-only: {tables: 1, table_size: 100}
  connections: [1]
  each: {warmup: 0s, measure: 100ms}
"""
PASSWORD = ("--password-file", "word")
COMMANDS = {
    "facts": ("facts", "--server", "DSN", *PASSWORD, "--for", "0", "--ssh", "none"),
    "advise": ("advise", "--server", "DSN", *PASSWORD, "--for", "0", "--ssh", "none"),
    "rules": ("rules", "show", "redo-capacity", "--server", "DSN", *PASSWORD, "--for", "0", "--ssh", "none"),
    "digest of performance_schema": ("digest", "--server", "DSN", *PASSWORD),
    "digest of a table": ("digest", "--from-table", "--server", "DSN", *PASSWORD),
    "digest with plans": ("digest", "slow.log", "--explain", "1", "--server", "DSN", *PASSWORD),
    "slowlog": ("slowlog", "--for", "1s", "--server", "DSN", *PASSWORD, "--ssh", "none"),
    "apply": ("apply", "advice.json", "--server", "DSN", *PASSWORD, "--dry-run"),
    "load": (
        *("load", "oltp-read-only", "--host", "127.0.0.1", "--port", "PORT", *PASSWORD),
        *("--seconds", "0.1", "--query-timeout", "1"),
    ),
    "plan": ("plan", "experiment.yaml", "--lab", "LAB"),
    "run": ("run", "experiment.yaml", "--lab", "LAB"),
}


@dataclass(frozen=True)
class Meeting:
    """A command that meets a server of a mode, after so many good answers of that server."""

    command: str
    mode: str
    good_answers: int

    def __str__(self) -> str:
        return f"{self.command}, {self.mode}, after {self.good_answers}"


@dataclass(frozen=True)
class End:
    seconds: float
    code: int
    output: str
    errors: str
    peak_mb: float


HEAVY = "row that grows in memory"


def chosen() -> Iterator[Meeting]:
    if not os.environ.get(WHOLE):
        yield from (Meeting(command, HEAVY, count) for command in COMMANDS for count in (0, 4))
    for number, mode in enumerate(MODES):
        counts = GOOD_ANSWERS if MODES[mode].answers else (0,)
        if os.environ.get(WHOLE):
            yield from (Meeting(command, mode, count) for command in COMMANDS for count in counts)
        elif mode != HEAVY:
            turn, place = divmod(number, len(COMMANDS))
            yield Meeting(list(COMMANDS)[place], mode, counts[turn % len(counts)])


MEETINGS = list(chosen())


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> dict[Meeting, End]:
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "slow.log").write_text(LOG)
    (folder / "word").write_text(WORD)
    change = SetVariable(name="innodb_io_capacity", value="2000", was="100", restart=False)
    advised = advice(finding("io-capacity", change)).model_copy(update={"server": ADVISED})
    (folder / "advice.json").write_text(advised.to_json())
    return {
        meeting: end
        for batch in (MEETINGS[at : at + BATCH] for at in range(0, len(MEETINGS), BATCH))
        for meeting, end in zip(batch, run(batch, folder), strict=True)
    }


def run(meetings: Sequence[Meeting], folder: Path) -> list[End]:
    """How each ended: all in one process, the worst for its memory."""
    runs = []
    with ExitStack() as servers:
        for meeting in meetings:
            mode = MODES[meeting.mode]
            port = servers.enter_context(hostile_server(mode, meeting.good_answers)).port
            runs.append((arguments(meeting.command, port, folder), SECONDS if mode.slow else None))
        child = subprocess.run(
            [sys.executable, "-m", "cli.hostile_commands"],
            input=json.dumps(runs),
            capture_output=True,
            text=True,
            cwd=Path(__file__).parents[1],
            env=os.environ | {"MYDYNO_STATE": str(folder / "state")},
            timeout=MOST_SECONDS * len(meetings),
        )
    assert child.returncode == 0, child.stderr
    assert child.stderr == ""
    return [End(**json.loads(line)) for line in child.stdout.splitlines()]


def arguments(command: str, port: int, folder: Path) -> list[str]:
    place = Path(tempfile.mkdtemp(dir=folder))
    (place / "experiment.yaml").write_text(
        EXPERIMENT.replace("PORT", str(port)).replace("PASSWORD", str(folder / "word"))
    )
    words = {
        "DSN": f"mysql://root@127.0.0.1:{port}",
        "PORT": str(port),
        "word": str(folder / "word"),
        "slow.log": str(folder / "slow.log"),
        "advice.json": str(folder / "advice.json"),
        "experiment.yaml": str(place / "experiment.yaml"),
        "LAB": str(place / "lab"),
    }
    return [words.get(each, each) for each in COMMANDS[command]]


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("meeting", MEETINGS, ids=str)
def test_a_command_ends_in_time_and_memory_with_one_error(meeting: Meeting, ends: dict[Meeting, End]) -> None:
    end = ends[meeting]
    assert end.seconds < MOST_SECONDS
    assert end.peak_mb < MOST_MB
    assert end.code in list(ExitCode), end.errors
    assert "Traceback" not in end.output + end.errors
    assert len(end.errors) < MOST_CHARACTERS, end.errors
    if end.code != ExitCode.DONE:
        assert end.errors.count("mydyno: ") == 1, end.errors
