"""Writing to disk with an error that people understand."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mydyno.core.errors import LabError

DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_HINTS = {
    errno.ENOENT: "does the folder {parent} exist?",
    errno.ENOTDIR: "a part of {parent} is not a folder",
    errno.EACCES: "may this user write there?",
    errno.EPERM: "may this user write there?",
    errno.EROFS: "its file system is mounted read-only",
    errno.ENAMETOOLONG: "choose a shorter path",
}


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turns an OSError inside the block into a LabError that names `path`, as for a full disk."""
    try:
        yield
    except OSError as error:
        raise LabError(f"{path} cannot be written: {error.strerror}", writing_hint(error, path)) from error


def writing_hint(error: OSError, path: Path) -> str | None:
    """How to fix what kept `path` from being written; None where the error's own text must do."""
    if error.errno in DISK_FULL:
        return f"free some space on the disk of {path.parent}, or choose a folder on a larger one"
    hint = _HINTS.get(error.errno or 0)
    return hint and hint.format(parent=path.parent)
