"""Commits that are made to wait so that more of them share a flush.

binlog_group_commit_sync_delay (MySQL) and binlog_commit_wait_usec (MariaDB) hold each group of commits
back for others to join. With hundreds of clients on slow disks that makes fewer flushes; with a few
clients nobody joins, and every commit is later by the whole delay.
"""

from mydyno.advisor.counts import most_running
from mydyno.advisor.rules import *

_NAMES = ("binlog_group_commit_sync_delay", "binlog_commit_wait_usec")
_FEW = 4
"""Statements at work at a time."""


def _judge(system: System, _: Targets) -> Judgement:
    server = system.server
    name = next((name for name in _NAMES if server.has(name)), None)
    if name is None or not server.switch("log_bin"):
        return NotHere("commits are not held back for others here")
    delay, running = server.number(name), most_running(server)
    if delay is None or running is None:
        return Unknown(f"{name} or Threads_running")
    waits = delay > 0 and (
        name != "binlog_commit_wait_usec" or (server.number("binlog_commit_wait_count") or 0) > 0
    )
    if not waits:
        return Fine("commits do not wait for others")
    if running > _FEW:
        return Fine(f"commits wait {delay} us for others, and {running:.0f} statements are at work")
    return RULE.finding(
        title=f"Commits wait up to {delay} us for others that do not come",
        evidence=(f"{name} = {delay}, Threads_running = {running:.0f} at most",),
        recommendation=f"set {name} = 0",
        changes=settings(server, {name: 0}),
        severity=Severity.LOW,
        effect=better(
            "latency", "small" if delay < 1000 else "medium", f"a commit takes up to {delay / 1000:g} ms less"
        ),
        risk="parallel replicas of MariaDB find fewer transactions to replay at once",
    )


RULE = Rule(
    checks="delays of group commit where few statements run at a time",
    why="A delay for others to join is lost time when there are none.",
    expected="shorter commits with few clients",
    risk="smaller groups for parallel replicas",
    sources=(
        "MySQL Reference Manual, Binary Logging Options and Variables, binlog_group_commit_sync_delay",
        "MariaDB Documentation, Group Commit for the Binary Log, binlog_commit_wait_usec",
    ),
    judge=_judge,
    variables=_NAMES,
)
