"""How much of a changed row goes into the binary log.

FULL writes every column twice for an update, before and after; MINIMAL writes what identifies the row and
what changed. On tables with long rows that is most of the log: fewer bytes to write, to sync, to send.
Readers of the log must support that: change data capture usually needs FULL, and so do replicas with other
columns. So this is advised only where much is written and no reader is known.
"""

from mydyno.advisor.rules import *

_NAME = "binlog_row_image"
_MUCH = 1 << 20
"""Bytes a second."""


@Rule(
    checks="binlog_row_image where much is written to the binary log",
    why="Whole rows before and after make the log several times as large as what changed.",
    expected="updates and deletes of long rows write a fraction to the log, and fewer bytes at each commit",
    risk="mysqlbinlog --flashback and change data capture need whole rows",
    sources=(
        "MySQL Reference Manual, Binary Logging Options and Variables, binlog_row_image",
        "MariaDB Documentation, Replication and Binary Log System Variables, binlog_row_image",
    ),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    logs = require(server.switch("log_bin"), "log_bin")
    now = server.text(_NAME)
    if not logs or now is None or (server.text("binlog_format") or "ROW").upper() == "STATEMENT":
        return NotHere("no rows are written to a binary log")
    if now.upper() != "FULL":
        return Fine(f"{_NAME} is {now}")
    written = require(
        often(server, "Binlog_bytes_written"), "how much goes into the binary log (MySQL does not count it)"
    )
    if written < _MUCH:
        return Fine(f"{written:,.0f} bytes a second go into the binary log")
    return finding(
        title=f"{format_bytes(int(written))} a second go into the binary log, every column of each row",
        evidence=(
            f"Binlog_bytes_written grows by {format_bytes(int(written))} a second,"
            f" {format_bytes(int(written * 86_400))} a day",
            f"{_NAME} = {now}",
        ),
        recommendation=f"set {_NAME} = MINIMAL unless something reads whole rows from the log",
        changes=settings(server, {_NAME: "MINIMAL"}),
        effect=better("disk space", "medium"),
    )
