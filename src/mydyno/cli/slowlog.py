"""`mydyno slowlog`: a server's slow log turned on for a while, digested, and everything put back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mydyno.cli import options, outputs, screen
from mydyno.cli import reach as reaching
from mydyno.cli.digest_options import Html
from mydyno.cli.digest_showing import DETAILS, LIMIT, Showing
from mydyno.core.errors import MydynoError, UsageError
from mydyno.core.units import format_duration, parse_bytes, parse_duration

if TYPE_CHECKING:
    from typing import BinaryIO

    from mydyno.queries.records import Digest
    from mydyno.queries.window import Caught, Window
    from mydyno.server.access.login import Login

_LONGEST = 31_536_000.0
"""Seconds: the servers' own bound of long_query_time."""

_For = Annotated[
    str, typer.Option("--for", metavar="TIME", help="How long: 30s, 10m, 1h. Ctrl-C ends it early.")
]
_Threshold = Annotated[
    str,
    typer.Option(
        "--threshold",
        metavar="SECONDS",
        help="Statements that take longer than so many seconds (0.5), or 200ms. 0: all.",
    ),
]
_NotUsingIndexes = Annotated[
    bool, typer.Option("--not-using-indexes", help="Also those that use no index, however fast.")
]
_MaxSize = Annotated[
    str, typer.Option("--max-size", metavar="SIZE", help="End when so much has been caught.")
]
_Limit = Annotated[
    int | None,
    typer.Option(
        "--limit", min=1, metavar="N", help="Show so many statements.", show_default=f"{LIMIT}; all in --json"
    ),
]
_Details = Annotated[
    int, typer.Option("--details", min=0, metavar="N", help="Tell so many of them at length.")
]
_Explain = Annotated[
    int | None,
    typer.Option(
        "--explain",
        min=0,
        metavar="N",
        help="EXPLAIN the examples of the first N statements.",
        show_default="as many as --details",
    ),
]
_Save = Annotated[
    Path | None,
    typer.Option(
        "--save", metavar="LOG", help="Keep what was caught: a slow log, in a new file.", show_default=False
    ),
]


def add_to(app: typer.Typer) -> None:
    app.command()(slowlog)


@reaching.options
def slowlog(
    reach: reaching.HostReach,
    duration: _For = "10m",
    threshold: _Threshold = "0.5",
    not_using_indexes: _NotUsingIndexes = False,
    max_size: _MaxSize = "1G",
    limit: _Limit = None,
    details: _Details = DETAILS,
    explain: _Explain = None,
    as_json: options.AsJson = False,
    html: Html = None,
    save: _Save = None,
    force: outputs.Force = False,
) -> None:
    """Turn a server's slow log on for a while, say what takes its time, and put every setting back.

    They are put back at the end, after Ctrl-C and an error, when the terminal goes, and when this program is
    killed; should its guardian be killed, too, the next mydyno does it. The log's file is read where it can
    be, here or with --host ssh:USER@HOST, else mysql.slow_log by SQL. What will not be seen is told first.

    ```text
    mydyno slowlog --for 10m --threshold 0.5
    mydyno slowlog --server mysql://dba@db1 --ask-password --host ssh:admin@db1 --for 1h --html slow.html
    mydyno slowlog --for 30s --threshold 0 --max-size 200M --save all.log
    mydyno slowlog --for 5m --threshold 200ms --json > digest.json
    ```
    """
    from mydyno.apply.apply_context import ApplyContext
    from mydyno.apply.store.store import Store
    from mydyno.cli.apply import recover
    from mydyno.cli.progress import telling
    from mydyno.queries.window import Wish, new_file, open_window

    seconds, most_bytes = _seconds(duration), _size(max_size)
    wish = Wish(_threshold(threshold), not_using_indexes)
    allowed = outputs.Outputs((reach.defaults_file, reach.password_file, save), force)
    page = allowed.file("--html", html, outputs.PAGE)
    showing = Showing(None, limit, details, None, as_json, page)
    login = reach.login()
    store = Store.of_system(Path("/"))
    recover(store, ApplyContext(login=login))
    with reach.machine() as machine, new_file(save) as keep:
        with (
            store.held(),
            open_window(login, machine, wish, without_host=reach.host == "none") as window,
        ):
            _announce(window)
            caught = window.catch(store, seconds, most_bytes, telling())
        try:
            _report(caught)
            name = str(save) if save else f"slow log of {login.address}"
            found = _digest(caught, name, keep, showing.most)
            there = login if caught.not_put_back is None else None
            showing.digest(_looked_at(found, there, details if explain is None else explain))
        finally:
            caught.log.close()
            if caught.not_put_back is not None:
                raise caught.not_put_back


def _announce(window: Window) -> None:
    _say(window.act.sentence())
    _say(f"read from {window.log.name}")
    for line in window.remarks:
        _say(line)


def _report(caught: Caught) -> None:
    watched = caught.watched
    if caught.not_put_back is None:
        _say("everything is as it was before")
    if watched.ended is not None:
        _say(f"it ended early, after {format_duration(watched.seconds)}: {watched.ended}")
    for line in caught.remarks:
        _say(line)


def _digest(caught: Caught, name: str, keep: BinaryIO | None, limit: int | None) -> Digest:
    from mydyno.cli.progress import ReadingLine
    from mydyno.queries.log import Progress
    from mydyno.queries.window import digest_of

    told = ReadingLine()

    def tell(progress: Progress) -> None:
        told.tell(progress.read_bytes, caught.watched.amount.bytes, progress.entries)

    try:
        return digest_of(caught.log, name, keep=keep, limit=limit, tell=tell)
    finally:
        told.end()


def _looked_at(found: Digest, login: Login | None, explain: int) -> Digest:
    """With plans and indexes to try. Nothing that goes wrong here is worth what a window has caught."""
    from mydyno.cli.digest_reading import looked_at

    try:
        return looked_at(found, login, explain)
    except MydynoError as error:
        _say(f"without plans and indexes: {error.message}")
        return found


def _say(line: str) -> None:
    screen.echo(f"mydyno: {line}", err=True)


def _seconds(text: str) -> float:
    try:
        return parse_duration(text)
    except ValueError as error:
        raise UsageError(f"--for {text}: {error}") from None


def _threshold(text: str) -> float:
    """Seconds to the microsecond, as servers take them."""
    try:
        seconds = float(text)
    except ValueError:
        try:
            seconds = parse_duration(text)
        except ValueError:
            raise UsageError(f"--threshold {text}: no time", "seconds, as 0.5, or 200ms") from None
    if not 0 <= seconds <= _LONGEST:
        raise UsageError(f"--threshold {text}: servers take 0 to {_LONGEST:.0f} seconds")
    return round(seconds, 6)


def _size(text: str) -> int:
    try:
        return parse_bytes(text)
    except ValueError as error:
        raise UsageError(f"--max-size {text}: {error}") from None
