"""Whether InnoDB was started read-only.

innodb_read_only is for data on read-only media or for several servers on one data directory. On any other
server it refuses every change, and old row versions are not purged.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_read_only"


@Rule(
    checks="innodb_read_only",
    why="A server left in this mode after a test looks broken.",
    expected="a server that accepts changes",
    sources=('MySQL Reference Manual, "Configuring InnoDB for Read-Only Operation"',),
)
def rule(system: System, _: Targets) -> Judgement:
    fine_if(system.server, _NAME, False)
    return finding(
        title="InnoDB refuses every change: it was started read-only",
        evidence=(f"{_NAME} = ON",),
        recommendation=f"remove {_NAME} from the option file, unless the data is meant to be read-only",
        changes=by_hand(f"remove {_NAME} from the option file and restart"),
        severity=Severity.MEDIUM,
        effect=better("stability", "medium"),
        restart=True,
    )
