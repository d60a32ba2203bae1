"""Whether the server may start a thread for each of its connections.

A thread is a process to the limits: RLIMIT_NPROC counts all threads of the server's user, TasksMax= of the
unit those of the service. At either limit, a new connection fails with `Can't create a new thread`. A
thread pool needs few threads whatever the number of connections.
"""

from mydyno.advisor.rules import *

_OF_THE_SERVER = 200
"""Threads that are there without connections: I/O, purge, page cleaners, replication."""


@Rule(
    checks="how many threads the server may start, compared with its connections",
    why="Each connection is a thread; at the limit of processes or tasks a connection is refused.",
    expected="no refused connections below max_connections",
    sources=(
        "systemd.resource-control(5), TasksMax=",
        "systemd.exec(5), LimitNPROC=",
        "getrlimit(2), RLIMIT_NPROC",
        "MySQL Reference Manual, Connection Interfaces",
    ),
)
def rule(system: System, targets: Targets) -> Judgement:
    unit, limit = unit_of(system), limit_of(system, "Max processes")
    connections = targets.max_connections or system.server.number("max_connections")
    if limit is None and unit is None:
        return Unknown("the limits of the server's process")
    if connections is None:
        return Unknown("max_connections")
    pooled = system.server.text("thread_handling") == "pool-of-threads"
    most = system.server.number("thread_pool_max_threads") if pooled else None
    need = min(connections, most or connections) + _OF_THE_SERVER
    whose = "a thread pool" if pooled else f"{connections} connections"
    numbers = f"up to {need} threads ({whose} and the server's own)"
    bounds = {"LimitNPROC": _number(unit, "LimitNPROC"), "TasksMax": _number(unit, "TasksMax")}
    if bounds["LimitNPROC"] is None and limit and limit.soft is not None:
        bounds["LimitNPROC"] = float(limit.soft)
    low = {name: bound for name, bound in bounds.items() if bound is not None and bound < need}
    limits = ", ".join(f"{name} {bound:.0f}" for name, bound in bounds.items() if bound is not None)
    if not low:
        return Fine(f"{numbers}; {limits or 'no bound'}")
    wanted = str(power_of_two(need * 2))
    changes: tuple[Change, ...] = by_hand(f"raise `ulimit -u` to {wanted} where the server is started")
    if unit:
        changes = tuple(set_unit(unit, name, wanted) for name in low)
    return finding(
        title=f"The server may need {need} threads and may start {min(low.values()):.0f}",
        evidence=(numbers, f"bounds: {limits}"),
        recommendation="; ".join(change.sentence() for change in changes),
        changes=changes,
        severity=Severity.HIGH,
        effect=better("stability", "medium", f"all {connections} connections can be opened"),
        restart=True,
    )


def _number(unit: Unit | None, name: str) -> float | None:
    """A limit of the unit; None when it is unknown or not a number (`infinity`, a share of the machine's)."""
    text = unit.properties.get(name, "").split(":")[-1] if unit else ""
    return float(text) if text.isdigit() and int(text) < 1 << 62 else None
