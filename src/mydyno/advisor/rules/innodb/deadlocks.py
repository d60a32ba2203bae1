"""How often transactions end in a deadlock.

A deadlock rolls back one of its transactions, and the application must retry. A few each hour are normal
under load; a steady stream means that transactions take the same rows in different orders, hold locks for
long, or lock ranges because an index is missing. Only MariaDB and Percona Server count them in a status
variable.
"""

from mydyno.advisor.rules import *

_COUNTER = "Innodb_deadlocks"
_OFTEN = 1 / 60
_VERY_OFTEN = 1.0


@Rule(
    checks="the rate of deadlocks",
    why="Each deadlock rolls back the work of a transaction.",
    expected="fewer transactions that run twice",
    sources=('MySQL Reference Manual, "How to Minimize and Handle Deadlocks"',),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    mean = require(server.average(_COUNTER), f"{_COUNTER}: this server does not count deadlocks")
    now = server.rate(_COUNTER)
    rate = max(mean, now or 0.0)
    if rate < _OFTEN:
        return Fine(f"{mean * 3600:.2g} deadlocks an hour")
    total = server.counter(_COUNTER) or 0.0
    return finding(
        title=f"{rate * 60:,.1f} deadlocks a minute",
        evidence=(
            f"{total:,.0f} since the start = {mean * 60:,.2g} a minute; "
            f"{(now or 0.0) * 60:,.2g} a minute in the last {server.status.seconds:.0f} s",
        ),
        recommendation="let transactions take rows in one order, commit sooner, and find rows by an index",
        changes=by_hand("look at the latest deadlock", "SHOW ENGINE INNODB STATUS"),
        severity=Severity.MEDIUM if rate >= _VERY_OFTEN else Severity.LOW,
        effect=better("throughput", "medium" if rate >= _VERY_OFTEN else "small"),
    )
