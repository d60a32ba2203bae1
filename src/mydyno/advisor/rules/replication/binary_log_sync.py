"""After how many commits the binary log is forced to disk.

With sync_binlog = 1 every group of commits is in the binary log on disk before it is acknowledged. With 0
the kernel decides, with N it is every N groups: a crash of the machine then loses committed transactions
from the log. InnoDB may still have them, or not: then replicas and restored backups differ from the server,
which is noticed late. innodb_flush_log_at_trx_commit = 1 and sync_binlog = 1 belong together.

It costs a flush of the disk for each group of commits: much on a disk without a write cache that survives a
power cut, little with one, less with many clients, since commits are flushed in groups.
"""

from mydyno.advisor.rules import *

_NAME = "sync_binlog"


@Rule(
    checks="sync_binlog where the binary log is on",
    why="Without it a crash makes the binary log, and so replicas and backups, differ from the data.",
    expected="safety, at the cost of a flush for each group of commits",
    durability="raises: the binary log has every committed transaction after a power cut",
    risk="commits take longer on disks whose cache does not survive a power cut",
    sources=(
        "MySQL Reference Manual, Binary Logging Options and Variables, sync_binlog",
        "MariaDB Documentation, Replication and Binary Log System Variables, sync_binlog",
    ),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    logs = require(server.switch("log_bin"), "log_bin")
    now = require(server.number(_NAME), _NAME)
    if not logs:
        return NotHere("there is no binary log")
    if now == 1:
        return Fine("every group of commits is synced to the binary log")
    lost = "whatever the kernel had not written yet" if now == 0 else f"up to {now} groups of commits"
    followed = server.role.source or not server.role.replica
    return finding(
        title=f"A crash of the machine loses committed transactions from the binary log ({_NAME} = {now})",
        evidence=(
            f"{_NAME} = {now}: a power cut loses {lost}",
            f"innodb_flush_log_at_trx_commit = {server.text('innodb_flush_log_at_trx_commit')}",
        ),
        recommendation=f"set {_NAME} = 1",
        changes=settings(server, {_NAME: 1}),
        severity=Severity.HIGH if followed else Severity.MEDIUM,
        effect=worse(
            "throughput",
            "medium",
            "each group of commits waits for one more flush; less so with many clients at once",
        ),
        durability="raises",
        durability_says="acknowledged commits are in the binary log after a power cut",
    )
