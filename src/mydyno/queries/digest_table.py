"""One look at events_statements_summary_by_digest, in the columns that the release has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from mydyno.queries.counting import answer
from mydyno.queries.summary import NUMBERS, PICOSECONDS_PER_US, Key, Row, Sample
from mydyno.survey.asking import Asking, text_of

_SUMMARY = "performance_schema.events_statements_summary_by_digest"
_HISTOGRAM = "performance_schema.events_statements_histogram_by_digest"
"""Since MySQL 8.0."""
_TIMES = ("FIRST_SEEN", "LAST_SEEN")
_SAMPLE = ("QUERY_SAMPLE_TEXT", "QUERY_SAMPLE_SEEN", "QUERY_SAMPLE_TIMER_WAIT")
_WHAT = "the digests"


@dataclass(frozen=True)
class Reading:
    """What the server has counted up to one moment of its clock."""

    at_us: int
    """Microseconds since 1970, UTC."""
    lost: int
    """Statements since its start that found the table full."""
    rows: Mapping[Key, Row]


@dataclass(frozen=True)
class Table:
    """The summary as this release has it."""

    columns: frozenset[str]
    has_histogram: bool


def look_at_table(asking: Asking, address: str) -> Table:
    """Raises ServerError where the account may not read it."""
    answer(asking, address, _WHAT, f"SELECT * FROM {_SUMMARY} LIMIT 0")
    columns = frozenset(str(column[0]).upper() for column in asking.cursor.description or ())
    return Table(columns, has_histogram="QUANTILE_95" in columns)


def read(asking: Asking, address: str, table: Table, *, with_texts: bool) -> Reading:
    """Raises ServerError. Without texts it is the beginning of an interval, of which only numbers matter."""
    names = ["SCHEMA_NAME", "DIGEST", *(name for name in NUMBERS if name in table.columns)]
    # The column is a TIMESTAMP: this is UTC, whatever zone server and session are in.
    shown = [*names, *(f"UNIX_TIMESTAMP({name})" for name in _TIMES)]
    names += _TIMES
    if with_texts:
        texts = ["DIGEST_TEXT", *(name for name in _SAMPLE if name in table.columns)]
        names += texts
        shown += [f"UNIX_TIMESTAMP({name})" if name == "QUERY_SAMPLE_SEEN" else name for name in texts]
    cells = answer(asking, address, _WHAT, f"SELECT {', '.join(shown)} FROM {_SUMMARY}")
    rows = [_row(dict(zip(names, row, strict=True))) for row in cells]
    buckets = _buckets(asking, address) if table.has_histogram else {}
    (status,) = answer(asking, address, _WHAT, "SHOW GLOBAL STATUS LIKE 'Performance_schema_digest_lost'")
    ((now,),) = answer(asking, address, "the server's clock", "SELECT UNIX_TIMESTAMP(NOW(6))")
    return Reading(
        at_us=_us(now) or 0,
        lost=int(str(status[1])),
        rows={row.key: replace(row, buckets=buckets.get(row.key, {})) for row in rows},
    )


def _row(row: Mapping[str, Any]) -> Row:
    return Row(
        schema=_text(row["SCHEMA_NAME"]),
        digest=_text(row["DIGEST"]),
        numbers={name: int(row[name]) for name in NUMBERS if row.get(name) is not None},
        first_us=_us(row["FIRST_SEEN"]),
        last_us=_us(row["LAST_SEEN"]),
        text=_text(row.get("DIGEST_TEXT")) or "",
        sample=_sample(row),
    )


def _sample(row: Mapping[str, Any]) -> Sample | None:
    text, seen = _text(row.get("QUERY_SAMPLE_TEXT")), _us(row.get("QUERY_SAMPLE_SEEN"))
    if not text or seen is None:
        return None
    return Sample(text, seen, int(row["QUERY_SAMPLE_TIMER_WAIT"]) // PICOSECONDS_PER_US)


def _buckets(asking: Asking, address: str) -> dict[Key, dict[int, int]]:
    columns = "SCHEMA_NAME, DIGEST, BUCKET_TIMER_HIGH, COUNT_BUCKET"
    statement = f"SELECT {columns} FROM {_HISTOGRAM} WHERE COUNT_BUCKET > 0"
    by_key: dict[Key, dict[int, int]] = {}
    for schema, digest, high, count in answer(asking, address, "how long statements took", statement):
        buckets = by_key.setdefault((_text(schema), _text(digest)), {})
        # What took less than the bound and a microsecond shows as the bound.
        bound = int(str(high)) // PICOSECONDS_PER_US
        buckets[bound] = buckets.get(bound, 0) + int(str(count))
    return by_key


def _text(value: object) -> str | None:
    return None if value is None else text_of(value)


def _us(seconds: Any) -> int | None:
    """0 is the time of a row that was never used."""
    return int(seconds * 1_000_000) or None if seconds is not None else None
