"""`mydyno slowlog`: a server's slow log turned on for a while, digested, and all settings restored."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mydyno.cli import options, outputs
from mydyno.cli.declare import option, option_group
from mydyno.cli.digest_options import Details, Html
from mydyno.cli.digest_showing import DETAILS, LIMIT, Showing
from mydyno.cli.quantities import Duration, duration
from mydyno.cli.system_options import MachineOptions
from mydyno.cli.window_text import announce, report, say
from mydyno.core.errors import MydynoError, UsageError
from mydyno.core.units import parse_bytes

if TYPE_CHECKING:
    from typing import BinaryIO

    from mydyno.queries.records import Digest
    from mydyno.queries.window import Caught, Wish
    from mydyno.server.access.login import Login

_LONGEST = 31_536_000.0
"""Seconds: the servers' own bound of long_query_time."""


@option_group
class LogOptions:
    """How long the log is on, and what is logged."""

    seconds: Duration = duration("--for", "How long; Ctrl-C ends it early.", default=Duration(600))
    threshold: Duration = duration(
        "--threshold",
        "Log statements that take longer, as 0.5 or 200ms. 0: all.",
        most=_LONGEST,
        default=Duration(0.5),
    )
    not_using_indexes: bool = option(
        "--not-using-indexes", "Also statements that use no index, however fast.", default=False
    )
    max_size: str = option("--max-size SIZE", "End when the log has grown by this much.", default="1G")

    @property
    def wish(self) -> Wish:
        from mydyno.queries.window import Wish

        return Wish(round(self.threshold, 6), self.not_using_indexes)

    @property
    def most_bytes(self) -> int:
        """Raises UsageError."""
        try:
            return parse_bytes(self.max_size)
        except ValueError as error:
            raise UsageError(f"--max-size {self.max_size}: {error}") from None


def slowlog(
    server: MachineOptions,
    logged: LogOptions,
    limit: int | None = option(
        "--limit N", "Show N statements.", min=1, show_default=f"{LIMIT}; all in --json"
    ),
    details: Details = DETAILS,
    explain: int | None = option(
        "--explain N",
        "EXPLAIN the examples of the first N statements.",
        min=0,
        show_default="as many as --details",
    ),
    as_json: options.AsJson = False,
    html: Html = None,
    save: Path | None = option("--save LOG", "Keep the log in this new file."),
    force: outputs.Force = False,
) -> None:
    """Turn on a server's slow log for a while, digest it, and restore all settings.

    They are restored at the end, after Ctrl-C and an error, when the terminal closes, and when this program
    is killed; if its guardian is killed, too, by the next run of mydyno. The log's file is read where
    possible, here or with --ssh USER@HOST, else mysql.slow_log by SQL. What will be missing is reported
    first.

    ```text
    mydyno slowlog --for 10m --threshold 0.5
    mydyno slowlog --host db1 --user dba --ask-password --ssh admin@db1 --for 1h
    mydyno slowlog --for 30s --threshold 0 --max-size 200M --save all.log
    mydyno slowlog --for 5m --threshold 200ms --json > digest.json
    ```
    """
    from mydyno.apply.apply_context import ApplyContext
    from mydyno.apply.store.store import Store
    from mydyno.cli.apply import recover
    from mydyno.cli.progress import showing_progress
    from mydyno.queries.window import new_file, open_window

    most_bytes = logged.most_bytes
    allowed = outputs.Outputs((server.defaults_file, server.password_file, save), force)
    page = allowed.file("--html", html, outputs.PAGE)
    showing = Showing(None, limit, details, None, as_json, page)
    login = server.login()
    store = Store.of_system(Path("/"))
    recover(store, ApplyContext(login=login))
    with server.machine() as machine, new_file(save) as keep:
        with (
            store.held(),
            open_window(login, machine, logged.wish, without_host=server.ssh == "none") as window,
        ):
            announce(window)
            caught = window.catch(store, logged.seconds, most_bytes, showing_progress())
        _show(caught, login, showing, (save, keep), details if explain is None else explain)


def _show(
    caught: Caught, login: Login, showing: Showing, kept: tuple[Path | None, BinaryIO | None], explain: int
) -> None:
    """The digest of the log, which is also kept in a file. Raises what kept settings from being restored."""
    try:
        report(caught)
        path, keep = kept
        name = str(path) if path else f"slow log of {login.address}"
        digest = _digest(caught, name, keep, showing.most)
        showing.digest(_looked_at(digest, login if caught.not_restored is None else None, explain))
    finally:
        caught.log.close()
        if caught.not_restored is not None:
            raise caught.not_restored


def _digest(caught: Caught, name: str, keep: BinaryIO | None, limit: int | None) -> Digest:
    from mydyno.cli.progress import ReadingLine
    from mydyno.queries.log import Progress
    from mydyno.queries.window import digest_of

    line = ReadingLine()

    def show(progress: Progress) -> None:
        line.show(progress.read_bytes, caught.watched.amount.bytes, progress.entries)

    try:
        return digest_of(caught.log, name, keep=keep, limit=limit, report=show)
    finally:
        line.end()


def _looked_at(digest: Digest, login: Login | None, explain: int) -> Digest:
    """With plans and indexes to try; without them where that fails, since the log must not be lost."""
    from mydyno.cli.digest_reading import looked_at

    try:
        return looked_at(digest, login, explain)
    except MydynoError as error:
        say(f"without plans and indexes: {error.message}")
        return digest
