"""Whether the server's control group allows as much memory as its settings need.

A container or MemoryMax= of a unit bounds the memory of the server's control group, page cache included.
Above the limit the kernel reclaims within the group and then kills the server, however much the machine has
free. A server knows the machine's memory at best, not its group's, so the settings must fit the group.
"""

from mydyno.advisor.rules import *

_BASE = 256 << 20
"""The server's own code, dictionary and performance_schema, roughly."""
_GLOBAL = (
    "innodb_buffer_pool_size", "innodb_log_buffer_size", "key_buffer_size", "aria_pagecache_buffer_size",
    "query_cache_size",
)  # fmt: skip


@Rule(
    checks="the memory limit of the server's control group compared with its settings",
    why="The kernel kills a server that outgrows its group, however much memory the machine has.",
    expected="a server that survives when its pool has filled",
    durability="none: a killed server recovers from its redo log",
    risk="a higher limit takes the memory from others on this machine",
    sources=(
        "Linux kernel documentation, Control Group v2, memory.max",
        "systemd.resource-control(5), MemoryMax=",
    ),
)
def rule(system: System, targets: Targets) -> Judgement:
    memory = require(
        system.host.memory if system.host else None, "the memory limit of the server's control group"
    )
    if memory.limit is None or memory.limit >= memory.total:
        return NotHere("the server's control group sets no limit below the machine's memory")
    sizes = {name: system.server.number(name) or 0 for name in _GLOBAL}
    need = sum(sizes.values()) + _BASE
    sums = " + ".join(f"{name} {format_bytes(size)}" for name, size in sizes.items() if size)
    numbers = (
        f"{sums} + {format_bytes(_BASE)} for the server itself = {format_bytes(need)}, before any connection"
    )
    limit = format_bytes(memory.limit)
    if need <= memory.limit:
        return Fine(f"{numbers}; the limit is {limit}")
    unit = unit_of(system)
    return finding(
        title=f"The server's settings need {format_bytes(need)}, its control group allows {limit}",
        evidence=(numbers, f"memory.max = {limit}; the machine has {format_bytes(memory.total)}"),
        recommendation="lower the buffer pool as the memory budget says, or raise the limit",
        changes=by_hand(
            "raise the limit of the group, if the machine has the memory",
            *(
                (f"systemctl set-property {unit.name} MemoryMax={format_bytes(need * 5 // 4)}",)
                if unit
                else ()
            ),
        ),
        severity=Severity.CRITICAL,
        effect=better("stability", "large"),
    )
