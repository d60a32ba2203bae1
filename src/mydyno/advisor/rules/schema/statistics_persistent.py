"""Whether the optimiser's statistics survive a restart.

Persistent statistics are sampled from more pages and kept in tables; without them every start, and the
first opening of a table, samples a few pages again, so that the plan of a query can differ from one day to
the next without any change. On by default since MySQL 5.6.6 and MariaDB 10.0.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_stats_persistent"


@Rule(
    checks="innodb_stats_persistent",
    why="Statistics from a few pages change with every start, and plans with them.",
    expected="stable plans",
    risk="plans may change once, when the statistics are first stored",
    sources=('MySQL Reference Manual, "Configuring Persistent Optimizer Statistics Parameters"',),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    fine_if(system.server, _NAME, True)
    return finding(
        title="Index statistics are sampled again after each start",
        evidence=(f"{_NAME} = OFF; the default is ON",),
        recommendation=f"set {_NAME} to ON",
        changes=settings(system.server, {_NAME: "ON"}),
        severity=Severity.MEDIUM,
        effect=better("stability", "medium"),
    )
