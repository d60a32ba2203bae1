"""Whether a lab may be opened: written by this user, and nothing in it but files and folders.

A lab is read and written by name, so a link, a device or a FIFO in it would be another file than it seems.
The lab's folder itself may be a link: the user has named it.
"""

from __future__ import annotations

import os
import pwd
import stat
from collections.abc import Iterator
from pathlib import Path

from mydyno.core.errors import LabError

_RUNS = "runs"
_REMEDY = (
    "--trust opens it as if it were yours (docs/reference/trust.md); "
    "or copy it: cp -r --no-preserve=ownership"
)


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
            what = "a symbolic link" if stat.S_ISLNK(mode) else "no file and no folder"
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
        with os.scandir(folder) as found:
            return list(found)
    except FileNotFoundError:  # Not yet there, or gone again.
        return []
    except OSError as error:
        raise LabError(f"cannot read {folder}: {error.strerror}") from error


def _mode(entry: os.DirEntry[str]) -> int:
    """Without a system call where the file system tells the kind."""
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
