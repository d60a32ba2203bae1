"""An archive of a server (tar, plain or compressed), unpacked into the cache.

Which entries of a foreign archive are unpacked, and as what, are rules of our own, the same under every
Python: the filter `data` of tarfile (PEP 706) resolves paths as text, and a path longer than PATH_MAX leads
it out of the folder (CVE-2025-4517). Here each folder on the way to an entry is opened by itself and no link
is followed, so what is written lies below the folder whatever links an archive brings. There are regular
files, folders and links only; no owner, no setuid, and only the owner may write.
"""

import errno
import hashlib
import lzma
import os
import shutil
import stat
import tarfile
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mydyno.core.beneath import BeneathError, inner_folder, opened_folder, steps_of
from mydyno.core.errors import UsageError
from mydyno.core.folders import full_cache
from mydyno.core.writing import writing
from mydyno.machine.images.build import Progress
from mydyno.server.releases.place import server_in
from mydyno.server.releases.provider import CONTENT, Provided, ProviderName

TREE = "tree"
"""The folder in the release's that holds what was in the archive."""

_REPORTED_EVERY = 500


@dataclass(frozen=True)
class Archive:
    """A file of this machine."""

    file: Path
    name: ProviderName = "archive"

    def install(self, staging: Path, progress: Progress) -> Provided:
        """Raises UsageError for what is not an archive, holds no server or would leave its folder;
        LabError."""
        tree = staging / CONTENT / TREE
        checksum = digest(self.file, "sha256")
        unpack(self.file, tree, progress)
        try:
            binary = server_in(tree)
        except UsageError as error:
            raise UsageError(f"{self.file}: {error.message.replace(f'{tree} holds', 'it holds')}") from error
        return Provided(
            binary=binary.relative_to(staging / CONTENT),
            source=str(self.file.resolve()),
            checksum=f"sha256-{checksum.hex()}",
        )


def unpack(file: Path, target: Path, progress: Progress) -> None:
    """Unpacks into the new folder `target`, owned by mydyno's user, without device files and setuid bits.

    What points out of `target` is refused, by rules of our own. Raises UsageError, LabError.
    """
    progress(f"unpacking {file.name}")
    with writing(target):
        target.mkdir(parents=True)
    try:
        with tarfile.open(file, "r:*") as archive, opened_folder(target) as top:
            for count, member in enumerate(archive, start=1):
                if count % _REPORTED_EVERY == 0:
                    progress(f"unpacking {file.name}: {count} files")
                unpack_entry(archive, member, top)
    except EntryError as error:
        raise UsageError(f"{file} is refused: {error}", "an archive of a server has no such entry") from error
    except (tarfile.TarError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
        raise _broken(file, error) from error
    except OSError as error:
        if error.errno is None:  # gzip and bz2 call broken data that.
            raise _broken(file, error) from error
        if error.errno == errno.ENOSPC:
            raise full_cache(target) from error
        with writing(target):
            raise


def _broken(file: Path, error: Exception) -> UsageError:
    return UsageError(
        f"{file} is not a complete tar archive: {error}",
        "give plain tar, or one compressed by gzip, bzip2 or xz",
    )


def digest(file: Path, algorithm: str) -> bytes:
    """Raises UsageError when the file cannot be read."""
    try:
        with file.open("rb") as content:
            return hashlib.file_digest(content, algorithm).digest()
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error


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
