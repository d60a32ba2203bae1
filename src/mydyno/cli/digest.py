"""`mydyno digest`: what ran on a server, by fingerprint, from slow logs or performance_schema."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import typer

from mydyno.cli import digest_options as given
from mydyno.cli import options, outputs
from mydyno.cli.digest_showing import DETAILS, Showing
from mydyno.cli.login_options import LoginOptions
from mydyno.core.errors import ExitCode, UsageError
from mydyno.queries.grouping import BY_FINGERPRINT, Grouping

if TYPE_CHECKING:
    from mydyno.cli.digest_reading import Reading
    from mydyno.queries.comparison import Comparison
    from mydyno.queries.log import OpenDigest
    from mydyno.queries.records import Digest, Group
    from mydyno.server.access.login import Login


@dataclass(frozen=True)
class DigestServer(LoginOptions):
    other_ways = "; or a slow log: mydyno digest FILE"


def add_to(app: typer.Typer) -> None:
    app.command()(digest)


def digest(
    server: DigestServer,
    files: given.Files = None,
    since: given.Since = None,
    until: given.Until = None,
    time_zone: given.Zone = None,
    filters: given.Filter = None,
    group_by: given.GroupBy = BY_FINGERPRINT,
    merge_tables: given.MergeTables = False,
    order_by: given.OrderBy = None,
    limit: given.Limit = None,
    details: given.DetailsUnlessCompared = None,
    as_json: options.AsJson = False,
    html: given.Html = None,
    out_log: given.OutLog = None,
    history: given.History = None,
    compare: given.Compare = None,
    fail_if_slower: given.FailIfSlower = None,
    explain: given.Explain = None,
    seconds: given.Seconds = None,
    from_table: given.FromTable = False,
    threads: given.Threads = None,
    log_type: given.Type = None,
    force: outputs.Force = False,
) -> None:
    r"""Show which statements take a server's time, from slow logs or performance_schema.

    Statements that differ only in their values are one: `select * from t where id = ?`. For each: count,
    times (mean, percentiles, a histogram), rows examined and sent, users, hosts, first and last time, the
    slowest example, and, with a server, its EXPLAIN and indexes to try. Changes nothing.

    ```text
    mydyno digest /var/log/mysql/slow.log
    mydyno digest slow.log slow.log.1 slow.log.2.gz --since 02:30 --until 03:10
    mydyno digest slow.log --order-by rows-examined \
        --filter 'database = shop' --filter 'query_time > 2s'
    # details of one statement
    mydyno digest slow.log --filter id=0c1a4e6b9d83f275 --details 1
    mydyno digest slow.log --host db1 --user monitor --ask-password
    ssh db1 cat /var/log/mysql/slow.log | mydyno digest -
    aws logs tail /aws/rds/instance/db1/slowquery --since 1h | mydyno digest -
    mydyno digest slow.log --group-by table --merge-tables
    # performance_schema, for a minute
    mydyno digest --server mysql://monitor@db1 --ask-password --for 60s
    mydyno digest slow.log.1 --json > monday.json
    # what is new, what is slower
    mydyno digest --compare monday.json slow.log
    ```

    Columns, units and fingerprints: docs/how-to/digest.md.
    """
    from mydyno.cli.digest_reading import Reading, Window

    given.refuse_type(log_type)
    order = given.order_of(order_by)
    reading = Reading(
        Window.of(since, until, time_zone),
        tuple(filters or ()),
        seconds,
        threads,
        Grouping(group_by, merge_tables),
    )
    inputs = (*(files or ()), *(compare or ()), server.defaults_file, server.password_file)
    written = outputs.Outputs(inputs, force)
    page = written.file("--html", html, outputs.PAGE)
    log = written.file("--out-log", out_log, outputs.SLOW_LOG)
    shown = DETAILS if details is None else details
    showing = Showing(reading.window.zone, limit, shown, order, as_json, page)
    if from_table and (files or seconds is not None):
        raise UsageError("--from-table reads mysql.slow_log of a server", "leave the files and --for out")
    if compare:
        refused = {"--order-by": order, "--details": details, "--explain": explain, "--out-log": out_log}
        _refuse("--compare", {**refused, "--history": history, "--from-table": from_table or None})
        _compare(reading, compare, files, server, showing, fail_if_slower)
        return
    if fail_if_slower is not None:
        raise UsageError("--fail-if-slower needs something to compare with", "--compare OLD")
    if explain is not None and files and not server.is_given:
        raise UsageError("--explain needs a server", "--socket PATH, or --host HOST")
    sources = _Sources(tuple(files or ()), server, from_table, log)
    made = _digest(reading, sources, showing, history, shown if explain is None else explain)
    if any(problem.kind == "interrupted" for problem in made.problems):
        raise typer.Exit(ExitCode.INTERRUPTED)


def _compare(
    reading: Reading,
    old: list[str],
    files: list[str] | None,
    server: DigestServer,
    showing: Showing,
    fail_if_slower: float | None,
) -> None:
    from mydyno.queries.comparison import compare

    # --for is for the server, which may be the newer side.
    before = (reading if files else replace(reading, seconds=None)).of_files(old, None)
    after = reading.of_files(files, None) if files else reading.of_server(server.login(), None)
    changed = compare(before, after, in_file=True)
    showing.comparison(changed)
    if fail_if_slower is not None and _is_slower(changed, fail_if_slower):
        raise typer.Exit(ExitCode.SLOWER)


_NONE_YET = 0
"""Groups that are read with the head of a digest: the others are read when they are needed."""


@dataclass(frozen=True)
class _Sources:
    """Where statements are read, and where their entries are written."""

    files: tuple[str, ...]
    server: DigestServer
    from_table: bool
    log: outputs.OutputFile | None

    @cached_property
    def login(self) -> Login | None:
        return self.server.login() if self.server.is_given or not self.files else None

    @contextmanager
    def open(self, reading: Reading, most: int | None, ahead: int | None) -> Iterator[OpenDigest]:
        """The digest and its first groups."""
        from mydyno.queries.log import OpenDigest

        with ExitStack() as stack:
            with self._log_file() as log:
                if self.files:
                    opened = stack.enter_context(
                        reading.open_files(self.files, most, ahead=ahead, out_log=log)
                    )
                else:
                    opened = OpenDigest(self._of_server(reading, most, log), iter(()))
            yield opened

    def _of_server(self, reading: Reading, most: int | None, log: BinaryIO | None) -> Digest:
        assert self.login is not None
        return (
            reading.of_table(self.login, most, log)
            if self.from_table
            else reading.of_server(self.login, most)
        )

    @contextmanager
    def _log_file(self) -> Iterator[BinaryIO | None]:
        """The file of --out-log: whole as soon as the digest is there, whatever becomes of showing it."""
        if self.log is None:
            yield None
            return
        if not (self.files or self.from_table):
            raise UsageError("--out-log writes entries of a log", "name a log, or --from-table")
        with self.log.open() as file:
            yield file


def _digest(
    reading: Reading, sources: _Sources, showing: Showing, history: Path | None, explain: int
) -> Digest:
    """Shows it in its order, with plans where there is a server, indexes to try and its history."""
    from mydyno.cli.digest_history import MOST_GROUPS, with_history_of
    from mydyno.cli.digest_reading import knock, looked_at
    from mydyno.queries.order import BY_TIME

    login = sources.login
    order = showing.order or BY_TIME
    most = showing.most if order == BY_TIME else None
    if history is not None and most is not None:
        most = max(most, MOST_GROUPS)
    if sources.files and login is not None:
        knock(login)
    showing.load_ahead()
    ahead = showing.ahead(explain)
    with sources.open(reading, most, _NONE_YET) as opened:
        digest, more = opened.digest, opened.more
        if history is not None:
            digest, more = with_history_of(history, digest, more), iter(())
        digest, more = _in_order(digest, more, order, showing.most, ahead)
        if not showing.is_glance or explain:
            digest = looked_at(digest, login, explain)
        showing.digest(digest, more)
    return digest


def _in_order(
    digest: Digest, more: Iterator[Group], order: str, most: int | None, ahead: int | None
) -> tuple[Digest, Iterator[Group]]:
    """The digest with the groups that are shown, or their first `ahead` and the others behind them."""
    from mydyno.queries.order import BY_TIME, all_in_order, first_in_order, ordered

    if most is not None and ahead is None:
        return first_in_order(digest, more, order, most), iter(())
    if ahead is None:
        whole = digest.model_copy(update={"groups": (*digest.groups, *more)})
        return ordered(whole, order), iter(())
    groups = chain(digest.groups, more) if order == BY_TIME else all_in_order(digest, more, order)
    return digest.model_copy(update={"groups": tuple(islice(groups, ahead))}), groups


def _is_slower(comparison: Comparison, allowed: float) -> bool:
    ratios = (change.mean_ratio for change in comparison.changes)
    return any(each is not None and each.low is not None and each.low > 1 + allowed for each in ratios)


def _refuse(with_: str, given: dict[str, object]) -> None:
    for name, value in given.items():
        if value is not None:
            raise UsageError(f"{with_} and {name} exclude each other", f"leave {name} out")
