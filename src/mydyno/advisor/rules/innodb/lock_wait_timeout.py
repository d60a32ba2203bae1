"""How long a statement waits for somebody else's row.

After innodb_lock_wait_timeout (50 s by default) the statement fails with error 1205, and the application
tries again. Set to an hour or more, one forgotten transaction stops every session that needs its rows, until
there are no connections left; nobody sees an error that would tell. What is right depends on the
application's own patience, so it is recommended by hand.
"""

from __future__ import annotations

from mydyno.advisor.rule import Fine, Judgement, Rule, Unknown
from mydyno.advisor.targets import Targets
from mydyno.apply.change import ByHand
from mydyno.apply.finding import Effect, Finding, Severity
from mydyno.core.units import format_duration
from mydyno.survey.facts import System

_NAME = "innodb_lock_wait_timeout"
_LONG_SECONDS = 600


def _judge(system: System, _: Targets) -> Judgement:
    now = system.server.number(_NAME)
    if now is None:
        return Unknown(_NAME)
    if now <= _LONG_SECONDS:
        return Fine(f"a statement waits {now} s for a row at most")
    return Finding(
        rule=RULE.id,
        title=f"A statement waits up to {format_duration(now)} for a row",
        evidence=(f"{_NAME} = {now}; the default is 50",),
        recommendation=f"set {_NAME} to what the application can wait for, 50 by default",
        changes=(ByHand(says=f"lower {_NAME}", commands=(f"SET GLOBAL {_NAME} = 50",)),),
        severity=Severity.LOW,
        effect=Effect(
            aspect="stability",
            direction="better",
            size="small",
            says="one forgotten transaction does not take all connections with it",
        ),
        risk="statements that would have waited longer fail with error 1205",
    )


RULE = Rule(
    id="lock-wait-timeout",
    layer="InnoDB concurrency",
    checks="innodb_lock_wait_timeout",
    why="Waits without an end fill the connections.",
    expected="an error that tells, in place of a server without free connections",
    durability="none",
    risk="applications must be ready for error 1205",
    sources=('MySQL Reference Manual, "InnoDB Startup Options and System Variables"',),
    judge=_judge,
)
