"""The folder of the experiment file, next to which the files that it names are looked for."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

_FOLDER: ContextVar[Path] = ContextVar("folder", default=Path())


@contextmanager
def files_in(path: Path) -> Iterator[None]:
    """Relative paths of files that the experiment names are below the folder `path`."""
    token = _FOLDER.set(path)
    try:
        yield
    finally:
        _FOLDER.reset(token)


def spec_folder() -> Path:
    """Where a file is looked for now."""
    return _FOLDER.get()
