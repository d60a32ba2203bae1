"""Sizes and names of a lab's files, and errors that say what remains on a full disk or of a lost lab."""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from mydyno.core.errors import LabError, MydynoError
from mydyno.core.units import format_bytes
from mydyno.core.writing import DISK_FULL

DATABASE = "lab.sqlite"
"""In the folder of a lab."""
_PARQUET = b"PAR1"
_MOST_NAMED = 6


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
    """The error for a full disk. `needed`: bytes that the work needs, None when unknown."""
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


def look_at_parquet(path: Path) -> None:
    """A Parquet file begins and ends with its mark; one that was cut off lacks the second.

    Source: Apache Parquet, "File Format".
    """
    try:
        with path.open("rb") as file:
            first = file.read(len(_PARQUET))
            file.seek(-min(len(_PARQUET), path.stat().st_size), os.SEEK_END)
            last = file.read()
    except OSError as error:
        raise unreadable(path, error) from error
    if (first, last) != (_PARQUET, _PARQUET):
        raise damaged(path, "it is not a whole Parquet file")


def lost_series(lost: Sequence[str]) -> tuple[str, ...]:
    """A sentence for each series that cannot be read; of many, for the first, and how many more there are.

    `lost`: the message of each.
    """
    named = lost if len(lost) <= _MOST_NAMED else lost[: _MOST_NAMED - 1]
    rest = len(lost) - len(named)
    return (
        *(f"a series is lost: {each}" for each in named),
        *([f"{rest} more series are lost"] if rest else []),
    )


def unreadable(path: Path, error: OSError) -> LabError:
    return LabError(
        f"cannot read {path}: {error.strerror}", "was it moved or deleted? The numbers in lab.sqlite remain"
    )


def damaged(path: Path, error: Exception | str) -> LabError:
    return LabError(f"{path} is damaged: {error}", "the numbers in lab.sqlite remain; its series are lost")


@contextmanager
def removal_explained(lab: Path) -> Iterator[None]:
    """For a writer: whatever fails because the folder `lab`, or one that it is made of, was removed meanwhile
    becomes one LabError."""
    try:
        yield
    except (OSError, sqlite3.Error, MydynoError) as error:
        gone = next((name for name in (DATABASE, "runs", "cache") if not (lab / name).exists()), None)
        if gone is None:
            raise
        what = f"the lab {lab}" if gone == DATABASE else str(lab / gone)
        raise LabError(
            f"{what} was removed while the run was in progress",
            "its servers and guests were stopped; the same command measures the missing trials again",
        ) from error
