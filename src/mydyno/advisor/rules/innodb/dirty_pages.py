"""How much of the buffer pool may be dirty.

Up to innodb_max_dirty_pages_pct, pages may gather changes before they are written. A low bound (5, 10)
makes InnoDB write pages nearly at every change, which defeats the redo log. With 99 no clean page is left
to free for a read. The defaults are 75 before MySQL 8.0.3 and MariaDB 10.5.7, and 90 since; values between
50 and 95 are left alone.
"""

from mydyno.advisor.rules import *

_NAME = "innodb_max_dirty_pages_pct"
_LEAST, _MOST = 50, 95


@Rule(
    checks="innodb_max_dirty_pages_pct",
    why="The limit decides how many changes a page collects before it is written.",
    expected="fewer writes, or steadier reads",
    durability="none: redo covers dirty pages",
    risk="a clean shutdown has more pages to write",
    sources=(
        'MySQL Reference Manual, "Configuring Buffer Pool Flushing"',
        'MariaDB Documentation, "InnoDB System Variables", innodb_max_dirty_pages_pct',
    ),
    variables=(_NAME,),
)
def rule(system: System, _: Targets) -> Judgement:
    server = system.server
    now = require(server.number(_NAME), _NAME)
    if _LEAST <= now <= _MOST:
        return Fine(f"up to {now}% of the pool may be dirty")
    newer = is_mysql(server.release, (8, 0, 3)) or is_mariadb(server.release, (10, 5, 7))
    default = 90 if newer else 75
    low = now < _LEAST
    dirty, total = (server.counter(f"Innodb_buffer_pool_pages_{kind}") for kind in ("dirty", "total"))
    seen = (f"{dirty / total:.0%} of the pool is dirty now",) if dirty is not None and total else ()
    return finding(
        title=f"Only {now}% of the pool may be dirty: pages are written over and over"
        if low
        else f"{now}% of the pool may be dirty: reads may find no clean page to free",
        evidence=(f"{_NAME} = {now}", *seen),
        recommendation=f"set {_NAME} to {default}, the default of this release",
        changes=settings(server, {_NAME: default}),
        severity=Severity.MEDIUM if low else Severity.LOW,
        effect=better(
            "throughput" if low else "stability",
            "medium" if low else "small",
            "fewer writes for the same changes" if low else "reads find clean pages to free",
        ),
        risk=None if low else "",
    )
