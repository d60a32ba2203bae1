"""Whether semi-synchronous replication really waits.

A source with semi-synchronous replication waits at each commit until a replica has the transaction, or
until its timeout (10 s by default): then it goes on without, quietly, until a replica is there again.
Transactions of that time are on one machine only, although everybody believes otherwise.
"""

from mydyno.advisor.rules import *

_WORDS = ("source", "master")
_PART = 0.001


def _judge(system: System, _: Targets) -> Judgement:
    server = system.server
    word = next((word for word in _WORDS if server.switch(f"rpl_semi_sync_{word}_enabled")), None)
    if word is None:
        return NotHere("semi-synchronous replication is not asked for")
    status = server.status.after.get(f"Rpl_semi_sync_{word}_status")
    alone, joined = (total(server, f"Rpl_semi_sync_{word}_{kind}_tx") for kind in ("no", "yes"))
    if status is None or alone is None or joined is None:
        return Unknown("the counters Rpl_semi_sync_...")
    part = share(alone, alone + joined) or 0.0
    off = status.upper() == "OFF"
    if not off and part < _PART:
        return Fine(f"{joined:.0f} transactions waited for a replica, {alone:.0f} did not")
    timeout = server.text(f"rpl_semi_sync_{word}_timeout")
    return RULE.finding(
        title="Commits do not wait for a replica at present, though they should"
        if off
        else f"{part:.1%} of all commits did not wait for a replica, though they should",
        evidence=(
            f"{alone:.0f} of {alone + joined:.0f} transactions were on this machine alone {uptime(server)}",
            f"Rpl_semi_sync_{word}_status = {status}, the timeout is {timeout} ms",
        ),
        recommendation="see whether a semi-synchronous replica is connected and keeps up",
        changes=by_hand(
            "look at the replicas that are connected, and at why they were slow or away",
            f"SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_{word}%';",
        ),
        severity=Severity.HIGH if off else Severity.MEDIUM,
        effect=better("safety", "medium", "a lost machine loses no transaction that a client was told of"),
    )


RULE = Rule(
    checks="whether semi-synchronous replication has fallen back to asynchronous",
    why="It falls back quietly, and transactions are then on one machine only.",
    expected="the safety that was meant; commits wait for the network again",
    durability="none by itself; it says when the copy on a replica is missing",
    sources=(
        "MySQL Reference Manual, Semisynchronous Replication Monitoring",
        "MariaDB Documentation, Semisynchronous Replication",
    ),
    judge=_judge,
)
