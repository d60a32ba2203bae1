"""Files of a run that cannot be read, and a lab that is gone: errors that say what remains."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from mydyno.core.errors import LabError, MydynoError
from mydyno.lab.results.database import DATABASE

_PARQUET = b"PAR1"


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


_MOST_NAMED = 6


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
