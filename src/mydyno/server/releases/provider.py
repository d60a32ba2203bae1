"""What every provider of releases does: fill a folder with a server, and say what it put there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from mydyno.machine.images.build import Progress
from mydyno.server.releases.series import Series

CONTENT = "release"
"""The folder in the staging folder that becomes the release's own."""

ROOT = "root"
"""The folder in the release's that is a private root (docs/reference/private-roots.md)."""

ProviderName = Literal["debian", "npm", "directory", "archive"]


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
