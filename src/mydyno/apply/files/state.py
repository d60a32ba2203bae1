"""All of a file that must come back: bytes, mode, owner, time, extended attributes."""

from __future__ import annotations

import base64
import hashlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from mydyno.core.errors import ApplyError
from mydyno.core.record import Record

NEW_FILE_MODE = 0o644


class FileState(Record):
    """A file but for its bytes, which lie beside the journal under their checksum."""

    sha256: str
    mode: int
    uid: int
    gid: int
    modified_ns: int | None = None
    """None: the time of the writing."""
    attributes: Mapping[str, str] = {}
    """Extended ones (SELinux's label, ACLs) in base64."""

    @classmethod
    def of(cls, path: Path) -> tuple[Self, bytes] | None:
        """The state and the bytes of a regular file; None: there is none. Raises ApplyError."""
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise ApplyError(
                f"{path} cannot be read: {error.strerror}", "is this run by root (sudo)?"
            ) from error
        with os.fdopen(descriptor, "rb") as file:
            about = os.fstat(descriptor)
            if not stat.S_ISREG(about.st_mode):
                raise ApplyError(f"{path} is no regular file, and mydyno changes no other")
            content = file.read()
            state = cls(
                sha256=checksum(content),
                mode=stat.S_IMODE(about.st_mode),
                uid=about.st_uid,
                gid=about.st_gid,
                modified_ns=about.st_mtime_ns,
                attributes=_attributes(descriptor),
            )
        return state, content

    def with_content(self, content: bytes) -> Self:
        """The same file with other bytes."""
        return self.model_copy(update={"sha256": checksum(content), "modified_ns": None})

    def same_as(self, other: FileState) -> bool:
        """Whether the files are the same to whoever reads them: bytes, mode and owner."""
        return self._told() == other._told()

    def _told(self) -> tuple[str, int, int, int]:
        return self.sha256, self.mode, self.uid, self.gid

    def give_to(self, descriptor: int) -> None:
        """Makes an open file's owner, mode, attributes and time these. Raises OSError."""
        about = os.fstat(descriptor)
        if (about.st_uid, about.st_gid) != (self.uid, self.gid):
            os.fchown(descriptor, self.uid, self.gid)
        os.fchmod(descriptor, self.mode)
        now = _attributes(descriptor)
        for name, value in self.attributes.items():
            if now.get(name) != value:  # An ordinary user may not set a label, not even to what it is.
                os.setxattr(descriptor, name, base64.b64decode(value))
        if self.modified_ns is not None:
            os.utime(descriptor, ns=(self.modified_ns, self.modified_ns))


def new_file(content: bytes) -> FileState:
    """A file that mydyno makes: everybody may read it, as what else lies below /etc."""
    return FileState(sha256=checksum(content), mode=NEW_FILE_MODE, uid=os.geteuid(), gid=os.getegid())


def checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _attributes(descriptor: int) -> dict[str, str]:
    try:
        names = os.listxattr(descriptor)
    except OSError:
        return {}  # A file system without them.
    return {name: base64.b64encode(os.getxattr(descriptor, name)).decode() for name in names}
