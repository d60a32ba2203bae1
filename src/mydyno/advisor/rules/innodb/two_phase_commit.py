"""Whether binary log and tables agree after a crash (MySQL before 8.0).

innodb_support_xa makes a commit in two phases: prepared in InnoDB, written to the binary log, committed in
InnoDB. With it off, a crash in between leaves transactions in only one of them, and replicas differ from
their source permanently. Later releases always do it.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_support_xa"


@Rule(
    checks="innodb_support_xa where the binary log is on",
    why="A crash between the two writes makes replicas differ.",
    expected="replicas that agree with their source after a crash",
    durability="raises it",
    risk="somewhat slower commits",
    sources=('MySQL 5.6 Reference Manual, "InnoDB Startup Options and System Variables", innodb_support_xa',),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    on = require(server.switch(_NAME), NotHere("this release always commits in two phases"))
    if on or server.switch("log_bin") is not True:
        return Fine(f"{_NAME} is {server.text(_NAME)}, the binary log is {server.text('log_bin')}")
    return finding(
        title="After a crash the binary log and the tables may differ",
        evidence=(f"{_NAME} = OFF with log_bin = ON",),
        recommendation=f"set {_NAME} to ON",
        changes=settings(server, {_NAME: "ON"}),
        severity=Severity.HIGH,
        effect=worse("throughput", "small", "a commit syncs once more, shared by many"),
        durability="raises",
        durability_says="committed transactions are in both the tables and the binary log",
    )
