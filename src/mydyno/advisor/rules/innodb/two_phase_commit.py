"""Whether binary log and tables agree after a crash (MySQL before 8.0).

innodb_support_xa makes a commit in two phases: prepared in InnoDB, written to the binary log, committed in
InnoDB. Off, a crash between them leaves transactions in one and not in the other, and replicas differ from
their source for good. Later releases always do it.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_support_xa"


def _judge(system: System, _: Targets) -> Judgement:
    server = system.server
    on = server.switch(_NAME)
    if on is None:
        return NotHere("this release always commits in two phases")
    if on or server.switch("log_bin") is not True:
        return Fine(f"{_NAME} is {server.text(_NAME)}, the binary log is {server.text('log_bin')}")
    return RULE.finding(
        title="After a crash the binary log and the tables may differ",
        evidence=(f"{_NAME} = OFF with log_bin = ON",),
        recommendation=f"set {_NAME} to ON",
        changes=settings(server, {_NAME: "ON"}),
        severity=Severity.HIGH,
        effect=worse("throughput", "small", "a commit syncs once more, shared by many"),
        durability="raises",
        durability_says="what is committed is in the tables and in the binary log, or in neither",
    )


RULE = Rule(
    checks="innodb_support_xa where there is a binary log",
    why="A crash between table and binary log makes replicas differ.",
    expected="replicas that agree with their source after a crash",
    durability="raises it",
    risk="somewhat slower commits",
    sources=('MySQL 5.6 Reference Manual, "InnoDB Startup Options and System Variables", innodb_support_xa',),
    judge=_judge,
    variables=(_NAME,),
)
