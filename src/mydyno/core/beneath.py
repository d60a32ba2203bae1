"""Files below a folder, for names that somebody else has chosen.

Every folder on the way is opened by itself, in the one before it, without following links (openat(2) with
O_NOFOLLOW). So no name, link or length of a path leads out of the folder, whatever changes meanwhile.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_ENTRY = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK
"""O_NONBLOCK: a FIFO is opened at once, to be refused."""


class BeneathError(OSError):
    """A name that leads out of its folder or to something other than a file; `strerror` says which."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(errno.EPERM, why, name)


def steps_of(name: str) -> tuple[str, ...]:
    """The folders and the file of a path below a folder. Raises BeneathError for one that leads out of it."""
    steps = tuple(step for step in name.split("/") if step not in ("", "."))
    if name.startswith("/"):
        raise BeneathError(name, "is not below its folder: it is absolute")
    if ".." in steps or "\0" in name or not steps:
        raise BeneathError(name, "is not below its folder")
    return steps


@contextmanager
def opened_folder(folder: Path) -> Iterator[int]:
    """The descriptor of a folder that is trusted: links on the way to it are followed. Raises OSError."""
    descriptor = os.open(folder, _FOLDER)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def folder_below(top: int, steps: Sequence[str], *, make: bool = False) -> Iterator[int]:
    """The descriptor of the folder `steps` below the open folder `top`; with `make`, missing ones are made.

    Raises BeneathError for a link on the way, OSError for what is no folder or not there.
    """
    descriptor = os.dup(top)
    try:
        for step in steps:
            is_new = make and _makes(step, descriptor)
            try:
                inner = os.open(step, _FOLDER | os.O_NOFOLLOW, dir_fd=descriptor)
            except OSError as error:
                if error.errno in (errno.ELOOP, errno.ENOTDIR) and _is_link(step, descriptor):
                    raise BeneathError("/".join(steps), "has a symbolic link in it") from None
                raise
            os.close(descriptor)
            descriptor = inner
            if is_new:
                os.fchmod(descriptor, 0o755)  # Whatever the umask: servers run as another user.
        yield descriptor
    finally:
        os.close(descriptor)


def exists_below(folder: Path, name: str) -> bool:
    """Whether there is anything of that name, a link included. Raises BeneathError, OSError."""
    *folders, last = steps_of(name)
    try:
        with opened_folder(folder) as top, folder_below(top, folders) as within:
            os.stat(last, dir_fd=within, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def read_below(folder: Path, name: str, most_bytes: int) -> bytes:
    """The contents of a regular file. Raises BeneathError for anything else and for a larger one, OSError."""
    *folders, last = steps_of(name)
    with opened_folder(folder) as top, folder_below(top, folders) as within:
        try:
            descriptor = os.open(last, os.O_RDONLY | _ENTRY, dir_fd=within)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise BeneathError(name, "is a symbolic link") from None
            raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise BeneathError(name, "is not a regular file")
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise BeneathError(name, f"is larger than {most_bytes:,} bytes")
    return data


def write_below(folder: Path, name: str, data: bytes, *, replace: bool = False) -> None:
    """Makes the file with all of `data`, or nothing. Raises BeneathError, FileExistsError, OSError.

    With `replace` what has the name is replaced, and a link with it, not the file that it leads to.
    """
    *folders, last = steps_of(name)
    part = f".{last[:200]}.{os.getpid()}.part"
    with opened_folder(folder) as top, folder_below(top, folders) as within:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _ENTRY, 0o666, dir_fd=within)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            if replace:
                os.rename(part, last, src_dir_fd=within, dst_dir_fd=within)
            else:  # A rename would overwrite what has come to be there meanwhile.
                os.link(part, last, src_dir_fd=within, dst_dir_fd=within, follow_symlinks=False)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(part, dir_fd=within)


def _makes(step: str, within: int) -> bool:
    try:
        os.mkdir(step, 0o755, dir_fd=within)
    except FileExistsError:
        return False
    return True


def _is_link(step: str, within: int) -> bool:
    try:
        return stat.S_ISLNK(os.stat(step, dir_fd=within, follow_symlinks=False).st_mode)
    except OSError:
        return False
