"""Every command that speaks to a server ends in time, in little memory, with one error, whatever it meets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from apply.builders import advice_file, finding
from stack.server.hostile_server import MODES, hostile_server

from mydyno.advise.change import SetVariable
from mydyno.core.errors import ExitCode

SECONDS = 0.3
MOST_MB = 300
WHOLE = "MYDYNO_TEST_HOSTILE_WHOLE"
"""Set: every command with every mode, some minutes. Else every mode with one command, and every command."""
GOOD_ANSWERS = (0, 1, 4, 9)
"""So many statements are answered well before the mode begins."""

LOG = """# Time: 2026-01-02T03:04:05.000006Z
# User@Host: app[app] @  [10.0.0.1]  Id:     7
# Query_time: 1.5  Lock_time: 0.0 Rows_sent: 1  Rows_examined: 100
use shop;
SET timestamp=1767323045;
SELECT * FROM t WHERE a = 1;
"""
EXPERIMENT = """
experiment: hostile
setup: {server: {external: {host: 127.0.0.1, port: PORT, user: root}}}
factors: {server.config.long_query_time: [1, 2]}
workload:
  oltp-read-only: {tables: 1, table_size: 100}
  connections: [1]
  each: {warmup: 0s, measure: 100ms}
"""
COMMANDS = {
    "facts": ("facts", "--server", "DSN", "--for", "0", "--host", "none"),
    "advise": ("advise", "--server", "DSN", "--for", "0", "--host", "none"),
    "explain": ("explain", "redo-capacity", "--server", "DSN", "--for", "0", "--host", "none"),
    "digest of performance_schema": ("digest", "--server", "DSN"),
    "digest of a table": ("digest", "--from-table", "--server", "DSN"),
    "digest with plans": ("digest", "slow.log", "--explain", "1", "--server", "DSN"),
    "slowlog": ("slowlog", "--for", "1s", "--server", "DSN", "--host", "none"),
    "apply": ("apply", "advice.json", "--server", "DSN", "--dry-run"),
    "load": ("load", "oltp-read-only", "--host", "127.0.0.1", "--port", "PORT", "--seconds", "0.1"),
    "load slap": ("load", "slap", "--host", "127.0.0.1", "--port", "PORT", "--seconds", "0.1"),
    "plan": ("plan", "experiment.yaml"),
    "run": ("run", "experiment.yaml"),
}
UNDERSTOOD = (ExitCode.DONE, ExitCode.FAILED)


def chosen() -> Iterator[tuple[str, str, int]]:
    for number, mode in enumerate(MODES):
        for place, command in enumerate(COMMANDS):
            if os.environ.get(WHOLE) or (number + place) % len(COMMANDS) == 0:
                for good in GOOD_ANSWERS if os.environ.get(WHOLE) else GOOD_ANSWERS[number % 4 :][:1]:
                    yield command, mode, good if MODES[mode].answers else 0


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], dict[str, Any]]:
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "slow.log").write_text(LOG)
    change = SetVariable(name="innodb_io_capacity", value="2000", was="100", restart=False)
    advice_file(folder / "advice.json", finding("io-capacity", change))
    runs = []
    with ExitStack() as stack:
        for command, mode, good in chosen():
            port = stack.enter_context(hostile_server(MODES[mode], good)).port
            place = folder / str(port)
            place.mkdir()
            (place / "experiment.yaml").write_text(EXPERIMENT.replace("PORT", str(port)))
            words = {
                "DSN": f"mysql://root@127.0.0.1:{port}",
                "PORT": str(port),
                "slow.log": str(folder / "slow.log"),
                "advice.json": str(folder / "advice.json"),
                "experiment.yaml": str(place / "experiment.yaml"),
            }
            arguments = [words.get(each, each) for each in COMMANDS[command]]
            if command in ("plan", "run"):
                arguments += ["--lab", str(place / "lab")]
            seconds = SECONDS if MODES[mode].slow else None
            runs.append({"mode": mode, "command": command, "arguments": arguments, "seconds": seconds})
        child = subprocess.run(
            [sys.executable, "-m", "cli.hostile_commands"],
            input=json.dumps(runs),
            capture_output=True,
            text=True,
            cwd=Path(__file__).parents[1],
            env=os.environ | {"MYDYNO_STATE": str(folder / "state")},
            timeout=3600,
        )
    lines = [json.loads(line) for line in child.stdout.splitlines()]
    assert child.returncode == 0, child.stderr
    return {(line["command"], line["mode"]): line for line in lines}


def test_x(ends):
    pass
