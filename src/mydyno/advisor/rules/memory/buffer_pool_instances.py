"""The number of buffer pool instances.

Each instance has its own list of pages and its own latch, so that threads on many CPUs contend less.
Instances below 1G gain nothing: MySQL's manual recommends 1G or more each. MariaDB has one pool without
such latches since 10.5.1; MySQL 8.4 and later choose by size and CPUs themselves. It is advised for large
pools only; an explicit number is left alone.
"""

from mydyno.advisor.innodb import instances_advised
from mydyno.advisor.rules import *

_NAME = "innodb_buffer_pool_instances"


@Rule(
    checks="innodb_buffer_pool_instances compared with the size of the pool and the number of CPUs",
    why="A single instance has one latch for all CPUs.",
    expected="less latch contention when many threads run at once on many CPUs; nothing on others",
    sources=('MySQL Reference Manual, "Configuring Multiple Buffer Pool Instances"',),
    variables=(_NAME,),
)
def rule(system: System, targets: Targets) -> Judgement:
    server = system.server
    if server.release.is_mariadb:
        return NotHere("MariaDB has one buffer pool since 10.5.1")
    now = server.number(_NAME)
    pool = pool_bytes(system, targets)
    if not now or pool is None:
        return Unknown(_NAME)
    wanted = instances_advised(system, pool)
    changes = settings(server, {_NAME: wanted}) if wanted is not None else ()
    if not changes:
        return Fine(f"{now} for a pool of {format_bytes(pool)}")
    cpus = f" on {system.host.cpu.count} CPUs" if system.host else ""
    return finding(
        title=f"The buffer pool of {format_bytes(pool)} has {now} instance{'s' * (now > 1)}{cpus}",
        evidence=(
            f"{format_bytes(pool)} / {now} = {format_bytes(pool // now)} each now",
            f"{format_bytes(pool)} / {wanted} = {format_bytes(pool // (wanted or 1))} each with {wanted}",
        ),
        recommendation=f"set {_NAME} to {wanted}",
        changes=changes,
        effect=better("throughput", "small"),
    )
