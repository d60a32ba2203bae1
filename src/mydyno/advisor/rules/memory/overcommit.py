"""Whether overcommit settings let the server allocate what its settings need.

With vm.overcommit_memory at 2 all allocated memory, touched or not, must stay below swap + memory *
vm.overcommit_ratio / 100, and the ratio is 50 unless set: a buffer pool above half of the memory is refused
at the start though the machine could hold it. The kernel's default (0) refuses only obvious excess. Mode 2
was set to make allocations fail rather than have processes killed; so the ratio is raised and the mode
kept.
"""

from mydyno.advisor.rules import *

_BESIDE_POOL = 1.25
"""What the server and the machine need in addition to the buffer pool, as a factor."""
_RATIO = 90


@Rule(
    checks="whether strict overcommit accounting allows the buffer pool",
    why="With vm.overcommit_memory = 2 an allocation above the commit limit fails, whatever is free: the "
    "server does not start, or a connection's buffer is refused.",
    expected="the server starts with its buffer pool, and allocations do not fail",
    risk="the nearer the ratio to 100, the less is kept for the kernel",
    sources=(
        "Linux kernel documentation, Overcommit Accounting",
        "Linux kernel documentation, Documentation for /proc/sys/vm, overcommit_ratio",
    ),
)
def rule(system: System, targets: Targets) -> Judgement:
    host = require(system.host, "vm.overcommit_memory")
    mode = require(host.kernel.number("vm.overcommit_memory"), "vm.overcommit_memory")
    if mode != 2:
        return Fine(f"vm.overcommit_memory is {mode}: no strict limit")
    pool = require(
        pool_bytes(system, targets),
        "the size of the buffer pool",
    )
    if host.kernel.number("vm.overcommit_kbytes"):
        return NotHere("vm.overcommit_kbytes sets the limit outright")
    ratio = host.kernel.number("vm.overcommit_ratio")
    ratio = 50 if ratio is None else ratio
    swap = host.memory.swap_total or 0
    limit, need = swap + host.memory.total * ratio // 100, int(pool * _BESIDE_POOL)
    sums = (
        f"limit: {format_bytes(swap)} of swap + {ratio}% of {format_bytes(host.memory.total)} = "
        f"{format_bytes(limit)}; need: buffer pool {format_bytes(pool)} x {_BESIDE_POOL} = "
        f"{format_bytes(need)}"
    )
    if need <= limit:
        return Fine(f"vm.overcommit_memory is 2, and the limit is high enough. {sums}")
    change: Change = SetSysctl(name="vm.overcommit_ratio", value=str(_RATIO), was=str(ratio))
    if ratio >= _RATIO:
        change = ByHand(says="lower the buffer pool, add swap, or set vm.overcommit_memory to 0")
    return finding(
        title=f"The kernel may refuse the server memory: the commit limit is {format_bytes(limit)}",
        evidence=("vm.overcommit_memory = 2", sums),
        recommendation=f"raise vm.overcommit_ratio to {_RATIO}, or set vm.overcommit_memory to 0",
        changes=(change,),
        severity=Severity.HIGH,
        effect=better("stability", "medium"),
    )
