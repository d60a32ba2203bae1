"""How often transactions end in a deadlock.

A deadlock costs one of its transactions everything that it has done, and the application must try again. A
few each hour are normal under load; a steady stream means that transactions take the same rows in different
orders, hold locks for long, or lock ranges for want of an index. Only MariaDB and Percona Server count them
in a status variable.
"""

from mydyno.advisor.rules import *

_COUNTER = "Innodb_deadlocks"
_OFTEN = 1 / 60
_VERY_OFTEN = 1.0


def _judge(system: System, _: Targets) -> Judgement:
    server = system.server
    mean, now = server.average(_COUNTER), server.rate(_COUNTER)
    if mean is None:
        return Unknown(f"{_COUNTER}: this server does not count deadlocks")
    rate = max(mean, now or 0.0)
    if rate < _OFTEN:
        return Fine(f"{mean * 3600:.2g} deadlocks an hour")
    total = server.counter(_COUNTER) or 0.0
    return RULE.finding(
        title=f"{rate * 60:,.1f} deadlocks a minute",
        evidence=(
            f"{total:,.0f} since the start = {mean * 60:,.2g} a minute; "
            f"{(now or 0.0) * 60:,.2g} a minute in the last {server.status.seconds:.0f} s",
        ),
        recommendation="let transactions take rows in one order, commit sooner, and find rows by an index",
        changes=by_hand("look at the latest deadlock", "SHOW ENGINE INNODB STATUS"),
        severity=Severity.MEDIUM if rate >= _VERY_OFTEN else Severity.LOW,
        effect=better(
            "throughput",
            "medium" if rate >= _VERY_OFTEN else "small",
            "less work that is done and thrown away",
        ),
    )


RULE = Rule(
    checks="the rate of deadlocks",
    why="Each deadlock throws the work of a transaction away.",
    expected="fewer transactions that are done twice",
    sources=('MySQL Reference Manual, "How to Minimize and Handle Deadlocks"',),
    judge=_judge,
)
