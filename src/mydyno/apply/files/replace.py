"""Putting a file in the place of another at one instant, and what a kill in between leaves."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Self

from mydyno.apply.act import Act, Look
from mydyno.apply.files.state import FileState, checksum
from mydyno.apply.means import Means
from mydyno.core.errors import ApplyError

_FOLDER_MODE = 0o755


class ReplaceFile(Act):
    """The file at `path` becomes `after`; None: there is none.

    `path` has been resolved inside the root: its last part is no link. `folders` are those that hold it and
    were missing, outermost first: they come and go with it.
    """

    kind: Literal["file"] = "file"
    path: str
    before: FileState | None
    after: FileState | None
    folders: tuple[str, ...] = ()

    def do(self, means: Means) -> None:
        target = means.place(self.path)
        try:
            _written_beside(target, means).unlink(missing_ok=True)
            if self.after is None:
                self._remove(target, means)
                return
            found = FileState.of(target)
            if found is None or not found[0].same_as(self.after):
                self._put(target, self.after, means)
        except NotADirectoryError:
            return  # Neither the file nor its folder: there is nothing to take away.
        except OSError as error:
            raise ApplyError(f"{target} cannot be changed: {error.strerror}", _hint(error)) from error

    def look(self, means: Means) -> Look:
        found = FileState.of(means.place(self.path))
        state = found[0] if found else None
        for stands, wanted in (("after", self.after), ("before", self.before)):
            if state is wanted is None or (state and wanted and state.same_as(wanted)):
                return Look("after" if stands == "after" else "before", f"{self.path} is as it was {stands}")
        return Look("elsewhere", f"{self.path} is gone" if state is None else f"{self.path} has been changed")

    def reversed(self) -> Self:
        return self.model_copy(update={"before": self.after, "after": self.before})

    def take_back(self, means: Means) -> str | None:
        # A file changes at one instant, so one that is neither old nor new is somebody else's.
        if self.look(means).stands == "elsewhere":
            return f"{self.path} has been changed by somebody else since: left as it is"
        return super().take_back(means)

    def sentence(self) -> str:
        verb = "new file" if self.before is None else "remove" if self.after is None else "change"
        return f"{verb} {self.path}"

    def _put(self, target: Path, state: FileState, means: Means) -> None:
        for folder in self.folders:
            made = means.place(folder)
            if not made.is_dir():
                made.mkdir()
                made.chmod(_FOLDER_MODE)  # Whatever the umask: services of other users read what is in it.
                sync_folder(made.parent)
        temporary = _written_beside(target, means)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(kept_bytes(means, state.sha256))
            file.flush()
            state.give_to(descriptor)
            os.fsync(descriptor)
        temporary.replace(target)
        sync_folder(target.parent)

    def _remove(self, target: Path, means: Means) -> None:
        if target.parent.is_dir():
            target.unlink(missing_ok=True)
            sync_folder(target.parent)
        for folder in map(means.place, reversed(self.folders)):
            if folder.is_dir():
                try:
                    folder.rmdir()
                except OSError:
                    return  # Somebody has put something into it.
                sync_folder(folder.parent)


def keep_bytes(folder: Path, contents: Sequence[bytes]) -> None:
    """Writes each under its checksum into `folder`, synced, for its owner's eyes only. Raises OSError."""
    place = folder / "bytes"
    place.mkdir(mode=0o700, exist_ok=True)
    for content in contents:
        descriptor = os.open(place / checksum(content), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
    sync_folder(place)


def kept_bytes(means: Means, sha256: str) -> bytes:
    """Raises ApplyError when they are gone or damaged."""
    assert means.kept is not None, "files are replaced from what an application keeps"
    path = means.kept / "bytes" / sha256
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ApplyError(f"{path}, the kept bytes of a file, cannot be read: {error.strerror}") from error
    if checksum(content) != sha256:
        raise ApplyError(f"{path}, the kept bytes of a file, is damaged: its checksum differs")
    return content


def kept_text(means: Means, state: FileState | None) -> str | None:
    """For people: what is no UTF-8 shows as such. Raises ApplyError."""
    return None if state is None else kept_bytes(means, state.sha256).decode("utf-8", "replace")


def _written_beside(target: Path, means: Means) -> Path:
    """The name is known before it is used, so whoever puts back finds it. No program reads such a name."""
    assert means.kept is not None, "files are replaced by an application"
    return target.parent / f".{target.name}.{means.kept.name}.mydyno"


def sync_folder(folder: Path) -> None:
    """Puts the names in it on the disk. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _hint(error: OSError) -> str | None:
    import errno

    match error.errno:
        case errno.EACCES | errno.EPERM:
            return "run it by root: sudo mydyno ..."
        case errno.EROFS:
            return "its file system is read-only; on an image, mount it writable and use --root"
        case errno.ENOSPC | errno.EDQUOT:
            return "free some space there"
    return None
