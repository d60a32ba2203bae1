"""big_tables = ON sends every temporary table to disk at once.

It dates from a time when a temporary table that outgrew memory was an error. Servers have moved such tables
to disk by themselves for twenty years.
"""

from mydyno.advisor.rules import *

_NAME = "big_tables"


@Rule(
    checks="big_tables",
    why="With it no temporary table is created in memory.",
    expected="temporary tables stay in memory while they are small: faster GROUP BY, DISTINCT and UNION",
    sources=(
        "MySQL Reference Manual, Server System Variables, big_tables",
        "MariaDB Documentation, Server System Variables, big_tables",
    ),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    now = require(server.switch(_NAME), NotHere(f"{server.release} has no {_NAME}"))
    if not now:
        return Fine("temporary tables start in memory")
    made = often(server, "Created_tmp_tables")
    busy = made is not None and made >= 10
    return finding(
        title="Every temporary table starts on disk",
        evidence=(f"{_NAME} = ON, {a_second(made)} temporary tables are created",),
        recommendation=f"set {_NAME} = OFF",
        changes=settings(server, {_NAME: False}),
        severity=Severity.MEDIUM if busy else Severity.LOW,
        effect=better("latency", "medium" if busy else "small"),
    )
