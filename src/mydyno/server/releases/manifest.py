"""What is known of an installed release: enough to say, years later, what a result was measured on."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from mydyno.core.writing import writing
from mydyno.server.releases.provider import ProviderName

FILE_NAME = "manifest.json"


class Manifest(BaseModel):
    """One release."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    provider: ProviderName
    version: str
    """Vendor and numbers: `MariaDB 10.5.29`."""
    binary: Path
    """In the release's folder, or absolute: in its private root, or elsewhere on this machine."""
    private_root: bool
    source: str
    packages: dict[str, str]
    checksum: str | None
    size_bytes: int
    """That it takes in the cache: next to nothing for a directory, which is used where it is."""
    mydyno: str
    """The version that installed it."""
    installed: str
    """UTC, to the second, ISO 8601."""
    seconds: float


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest in `folder`; None when there is none that this version of mydyno reads."""
    try:
        return Manifest.model_validate_json((folder / FILE_NAME).read_bytes())
    except (OSError, ValidationError):
        return None


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Raises LabError."""
    with writing(folder / FILE_NAME):
        (folder / FILE_NAME).write_text(manifest.model_dump_json(indent=2) + "\n")
