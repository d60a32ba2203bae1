"""How the data of each setting was cloned, and how warm the caches were when the load began."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mydyno.core.units import format_bytes
from mydyno.lab.results.records import DataRecord, TrialRecord

Row = tuple[str, tuple[str | None, ...]]
"""What it is, and its text for each setting; None where no trial tells."""


def data_rows(by_setting: Sequence[Sequence[TrialRecord]]) -> tuple[Row, ...]:
    """One row a fact, over the trials of each setting; empty where no server ran on data of its own."""
    known = [[trial.data for trial in trials if trial.data is not None] for trials in by_setting]
    if not any(known):
        return ()
    rows: dict[str, Callable[[list[DataRecord]], str | None]] = {
        "cache": lambda data: data[0].cache,
        "clone of the data": _cloned,
        "data in the page cache at the start": _page_cache,
        "buffer pool before the load": _pool,
    }
    return tuple((name, tuple(tell(data) if data else None for data in known)) for name, tell in rows.items())


def _cloned(data: list[DataRecord]) -> str:
    """`copy`; `copy, reflink` where trials differ."""
    return ", ".join(sorted({each.clone for each in data}))


def _page_cache(data: list[DataRecord]) -> str | None:
    """`98% of 112M`"""
    shares = [
        each.cached_bytes / each.file_bytes
        for each in data
        if each.cached_bytes is not None and each.file_bytes
    ]
    sizes = [each.file_bytes for each in data if each.file_bytes]
    return f"{_percent(shares)} of {format_bytes(max(sizes))}" if shares else None


def _pool(data: list[DataRecord]) -> str | None:
    """`12% of 8192 pages`"""
    shares = [
        each.pool_pages / each.pool_pages_total
        for each in data
        if each.pool_pages is not None and each.pool_pages_total
    ]
    pages = [each.pool_pages_total for each in data if each.pool_pages_total]
    return f"{_percent(shares)} of {max(pages)} pages" if shares else None


def _percent(shares: list[float]) -> str:
    low, high = (f"{share:.1%}".replace(".0%", "%") for share in (min(shares), max(shares)))
    return low if low == high else f"{low} to {high}"
