"""Into how many parts a large buffer pool is cut.

Each part has its own list of pages and its own latch, so that threads on many CPUs get into each other's
way less. Parts of less than 1G bring nothing: MySQL's manual asks for 1G or more each. MariaDB has one
pool without such latches since 10.5.1; MySQL 8.4 and later choose by size and CPUs themselves. It is
advised for large pools alone; a number that somebody chose is left.
"""

from mydyno.advisor.buffer_pool import instances_advised
from mydyno.advisor.rules import *

_NAME = "innodb_buffer_pool_instances"


def _judge(system: System, targets: Targets) -> Judgement:
    server = system.server
    if server.release.is_mariadb:
        return NotHere("MariaDB has one buffer pool since 10.5.1")
    now = server.number(_NAME)
    pool = targets.buffer_pool_bytes or server.number("innodb_buffer_pool_size")
    if not now or pool is None:
        return Unknown(_NAME)
    wanted = instances_advised(system, pool)
    changes = settings(server, {_NAME: wanted}) if wanted is not None else ()
    if not changes:
        return Fine(f"{now} for a pool of {format_bytes(pool)}")
    cpus = f" on {system.host.cpu.count} CPUs" if system.host else ""
    return RULE.finding(
        title=f"The buffer pool of {format_bytes(pool)} is cut into {now}{cpus}",
        evidence=(
            f"{format_bytes(pool)} / {now} = {format_bytes(pool // now)} each now",
            f"{format_bytes(pool)} / {wanted} = {format_bytes(pool // (wanted or 1))} each with {wanted}",
        ),
        recommendation=f"set {_NAME} to {wanted}",
        changes=changes,
        severity=Severity.LOW,
        effect=better(
            "throughput", "small", "less waiting for the pool's latches when many threads run at once"
        ),
    )


RULE = Rule(
    checks="innodb_buffer_pool_instances against the size of the pool and the number of CPUs",
    why="One list of pages is one latch for all CPUs.",
    expected="less contention on machines with many CPUs, nothing on others",
    sources=('MySQL Reference Manual, "Configuring Multiple Buffer Pool Instances"',),
    judge=_judge,
    variables=(_NAME,),
)
