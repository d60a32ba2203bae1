"""Whether deadlocks are detected.

With innodb_deadlock_detect off, two transactions that wait for each other wait until
innodb_lock_wait_timeout is over, 50 seconds by default. With hundreds of transactions that queue for one
row, detection itself costs time; MySQL's manual allows turning it off there, with a short timeout instead.
So it is left alone where the timeout is short.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_deadlock_detect"
_SHORT_SECONDS = 5


@Rule(
    checks="innodb_deadlock_detect with innodb_lock_wait_timeout",
    why="Without detection only the timeout ends a deadlock.",
    expected="deadlocks end at once instead of after the timeout",
    risk="where hundreds of transactions queue for one row, detection costs CPU",
    sources=('MySQL Reference Manual, "Deadlock Detection"',),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    on = require(server.switch(_NAME), NotHere("this release always detects deadlocks"))
    timeout = server.number("innodb_lock_wait_timeout")
    if on:
        return Fine(f"{_NAME} is ON")
    if timeout is not None and timeout <= _SHORT_SECONDS:
        return Fine(f"{_NAME} is OFF, and a lock is waited for {timeout} s at most")
    return finding(
        title=f"A deadlock stops its transactions for {timeout or 50} s",
        evidence=(f"{_NAME} = OFF, innodb_lock_wait_timeout = {timeout or 'not known'}",),
        recommendation=f"set {_NAME} to ON, or innodb_lock_wait_timeout to a few seconds",
        changes=settings(server, {_NAME: "ON"}),
        severity=Severity.MEDIUM,
        effect=better("latency", "medium"),
    )
