"""Whether InnoDB's monitor was left on.

innodb_status_output writes the whole report of SHOW ENGINE INNODB STATUS into the error log every 15
seconds, about 20 megabytes a day, in which real errors are lost. It is for debugging and is often left on
afterwards; the lock monitor makes each report longer.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_status_output"


@Rule(
    checks="innodb_status_output",
    why="A report every 15 seconds hides errors in the error log.",
    expected="a readable error log, some disk space",
    sources=('MySQL Reference Manual, "Enabling InnoDB Monitors"',),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    on = require(system.server.switch(_NAME), NotHere("this release switches its monitor with a table"))
    if not on:
        return Fine(f"{_NAME} is OFF")
    return finding(
        title="InnoDB writes its whole status into the error log every 15 seconds",
        evidence=(f"{_NAME} = ON", "86,400 s / 15 s = 5,760 reports a day"),
        recommendation=f"set {_NAME} to OFF; SHOW ENGINE INNODB STATUS gives the same on demand",
        changes=settings(system.server, {_NAME: "OFF"}),
        effect=better("insight", "small"),
    )
