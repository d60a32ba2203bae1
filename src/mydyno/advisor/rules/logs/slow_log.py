"""Whether slow statements are logged.

No server setting is worth as much as an index on the query that needs one, and the slow log finds such
queries; `mydyno digest` summarizes it. It is off by default. It costs little while few statements are slow:
one line for each, written under a lock of the log. Slow_queries counts them even when the log is off, so
the size of the log is known beforehand.
"""

from mydyno.advisor.rules import *

_NAME = "slow_query_log"
_FLOOD = 20
"""Slow statements a second."""
_SOON = 30
"""Days in which the log would fill the disk."""


@Rule(
    checks="slow_query_log",
    why="It shows the statements that matter most.",
    expected="the statements that need an index or another plan are known; little cost while few statements "
    "are slow",
    risk="the log grows: rotate it with logrotate and FLUSH SLOW LOGS",
    sources=(
        "MySQL Reference Manual, The Slow Query Log",
        "MariaDB Documentation, Slow Query Log Overview",
        "Microsoft Azure, Optimise MySQL on Linux VMs, 2015: MySQL slow query log",
    ),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    now = require(server.switch(_NAME), _NAME)
    slow = often(server, "Slow_queries")
    threshold = server.text("long_query_time")
    if now:
        return Fine(f"statements above {threshold} s are logged, {a_second(slow)}")
    if slow is not None and slow > _FLOOD:
        return Fine(f"it is off, and would write {a_second(slow)} statements at a threshold of {threshold} s")
    free, rate = free_bytes(system, "data"), usual_rate(server, "Slow_queries")
    written = None if rate is None else rate * ENTRY_BYTES
    days = days_until_full(free, written)
    if days is not None and days < _SOON:
        return Fine(
            f"it is off, and at {a_second(rate)} of about {format_bytes(ENTRY_BYTES)} it would fill"
            f" the {format_bytes(free or 0)} that are free in {days:.1f} days"
        )
    return finding(
        title="Slow statements are not logged",
        evidence=(
            f"{_NAME} = OFF, long_query_time = {threshold} s",
            f"Slow_queries grows by {a_second(slow)}: the log would grow by as many entries",
        ),
        recommendation=f"set {_NAME} = ON (rule long-query-time checks the threshold)",
        changes=settings(server, {_NAME: True}),
        effect=better("insight", "large"),
    )
