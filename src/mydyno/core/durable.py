"""Files that are on the disk when the call returns, and whole or not there after a kill or a power cut."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from mydyno.core.beneath import LISTED, folder_below, open_below, opened_folder, parent_below, read_below


def sync(path: Path) -> None:
    """Pushes a file, or a folder's list of names, to the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(folder: Path) -> None:
    """Pushes everything below `folder` to the disk, files before the folders that name them."""
    for parent, _, files in os.walk(folder, topdown=False):
        for name in files:
            path = Path(parent, name)
            if path.is_file() and not path.is_symlink():
                sync(path)
        sync(Path(parent))


def sync_folder(folder: int) -> None:
    """Pushes the names in a folder, of which this is a descriptor, to the disk."""
    descriptor = os.open(".", LISTED, dir_fd=folder)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder_below(anchor: Path, folder: Path) -> None:
    with folder_below(anchor, folder) as opened:
        sync_folder(opened)


def make_folder_below(anchor: Path, path: Path, mode: int) -> None:
    """A new folder of exactly this mode, whatever the umask; its name is on the disk. Its parent exists."""
    with parent_below(anchor, path) as (parent, name):
        os.mkdir(name, mode, dir_fd=parent)
        descriptor = os.open(name, LISTED | os.O_NOFOLLOW, dir_fd=parent)
        try:
            os.fchmod(descriptor, mode)
        finally:
            os.close(descriptor)
        sync_folder(parent)


def write_synced(anchor: Path, path: Path, content: bytes) -> None:
    """Writes a file that only its owner may read. Its name is on the disk after a sync of its folder."""
    descriptor = open_below(anchor, path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(descriptor)


@contextmanager
def replacing_in(folder: int, name: str, temporary: str, mode: int) -> Iterator[BinaryIO]:
    """A new file, named `temporary`, that takes the name `name` when the block has ended well.

    `folder` is a descriptor, and is not synced. Raises OSError, with nothing changed.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, mode, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(descriptor)
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file that takes the name of `path`, in place of an older one, when the block has ended well.

    A link is followed, and an older file's permissions are kept. Raises OSError, with nothing changed.
    """
    target = path.resolve()
    temporary = f".{target.name}.{os.getpid()}.partial"
    with opened_folder(target.parent) as folder, replacing_in(folder, target.name, temporary, 0o666) as file:
        if target.exists():
            os.fchmod(file.fileno(), stat.S_IMODE(target.stat().st_mode))
        yield file


def replace_file(path: Path, content: str) -> None:
    """Writes `content` to `path`: after a crash the file holds the old text or the new, never a part.

    A link is replaced, not followed. One process at a time may do that.
    """
    if path.is_file() and path.read_text(encoding="utf-8") == content:
        return
    temporary = f".{path.name}.partial"
    with opened_folder(path.parent) as folder:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)
        with replacing_in(folder, path.name, temporary, 0o666) as file:
            file.write(content.encode())
        sync_folder(folder)


class SyncedLog:
    """Lines that are only ever appended, each on the disk before `append` returns.

    A last line that was cut short was never synced, so what it announces has not happened: it is not read,
    and the next line is written over it. All methods raise OSError.
    """

    def __init__(self, anchor: Path, path: Path) -> None:
        """`anchor`: the folder below which the file is opened without following links."""
        self.path = path
        self._anchor = anchor

    def create(self) -> None:
        """Makes an empty file, unless there is one."""
        with self._opened():
            pass

    def lines(self) -> list[bytes]:
        """The whole lines; none where there is no file."""
        try:
            content = read_below(self._anchor, self.path)
        except FileNotFoundError:
            return []
        return content[: content.rfind(b"\n") + 1].splitlines()

    def append(self, line: bytes) -> None:
        """Adds the line, which has no line feed. After an error nothing was added."""
        content = line + b"\n"
        with self._opened() as descriptor:
            end = _end_of_whole_lines(descriptor)
            os.ftruncate(descriptor, end)
            try:
                if os.write(descriptor, content) != len(content):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                os.fsync(descriptor)
            except OSError:
                os.ftruncate(descriptor, end)
                raise

    @contextmanager
    def _opened(self) -> Iterator[int]:
        flags = os.O_RDWR | os.O_APPEND
        try:
            descriptor = open_below(self._anchor, self.path, flags)
        except FileNotFoundError:
            descriptor = open_below(self._anchor, self.path, flags | os.O_CREAT)
            sync_folder_below(self._anchor, self.path.parent)
        try:
            yield descriptor
        finally:
            os.close(descriptor)


def _end_of_whole_lines(descriptor: int) -> int:
    size = os.fstat(descriptor).st_size
    if size == 0 or os.pread(descriptor, 1, size - 1) == b"\n":
        return size
    return os.pread(descriptor, size, 0).rfind(b"\n") + 1
