"""The statement digests of performance_schema, read in the columns that the release has; what makes a server
count them where it does not."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from mydyno.core.errors import ServerError
from mydyno.core.server_variables import ON_WORDS
from mydyno.queries.summary import NUMBERS, PICOSECONDS_PER_US, Key, Row, Sample
from mydyno.survey.asking import Asking, text_of

_SUMMARY = "performance_schema.events_statements_summary_by_digest"
_HISTOGRAM = "performance_schema.events_statements_histogram_by_digest"
"""Since MySQL 8.0."""
_TIMES = ("FIRST_SEEN", "LAST_SEEN")
_SAMPLE = ("QUERY_SAMPLE_TEXT", "QUERY_SAMPLE_SEEN", "QUERY_SAMPLE_TIMER_WAIT")
_WHAT = "the digests"
READ = "SELECT ON performance_schema.*"
_CONSUMERS = ("global_instrumentation", "statements_digest")
_OPTION_FILE = "and a restart; `mydyno slowlog` needs none"


def answer(asking: Asking, address: str, what: str, statement: str) -> list[tuple[object, ...]]:
    """The rows of performance_schema. Raises ServerError, with the GRANT that is missing."""
    rows = asking.rows(what, statement, READ)
    if rows is None:
        missed = asking.unread.pop()
        raise ServerError(f"{address}: {what} cannot be read: {missed.why}", missed.hint)
    return rows


def refuse_what_is_off(asking: Asking, address: str, variables: Mapping[str, str]) -> None:
    """Raises ServerError where no statement is counted, with what would make the server count."""
    on = variables.get("performance_schema", "").casefold()
    if on not in ON_WORDS:
        raise ServerError(
            f"{address}: performance_schema is off" if on else f"{address}: it has no performance_schema",
            f"`performance_schema = ON` in the server's option file, {_OPTION_FILE}",
        )
    if "performance_schema_digests_size" not in variables:
        raise ServerError(
            f"{address}: its performance_schema has no statement digests",
            "MySQL 5.6 and MariaDB 10.0 and later have them; `mydyno slowlog` works with any server",
        )
    for name in ("performance_schema_digests_size", "max_digest_length"):
        if variables.get(name) == "0":
            raise ServerError(
                f"{address}: statement digests are disabled ({name} = 0)",
                f"remove {name} from the server's option file, {_OPTION_FILE}",
            )
    off = _switched_off(asking, address)
    if off:
        raise ServerError(
            f"{address}: statements are not counted by digest ({', '.join(off)}: off in"
            " performance_schema.setup_consumers)",
            "UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME IN"
            f" ({', '.join(map(repr, off))})",
        )


def _switched_off(asking: Asking, address: str) -> list[str]:
    rows = answer(
        asking,
        address,
        "what performance_schema counts",
        "SELECT NAME, ENABLED FROM performance_schema.setup_consumers",
    )
    enabled = {str(name): str(word) for name, word in rows}
    return [name for name in _CONSUMERS if enabled.get(name) == "NO"]


def uncounted(asking: Asking, address: str) -> tuple[list[str], list[str]]:
    """Kinds of statements that are not counted, and kinds that are counted but not timed.

    Raises ServerError when none is counted.
    """
    rows = answer(
        asking,
        address,
        "which statements performance_schema counts",
        "SELECT NAME, ENABLED, TIMED FROM performance_schema.setup_instruments WHERE NAME LIKE"
        " 'statement/sql/%'",
    )
    off = [_kind(name) for name, enabled, _ in rows if enabled == "NO"]
    untimed = [_kind(name) for name, enabled, timed in rows if enabled != "NO" and timed == "NO"]
    if len(off) == len(rows):
        raise ServerError(
            f"{address}: no kind of statement is counted (performance_schema.setup_instruments)",
            "UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES' WHERE NAME LIKE"
            " 'statement/%'",
        )
    return off, untimed


def _kind(name: object) -> str:
    return str(name).rpartition("/")[2]


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
