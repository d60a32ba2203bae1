"""Whether the pace of flushing follows the pace of changes.

With innodb_adaptive_flushing pages are written the faster the quicker the redo log fills. Without, InnoDB
writes at a fixed pace until the log is nearly full, and then all at once. On by default everywhere.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_adaptive_flushing"


@Rule(
    checks="innodb_adaptive_flushing",
    why="Without it throughput falls each time the redo log is nearly full.",
    expected="steadier throughput under writes",
    sources=('MySQL Reference Manual, "Configuring Buffer Pool Flushing", adaptive flushing',),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    fine_if(system.server, _NAME, True)
    return finding(
        title="Pages are written at a fixed pace until the redo log is full, then all at once",
        evidence=(f"{_NAME} = OFF; the default is ON",),
        recommendation=f"set {_NAME} to ON",
        changes=settings(system.server, {_NAME: "ON"}),
        severity=Severity.MEDIUM,
        effect=better("stability", "medium"),
    )
