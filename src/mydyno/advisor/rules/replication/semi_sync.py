"""Whether semi-synchronous replication is effective.

A source with semi-synchronous replication waits at each commit until a replica has the transaction, or
until its timeout (10 s by default): then it silently continues without until a replica is back.
Transactions of that time are on one machine only.
"""

from mydyno.advisor.rules import *

_WORDS = ("source", "master")
_PART = 0.001


@Rule(
    checks="whether semi-synchronous replication has fallen back to asynchronous",
    why="It falls back silently, and transactions are then on one machine only.",
    expected="the intended safety; commits wait for the network again",
    durability="none by itself; it reports when the copy on a replica is missing",
    sources=(
        "MySQL Reference Manual, Semisynchronous Replication Monitoring",
        "MariaDB Documentation, Semisynchronous Replication",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    word = require(
        next((word for word in _WORDS if server.switch(f"rpl_semi_sync_{word}_enabled")), None),
        NotHere("semi-synchronous replication is not configured"),
    )
    status = server.status.after.get(f"Rpl_semi_sync_{word}_status")
    alone, joined = (total(server, f"Rpl_semi_sync_{word}_{kind}_tx") for kind in ("no", "yes"))
    if status is None or alone is None or joined is None:
        return Unknown("the counters Rpl_semi_sync_...")
    part = share(alone, alone + joined) or 0.0
    off = status.upper() == "OFF"
    if not off and part < _PART:
        return Fine(f"{joined:.0f} transactions waited for a replica, {alone:.0f} did not")
    timeout = server.text(f"rpl_semi_sync_{word}_timeout")
    return finding(
        title="Commits do not wait for a replica at present, although configured to"
        if off
        else f"{part:.1%} of all commits did not wait for a replica, although configured to",
        evidence=(
            f"{alone:.0f} of {alone + joined:.0f} transactions were on this machine alone {uptime(server)}",
            f"Rpl_semi_sync_{word}_status = {status}, the timeout is {timeout} ms",
        ),
        recommendation="see whether a semi-synchronous replica is connected and keeps up",
        changes=by_hand(
            "check which replicas are connected, and why they were slow or disconnected",
            f"SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_{word}%';",
        ),
        severity=Severity.HIGH if off else Severity.MEDIUM,
        effect=better("safety", "medium"),
    )
