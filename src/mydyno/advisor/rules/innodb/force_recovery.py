"""Whether the server still runs in the mode that is meant for rescuing damaged data.

innodb_force_recovery lets a server start on damaged files by leaving out parts of recovery: from 1 on damage
is passed over, from 4 on data files can be damaged for good. Changes are refused or not purged. It is for
dumping what can be read, then a new data directory; forgotten in the option file, it hides every later
fault. mydyno does not take it out: without it the server may not start at all.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_force_recovery"
_DAMAGES = 4


def _judge(system: System, _: Targets) -> Judgement:
    now = system.server.number(_NAME)
    if now is None:
        return Unknown(_NAME)
    if now == 0:
        return Fine(f"{_NAME} is 0")
    origin = system.server.variables[_NAME].origin
    said = (f"{origin.file}:{origin.line} says so",) if origin and origin.file else ()
    damages = ", at which data files can be damaged for good" if now >= _DAMAGES else ""
    return RULE.finding(
        title=f"The server runs in recovery mode {now}{damages}",
        evidence=(f"{_NAME} = {now}", *said),
        recommendation="dump all data, make a new data directory without it, and load the dump",
        changes=by_hand(
            f"take a backup, dump all tables, then take {_NAME} out of the option file",
            "mysqldump --all-databases --single-transaction",
        ),
        severity=Severity.CRITICAL,
        effect=better("safety", "large", "recovery, purge and checks work again"),
        risk="without it the server may refuse to start on damaged files: have a backup first",
        restart=True,
    )


RULE = Rule(
    checks="innodb_force_recovery",
    why="It switches parts of recovery off, hides damage, and from 4 on can do more of it.",
    expected="a database that protects itself again",
    durability="raises it",
    risk="the server may not start before the damage is repaired",
    sources=(
        'MySQL Reference Manual, "Forcing InnoDB Recovery"',
        'MariaDB Documentation, "InnoDB Recovery Modes"',
    ),
    judge=_judge,
)
