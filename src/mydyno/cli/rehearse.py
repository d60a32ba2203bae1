"""`mydyno rehearse`: a trace on your own data, on two releases, settings or schemas."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar

import typer

from mydyno.cli import outputs, screen
from mydyno.cli.declare import argument, option, option_group
from mydyno.cli.labs import LabOptions
from mydyno.cli.quantities import Percent, percentage
from mydyno.core.errors import ExitCode

TraceFile = Annotated[Path, argument("TRACE", "The trace (`mydyno capture`, `mydyno synthesize`).")]
_MARGIN = Percent(0.1)


@option_group
class DataOptions:
    """Where the data comes from."""

    panel: ClassVar = "Data"

    data: Path | None = option(
        "--data PATH",
        "A dump (.sql, .gz, .bz2, .xz, .zst), a mydumper folder, a data directory copied while its server was"
        " stopped, or a prepared backup of mariadb-backup or xtrabackup.",
    )
    database: str | None = option(
        "--database NAME", "The schema for a dump that names none.", show_default="the dump's"
    )
    from_server: str | None = option(
        "--from-server SOCKET|DSN", "Dump this server first: its socket, or mysql://USER@HOST:PORT."
    )
    user: str | None = option("--user", "Account on that server [default: root].")
    password_file: Path | None = option("--password-file", "File whose first line is its password.")
    defaults_file: Path | None = option("--defaults-file", "Client option file with its user and password.")
    ask_password: bool = option("--ask-password", "Prompt for its password.", default=False)


@option_group
class SideOptions:
    """What is compared; the first is the baseline."""

    panel: ClassVar = "Sides"

    releases: str = option(
        "--releases NAMES",
        "Releases (`mydyno servers list`), as mariadb-10.5,mariadb-11.8.",
        default="system",
    )
    settings: str | None = option(
        "--settings FILES", "Option files (my.cnf): one for all sides, or one for each, as old.cnf,new.cnf."
    )
    schema_change: Path | None = option(
        "--schema-change FILE", "SQL that is run on the data of the second side, as an index candidate's."
    )
    repeats: int = option("--repeats N", "Repetitions of each side.", default=5, min=1)
    speed: str = option(
        "--speed SPEED", "Pace of the trace: 1 as it was, 4 four times as fast, or max.", default="1"
    )
    margin: Percent = percentage("--margin", "Differences below do not count.", default=_MARGIN)


@option_group
class ResultOptions:
    """What is written."""

    panel: ClassVar = "Result"

    html: Path | None = option("--html FILE", "Also write a page for a browser.")
    as_json: bool = option("--json", "Print JSON, for programs.", default=False)
    limit: int = option("--limit N", "Show N statements.", default=20, min=1)
    fail_if_slower: Percent | None = percentage(
        "--fail-if-slower",
        "End with exit code 8 when a statement or the trace is shown to be slower by this much or more, fails"
        " or returns other rows.",
        default=None,
    )
    dry_run: bool = option("--dry-run", "Show the sides and the plan, and end.", default=False)


def rehearse(
    trace: TraceFile,
    source: DataOptions,
    sides: SideOptions,
    result: ResultOptions,
    lab: LabOptions = LabOptions(),
    force: outputs.Force = False,
) -> None:
    """Replay a trace on your own data on two releases, settings or schemas, and compare every statement.

    Starts private servers, loads the data once for each release, and replays the trace on fresh clones in
    random order. The answer is one sentence; then each statement that fails, returns other rows, is slower
    or warns, with its interval and both plans. A finished repetition is saved: after Ctrl-C or a kill the
    same command continues. Exit code 7 when some repetitions are invalid (docs/how-to/rehearse.md).

    ```text
    mydyno rehearse a.trace --data a.sql.gz --releases mariadb-10.5,mariadb-11.8
    mydyno rehearse a.trace --data backup/ --settings old.cnf,new.cnf
    mydyno rehearse a.trace --data a.sql --schema-change index.sql --speed max
    mydyno rehearse a.trace --from-server mysql://app@db1 --fail-if-slower 10%
    ```
    """
    from mydyno.cli import rehearsing

    inputs = (trace, source.data, source.password_file, source.defaults_file, sides.schema_change)
    page = outputs.Outputs(inputs, force).file("--html", result.html, outputs.PAGE)
    margin = sides.margin if result.fail_if_slower is None else result.fail_if_slower
    request = rehearsing.request(trace, source, sides, lab, margin)
    prepared = rehearsing.show_plan(request, quiet=result.as_json)
    if result.dry_run:
        return
    rehearsal, invalid = rehearsing.measure(request, prepared)
    if page is not None:
        from mydyno.rehearse.report.page import rehearsal_html

        page.write(rehearsal_html(rehearsal))
    rehearsing.show_result(rehearsal, as_json=result.as_json, limit=result.limit)
    if page is not None and not result.as_json:
        screen.echo(f"page     {page.path}")
    if result.fail_if_slower is not None and rehearsing.is_worse(rehearsal):
        raise typer.Exit(ExitCode.SLOWER)
    if invalid:
        raise typer.Exit(ExitCode.INVALID_TRIALS)
