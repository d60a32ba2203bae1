"""Removing folders that processes may still be leaving."""

import shutil
from pathlib import Path


def remove_tree(path: Path) -> None:
    """Removes a folder and all in it. What goes meanwhile, or is not there, is left out: a process that has
    just been killed may be removing its own files. Raises OSError; follows no symbolic link."""
    shutil.rmtree(path, onerror=_unless_gone)


def _unless_gone(_function: object, _path: str, failure: tuple[type, BaseException, object]) -> None:
    if not isinstance(failure[1], FileNotFoundError):
        raise failure[1]
