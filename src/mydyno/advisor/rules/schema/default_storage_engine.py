"""The engine of new tables that name none.

It has been InnoDB since MySQL 5.5. Where an old option file says MyISAM, every table that an application
makes is one that a crash tears, without anybody having asked for it.
"""

from mydyno.advisor.rules import *

_NAME = "default_storage_engine"
_UNSAFE = frozenset({"myisam", "aria", "memory", "csv", "archive", "blackhole", "mrg_myisam"})


def _judge(system: System, _: Targets) -> Judgement:
    now = system.server.text(_NAME)
    if now is None:
        return Unknown(_NAME)
    if now.casefold() not in _UNSAFE:
        return Fine(f"new tables are {now}")
    return RULE.finding(
        title=f"New tables are {now} unless they say otherwise",
        evidence=(f"{_NAME} = {now}; the default is InnoDB",),
        recommendation=f"set {_NAME} = InnoDB",
        changes=settings(system.server, {_NAME: "InnoDB"}),
        severity=Severity.HIGH,
        effect=better("safety", "medium", "new tables survive a crash and take part in transactions"),
        risk="an application that relies on MyISAM's ways without naming it",
    )


RULE = Rule(
    checks="default_storage_engine",
    why="New tables are made in an engine without crash recovery and nobody notices.",
    expected="safe new tables; old ones stay as they are",
    durability="raises, for new tables",
    risk="none known for ordinary applications",
    sources=(
        "MySQL Reference Manual, Setting the Storage Engine",
        "MariaDB Documentation, Server System Variables, default_storage_engine",
    ),
    judge=_judge,
    variables=(_NAME,),
)
