"""Whether the server's group allows as much memory as its settings take.

A container or MemoryMax= of a unit bounds the memory of the server's control group, page cache included.
Above it the kernel reclaims within the group and then ends the server, however much the machine has free. A
server looks at the machine's memory at best, not at its group's, so the settings have to fit by hand.
"""

from mydyno.advisor.rules import *

_BASE = 256 << 20
"""The server's own code, dictionary and performance_schema, roughly."""
_GLOBAL = (
    "innodb_buffer_pool_size",
    "innodb_log_buffer_size",
    "key_buffer_size",
    "aria_pagecache_buffer_size",
    "query_cache_size",
)


def _judge(system: System, targets: Targets) -> Judgement:
    memory = system.host.memory if system.host else None
    if memory is None:
        return Unknown("the memory limit of the server's control group")
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
    return RULE.finding(
        title=f"The server's settings take {format_bytes(need)}, its control group allows {limit}",
        evidence=(numbers, f"memory.max = {limit}; the machine has {format_bytes(memory.total)}"),
        recommendation="bring the buffer pool below the limit, as the memory budget says, or raise the limit",
        changes=by_hand(
            "raise the limit of the group, if the machine has the memory",
            *(
                (f"systemctl set-property {unit.name} MemoryMax={format_bytes(need * 5 // 4)}",)
                if unit
                else ()
            ),
        ),
        severity=Severity.CRITICAL,
        effect=better("stability", "large", "the server is not ended when its pool has filled"),
        risk="a higher limit takes the memory from others on this machine",
    )


RULE = Rule(
    checks="the memory limit of the server's control group against its settings",
    why="The kernel ends a server that outgrows its group, however much memory the machine has.",
    expected="a server that lives when its pool has filled",
    durability="none: a server that was ended recovers from its redo log",
    risk="others on the machine get less",
    sources=(
        "Linux kernel documentation, Control Group v2, memory.max",
        "systemd.resource-control(5), MemoryMax=",
    ),
    judge=_judge,
)
