"""Whether MySQL runs without a redo log.

ALTER INSTANCE DISABLE INNODB REDO_LOG (MySQL 8.0.21) makes loading data into a new instance faster. A crash
while it is off leaves a data directory that does not start again. It stays off across restarts until it is
turned on.
"""

from mydyno.advisor.rules import *

_STATUS = "Innodb_redo_log_enabled"
_REMEDY = "ALTER INSTANCE ENABLE INNODB REDO_LOG"


@Rule(
    checks="whether redo logging is enabled",
    why="Without redo a crash leaves files that cannot be recovered.",
    expected="a database that survives a crash",
    durability="raises it",
    sources=('MySQL Reference Manual, "Redo Log", disabling redo logging',),
)
def rule(system: System, _: Targets) -> Judgement:
    word = require(system.server.status.after.get(_STATUS), NotHere("this release always writes redo"))
    if word.upper() != "OFF":
        return Fine(f"{_STATUS} is {word}")
    return finding(
        title="The redo log is disabled: a crash loses the whole database",
        evidence=(f"{_STATUS} = {word}",),
        recommendation="turn it on as soon as the data is loaded",
        changes=by_hand("turn the redo log on", _REMEDY),
        severity=Severity.CRITICAL,
        effect=worse("throughput", "medium", "changes are written to the redo log again"),
        durability="raises",
        durability_says="the database survives a crash",
    )
