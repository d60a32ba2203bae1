"""Whether a trial may count, and if not, why. Pure: every check is a function of plain values.

A trial that fails a check is kept and shown, and left out of every verdict. The thresholds are
deliberate and stated in each reason, so that a reader can disagree with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mydyno.core.units import format_duration
from mydyno.lab.analysis.littles_law import Load, breach
from mydyno.lab.results.records import CheckRecord, Invalidity, PhaseRecord

CLIENT_SATURATED = 0.90
"""Share of the CPU time its reactor threads could use above which the client is the bottleneck."""
STEAL_LIMIT = 0.10
"""Share of the machine's CPU time taken by its hypervisor above which it measured its neighbours."""

RETRIED = frozenset({"1020", "1205", "1213"})
"""Lost races for a row (record changed, lock wait, deadlock): part of concurrent writing, so the engine runs
the transaction again, as sysbench does (its default --mysql-ignore-errors)."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What a trial left behind, for its checks."""

    phases: Sequence[PhaseRecord]
    phases_planned: int
    settings_differences: Sequence[str]
    """One sentence each: asked, and in force instead."""
    misplaced: Sequence[str] = ()
    """One sentence for each kind of files that is not on its volume."""
    max_used_connections: int | None
    """The server's own high-water mark."""
    reactors: int
    steal: float | None
    """Share of CPU time stolen during the load; None when not sampled."""
    server_alive: bool
    server_restarted: bool
    rows_expected: Mapping[str, int]
    rows_found: Mapping[str, int] | None
    """None when the server could not be asked any more."""
    checks: Sequence[CheckRecord] = ()
    loads: Sequence[Load | None] = ()
    """What drove each phase; None where nobody knows how many statements are under way."""
    host_lost: str | None = None
    """What is known of the end of a guest that died under the load."""


def check(evidence: Evidence) -> tuple[Invalidity, ...]:
    """Every reason why the trial must not count; empty for a valid one."""
    checks = (
        _host_lost,
        _settings_in_force,
        _files_on_volumes,
        _server_alive,
        _phases_complete,
        _anything_measured,
        _connections_reached,
        _errors,
        _client_saturation,
        _littles_law,
        _steal_time,
        _row_counts,
        _conditions,
        _wrong_results,
    )
    return tuple(reason for one in checks for reason in one(evidence))


def _host_lost(evidence: Evidence) -> Iterator[Invalidity]:
    if evidence.host_lost:
        yield Invalidity(check="host-lost", message=evidence.host_lost)


def _settings_in_force(evidence: Evidence) -> Iterator[Invalidity]:
    for difference in evidence.settings_differences:
        yield Invalidity(check="settings-in-force", message=difference)


def _files_on_volumes(evidence: Evidence) -> Iterator[Invalidity]:
    for sentence in evidence.misplaced:
        yield Invalidity(check="files-on-volumes", message=sentence)


def _server_alive(evidence: Evidence) -> Iterator[Invalidity]:
    if not evidence.server_alive:
        yield Invalidity(check="server-alive", message="the server ended during the trial; see its error log")
    elif evidence.server_restarted:
        yield Invalidity(
            check="server-restart", message="the server's uptime decreased: it was restarted during the trial"
        )


def _phases_complete(evidence: Evidence) -> Iterator[Invalidity]:
    for phase in evidence.phases:
        if phase.aborted:
            yield Invalidity(
                check="phase-complete", message=f"the phase ended early: {phase.aborted}", phase=phase.index
            )
    missing = evidence.phases_planned - len(evidence.phases)
    if missing > 0:
        yield Invalidity(
            check="phase-complete", message=f"{missing} of {evidence.phases_planned} phases did not run"
        )


def _anything_measured(evidence: Evidence) -> Iterator[Invalidity]:
    for phase in evidence.phases:
        if not (phase.queries or phase.transactions or phase.operations or phase.aborted):
            yield Invalidity(
                check="measured",
                message="no query ended while the phase was measured: use a longer duration",
                phase=phase.index,
            )


