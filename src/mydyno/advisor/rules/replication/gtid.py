"""Whether MySQL's replication knows transactions by their global identifiers.

Without GTIDs a replica's place is a file and an offset on one particular source. Moving it to another
source after a failure needs somebody who works the offset out, and a mistake repeats or skips
transactions. With GTIDs it asks for what it lacks. All servers are moved step by step (OFF,
OFF_PERMISSIVE, ON_PERMISSIVE, ON), so it is done by hand. MariaDB has its own GTIDs in every binary log;
there a replica must only use them.
"""

from mydyno.advisor.rules import *

_STEPS = (
    "SET GLOBAL enforce_gtid_consistency = WARN; -- on all servers; watch the error log",
    "SET GLOBAL enforce_gtid_consistency = ON;",
    "SET GLOBAL gtid_mode = OFF_PERMISSIVE;",
    "SET GLOBAL gtid_mode = ON_PERMISSIVE;",
    "SET GLOBAL gtid_mode = ON; -- once Ongoing_anonymous_transaction_count is 0 everywhere",
)


def _judge(system: System, _: Targets) -> Judgement:
    server = system.server
    now = server.text("gtid_mode")
    if now is None:
        return NotHere(f"{server.release} has no gtid_mode")
    if not (server.role.replica or server.role.source):
        return NotHere("it does not replicate")
    if now.upper() == "ON":
        return Fine("gtid_mode is ON")
    online = server.release.numbers >= (5, 7, 6)
    return RULE.finding(
        title="Replication goes by file and offset, not by GTIDs",
        evidence=(f"gtid_mode = {now} on a server that replicates",),
        recommendation="switch GTIDs on, on all servers together",
        changes=by_hand(
            "change gtid_mode step by step on all servers of the topology"
            if online
            else "set gtid_mode = ON and enforce_gtid_consistency = ON on all servers while none writes",
            *(_STEPS if online else ()),
        ),
        severity=Severity.LOW,
        effect=better("safety", "medium", "a replica finds its place at another source by itself"),
        risk="statements that GTIDs do not allow (CREATE TABLE ... SELECT before 8.0.21, temporary tables in"
        " transactions) are refused",
    )


RULE = Rule(
    checks="gtid_mode on servers that replicate (MySQL)",
    why="Without GTIDs a change of source is worked out by hand, and wrongly under stress.",
    expected="safer failover; no effect on speed worth speaking of",
    risk="a few kinds of statements are refused",
    sources=(
        "MySQL Reference Manual, Replication with Global Transaction Identifiers",
        "MySQL Reference Manual, Changing GTID Mode on Online Servers",
    ),
    judge=_judge,
)
