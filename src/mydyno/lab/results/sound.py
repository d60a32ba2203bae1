"""Rows of a lab, which anybody may have changed, seen to be what records are made of.

A string where a number belongs, an infinite rate, a status that does not exist, a missing column or table
become one error that names the database and what is wrong in it, instead of failing later and elsewhere.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from mydyno.core.errors import LabError

Record = TypeVar("Record")

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_INTERRUPT}
"""Not the file's fault."""
_SENSELESS = (sqlite3.DatabaseError, ValueError, LookupError, TypeError, ArithmeticError)
"""What code meets in values that it cannot work with."""


def sound(record: Record, name: str = "") -> Record:
    """`record`, a dataclass, with every field of its type, and numbers finite. Raises ValueError.

    `name`: of the record, for the message.
    """
    try:
        kind: Any = type(record)
        checked: Any = _model(kind)(record=record)
    except ValidationError as error:
        raise ValueError(f"{name}{': ' if name else ''}{first_fault(error, below=1)}") from error
    found: Record = checked.record
    return found


def first_fault(error: ValidationError, *, below: int = 0) -> str:
    """Where the first fault is, without so many of its outermost places, and what it is."""
    first = error.errors(include_url=False, include_input=False)[0]
    return ": ".join(filter(None, (".".join(map(str, first["loc"][below:])), first["msg"])))


@cache
def _model(kind: type) -> type[BaseModel]:
    """A dataclass has no settings, so it takes those of the model around it."""
    config = ConfigDict(revalidate_instances="always", allow_inf_nan=False)
    return create_model(kind.__name__, __config__=config, record=(kind, ...))


@contextmanager
def damage_explained(database: Path) -> Iterator[None]:
    """What damaged rows of `database` lead to, as a LabError."""
    try:
        yield
    except _SENSELESS as error:
        if getattr(error, "sqlite_errorcode", None) in _BUSY:
            raise
        is_plain = isinstance(error, ValueError | sqlite3.Error)
        how = str(error) if is_plain else f"{type(error).__name__}: {error}"
        raise LabError(
            f"{database} is damaged or was changed by hand: {how}",
            "restore a copy of it, or move it away: `mydyno run` finds finished trials in their folders",
        ) from error


@contextmanager
def numbers_explained(database: Path) -> Iterator[None]:
    """For code that computes with the records of a lab: numbers that are of their types and make no sense
    together, which no program writes, end in a LabError too."""
    try:
        yield
    except (
        ValueError,
        LookupError,
        TypeError,
        ArithmeticError,
        AssertionError,
        sqlite3.DatabaseError,
    ) as error:
        if getattr(error, "sqlite_errorcode", None) in _BUSY:
            raise
        raise LabError(
            f"the numbers in {database} do not fit together ({type(error).__name__}: {str(error)[:200]})",
            "was it changed by hand, or damaged? If not, this is a bug in mydyno: please report it, with "
            "the output of `mydyno bundle --anonymous` for the run",
        ) from error
