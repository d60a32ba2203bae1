"""What is wrong with an experiment file, and how to fix it without opening a manual.

All problems of a file are gathered and reported together, each on one line:

    FILE:LINE:COLUMN: what is wrong (got VALUE; did you mean 'OTHER'?); allowed: ...
    FILE:LINE:COLUMN: unknown KIND 'NAME' (did you mean 'OTHER'?); allowed: ...
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from mydyno.core.errors import SpecError
from mydyno.core.secrets import masked

_LONGEST_VALUE = 60
_UNKNOWN = re.compile(r"(^|: )unknown [\w/ -]+$")
"""A message that the name belongs to."""


@dataclass(frozen=True, order=True)
class Position:
    """A place in a file; line and column count from 1, as editors do."""

    line: int
    column: int


@dataclass(frozen=True)
class Problem:
    """`position` is None when the file could not be read at all."""

    file: str
    position: Position | None
    message: str
    value: str | None = None
    allowed: str | None = None
    nearest: str | None = None

    @property
    def line(self) -> int | None:
        return self.position.line if self.position else None

    @property
    def column(self) -> int | None:
        return self.position.column if self.position else None

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}:{self.column}" if self.position else self.file
        notes = [] if self.value is None or self._names_value else [f"got {shorten(self.value)}"]
        if self.nearest:
            notes.append(f"did you mean {_quoted(self.nearest)}?")
        noted = f" ({'; '.join(notes)})" if notes else ""
        allowed = f"; allowed: {self.allowed}" if self.allowed else ""
        return _printable(masked(f"{where}: {self.what}{noted}{allowed}"))

    @property
    def what(self) -> str:
        """The message; of an unknown name with that name: `unknown storage engine 'misam'`."""
        return f"{self.message} {_quoted(shorten(self.value or ''))}" if self._names_value else self.message

    @property
    def _names_value(self) -> bool:
        return bool(self.value and self.value.strip()) and _UNKNOWN.search(self.message) is not None


class SpecErrors(SpecError):  # noqa: N818  (it holds many)
    """Every problem of one experiment file, in the order of the file."""

    def __init__(self, problems: Iterable[Problem], hint: str | None = None) -> None:
        unique = dict.fromkeys(problems)
        self.problems = tuple(sorted(unique, key=lambda problem: (problem.line or 0, problem.column or 0)))
        super().__init__("\n".join(str(problem) for problem in self.problems), hint)

    @classmethod
    def of(
        cls,
        file: str,
        position: Position | None,
        message: str,
        value: str | None = None,
        allowed: str | None = None,
        nearest: str | None = None,
    ) -> SpecErrors:
        """One problem alone."""
        return cls([Problem(file, position, message, value, allowed, nearest)])


def shorten(value: str) -> str:
    """`value` on one line and short enough for a message."""
    line = " ".join(value.split())
    if not line:
        return repr(value)
    return line if len(line) <= _LONGEST_VALUE else line[: _LONGEST_VALUE - 3] + "..."


def _quoted(text: str) -> str:
    return text if "'" in text else f"'{text}'"


def _printable(line: str) -> str:
    """`line` with everything escaped that could break it or command a terminal."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in line)


class Findings:
    """Gathers the problems of one file while it is read."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[Problem] = []

    def add(
        self,
        position: Position,
        message: str,
        value: str | None = None,
        allowed: str | None = None,
        nearest: str | None = None,
    ) -> None:
        self.problems.append(Problem(self.file, position, message, value, allowed, nearest))