def _connections_reached(evidence: Evidence) -> Iterator[Invalidity]:
    for phase in evidence.phases:
        if phase.connections_reached < phase.connections_asked:
            yield Invalidity(
                check="connections-reached",
                message=f"{phase.connections_reached} of {phase.connections_asked} connections were opened"
                + _codes(phase),
                phase=phase.index,
            )
    most = max((phase.connections_reached for phase in evidence.phases), default=0)
    seen = evidence.max_used_connections
    if seen is not None and seen < most:
        yield Invalidity(
            check="connections-reached",
            message=f"the client held {most} connections but the server's Max_used_connections is {seen}",
        )


def _errors(evidence: Evidence) -> Iterator[Invalidity]:
    for phase in evidence.phases:
        # sysbench counts the errors that it ignores together: 1213/1020/1205.
        unexpected = sum(
            count for codes, count in phase.errors.items() if not RETRIED.issuperset(codes.split("/"))
        )
        # Connections that could not be opened are counted by code too, and have a check of their own.
        failed = unexpected - (phase.connections_asked - phase.connections_reached)
        if failed > 0:
            yield Invalidity(
                check="errors", message=f"{failed} statements failed{_codes(phase)}", phase=phase.index
            )


def _codes(phase: PhaseRecord) -> str:
    """The errors of a phase in brackets, the commonest first, or nothing."""
    if not phase.errors:
        return ""
    common = sorted(phase.errors.items(), key=lambda item: -item[1])
    told = (
        f"error {code} {count} times"
        + (f': "{example}"' if (example := phase.error_examples.get(code)) else "")
        for code, count in common[:3]
    )
    return f" ({'; '.join(told)})"


def _client_saturation(evidence: Evidence) -> Iterator[Invalidity]:
    for phase in evidence.phases:
        if phase.client_cpu_user_s is None or phase.client_cpu_system_s is None:
            continue
        length = phase.ended_s - phase.started_s
        used = phase.client_cpu_user_s + phase.client_cpu_system_s
        # CPU time is counted in clock ticks (10 ms): very short phases tell nothing.
        if length >= 0.25 and used > CLIENT_SATURATED * evidence.reactors * length:
            yield Invalidity(
                check="client-saturation",
                message=f"the client was the bottleneck: it used {format_duration(used)} of CPU in"
                f" {format_duration(length)} on {evidence.reactors} threads"
                f" (over {CLIENT_SATURATED:.0%} of their capacity)",
                phase=phase.index,
            )


def _littles_law(evidence: Evidence) -> Iterator[Invalidity]:
    """Where the client was the bottleneck, answers lie about unread, which is told already."""
    saturated = {reason.phase for reason in _client_saturation(evidence)}
    for phase, load in zip(evidence.phases, evidence.loads, strict=False):
        broken = None if load is None or phase.index in saturated else breach(phase, load)
        if broken is not None:
            yield Invalidity(check="littles-law", message=broken.calculation, phase=phase.index)


def _steal_time(evidence: Evidence) -> Iterator[Invalidity]:
    if evidence.steal is not None and evidence.steal > STEAL_LIMIT:
        yield Invalidity(
            check="steal-time",
            message=f"the hypervisor took {evidence.steal:.0%} of the CPU time (limit {STEAL_LIMIT:.0%})",
        )


def _row_counts(evidence: Evidence) -> Iterator[Invalidity]:
    if evidence.rows_found is None:
        return  # The server is gone, which is a reason of its own.
    for table, expected in evidence.rows_expected.items():
        found = evidence.rows_found.get(table)
        if found != expected:
            yield Invalidity(
                check="row-counts", message=f"table {table} holds {found} rows after the load, not {expected}"
            )


def _conditions(evidence: Evidence) -> Iterator[Invalidity]:
    for check in evidence.checks:
        if not check.holds:
            detail = f": {check.detail}" if check.detail else ""
            yield Invalidity(
                check="consistency", message=f"after the load {check.name} does not hold{detail}"
            )


def _wrong_results(evidence: Evidence) -> Iterator[Invalidity]:
    for phase in evidence.phases:
        wrong = [operation for operation in phase.operations if operation.failed]
        if wrong:
            first = wrong[0]
            warning = f" ({first.warning})" if first.warning else ""
            yield Invalidity(
                check="wrong-results",
                message=f"{phase.label}: {first.failed} statements of {first.name} failed or returned wrong "
                f"rows{warning}",
                phase=phase.index,
            )
