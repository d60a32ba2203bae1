"""Whether the server still runs in the mode for rescuing damaged data.

innodb_force_recovery lets a server start on damaged files by skipping parts of recovery: from 1 on damage
is ignored, from 4 on data files can be damaged permanently. Changes are refused or not purged. It is for
dumping what can be read into a new data directory; left in the option file, it hides every later fault.
mydyno does not remove it: without it the server may not start at all.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_force_recovery"
_DAMAGES = 4


@Rule(
    checks="innodb_force_recovery",
    why="It disables parts of recovery, hides damage, and from 4 on can cause more.",
    expected="crash recovery and checks that work again",
    durability="raises it",
    risk="without it the server may refuse to start on damaged files: have a backup first",
    sources=(
        'MySQL Reference Manual, "Forcing InnoDB Recovery"',
        'MariaDB Documentation, "InnoDB Recovery Modes"',
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    now = require(system.server.number(_NAME), _NAME)
    if now == 0:
        return Fine(f"{_NAME} is 0")
    origin = system.server.variables[_NAME].origin
    source = (f"{origin.file}:{origin.line} says so",) if origin and origin.file else ()
    damages = ", at which data files can be damaged permanently" if now >= _DAMAGES else ""
    return finding(
        title=f"The server runs in recovery mode {now}{damages}",
        evidence=(f"{_NAME} = {now}", *source),
        recommendation="dump all data, create a new data directory without it, and load the dump",
        changes=by_hand(
            f"take a backup, dump all tables, then remove {_NAME} from the option file",
            "mysqldump --all-databases --single-transaction",
        ),
        severity=Severity.CRITICAL,
        effect=better("safety", "large"),
        restart=True,
    )
