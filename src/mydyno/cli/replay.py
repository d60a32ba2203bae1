"""`mydyno replay`: the statements of a trace on any server, and how true to the trace that was."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mydyno.cli import options, screen
from mydyno.cli.declare import argument, option, option_group
from mydyno.cli.login_options import LoadLogin
from mydyno.cli.quantities import Duration, duration
from mydyno.core.errors import EngineError, ExitCode, UsageError

if TYPE_CHECKING:
    from mydyno.lab.load.job import Job
    from mydyno.lab.trial.collect import Collector
    from mydyno.server.access.login import Login

TraceFile = Annotated[Path, argument("TRACE", "The trace, as `mydyno capture` writes it.")]
_DATABASE = "mysql"
"""The engine wants one in its job; each connection chooses the schema that the trace has."""


@option_group
class ReplayOptions:
    """What of the trace is replayed, and how."""

    speed: str = option("--speed SPEED", "1x as it was, 0.5x, 4x, or max: as fast as possible.", default="1x")
    all_statements: bool = option(
        "--all-statements", "Also what may change data: on a copy, never where it is missed.", default=False
    )
    start: Duration = duration(
        "--from", "Replay from here, as time since the trace's start.", default=Duration(0)
    )
    length: Duration | None = duration("--for", "Replay so much of the trace.", show_default="to its end")
    schema: str | None = option("--schema", "The schema of statements whose schema the trace does not know.")
    answer_within: Duration = duration(
        "--answer-within",
        "Give a statement up that has no answer for so long.",
        least=0.1,
        default=Duration(60),
    )
    out: Path | None = option("--out FOLDER", "Write the result of each statement to this new folder.")

    def job(self, trace: Path) -> dict[str, Any]:
        """The engine's `workload.replay`. Raises UsageError."""
        from mydyno.lab.workload.trace import parse_speed

        try:
            speed = parse_speed(self.speed)
        except ValueError as error:
            raise UsageError(f"--speed {self.speed}: {error}") from None
        if self.out is not None and self.out.exists() and (not self.out.is_dir() or any(self.out.iterdir())):
            raise UsageError(f"--out {self.out}: it exists already", "name a new folder")
        return {
            "trace": str(trace.resolve()),
            "speed": None if speed == "max" else speed,
            "reads_only": not self.all_statements,
            "from_s": float(self.start),
            "for_s": None if self.length is None else float(self.length),
            "schema": self.schema,
            "out": None if self.out is None else str(self.out.resolve()),
        }


def replay(
    trace: TraceFile,
    server: LoadLogin,
    chosen: ReplayOptions,
    as_json: options.AsJson = False,
) -> None:
    """Replay a trace on a server: its connections, their order of statements, its pace.

    Latency counts from the instant at which a statement was due. Without --all-statements only reads are
    sent: SELECT without locks, INTO and functions that are not the server's own, SHOW, SET of session
    variables, transactions. Never sent: LOAD DATA, INTO OUTFILE, accounts, replication, KILL, SET GLOBAL, XA
    (docs/reference/replay-results.md has all reasons). All connections log in as the given account. Ctrl-C
    ends the replay and prints what was measured.

    ```text
    mydyno replay shop.trace --socket /run/mysqld/mysqld.sock
    mydyno replay shop.trace --host copy1 --all-statements --speed 4x
    mydyno replay shop.trace --socket /tmp/s.sock --speed max --out results
    mydyno replay shop.trace --socket /tmp/s.sock --from 5m --for 10m
    ```
    """
    from mydyno.cli import replay_text
    from mydyno.lab.load.job import Target

    replayed = chosen.job(trace)
    login = server.login()
    job = _job(replayed, login, Target.of(login, _DATABASE), chosen)
    collected = _drive(job, quiet=as_json)
    figures = replay_text.figures(collected)
    if as_json:
        screen.echo_json(figures)
    else:
        screen.echo(replay_text.as_text(collected))
    _raise_if_failed(collected, chosen.out)


def _job(replayed: dict[str, Any], login: Login, target: Any, chosen: ReplayOptions) -> Job:
    """What the engine is to do, once the server has what the trace needs. Raises UsageError, ServerError."""
    from mydyno.lab.load import job as jobs
    from mydyno.lab.trial.replay_checks import Needs, reaching_elsewhere
    from mydyno.lab.workload.trace import survey
    from mydyno.server.access.login import server_errors

    needs = Needs(survey({**replayed, "out": None}), chosen.schema)
    length_s = needs.survey.trace_length_us / 1e6
    if chosen.start and chosen.start >= length_s:
        raise UsageError(f"--from {chosen.start}: the trace is {length_s:.1f} s long")
    with server_errors(login, "the server could not be checked"), login.connect() as connection:
        for warning in needs.check(connection):
            screen.echo(f"warning: {warning}", err=True)
        refused = reaching_elsewhere(connection)
    if chosen.length is not None and chosen.start + chosen.length > length_s:
        screen.echo(f"warning: the trace is {length_s:.1f} s long: it ends before --for", err=True)
    peak = max(1, needs.survey.peak_connections)
    return jobs.Job(
        target=target,
        seed=1,
        workload={"replay": {**replayed, **refused}},
        phases=(jobs.Phase(peak, jobs.closed_loop(), jobs.whole_trace()),),
        answer_within_s=float(chosen.answer_within),
    )


def _drive(job: Job, *, quiet: bool) -> Collector:
    """All messages up to the end or an early stop."""
    from mydyno.cli.load.progress import progress
    from mydyno.core.interruption import stopping
    from mydyno.lab.load.engine import Engine
    from mydyno.lab.trial.collect import Collector
    from mydyno.machine.local import LocalHost

    collected = Collector()
    with ExitStack() as stack:
        load = stack.enter_context(Engine(job, LocalHost()))
        stack.enter_context(stopping(load.request_stop))
        show = None if quiet else stack.enter_context(progress(95, lines=True))
        for message in load:
            collected.hear(message)
            if show is not None:
                show(message)
    if not collected.replays or not collected.ends or collected.done is None:
        raise KeyboardInterrupt
    return collected


def _raise_if_failed(collected: Collector, out: Path | None) -> None:
    """What went wrong, once the figures are printed."""
    assert collected.done is not None
    kept = "" if out is None else f"; {out} has what was replayed"
    if collected.done.exit == "interrupted":
        raise typer.Exit(ExitCode.INTERRUPTED)
    if reason := collected.ends[-1].aborted:
        raise EngineError(f"the replay ended early: {reason}{kept}")
    if problem := collected.replays[-1].problem:
        raise EngineError(f"the trace could not be read to its end: {problem}{kept}")
