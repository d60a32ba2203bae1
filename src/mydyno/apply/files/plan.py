"""From a new text to the act that puts it in place: where that really is, what was there."""

import os
from pathlib import Path, PurePosixPath

from mydyno.apply.apply_context import AS_ROOT
from mydyno.apply.files.inside import inside
from mydyno.apply.files.replace import ReplaceFile
from mydyno.apply.files.state import FileState, new_file
from mydyno.core.beneath import is_folder_below
from mydyno.core.errors import ApplyError


def read_file(root: Path, path: str) -> bytes | None:
    """The bytes of a file of the system below `root`, its links followed inside; None: there is none."""
    file = FileState.of(root, inside(root, path))
    return None if file is None else file[1]


def replacing(root: Path, path: str, content: bytes | None) -> tuple[ReplaceFile, tuple[bytes, ...]]:
    """The act that makes a file's bytes `content` (None: no file), and all bytes that must be kept for it.

    A link is followed, so what it points to is changed and the link stays. Raises ApplyError.
    """
    real = inside(root, path)
    before, old = FileState.of(root, real) or (None, None)
    after = None if content is None else before.with_content(content) if before else new_file(content)
    missing: list[str] = []
    for folder in PurePosixPath(real).parents:
        if is_folder_below(root, root / str(folder)[1:]):
            break
        missing.insert(0, str(folder))
    act = ReplaceFile(path=real, before=before, after=after, folders=() if before else tuple(missing))
    return act, tuple(each for each in (old, content) if each is not None)


def must_be_writable(root: Path, act: ReplaceFile) -> None:
    """Raises ApplyError when this process cannot replace the file, before anything has been changed."""
    place = root / act.path[1:]
    folder = next(each for each in place.parents if each.is_dir())
    if os.statvfs(folder).f_flag & os.ST_RDONLY:
        raise ApplyError(
            f"{place} cannot be written: its file system is read-only, nothing was changed",
            f"mount -o remount,rw {_mount_point(folder)}, or change the image that it comes from with --root",
        )
    owned = act.before is None or os.geteuid() in (0, act.before.uid)
    if not owned or not os.access(folder, os.W_OK | os.X_OK):
        raise ApplyError(f"{place} cannot be written by this user, nothing was changed", AS_ROOT)


def _mount_point(folder: Path) -> Path:
    return next(each for each in (folder, *folder.parents) if each.is_mount())
