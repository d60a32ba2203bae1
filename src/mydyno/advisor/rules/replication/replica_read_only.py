"""Whether a replica accepts writes from clients.

A row written on a replica exists nowhere else, and may later collide with a row of the source: replication
stops with a duplicate key, or goes on with different data. read_only refuses writes of accounts without
special rights; MySQL's super_read_only refuses those too. Where writes have been counted mydyno leaves it
to you, since they would be refused.
"""

from mydyno.advisor.rules import *

_NAME = "read_only"
_WRITES = ("Com_insert", "Com_update", "Com_delete", "Com_replace", "Com_insert_select", "Com_load")


@Rule(
    checks="read_only on a replica",
    why="A write on a replica makes it differ from its source and may stop replication later.",
    expected="the replica stays consistent with its source; no effect on speed",
    risk="after a failover it must be switched off, as failover tools do",
    sources=(
        "MySQL Reference Manual, Server System Variables, read_only and super_read_only",
        "MariaDB Documentation, Read-Only Replicas",
    ),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    now = server.text(_NAME)
    if not server.role.replica or server.role.galera or server.role.group_replication:
        return NotHere("it is not a replica, or belongs to a cluster that manages read_only")
    if now is None:
        return Unknown(_NAME)
    if server.switch(_NAME) is not False:
        return Fine(f"{_NAME} is {now}")
    writes = total(server, *_WRITES)
    seen = (server.uptime_seconds or 0) >= DAY
    untouched = writes == 0 and seen and server.role.source is False
    manual: tuple[Change, ...] = by_hand(
        "find out which clients write here, then refuse them", f"SET GLOBAL {_NAME} = ON;"
    )
    counted = (
        "writes were not counted" if writes is None else f"{writes:.0f} statements wrote {uptime(server)}"
    )
    return finding(
        title="This replica accepts writes from clients",
        evidence=(f"{_NAME} = OFF on a replica", f"{counted} (some may come from replication)"),
        recommendation=f"set {_NAME} = ON unless clients are meant to write here",
        changes=settings(server, {_NAME: True}) if untouched else manual,
        severity=Severity.MEDIUM,
        effect=better("safety", "medium"),
    )
