"""Folders that are whole or not there, whatever stops their writing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from mydyno.core.errors import MydynoError
from mydyno.core.writing import writing_hint


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
        hint = writing_hint(error, path) if isinstance(error, OSError) else None
        raise MydynoError(f"cannot write {path}: {why}", hint) from error
