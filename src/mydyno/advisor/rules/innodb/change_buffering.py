"""Whether MariaDB still uses the change buffer, which was removed for its bugs.

Changes of a secondary index whose page is not in memory can wait in a separate tree until the page is read.
It saves random reads on rotating disks, and had bugs that corrupted indexes or the system tablespace
(MDEV-24449, MDEV-26977). MariaDB turned it off by default in 10.5.15, deprecated it in 10.9 and removed it
in 11.0. MySQL keeps it; its setting is left alone there.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_change_buffering"


@Rule(
    checks="innodb_change_buffering of MariaDB before 11.0",
    why="Known bugs of the change buffer corrupted data; MariaDB turned it off and removed it.",
    expected="no corruption by the change buffer: new changes bypass it; buffered ones are merged as before",
    durability="none for commits; tables are safer",
    risk="on rotating disks writes to many secondary indexes read more; a shutdown with "
    "innodb_fast_shutdown = 0 empties it before an upgrade",
    sources=(
        "MariaDB, MDEV-27734, MDEV-24449 and MDEV-26977",
        'MariaDB Documentation, "InnoDB Change Buffering"',
    ),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    if not server.release.is_mariadb:
        return NotHere("no such bugs are known in MySQL's change buffer")
    now = server.text(_NAME)
    if now is None:
        return NotHere("MariaDB 11.0 has removed the change buffer") if server.variables else Unknown(_NAME)
    if now.casefold() == "none":
        return Fine(f"{_NAME} is none")
    waiting = server.counter("Innodb_ibuf_size")
    return finding(
        title="MariaDB's change buffer is on: it could corrupt indexes and was removed",
        evidence=(
            f"{_NAME} = {now}",
            f"{waiting:,.0f} pages of changes wait in it" if waiting and waiting < 1 << 32 else None,
        ),
        recommendation=f"set {_NAME} to none, the default since 10.5.15",
        changes=settings(server, {_NAME: "none"}),
        severity=Severity.HIGH,
        effect=better("safety", "medium"),
    )
