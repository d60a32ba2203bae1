"""Whether the optimiser's statistics survive a restart.

Persistent statistics are sampled from more pages and kept in tables; without them every start, and the
first opening of a table, samples a few pages anew, so that the plan of a query can differ from one day to
the next with nothing changed. On by default since MySQL 5.6.6 and MariaDB 10.0.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_stats_persistent"


def _judge(system: System, _: Targets) -> Judgement:
    on = system.server.switch(_NAME)
    if on is None:
        return Unknown(_NAME)
    if on:
        return Fine(f"{_NAME} is ON")
    return RULE.finding(
        title="Statistics of indexes are guessed anew after each start",
        evidence=(f"{_NAME} = OFF; the default is ON",),
        recommendation=f"set {_NAME} to ON",
        changes=settings(system.server, {_NAME: "ON"}),
        severity=Severity.MEDIUM,
        effect=better("stability", "medium", "the plans of queries stay the same"),
        risk="plans may change once, when the statistics are first kept",
    )


RULE = Rule(
    checks="innodb_stats_persistent",
    why="Statistics from a few pages change from start to start, and plans with them.",
    expected="stable plans",
    risk="a plan may change once",
    sources=('MySQL Reference Manual, "Configuring Persistent Optimizer Statistics Parameters"',),
    judge=_judge,
    variables=(_NAME,),
)
