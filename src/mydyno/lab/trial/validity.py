"""Whether a trial may count, and if not, why. Pure: every check is a function of plain values.

A trial that fails a check is kept and shown, and left out of every verdict. The thresholds are
deliberate and stated in each reason, so that a reader can disagree with them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mydyno.core.plurals import counted
from mydyno.core.units import format_duration
from mydyno.lab.analysis.littles_law import Load, breach
from mydyno.lab.results.records import CheckRecord, Invalidity, PhaseRecord, ShareRecord

CLIENT_SATURATED = 0.90
"""Share of the CPU time its reactor threads could use above which the client is the bottleneck."""
RATE_MISSED = 0.10
"""Share of the transactions due in an open loop that may be missing; at random instants also four standard
deviations of their number (a Poisson process), and one under way on each connection."""
START_SLACK_S = 0.02
"""A thread of a generator may wait so long for a CPU at the common start; the uncertainty of its clock is
added."""
_SHOWING_S = 0.25
"""CPU time is counted in clock ticks (10 ms): shorter phases show nothing."""
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
    """One sentence each: configured, and in force instead."""
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
    """None when the server no longer answered."""
    checks: Sequence[CheckRecord] = ()
    of_trace: bool = False
    """A trace was replayed: its connections come and go, and its failed statements are a result."""
    loads: Sequence[Load | None] = ()
    """What drove each phase; None where it is unknown how many statements are under way."""
    host_lost: str | None = None
    """What is known of the end of a guest that died under the load."""


def check(evidence: Evidence) -> tuple[Invalidity, ...]:
    """Every reason why the trial must not count; empty for a valid one."""
    return tuple(
        Invalidity(check=name, message=message, phase=phase)
        for name, reasons in _CHECKS
        for message, phase in reasons(evidence)
    )


Reasons = Iterator[tuple[str, int | None]]
"""A sentence each, with the phase that it is about, if it is about one."""


def _host_lost(evidence: Evidence) -> Reasons:
    if evidence.host_lost:
        yield evidence.host_lost, None


def _settings_in_force(evidence: Evidence) -> Reasons:
    yield from ((difference, None) for difference in evidence.settings_differences)


def _files_on_volumes(evidence: Evidence) -> Reasons:
    yield from ((sentence, None) for sentence in evidence.misplaced)


def _server_alive(evidence: Evidence) -> Reasons:
    if not evidence.server_alive:
        yield "the server ended during the trial; see its error log", None


def _server_restart(evidence: Evidence) -> Reasons:
    if evidence.server_alive and evidence.server_restarted:
        yield "the server's uptime decreased: it was restarted during the trial", None


def _phases_complete(evidence: Evidence) -> Reasons:
    for phase in evidence.phases:
        if phase.aborted:
            yield f"the phase ended early: {phase.aborted}", phase.index
    missing = evidence.phases_planned - len(evidence.phases)
    if missing > 0:
        yield f"{missing} of {evidence.phases_planned} phases did not run", None


def _anything_measured(evidence: Evidence) -> Reasons:
    for phase in evidence.phases:
        if not (phase.queries or phase.transactions or phase.operations or phase.aborted):
            yield "no query ended while the phase was measured: use a longer duration", phase.index


def _connections_reached(evidence: Evidence) -> Reasons:
    for phase in evidence.phases:
        if phase.connections_reached < phase.connections_asked:
            opened = f"{phase.connections_reached} of {phase.connections_asked} connections were opened"
            yield opened + _codes(phase), phase.index
    most = max((phase.connections_reached for phase in evidence.phases), default=0)
    seen = evidence.max_used_connections
    if seen is not None and seen < most and not evidence.of_trace:
        yield f"the client held {most} connections but the server's Max_used_connections is {seen}", None


def _errors(evidence: Evidence) -> Reasons:
    if evidence.of_trace:
        return
    for phase in evidence.phases:
        # sysbench counts the errors that it ignores together: 1213/1020/1205.
        unexpected = sum(
            count for codes, count in phase.errors.items() if not RETRIED.issuperset(codes.split("/"))
        )
        # Connections that could not be opened are counted by code too, and have a check of their own.
        failed = unexpected - (phase.connections_asked - phase.connections_reached)
        if failed > 0:
            yield f"{failed} statements failed{_codes(phase)}", phase.index


def _codes(phase: PhaseRecord) -> str:
    """The errors of a phase in brackets, the commonest first, or nothing."""
    common = sorted(phase.errors.items(), key=lambda item: -item[1])
    shown = (
        f"error {code} {count} times"
        + (f': "{example}"' if (example := phase.error_examples.get(code)) else "")
        for code, count in common[:3]
    )
    return f" ({'; '.join(shown)})" if common else ""


def _client_saturation(evidence: Evidence) -> Reasons:
    for phase in evidence.phases:
        if phase.shares:
            yield from ((reason, phase.index) for reason in filter(None, map(_saturated, phase.shares)))
            continue
        if phase.client_cpu_user_s is None or phase.client_cpu_system_s is None:
            continue
        length = phase.ended_s - phase.started_s
        used = phase.client_cpu_user_s + phase.client_cpu_system_s
        if length >= _SHOWING_S and used > CLIENT_SATURATED * evidence.reactors * length:
            yield (
                (
                    f"the client was the bottleneck: it used {format_duration(used)} of CPU in"
                    f" {format_duration(length)} on {evidence.reactors} threads"
                    f" (over {CLIENT_SATURATED:.0%} of their capacity)"
                ),
                phase.index,
            )


def _saturated(share: ShareRecord) -> str | None:
    """Why a generator was the bottleneck; None when it was not."""
    length = share.measured_s or 0.0
    if length < _SHOWING_S:
        return None
    if share.cpu_s > CLIENT_SATURATED * share.threads * length:
        return (
            f"the generator {share.host} was the bottleneck: its engine used {format_duration(share.cpu_s)} "
            f"of CPU in {format_duration(length)} on {counted(share.threads, 'thread')} (over "
            f"{CLIENT_SATURATED:.0%} of their capacity)"
        )
    if share.machine_busy is not None and share.machine_busy > CLIENT_SATURATED:
        return (
            f"the generator {share.host} was the bottleneck: its machine's CPUs were "
            f"{share.machine_busy:.0%} busy (over {CLIENT_SATURATED:.0%})"
        )
    return None


def _together(evidence: Evidence) -> Reasons:
    """Generators start and end together."""
    for phase in evidence.phases:
        # A phase that was aborted has its reason.
        for share in () if phase.aborted else phase.shares:
            if (reason := _apart(share)) is not None:
                yield reason, phase.index


def _apart(share: ShareRecord) -> str | None:
    if share.late_s is None:
        return f"the generator {share.host} measured nothing"
    allowed = START_SLACK_S + share.clock_error_s
    if abs(share.late_s) > allowed:
        when = "after" if share.late_s > 0 else "before"
        return (
            f"the generator {share.host} began {format_duration(abs(share.late_s))} {when} the common start "
            f"(limit {format_duration(allowed)}, of which its clock's uncertainty is "
            f"{format_duration(share.clock_error_s)})"
        )
    if share.short_s is not None and share.short_s > allowed:
        return f"the generator {share.host} ended {format_duration(share.short_s)} early"
    return None


def missed_rate(phase: PhaseRecord, load: Load | None) -> str | None:
    """How far an open loop is from its rate; None where it was kept, or where there is none."""
    begin, end, done = phase.measured_from_s, phase.measured_to_s, phase.transactions
    if load is None or load.rate is None or phase.aborted or begin is None or end is None or done is None:
        return None
    due = load.rate * (end - begin)
    if due - done - load.connections <= max(RATE_MISSED * due, 4 * due**0.5):
        return None
    waiting = f"; up to {phase.backlog_max:,} waited" if phase.backlog_max else ""
    return (
        f"the client could not keep the requested rate over {counted(load.connections, 'connection')}:"
        f" {done / (end - begin):,.1f} of {load.rate:,.1f} transactions/s{waiting}."
        " Latencies grow with the duration: use a lower rate or more connections"
    )


def _rate_kept(evidence: Evidence) -> Reasons:
    for phase, load in zip(evidence.phases, evidence.loads, strict=False):
        if (missed := missed_rate(phase, load)) is not None:
            yield missed, phase.index


def _littles_law(evidence: Evidence) -> Reasons:
    """Where the client was the bottleneck, answers wait unread, which has its own reason."""
    saturated = {phase for _, phase in _client_saturation(evidence)}
    for phase, load in zip(evidence.phases, evidence.loads, strict=False):
        broken = None if load is None or phase.index in saturated else breach(phase, load)
        if broken is not None:
            yield broken.calculation, phase.index


def _steal_time(evidence: Evidence) -> Reasons:
    if evidence.steal is not None and evidence.steal > STEAL_LIMIT:
        yield f"the hypervisor took {evidence.steal:.0%} of the CPU time (limit {STEAL_LIMIT:.0%})", None


def _row_counts(evidence: Evidence) -> Reasons:
    if evidence.rows_found is None:
        return  # The server is gone, which is a separate reason.
    for table, expected in evidence.rows_expected.items():
        if (rows := evidence.rows_found.get(table)) != expected:
            yield f"table {table} holds {rows} rows after the load, not {expected}", None


def _conditions(evidence: Evidence) -> Reasons:
    for check in evidence.checks:
        if not check.holds:
            detail = f": {check.detail}" if check.detail else ""
            yield f"after the load {check.name} does not hold{detail}", None


def _wrong_results(evidence: Evidence) -> Reasons:
    for phase in evidence.phases:
        first = next((operation for operation in phase.operations if operation.failed), None)
        if first is not None:
            warning = f" ({first.warning})" if first.warning else ""
            failed = f"{first.failed} statements of {first.name} failed or returned wrong rows{warning}"
            yield f"{phase.label}: {failed}", phase.index


_CHECKS: tuple[tuple[str, Callable[[Evidence], Reasons]], ...] = (
    ("host-lost", _host_lost),
    ("settings-in-force", _settings_in_force),
    ("files-on-volumes", _files_on_volumes),
    ("server-alive", _server_alive),
    ("server-restart", _server_restart),
    ("phase-complete", _phases_complete),
    ("measured", _anything_measured),
    ("connections-reached", _connections_reached),
    ("errors", _errors),
    ("client-saturation", _client_saturation),
    ("generators", _together),
    ("rate-kept", _rate_kept),
    ("littles-law", _littles_law),
    ("steal-time", _steal_time),
    ("row-counts", _row_counts),
    ("consistency", _conditions),
    ("wrong-results", _wrong_results),
)
"""Name of a check -> its reasons, in the order in which they are reported."""
