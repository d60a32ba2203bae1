"""The entries of an archive of a server (tar or zip), and unpacking one of them safely.

Which entries of a foreign archive are unpacked, and as what, are rules of our own, the same under every
Python: the filter `data` of tarfile (PEP 706) resolves paths as text, and a path longer than PATH_MAX leads
it out of the folder (CVE-2025-4517). Here each folder on the way to an entry is opened by itself and no link
is followed, so what is written lies below the folder whatever links an archive brings. There are regular
files, folders and links only; no owner, no setuid, and only the owner may write.
"""

import os
import shutil
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Literal

from mydyno.core.beneath import BeneathError, inner_folder, steps_of

_LONGEST_PATH = 1024
_LONGEST_NAME = 255
_DEEPEST = 64
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_ENCRYPTED = 1  # a bit of the flags in a zip entry
_OF_ZIPS = 0o755
"""What a zip says of permissions is not heeded: those that Java makes say that no program is one."""


class EntryError(Exception):
    """An entry that has no place in an archive of a server."""


@dataclass(frozen=True)
class Entry:
    """One entry, whatever archive it is from."""

    name: str
    kind: Literal["file", "folder", "link", "hard link", "special file"]
    opened: Callable[[], IO[bytes]]
    """A file's content."""
    to: str = ""
    """Where a link leads, or which entry a hard link is another name of."""
    mode: int = _OF_ZIPS


def tar_entries(archive: tarfile.TarFile) -> Iterator[Entry]:
    """In their order. Raises what tarfile raises for a broken archive."""
    for member in archive:

        def opened(member: tarfile.TarInfo = member) -> IO[bytes]:
            content = archive.extractfile(member)
            assert content is not None  # It is a regular file.
            return content

        yield Entry(member.name, _kind(member), opened, member.linkname, member.mode)


def _kind(member: tarfile.TarInfo) -> Literal["file", "folder", "link", "hard link", "special file"]:
    if member.isdir():
        return "folder"
    if member.issym():
        return "link"
    if member.islnk():
        return "hard link"
    return "file" if member.isreg() and not member.issparse() else "special file"


def zip_entries(archive: zipfile.ZipFile) -> Iterator[Entry]:
    """In their order. Raises what zipfile raises for a broken archive, EntryError for an encrypted entry."""
    for info in archive.infolist():
        if info.flag_bits & _ENCRYPTED:
            raise EntryError(f"{info.filename!r} is encrypted")

        def opened(info: zipfile.ZipInfo = info) -> IO[bytes]:
            return archive.open(info)

        mode = info.external_attr >> 16  # As Unix has it; 0 where the archive was made without.
        name = info.filename.rstrip("/")
        if info.is_dir():
            yield Entry(name, "folder", opened)
        elif stat.S_ISLNK(mode):
            with opened() as content:
                to = os.fsdecode(content.read(_LONGEST_PATH + 1))
            yield Entry(name, "link", opened, to)
        elif stat.S_IFMT(mode) in (0, stat.S_IFREG):
            yield Entry(name, "file", opened)
        else:
            yield Entry(name, "special file", opened)


def unpack_entry(entry: Entry, top: int) -> None:
    """Unpack `entry` below the open folder `top`. Raises EntryError, OSError, and what its archive raises."""
    try:
        _unpack(entry, top)
    except BeneathError as error:
        raise EntryError(f"{entry.name!r}: {error.strerror}") from None
    except (FileExistsError, IsADirectoryError, NotADirectoryError, FileNotFoundError) as error:
        raise EntryError(f"{entry.name!r} does not fit the entries before it: {error.strerror}") from None


def _unpack(entry: Entry, top: int) -> None:
    name = entry.name.lstrip("/")
    if name.strip("./") == "" and entry.kind == "folder" and ".." not in name:
        return  # The folder itself, which many archives begin with.
    *folders, last = _steps(name)
    if entry.kind == "folder":
        with inner_folder(top, (*folders, last), make=True):
            return
    if entry.kind == "special file":
        raise EntryError(f"{entry.name!r} is a special file")
    with inner_folder(top, folders, make=True) as within:
        # A later entry of the same name counts, as tar(1) has it.
        with suppress(FileNotFoundError):
            os.unlink(last, dir_fd=within)
        if entry.kind == "link":
            os.symlink(_target(entry, len(folders)), last, dir_fd=within)
        elif entry.kind == "hard link":
            _link(entry, top, last, within)
        else:
            _copy(entry, last, within)


def _copy(entry: Entry, last: str, within: int) -> None:
    with (
        entry.opened() as content,
        os.fdopen(os.open(last, _CREATE, 0o600, dir_fd=within), "wb") as file,
    ):
        shutil.copyfileobj(content, file)
        os.fchmod(file.fileno(), _mode(entry))


def _link(entry: Entry, top: int, last: str, within: int) -> None:
    """A second name of a file that was unpacked before. One of a link would lead elsewhere from here."""
    *folders, source = _steps(entry.to)
    with inner_folder(top, folders) as there:
        if not stat.S_ISREG(os.stat(source, dir_fd=there, follow_symlinks=False).st_mode):
            raise EntryError(f"{entry.name!r} is a hard link to something other than a file")
        os.link(source, last, src_dir_fd=there, dst_dir_fd=within, follow_symlinks=False)


def _target(entry: Entry, depth: int) -> str:
    """Where a symbolic link leads: up to the top at most, then down.

    The link lies in a real folder, `depth` below the top. With `..` in front only, each of its steps starts
    in a real folder or at a link of the same kind, so no chain of links leads out.
    """
    target = entry.to
    if target.startswith("/"):
        raise EntryError(f"{entry.name!r} is a link to an absolute path")
    steps = [step for step in target.split("/") if step not in ("", ".")]
    up = next((count for count, step in enumerate(steps) if step != ".."), len(steps))
    if up > depth or ".." in steps[up:] or "\0" in target or len(target) > _LONGEST_PATH:
        raise EntryError(f"{entry.name!r} links to a place outside the archive, or may do so")
    return target


def _steps(name: str) -> tuple[str, ...]:
    steps = steps_of(name)
    if (
        len(name) > _LONGEST_PATH
        or len(steps) > _DEEPEST
        or any(len(os.fsencode(step)) > _LONGEST_NAME for step in steps)
    ):
        raise EntryError(f"{name[:60]!r}... is too long for a path in an archive of a server")
    return steps


def _mode(entry: Entry) -> int:
    """Without special bits, written by its owner only, and executed by all or by none."""
    mode = (entry.mode & 0o755) | 0o600
    return mode if mode & 0o100 else mode & ~0o111
