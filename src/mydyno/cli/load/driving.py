"""A load while it runs: shown on standard error, ended early by a signal with its figures kept."""

from contextlib import ExitStack
from typing import Any

import typer

from mydyno.cli.load.progress import progress
from mydyno.cli.login_options import LoadLogin
from mydyno.core.errors import EngineError, ExitCode, UsageError
from mydyno.core.interruption import stopping
from mydyno.core.plurals import counted
from mydyno.lab.load.failures import hint_of, nothing_succeeded, some_failed
from mydyno.lab.load.job import Job, Target
from mydyno.lab.results.records import Remark
from mydyno.lab.spec import Workload
from mydyno.lab.trial.collect import Collector
from mydyno.lab.trial.drivers import driver
from mydyno.lab.trial.job import engine_workload, phases
from mydyno.machine.local import LocalHost


def target_of(values: dict[str, Any]) -> Target:
    """The server that the command line names. Raises UsageError."""
    login = LoadLogin.of(values).named_login()
    if login is None:
        raise UsageError(
            "which server? neither --socket nor --host is given",
            "for a server on this machine: --socket /run/mysqld/mysqld.sock",
        )
    return Target.of(login, values["database"])


def drive(
    workload: Workload,
    target: Target,
    *,
    seed: int,
    prepare: str,
    drop_existing: bool,
    quiet: bool,
    report_every_s: float = 1.0,
    percentile: float = 95,
) -> Collector:
    """All messages up to the end or an early stop. Raises KeyboardInterrupt without a phase.

    Nothing is shown when `quiet`, and no lines of intervals when `report_every_s` is 0. `percentile`: of the
    transactions of an interval.
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
        percentile=percentile,
    )
    collected = Collector()
    with ExitStack() as stack:
        load = stack.enter_context(driver(workload, job, LocalHost()))
        stack.enter_context(stopping(load.request_stop))
        show = None if quiet else stack.enter_context(progress(percentile, lines=report_every_s > 0))
        for message in load:
            collected.hear(message)
            if show is not None:
                show(message)
    if not collected.ends or collected.done is None:
        raise KeyboardInterrupt
    return collected


def raise_if_failed(collected: Collector) -> None:
    """What went wrong, once the figures are printed: as an error with its exit code."""
    assert collected.done is not None
    if collected.done.exit == "interrupted":
        raise typer.Exit(ExitCode.INTERRUPTED)
    for end in collected.ends:
        if end.aborted:
            raise EngineError(f"the load ended early: {end.aborted}")
        if end.connections_reached < end.connections_asked:
            raise EngineError(
                f"only {end.connections_reached} of {counted(end.connections_asked, 'connection')}"
                " could be opened"
                f" ({'; '.join(f'{code}: {text}' for code, text in end.error_examples.items())})",
                hint_of(end.errors) or "increase max_connections on the server, or use fewer connections",
            )
        if end.phase not in collected.labels and (why := nothing_succeeded(end)):
            raise EngineError(why, hint_of(end.errors))
    broken = [check for check in collected.checks if not check.holds]
    if broken:
        detail = f": {broken[0].detail}" if broken[0].detail else ""
        raise EngineError(f"after the load {broken[0].name} does not hold{detail}")


def warnings(collected: Collector) -> list[str]:
    """What a reader of the figures must know although the load was carried out, a sentence each.

    Test programs of sql-bench, which have labels, count their failures by operation.
    """
    ends = (end for end in collected.ends if end.phase not in collected.labels)
    failures = [sentence for end in ends if (sentence := some_failed(end))]
    return [*failures, *map(_sentence, collected.remarks)]


def _sentence(remark: Remark) -> str:
    return remark.message if remark.phase is None else f"phase {remark.phase + 1}: {remark.message}"


def refuse_wrong_results(statements: int) -> None:
    """Raises EngineError: the load was done, but not on the data that it should have been."""
    raise EngineError(
        f"{counted(statements, 'statement')} failed or gave other rows than they must; see the report"
    )
