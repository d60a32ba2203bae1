"""Whether the query cache is on.

One lock guards the whole cache. Every SELECT takes it for a lookup, and every change of a table takes it to
invalidate all results of that table; with several CPUs they wait for this lock, the longer the larger the
cache. MySQL removed it in 8.0.3; MariaDB and MySQL before that still have it. Old guides advise switching
it off from the start, and so does this rule, unless it answers most of the reads: then measure.

Size 0 alone still takes the lock, so the type is set to OFF as well.
"""

from mydyno.advisor.rules import *
from mydyno.advisor.targets.caches import query_cache_share

_SIZE, _TYPE = "query_cache_size", "query_cache_type"


@Rule(
    checks="query_cache_type and query_cache_size, and how many reads it answers",
    why="Every SELECT and every change waits for its single lock.",
    expected="more throughput on several CPUs with any writes; less where it answered most of the reads",
    risk="statements that it answered are executed",
    sources=(
        "MySQL 5.7 Reference Manual, The MySQL Query Cache",
        "MariaDB Documentation, Query Cache",
        "Microsoft Azure, Optimise MySQL on Linux VMs, 2015: query_cache_size = 0",
    ),
    variables=(_SIZE, _TYPE),
)
def rule(system: System, targets: Targets) -> Judgement:
    server = system.server
    size = server.number(_SIZE)
    if size is None or not server.has(_TYPE):
        return NotHere(f"{server.release} has no query cache")
    off = server.switch(_TYPE) is False
    part = query_cache_share(server)
    answered = "how much it answers is not known" if part is None else f"it answers {part:.0%} of the reads"
    if off and size == targets.query_cache_bytes:
        return Fine("it is off")
    if not off and size and part is None:
        return Unknown("Qcache_hits or Com_select")
    if not off and size and targets.query_cache_bytes:
        return Fine(f"{answered}; compare it with a cache in the application")
    cpus = system.host.cpu.count if system.host else None
    heavy = not off and size > 0 and (cpus or 2) > 1
    return finding(
        title=f"The query cache has {format_bytes(size)}, and {'is off' if off else answered}",
        evidence=(
            f"{_TYPE} = {server.text(_TYPE)}, {_SIZE} = {format_bytes(size)}",
            f"{answered} {uptime(server)}",
            f"{cpus or 'an unknown number of'} CPUs share its one lock",
        ),
        recommendation=f"set {_TYPE} = OFF and {_SIZE} = 0",
        changes=settings(server, {_TYPE: "OFF", _SIZE: 0}),
        severity=Severity.MEDIUM if heavy else Severity.LOW,
        effect=better(
            "throughput" if heavy else "memory",
            "medium" if heavy else "small",
            "no statement waits for the cache's lock, and no change invalidates results"
            if heavy
            else f"{format_bytes(size)} of unused memory are freed"
            if size
            else "one lock less",
        ),
    )
