"""The memory in which a transaction collects its binary log events.

A transaction that does not fit goes through a temporary file. Binlog_cache_disk_use counts those. Each
connection that writes keeps its cache, so a size for the largest transaction of all is wasted on the
others. Where a good part of the transactions spills, a larger one saves the writing and reading of a file
at commit.
"""

from mydyno.advisor.rules import *

_NAME = "binlog_cache_size"
_PART = 0.05
_MANY = 0.1
"""Spilt transactions a second."""
_MOST = 1 << 20


@Rule(
    checks="Binlog_cache_disk_use compared with binlog_cache_size",
    why="A transaction that does not fit writes a temporary file and reads it again at commit.",
    expected="commits of larger transactions need no temporary file",
    risk="memory for each connection that writes",
    sources=(
        "MySQL Reference Manual, The Binary Log; Server Status Variables, Binlog_cache_disk_use",
        "MariaDB Documentation, Replication and Binary Log System Variables, binlog_cache_size",
    ),
)
def rule(system: System, targets: Targets) -> Judgement:
    server = system.server
    now, spilt = server.number(_NAME), often(server, "Binlog_cache_disk_use")
    if not server.switch("log_bin"):
        return NotHere("there is no binary log")
    if now is None or spilt is None:
        return Unknown(f"{_NAME} or Binlog_cache_disk_use")
    part = share(server.counter("Binlog_cache_disk_use"), server.counter("Binlog_cache_use"))
    if part is None or part < _PART or spilt < _MANY or now >= _MOST:
        return Fine(f"{format_bytes(now)}, {a_second(spilt)} transactions do not fit")
    wanted = min(_MOST, 4 * now)
    limit = targets.max_connections or server.number("max_connections") or 1
    return finding(
        title=f"{part:.0%} of all transactions use a temporary file for the binary log",
        evidence=(
            f"Binlog_cache_disk_use / Binlog_cache_use = {part:.0%} {uptime(server)}, {a_second(spilt)}",
            f"{limit} connections x {format_bytes(wanted)} = {format_bytes(limit * wanted)} at worst",
        ),
        recommendation=f"set {_NAME} to {format_bytes(wanted)} if there is memory for it",
        changes=by_hand(
            f"set {_NAME} = {wanted}, here and in the option file, then check again",
            f"SET GLOBAL {_NAME} = {wanted};",
        ),
        effect=better("latency", "small"),
    )
