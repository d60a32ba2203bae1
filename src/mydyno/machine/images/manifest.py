"""What is known of a built image: enough to say, years later, what a result was measured on."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from mydyno.core.writing import writing

FILE_NAME = "manifest.json"


class _Manifest(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    """What `images list` shows and `images remove` takes."""
    suite: str
    mydyno: str
    """The version that built it."""
    built: str
    """UTC, to the second, ISO 8601."""
    seconds: float
    sources: tuple[str, ...]
    sha256: str
    """Of root.erofs, or of the kernel's package: equal for equal packages, whenever and wherever built."""
    size_bytes: int


class RootManifest(_Manifest):
    """The root file system of a suite: server, fio, mdadm and the makers of file systems."""

    kind: Literal["root"] = "root"
    server: str
    """What the server says to --version."""
    packages: dict[str, str]
    """Every installed package and its version."""


class KernelManifest(_Manifest):
    """A kernel of a suite and the modules that guests load."""

    kind: Literal["kernel"] = "kernel"
    release: str
    """As uname(1) prints it: 6.1.0-56-amd64."""
    package: str
    package_version: str
    modules: tuple[str, ...]
    """File names in the order of loading."""
    built_in: tuple[str, ...]
    absent: tuple[str, ...]
    """Modules that guests would load and this kernel has not: reiserfs since 6.13."""


Manifest = RootManifest | KernelManifest


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest in `folder`; None when there is none that this version of mydyno reads."""
    try:
        content = (folder / FILE_NAME).read_bytes()
    except OSError:
        return None
    for kind in (RootManifest, KernelManifest):
        try:
            return kind.model_validate_json(content)
        except ValidationError:
            continue
    return None


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Raises LabError."""
    with writing(folder / FILE_NAME):
        (folder / FILE_NAME).write_text(manifest.model_dump_json(indent=2) + "\n")
