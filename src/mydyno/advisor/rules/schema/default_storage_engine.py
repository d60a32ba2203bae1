"""The engine of new tables without an ENGINE clause.

It has been InnoDB since MySQL 5.5. Where an old option file says MyISAM, every new table without an
explicit engine is one that a crash corrupts and that takes no part in transactions.
"""

from mydyno.advisor.rules import *

_NAME = "default_storage_engine"
_UNSAFE = frozenset({"myisam", "aria", "memory", "csv", "archive", "blackhole", "mrg_myisam"})


@Rule(
    checks="default_storage_engine",
    why="New tables silently use an engine without crash recovery.",
    expected="new tables survive a crash and take part in transactions; existing ones do not change",
    durability="raises, for new tables",
    risk="an application may rely on MyISAM's behaviour without naming it",
    sources=(
        "MySQL Reference Manual, Setting the Storage Engine",
        "MariaDB Documentation, Server System Variables, default_storage_engine",
    ),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    now = require(system.server.text(_NAME), _NAME)
    if now.casefold() not in _UNSAFE:
        return Fine(f"new tables are {now}")
    return finding(
        title=f"New tables are {now} unless the statement names an engine",
        evidence=(f"{_NAME} = {now}; the default is InnoDB",),
        recommendation=f"set {_NAME} = InnoDB",
        changes=settings(system.server, {_NAME: "InnoDB"}),
        severity=Severity.HIGH,
        effect=better("safety", "medium"),
    )
