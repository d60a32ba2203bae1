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
from mydyno.cli import outputs
from mydyno.cli.digest_showing import Showing
from mydyno.cli.login_options import LoginOptions
from mydyno.core.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from mydyno.cli.digest_reading import Reading
    from mydyno.queries.comparison import Comparison
    from mydyno.queries.log import OpenDigest
    from mydyno.queries.records import Digest, Group
    from mydyno.server.access.login import Login


@dataclass(frozen=True)
class DigestServer(LoginOptions):
    other_ways = "; or a slow log: mydyno digest FILE"


def digest(
    server: DigestServer,
    files: given.Files = None,
    read: given.ReadingOptions = given.ReadingOptions(),
    show: given.ShowingOptions = given.ShowingOptions(),
    out_log: given.OutLog = None,
    history: given.History = None,
    comparing: given.CompareOptions = given.CompareOptions(),
    explain: given.Explain = None,
    from_table: given.FromTable = False,
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
    mydyno digest --host db1 --ask-password --for 60s
    mydyno digest slow.log.1 --json > monday.json
    # what is new, what is slower
    mydyno digest --compare monday.json slow.log
    ```

    Columns, units and fingerprints: docs/how-to/digest.md.
    """
    reading = read.reading()
    inputs = (*(files or ()), *(comparing.compare or ()), server.defaults_file, server.password_file)
    written = outputs.Outputs(inputs, force)
    showing = show.showing(reading.window.zone, written)
    log = written.file("--out-log", out_log, outputs.SLOW_LOG)
    if comparing.compare:
        refused = {"--order-by": showing.order, "--details": show.details, "--explain": explain}
        _refuse(
            "--compare",
            {**refused, "--out-log": out_log, "--history": history, "--from-table": from_table or None},
        )
        _compare(reading, comparing, files, server, showing)
        return
    if comparing.fail_if_slower is not None:
        raise UsageError("--fail-if-slower needs something to compare with", "--compare OLD")
    sources = _Sources(tuple(files or ()), server, from_table, log)
    sources.check(read.seconds, explain)
    digest = _digest(reading, sources, showing, history, show.at_length if explain is None else explain)
    if any(problem.kind == "interrupted" for problem in digest.problems):
        raise typer.Exit(ExitCode.INTERRUPTED)


def _compare(
    reading: Reading,
    comparing: given.CompareOptions,
    files: list[str] | None,
    server: DigestServer,
    showing: Showing,
) -> None:
    from mydyno.queries.comparison import compare

    # --for is for the server, which may be the newer side.
    before = (reading if files else replace(reading, seconds=None)).of_files(comparing.compare or [], None)
    after = reading.of_files(files, None) if files else reading.of_server(server.login(), None)
    changed = compare(before, after, in_file=True)
    showing.comparison(changed)
    allowed = comparing.fail_if_slower
    if allowed is not None and _is_slower(changed, allowed):
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

    def check(self, seconds: float | None, explain: int | None) -> None:
        """Raises UsageError for options that do not go together."""
        if self.from_table and (self.files or seconds is not None):
            raise UsageError("--from-table reads mysql.slow_log of a server", "leave the files and --for out")
        if explain is not None and self.files and not self.server.is_given:
            raise UsageError("--explain needs a server", "--socket PATH, or --host HOST")

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
