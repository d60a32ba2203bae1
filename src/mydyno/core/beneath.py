"""Files below a folder, reached without following any link: whatever lies there, nothing outside is touched.

Each part of a path is opened from the folder before it with O_NOFOLLOW (openat of open(2)). That gives what
openat2(2) gives with RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS, on every kernel. The folder itself, the anchor,
may be a link: the user has named it. All functions raise OSError; ELOOP where a link stands in the way.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LINK = "a part of its path is a symbolic link, which is not followed"
_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def folder_below(anchor: Path, path: Path) -> Iterator[int]:
    """A descriptor of the folder `path`, for calls that take a dir_fd. `path` begins with `anchor`."""
    parts = path.relative_to(anchor).parts
    if ".." in parts:
        raise OSError(errno.EXDEV, "its path leads out of the folder", str(path))
    descriptor = os.open(anchor, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts:
            following = _step(descriptor, part, path)
            os.close(descriptor)
            descriptor = following
        yield descriptor
    finally:
        os.close(descriptor)


def _step(folder: int, name: str, path: Path) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=folder)
    except NotADirectoryError:
        if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise OSError(errno.ELOOP, _LINK, str(path)) from None
        raise


def open_below(anchor: Path, path: Path, flags: int, mode: int = 0o600) -> int:
    """As os.open."""
    with folder_below(anchor, path.parent) as folder:
        return os.open(path.name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=folder)


def open_file_below(anchor: Path, path: Path) -> int:
    """A regular file, to be read. Nothing else is opened: opening a device or a FIFO may have effects."""
    seen = open_below(anchor, path, os.O_PATH)
    try:
        mode = os.fstat(seen).st_mode
        if stat.S_ISLNK(mode):
            raise OSError(errno.ELOOP, _LINK, str(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
        return os.open(f"/proc/self/fd/{seen}", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(seen)


def read_below(anchor: Path, path: Path) -> bytes:
    """All of a regular file."""
    with os.fdopen(open_file_below(anchor, path), "rb") as file:
        return file.read()


def is_folder_below(anchor: Path, path: Path) -> bool:
    """False where there is nothing, or something else."""
    try:
        with folder_below(anchor, path):
            return True
    except (FileNotFoundError, NotADirectoryError):
        return False


def names_below(anchor: Path, path: Path) -> list[str]:
    """The names in a folder, sorted."""
    with folder_below(anchor, path) as folder:
        listed = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
        try:
            return sorted(entry.name for entry in os.scandir(listed))
        finally:
            os.close(listed)


def make_folder_below(anchor: Path, path: Path, mode: int) -> None:
    """A new folder of exactly this mode, whatever the umask; its name is on the disk. Its parent exists."""
    with folder_below(anchor, path.parent) as parent:
        os.mkdir(path.name, mode, dir_fd=parent)
        made = os.open(path.name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
        try:
            os.fchmod(made, mode)
        finally:
            os.close(made)
        sync_folder(parent)


def sync_folder(folder: int) -> None:
    """Puts the names in a folder, of which this is a descriptor, on the disk."""
    descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
