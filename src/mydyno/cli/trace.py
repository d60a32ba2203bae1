"""`mydyno trace`: traces shown, filtered, cut and merged."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from mydyno.cli import options, outputs, screen
from mydyno.cli.application import Application
from mydyno.cli.capture import Out
from mydyno.cli.declare import argument, option
from mydyno.cli.quantities import Duration, duration
from mydyno.core.errors import UsageError

if TYPE_CHECKING:
    from mydyno.queries.traces import Selection, Trace

commands = Application(name="trace", help="Show, filter, cut and merge traces of `mydyno capture`.")

TraceFile = Annotated[Path, argument("TRACE", "A trace that `mydyno capture` wrote.")]

_LIMIT = 20
_MICROS = 1_000_000


@commands.command("show")
def show_trace(
    trace: TraceFile,
    limit: int = option("--limit N", "Show N fingerprints.", min=0, default=_LIMIT),
    as_json: options.AsJson = False,
) -> None:
    """Show what a trace holds: start, length, connections, statements, their rate, reads and writes, the
    fingerprints with the most time, schemas, users, and what was skipped and where.

    ```text
    mydyno trace show shop.trace
    mydyno trace show shop.trace --json > shop.json
    ```
    """
    from mydyno.queries.traces import summary_of
    from mydyno.queries.traces.text import summary_lines

    summary = summary_of(trace, limit)
    if as_json:
        screen.echo(summary.model_dump_json(indent=2))
    else:
        for line in summary_lines(summary, str(trace)):
            screen.echo(line)


@commands.command("filter")
def filter_trace(
    trace: TraceFile,
    out: Out,
    schema: list[str] | None = option("--schema NAME", "With this current schema; may be repeated."),
    user: list[str] | None = option("--user NAME", "Of this user; may be repeated."),
    connection: list[int] | None = option(
        "--connection N", "Of this connection, by the server's number; may be repeated."
    ),
    fingerprint: list[str] | None = option(
        "--fingerprint ID", "Of this fingerprint, as `trace show` prints it; may be repeated."
    ),
    matching: str | None = option("--matching REGEX", "Whose text matches; (?i) ignores case."),
    reads_only: bool = option("--reads-only", "That only read.", default=False),
    errors_only: bool = option("--errors-only", "That failed.", default=False),
    force: outputs.Force = False,
) -> None:
    """Write the statements of a trace for which all conditions hold, with their connections, as a trace.

    ```text
    mydyno trace filter shop.trace --schema shop --reads-only --out reads.trace
    mydyno trace filter shop.trace --matching orders --out orders.trace
    ```
    """
    from mydyno.queries.traces import Selection

    _select(
        trace,
        Selection(
            schemas=schema or (),
            users=user or (),
            connections=connection or (),
            fingerprints=fingerprint or (),
            matching=matching,
            reads_only=reads_only,
            errors_only=errors_only,
        ),
        out,
        force,
    )


@commands.command("cut")
def cut_trace(
    trace: TraceFile,
    out: Out,
    begin: Duration = duration("--from", "From this offset on.", default=Duration(0)),
    until: Duration | None = duration("--until", "Before this offset."),
    length: Duration | None = duration("--for", "As long as this."),
    force: outputs.Force = False,
) -> None:
    """Write a span of a trace as a trace. Offsets are from its start; connections that were open then open at
    the new start.

    ```text
    mydyno trace cut shop.trace --from 5m --for 1m --out minute.trace
    mydyno trace cut shop.trace --until 30s --out first.trace
    ```
    """
    from mydyno.queries.traces import Selection

    if until is not None and length is not None:
        raise UsageError("--until and --for both give the end", "give one of them")
    end = begin + length if length is not None else until
    if end is not None and end <= begin:
        raise UsageError(f"nothing is between --from {begin} and its end", "give a later --until")
    selection = Selection(
        from_us=round(begin * _MICROS), until_us=None if end is None else round(end * _MICROS)
    )
    _select(trace, selection, out, force)


@commands.command("merge")
def merge(
    traces: Annotated[list[Path], argument("TRACE", "Traces that `mydyno capture` wrote.")],
    out: Out,
    align: str = option(
        "--align WHAT", "`clock`: by the wall clock; `start`: all begin together.", default="clock"
    ),
    force: outputs.Force = False,
) -> None:
    """Write several traces as one; the connections of each stay its own.

    ```text
    mydyno trace merge db1.trace db2.trace --out all.trace
    mydyno trace merge monday.trace friday.trace --align start --out both.trace
    ```
    """
    from mydyno.queries.traces import merge_traces

    if align not in ("clock", "start"):
        raise UsageError(f"--align {align}: no such way", "clock or start")
    outputs.Outputs(traces, force).file("--out", out, outputs.TRACE)
    _written(merge_traces(traces, out, align_starts=align == "start"), out)


def _select(trace: Path, selection: Selection, out: Path, force: bool) -> None:
    from mydyno.queries.traces import select_from

    outputs.Outputs((trace,), force).file("--out", out, outputs.TRACE)
    _written(select_from(trace, selection, out), out)


def _written(trace: Trace, out: Path) -> None:
    from mydyno.queries.traces.text import written_line

    screen.echo(written_line(trace, str(out)))
