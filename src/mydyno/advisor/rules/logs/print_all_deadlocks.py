"""Whether deadlocks are logged.

SHOW ENGINE INNODB STATUS keeps only the latest deadlock. innodb_print_all_deadlocks writes each to the
error log, with both transactions and their locks, which is what is needed to fix the application. It is
advised where there have been deadlocks.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_print_all_deadlocks"


@Rule(
    checks="innodb_print_all_deadlocks where there have been deadlocks",
    why="SHOW ENGINE INNODB STATUS shows only the latest deadlock.",
    expected="every deadlock is in the error log, where it can be explained",
    risk="the error log grows with each deadlock, and contains parts of statements",
    sources=('MySQL Reference Manual, "Deadlocks in InnoDB"',),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    fine_if(server, _NAME, True)
    counted = server.counter("Innodb_deadlocks")
    latest = server.innodb.latest_deadlock if server.innodb else None
    if not counted and latest is None:
        return Fine("no deadlock since the server's start")
    seen = f"{counted:,.0f} deadlocks since the start" if counted else f"the latest one was at {latest}"
    return finding(
        title=f"Deadlocks happen and only the latest is recorded: {seen}",
        evidence=(f"{_NAME} = OFF", seen),
        recommendation=f"set {_NAME} to ON",
        changes=settings(server, {_NAME: "ON"}),
        effect=better("insight", "small"),
    )
