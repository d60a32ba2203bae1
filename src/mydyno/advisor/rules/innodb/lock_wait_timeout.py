"""How long a statement waits for a row lock.

After innodb_lock_wait_timeout (50 s by default) the statement fails with error 1205, and the application
tries again. Set to an hour or more, one forgotten transaction stops every session that needs its rows,
until there are no connections left, and no error shows why. The right value depends on the application, so
the change is left to you.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_lock_wait_timeout"
_LONG_SECONDS = 600


@Rule(
    checks="innodb_lock_wait_timeout",
    why="Unlimited waits use up all connections.",
    expected="one forgotten transaction does not block all connections",
    risk="statements that wait longer fail with error 1205",
    sources=('MySQL Reference Manual, "InnoDB Startup Options and System Variables"',),
)
def rule(system: System, _: Targets) -> Judgement:
    now = require(system.server.number(_NAME), _NAME)
    if now <= _LONG_SECONDS:
        return Fine(f"a statement waits {now} s for a row at most")
    return finding(
        title=f"A statement waits up to {format_duration(now)} for a row",
        evidence=(f"{_NAME} = {now}; the default is 50",),
        recommendation=f"set {_NAME} to what the application can wait for; the default is 50",
        changes=by_hand(f"lower {_NAME}", f"SET GLOBAL {_NAME} = 50"),
        effect=better("stability", "small"),
    )
