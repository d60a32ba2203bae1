"""The `mydyno` command for live tests, with a separate lab and temporary folder: in this process, which has
imported it, and as a child where the process is what is tested."""

from __future__ import annotations

import contextlib
import io
import os
import select
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from mydyno.cli.main import main
from mydyno.lab.results.records import TrialRecord

MYDYNO = Path(sys.executable).parent / "mydyno"

SHORT = """
experiment: short
setup:
  server:
    config: {max_connections: 40, thread_cache_size: 4, innodb_buffer_pool_size: 32M,
             innodb_log_file_size: 8M}
factors:
  server.config.thread_cache_size: [4, 20]
workload:
  smack: {scenario: select-key, rows: 500}
  connections: [2, 6]
  think: 2ms
  each: {warmup: 100ms, measure: 400ms}
  pause: 50ms
sampling: {every: 100ms}
design: {repeats: 2, seed: 3, order: blocked}
"""
"""Four trials of about a second. Each copies the log, so it is small; the load leaves CPU to other tests."""

FAILING = """
experiment: failing
setup:
  server: {config: {max_connections: 40, innodb_buffer_pool_size: 32M, innodb_log_file_size: 8M}}
factors:
  page:
    small: {server.config.innodb_page_size: 16k}
    large: {server.config.innodb_page_size: 64k, server.config.innodb_buffer_pool_size: 5M}
workload:
  smack: {scenario: select-key, rows: 500}
  connections: 2
  each: {rounds: 100}
design: {repeats: 3, seed: 3, order: blocked}
"""
"""A server with pages of 64K does not start with a buffer pool of 5M."""

MEASURED = (0, 7)
"""Exit codes of a run whose trials were all measured: on a busy machine some of them may be invalid."""
_OF_A_BUSY_MACHINE = {"client-saturation", "littles-law", "rate-kept", "steal-time"}
"""Checks that a trial may fail because other programs have the CPUs."""


def faults(trials: Iterable[TrialRecord]) -> set[str]:
    """The checks that they failed, but for those that a busy machine fails."""
    return {reason.check for trial in trials for reason in trial.invalidities} - _OF_A_BUSY_MACHINE


def call(*arguments: str, environment: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """The command in this process: it takes as long to import as most commands take."""
    output, errors = io.StringIO(), io.StringIO()
    code = 0
    with (
        mock.patch.dict(os.environ, environment or {}),
        mock.patch.object(sys, "argv", ["mydyno", *map(str, arguments)]),
        # What `main` and `tempfile` set for a whole process.
        mock.patch.object(sys, "excepthook", sys.excepthook),
        mock.patch.object(warnings, "showwarning", warnings.showwarning),
        mock.patch.object(tempfile, "tempdir", None),
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(errors),
    ):
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
    return subprocess.CompletedProcess(arguments, code, output.getvalue(), errors.getvalue())


Finished = dict[tuple[str, int], str]
"""Trial and attempt -> when it started, of every trial in a lab."""


def trials_of(finished: Finished) -> set[str]:
    return {trial for trial, _ in finished}


@dataclass
class Workplace:
    """A lab, a temporary folder and an experiment file that belong to one test."""

    folder: Path
    """Short (unix sockets live below it) and open to the servers' user."""
    experiment: Path = field(init=False)

    def __post_init__(self) -> None:
        self.experiment = self.folder / "short.yaml"
        self.experiment.write_text(SHORT)
        self.temporary.mkdir(exist_ok=True)
        self.temporary.chmod(0o755)

    @property
    def lab(self) -> Path:
        return self.folder / "lab"

    @property
    def temporary(self) -> Path:
        return self.folder / "tmp"

    def environment(self, **more: str) -> dict[str, str]:
        return {**os.environ, "TMPDIR": str(self.temporary), "MYDYNO_LAB": str(self.lab), **more}

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """The command to its end."""
        return call(*arguments, environment=self.environment(**environment))

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """The command, running; both its outputs come on `stdout`."""
        return subprocess.Popen(
            [MYDYNO, *arguments],
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            bufsize=1,
        )

    def finished(self) -> Finished:
        """What the lab has, while mydyno runs too."""
        if not (self.lab / "lab.sqlite").exists():
            return {}
        connection = sqlite3.connect(f"file:{self.lab / 'lab.sqlite'}?mode=ro", uri=True)
        try:
            rows = connection.execute("SELECT trial_id, attempt, started_at FROM trials")
            return {(trial, attempt): started for trial, attempt, started in rows}
        except sqlite3.OperationalError:
            return {}  # Killed before the tables were made.
        finally:
            connection.close()

    def processes(self) -> list[int]:
        """Every process that names this workplace in its command line or holds it as its lab."""
        return [pid for pid in _pids() if str(self.folder) in _command_line(pid)]

    def left_outside_the_lab(self) -> list[Path]:
        return sorted(self.temporary.rglob("*"))

    def wait_until_no_process_is_left(self, seconds: float = 10.0) -> None:
        deadline = time.monotonic() + seconds
        while left := self.processes():
            assert time.monotonic() < deadline, f"still running: {[_command_line(pid) for pid in left]}"
            time.sleep(0.02)


def wait_for_line(process: subprocess.Popen[str], text: str, seconds: float = 60.0) -> str:
    """Reads the process's output until a line holds `text`; everything read so far.

    Nothing is read beyond that line: what comes behind it is there for the next call and for `communicate`.
    """
    assert process.stdout is not None
    deadline = time.monotonic() + seconds
    heard = ""
    while text not in heard:
        line = b""
        while not line.endswith(b"\n"):  # readline() would keep lines that select() does not see.
            ready, _, _ = select.select([process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"no line with {text!r} within {seconds} s; heard: {heard}{line!r}"
            letter = os.read(process.stdout.fileno(), 1)
            assert letter, f"ended without a line with {text!r}; heard: {heard}{line!r}"
            line += letter
        heard += line.decode(errors="replace")
    return heard


def server_pid(process: subprocess.Popen[str], workplace: Workplace) -> int:
    """The private server that a running mydyno drives."""
    for pid in workplace.processes():
        words = _command_line(pid).split("\0")
        if Path(words[0]).name in ("mariadbd", "mysqld") and pid != process.pid:
            return pid
    raise AssertionError("no server runs")


def interrupt(process: subprocess.Popen[str], number: signal.Signals = signal.SIGINT) -> tuple[int, str]:
    """Sends a signal and hears the process out: exit code and the rest of its output."""
    process.send_signal(number)
    rest, _ = process.communicate(timeout=60)
    return process.returncode, rest


def _pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""
