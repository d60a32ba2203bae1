"""All of a file that must come back: bytes, mode, owner, time, extended attributes."""

from __future__ import annotations

import base64
import errno
import hashlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, field_validator

from mydyno.apply.apply_context import AS_ROOT
from mydyno.core.beneath import open_file_below
from mydyno.core.errors import ApplyError
from mydyno.core.record import Record

NEW_FILE_MODE = 0o644
_SPECIAL = 0o7000
"""setuid, setgid, sticky."""
_LABELS = ("security.selinux", "security.SMACK64", "system.posix_acl_access")
"""Attributes that say who may use a file, as its mode does; security.capability, say, gives it rights."""
_Id = Annotated[int, Field(ge=0, lt=2**32 - 1)]


class FileState(Record):
    """A file but for its bytes, which lie next to the journal under their checksum."""

    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    mode: Annotated[int, Field(ge=0, le=0o7777)]
    uid: _Id
    gid: _Id
    modified_ns: Annotated[int, Field(ge=-(2**62), le=2**62)] | None = None
    """None: the time of the writing."""
    attributes: Mapping[str, str] = {}
    """Extended ones (SELinux's label, ACLs) in base64."""

    @field_validator("attributes")
    @classmethod
    def _in_base64(cls, given: Mapping[str, str]) -> Mapping[str, str]:
        for name, value in given.items():
            base64.b64decode(value, validate=True)
            if not name.isprintable():
                raise ValueError("an attribute's name has a control character")
        return given

    @classmethod
    def of(cls, root: Path, path: str) -> tuple[Self, bytes] | None:
        """The state and the bytes of a regular file below `root`; None: there is none. No link is followed:
        `path` has been resolved (inside.py). Raises ApplyError."""
        place = root / path.lstrip("/")
        try:
            descriptor = open_file_below(root, place)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            if error.errno == errno.EINVAL:
                raise ApplyError(f"{place} is not a regular file, and mydyno changes no other") from error
            hint = AS_ROOT if isinstance(error, PermissionError) else None
            raise ApplyError(f"{place} cannot be read: {error.strerror}", hint) from error
        with os.fdopen(descriptor, "rb") as file:
            about = os.fstat(descriptor)
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
        """Whether the files are the same to a reader: bytes, mode and owner."""
        compared = {"sha256", "mode", "uid", "gid"}
        return self.model_dump(include=compared) == other.model_dump(include=compared)

    def wider_than(self, present: FileState | None, *, any_owner: bool) -> str | None:
        """What this state gives that the file in its place (None: there is none) does not have, in words.

        A journal that came with an image was perhaps not written by mydyno, so it makes nothing setuid, and
        changes no owner unless `any_owner`.
        """
        if self.mode & _SPECIAL & ~(present.mode if present else 0):
            return f"the mode {self.mode:04o}: what is there has no setuid, setgid or sticky bit"
        there = (present.uid, present.gid) if present else (os.geteuid(), os.getegid())
        if not any_owner and (self.uid, self.gid) != there:
            return f"to the user {self.uid} and group {self.gid}: it belongs to {there[0]} and {there[1]}"
        return None

    def give_to(self, descriptor: int, present: FileState | None) -> None:
        """Makes an open file's owner, mode, attributes and time these. Raises OSError.

        Attributes that may give rights are not set unless the file in its place, `present`, has them.
        """
        about = os.fstat(descriptor)
        if (about.st_uid, about.st_gid) != (self.uid, self.gid):
            os.fchown(descriptor, self.uid, self.gid)
        os.fchmod(descriptor, self.mode)
        now = _attributes(descriptor)
        held = present.attributes if present else {}
        for name, value in self.attributes.items():
            harmless = name in _LABELS or name.startswith("user.") or held.get(name) == value
            if harmless and now.get(name) != value:
                # An ordinary user may not set a label, not even to what it is.
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
