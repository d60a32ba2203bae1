"""Whether every buffer pool instance has a page cleaner.

Page cleaners write dirty pages and free pages, each for one instance at a time. With fewer cleaners than
instances one instance waits for another's I/O. MySQL 8.4 and later have one for each instance by default,
older releases 4; MariaDB has one cleaner for one pool.
"""

from mydyno.advisor.innodb import instances_advised
from mydyno.advisor.rules import *

_NAME = "innodb_page_cleaners"


@Rule(
    checks="innodb_page_cleaners compared with innodb_buffer_pool_instances",
    why="An instance without its own cleaner waits for another instance's writes.",
    expected="dirty pages of all instances are written at the same time: steadier writes on servers with "
    "many instances and many changes; otherwise nothing",
    sources=(
        'MySQL Reference Manual, "Configuring Buffer Pool Flushing"',
        'MySQL 8.4 Reference Manual, "What Is New in MySQL 8.4 since MySQL 8.0", table of new defaults',
    ),
    variables=(_NAME,),
)
def rule(system: System, targets: Targets) -> Judgement:
    server = system.server
    if not is_mysql(server.release, (5, 7, 4)):
        return NotHere("this release has one page cleaner")
    now = server.number(_NAME)
    pool = pool_bytes(system, targets)
    parts = instances_advised(system, pool) if pool else None
    if now is None or parts is None:
        return Unknown(f"{_NAME}, innodb_buffer_pool_instances")
    changes = settings(server, {_NAME: parts}) if now < parts else ()
    if not changes:
        return Fine(f"{now} for {parts} buffer pool instances")
    return finding(
        title=f"{now} page cleaners for {parts} buffer pool instances",
        evidence=(f"{_NAME} = {now}, innodb_buffer_pool_instances = {parts} (now or as advised)",),
        recommendation=f"set {_NAME} to {parts}, as MySQL 8.4 does by default",
        changes=changes,
        effect=better("stability", "small"),
    )
