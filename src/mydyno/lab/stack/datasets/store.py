"""The datasets of a lab: whole ones, damaged ones, and what an interrupted build has left.

    cache/datasets/FINGERPRINT/   data/, manifest.json, pages (the list of its buffer pool)
    cache/datasets/mydyno-XXXX/   being made, or left by a kill

The manifest's time of change is when the dataset was last used: a run touches it.
"""

import os
import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from mydyno.core.errors import LabError, UsageError
from mydyno.core.manifest import FILE_NAME
from mydyno.core.writing import writing
from mydyno.lab.stack.datasets.manifest import DatasetManifest, read_manifest
from mydyno.lab.stack.disk_base import DiskBase, bases, remove_base
from mydyno.lab.stack.undo import PRIVATE_NAME

_SHORTEST = 6
_FINGERPRINT = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True)
class DatasetEntry:
    """One folder of the store. Without a manifest it cannot be used, and `trouble` says why."""

    name: str
    folder: Path
    manifest: DatasetManifest | None
    trouble: str | None
    last_used: datetime | None
    """UTC."""
    bases: tuple[DiskBase, ...] = ()
    """Disks of guests that hold a clone of it."""

    @property
    def data(self) -> Path:
        return self.folder / "data"


class DatasetStore:
    """All datasets of one lab. Making or removing one takes the lab's lock."""

    def __init__(self, lab: Path) -> None:
        self.folder = lab / "cache" / "datasets"
        self._lab = lab

    def place(self, fingerprint: str) -> Path:
        """Where the dataset of that fingerprint is, or is to be put."""
        return self.folder / fingerprint

    def entries(self) -> list[DatasetEntry]:
        """Everything that is there, the last used first, then what cannot be used."""
        matching = [(folder, *_look(folder)) for folder in self._folders()]
        names = _names([(folder, manifest) for folder, manifest, _ in matching])
        of_disks = bases(self._lab)
        entries = [
            DatasetEntry(
                names[folder],
                folder,
                manifest,
                trouble,
                _last_used(folder) if manifest else None,
                tuple(base for base in of_disks if base.manifest.dataset == folder.name),
            )
            for folder, manifest, trouble in matching
        ]
        return sorted(entries, key=_recent_first)

    def find(self, name: str) -> DatasetEntry:
        """The one of that name, or whose fingerprint begins so. Raises UsageError with all the names."""
        entries = self.entries()
        matching = [entry for entry in entries if entry.name == name] or [
            entry for entry in entries if len(name) >= 4 and entry.folder.name.startswith(name)
        ]
        if len(matching) == 1:
            return matching[0]
        there = ", ".join(entry.name for entry in entries) or "none"
        what = "unknown dataset" if not matching else "more than one dataset matches"
        raise UsageError(f"{what} {name}", f"there are: {there}")

    def remove(self, entry: DatasetEntry) -> None:
        """Removes it and the bases that were made of it. Raises LabError.

        Whatever moment a kill chooses, what is left of it is no longer a dataset.
        """
        for base in entry.bases:
            remove_base(base.folder)
        with writing(entry.folder):
            (entry.folder / FILE_NAME).unlink(missing_ok=True)
            shutil.rmtree(entry.folder)

    def unused_for(self, seconds: float) -> list[DatasetEntry]:
        """Those that no run has used for so long, and all that cannot be used."""
        since = datetime.now(UTC) - timedelta(seconds=seconds)
        return [entry for entry in self.entries() if entry.last_used is None or entry.last_used < since]

    def _folders(self) -> Iterable[Path]:
        if not self.folder.is_dir():
            return []
        return sorted(each for each in self.folder.iterdir() if each.is_dir())


def touch(folder: Path) -> None:
    """Notes that the dataset is used now. Raises LabError."""
    with writing(folder / FILE_NAME):
        os.utime(folder / FILE_NAME)


def _look(folder: Path) -> tuple[DatasetManifest | None, str | None]:
    if PRIVATE_NAME.fullmatch(folder.name):
        return None, "incomplete: left by an interrupted build, or being built by a run"
    try:
        manifest = read_manifest(folder)
    except LabError as error:
        return None, error.message
    if not (folder / "data").is_dir():
        return None, "damaged: its data is missing"
    return manifest, None


def _names(matching: Sequence[tuple[Path, DatasetManifest | None]]) -> dict[Path, str]:
    """`WORKLOAD-FINGERPRINT` with as much of the fingerprint as distinguishes it from the others."""
    folders = [folder.name for folder, _ in matching]
    names = {}
    for folder, manifest in matching:
        if not _FINGERPRINT.fullmatch(folder.name):
            names[folder] = folder.name
            continue
        others = [each for each in folders if each != folder.name]
        length = _SHORTEST
        while any(each.startswith(folder.name[:length]) for each in others):
            length += 1
        kind = (manifest.workload if manifest else None) or "dataset"
        names[folder] = f"{kind}-{folder.name[:length]}"
    return names


def _last_used(folder: Path) -> datetime | None:
    try:
        return datetime.fromtimestamp((folder / FILE_NAME).stat().st_mtime, UTC)
    except OSError:
        return None


def _recent_first(entry: DatasetEntry) -> tuple[float, str]:
    return (-entry.last_used.timestamp() if entry.last_used else 1.0, entry.name)
