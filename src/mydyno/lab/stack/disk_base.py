"""Bases: disks of a guest on which storage was built and a dataset cloned once, frozen in the lab's cache.

    cache/bases/FINGERPRINT/   data-0.img, data-1.img... (raw, sparse, read-only), manifest.json
    cache/bases/mydyno-XXXX/   being made, or left by a kill: the journal removes it

A trial's disks are overlays of them: every trial starts from the same bytes, and writes none of them.
"""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mydyno.core.manifest import FILE_NAME, Manifest
from mydyno.core.server_files import FileKind
from mydyno.core.server_variables import Setting
from mydyno.core.writing import writing
from mydyno.lab.stack.undo import PRIVATE_NAME
from mydyno.server.program.file_places import Place

FORMAT = 2
"""Another one when the same description gives other bytes: bases of another format are never used."""


class BaseManifest(Manifest):
    """What shaped a base, and where in a guest its data directory is."""

    format: int
    shaped_by: Mapping[str, Any]
    """Whose fingerprint is the base's name: storage, dataset, kernel, root."""
    dataset: str
    """The fingerprint of the dataset whose clone it holds."""
    data: Path
    scratch: Path
    places: Mapping[FileKind, Place]
    settings: Mapping[str, Setting]
    """What of the data directory is elsewhere (`stack.datadir`)."""
    size_bytes: int
    """On disk."""
    seconds: float
    """From nothing to frozen."""


@dataclass(frozen=True)
class DiskBase:
    """A whole base. Its files may only be read."""

    folder: Path
    manifest: BaseManifest

    @property
    def name(self) -> str:
        return self.folder.name


def bases_folder(lab: Path) -> Path:
    return lab / "cache" / "bases"


def bases(lab: Path) -> list[DiskBase]:
    """Every base of a lab that can be used."""
    return [base for folder in _folders(lab) if (base := read_base(folder)) is not None]


def read_base(folder: Path) -> DiskBase | None:
    """None when there is none, or it is of another format."""
    manifest = BaseManifest.read(folder)
    return DiskBase(folder, manifest) if manifest and manifest.format == FORMAT else None


def remove_base(folder: Path) -> None:
    """Killed at any moment, it leaves what does not count as a base. Raises LabError."""
    with writing(folder):
        (folder / FILE_NAME).unlink(missing_ok=True)
        shutil.rmtree(folder)


def remove_useless(lab: Path) -> None:
    """Removes what no run can use: bases of another format, and halves of removed ones. Raises LabError."""
    for folder in _folders(lab):
        if read_base(folder) is None:
            remove_base(folder)


def _folders(lab: Path) -> list[Path]:
    """Without those that are being made: the journal knows them."""
    parent = bases_folder(lab)
    folders = sorted(parent.iterdir()) if parent.is_dir() else []
    return [folder for folder in folders if not PRIVATE_NAME.fullmatch(folder.name)]
