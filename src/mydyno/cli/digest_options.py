"""The options of `mydyno digest`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mydyno.cli.digest_showing import DETAILS, LIMIT, LIMIT_OF_PAGE
from mydyno.cli.quantities import Duration, Percent, duration, percentage
from mydyno.core.errors import UsageError

Files = Annotated[
    list[str] | None,
    typer.Argument(
        help="Slow logs (plain, gzip or zstd; rotated ones in any order), exports of CloudWatch or of the"
        " table mysql.slow_log, `-` for standard input, or one digest that `--json` wrote. Without a"
        " file: performance_schema of the server.",
        metavar="FILE",
        show_default=False,
    ),
]
Since = Annotated[
    str | None,
    typer.Option(
        "--since",
        metavar="TIME",
        help="Only what ran from then on: `'2026-11-22 03:00'`, `03:00` (the last one), `-2h`, `'2h ago'`.",
        show_default=False,
    ),
]
Until = Annotated[
    str | None,
    typer.Option("--until", metavar="TIME", help="Only what ran before.", show_default=False),
]
Zone = Annotated[
    str | None,
    typer.Option(
        "--time-zone",
        metavar="ZONE",
        help="The zone of times in options and output: `UTC`, `Europe/Berlin`.",
        show_default="this machine's",
    ),
]
Filter = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        metavar="CONDITION",
        help="`'NAME OP VALUE'`: only such entries. NAME is user, host, database, statement, fingerprint, id,"
        " error, tag.KEY, query_time, rows_examined, full_scan..., OP is = != < <= > >= ~ or !~"
        " (docs/how-to/digest.md). Can be repeated: all must hold.",
        show_default=False,
    ),
]
GroupBy = Annotated[
    str,
    typer.Option(
        "--group-by",
        metavar="BY",
        help="Group entries of a log by fingerprint, user, host, database, table, or tag.KEY, an"
        " attribute in sqlcommenter's comments.",
    ),
]
MergeTables = Annotated[
    bool,
    typer.Option(
        "--merge-tables",
        help="Merge tables whose names differ only in a number or a hash: orders_2024_01, t_0a3f.",
    ),
]
OutLog = Annotated[
    Path | None,
    typer.Option(
        "--out-log",
        metavar="FILE",
        help="Also write the entries that were read as a slow log, passwords included.",
        show_default=False,
    ),
]
History = Annotated[
    Path | None,
    typer.Option(
        "--history",
        metavar="DIR",
        help="Save the digest in DIR, and show when each statement was first seen there, and its times.",
        show_default=False,
    ),
]
FromTable = Annotated[
    bool,
    typer.Option(
        "--from-table",
        help="Read the server's table mysql.slow_log (log_output=TABLE) instead of performance_schema.",
    ),
]
Limit = Annotated[
    int | None,
    typer.Option(
        "--limit",
        min=1,
        metavar="N",
        help="Show N statements.",
        show_default=f"{LIMIT}; {LIMIT_OF_PAGE} in --html, all in --json",
    ),
]
OrderBy = Annotated[
    str | None,
    typer.Option(
        "--order-by",
        metavar="BY",
        help="Order of the statements: time, count, mean, p95, p99, max, lock, first-seen, last-seen, or the"
        " sum of an attribute, as rows-examined.",
        show_default="time",
    ),
]
Details = Annotated[int, typer.Option("--details", min=0, metavar="N", help="Show details for N of them.")]
DetailsUnlessCompared = Annotated[
    int | None,
    typer.Option(
        "--details", min=0, metavar="N", help="Show details for N of them.", show_default=str(DETAILS)
    ),
]
Html = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", help="Also write a page for a browser.", show_default=False),
]
Compare = Annotated[
    list[str] | None,
    typer.Option(
        "--compare",
        metavar="OLD",
        help="Compare with OLD, a log or a saved digest: what is new, slower, called more often? Can be"
        " repeated for several logs.",
        show_default=False,
    ),
]
FailIfSlower = Annotated[
    Percent | None,
    percentage(
        "--fail-if-slower",
        help="With --compare: end with exit code 8 when a mean time is shown to have grown by more.",
        show_default=False,
    ),
]
Explain = Annotated[
    int | None,
    typer.Option(
        "--explain",
        min=0,
        metavar="N",
        help="EXPLAIN the examples of the first N statements on the server (--server).",
        show_default="as many as --details",
    ),
]
Seconds = Annotated[
    Duration | None,
    duration(
        "--for",
        help="Only what runs within this time, instead of all since the server's start (performance_schema).",
        show_default=False,
    ),
]
Type = Annotated[str | None, typer.Option("--type", hidden=True)]
_TYPES = ("slowlog", "rawlog")
Threads = Annotated[
    int | None,
    typer.Option("--threads", min=1, metavar="N", help="Threads that read.", show_default="one for each CPU"),
]


def refuse_type(log_type: str | None) -> None:
    """Raises UsageError for a `--type` of pt-query-digest that is not read."""
    if log_type not in (None, *_TYPES):
        raise UsageError(
            f"--type {log_type}: not read by mydyno digest",
            "slow logs need no --type, other logs are not read",
        )


def order_of(written: str | None) -> str | None:
    """The order that `--order-by` means, also in the spelling of pt-query-digest: `Query_time:max`."""
    attribute, colon, aggregate = (written or "").partition(":")
    if not colon:
        return written
    name = attribute.lower().replace("_", "-")
    if name == "query-time":
        return {"sum": "time", "cnt": "count", "avg": "mean"}.get(aggregate, aggregate)
    return "count" if aggregate == "cnt" else "lock" if name == "lock-time" else name
