"""Finding and ending processes by a mark that only mydyno's own bear: never by name, never by pid alone.

Every server that mydyno starts carries an argument that names its private folder, whose name is
random (`--defaults-file=/tmp/mydyno-3f0c5a91b2d4/my.cnf`). A process is ours when one of its
arguments IS that text; an editor or a grep that merely mentions the folder is not.
"""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

_POLL_SECONDS = 0.01


@dataclass(frozen=True)
class RunningProcess:
    """A pid and when it started (clock ticks since boot): together they are never reused."""

    pid: int
    start_ticks: int


def find_by_argument(argument: str, proc: Path = Path("/proc")) -> list[RunningProcess]:
    """Every living process but this one that has exactly `argument` among its arguments."""
    processes = []
    for folder in proc.iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            arguments = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        started = start_ticks(int(folder.name), proc)
        if os.fsencode(argument) in arguments and started is not None:
            processes.append(RunningProcess(int(folder.name), started))
    return processes


def start_ticks(pid: int, proc: Path = Path("/proc")) -> int | None:
    """Field 22 of /proc/PID/stat (proc_pid_stat(5)); None when there is no such living process.

    A zombie, which has ended and only waits to be reaped, counts as not living.
    """
    try:
        text = (proc / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    # Field 2, the program's name in parentheses, may itself hold spaces and parentheses.
    fields = text[text.rindex(")") + 2 :].split()
    state, started = fields[0], int(fields[19])
    return None if state in "ZX" else started


def end(process: RunningProcess, patience_seconds: float) -> bool:
    """SIGTERM, then SIGKILL after `patience_seconds`; True when it is gone, False when it will not go.

    Raises PermissionError when it belongs to another user.
    """
    for number, seconds in ((signal.SIGTERM, patience_seconds), (signal.SIGKILL, 5.0)):
        if start_ticks(process.pid) != process.start_ticks:
            return True
        try:
            os.kill(process.pid, number)
        except ProcessLookupError:
            return True
        if _gone_within(process, seconds):
            return True
    return False


def _gone_within(process: RunningProcess, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while start_ticks(process.pid) == process.start_ticks:
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True
