"""How long a statement waits for the definition of a table.

An ALTER TABLE behind a long transaction waits for its metadata lock, and everything that comes after the
ALTER waits behind it: the table is blocked. lock_wait_timeout bounds that wait; its default is a year in
MySQL and a day in MariaDB. With an hour, such a queue ends on the same day. (innodb_lock_wait_timeout, for
rows, is another one.)
"""

from mydyno.advisor.rules import *

_NAME = "lock_wait_timeout"
_LONG = 86_400
_WANTED = 3_600


@Rule(
    checks="lock_wait_timeout",
    why="An ALTER behind a forgotten transaction holds up every later statement on its table.",
    expected="a queue behind a forgotten transaction ends within an hour; no effect on normal days",
    risk="a backup or ALTER that waits longer than an hour for its lock fails",
    sources=(
        "MySQL Reference Manual, Metadata Locking; Server System Variables, lock_wait_timeout",
        "MariaDB Documentation, Server System Variables, lock_wait_timeout",
    ),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    now = require(server.number(_NAME), _NAME)
    if now <= _LONG:
        return Fine(f"statements wait at most {now} s for a table's definition")
    return finding(
        title=f"A statement may wait {now / 86_400:.0f} days for a table's definition",
        evidence=(f"{_NAME} = {now} s",),
        recommendation=f"set {_NAME} = {_WANTED} s",
        changes=settings(server, {_NAME: _WANTED}),
        effect=better("stability", "small"),
    )
