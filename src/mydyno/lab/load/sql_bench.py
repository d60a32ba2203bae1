"""The report of a sql-bench run: the suite's RUN file, with what was really sent next to its counts.

The layout is that of sql-bench 2.15: header lines, a line for each test program, a verdict, and the totals
per operation, in which operations of the same name are summed over the programs. The suite's own columns
come first; `elapsed s`, `statements`, `rows`, `failed` and the server's CPU time are this report's.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from textwrap import indent

from mydyno.lab.load.messages import CpuSeconds, Hello, Operation, PhaseEnd, PhaseStart

_NAME_WIDTH = 35
_NOBODY = CpuSeconds(user_s=0.0, system_s=0.0)
_SKIPPED = "skipped: "


@dataclass(frozen=True)
class Total:
    """Operations of one name, summed. `server_cpu` is None when it is not known of every one."""

    name: str
    elapsed_ns: int
    client_cpu: CpuSeconds
    server_cpu: CpuSeconds | None
    tests: int
    statements: int
    rows: int
    failed: int
    estimated: bool
    warned: bool

    @property
    def flags(self) -> str:
        return ("+" if self.estimated else "") + ("?" if self.warned else "")


def render(
    hello: Hello,
    run: Sequence[PhaseStart | Operation],
    ends: Sequence[PhaseEnd],
    *,
    machine: str = "",
    arguments: str = "",
    comments: str = "",
    hardware: str = "",
) -> str:
    """The whole report. `run` holds the starts of the test programs and their operations, as they came; the
    texts are in the report's head."""
    names = {one.phase: one.label or "" for one in run if isinstance(one, PhaseStart)}
    operations = [one for one in run if isinstance(one, Operation)]
    summed = [operation for operation in operations if operation.in_totals]
    left_out = [operation for operation in operations if not operation.in_totals]
    head = {
        "Benchmark suite": "sql-bench 2.15, reimplemented by mydyno " + hello.engine_version,
        "Date of test": f"{datetime.fromtimestamp(hello.started_unix_ns / 1e9, UTC):%Y-%m-%d %H:%M:%S} UTC",
        "Running tests on": machine,
        "Arguments": arguments,
        "Comments": comments,
        "Limits from": "",
        "Server version": hello.server_version or "",
        "Optimization": "None",
        "Hardware": hardware,
    }
    estimated = {operation.program for operation in operations if operation.estimated}
    parts = [
        "\n".join(f"{name + ':':<22}{value}".rstrip() for name, value in head.items()),
        _programs([(names.get(end.phase, ""), end) for end in ends], estimated),
        _table("Totals per operation:", [*totals(summed), total_of(summed, "TOTALS")]),
    ]
    if left_out:
        title = "Printed by sql-bench, and not in its totals, because it cannot read its own lines of them:"
        # compare-results reads every line after the totals that begins with a name: these begin with a blank.
        parts.append(indent(_table(title, totals(left_out)), " "))
    notes = _notes(operations)
    if notes:
        parts.append("\n".join(["Notes:", *notes]))
    return "\n\n".join([*parts, _LEGEND]) + "\n"


def totals(operations: Iterable[Operation]) -> list[Total]:
    """One total for each name, in the order of the names."""
    by_name: dict[str, list[Operation]] = {}
    for operation in operations:
        by_name.setdefault(operation.name, []).append(operation)
    return [total_of(by_name[name], name) for name in sorted(by_name)]


def total_of(operations: Sequence[Operation], name: str) -> Total:
    """All of these as one."""
    servers = [operation.server_cpu for operation in operations]
    known = [cpu for cpu in servers if cpu is not None]
    return Total(
        name=name,
        elapsed_ns=sum(operation.elapsed_ns for operation in operations),
        client_cpu=_sum(operation.client_cpu for operation in operations),
        server_cpu=_sum(known) if len(known) == len(servers) else None,
        tests=sum(operation.tests for operation in operations),
        statements=sum(operation.statements for operation in operations),
        rows=sum(operation.rows for operation in operations),
        failed=sum(operation.failed for operation in operations),
        estimated=any(operation.estimated for operation in operations),
        warned=any(operation.warning is not None for operation in operations),
    )


