"""`mydyno capture`: what a server is sent, as a trace."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from mydyno.cli import outputs, screen
from mydyno.cli.declare import argument, option
from mydyno.cli.quantities import Duration, duration
from mydyno.cli.system_options import MachineOptions
from mydyno.cli.window_text import announce, report
from mydyno.core.errors import UsageError
from mydyno.core.units import parse_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mydyno.queries.traces import Trace
    from mydyno.queries.window import Caught

Logs = Annotated[
    list[str] | None,
    argument(
        "FILE",
        "Slow logs of all dialects, general logs, packets that tcpdump wrote (plain, gzip or zstd), `-` for "
        "standard input. Without a file: the server, whose slow log is turned on for a while.",
    ),
]
Out = Annotated[Path, option("--out TRACE", "The trace.")]


def capture(
    server: MachineOptions,
    out: Out,
    files: Logs = None,
    seconds: Duration = duration("--for", "How long; Ctrl-C ends it early.", default=Duration(600)),
    max_size: str = option("--max-size SIZE", "End when the log has grown by this much.", default="1G"),
    mask: bool = option("--mask", "Replace literals by others of the same kind and length.", default=False),
    force: outputs.Force = False,
) -> None:
    """Write a trace of what a server is sent: connections, statements, their instants and durations.

    From logs or packets that are there, or from a server: its slow log is turned on for all statements, as
    `mydyno slowlog --threshold 0` does, and all settings are restored at the end, after Ctrl-C, an error or
    a kill. The rate of statements and what the log will cost are shown first. Passwords in statements are
    always masked.

    ```text
    mydyno capture --for 10m --out shop.trace
    mydyno capture --server mysql://dba@db1 --ssh db1 --out shop.trace
    mydyno capture slow.log slow.log.1.gz --out shop.trace
    mydyno capture general.log --mask --out shop.trace
    mydyno capture port3306.pcap --out shop.trace
    ```
    """
    allowed = outputs.Outputs((server.defaults_file, server.password_file, *(files or ())), force)
    file = allowed.file("--out", out, outputs.TRACE)
    assert file is not None
    if files:
        from mydyno.queries.traces import capture_logs

        with _reading(files) as report:
            trace = capture_logs(files, out, masked=mask, stdin=0 if "-" in files else None, report=report)
    else:
        try:
            most_bytes = parse_bytes(max_size)
        except ValueError as error:
            raise UsageError(f"--max-size {max_size}: {error}") from None
        trace = _from_server(server, out, seconds, most_bytes, mask)
    _show(trace, out)


def _show(trace: Trace, out: Path) -> None:
    from mydyno.queries.traces.text import skipped_lines, written_line

    screen.echo(written_line(trace, str(out)))
    for line in skipped_lines(trace.footer.skipped):
        screen.echo(f"skipped: {line}")


@contextmanager
def _reading(files: list[str] | None, bytes_: int | None = None) -> Iterator[Callable[[int, int], None]]:
    from mydyno.cli.progress import ReadingLine

    line = ReadingLine()
    paths = [Path(file) for file in files or ()]
    if paths and all(path.is_file() for path in paths):
        bytes_ = sum(path.stat().st_size for path in paths)
    try:
        yield lambda read_bytes, statements: line.show(read_bytes, bytes_, statements)
    finally:
        line.end()


def _from_server(server: MachineOptions, out: Path, seconds: float, most_bytes: int, mask: bool) -> Trace:
    from mydyno.apply.apply_context import ApplyContext
    from mydyno.apply.store.store import Store
    from mydyno.cli.apply import recover
    from mydyno.cli.progress import showing_progress
    from mydyno.queries.window import Wish, open_window

    login = server.login()
    store = Store.of_system(Path("/"))
    recover(store, ApplyContext(login=login))
    with server.machine() as machine:
        with (
            store.held(),
            open_window(login, machine, Wish(0.0), without_host=server.ssh == "none") as window,
        ):
            announce(window)
            caught = window.catch(store, seconds, most_bytes, showing_progress())
        return _written(caught, f"slow log of {login.address}", out, mask)


def _written(caught: Caught, name: str, out: Path, mask: bool) -> Trace:
    """The trace of what was caught. Raises what kept settings from being restored."""
    from mydyno.queries.traces import capture_logs
    from mydyno.queries.window import pipe_from

    try:
        report(caught)
        with _reading(None, caught.watched.amount.bytes) as progress, pipe_from(caught.log, None) as stream:
            return capture_logs(["-"], out, masked=mask, stdin=stream, stdin_name=name, report=progress)
    finally:
        caught.log.close()
        if caught.not_restored is not None:
            raise caught.not_restored
