"""Whether a replica takes writes of its clients.

A row written on a replica is nowhere else, and one day it collides with a row of the source: replication
stops with a duplicate key, or goes on with different data. read_only refuses writes of accounts without
special rights; MySQL's super_read_only refuses those, too. Where writes have been counted here mydyno
leaves it to you, since something would be refused.
"""

from mydyno.advisor.rules import *

_NAME = "read_only"
_WRITES = ("Com_insert", "Com_update", "Com_delete", "Com_replace", "Com_insert_select", "Com_load")


def _judge(system: System, _: Targets) -> Judgement:
    server = system.server
    now = server.text(_NAME)
    if not server.role.replica or server.role.galera or server.role.group_replication:
        return NotHere("it is no replica, or of a cluster that decides itself")
    if now is None:
        return Unknown(_NAME)
    if server.switch(_NAME) is not False:
        return Fine(f"{_NAME} is {now}")
    writes = total(server, *_WRITES)
    seen = (server.uptime_seconds or 0) >= DAY
    untouched = writes == 0 and seen and server.role.source is False
    manual: tuple[Change, ...] = by_hand(
        "find out who writes here, then refuse it", f"SET GLOBAL {_NAME} = ON;"
    )
    counted = (
        "writes were not counted" if writes is None else f"{writes:.0f} statements wrote {uptime(server)}"
    )
    return RULE.finding(
        title="This replica takes writes of its clients",
        evidence=(f"{_NAME} = OFF on a replica", f"{counted} (some of them may be replication's)"),
        recommendation=f"set {_NAME} = ON unless clients are meant to write here",
        changes=settings(server, {_NAME: True}) if untouched else manual,
        severity=Severity.MEDIUM,
        effect=better("safety", "medium", "the replica stays what the source is"),
        risk="after a failover it must be switched off, which failover tools do",
    )


RULE = Rule(
    checks="read_only on a replica",
    why="A write on a replica makes it differ from its source and stops replication some day.",
    expected="equal data; no effect on speed",
    risk="clients that write here are refused",
    sources=(
        "MySQL Reference Manual, Server System Variables, read_only and super_read_only",
        "MariaDB Documentation, Read-Only Replicas",
    ),
    judge=_judge,
    variables=(_NAME,),
)
