"""What `mysqld --version` says, as numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import total_ordering

from mydyno.core.errors import ServerError

_VERSION = re.compile(r"\b[Vv]er (\d+)\.(\d+)(?:\.(\d+))?([^\s,]*)")


class Vendor(StrEnum):
    MARIADB = "MariaDB"
    MYSQL = "MySQL"
    PERCONA = "Percona Server"


@total_ordering
@dataclass(frozen=True)
class Version:
    """A server release. Ordered by its numbers only, which compare within one family of servers."""

    vendor: Vendor
    numbers: tuple[int, int, int]
    text: str

    @property
    def is_mariadb(self) -> bool:
        return self.vendor is Vendor.MARIADB

    def __lt__(self, other: Version) -> bool:
        return self.numbers < other.numbers

    def __str__(self) -> str:
        return f"{self.vendor} {self.text}"


def parse_version(output: str) -> Version:
    """The release in one line of `--version`; MySQL's calendar numbers (26.10) have no third number.

    Raises ServerError when the line is not a server's. (A client's line that looks like a server's
    is caught later: its --help lists no data directory.)
    """
    found = _VERSION.search(output)
    if found is None or "Distrib" in output:
        first_line = output.strip().splitlines()[0] if output.strip() else "nothing"
        raise ServerError(f"not a MySQL or MariaDB server: --version says {first_line!r}")
    major, minor, patch, rest = found.groups()
    numbers = (int(major), int(minor), int(patch or 0))
    short = f"{major}.{minor}" + (f".{patch}" if patch else "")
    if "mariadb" in (rest + output).lower():
        return Version(Vendor.MARIADB, numbers, short)
    if "percona" in output.lower():
        return Version(Vendor.PERCONA, numbers, short + rest)
    return Version(Vendor.MYSQL, numbers, short)
