"""Whether changes are written to a binary log.

A backup is as old as it is; the binary log has what came after. Without it, a table dropped at five in the
afternoon comes back as of last night, and no replica can be added without one. It costs some writing and a
second flush at commit, which is why it is off on some servers, and rightly on those whose data can be made
anew.
"""

from mydyno.advisor.rules import *


def _judge(system: System, _: Targets) -> Judgement:
    server = system.server
    logs = server.switch("log_bin")
    if logs is None:
        return Unknown("log_bin")
    if logs:
        return Fine("changes are in the binary log")
    if server.role.managed is not None:
        return NotHere(f"{server.role.managed} makes its own backups to a point in time")
    if server.role.replica or server.role.galera:
        return NotHere("other servers have the same data and can have the log")
    free = free_bytes(system, "data")
    return RULE.finding(
        title="There is no binary log: what came after the last backup cannot be brought back",
        evidence=(
            "log_bin = OFF, and no other server is known to hold the data",
            *(() if free is None else (f"{format_bytes(free)} are free where it would be written",)),
        ),
        recommendation="switch the binary log on, with sync_binlog = 1 and an expiry, where the data matters",
        changes=by_hand(
            "put log_bin = binlog, server_id = 1 (one of its own) and sync_binlog = 1"
            " under [mysqld] and restart"
        ),
        severity=Severity.MEDIUM,
        effect=better(
            "safety",
            "large",
            "a restore reaches to the moment before the accident; commits become a little slower",
        ),
        risk="it needs space: see to an expiry (rule binlog-expiry)",
        restart=True,
    )


RULE = Rule(
    checks="log_bin",
    why="Only the binary log holds what changed since the last backup.",
    expected="recovery to a point in time; a little less write throughput",
    durability="none for the server itself; it lets a backup be brought up to date",
    risk="space on disk",
    sources=(
        "MySQL Reference Manual, Point-in-Time (Incremental) Recovery; The Binary Log",
        "MariaDB Documentation, Activating the Binary Log",
    ),
    judge=_judge,
)
