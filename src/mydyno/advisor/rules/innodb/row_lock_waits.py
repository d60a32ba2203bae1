"""How much time transactions wait for row locks.

Innodb_row_lock_time grows by the milliseconds of each wait: divided by the elapsed time it is the number of
sessions that wait at any moment. No setting reduces it; shorter transactions, statements that find their
rows by an index (InnoDB locks what it reads), and READ COMMITTED, which locks no gaps, do.
"""

from mydyno.advisor.rules import *

_TIME, _WAITS = "Innodb_row_lock_time", "Innodb_row_lock_waits"
_SOME, _MANY = 0.5, 4.0
"""Sessions that wait at any moment."""


@Rule(
    checks="the time that sessions spend waiting for row locks",
    why="A session that waits for a row keeps holding its own locks.",
    expected="fewer transactions queue for the same rows: more throughput",
    sources=('MySQL Reference Manual, "Server Status Variables", Innodb_row_lock_time; "InnoDB Locking"',),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    milliseconds = require(server.rate(_TIME), _TIME)
    waits = require(server.rate(_WAITS), _WAITS)
    waiting = milliseconds / 1000
    if waiting < _SOME:
        return Fine(f"{waiting:.2g} sessions wait for a row at any moment")
    each = milliseconds / waits if waits else None
    return finding(
        title=f"{waiting:.1f} sessions wait for a row lock at any moment",
        evidence=(
            f"{_TIME} grew by {milliseconds:,.0f} ms/s / 1000 = {waiting:.1f} sessions",
            f"{waits:,.1f} waits/s" + (f" of {each:,.0f} ms each" if each is not None else ""),
        ),
        recommendation="find the sessions that hold the locks; commit sooner, and find rows by an index",
        changes=by_hand("see which session waits for which", _who(server)),
        severity=Severity.HIGH if waiting >= _MANY else Severity.MEDIUM,
        effect=better("latency", "large" if waiting >= _MANY else "medium"),
    )


def _who(server: Server) -> str:
    if server.release.is_mariadb:
        return "SELECT * FROM information_schema.INNODB_LOCK_WAITS"
    return (
        "SELECT * FROM sys.innodb_lock_waits"
        if server.release.numbers >= (5, 7, 7)
        else ("SELECT * FROM information_schema.INNODB_LOCK_WAITS")
    )
