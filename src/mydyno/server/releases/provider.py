"""What every provider of releases does: fill a folder with a server, and say what it put there."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from mydyno.core.server_version import Vendor, Version
from mydyno.machine.images.build import Progress

CONTENT = "release"
"""The folder in the staging folder that becomes the release's own."""

ROOT = "root"
"""The folder in the release's that is a private root (docs/reference/private-roots.md)."""

ProviderName = Literal["debian", "npm", "maven", "directory", "archive"]
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


@dataclass(frozen=True)
class Provided:
    """The provider's part of a manifest."""

    binary: Path
    """In the release's folder, or absolute: in a private root, or elsewhere on this machine."""
    source: str
    """Where it is from, for people: a suite and package, a package and version, a path."""
    private_root: bool = False
    """Whether `binary` is in a private root: the folder ROOT in the release's, or the user's whole folder."""
    series: Series | None = None
    """What the server has to say of itself; None: whatever it is."""
    packages: Mapping[str, str] = field(default_factory=dict)
    """Package -> version."""
    checksum: str | None = None
    """Of what it was unpacked from, with the algorithm in front: `sha512-...`."""


class Provider(Protocol):
    """Where a release comes from."""

    @property
    def name(self) -> ProviderName: ...

    def install(self, staging: Path, progress: Progress) -> Provided:
        """Fills the new folder `staging / CONTENT`; whatever else it makes in `staging` goes away.

        Raises MissingToolError, HostError, UsageError, LabError; what it has made then goes away too.
        """
