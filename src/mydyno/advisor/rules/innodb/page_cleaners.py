"""Whether every part of the buffer pool has a thread that cleans it.

Page cleaners write dirty pages and free places, one part of the pool each at a time. With fewer threads
than parts one part waits for another's I/O. MySQL 8.4 and later have as many as parts by default, older
ones 4; MariaDB has one cleaner for one pool.
"""

from mydyno.advisor.buffer_pool import instances_advised
from mydyno.advisor.rules import *

_NAME = "innodb_page_cleaners"


def _judge(system: System, targets: Targets) -> Judgement:
    server = system.server
    if not is_mysql(server.release, (5, 7, 4)):
        return NotHere("this release has one page cleaner")
    now = server.number(_NAME)
    pool = targets.buffer_pool_bytes or server.number("innodb_buffer_pool_size")
    parts = instances_advised(system, pool) if pool else None
    if now is None or parts is None:
        return Unknown(f"{_NAME}, innodb_buffer_pool_instances")
    changes = settings(server, {_NAME: parts}) if now < parts else ()
    if not changes:
        return Fine(f"{now} for {parts} parts of the buffer pool")
    return RULE.finding(
        title=f"{now} page cleaners for {parts} parts of the buffer pool",
        evidence=(f"{_NAME} = {now}, innodb_buffer_pool_instances = {parts} (now or as advised)",),
        recommendation=f"set {_NAME} to {parts}, as MySQL 8.4 does by default",
        changes=changes,
        severity=Severity.LOW,
        effect=better("stability", "small", "dirty pages of all parts are written at the same time"),
    )


RULE = Rule(
    checks="innodb_page_cleaners against innodb_buffer_pool_instances",
    why="A part of the pool without a cleaner of its own waits for another part's writes.",
    expected="steadier writes on servers with many parts and many changes; else nothing",
    sources=(
        'MySQL Reference Manual, "Configuring Buffer Pool Flushing"',
        'MySQL 8.4 Reference Manual, "What Is New in MySQL 8.4 since MySQL 8.0", table of new defaults',
    ),
    judge=_judge,
    variables=(_NAME,),
)
