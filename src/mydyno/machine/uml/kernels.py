"""The User-Mode Linux kernels that this machine has in mydyno's cache.

6.1/   linux.uml, modules/, manifest.json, and libraries/ when this machine's own are too old for it
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from mydyno.core.cache import cache_folder
from mydyno.core.writing import writing
from mydyno.machine.cache_store import PARTIAL

MANIFEST = "manifest.json"
BINARY = "linux.uml"
MODULES = "modules"
LIBRARIES = "libraries"


class UmlManifest(BaseModel):
    """What is known of a fetched kernel."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    release: str
    """As uname(1) prints it: 6.1.176."""
    suite: str
    package: str
    """Its full version: 6.1um4+b13."""
    fetched: str
    """UTC, to the second, ISO 8601."""
    sources: tuple[str, ...]
    modules: tuple[str, ...]
    """File names in the order of loading."""
    absent: tuple[str, ...]
    """Modules that a guest would load and this kernel has not."""


@dataclass(frozen=True)
class UmlKernel:
    """A kernel that is here."""

    folder: Path
    manifest: UmlManifest

    @property
    def version(self) -> str:
        """As an experiment writes it: 6.1."""
        return self.folder.name

    @property
    def binary(self) -> Path:
        return self.folder / BINARY

    @property
    def modules(self) -> tuple[Path, ...]:
        """In the order of loading."""
        return tuple(self.folder / MODULES / name for name in self.manifest.modules)

    @property
    def libraries(self) -> Path | None:
        """A root with the libraries that its suite has; None when this machine's own will do."""
        folder = self.folder / LIBRARIES
        return folder if folder.is_dir() else None


class UmlKernels:
    """All of one cache folder."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or cache_folder("uml")

    def kernel(self, version: str) -> UmlKernel | None:
        """The kernel of `version`, like 6.1; None when it has not been fetched."""
        folder = self.folder / version
        try:
            manifest = UmlManifest.model_validate_json((folder / MANIFEST).read_bytes())
        except (OSError, ValidationError):
            return None
        return UmlKernel(folder, manifest)

    def all(self) -> list[UmlKernel]:
        """Those that are here, oldest version first."""
        return [kernel for version in self.versions() if (kernel := self.kernel(version)) is not None]

    def versions(self) -> list[str]:
        """Of every kernel that is here, also of one that cannot be read; oldest first."""
        names = [path.name for path in self.folder.glob("*") if re.fullmatch(r"\d+\.\d+", path.name)]
        return sorted(names, key=lambda name: tuple(map(int, name.split("."))))

    def remove(self, version: str) -> None:
        """A guest that runs on it goes on. Raises LabError when it cannot be removed."""
        folder = self.folder / version
        with writing(folder):
            # Under a name that is not a version's it is not a kernel any more, whatever happens next.
            shutil.rmtree(folder.rename(self.folder / f"{PARTIAL}{version}"))
