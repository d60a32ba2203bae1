"""Whether deadlocks can be looked at afterwards.

SHOW ENGINE INNODB STATUS keeps the latest deadlock alone. innodb_print_all_deadlocks writes each to the
error log, with both transactions and their locks: what is needed to order the application's statements. It
is advised where there have been deadlocks.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_print_all_deadlocks"


def _judge(system: System, _: Targets) -> Judgement:
    server = system.server
    on = server.switch(_NAME)
    if on is None:
        return Unknown(_NAME)
    if on:
        return Fine(f"{_NAME} is ON")
    counted = server.counter("Innodb_deadlocks")
    latest = server.innodb.latest_deadlock if server.innodb else None
    if not counted and latest is None:
        return Fine("no deadlock since the server's start")
    seen = f"{counted:,.0f} deadlocks since the start" if counted else f"the latest one was at {latest}"
    return RULE.finding(
        title=f"Deadlocks happen and only the latest can be looked at: {seen}",
        evidence=(f"{_NAME} = OFF", seen),
        recommendation=f"set {_NAME} to ON",
        changes=settings(server, {_NAME: "ON"}),
        severity=Severity.LOW,
        effect=better("insight", "small", "every deadlock is in the error log"),
        risk="the error log grows with each deadlock, and holds pieces of statements",
    )


RULE = Rule(
    checks="innodb_print_all_deadlocks where there have been deadlocks",
    why="One deadlock overwrites the last one in SHOW ENGINE INNODB STATUS.",
    expected="deadlocks that can be explained",
    risk="a larger error log with pieces of statements in it",
    sources=('MySQL Reference Manual, "Deadlocks in InnoDB"',),
    judge=_judge,
    variables=(_NAME,),
)
