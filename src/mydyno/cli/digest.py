"""`mydyno digest`: what ran on a server, by fingerprint, from slow logs or performance_schema."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mydyno.cli import options
from mydyno.cli import reach as reaching
from mydyno.core.errors import EXIT_INTERRUPTED, EXIT_SLOWER, UsageError

if TYPE_CHECKING:
    from mydyno.cli.digest_reading import Reading
    from mydyno.digest.comparison import Comparison
    from mydyno.digest.records import Digest

LIMIT = 20
"""Groups of a page for a terminal."""
DETAILS = 5
"""Of them those that are told at length."""
LIMIT_OF_PAGE = 500
"""Of one for a browser."""


@dataclass(frozen=True)
class DigestReach(reaching.ServerReach):
    other_ways = "; or a slow log: mydyno digest FILE"

    @property
    def is_given(self) -> bool:
        """A server is named, not only found."""
        return self.server is not None or self.defaults_file is not None


_Files = Annotated[
    list[str] | None,
    typer.Argument(
        help="Slow logs (plain, gzip or zstd; rotated ones in any order), `-` for standard input, or one"
        " digest that `--json` wrote. Without any: performance_schema of the server.",
        metavar="FILE",
        show_default=False,
    ),
]
_Since = Annotated[
    str | None,
    typer.Option(
        "--since",
        metavar="TIME",
        help="Only what ran from then on: `'2026-11-22 03:00'`, `03:00` (the last one), `-2h`, `'2h ago'`.",
        show_default=False,
    ),
]
_Until = Annotated[
    str | None,
    typer.Option("--until", metavar="TIME", help="Only what ran before.", show_default=False),
]
_Zone = Annotated[
    str | None,
    typer.Option(
        "--time-zone",
        metavar="ZONE",
        help="In which times are read here and shown: `UTC`, `Europe/Berlin`.",
        show_default="this machine's",
    ),
]
_Filter = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        metavar="'NAME OP VALUE'",
        help="Only entries like that: user, host, database, statement, fingerprint, id, query_time,"
        " rows_examined, full_scan ... with = != < <= > >= ~ !~ (docs/digest.md). Several: all of them.",
        show_default=False,
    ),
]
_Limit = Annotated[
    int | None,
    typer.Option(
        "--limit",
        min=1,
        metavar="N",
        help="Show so many statements.",
        show_default=f"{LIMIT}; {LIMIT_OF_PAGE} in --html, all in --json",
    ),
]
_Order = Annotated[
    str | None,
    typer.Option(
        "--order",
        metavar="BY",
        help="What comes first: time, count, mean, p95, p99, max, lock, first-seen, last-seen, or the sum of"
        " an attribute, as rows-examined.",
        show_default="time",
    ),
]
_Details = Annotated[
    int | None,
    typer.Option(
        "--details",
        min=0,
        metavar="N",
        help="Tell so many of them at length.",
        show_default=str(DETAILS),
    ),
]
_Html = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", help="Also write a page for a browser.", show_default=False),
]
_Compare = Annotated[
    list[str] | None,
    typer.Option(
        "--compare",
        metavar="OLD",
        help="Hold what is read against OLD, a log or a saved digest: what is new, slower, called more often?"
        " Give it again for each of several logs.",
        show_default=False,
    ),
]
_FailIfSlower = Annotated[
    str | None,
    typer.Option(
        "--fail-if-slower",
        metavar="PERCENT",
        help="With --compare: end with exit code 8 when a mean time is shown to have grown by more.",
        show_default=False,
    ),
]
_Explain = Annotated[
    int | None,
    typer.Option(
        "--explain",
        min=0,
        metavar="N",
        help="EXPLAIN the examples of the first N statements on the server (--server).",
        show_default="as many as --details",
    ),
]
_Seconds = Annotated[
    float | None,
    typer.Option(
        "--for",
        metavar="SECONDS",
        min=0.0,
        help="Of performance_schema only what runs in the next SECONDS, not all since the server's start.",
        show_default=False,
    ),
]
_Threads = Annotated[
    int | None,
    typer.Option("--threads", min=1, metavar="N", help="Read with so many.", show_default="one for each CPU"),
]


def add_to(app: typer.Typer) -> None:
    app.command()(digest)


@reaching.options
def digest(
    reach: DigestReach,
    files: _Files = None,
    since: _Since = None,
    until: _Until = None,
    time_zone: _Zone = None,
    filters: _Filter = None,
    order: _Order = None,
    limit: _Limit = None,
    details: _Details = None,
    as_json: options.AsJson = False,
    html: _Html = None,
    compare: _Compare = None,
    fail_if_slower: _FailIfSlower = None,
    explain: _Explain = None,
    seconds: _Seconds = None,
    threads: _Threads = None,
) -> None:
    """Say which statements take a server's time: from its slow log, or from performance_schema.

    Statements that differ in their values only are one: `select * from t where id = ?`. Of each: how often,
    how long (mean, percentiles, a histogram), rows examined and sent, who, when, the slowest example, and,
    with --server beside a log, its EXPLAIN and indexes to try. Changes nothing.

    ```text
    mydyno digest /var/log/mysql/slow.log
    mydyno digest slow.log slow.log.1 slow.log.2.gz --since 02:30 --until 03:10
    mydyno digest slow.log --order rows-examined --filter 'database = shop' --filter 'query_time > 2s'
    mydyno digest slow.log --filter id=0c1a4e6b9d83f275 --details 1            one statement, at length
    mydyno digest slow.log --server mysql://monitor@db1 --password-file ~/.monitor --html slow.html
    ssh db1 cat /var/log/mysql/slow.log | mydyno digest -
    mydyno digest --server mysql://monitor@db1 --ask-password --for 60         performance_schema, a minute
    mydyno digest slow.log.1 --json > monday.json
    mydyno digest --compare monday.json slow.log                              what is new, what is slower
    ```

    Columns, units and how statements are told apart: docs/digest.md.
    """
    from mydyno.cli.digest_reading import Reading, Window

    reading = Reading(Window.of(since, until, time_zone), tuple(filters or ()), seconds, threads)
    limits = Limits(limit, html is not None, as_json)
    if compare:
        _refuse("--compare", {"--order": order, "--details": details, "--explain": explain})
        found = _comparison(reading, compare, files, reach)
        _show_comparison(found, reading.window.zone, limits, html)
        if fail_if_slower is not None and _is_slower(found, fail_if_slower):
            raise typer.Exit(EXIT_SLOWER)
        return
    if fail_if_slower is not None:
        raise UsageError("--fail-if-slower needs something to hold against", "--compare OLD")
    told = DETAILS if details is None else details
    one = _one(reading, files, reach, order, limits, told if explain is None else explain)
    _show(one, reading.window.zone, limits, told, order, html)
    if any(problem.kind == "interrupted" for problem in one.problems):
        raise typer.Exit(EXIT_INTERRUPTED)


@dataclass(frozen=True)
class Limits:
    """How many groups each way of showing them takes; None: all."""

    asked: int | None
    has_page: bool
    is_json: bool

    @property
    def text(self) -> int:
        return self.asked or LIMIT

    @property
    def page(self) -> int:
        return self.asked or LIMIT_OF_PAGE

    @property
    def json(self) -> int | None:
        return self.asked

    @property
    def read(self) -> int | None:
        """As many as any of them: groups that nobody shows cost time to read."""
        if self.is_json and self.asked is None:
            return None
        return max(self.text, self.page) if self.has_page else self.text


def _one(
    reading: Reading,
    files: list[str] | None,
    reach: DigestReach,
    order: str | None,
    limits: Limits,
    explain: int,
) -> Digest:
    """The digest in its order, with plans and index candidates where there is a server to ask."""
    from mydyno.digest.order import BY_TIME, first, ordered

    login = reach.login() if reach.is_given or not files else None
    by = order or BY_TIME
    read = limits.read if by == BY_TIME else None
    if files:
        found = reading.of_files(files, read)
    else:
        assert login is not None
        found = reading.of_server(login, read)
    found = first(ordered(found, by), limits.read)
    if login is not None:
        from mydyno.statements.explain import with_plans

        found = with_plans(found, login, explain)
    return found


def _comparison(reading: Reading, old: list[str], files: list[str] | None, reach: DigestReach) -> Comparison:
    from mydyno.digest.comparison import compare

    before = reading.of_files(old, None) if files else replace(reading, seconds=None).of_files(old, None)
    after = reading.of_files(files, None) if files else reading.of_server(reach.login(), None)
    return compare(before, after)


def _show(
    found: Digest, zone: tzinfo | None, limits: Limits, details: int, order: str | None, html: Path | None
) -> None:
    from mydyno.cli.shown import show, width
    from mydyno.digest.order import first
    from mydyno.digest.saved import to_json
    from mydyno.report.digest_text import digest_lines
    from mydyno.report.zoned import Zone

    if html is not None:
        from mydyno.report.digest_page import digest_html

        _write(html, digest_html(first(found, limits.page)))
    if limits.is_json:
        typer.echo(to_json(first(found, limits.json)), nl=False)
    else:
        show(digest_lines(first(found, limits.text), width(), Zone(zone), details, order))


def _show_comparison(found: Comparison, zone: tzinfo | None, limits: Limits, html: Path | None) -> None:
    from mydyno.cli.shown import show, width
    from mydyno.report.digest_comparison_text import comparison_lines
    from mydyno.report.zoned import Zone

    if html is not None:
        from mydyno.report.digest_page import comparison_html

        _write(html, comparison_html(found))
    if limits.is_json:
        typer.echo(found.model_dump_json(exclude_none=True))
    else:
        show(comparison_lines(found, width(), Zone(zone), limits.text))


def _is_slower(found: Comparison, percent: str) -> bool:
    allowed = 1 + options.share(percent, "--fail-if-slower")
    ratios = (change.mean_ratio for change in found.changes)
    return any(each is not None and each.low is not None and each.low > allowed for each in ratios)


def _refuse(with_: str, given: dict[str, object]) -> None:
    for name, value in given.items():
        if value is not None:
            raise UsageError(f"{with_} and {name} exclude each other", f"leave {name} out")


def _write(path: Path, page: str) -> None:
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}", "does its folder exist?") from error
    typer.echo(f"page     {path}", err=True)
