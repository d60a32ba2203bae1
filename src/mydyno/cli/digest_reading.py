"""From the options of `mydyno digest` to a digest: of logs, of a saved one, or of performance_schema."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from mydyno.cli.moments import moment_us, until_us, zone_of
from mydyno.core.errors import UsageError
from mydyno.queries.grouping import BY_FINGERPRINT, Grouping

if TYPE_CHECKING:
    from mydyno.queries.log import OpenDigest, Progress
    from mydyno.queries.records import Digest
    from mydyno.server.access.login import Login

INDEXED = 20
"""Groups that indexes are looked for."""
_UNGROUPED = Grouping()
_HEAD = 256
"""Bytes that distinguish a saved digest from a log."""


@dataclass(frozen=True)
class Window:
    """What --since and --until say, and the zone of times."""

    since_us: int | None
    until_us: int | None
    zone: tzinfo | None

    @classmethod
    def of(cls, since: str | None, until: str | None, zone: str | None) -> Window:
        """Raises UsageError."""
        now, of = datetime.now(UTC), zone_of(zone, "--time-zone")
        first = None if since is None else moment_us(since, "--since", now, of)
        last = None if until is None else until_us(until, first, now, of)
        if first is not None and last is not None and first >= last:
            raise UsageError(f"--since {since} is not before --until {until}", "exchange them")
        return cls(first, last, of)

    @property
    def is_open(self) -> bool:
        return self.since_us is None and self.until_us is None


@dataclass(frozen=True)
class Reading:
    """How to read statements from a source."""

    window: Window
    filters: tuple[str, ...] = ()
    seconds: float | None = None
    """Of performance_schema: watched for so long; None: since the server started to count."""
    threads: int | None = None
    grouping: Grouping = _UNGROUPED

    def of_files(self, files: Sequence[str], limit: int | None) -> Digest:
        """As `open_files`, with all groups; they wait in a temporary file."""
        from mydyno.queries.filed import Filed
        from mydyno.queries.records import Group

        with self.open_files(files, limit, ahead=0) as opened:
            groups = Filed(Group, chain(opened.digest.groups, opened.more))
            return opened.digest.model_copy(update={"groups": groups})

    @contextmanager
    def open_files(
        self,
        files: Sequence[str],
        limit: int | None,
        *,
        ahead: int | None = None,
        out_log: BinaryIO | None = None,
    ) -> Iterator[OpenDigest]:
        """Logs, or one saved digest, and its first `ahead` groups, all when it is None.

        A saved digest is as it was saved: what would narrow it down is refused. Raises UsageError,
        EngineError, MissingToolError.
        """
        from mydyno.queries.log import OpenDigest

        if self.seconds is not None:
            raise UsageError("--for watches performance_schema, not logs", "leave the files out")
        saved = [file for file in files if _is_saved(file)]
        if not saved:
            with self._open_logs(files, limit, ahead, out_log) as opened:
                yield opened
            return
        if len(files) > 1:
            raise UsageError(f"{saved[0]} is a saved digest, which cannot be joined with others")
        if not self.window.is_open or self.filters:
            raise UsageError(
                f"{saved[0]} is a saved digest: --since, --until and --filter cannot narrow it down",
                "give them where it is made from its log",
            )
        if out_log is not None or self.grouping != _UNGROUPED:
            raise UsageError(
                f"{saved[0]} is a saved digest: --group-by, --merge-tables and --out-log need its log"
            )
        from mydyno.queries.order import BY_TIME, first_in_order
        from mydyno.queries.saved import open_saved

        digest, groups = open_saved(Path(saved[0]))
        if limit is not None:
            digest = first_in_order(digest, groups, BY_TIME, limit)
            groups = iter(digest.groups)
        yield OpenDigest(digest.model_copy(update={"groups": tuple(islice(groups, ahead))}), groups)

    def of_table(self, login: Login, limit: int | None, out_log: BinaryIO | None) -> Digest:
        """The rows of a server's mysql.slow_log. Raises ServerError, UsageError, EngineError."""
        from mydyno.queries.window.digesting import digest_of
        from mydyno.queries.window.table import TableLog

        with TableLog.whole(login) as log, _progress() as show:
            name = f"mysql.slow_log of {login.address}"
            digest = digest_of(log, name, report=show, out_log=out_log, **self._options(limit))
        return self._in_window(digest)

    def of_server(self, login: Login, limit: int | None) -> Digest:
        """What its performance_schema has counted. Raises UsageError, ServerError."""
        if not self.window.is_open or self.filters or self.grouping != _UNGROUPED:
            raise UsageError(
                "--since, --until, --filter, --group-by and --merge-tables need a log: performance_schema has"
                " sums only",
                "--for DURATION counts what runs from now on; --from-table reads mysql.slow_log",
            )
        from mydyno.cli.progress import showing_progress
        from mydyno.queries.performance_schema import read_digests

        with showing_progress() as show:
            return read_digests(login, seconds=self.seconds, limit=limit, report=show)

    @contextmanager
    def _open_logs(
        self, files: Sequence[str], limit: int | None, ahead: int | None, out_log: BinaryIO | None
    ) -> Iterator[OpenDigest]:
        from mydyno.queries.log import open_logs

        with ExitStack() as stack:
            with _progress() as show:
                opened = stack.enter_context(
                    open_logs(files, report=show, ahead=ahead, out_log=out_log, **self._options(limit))
                )
            _refuse_unread(opened.digest)
            yield dataclasses.replace(opened, digest=self._in_window(opened.digest))

    def _options(self, limit: int | None) -> dict[str, Any]:
        return {
            "since_us": self.window.since_us,
            "until_us": self.window.until_us,
            "filters": self.filters,
            "grouping": self.grouping,
            "limit": limit,
            "threads": self.threads,
        }

    def _in_window(self, digest: Digest) -> Digest:
        return digest.model_copy(update={"since_us": self.window.since_us, "until_us": self.window.until_us})


