"""Whether changes are written to a binary log.

A backup ends at the time it was taken; the binary log has the changes after it. Without it, a table dropped
in the afternoon can be restored only as of last night, and no replica can be added. It costs some writes
and a second flush at commit, so it is off on some servers, rightly where the data can be recreated.
"""

from mydyno.advisor.rules import *


@Rule(
    checks="log_bin",
    why="Only the binary log holds what changed since the last backup.",
    expected="recovery to a point in time; a little less write throughput",
    durability="none for the server itself; it makes point-in-time recovery possible",
    risk="it needs space: set an expiry (rule binlog-expiry)",
    sources=(
        "MySQL Reference Manual, Point-in-Time (Incremental) Recovery; The Binary Log",
        "MariaDB Documentation, Activating the Binary Log",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    logs = require(server.switch("log_bin"), "log_bin")
    if logs:
        return Fine("changes are in the binary log")
    if server.role.managed is not None:
        return NotHere(f"{server.role.managed} has its own point-in-time recovery")
    if server.role.replica or server.role.galera:
        return NotHere("other servers have the same data and can keep the log")
    free = free_bytes(system, "data")
    return finding(
        title="There is no binary log: changes after the last backup cannot be restored",
        evidence=(
            "log_bin = OFF, and no other server is known to hold the data",
            None if free is None else f"{format_bytes(free)} are free where it would be written",
        ),
        recommendation="switch the binary log on, with sync_binlog = 1 and an expiry, where the data matters",
        changes=by_hand(
            "add log_bin = binlog, server_id = 1 (unique) and sync_binlog = 1 under [mysqld] and restart"
        ),
        severity=Severity.MEDIUM,
        effect=better("safety", "large"),
        restart=True,
    )
