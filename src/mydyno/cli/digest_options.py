"""The options of `mydyno digest`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mydyno.cli.digest_showing import DETAILS, LIMIT, LIMIT_OF_PAGE

Files = Annotated[
    list[str] | None,
    typer.Argument(
        help="Slow logs (plain, gzip or zstd; rotated ones in any order), exports of CloudWatch or of the"
        " table mysql.slow_log, `-` for standard input, or one digest that `--json` wrote. Without any:"
        " performance_schema of the server.",
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
        help="In which times are read here and shown: `UTC`, `Europe/Berlin`.",
        show_default="this machine's",
    ),
]
Filter = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        metavar="'NAME OP VALUE'",
        help="Only entries like that: user, host, database, statement, fingerprint, id, error, tag.KEY,"
        " query_time, rows_examined, full_scan ... with = != < <= > >= ~ !~ (docs/how-to/digest.md). Several:"
        " all of them.",
        show_default=False,
    ),
]
GroupBy = Annotated[
    str,
    typer.Option(
        "--group-by",
        metavar="BY",
        help="What entries of a log are grouped by: fingerprint, user, host, database, table, or tag.KEY, an"
        " attribute in sqlcommenter's comments.",
    ),
]
MergeTables = Annotated[
    bool,
    typer.Option(
        "--merge-tables",
        help="Take tables whose names differ in a number or a hash only for one: orders_2024_01, t_0a3f.",
    ),
]
OutLog = Annotated[
    Path | None,
    typer.Option(
        "--out-log",
        metavar="FILE",
        help="Also write the entries that were not left out as a slow log, passwords included.",
        show_default=False,
    ),
]
History = Annotated[
    Path | None,
    typer.Option(
        "--history",
        metavar="DIR",
        help="Save the digest in DIR, and show since when each statement is known there, and its times.",
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
        help="Show so many statements.",
        show_default=f"{LIMIT}; {LIMIT_OF_PAGE} in --html, all in --json",
    ),
]
Order = Annotated[
    str | None,
    typer.Option(
        "--order",
        metavar="BY",
        help="What comes first: time, count, mean, p95, p99, max, lock, first-seen, last-seen, or the sum of"
        " an attribute, as rows-examined.",
        show_default="time",
    ),
]
Details = Annotated[
    int | None,
    typer.Option(
        "--details",
        min=0,
        metavar="N",
        help="Tell so many of them at length.",
        show_default=str(DETAILS),
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
        help="Hold what is read against OLD, a log or a saved digest: what is new, slower, called more often?"
        " Give it again for each of several logs.",
        show_default=False,
    ),
]
FailIfSlower = Annotated[
    str | None,
    typer.Option(
        "--fail-if-slower",
        metavar="PERCENT",
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
    float | None,
    typer.Option(
        "--for",
        metavar="SECONDS",
        min=0.0,
        help="Of performance_schema only what runs in the next SECONDS, not all since the server's start.",
        show_default=False,
    ),
]
Threads = Annotated[
    int | None,
    typer.Option("--threads", min=1, metavar="N", help="Read with so many.", show_default="one for each CPU"),
]