@contextmanager
def _progress() -> Iterator[Callable[[Progress], None]]:
    """Shows how far reading has come."""
    from mydyno.cli.progress import ReadingLine

    line = ReadingLine()
    try:
        yield lambda progress: line.show(progress.read_bytes, progress.of_bytes, progress.entries)
    finally:
        line.end()


def knock(login: Login) -> None:
    """Raises ServerError where the login fails: before a long log is read, not after."""
    from mydyno.server.access.session import session

    with session(login):
        pass


def looked_at(digest: Digest, login: Login | None, explained: int) -> Digest:
    """The digest with plans of the server and indexes to try.

    Without a server the existing indexes are not known. Candidates of a saved digest are kept.
    Raises ServerError.
    """
    from mydyno.queries.candidates import tables_of, with_candidates

    if digest.group_by != BY_FINGERPRINT:
        return digest
    if login is None:
        has_them = bool(digest.candidates or digest.without_candidate)
        return digest if has_them else with_candidates(digest, None, INDEXED)
    from mydyno.cli.progress import showing_progress
    from mydyno.queries.explain import with_plans
    from mydyno.queries.schema import read_schema

    with showing_progress() as show:
        planned = with_plans(digest, login, explained, show) if explained else digest
        show("reading tables and indexes")
        return with_candidates(planned, read_schema(login, tables_of(planned, INDEXED)), INDEXED)


def _is_saved(file: str) -> bool:
    """A FIFO is left alone: what is read of it is gone."""
    from mydyno.queries.saved import is_saved

    path = Path(file)
    try:
        if file == "-" or not path.is_file():
            return False
        with path.open("rb") as opened:
            return is_saved(opened.read(_HEAD))
    except OSError:
        return False  # The engine says what is wrong with it.


def _refuse_unread(digest: Digest) -> None:
    """Raises UsageError where no entry could be read at all, and not because there was none."""
    why = [each for each in digest.problems if each.kind not in ("empty", "interrupted")]
    if why and not any(source.entries for source in digest.sources):
        problems = "; ".join(f"{each.source}: {each.says}" for each in why)
        raise UsageError(f"nothing could be read: {problems}")
