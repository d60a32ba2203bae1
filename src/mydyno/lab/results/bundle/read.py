"""Reading a bundle: looked at from end to end before anything is written."""

from __future__ import annotations

import hashlib
import io
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from mydyno.core.closing import Closing
from mydyno.core.errors import LabError
from mydyno.core.units import format_bytes
from mydyno.core.writing import DISK_FULL
from mydyno.lab.results.bundle.archive import (
    MANIFEST,
    NAME,
    ROWS,
    ArchiveReader,
    Manifest,
    Sink,
    damaged,
    foreign,
    read_manifest,
    reading,
)
from mydyno.lab.results.run import Run
from mydyno.lab.results.schema import MIGRATIONS
from mydyno.lab.results.staged import StagedRun
from mydyno.lab.results.store import Lab

_MOST_MANIFEST_BYTES = 16 << 20
_MOST_EXPANSION = 1032
"""Bytes that one byte of a deflated stream can stand for (zlib, "Technical Details")."""
_MOST_ROWS_BYTES = 4 << 30
"""Of a run of 10,000 trials there are about 400 MB."""


@dataclass(frozen=True)
class Bundle(Closing):
    """A bundle that was found whole, of this format and consistent."""

    path: Path
    manifest: Manifest
    run: StagedRun
    """In a temporary database, until `close`."""

    @classmethod
    def open(cls, path: Path, room: int) -> Bundle:
        """`room`: bytes that may be unpacked; more are refused before they are read.

        Raises LabError: no such file, foreign, newer, cut off, tampered with, or too large.
        """
        try:
            with ExitStack() as undo, reading(path) as archive:
                manifest = _manifest(archive, path)
                if manifest.unpacked_bytes > _MOST_EXPANSION * path.stat().st_size:
                    raise damaged(
                        str(path), f"it cannot hold the {format_bytes(manifest.unpacked_bytes)} that it names"
                    )
                if manifest.unpacked_bytes > room:
                    raise LabError(
                        f"{path} holds {format_bytes(manifest.unpacked_bytes)}, and the disk of the lab has "
                        f"{format_bytes(room)} free",
                        "free some space, or name a lab elsewhere with --lab FOLDER; nothing was written",
                    )
                rows = _rows(archive, manifest, path)
                undo.callback(rows.close)
                folders = rows.trial_folders
                for place, file in enumerate(manifest.files[1:], start=1):
                    parts = file.path.split("/")
                    if parts[0] == "trials" and parts[1] not in folders:
                        raise damaged(str(path), f"{file.path} belongs to no trial of its {ROWS}")
                    _copy(archive, manifest, place, path)
                if (more := archive.next()) is not None:
                    raise damaged(str(path), f"{more[0]!r} is in it, which its {MANIFEST} does not name")
                archive.end()
                undo.pop_all()
        except OSError as error:
            raise LabError(f"cannot read the bundle {path}: {error.strerror}") from error
        return cls(path, manifest, rows)

    def close(self) -> None:
        self.run.close()

    def unpack(self, folder: Path) -> None:
        """Write the files into an empty folder. Raises LabError when the bundle has changed since `open`."""
        with reading(self.path) as archive:
            if _manifest(archive, self.path) != self.manifest:
                raise damaged(str(self.path), "it changed while it was read")
            for place, file in enumerate(self.manifest.files):
                if file.path == ROWS:
                    _copy(archive, self.manifest, place, self.path)
                    continue
                target = folder / file.path
                try:
                    target.parent.mkdir(parents=True, exist_ok=True)
                    out = target.open("xb")
                except OSError as error:
                    if error.errno in DISK_FULL:
                        raise
                    raise damaged(str(self.path), f"{file.path}: {error.strerror}") from error
                with out:
                    _copy(archive, self.manifest, place, self.path, out)


def unbundle(bundle: Bundle, lab: Lab) -> tuple[Run, bool]:
    """The run of `bundle` in `lab`, and whether it was there already; then nothing was changed.

    It is written whole or not at all. Raises LabError: no room, or the bundle changed since it was opened.
    """
    return lab.take_in(bundle.run, bundle.manifest.run, bundle.unpack, bundle.manifest.unpacked_bytes)


class _Checksum:
    """SHA-256 of what is written into it."""

    def __init__(self) -> None:
        self._sha256 = hashlib.sha256()

    def write(self, content: bytes, /) -> None:
        self._sha256.update(content)

    def hexdigest(self) -> str:
        return self._sha256.hexdigest()


def _manifest(archive: ArchiveReader, path: Path) -> Manifest:
    head = archive.next()
    if head is None or head[0] != MANIFEST:
        raise foreign(str(path))
    if head[1] > _MOST_MANIFEST_BYTES:
        raise damaged(str(path), f"its {MANIFEST} would have {format_bytes(head[1])}")
    content = io.BytesIO()
    archive.copy(head[1], content)
    return read_manifest(content.getvalue(), str(path), len(MIGRATIONS))


def _rows(archive: ArchiveReader, manifest: Manifest, path: Path) -> StagedRun:
    if manifest.files[0].bytes > _MOST_ROWS_BYTES:
        raise damaged(str(path), f"its {ROWS} would have {format_bytes(manifest.files[0].bytes)}")
    run = StagedRun(manifest.lab_format)
    try:
        _copy(archive, manifest, 0, path, run)
        run.finish()
        for folder in run.trial_folders:
            if not NAME.fullmatch(folder):
                raise ValueError(f"{folder[:80]!r} cannot be the folder of a trial")
    except ValueError as error:
        run.close()
        raise damaged(str(path), f"{ROWS}: {error}") from error
    except BaseException:
        run.close()
        raise
    return run


def _copy(archive: ArchiveReader, manifest: Manifest, place: int, path: Path, *sinks: Sink) -> None:
    """The next file, which must be the one that the manifest has in this place."""
    file, head = manifest.files[place], archive.next()
    if head is None:
        raise damaged(str(path), f"{file.path} is missing in it")
    if head != (file.path, file.bytes):
        raise damaged(
            str(path),
            f"its {MANIFEST} has {file.path} with {file.bytes} bytes where there is {head[0]!r} with "
            f"{head[1]}",
        )
    checksum = _Checksum()
    archive.copy(file.bytes, checksum, *sinks)
    if checksum.hexdigest() != file.sha256:
        raise damaged(str(path), f"{file.path} does not match its checksum")
