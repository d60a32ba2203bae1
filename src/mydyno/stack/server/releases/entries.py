"""Which entries of a foreign archive may be unpacked, and as what.

Python has it since 3.11.4 as the filter `data` (PEP 706). Debian 12's own Python is older, so the same rules
stand here for it: nothing leaves its folder, by name or by link; there are regular files, folders and links
only; no owner, no setuid, and nobody else may write.
"""

from __future__ import annotations

import os
import tarfile
from pathlib import Path


class EntryError(Exception):
    """An entry that has no place in an archive of a server."""


def unpack_entry(archive: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
    """Unpack `member` below `target`. Raises EntryError."""
    if not hasattr(tarfile, "data_filter"):
        archive.extract(allowed(member, target), target)
        return
    try:
        archive.extract(member, target, filter="data")
    except tarfile.FilterError as error:
        raise EntryError(str(error)) from error


def allowed(member: tarfile.TarInfo, target: Path) -> tarfile.TarInfo:
    """`member` as it may be unpacked below `target`, by the rules of PEP 706. Raises EntryError."""
    name = member.name.lstrip("/")
    if not _inside(target, target / name):
        raise EntryError(f"{member.name!r} would be extracted to a place which is outside the destination")
    if not (member.isreg() or member.isdir() or member.islnk() or member.issym()):
        raise EntryError(f"{member.name!r} is a special file")
    if member.islnk() or member.issym():
        if Path(member.linkname).is_absolute():
            raise EntryError(f"{member.name!r} is a link to an absolute path")
        start = (target / name).parent if member.issym() else target
        if not _inside(target, start / member.linkname):
            raise EntryError(f"{member.name!r} links to a place outside the destination")
    member.name, member.mode = name, _mode(member)
    member.uid, member.gid, member.uname, member.gname = os.getuid(), os.getgid(), "", ""
    return member


def _mode(member: tarfile.TarInfo) -> int:
    """Without special bits, written by its owner only, and executed by all or by none."""
    if not member.isreg() and not member.islnk():
        return 0o755
    mode = (member.mode & 0o755) | 0o600
    return mode if mode & 0o100 else mode & ~0o111


def _inside(target: Path, path: Path) -> bool:
    """Links that were unpacked already are followed."""
    return path.resolve().is_relative_to(target.resolve())
