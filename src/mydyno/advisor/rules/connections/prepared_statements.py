"""How many prepared statements there may be at once.

Every statement prepared on the server and not closed counts against max_prepared_stmt_count, for all
connections together; at the limit PREPARE fails with error 1461, and with it the application. A number that
keeps growing is a client that does not close its statements; one that is steady and near the limit is a
large pool with a cache of statements in each connection, which needs the limit raised. The two look the
same at one moment, so a limit below the default is set to the default, and a higher one is for you to
decide.
"""

from mydyno.advisor.rules import *

_NAME = "max_prepared_stmt_count"
_NEAR = 0.75
_DEFAULT, _MOST = 16_382, 1_048_576


@Rule(
    checks="Prepared_stmt_count compared with max_prepared_stmt_count",
    why="At the limit PREPARE fails and the application with it.",
    expected="no error 1461; no effect on speed",
    risk="each one takes some kilobytes; one that leaks will reach any limit",
    sources=(
        "MySQL Reference Manual, Server System Variables, max_prepared_stmt_count",
        "MariaDB Documentation, Server System Variables, max_prepared_stmt_count",
    ),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    now = require(server.number(_NAME), _NAME)
    held = require(server.counter("Prepared_stmt_count"), "Prepared_stmt_count")
    if held < _NEAR * now or now >= _MOST:
        return Fine(f"{held:.0f} prepared statements, {now} are allowed")
    wanted = _DEFAULT if now < _DEFAULT else min(_MOST, 1 << int(2 * held).bit_length())
    changes: tuple[Change, ...] = settings(server, {_NAME: wanted})
    if now >= _DEFAULT:
        says = f"where the number is steady, set {_NAME} to {wanted}; where it grows, fix the client"
        watch = "SHOW GLOBAL STATUS LIKE 'Prepared_stmt_count';"
        changes = by_hand(says, watch, f"SET GLOBAL {_NAME} = {wanted};")
    return finding(
        title=f"{held:.0f} of {now} prepared statements are in use",
        evidence=(
            f"Prepared_stmt_count = {held:.0f}, {_NAME} = {now}",
            f"the default: {wanted}" if now < _DEFAULT else f"twice as many, the next power of two: {wanted}",
        ),
        recommendation=f"set {_NAME} to {wanted}, and see that the application closes what it prepares",
        changes=changes,
        severity=Severity.HIGH,
        effect=better("stability", "medium"),
    )
