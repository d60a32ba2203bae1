"""What a run has on the machine that a private sshd plays: its processes, mounts and files."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from live.sshd import Sshd
from mydyno.machine.hosts.entry import HostEntry

PATIENCE = 20.0
_MARK = b"MYDYNO_SESSION="


def entry_of(config: Path, **more: str) -> HostEntry:
    return HostEntry.model_validate({"destination": "there", "config": str(config), **more})


def comes_true(condition: Callable[[], object], seconds: float = PATIENCE) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def left(*sshds: Sshd) -> list[str]:
    """What is there of sessions: nothing, when all of them have ended."""
    found = []
    for sshd in sshds:
        found += [f"process {pid}" for pid in (*agents(sshd), *processes(_trials(sshd)))]
        found += [str(path) for path in _trials(sshd).glob("*") if path.name != "lock"]
        mounts = Path(f"/proc/{sshd.process}/mountinfo").read_text()
        found += [line for line in mounts.splitlines() if f"{_trials(sshd)}/" in line]
    return found


def processes(folder: Path) -> list[int]:
    """Those of the session with this folder, or of all sessions below it."""
    mark = _MARK + str(folder).encode()
    return [
        pid
        for pid, environment, _ in _running()
        if any(line == mark or line.startswith(mark + b"/") for line in environment.split(b"\0"))
    ]


def agents(sshd: Sshd) -> list[int]:
    """Those that serve a session there."""
    return _programs(sshd, "mydyno-agent", "--session")


def engines(sshd: Sshd) -> list[int]:
    """Those that drive a part of a load there, as a generator."""
    return _programs(sshd, "mydyno-engine", "--starts")


def sshd_children(sshd: Sshd) -> list[int]:
    """sshd's processes for the connections of sessions."""
    return [parent for agent in agents(sshd) if (parent := _parent(agent)) is not None]


def _trials(sshd: Sshd) -> Path:
    return sshd.home / ".cache/mydyno/agent/trials"


def _programs(sshd: Sshd, name: str, argument: str) -> list[int]:
    return [
        pid
        for pid, _, words in _running()
        if words[0].startswith(str(sshd.home)) and words[0].endswith(f"/{name}") and argument in words
    ]


def _parent(pid: int) -> int | None:
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/status").read_text().partition("PPid:")[2].split()[0])
    return None


def _running() -> Iterator[tuple[int, bytes, list[str]]]:
    """Number, environment and command line of every process that can be read."""
    for place in _numbered(Path("/proc").iterdir()):
        with suppress(OSError):
            words = (place / "cmdline").read_bytes().decode(errors="replace").split("\0")
            yield int(place.name), (place / "environ").read_bytes(), words


def _numbered(places: Iterable[Path]) -> Iterator[Path]:
    return (place for place in places if place.name.isdigit())
