"""Putting a file in the place of another at one instant, and what a kill in between leaves."""

import errno
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Literal, Self

from pydantic import field_validator, model_validator

from mydyno.apply.act import Act, Look, State
from mydyno.apply.apply_context import AS_ROOT, ApplyContext
from mydyno.apply.files.state import FileState, checksum
from mydyno.core.beneath import folder_below, is_folder_below, read_below
from mydyno.core.durable import make_folder_below, replacing_in, sync_folder, sync_folder_below, write_synced
from mydyno.core.errors import ApplyError

_FOLDER_MODE = 0o755
_MISSING = (FileNotFoundError, NotADirectoryError)


class ReplaceFile(Act):
    """The file at `path` becomes `after`; None: there is none.

    `path` has been resolved inside the root: none of its parts is a link, and none is followed that has
    become one since. `folders` are those that hold it and were missing, outermost first: they come and go
    with it.
    """

    kind: Literal["file"] = "file"
    path: str
    before: FileState | None
    after: FileState | None
    folders: tuple[str, ...] = ()

    @field_validator("path", "folders")
    @classmethod
    def _resolved(cls, given: str | tuple[str, ...]) -> str | tuple[str, ...]:
        for path in (given,) if isinstance(given, str) else given:
            parts = path.split("/")
            if parts[0] or len(parts) < 2 or any(part in ("", ".", "..") for part in parts[1:]):
                raise ValueError("not a path from the root without `..`, `.` and `//`")
            if not path.isprintable():
                raise ValueError("a path with a control character")
        return given

    @model_validator(mode="after")
    def _holding_it(self) -> Self:
        above = [str(folder) for folder in PurePosixPath(self.path).parents]
        if any(folder not in above for folder in self.folders):
            raise ValueError("`folders` are not folders that hold the file")
        return self

    def do(self, context: ApplyContext) -> None:
        try:
            self._remove_temporary(context)
            if self.after is None:
                self._remove(context)
                return
            present = self._present(context)
            if present is None or not present.same_as(self.after):
                self._put(self.after, present, context)
        except OSError as error:
            place = context.place(self.path)
            raise ApplyError(f"{place} cannot be changed: {error.strerror}", _hint(error)) from error

    def look(self, context: ApplyContext) -> Look:
        present = self._present(context)
        states: tuple[tuple[State, FileState | None], ...] = (("after", self.after), ("before", self.before))
        for state, file in states:
            if present is file is None or (present and file and present.same_as(file)):
                return Look(state, f"{self.path} is as it was {state}")
        return Look("elsewhere", f"{self.path} {'is gone' if present is None else 'has been changed'}")

    def take_back(self, context: ApplyContext) -> str | None:
        # A file changes at one instant, so one that is neither old nor new is another program's.
        if self.look(context).state == "elsewhere":
            return f"{self.path} has been changed since by another program: left as it is"
        return super().take_back(context)

    def sentence(self) -> str:
        verb = "new file" if self.before is None else "remove" if self.after is None else "change"
        return f"{verb} {self.path}"

    def _present(self, context: ApplyContext) -> FileState | None:
        file = FileState.of(context.root, self.path)
        return file[0] if file else None

    def _put(self, state: FileState, present: FileState | None, context: ApplyContext) -> None:
        if (wider := state.wider_than(present, any_owner=not context.files_only)) is not None:
            raise ApplyError(
                f"refused to give {context.place(self.path)} {wider}",
                "set it by hand if it is meant, and give the same command again",
            )
        content = kept_bytes(context, state.sha256)
        for missing in map(context.place, self.folders):
            if not is_folder_below(context.root, missing):
                # Services of other users read what is in it.
                make_folder_below(context.root, missing, _FOLDER_MODE)
        target = context.place(self.path)
        with folder_below(context.root, target.parent) as folder:
            temporary = _temporary(target, context)
            with replacing_in(folder, target.name, temporary, 0o600) as file:
                file.write(content)
                file.flush()
                state.give_to(file.fileno(), present)
            sync_folder(folder)

    def _remove(self, context: ApplyContext) -> None:
        target = context.place(self.path)
        with suppress(*_MISSING), folder_below(context.root, target.parent) as folder:
            os.unlink(target.name, dir_fd=folder)
            sync_folder(folder)
        for path in map(context.place, reversed(self.folders)):
            with suppress(*_MISSING), folder_below(context.root, path.parent) as parent:
                try:
                    os.rmdir(path.name, dir_fd=parent)
                except OSError as error:
                    if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
                        return  # Another program has put a file into it.
                    raise
                sync_folder(parent)

    def _remove_temporary(self, context: ApplyContext) -> None:
        target = context.place(self.path)
        with suppress(*_MISSING), folder_below(context.root, target.parent) as folder:
            os.unlink(_temporary(target, context), dir_fd=folder)


def keep_bytes(anchor: Path, folder: Path, contents: Sequence[bytes]) -> None:
    """Writes each under its checksum into `folder`, synced, for its owner's eyes only. Raises OSError."""
    place = folder / "bytes"
    if not is_folder_below(anchor, place):
        make_folder_below(anchor, place, 0o700)
    for content in contents:
        write_synced(anchor, place / checksum(content), content)
    sync_folder_below(anchor, place)


def kept_bytes(context: ApplyContext, sha256: str) -> bytes:
    """Raises ApplyError when they are gone or damaged."""
    assert context.kept is not None, "files are replaced from what an application keeps"
    path = context.kept / "bytes" / sha256
    try:
        content = read_below(context.anchor, path)
    except OSError as error:
        raise ApplyError(f"{path}, the kept bytes of a file, cannot be read: {error.strerror}") from error
    if checksum(content) != sha256:
        raise ApplyError(f"{path}, the kept bytes of a file, is damaged: its checksum differs")
    return content


def kept_text(context: ApplyContext, state: FileState | None) -> str | None:
    """For people: bytes outside UTF-8 show as such. Raises ApplyError."""
    return None if state is None else kept_bytes(context, state.sha256).decode("utf-8", "replace")


def _temporary(target: Path, context: ApplyContext) -> str:
    """The name is known before it is used, so that a restore finds it. No program reads such a name."""
    assert context.kept is not None, "files are replaced by an application"
    return f".{target.name}.{context.kept.name}.mydyno"


def _hint(error: OSError) -> str | None:
    match error.errno:
        case errno.EACCES | errno.EPERM:
            return AS_ROOT
        case errno.EROFS:
            return "its file system is read-only; on an image, mount it writable and use --root"
        case errno.ENOSPC | errno.EDQUOT:
            return "free some space there"
        case errno.ELOOP:
            return "a folder or file of its path was replaced by a link since it was written down"
    return None
