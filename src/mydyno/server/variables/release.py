"""Releases as the table writes them, `8.0.30` or `by 9.7.4`, and what a variable went through in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Self

from pydantic import BeforeValidator, model_validator

from mydyno.core.record import Record
from mydyno.core.server_version import Version

_WRITTEN = re.compile(r"(by )?(\d+)\.(\d+)(?:\.(\d+))?")


class Family(StrEnum):
    """Servers whose release numbers compare with each other. Percona Server goes with MySQL."""

    MYSQL = "mysql"
    MARIADB = "mariadb"

    @property
    def label(self) -> str:
        return "MySQL" if self is Family.MYSQL else "MariaDB"

    @classmethod
    def of(cls, version: Version) -> Family:
        return cls.MARIADB if version.is_mariadb else cls.MYSQL


@dataclass(frozen=True, order=True)
class Release:
    """A point in the history of one family. `exact` False: at the latest then; an earlier one may be it."""

    numbers: tuple[int, int, int]
    exact: bool = True

    def __str__(self) -> str:
        text = ".".join(str(number) for number in self.numbers)
        return text if self.exact else f"{text} or before"


def _read(raw: object) -> Release:
    if isinstance(raw, Release):
        return raw
    match = _WRITTEN.fullmatch(raw) if isinstance(raw, str) else None
    if match is None:
        raise ValueError(f"{raw!r} is not a release: write 8.0.30, or `by 9.7.4` for at the latest")
    by, major, minor, patch = match.groups()
    return Release((int(major), int(minor), int(patch or 0)), exact=not by)


Written = Annotated[Release, BeforeValidator(_read)]


class Life(Record):
    """When a family had a variable. Without `since`: as long as the oldest release that the table covers."""

    since: Written | None = None
    backports: tuple[Written, ...] = ()
    """Of older series: the release of each from which on that series has it too."""
    deprecated: Written | None = None
    ignored: Written | None = None
    """From then on it is listed and has no effect."""
    removed: Written | None = None
    again: Written | None = None
    """It came back."""
    removed_again: Written | None = None

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        lived = [self.since, self.removed, self.again, self.removed_again]
        releases = [release.numbers for release in lived if release is not None]
        if releases != sorted(set(releases)):
            raise ValueError("its releases are not in order: since, removed, again, removed_again")
        if (self.again and not self.removed) or (self.removed_again and not self.again):
            raise ValueError("`again` needs `removed`, and `removed_again` needs `again`")
        if self.since and sorted({*self.backports, self.since}) != [*self.backports, self.since]:
            raise ValueError("its backports are not in order, before since")
        if self.backports and not self.since:
            raise ValueError("`backports` needs `since`")
        first = self.backports[0] if self.backports else self.since
        before = first.numbers if first else (0, 0, 0)
        for late in (self.deprecated, self.ignored):
            if late is not None and late.numbers < before:
                raise ValueError("it was deprecated or ignored before it was there")
        return self

    def covers(self, numbers: tuple[int, int, int]) -> bool:
        """Whether the release with these numbers has it."""
        if self.since is not None and numbers < self.since.numbers:
            return any(each.numbers[:2] == numbers[:2] and each.numbers <= numbers for each in self.backports)
        if self.removed is None or numbers < self.removed.numbers:
            return True
        if self.again is None or numbers < self.again.numbers:
            return False
        return self.removed_again is None or numbers < self.removed_again.numbers

    @property
    def beginning(self) -> str:
        """`10.11.12, 11.4.6 and 11.8.2`; empty where it was always there."""
        if self.again is not None:
            return str(self.again)
        releases = [str(release) for release in (*self.backports, self.since) if release is not None]
        return " and ".join(filter(None, (", ".join(releases[:-1]), *releases[-1:])))

    def sentence(self, family: Family) -> str:
        """`MySQL has it since 8.0.30 (deprecated in 8.4.0)`, `MySQL removed it in 8.0.3`."""
        gone = self.removed_again or (self.removed if self.again is None else None)
        if gone is not None:
            return f"{family.label} removed it in {gone}"
        text = f"{family.label} has it" + (f" since {self.beginning}" if self.beginning else "")
        late = f"ignored since {self.ignored}" if self.ignored else None
        late = late or (f"deprecated in {self.deprecated}" if self.deprecated else None)
        return f"{text} ({late})" if late else text
