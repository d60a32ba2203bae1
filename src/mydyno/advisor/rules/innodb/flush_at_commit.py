"""What a commit guarantees: innodb_flush_log_at_trx_commit.

At 1 a commit returns when its redo is on the disk: the only value with which no acknowledged transaction is
lost, and the default. At 2 the redo is handed to the operating system and synced once a second: a crash of
the server loses nothing, a crash of the machine or a power cut loses about a second of acknowledged
transactions. At 0 it is also only written once a second: a crash of the server alone loses as much. Some
guides call 2 the safest value; it is not.

A sync costs what the disk needs for it: with 1 ms, one connection commits at most 1000 times a second, and
many connections share one sync (group commit). Where a second of transactions may be lost (a replica that
can be rebuilt, a cache), 2 can be right: skip this finding then. MariaDB's value 3 syncs like 1.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_flush_log_at_trx_commit"
_LOSES = {
    0: "a crash of the server or machine, or a power cut, loses",
    2: "a crash of the machine or a power cut loses",
}


@Rule(
    checks="innodb_flush_log_at_trx_commit",
    why="Only 1 makes commits durable. 0 and 2 are faster because they do not.",
    expected="no acknowledged transaction is lost; commits cost a sync",
    durability="raises it; mydyno never lowers it",
    risk="writes get slower on disks that sync slowly",
    sources=(
        'MySQL Reference Manual, "InnoDB Startup Options and System Variables"',
        'MariaDB Documentation, "InnoDB System Variables", innodb_flush_log_at_trx_commit',
        "Microsoft Azure, Optimise MySQL on Linux VMs, 2015, which says of 2 what is true of 1",
    ),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    now = require(server.number(_NAME), _NAME)
    if now not in _LOSES:
        return Fine(f"{_NAME} is {now}: a commit that returns is on the disk")
    seconds = server.number("innodb_flush_log_at_timeout") or 1
    loss = f"{_LOSES[now]} about {seconds} s of acknowledged transactions"
    commits = server.rate("Com_commit")
    return finding(
        title=f"{loss[0].upper()}{loss[1:]}",
        evidence=(
            f"{_NAME} = {now}: {loss}",
            f"{commits:,.1f} commits/s x {seconds} s = {commits * seconds:,.0f} transactions"
            if commits
            else None,
            *_price(system),
        ),
        recommendation=f"set {_NAME} to 1, unless this loss is acceptable",
        changes=settings(server, {_NAME: 1}),
        severity=Severity.MEDIUM if _can_be_built_anew(system) else Severity.HIGH,
        effect=worse("throughput", "medium", "commits wait for the disk; concurrent commits share one sync"),
        durability="raises",
        durability_says="no acknowledged transaction is lost in a crash (on a source with sync_binlog = 1)",
    )


def _can_be_built_anew(system: System) -> bool:
    """A replica without replicas: what it loses, its source still has."""
    role = system.server.role
    return bool(role.replica and role.source is False)


def _price(system: System) -> tuple[str, ...]:
    storage = system.host.storage if system.host else None
    speed = storage.speed_of(storage.of("redo log") or storage.of("data")) if storage else None
    if speed is None or not speed.sync_seconds:
        return ()
    each = format_duration(speed.sync_seconds)
    return (
        f"a sync was measured at {each}: up to {1 / speed.sync_seconds:,.0f} commits/s on one connection",
    )
