"""Whether InnoDB was started for reading alone.

innodb_read_only is for data on read-only media or for several servers on one data directory. On any other
server it refuses every change, and old row versions are not purged.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_read_only"


def _judge(system: System, _: Targets) -> Judgement:
    on = system.server.switch(_NAME)
    if on is None:
        return Unknown(_NAME)
    if not on:
        return Fine(f"{_NAME} is OFF")
    return RULE.finding(
        title="InnoDB refuses every change: it was started for reading alone",
        evidence=(f"{_NAME} = ON",),
        recommendation=f"take {_NAME} out of the option file, unless the data is meant to stay as it is",
        changes=by_hand(f"take {_NAME} out of the option file and restart"),
        severity=Severity.MEDIUM,
        effect=better("stability", "medium", "changes are possible"),
        restart=True,
    )


RULE = Rule(
    checks="innodb_read_only",
    why="A server that was started so for a test looks like a broken one.",
    expected="a server that takes changes",
    sources=('MySQL Reference Manual, "Configuring InnoDB for Read-Only Operation"',),
    judge=_judge,
)
