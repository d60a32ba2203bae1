"""How much of the buffer pool may differ from the disk.

Up to innodb_max_dirty_pages_pct, pages may gather changes before they are written. A low bound (5, 10)
makes InnoDB write pages nearly at every change, which defeats the redo log. A bound of 99 leaves no clean
page to be freed for a read. The defaults are 75 before MySQL 8.0.3 and MariaDB 10.5.7, and 90 since;
between 50 and 95 nothing is said.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_max_dirty_pages_pct"
_LEAST, _MOST = 50, 95


def _judge(system: System, _: Targets) -> Judgement:
    server = system.server
    now = server.number(_NAME)
    if now is None:
        return Unknown(_NAME)
    if _LEAST <= now <= _MOST:
        return Fine(f"up to {now}% of the pool may be dirty")
    newer = is_mysql(server.release, (8, 0, 3)) or is_mariadb(server.release, (10, 5, 7))
    default = 90 if newer else 75
    low = now < _LEAST
    dirty, total = (server.counter(f"Innodb_buffer_pool_pages_{kind}") for kind in ("dirty", "total"))
    seen = (f"{dirty / total:.0%} of the pool is dirty now",) if dirty is not None and total else ()
    changes = settings(server, {_NAME: default})
    return RULE.finding(
        title=f"Only {now}% of the pool may be dirty: pages are written again and again"
        if low
        else f"{now}% of the pool may be dirty: no clean page may be left to be freed",
        evidence=(f"{_NAME} = {now}", *seen),
        recommendation=f"set {_NAME} to {default}, the default of this release",
        changes=changes,
        severity=Severity.MEDIUM if low else Severity.LOW,
        effect=better(
            "throughput" if low else "stability",
            "medium" if low else "small",
            "fewer writes for the same changes" if low else "reads find a page to free",
        ),
        risk="a clean shutdown has more pages to write" if low else None,
    )


RULE = Rule(
    checks="innodb_max_dirty_pages_pct",
    why="The bound decides how many changes a page gathers before it is written.",
    expected="fewer writes, or steadier reads",
    durability="none: redo covers dirty pages",
    risk="a longer shutdown",
    sources=(
        'MySQL Reference Manual, "Configuring Buffer Pool Flushing"',
        'MariaDB Documentation, "InnoDB System Variables", innodb_max_dirty_pages_pct',
    ),
    judge=_judge,
    variables=(_NAME,),
)
