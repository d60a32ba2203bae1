"""Series out of Parquet files: loaded only where one is read, since polars is large."""

import re
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import polars.selectors as cs

from mydyno.lab.results.files import damaged, look_at_parquet

_BROKEN = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
"""What polars makes of a damaged file. A panic is its own bug, and of the file all the same."""
_KINDS = {"histogram": pl.Binary}
"""Columns that are not numeric."""


def read_parquet(path: Path, columns: Sequence[str] | None) -> pl.DataFrame:
    look_at_parquet(path)
    wanted = cs.all() if columns is None else _named(columns)
    try:
        frame = pl.scan_parquet(path, glob=False).select(wanted).collect()
    except _BROKEN as error:
        raise damaged(path, str(error)) from error
    for name, kind in frame.schema.items():
        if not (kind.is_numeric() or kind == pl.Boolean or kind == _KINDS.get(name)):
            raise damaged(path, f"its column {name} is of the type {kind}")
    return frame


def columns_of(path: Path) -> tuple[str, ...]:
    look_at_parquet(path)
    try:
        return tuple(pl.read_parquet_schema(path))
    except _BROKEN as error:
        raise damaged(path, str(error)) from error


def _named(columns: Sequence[str]) -> cs.Selector:
    found = cs.by_name(*(name for name in columns if "*" not in name), require_all=False)
    for name in columns:
        if "*" in name:
            found = found | cs.matches(f"^{re.escape(name).replace(chr(92) + '*', '.*')}$")
    return found
