"""The options of `mydyno digest`."""

from __future__ import annotations

from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mydyno.cli.declare import argument, option, option_group
from mydyno.cli.digest_showing import DETAILS, LIMIT, Showing
from mydyno.cli.options import AsJson
from mydyno.cli.outputs import PAGE, Outputs
from mydyno.cli.quantities import Duration, Percent, duration, percentage
from mydyno.core.errors import UsageError
from mydyno.queries.grouping import BY_FINGERPRINT, Grouping
from mydyno.queries.report import LIMIT_OF_PAGE

if TYPE_CHECKING:
    from mydyno.cli.digest_reading import Reading

Files = Annotated[
    list[str] | None,
    argument(
        "FILE",
        "Slow logs (plain, gzip or zstd; rotated ones in any order), exports of CloudWatch or of the table "
        "mysql.slow_log, `-` for standard input, or one digest that `--json` wrote. Without a file: "
        "performance_schema of the server.",
    ),
]
OutLog = Annotated[
    Path | None,
    option("--out-log FILE", "Also write the entries that were read as a slow log, passwords included."),
]
History = Annotated[
    Path | None,
    option(
        "--history DIR",
        "Save the digest in DIR, and show when each statement was first seen there, and its times.",
    ),
]
FromTable = Annotated[
    bool,
    option(
        "--from-table",
        "Read the server's table mysql.slow_log (log_output=TABLE) instead of performance_schema.",
    ),
]
Details = Annotated[int, option("--details N", "Show details for N of them.", min=0)]
Html = Annotated[Path | None, option("--html FILE", "Also write a page for a browser.")]
Explain = Annotated[
    int | None,
    option(
        "--explain N",
        "EXPLAIN the examples of the first N statements on the server (--server).",
        min=0,
        show_default="as many as --details",
    ),
]
_TYPES = ("slowlog", "rawlog")
"""Values of pt-query-digest's `--type` that need nothing: logs are recognized by their content."""


@option_group
class ShowingOptions:
    """How a digest is shown."""

    order_by: str | None = option(
        "--order-by BY",
        "Order of the statements: time, count, mean, p95, p99, max, lock, first-seen, last-seen, or the "
        "sum "
        "of an attribute, as rows-examined.",
        show_default="time",
    )
    limit: int | None = option(
        "--limit N",
        "Show N statements.",
        min=1,
        show_default=f"{LIMIT}; {LIMIT_OF_PAGE} in --html, all in --json",
    )
    details: int | None = option(
        "--details N", "Show details for N of them.", min=0, show_default=str(DETAILS)
    )
    as_json: AsJson = False
    html: Html = None

    @property
    def at_length(self) -> int:
        """Statements that are shown with details."""
        return DETAILS if self.details is None else self.details

    def showing(self, zone: tzinfo | None, written: Outputs) -> Showing:
        """Raises UsageError for a page that may not be written."""
        page = written.file("--html", self.html, PAGE)
        return Showing(zone, self.limit, self.at_length, order_of(self.order_by), self.as_json, page)


@option_group
class CompareOptions:
    """What the digest is compared with."""

    compare: list[str] | None = option(
        "--compare OLD",
        "Compare with OLD, a log or a saved digest: what is new, slower, called more often? Can be "
        "repeated "
        "for several logs.",
    )
    fail_if_slower: Percent | None = percentage(
        "--fail-if-slower",
        "With --compare: end with exit code 8 when a mean time is shown to have grown by more.",
    )


@option_group
class ReadingOptions:
    """What of a log is read, and how."""

    since: str | None = option(
        "--since TIME",
        "Only what ran from then on: `'2026-11-22 03:00'`, `03:00` (the last one), `-2h` or `'2h ago'`.",
    )
    until: str | None = option("--until TIME", "Only what ran before.")
    time_zone: str | None = option(
        "--time-zone ZONE",
        "The zone of times in options and output: `UTC`, `Europe/Berlin`.",
        show_default="this machine's",
    )
    filters: list[str] | None = option(
        "--filter CONDITION",
        "`'NAME OP VALUE'`: only such entries. NAME is user, host, database, statement, fingerprint, id, "
        "error, tag.KEY, query_time, rows_examined, full_scan..., OP is = != < <= > >= ~ or !~ "
        "(docs/how-to/digest.md). Can be repeated: all must hold.",
    )
    group_by: str = option(
        "--group-by BY",
        "Group entries of a log by fingerprint, user, host, database, table, or tag.KEY, an attribute in "
        "sqlcommenter's comments.",
        default=BY_FINGERPRINT,
    )
    merge_tables: bool = option(
        "--merge-tables",
        "Merge tables whose names differ only in a number or a hash: orders_2024_01, t_0a3f.",
        default=False,
    )
    seconds: Duration | None = duration(
        "--for", "With performance_schema: only what runs within this time, instead of all since the start."
    )
    threads: int | None = option("--threads N", "Threads that read.", min=1, show_default="one for each CPU")
    log_type: Annotated[str | None, typer.Option("--type", hidden=True)] = None

    def reading(self) -> Reading:
        """Raises UsageError."""
        from mydyno.cli.digest_reading import Reading, Window

        if self.log_type not in (None, *_TYPES):
            raise UsageError(
                f"--type {self.log_type}: not read by mydyno digest",
                "slow logs need no --type; other logs are not read",
            )
        return Reading(
            Window.of(self.since, self.until, self.time_zone),
            tuple(self.filters or ()),
            self.seconds,
            self.threads,
            Grouping(self.group_by, self.merge_tables),
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
