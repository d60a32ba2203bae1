"""The default isolation level of transactions.

REPEATABLE READ is the default and what the server's replication and most applications were tested with.
READ COMMITTED locks fewer rows and no gaps, and needs row-based binary logging. READ UNCOMMITTED as the
default shows every session changes that may be rolled back. SERIALIZABLE turns each SELECT in a transaction
into a locking one. Only the application knows what it relies on: mydyno changes nothing here.
"""

from mydyno.advisor.rules import *

_NAMES = ("transaction_isolation", "tx_isolation")


@Rule(
    checks="the default isolation level and the format of the binary log",
    why="The extremes cost correctness or concurrency, and READ COMMITTED needs row-based binary logging.",
    expected="depends on the application",
    risk="an application may rely on the present level",
    sources=('MySQL Reference Manual, "Transaction Isolation Levels" and "Setting The Binary Log Format"',),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    name = next((name for name in _NAMES if server.has(name)), None)
    now = (server.text(name) or "").upper() if name else ""
    if name is None or not now:
        return Unknown(_NAMES[0])
    if now == "READ-UNCOMMITTED":
        return _finding(
            name, now, "every session sees changes that may be rolled back", "safety", Severity.MEDIUM
        )
    if now == "SERIALIZABLE":
        return _finding(
            name, now, "each SELECT in a transaction locks what it reads", "throughput", Severity.LOW
        )
    statements = (
        server.switch("log_bin") is True and (server.text("binlog_format") or "").upper() == "STATEMENT"
    )
    if now == "READ-COMMITTED" and statements:
        return _finding(
            name,
            now,
            "InnoDB refuses to log statements at this level (error 1665)",
            "stability",
            Severity.HIGH,
        )
    return Fine(f"{name} is {now}")


def _finding(name: str, now: str, says: str, aspect: str, severity: Severity) -> Finding:
    effects = {
        "safety": better("safety", "medium", "results that were true at some time"),
        "throughput": better("throughput", "medium", "readers lock nothing"),
        "stability": better("stability", "large", "writes are not refused"),
    }
    remedy = (
        "binlog_format to ROW" if aspect == "stability" else f"{name} to REPEATABLE-READ or READ-COMMITTED"
    )
    return finding(
        title=f"{name} is {now} for all sessions: {says}",
        evidence=(f"{name} = {now}",),
        recommendation=f"set {remedy}, if the application's owners agree",
        changes=by_hand(f"ask the application's owners, then set {remedy}"),
        severity=severity,
        effect=effects[aspect],
    )
