"""Names of releases that say what they are: `mariadb-10.5`, `mysql-9.7`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mydyno.core.server_version import Vendor, Version

_NAME = re.compile(r"(mariadb|mysql)-(\d+)\.(\d+)")
_VENDORS = {"mariadb": Vendor.MARIADB, "mysql": Vendor.MYSQL}


@dataclass(frozen=True)
class Series:
    """All releases of a vendor whose first two numbers are equal."""

    vendor: Vendor
    numbers: tuple[int, int]

    def __str__(self) -> str:
        return f"{self.vendor} {self.numbers[0]}.{self.numbers[1]}"

    @property
    def name(self) -> str:
        """As an experiment writes it."""
        return f"{self.vendor.lower()}-{self.numbers[0]}.{self.numbers[1]}"

    def has(self, version: Version) -> bool:
        return (version.vendor, version.numbers[:2]) == (self.vendor, self.numbers)


def series_of(name: str) -> Series | None:
    """What a release of that name has to be; None when the name does not say."""
    match = _NAME.fullmatch(name)
    return Series(_VENDORS[match[1]], (int(match[2]), int(match[3]))) if match else None


def series_of_package(vendor: Vendor, version: str) -> Series | None:
    """Of a Debian package's version (1:10.5.29-0+deb11u1); None when it has fewer than two numbers."""
    match = re.match(r"(?:\d+:)?(\d+)\.(\d+)", version)
    return Series(vendor, (int(match[1]), int(match[2]))) if match else None
