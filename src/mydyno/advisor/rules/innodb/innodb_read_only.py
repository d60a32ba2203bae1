"""Whether InnoDB was started for reading alone.

innodb_read_only is for data on read-only media or for several servers on one data directory. On any other
server it refuses every change, and old row versions are not purged.
"""

from __future__ import annotations

from mydyno.advisor.rule import Fine, Judgement, Rule, Unknown
from mydyno.advisor.targets import Targets
from mydyno.apply.change import ByHand
from mydyno.apply.finding import Effect, Finding, Severity
from mydyno.survey.facts import System

_NAME = "innodb_read_only"


def _judge(system: System, _: Targets) -> Judgement:
    on = system.server.switch(_NAME)
    if on is None:
        return Unknown(_NAME)
    if not on:
        return Fine(f"{_NAME} is OFF")
    return Finding(
        rule=RULE.id,
        title="InnoDB refuses every change: it was started for reading alone",
        evidence=(f"{_NAME} = ON",),
        recommendation=f"take {_NAME} out of the option file, unless the data is meant to stay as it is",
        changes=(ByHand(says=f"take {_NAME} out of the option file and restart"),),
        severity=Severity.MEDIUM,
        effect=Effect(aspect="stability", direction="better", size="medium", says="changes are possible"),
        restart=True,
    )


RULE = Rule(
    id="innodb-read-only",
    layer="InnoDB files",
    checks="innodb_read_only",
    why="A server that was started so for a test looks like a broken one.",
    expected="a server that takes changes",
    durability="none",
    risk="none known",
    sources=('MySQL Reference Manual, "Configuring InnoDB for Read-Only Operation"',),
    judge=_judge,
)
