"""Rows of events_statements_summary_by_digest: their difference, and what they say of statements. Pure.

Source of the columns: MySQL Reference Manual, "Statement Summary Tables". Times there are picoseconds.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from mydyno.core.words import words
from mydyno.queries.records import Figures, Flag, Measure, Unit

PICOSECONDS_PER_US = 1_000_000

Key = tuple[str | None, str | None]
"""Schema and digest. No digest: statements that found the server's table full."""

_LONGEST, _SHORTEST = "MAX_TIMER_WAIT", "MIN_TIMER_WAIT"
_MEMORY = {name: name.upper() for name in ("max_controlled_memory", "max_total_memory")}
_SELECTS = "full_join full_range_join range range_check scan"
_EXTREMES = (_LONGEST, _SHORTEST, *_MEMORY.values())
_COUNTERS = {
    **{name: f"SUM_{name.upper()}" for name in ("rows_sent", "rows_examined", "rows_affected")},
    "tmp_tables": "SUM_CREATED_TMP_TABLES",
    "tmp_disk_tables": "SUM_CREATED_TMP_DISK_TABLES",
    "merge_passes": "SUM_SORT_MERGE_PASSES",
    **{f"sort_{of}": f"SUM_SORT_{of.upper()}" for of in words("rows range scan")},
    **{f"select_{of}": f"SUM_SELECT_{of.upper()}" for of in words(_SELECTS)},
    **{name: f"SUM_{name.upper()}" for name in ("errors", "warnings")},
}
_FLAGS = {name: f"SUM_{name.upper()}" for name in ("no_index_used", "no_good_index_used")}
_COUNT, _TIME, _LOCK, _CPU = "COUNT_STAR", "SUM_TIMER_WAIT", "SUM_LOCK_TIME", "SUM_CPU_TIME"

NUMBERS = (_COUNT, _TIME, _LOCK, _CPU, *_EXTREMES, *_COUNTERS.values(), *_FLAGS.values())
"""The columns that are read, as far as a release has them."""


@dataclass(frozen=True)
class Sample:
    """A statement that the server kept as an example (MySQL 8.0)."""

    text: str
    seen_us: int
    query_time_us: int


@dataclass(frozen=True)
class Row:
    """What the server counted of one digest in one schema."""

    schema: str | None
    digest: str | None
    numbers: Mapping[str, int]
    """By column; what a release does not count, or is not known of an interval, is not there."""
    first_us: int | None = None
    """Microseconds since 1970, UTC."""
    last_us: int | None = None
    text: str = ""
    sample: Sample | None = None
    buckets: Mapping[int, int] = field(default_factory=dict)
    """How many took up to so many microseconds, and longer than the next smaller bound."""

    @property
    def key(self) -> Key:
        return self.schema, self.digest

    @property
    def count(self) -> int:
        return self.numbers[_COUNT]


def difference(before: Mapping[Key, Row], after: Iterable[Row]) -> list[Row]:
    """What ran between two readings; rows that were not used are left out.

    The shortest, the longest and the largest are the server's since it began to count: of an interval they
    are known only for what ran for the first time in it.
    """
    rows = (_since(before.get(row.key), row) for row in after)
    return [row for row in rows if row.count]


def _since(old: Row | None, row: Row) -> Row:
    if old is None or was_reset(old, row):
        return row
    numbers = {
        name: number - old.numbers.get(name, 0)
        for name, number in row.numbers.items()
        if name not in _EXTREMES
    }
    buckets = {bound: count - old.buckets.get(bound, 0) for bound, count in row.buckets.items()}
    used = {bound: count for bound, count in buckets.items() if count > 0}
    return replace(row, numbers=numbers, first_us=None, buckets=used)


def was_reset(old: Row, row: Row) -> bool:
    """Whether the server's table was emptied between the two."""
    return row.count < old.count


