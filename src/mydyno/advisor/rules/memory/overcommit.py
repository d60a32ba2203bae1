"""Whether the kernel promises the server as much memory as its settings take.

With vm.overcommit_memory at 2 all promised memory, touched or not, must stay below
swap + memory * vm.overcommit_ratio / 100, and the ratio is 50 unless set: a buffer pool above half of the
memory is refused at the start though the machine could hold it. The kernel's default (0) refuses only what is
obviously too much. Whoever set 2 wanted allocations to fail rather than processes to be ended; so the ratio
is raised and the mode left.
"""

from mydyno.advisor.rules import *

_BESIDE_POOL = 1.25
"""What the server and the machine ask for beside the buffer pool, as a factor on it."""
_RATIO = 90


def _judge(system: System, targets: Targets) -> Judgement:
    host = system.host
    mode = host.kernel.number("vm.overcommit_memory") if host else None
    if host is None or mode is None:
        return Unknown("vm.overcommit_memory")
    if mode != 2:
        return Fine(f"vm.overcommit_memory is {mode}: memory is promised freely")
    pool = targets.buffer_pool_bytes or system.server.number("innodb_buffer_pool_size")
    if pool is None:
        return Unknown("the size of the buffer pool")
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
        return Fine(f"vm.overcommit_memory is 2, and there is room. {sums}")
    change: Change = SetSysctl(name="vm.overcommit_ratio", value=str(_RATIO), was=str(ratio))
    if ratio >= _RATIO:
        change = ByHand(says="lower the buffer pool, add swap, or set vm.overcommit_memory to 0")
    return RULE.finding(
        title=f"The kernel may refuse the server memory: it promises {format_bytes(limit)} in all",
        evidence=("vm.overcommit_memory = 2", sums),
        recommendation=f"raise vm.overcommit_ratio to {_RATIO}, or set vm.overcommit_memory to 0",
        changes=(change,),
        severity=Severity.HIGH,
        effect=better(
            "stability", "medium", "the server starts with its buffer pool, and allocations do not fail"
        ),
        risk="the nearer to 100 the ratio, the less is kept for the kernel",
    )


RULE = Rule(
    checks="whether strict accounting of memory leaves room for the buffer pool",
    why="With vm.overcommit_memory = 2 an allocation above the commit limit fails, whatever is free: the "
    "server does not start, or a connection's buffer is refused.",
    expected="a start that does not fail",
    risk="less is kept back for the kernel and other programs",
    sources=(
        "Linux kernel documentation, Overcommit Accounting",
        "Linux kernel documentation, Documentation for /proc/sys/vm, overcommit_ratio",
    ),
    judge=_judge,
)
