"""What `mysqld --version` says, as numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import total_ordering

from mydyno.core.errors import ServerError

_VERSION = re.compile(r"\b[Vv]er (\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?([^\s,]*)")

# Tools print their versions as servers do; what is called mysqld or mariadbd is a server.
_TOOL = re.compile(
    r"(?:\S*/)?(?:(?:mysql|mariadb)(?!d(?!ump))|my_|myisam|aria_|innochecksum|ibd2sdi|perror)[^\s/]*\s",
    re.IGNORECASE,
)

# What comes before a release, by the names that MySQL and MariaDB have given it: 8.0.4-rc, 5.7.4-m14.
_EARLY = re.compile(r"[-~](?:alpha|beta|gamma|preview|dmr|labs|rc|m\d+)[\d.]*(?![a-z])", re.IGNORECASE)
_DEBUG = re.compile(r"-(?:debug|asan|valgrind)(?![a-z])", re.IGNORECASE)


class Vendor(StrEnum):
    MARIADB = "MariaDB"
    MYSQL = "MySQL"
    PERCONA = "Percona Server"


@total_ordering
@dataclass(frozen=True)
class Version:
    """A server release. Ordered by its numbers, which compare within one family of servers.

    `text` is the numbers as the maker writes them, with what makes it another server: a release candidate, a
    build for debugging, Percona's own release number. What a distribution appends is left out.
    """

    vendor: Vendor
    numbers: tuple[int, int, int]
    text: str
    early: bool = False
    """Whether it came before the release of these numbers."""

    @property
    def is_mariadb(self) -> bool:
        return self.vendor is Vendor.MARIADB

    def __lt__(self, other: Version) -> bool:
        return (self.numbers, not self.early) < (other.numbers, not other.early)

    def __str__(self) -> str:
        return f"{self.vendor} {self.text}"


def parse_version(output: str) -> Version:
    """The release in one line of `--version`; MySQL's calendar numbers (26.10) have no third number.

    Raises ServerError when the line is not a server's. (A client's line that looks like a server's
    is caught later: its --help lists no data directory.)
    """
    match = _VERSION.search(output)
    if match is None or "Distrib" in output or _TOOL.match(output.strip()):
        first_line = output.strip().splitlines()[0] if output.strip() else "nothing"
        raise ServerError(f"not a MySQL or MariaDB server: --version says {first_line[:200]!r}")
    major, minor, patch, rest = match.groups()
    numbers = (int(major), int(minor), int(patch or 0))
    early, debug = _EARLY.search(rest), _DEBUG.search(rest)
    short = f"{major}.{minor}" + (f".{patch}" if patch else "")
    text = short + (early[0] if early else "") + (debug[0] if debug else "")
    if "mariadb" in (rest + output).lower():
        return Version(Vendor.MARIADB, numbers, text, early is not None)
    if "percona" in output.lower():
        return Version(Vendor.PERCONA, numbers, short + rest, early is not None)
    return Version(Vendor.MYSQL, numbers, text, early is not None)
