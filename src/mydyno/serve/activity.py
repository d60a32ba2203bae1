"""Which run of a lab is under way: its writer holds the lab's lock, and writes its events.

The lock is looked up in /proc/locks and never taken, not even for a moment: a run that starts in that moment
would be refused.
"""

import os
from contextlib import suppress
from pathlib import Path


def lock_holder(lab: Path) -> int | None:
    """The process that writes the lab; None where there is none on this machine."""
    file = lab / "lock"
    try:
        pid = int(file.read_text(encoding="utf-8").strip())
        inode = file.stat().st_ino
        locks = Path("/proc/locks").read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
    return pid if holds(locks, pid, inode) else None


def holds(locks: str, pid: int, inode: int) -> bool:
    """Whether, by the text of /proc/locks, the process holds a lock of flock(2) on the file.

    The device is not compared: on overlayfs and btrfs it is another one there than stat(2) says.
    """
    for line in locks.splitlines():
        words = line.split()
        if words[1:2] == ["FLOCK"] and words[4:5] == [str(pid)] and words[5].rpartition(":")[2] == str(inode):
            return True
    return False


def newest_events(runs: Path) -> str | None:
    """The folder of the run whose events were written last."""
    newest: tuple[float, str] | None = None
    with suppress(OSError), os.scandir(runs) as entries:
        for entry in entries:
            with suppress(OSError):
                written = Path(entry.path, "events.jsonl").stat().st_mtime
                if newest is None or written > newest[0]:
                    newest = written, entry.name
    return None if newest is None else newest[1]
