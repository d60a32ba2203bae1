"""Commits that are delayed so that more of them share a flush.

binlog_group_commit_sync_delay (MySQL) and binlog_commit_wait_usec (MariaDB) delay each group of commits so
that others can join. With hundreds of clients on slow disks that saves flushes; with a few clients none
joins, and every commit takes the whole delay longer.
"""

from mydyno.advisor.counts import most_running
from mydyno.advisor.rules import *

_NAMES = ("binlog_group_commit_sync_delay", "binlog_commit_wait_usec")
_FEW = 4
"""Statements at work at a time."""


@Rule(
    checks="delays of group commit where few statements run at a time",
    why="A delay for others to join is wasted when there are none.",
    expected="shorter commits with few clients",
    risk="parallel replicas of MariaDB find fewer transactions to replay at once",
    sources=(
        "MySQL Reference Manual, Binary Logging Options and Variables, binlog_group_commit_sync_delay",
        "MariaDB Documentation, Group Commit for the Binary Log, binlog_commit_wait_usec",
    ),
    variables=_NAMES,
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    name = next((name for name in _NAMES if server.has(name)), None)
    if name is None or not server.switch("log_bin"):
        return NotHere("this release does not delay commits")
    delay = require(server.number(name), name)
    running = require(most_running(server), "Threads_running")
    waits = delay > 0 and (
        name != "binlog_commit_wait_usec" or (server.number("binlog_commit_wait_count") or 0) > 0
    )
    if not waits:
        return Fine("commits are not delayed")
    if running > _FEW:
        return Fine(f"commits wait {delay} us for others, and {running:.0f} statements are at work")
    return finding(
        title=f"Commits wait up to {delay} us for others that do not arrive",
        evidence=(f"{name} = {delay}, Threads_running = {running:.0f} at most",),
        recommendation=f"set {name} = 0",
        changes=settings(server, {name: 0}),
        effect=better(
            "latency", "small" if delay < 1000 else "medium", f"commits are up to {delay / 1000:g} ms faster"
        ),
    )
