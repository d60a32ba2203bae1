"""Whether InnoDB's monitor was left on.

innodb_status_output writes the whole report of SHOW ENGINE INNODB STATUS into the error log every 15
seconds, some 20 megabytes a day, among which real errors are not seen. It is for looking into a problem and
is forgotten afterwards; the lock monitor beside it makes each report longer.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_status_output"


def _judge(system: System, _: Targets) -> Judgement:
    on = system.server.switch(_NAME)
    if on is None:
        return NotHere("this release switches its monitor by a table")
    if not on:
        return Fine(f"{_NAME} is OFF")
    return RULE.finding(
        title="InnoDB writes its whole status into the error log every 15 seconds",
        evidence=(f"{_NAME} = ON", "86,400 s / 15 s = 5,760 reports a day"),
        recommendation=f"set {_NAME} to OFF; SHOW ENGINE INNODB STATUS gives the same when it is wanted",
        changes=settings(system.server, {_NAME: "OFF"}),
        severity=Severity.LOW,
        effect=better("insight", "small", "errors can be seen in the error log"),
    )


RULE = Rule(
    checks="innodb_status_output",
    why="A report every 15 seconds hides what the error log is for.",
    expected="a readable error log, some disk space",
    sources=('MySQL Reference Manual, "Enabling InnoDB Monitors"',),
    judge=_judge,
    variables=(_NAME,),
)
