"""Whether MySQL's replication knows transactions by their global identifiers.

Without GTIDs a replica's place is a file and an offset on one particular source. Moving it to another
source after a failure means working out the offset by hand, and a mistake repeats or skips transactions.
With GTIDs it requests the missing transactions. All servers are switched step by step (OFF, OFF_PERMISSIVE,
ON_PERMISSIVE, ON), so it is done by hand. MariaDB has its own GTIDs in every binary log; there replicas
only have to use them.
"""

from mydyno.advisor.rules import *

_STEPS = (
    "SET GLOBAL enforce_gtid_consistency = WARN; -- on all servers; watch the error log",
    "SET GLOBAL enforce_gtid_consistency = ON;",
    "SET GLOBAL gtid_mode = OFF_PERMISSIVE;",
    "SET GLOBAL gtid_mode = ON_PERMISSIVE;",
    "SET GLOBAL gtid_mode = ON; -- once Ongoing_anonymous_transaction_count is 0 everywhere",
)


@Rule(
    checks="gtid_mode on servers that replicate (MySQL)",
    why="Without GTIDs a change of source needs manual positions, an easy mistake in an emergency.",
    expected="a replica finds its position on another source by itself; no noticeable effect on speed",
    risk="statements that GTIDs do not allow (CREATE TABLE ... SELECT before 8.0.21, temporary tables in "
    "transactions) are refused",
    sources=(
        "MySQL Reference Manual, Replication with Global Transaction Identifiers",
        "MySQL Reference Manual, Changing GTID Mode on Online Servers",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    now = require(server.text("gtid_mode"), NotHere(f"{server.release} has no gtid_mode"))
    if not (server.role.replica or server.role.source):
        return NotHere("it does not replicate")
    if now.upper() == "ON":
        return Fine("gtid_mode is ON")
    online = server.release.numbers >= (5, 7, 6)
    return finding(
        title="Replication uses file and offset, not GTIDs",
        evidence=(f"gtid_mode = {now} on a server that replicates",),
        recommendation="switch GTIDs on, on all servers together",
        changes=by_hand(
            "change gtid_mode step by step on all servers of the topology"
            if online
            else "set gtid_mode = ON and enforce_gtid_consistency = ON on all servers while none writes",
            *(_STEPS if online else ()),
        ),
        effect=better("safety", "medium"),
    )
