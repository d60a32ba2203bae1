"""How AUTO_INCREMENT hands out numbers.

Mode 1 lets INSERT ... SELECT and LOAD DATA hold a lock on the table's counter to their end, so that their
numbers are the same when a replica repeats the statement. Mode 2 (MySQL's default since 8.0.3) never holds
it: concurrent inserts do not wait, numbers of one statement may have gaps between them, and statement-based
replication would give other numbers on the replica. Galera replicates rows from many nodes and needs 2.

Only Galera's need is set by mydyno. Whether gaps matter depends on the application, so elsewhere the change
is left to you.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_autoinc_lock_mode"
_FREE = 2


@Rule(
    checks="innodb_autoinc_lock_mode with the format of the binary log and with Galera",
    why="The wrong mode makes replicas differ, or Galera nodes deadlock.",
    expected="the same numbers everywhere, or less waiting in inserts",
    risk="mode 2 leaves gaps in the numbers of one statement",
    sources=(
        'MySQL Reference Manual, "AUTO_INCREMENT Handling in InnoDB"',
        'MariaDB Documentation, "Configuring MariaDB Galera Cluster", mandatory options',
    ),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    now = require(server.number(_NAME), _NAME)
    statements = (
        server.switch("log_bin") is True and (server.text("binlog_format") or "").upper() == "STATEMENT"
    )
    if now == _FREE and statements:
        return _other_numbers()
    if now == _FREE:
        return Fine(f"{_NAME} is 2, and no statement is replayed on a replica")
    if server.role.galera:
        return _galera(server, now)
    if statements or now == 1:
        return Fine(f"{_NAME} is {now}: bulk inserts hold the counter, numbers have no gaps")
    return finding(
        title="Every INSERT holds the lock of the AUTO_INCREMENT counter to its end",
        evidence=(f"{_NAME} = {now}",),
        recommendation=f"set {_NAME} to 1, the default before MySQL 8.0.3, or to 2 where gaps do not matter",
        changes=by_hand(f"write {_NAME} = 1 into the option file and restart"),
        effect=better("throughput", "small", "concurrent inserts wait less"),
        restart=True,
    )


def _galera(server: Server, now: int) -> Finding:
    return finding(
        title=f"Galera needs {_NAME} = 2, it is {now}",
        evidence=(f"{_NAME} = {now}, and this server is a node of a Galera cluster",),
        recommendation=f"set {_NAME} to 2",
        changes=settings(server, {_NAME: _FREE}),
        severity=Severity.HIGH,
        effect=better("stability", "medium", "no deadlocks between appliers and local inserts"),
    )


def _other_numbers() -> Finding:
    return finding(
        title="Replicas can get other AUTO_INCREMENT numbers than this server",
        evidence=(f"{_NAME} = 2 with binlog_format = STATEMENT",),
        recommendation="use row-based logging: see the advice on binlog_format",
        changes=by_hand("set binlog_format to ROW (or innodb_autoinc_lock_mode to 1)"),
        severity=Severity.HIGH,
        effect=better("safety", "medium", "source and replicas hold the same rows"),
        risk="",
    )
