"""Whether the binary log holds statements or rows.

A statement replayed on a replica may do something else: LIMIT without ORDER BY, UUID(), NOW(6) in a
trigger, two sessions at once under READ COMMITTED (InnoDB refuses to write at all then). Rows record the
result. MySQL has ROW by default since 5.7.7, MariaDB MIXED, which falls back to rows where a statement is
not safe. Rows also free InnoDB from locks that only statements need.
"""

from mydyno.advisor.rules import *

_NAME = "binlog_format"


@Rule(
    checks="binlog_format where the binary log is on",
    why="Replayed statements may give other rows; logged rows cannot.",
    expected="replicas and restored backups have the rows that this server had; a larger log for statements "
    "that change many rows",
    risk="changes of many rows by one statement make the log larger (binlog_row_image = MINIMAL helps); "
    "sessions that are open keep the old format",
    sources=(
        "MySQL Reference Manual, Advantages and Disadvantages of Statement-Based and Row-Based Replication",
        "MariaDB Documentation, Binary Log Formats",
    ),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    logs = require(server.switch("log_bin"), "log_bin")
    now = server.text(_NAME)
    if not logs or now is None:
        return NotHere("there is no binary log, or only one format")
    if now.upper() != "STATEMENT":
        return Fine(f"{_NAME} is {now}")
    return finding(
        title="The binary log holds statements, which may have other effects when replayed",
        evidence=(f"{_NAME} = {now}; the default is ROW in MySQL since 5.7.7, MIXED in MariaDB",),
        recommendation=f"set {_NAME} = ROW",
        changes=settings(server, {_NAME: "ROW"}),
        severity=Severity.MEDIUM,
        effect=better("safety", "medium"),
    )
