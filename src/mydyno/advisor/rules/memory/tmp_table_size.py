"""How large a temporary table in memory may become.

GROUP BY, DISTINCT, UNION and derived tables need temporary tables. They begin in memory and go to disk when
they pass the smaller of tmp_table_size and max_heap_table_size (MEMORY tables, MariaDB), or tmp_table_size
and temptable_max_ram (TempTable, MySQL 8.0 and later). Setting one of the two alone has no effect. On disk
they are slower, though mostly in the page cache. Too large is dangerous: every session may have several
tables. A table with long columns may go to disk at once whatever the size; then only the query can be
changed.
"""

from mydyno.advisor.rules import *

_NAMES = ("tmp_table_size", "max_heap_table_size")


@Rule(
    checks="tmp_table_size and max_heap_table_size compared with memory and the share that goes to disk",
    why="Too small sends temporary tables to disk; too large lets sessions take all memory.",
    expected="faster GROUP BY and UNION where tables just did not fit, or a limit on memory; often no effect",
    risk="more memory in many sessions at once, or more tables on disk",
    sources=(
        "MySQL Reference Manual, Internal Temporary Table Use in MySQL",
        "MariaDB Documentation, Server System Variables, tmp_memory_table_size",
    ),
    variables=(*_NAMES, "tmp_memory_table_size"),
)
def rule(system: System, targets: Targets) -> Judgement:
    server, wanted = system.server, targets.temporary_table_bytes
    sizes = [server.number(name) for name in _NAMES]
    known = [size for size in sizes if size is not None]
    if wanted is None or not known:
        return Unknown("tmp_table_size or the machine's memory")
    changes = settings(server, dict.fromkeys(_NAMES, wanted))
    on_disk = share(server.counter("Created_tmp_disk_tables"), server.counter("Created_tmp_tables"))
    spilt = "how many go to disk is not known" if on_disk is None else f"{on_disk:.0%} go to disk"
    if not changes:
        return Fine(f"temporary tables may have {format_bytes(wanted)} in memory, {spilt}")
    now, most = min(known), max(known)
    lowered = wanted < now
    return finding(
        title=f"Temporary tables may have {format_bytes(now)} each in memory: more than fits"
        if lowered
        else f"Temporary tables may have {format_bytes(now)} in memory, and {spilt}"
        if wanted > now
        else f"Of {format_bytes(most)} for temporary tables only {format_bytes(now)} take effect",
        evidence=(
            *(f"{name} = {format_bytes(size)}" for name, size in zip(_NAMES, sizes, strict=True) if size),
            f"{spilt} {uptime(server)}",
            *targets.temporary_lines,
        ),
        recommendation=f"set both to {format_bytes(wanted)}",
        changes=changes,
        severity=Severity.MEDIUM if lowered else Severity.LOW,
        effect=Effect(
            aspect="memory" if lowered else "latency",
            direction="better" if wanted != now else "none",
            size="medium" if lowered else "small",
            says="all sessions together fit in memory" if lowered else "fewer temporary tables on disk",
        ),
    )
