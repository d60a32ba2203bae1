"""Whether the server may lock as much memory as its settings need.

large_pages takes shared memory of huge pages, and memlock locks the whole process into memory; both are
bounded by RLIMIT_MEMLOCK, which is small for ordinary users. When the limit is too low the server goes on
without, with only a line in its error log. A service gets the limit from its unit, not from limits.conf.
"""

from mydyno.advisor.rules import *


@Rule(
    checks="the limit of locked memory, where large_pages or memlock is on",
    why="Above the limit the server silently does without.",
    expected="large_pages or memlock that works",
    risk="locked memory cannot be swapped: leave enough for the rest",
    sources=(
        "MySQL Reference Manual, Enabling Large Page Support; --memlock",
        "systemd.exec(5), LimitMEMLOCK=",
    ),
)
def rule(system: System, targets: Targets) -> Judgement:
    server = system.server
    configured = [name for name in ("large_pages", "locked_in_memory") if server.switch(name)]
    if not configured:
        return NotHere("neither large_pages nor memlock is on")
    limit = require(
        limit_of(system, "Max locked memory"), "the limit of locked memory of the server's process"
    )
    unit = unit_of(system)
    pool = pool_bytes(system, targets) or 0
    if limit.hard is None or limit.hard >= pool:
        most = "unlimited" if limit.hard is None else format_bytes(limit.hard)
        return Fine(f"locked memory may be {most}, the buffer pool is {format_bytes(pool)}")
    planned = unit.properties.get("LimitMEMLOCK") if unit else None
    if planned == "infinity":
        return Fine(f"{unit.name if unit else 'the unit'} lifts the limit from the next start on")
    change: Change = ByHand(says="raise `ulimit -l` to unlimited where the server is started")
    if unit:
        change = SetUnit(unit=unit.name, name="LimitMEMLOCK", value="infinity", was=planned)
    return finding(
        title=f"The server may lock {format_bytes(limit.hard)} of memory, its pool is {format_bytes(pool)}",
        evidence=(
            f"{' and '.join(configured)} ON; Max locked memory: {format_bytes(limit.hard)}",
            f"buffer pool: {format_bytes(pool)}",
        ),
        recommendation=change.sentence(),
        changes=(change,),
        severity=Severity.MEDIUM,
        effect=better("memory", "medium", f"{' and '.join(configured)} takes effect, which it does not now"),
        restart=True,
    )
