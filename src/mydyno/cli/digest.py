"""`mydyno digest`: what ran on a server, by fingerprint, from slow logs or performance_schema."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mydyno.cli import options, outputs
from mydyno.cli import reach as reaching
from mydyno.cli.digest_showing import DETAILS, LIMIT, LIMIT_OF_PAGE, Showing
from mydyno.core.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from mydyno.cli.digest_reading import Reading
    from mydyno.digest.comparison import Comparison
    from mydyno.digest.records import Digest


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
    force: outputs.Force = False,
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

    told = DETAILS if details is None else details
    reading = Reading(Window.of(since, until, time_zone), tuple(filters or ()), seconds, threads)
    inputs = (*(files or ()), *(compare or ()), reach.defaults_file, reach.password_file)
    page = outputs.Outputs(inputs, force).file("--html", html, outputs.PAGE)
    showing = Showing(reading.window.zone, limit, told, order, as_json, page)
    if compare:
        _refuse("--compare", {"--order": order, "--details": details, "--explain": explain})
        allowed = None if fail_if_slower is None else options.share(fail_if_slower, "--fail-if-slower")
        changed = _comparison(reading, compare, files, reach)
        showing.comparison(changed)
        if allowed is not None and _is_slower(changed, allowed):
            raise typer.Exit(ExitCode.SLOWER)
        return
    if fail_if_slower is not None:
        raise UsageError("--fail-if-slower needs something to hold against", "--compare OLD")
    if explain is not None and files and not reach.is_given:
        raise UsageError("--explain asks a server", "--server SOCKET|DSN")
    found = _digest(reading, files, reach, showing, told if explain is None else explain)
    showing.digest(found)
    if any(problem.kind == "interrupted" for problem in found.problems):
        raise typer.Exit(ExitCode.INTERRUPTED)


def _digest(
    reading: Reading, files: list[str] | None, reach: DigestReach, showing: Showing, explain: int
) -> Digest:
    """In its order, with plans where there is a server to ask, and indexes to try."""
    from mydyno.cli.digest_reading import knock, looked_at
    from mydyno.digest.order import BY_TIME, first, ordered

    login = reach.login() if reach.is_given or not files else None
    order = showing.order or BY_TIME
    most = showing.most if order == BY_TIME else None
    if files:
        if login is not None:
            knock(login)
        showing.load_ahead()
        found = reading.of_files(files, most)
    else:
        assert login is not None
        found = reading.of_server(login, most)
    found = first(ordered(found, order), showing.most)
    return found if showing.is_glance and not explain else looked_at(found, login, explain)


def _comparison(reading: Reading, old: list[str], files: list[str] | None, reach: DigestReach) -> Comparison:
    from mydyno.digest.comparison import compare

    # --for is for the server, which may be the newer side.
    before = (reading if files else replace(reading, seconds=None)).of_files(old, None)
    after = reading.of_files(files, None) if files else reading.of_server(reach.login(), None)
    return compare(before, after)


def _is_slower(found: Comparison, allowed: float) -> bool:
    ratios = (change.mean_ratio for change in found.changes)
    return any(each is not None and each.low is not None and each.low > 1 + allowed for each in ratios)


def _refuse(with_: str, given: dict[str, object]) -> None:
    for name, value in given.items():
        if value is not None:
            raise UsageError(f"{with_} and {name} exclude each other", f"leave {name} out")
