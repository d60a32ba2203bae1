"""How long a statement waits for somebody else's row.

After innodb_lock_wait_timeout (50 s by default) the statement fails with error 1205, and the application
tries again. Set to an hour or more, one forgotten transaction stops every session that needs its rows, until
there are no connections left; nobody sees an error that would tell. What is right depends on the
application's own patience, so it is recommended by hand.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_lock_wait_timeout"
_LONG_SECONDS = 600


def _judge(system: System, _: Targets) -> Judgement:
    now = system.server.number(_NAME)
    if now is None:
        return Unknown(_NAME)
    if now <= _LONG_SECONDS:
        return Fine(f"a statement waits {now} s for a row at most")
    return RULE.finding(
        title=f"A statement waits up to {format_duration(now)} for a row",
        evidence=(f"{_NAME} = {now}; the default is 50",),
        recommendation=f"set {_NAME} to what the application can wait for, 50 by default",
        changes=by_hand(f"lower {_NAME}", f"SET GLOBAL {_NAME} = 50"),
        severity=Severity.LOW,
        effect=better(
            "stability", "small", "one forgotten transaction does not take all connections with it"
        ),
        risk="statements that would have waited longer fail with error 1205",
    )


RULE = Rule(
    checks="innodb_lock_wait_timeout",
    why="Waits without an end fill the connections.",
    expected="an error that tells, in place of a server without free connections",
    risk="applications must be ready for error 1205",
    sources=('MySQL Reference Manual, "InnoDB Startup Options and System Variables"',),
    judge=_judge,
)