def _sum(times: Iterable[CpuSeconds]) -> CpuSeconds:
    total = _NOBODY
    for time in times:
        total = CpuSeconds(user_s=total.user_s + time.user_s, system_s=total.system_s + time.system_s)
    return total


def _programs(ends: Sequence[tuple[str, PhaseEnd]], estimated: Collection[str]) -> str:
    lines = [f"{name}: {_outcome(end, name in estimated)}" for name, end in ends]
    failed = [name for name, end in ends if _has_failed(end)]
    skipped = [name for name, end in ends if _is_skipped(end)]
    if failed:
        verdict = "Errors occurred in: " + ", ".join(failed)
    else:
        verdict = f"All {len(ends) - len(skipped)} tests executed successfully"
    if skipped:
        verdict += "; skipped: " + ", ".join(skipped)
    return "\n".join([*lines, "", verdict])


def _is_skipped(end: PhaseEnd) -> bool:
    return end.aborted is not None and end.aborted.startswith(_SKIPPED)


def _has_failed(end: PhaseEnd) -> bool:
    return end.interrupted or (end.aborted is not None and not _is_skipped(end))


def _outcome(end: PhaseEnd, estimated: bool) -> str:
    if _is_skipped(end):
        return f"Test skipped: {(end.aborted or '').removeprefix(_SKIPPED)}"
    if end.interrupted:
        return "Interrupted"
    if end.aborted is not None:
        return f"Failed ({end.aborted})"
    seconds = (end.ended_ns - end.started_ns) / 1e9
    user, system = end.client_cpu.user_s, end.client_cpu.system_s
    return (
        f"{'Estimated total' if estimated else 'Total'} time: {seconds:.3f} wallclock secs "
        f"({user:5.2f} usr {system:5.2f} sys + {0:5.2f} cusr {0:5.2f} csys = {user + system:5.2f} CPU)"
    )


def _table(title: str, rows: Sequence[Total]) -> str:
    head = (
        f"{'Operation':<{_NAME_WIDTH}} {'seconds':>7} {'usr':>7} {'sys':>7} {'cpu':>7} {'tests':>7}    "
        f"{'elapsed s':>12} {'statements':>10} {'rows':>9} {'failed':>6} {'srv usr':>8} {'srv sys':>8}"
    )
    return "\n".join([title, head, *(_row(row) for row in rows)])


def _row(total: Total) -> str:
    """The suite's columns in its widths, then ours."""
    seconds = total.elapsed_ns / 1e9
    user, system = total.client_cpu.user_s, total.client_cpu.system_s
    server = total.server_cpu
    apart = f"{server.user_s:8.3f} {server.system_s:8.3f}" if server else f"{'-':>8} {'-':>8}"
    return (
        f"{total.name[:_NAME_WIDTH]:<{_NAME_WIDTH}} "
        f"{seconds:7.2f} {user:7.2f} {system:7.2f} {user + system:7.2f} {total.tests:7} {total.flags:<2} "
        f"{seconds:12.6f} {total.statements:10} {total.rows:9} {total.failed:6} {apart}"
    )


def _notes(operations: Sequence[Operation]) -> list[str]:
    notes = []
    for operation in operations:
        about = f"{operation.program} {operation.name}"
        if operation.warning is not None:
            notes.append(f"? {about}: {operation.warning}")
        if operation.original_elapsed_ns is not None:
            own, shown = operation.elapsed_ns / 1e9, operation.original_elapsed_ns / 1e9
            notes.append(
                f"  {about}: {own:.3f} s by itself; sql-bench would show {shown:.3f} s, because its timer "
                "also runs through the operation before"
            )
    return notes


_LEGEND = """\
tests are counted as sql-bench 2.15 counts them; statements are those really sent.
usr, sys and cpu are the client's CPU seconds; srv usr and srv sys are the server's (- when unknown).
+ estimated: stopped by the time limit and extrapolated.  ? see the notes."""
