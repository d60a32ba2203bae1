"""Whether the server shuts down cleanly.

At innodb_fast_shutdown = 2 InnoDB writes its redo log and stops as if it had crashed: nothing that was
committed is lost, but the next start has to recover, an upgrade to another release is refused, and the redo
log cannot be resized. 1, the default, writes all pages first.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_fast_shutdown"
_AS_A_CRASH = 2


@Rule(
    checks="innodb_fast_shutdown",
    why="A shutdown that leaves recovery to the next start prevents upgrades and resizing the redo log.",
    expected="starts are quick; upgrades and resizing the redo log work",
    risk="a shutdown takes until dirty pages are written",
    sources=(
        'MySQL Reference Manual, "InnoDB Startup Options and System Variables", innodb_fast_shutdown',
        'MariaDB Documentation, "InnoDB System Variables", innodb_fast_shutdown',
    ),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    now = require(system.server.number(_NAME), _NAME)
    if now < _AS_A_CRASH:
        return Fine(f"{_NAME} is {now}")
    return finding(
        title="Each shutdown is like a crash: the next start has to recover",
        evidence=(f"{_NAME} = {now}",),
        recommendation=f"set {_NAME} to 1, the default",
        changes=settings(system.server, {_NAME: 1}),
        severity=Severity.MEDIUM,
        effect=better("stability", "small"),
    )
