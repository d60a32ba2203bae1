"""Files below a folder, for names and contents that another user has chosen.

Each folder on the way is opened in the one before it without following links (openat(2) with O_NOFOLLOW).
That gives what openat2(2) gives with RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS, on every kernel and Python: no
name, link or length of a path leads out, whatever changes meanwhile. The folder itself, the anchor, may be a
link: the user has named it. A `path` begins with its `anchor`. All functions raise OSError, BeneathError too.
"""

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
LISTED = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class BeneathError(OSError):
    """A path that leads out of its folder, or to something other than a file; `strerror` says which."""

    def __init__(self, name: str | Path, why: str, number: int = errno.EXDEV) -> None:
        super().__init__(number, why, str(name))


def steps_of(name: str) -> tuple[str, ...]:
    """The folders and the file of a name below a folder. Raises BeneathError for one that leads out of it."""
    steps = tuple(step for step in name.split("/") if step not in ("", "."))
    if name.startswith("/"):
        raise BeneathError(name, "the path is absolute, so not below its folder")
    if ".." in steps or "\0" in name or not steps:
        raise BeneathError(name, "the path leads out of its folder")
    return steps


@contextmanager
def opened_folder(folder: Path) -> Iterator[int]:
    """The descriptor of a folder that is trusted: links on the way to it are followed."""
    descriptor = os.open(folder, _FOLDER)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def inner_folder(top: int, steps: Sequence[str], *, make: bool = False) -> Iterator[int]:
    """The descriptor of the folder `steps` below the open folder `top`; with `make`, missing ones are made.

    For calls that take a dir_fd. Raises BeneathError for a link on the way.
    """
    descriptor = os.dup(top)
    try:
        for step in steps:
            is_new = make and _makes(step, descriptor)
            following = _step(descriptor, step, "/".join(steps))
            os.close(descriptor)
            descriptor = following
            if is_new:  # Whatever the umask: servers run as another user.
                Path(f"/proc/self/fd/{descriptor}").chmod(0o755)
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def folder_below(anchor: Path, path: Path) -> Iterator[int]:
    """The descriptor of the folder `path`, for calls that take a dir_fd."""
    with opened_folder(anchor) as top, inner_folder(top, _steps(anchor, path)) as folder:
        yield folder


@contextmanager
def parent_below(anchor: Path, path: Path) -> Iterator[tuple[int, str]]:
    """The descriptor of the folder that holds the file, and the name of the file."""
    *folders, name = _steps(anchor, path) or steps_of("")
    with opened_folder(anchor) as top, inner_folder(top, folders) as folder:
        yield folder, name


def open_below(anchor: Path, path: Path, flags: int, mode: int = 0o600) -> int:
    """As os.open."""
    with parent_below(anchor, path) as (folder, name):
        return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=folder)


def open_file_below(anchor: Path, path: Path) -> int:
    """A regular file, to be read. Nothing else is opened: opening a device or a FIFO may have effects."""
    seen = open_below(anchor, path, os.O_PATH)
    try:
        mode = os.fstat(seen).st_mode
        if stat.S_ISLNK(mode):
            raise BeneathError(path, "it is a symbolic link, which is not followed", errno.ELOOP)
        if not stat.S_ISREG(mode):
            raise BeneathError(path, "it is not a regular file", errno.EINVAL)
        return os.open(f"/proc/self/fd/{seen}", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(seen)


def read_below(anchor: Path, path: Path, most_bytes: int = -1) -> bytes:
    """All of a regular file. Raises BeneathError for one of more than `most_bytes`, where that is given."""
    with os.fdopen(open_file_below(anchor, path), "rb") as file:
        data = file.read(most_bytes + 1 if most_bytes >= 0 else -1)
    if 0 <= most_bytes < len(data):
        raise BeneathError(path, f"it is larger than {most_bytes:,} bytes", errno.EFBIG)
    return data


def write_below(anchor: Path, path: Path, data: bytes, *, replace: bool = False) -> None:
    """Makes the file with all of `data`, or nothing. Raises FileExistsError.

    With `replace` what has the name is replaced, and a link with it, not the file that it leads to.
    """
    with parent_below(anchor, path) as (folder, name):
        part = f".{name[:200]}.{os.getpid()}.part"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(part, flags, 0o666, dir_fd=folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            if replace:
                os.rename(part, name, src_dir_fd=folder, dst_dir_fd=folder)
            else:  # A rename would overwrite what has come to be there meanwhile.
                os.link(part, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(part, dir_fd=folder)


def exists_below(anchor: Path, path: Path) -> bool:
    """Whether there is anything of that name, a link included."""
    try:
        with parent_below(anchor, path) as (folder, name):
            os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


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
        listed = os.open(".", LISTED, dir_fd=folder)
        try:
            return sorted(entry.name for entry in os.scandir(listed))
        finally:
            os.close(listed)


def _steps(anchor: Path, path: Path) -> tuple[str, ...]:
    try:
        below = str(path.relative_to(anchor))
    except ValueError:
        raise BeneathError(path, "the path is absolute, so not below its folder") from None
    return () if below == "." else steps_of(below)


def _step(folder: int, name: str, path: str) -> int:
    try:
        return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
    except NotADirectoryError:
        if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            why = "the path has a symbolic link in it, which is not followed"
            raise BeneathError(path, why, errno.ELOOP) from None
        raise


def _makes(step: str, within: int) -> bool:
    try:
        os.mkdir(step, 0o755, dir_fd=within)
    except FileExistsError:
        return False
    return True
