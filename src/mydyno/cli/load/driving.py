"""A load under way: heard, shown on standard error, ended early by a signal with its figures kept."""

from __future__ import annotations

import typer

from mydyno.cli import screen
from mydyno.cli.display import p95
from mydyno.core.errors import EngineError, ExitCode
from mydyno.core.interruption import stopping
from mydyno.core.plurals import counted
from mydyno.lab.load import messages
from mydyno.lab.load.failures import hint_of, nothing_succeeded, some_failed
from mydyno.lab.load.job import Job, Target
from mydyno.lab.spec import Workload
from mydyno.lab.trial.collect import Collector
from mydyno.lab.trial.drivers import driver
from mydyno.lab.trial.job import engine_workload, phases
from mydyno.machine.local import LocalHost


def drive(
    workload: Workload,
    target: Target,
    *,
    seed: int,
    prepare: str,
    drop_existing: bool,
    quiet: bool,
    report_every_s: float = 1.0,
) -> Collector:
    """Everything that was said, up to the end or an early stop. Raises KeyboardInterrupt without a phase.

    Nothing is shown when `quiet`, and no lines of progress when `report_every_s` is 0.
    """
    job = Job(
        target=target,
        seed=seed,
        workload=engine_workload(workload),
        prepare=prepare,
        phases=phases(workload),
        drop_existing=drop_existing,
        answer_within_s=workload.answer_within,
        interval_s=report_every_s or 1.0,
    )
    heard = Collector()
    with driver(workload, job, LocalHost()) as load, stopping(load.request_stop):
        for message in load:
            heard.hear(message)
            if not (quiet or (isinstance(message, messages.Interval) and not report_every_s)):
                _show(message)
    if not heard.ends or heard.done is None:
        raise KeyboardInterrupt
    return heard


def raise_if_failed(heard: Collector) -> None:
    """What went wrong, once the figures are printed: as an error with its exit code."""
    assert heard.done is not None
    if heard.done.exit == "interrupted":
        raise typer.Exit(ExitCode.INTERRUPTED)
    for end in heard.ends:
        if end.aborted:
            raise EngineError(f"the load ended early: {end.aborted}")
        if end.connections_reached < end.connections_asked:
            raise EngineError(
                f"only {end.connections_reached} of {counted(end.connections_asked, 'connection')}"
                " could be opened"
                f" ({'; '.join(f'{code}: {text}' for code, text in end.error_examples.items())})",
                hint_of(end.errors) or "raise max_connections on the server, or ask for fewer",
            )
        if end.phase not in heard.labels and (why := nothing_succeeded(end)):
            raise EngineError(why, hint_of(end.errors))
    broken = [check for check in heard.checks if not check.holds]
    if broken:
        detail = f": {broken[0].detail}" if broken[0].detail else ""
        raise EngineError(f"after the load {broken[0].name} does not hold{detail}")


def warnings(heard: Collector) -> list[str]:
    """What a reader of the figures must know although the load was carried out, a sentence each.

    Test programs of sql-bench, which have labels, count their failures by operation.
    """
    ends = (end for end in heard.ends if end.phase not in heard.labels)
    failures = [sentence for end in ends if (sentence := some_failed(end))]
    return [*failures, *(remark.message for remark in heard.remarks)]


def _show(message: messages.Message) -> None:
    match message:
        case messages.Hello():
            screen.echo(
                f"server {message.server_version}, seed {message.seed},"
                f" {counted(message.reactors, 'reactor')}",
                err=True,
            )
        case messages.Progress():
            screen.echo(f"preparing: {message.stage} {message.done} of {message.of}", err=True)
        case messages.PhaseStart():
            if message.label is not None:
                screen.echo(f"{message.label}:", err=True)
        case messages.Operation():
            mark = "" if not message.warning else f"  ! {message.warning}"
            screen.echo(
                f"  {message.name:32}{message.tests:>9,} tests{message.elapsed_ns / 1e9:>9.2f} s{mark}",
                err=True,
            )
        case messages.Interval():
            seconds = (message.to_ns - message.from_ns) / 1e9
            screen.echo(
                f"{message.to_ns / 1e9:6.1f}s  {counted(message.connections, 'connection')}"
                f"  {_events(message, seconds)}{message.queries / seconds:9.0f} queries/s"
                f"  {p95(message.transaction_p95_ns, message.p95_ns)}  errors {message.errors}"
                + ("  (warm-up)" if message.warmup else ""),
                err=True,
            )
        case _:
            pass


def _events(interval: messages.Interval, seconds: float) -> str:
    """Nothing where statements come without transactions: sql-bench."""
    return f"{interval.transactions / seconds:9.0f} transactions/s  " if interval.transactions else ""


def refuse_wrong_results(statements: int) -> None:
    """Raises EngineError: the load was done, but not on the data that it should have been."""
    raise EngineError(
        f"{counted(statements, 'statement')} failed or gave other rows than they must; see the report"
    )
