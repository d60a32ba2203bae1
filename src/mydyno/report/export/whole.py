"""Files and folders that are whole or not there, whatever stops their writing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import polars as pl

from mydyno.core.errors import MydynoError
from mydyno.results.files import sync


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file that takes the name of `path`, in place of an older one, when the block has ended well.

    Raises MydynoError when it cannot be written.
    """
    partial = path.with_name(f".{path.name}.partial")
    with _explained(path):
        try:
            with partial.open("wb") as file:
                yield file
            sync(partial)
            partial.replace(path)
        except BaseException:
            with suppress(OSError):
                partial.unlink()
            raise


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """An empty folder that takes the name of `path` when the block has ended well.

    Raises MydynoError when something is there already, or it cannot be written.
    """
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise MydynoError(f"{path} exists already", "another folder may do: --out FOLDER")
    partial = path.with_name(f".{path.name}.partial")
    with _explained(path):
        try:
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir(parents=True)
            yield partial
            partial.replace(path)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, pl.exceptions.PolarsError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise MydynoError(
            f"cannot write {path}: {why}", "free some space, or name a place elsewhere with --out"
        ) from error
