"""Sizes and names of a lab's files, and the error for a full disk."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mydyno.core.errors import LabError
from mydyno.core.units import format_bytes
from mydyno.core.writing import DISK_FULL


def plain_name(name: object, where: Path) -> str:
    """The name of a folder in `where`, as a database has it. Raises LabError for one that leads elsewhere."""
    if not isinstance(name, str) or name in ("", ".", "..") or "/" in name or "\0" in name:
        raise LabError(f"the lab's database is damaged: {name!a} is not the name of a folder in {where}")
    return name


def tree_bytes(folder: Path) -> int:
    """Bytes of all the files below `folder`."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def free_bytes(folder: Path) -> int:
    """Bytes that an ordinary user may still write on the file system of `folder`."""
    space = os.statvfs(folder)
    return space.f_bavail * space.f_frsize


def full_disk(folder: Path, doing: str, needed: int | None, safe_trials: int) -> LabError:
    """The error for a full disk. `needed`: bytes that the work wants, None when nobody knows."""
    wants = f"needs about {format_bytes(needed)}" if needed is not None else "needs more"
    return LabError(
        f"the disk of the lab is full: {doing} {wants} in {folder}, {format_bytes(free_bytes(folder))} free",
        f"the finished trials ({safe_trials}) are safe: free some space (or move the lab to a larger disk) "
        "and run the same command again: it continues where it stopped",
    )


@contextmanager
def explain_full_disk(folder: Path, doing: str, needed: int | None, safe_trials: int) -> Iterator[None]:
    """Turn "no space left" of the file system, a quota or SQLite into a LabError that says what to do."""
    try:
        yield
    except OSError as error:
        if error.errno not in DISK_FULL:
            raise
        raise full_disk(folder, doing, needed, safe_trials) from error
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_FULL and free_bytes(folder) > 0:
            raise
        raise full_disk(folder, doing, needed, safe_trials) from error
