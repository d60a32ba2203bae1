"""Series out of Parquet files: loaded only where one is read, since polars is large."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import polars.selectors as cs

from mydyno.results.lost import damaged, look_at_parquet


def read_parquet(path: Path, columns: Sequence[str] | None) -> pl.DataFrame:
    look_at_parquet(path)
    wanted = cs.all() if columns is None else _named(columns)
    try:
        return pl.scan_parquet(path, glob=False).select(wanted).collect()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise damaged(path, error) from error


def columns_of(path: Path) -> tuple[str, ...]:
    look_at_parquet(path)
    try:
        return tuple(pl.read_parquet_schema(path))
    except (pl.exceptions.PolarsError, OSError) as error:
        raise damaged(path, error) from error


def _named(columns: Sequence[str]) -> cs.Selector:
    found = cs.by_name(*(name for name in columns if "*" not in name), require_all=False)
    for name in columns:
        if "*" in name:
            found = found | cs.matches(f"^{re.escape(name).replace(chr(92) + '*', '.*')}$")
    return found
