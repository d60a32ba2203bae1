"""Whether MariaDB still uses the change buffer, which it gave up for its faults.

Changes of a secondary index whose page is not in memory can wait in a tree of their own until the page is
read. It spares random reads on rotating disks, and had faults that damaged indexes or the system tablespace
(MDEV-24449, MDEV-26977). MariaDB turned it off by default in 10.5.15, deprecated it in 10.9 and removed it
in 11.0. MySQL keeps it; whether it is on there is left alone.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_change_buffering"


def _judge(system: System, _: Targets) -> Judgement:
    server = system.server
    if not server.release.is_mariadb:
        return NotHere("MySQL's change buffer is not known for such faults")
    now = server.text(_NAME)
    if now is None:
        return NotHere("MariaDB 11.0 has removed the change buffer") if server.variables else Unknown(_NAME)
    if now.casefold() == "none":
        return Fine(f"{_NAME} is none")
    waiting = server.counter("Innodb_ibuf_size")
    evidence = [f"{_NAME} = {now}"]
    if waiting and waiting < 1 << 32:
        evidence.append(f"{waiting:,.0f} pages of changes wait in it")
    return RULE.finding(
        title="MariaDB's change buffer is on: it could damage indexes and was given up",
        evidence=tuple(evidence),
        recommendation=f"set {_NAME} to none, the default since 10.5.15",
        changes=settings(server, {_NAME: "none"}),
        severity=Severity.HIGH,
        effect=better(
            "safety",
            "medium",
            "no new changes go by way of the change buffer; those that wait are merged as before",
        ),
        risk="on rotating disks writes to many secondary indexes read more; an innodb_fast_shutdown of 0 "
        "empties it before an upgrade",
    )


RULE = Rule(
    checks="innodb_change_buffering of MariaDB before 11.0",
    why="Known faults of the change buffer damaged data; MariaDB turned it off and removed it.",
    expected="no damage by way of it",
    durability="none for commits; tables are safer",
    risk="more random reads on rotating disks",
    sources=(
        "MariaDB, MDEV-27734, MDEV-24449 and MDEV-26977",
        'MariaDB Documentation, "InnoDB Change Buffering"',
    ),
    judge=_judge,
    variables=(_NAME,),
)
