"""Whether the pace of flushing follows the pace of changes.

With innodb_adaptive_flushing pages are written the faster the quicker the redo log fills. Without, InnoDB
writes at a fixed pace until the log is nearly full, and then all at once. On by default everywhere.
"""

from __future__ import annotations

from mydyno.advisor.rule import Fine, Judgement, Rule, Unknown
from mydyno.advisor.setting import settings
from mydyno.advisor.targets import Targets
from mydyno.apply.finding import Effect, Finding, Severity
from mydyno.survey.facts import System

_NAME = "innodb_adaptive_flushing"


def _judge(system: System, _: Targets) -> Judgement:
    on = system.server.switch(_NAME)
    if on is None:
        return Unknown(_NAME)
    if on:
        return Fine(f"{_NAME} is ON")
    return Finding(
        rule=RULE.id,
        title="Pages are written at a fixed pace until the redo log is full, then all at once",
        evidence=(f"{_NAME} = OFF; the default is ON",),
        recommendation=f"set {_NAME} to ON",
        changes=settings(system.server, {_NAME: "ON"}),
        severity=Severity.MEDIUM,
        effect=Effect(
            aspect="stability", direction="better", size="medium", says="writes are spread over time"
        ),
    )


RULE = Rule(
    id="adaptive-flushing",
    layer="InnoDB I/O",
    checks="innodb_adaptive_flushing",
    why="Without it throughput falls each time the redo log is nearly full.",
    expected="steadier throughput under writes",
    durability="none",
    risk="none known",
    sources=('MySQL Reference Manual, "Configuring Buffer Pool Flushing", adaptive flushing',),
    judge=_judge,
    variables=(_NAME,),
)
