"""Which entries of a foreign archive are unpacked, and as what.

Rules of our own, the same under every Python: the filter `data` of tarfile (PEP 706) resolves paths as text,
and a path longer than PATH_MAX leads it out of the folder (CVE-2025-4517). Here each folder on the way to an
entry is opened by itself and no link is followed, so what is written lies below the folder whatever links
an archive brings. There are regular files, folders and links only; no owner, no setuid, and only the owner
may write.
"""

import os
import shutil
import stat
import tarfile
from contextlib import suppress

from mydyno.core.beneath import BeneathError, inner_folder, steps_of

_LONGEST_PATH = 1024
_LONGEST_NAME = 255
_DEEPEST = 64
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class EntryError(Exception):
    """An entry that has no place in an archive of a server."""


def unpack_entry(archive: tarfile.TarFile, member: tarfile.TarInfo, top: int) -> None:
    """Unpack `member` below the open folder `top`. Raises EntryError, OSError."""
    try:
        _unpack(archive, member, top)
    except BeneathError as error:
        raise EntryError(f"{member.name!r}: {error.strerror}") from None
    except (FileExistsError, IsADirectoryError, NotADirectoryError, FileNotFoundError) as error:
        raise EntryError(f"{member.name!r} does not fit the entries before it: {error.strerror}") from None


def _unpack(archive: tarfile.TarFile, member: tarfile.TarInfo, top: int) -> None:
    name = member.name.lstrip("/")
    if name.strip("./") == "" and member.isdir() and ".." not in name:
        return  # The folder itself, which many archives begin with.
    *folders, last = _steps(name)
    if member.isdir():
        with inner_folder(top, (*folders, last), make=True):
            return
    if not (member.isreg() or member.islnk() or member.issym()) or member.issparse():
        raise EntryError(f"{member.name!r} is a special file")
    with inner_folder(top, folders, make=True) as within:
        # A later entry of the same name counts, as tar(1) has it.
        with suppress(FileNotFoundError):
            os.unlink(last, dir_fd=within)
        if member.issym():
            os.symlink(_target(member, len(folders)), last, dir_fd=within)
        elif member.islnk():
            _link(member, top, last, within)
        else:
            _copy(archive, member, last, within)


def _copy(archive: tarfile.TarFile, member: tarfile.TarInfo, last: str, within: int) -> None:
    content = archive.extractfile(member)
    assert content is not None  # It is a regular file.
    with content, os.fdopen(os.open(last, _CREATE, 0o600, dir_fd=within), "wb") as file:
        shutil.copyfileobj(content, file)
        os.fchmod(file.fileno(), _mode(member))


def _link(member: tarfile.TarInfo, top: int, last: str, within: int) -> None:
    """A second name of a file that was unpacked before. One of a link would lead elsewhere from here."""
    *folders, source = _steps(member.linkname)
    with inner_folder(top, folders) as there:
        if not stat.S_ISREG(os.stat(source, dir_fd=there, follow_symlinks=False).st_mode):
            raise EntryError(f"{member.name!r} is a hard link to something other than a file")
        os.link(source, last, src_dir_fd=there, dst_dir_fd=within, follow_symlinks=False)


def _target(member: tarfile.TarInfo, depth: int) -> str:
    """Where a symbolic link leads: up to the top at most, then down.

    The link lies in a real folder, `depth` below the top. With `..` in front only, each of its steps starts
    in a real folder or at a link of the same kind, so no chain of links leads out.
    """
    target = member.linkname
    if target.startswith("/"):
        raise EntryError(f"{member.name!r} is a link to an absolute path")
    steps = [step for step in target.split("/") if step not in ("", ".")]
    up = next((count for count, step in enumerate(steps) if step != ".."), len(steps))
    if up > depth or ".." in steps[up:] or "\0" in target or len(target) > _LONGEST_PATH:
        raise EntryError(f"{member.name!r} links to a place outside the archive, or may do so")
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


def _mode(member: tarfile.TarInfo) -> int:
    """Without special bits, written by its owner only, and executed by all or by none."""
    mode = (member.mode & 0o755) | 0o600
    return mode if mode & 0o100 else mode & ~0o111