def figures(rows: Sequence[Row]) -> Figures:
    """What rows come to."""
    schemas: dict[str, int] = {}
    for row in rows:
        if row.schema is not None:
            schemas[row.schema] = schemas.get(row.schema, 0) + row.count
    firsts = [row.first_us for row in rows]
    known_firsts = [first for first in firsts if first is not None]
    lasts = [row.last_us for row in rows if row.last_us is not None]
    return Figures(
        count=sum(row.count for row in rows),
        first_us=min(known_firsts) if known_firsts and len(known_firsts) == len(firsts) else None,
        last_us=max(lasts, default=None),
        measures=_measures(rows),
        flags={
            name: Flag(yes=min(yes, counted), told=counted)
            for name, column in _FLAGS.items()
            for yes, counted in (_sum(rows, column),)
            if counted
        },
        databases=tuple(sorted(schemas.items(), key=lambda each: (-each[1], each[0]))),
    )


def _sum(rows: Sequence[Row], column: str) -> tuple[int, int]:
    """The sum, and how many statements it is of."""
    counted = [row for row in rows if column in row.numbers]
    return sum(row.numbers[column] for row in counted), sum(row.count for row in counted)


def _measures(rows: Sequence[Row]) -> dict[str, Measure]:
    measures: dict[str, Measure] = {}
    if (time := _query_time(rows)) is not None:
        measures["query_time"] = time
        measures.update(_added(rows, {"lock_time": _LOCK}, "us"))
    # Zero means not counted: the consumer events_statements_cpu is off by default.
    counted = [row for row in rows if row.numbers.get(_CPU)]
    measures.update(_added(counted, {"cpu_time": _CPU}, "us"))
    measures.update(_added(rows, _COUNTERS, "count"))
    for name, column in _MEMORY.items():
        # Of no statement but the hungriest is it known.
        most = max((row.numbers.get(column, 0) for row in rows), default=0)
        if most:
            measures[name] = Measure(unit="bytes", count=0, sum=0, max=most)
    return measures


def _added(rows: Sequence[Row], columns: Mapping[str, str], unit: Unit) -> dict[str, Measure]:
    sums = {name: _sum(rows, column) for name, column in columns.items()}
    divisor = PICOSECONDS_PER_US if unit == "us" else 1
    return {
        name: Measure(unit=unit, count=counted, sum=total // divisor)
        for name, (total, counted) in sums.items()
        if counted
    }


def _query_time(rows: Sequence[Row]) -> Measure | None:
    """None where nothing was timed."""
    timed = [row for row in rows if row.numbers[_TIME]]
    if not timed:
        return None
    shortest = [row.numbers[_SHORTEST] for row in timed if _SHORTEST in row.numbers]
    longest = [row.numbers[_LONGEST] for row in timed if _LONGEST in row.numbers]
    all_known = len(longest) == len(timed)
    most_us = max(longest) // PICOSECONDS_PER_US if all_known else None
    histogram = _histogram(timed, most_us)
    counted = sum(count for _, count in histogram)
    return Measure(
        unit="us",
        count=sum(row.count for row in timed),
        sum=sum(row.numbers[_TIME] for row in timed) // PICOSECONDS_PER_US,
        min=min(shortest) // PICOSECONDS_PER_US if all_known else None,
        max=most_us,
        p50=_quantile(histogram, 0.50 * counted),
        p95=_quantile(histogram, 0.95 * counted),
        p99=_quantile(histogram, 0.99 * counted),
        histogram=histogram,
    )


def _histogram(rows: Sequence[Row], most_us: int | None) -> tuple[tuple[int, int], ...]:
    """Empty unless each of the rows has one. No bound is beyond the longest."""
    if not all(row.buckets for row in rows):
        return ()
    joined: dict[int, int] = {}
    for row in rows:
        for bound, count in row.buckets.items():
            most = bound if most_us is None else min(bound, most_us)
            joined[most] = joined.get(most, 0) + count
    return tuple(sorted(joined.items()))


def _quantile(histogram: Sequence[tuple[int, int]], wanted: float) -> int | None:
    """The bound of the bucket in which so many statements are reached."""
    reached = 0
    for bound, count in histogram:
        reached += count
        if reached >= wanted:
            return bound
    return None
