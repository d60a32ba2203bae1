"""Who may open a lab: one writer at a time, and only a lab of this user that holds nothing but files."""

import fcntl
import os
import pwd
import stat
from collections.abc import Iterator
from pathlib import Path

from mydyno.core.closing import Closing
from mydyno.core.errors import LabError

_RUNS = "runs"
_REMEDY = (
    "--trust opens it as if it were yours (docs/reference/trust.md); "
    "or copy it: cp -r --no-preserve=ownership"
)


class WriterLock(Closing):
    """An exclusive flock(2) on `lab/lock`, held until closed; the file names the holder for people.

    Raises LabError when another process holds it.
    """

    def __init__(self, lab: Path) -> None:
        self._file = (lab / "lock").open("a+", encoding="utf-8")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.seek(0)
            holder = self._file.read().strip()
            self._file.close()
            raise LabError(
                f"the lab {lab} is in use by another mydyno" + (f" (pid {holder})" if holder else ""),
                "wait until it ends or stop it with Ctrl-C there, or use another lab with --lab FOLDER",
            ) from None
        self._file.seek(0)
        self._file.truncate()
        self._file.write(f"{os.getpid()}\n")
        self._file.flush()

    def close(self) -> None:
        """Let the next writer in."""
        self._file.close()


def must_be_sound(lab: Path, *, trust: bool) -> None:
    """Raises LabError. `trust`: another user may have written it. A lab that is not there is sound."""
    if not trust:
        refuse_others(lab)
    refuse_other_than_files(lab)


def refuse_others(lab: Path) -> None:
    """Raises LabError when another user owns the lab's folder, or a file in it."""
    me = os.geteuid()
    for path in (lab, *(Path(entry.path) for entry in _entries(lab))):
        try:
            owner = path.stat(follow_symlinks=False).st_uid
        except FileNotFoundError:
            continue
        if owner != me:
            of = "" if path == lab else f" ({path.name} in it)"
            raise LabError(
                f"the lab {lab} belongs to {_name(owner)}{of}, and you are {_name(me)}: it is not opened",
                _REMEDY,
            )


def refuse_other_than_files(lab: Path) -> None:
    """Raises LabError for a link, a device or a FIFO where mydyno looks for files and folders."""
    for entry in (*_entries(lab), *_below(lab / _RUNS)):
        mode = _mode(entry)
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISSOCK(mode)):
            what = "a symbolic link" if stat.S_ISLNK(mode) else "neither a file nor a folder"
            raise LabError(
                f"{entry.path} is {what}, which mydyno never puts into a lab: it is not opened",
                "remove it; where disk space was the reason, make the whole lab a link",
            )


def _below(folder: Path) -> Iterator[os.DirEntry[str]]:
    for entry in _entries(folder):
        yield entry
        if entry.is_dir(follow_symlinks=False):
            yield from _below(Path(entry.path))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except FileNotFoundError:  # Not yet there, or gone again.
        return []
    except OSError as error:
        raise LabError(f"cannot read {folder}: {error.strerror}") from error


def _mode(entry: os.DirEntry[str]) -> int:
    """Without a system call where the file system reports the kind."""
    if entry.is_symlink():
        return stat.S_IFLNK
    if entry.is_dir(follow_symlinks=False):
        return stat.S_IFDIR
    if entry.is_file(follow_symlinks=False):
        return stat.S_IFREG
    try:
        return entry.stat(follow_symlinks=False).st_mode
    except FileNotFoundError:
        return stat.S_IFREG


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"the user {uid}"
