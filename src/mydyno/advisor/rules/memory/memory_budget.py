"""Whether everything that the server may allocate at once fits in memory.

The buffer pool and other caches are taken once, and each connection may take its own buffers on top: with
hundreds of connections this part is easily the larger one, and it does not show before the day on which all
of them are busy. Then the machine swaps, or the kernel kills the largest process, which is the server.

The sum is the worst case, which a normal day never reaches. It is shown at the end of the advice. Each part
has its own rule (buffer-pool-size, max-connections, the session buffers, tmp-table-size), all from one
budget; this rule says whether that is enough.
"""

from mydyno.advisor.rules import *
from mydyno.advisor.targets.budget import budget
from mydyno.advisor.targets.usable import MEMORY


@Rule(
    checks="the sum of shared and per-connection memory, compared with the memory available",
    why="Exceeding it means swapping or an out-of-memory kill on the day of the highest load.",
    expected="in the worst case the server neither swaps nor is killed by the kernel; no effect on a normal "
    "day",
    risk="none known: it sets nothing itself",
    sources=(
        "MySQL Reference Manual, How MySQL Uses Memory",
        "MariaDB Documentation, MariaDB Memory Allocation",
        "Linux kernel documentation, Memory Management, Out of Memory handling",
    ),
)
def rule(system: System, targets: Targets) -> Judgement:
    usable = require(targets.usable_bytes, MEMORY)
    advised = require(targets.memory_bytes, "Max_used_connections")
    now = budget(system.server, {})
    if now.total <= usable:
        return Fine(f"at most {format_bytes(now.total)} of {format_bytes(usable)} can be allocated")
    once = sum(size for _, size in now.once)
    short = advised - usable
    return finding(
        title=f"The server may allocate {format_bytes(now.total)}, and {format_bytes(usable)} is available",
        evidence=(
            f"now {format_bytes(once)} once + {now.max_connections} connections x"
            f" {format_bytes(now.each_connection)} = {format_bytes(now.total)}",
            f"with the other findings followed: {format_bytes(advised)}",
            *targets.memory_lines,
        ),
        recommendation="follow the findings that lower the parts"
        if short <= 0
        else f"give the machine {format_bytes(short)} more, or the server less to do",
        changes=_more(short),
        severity=Severity.CRITICAL if once > usable else Severity.HIGH,
        effect=better("stability", "large"),
    )


def _more(short: int) -> tuple[Change, ...]:
    if short <= 0:
        return ()
    return by_hand(
        f"add {format_bytes(short)} of memory, move other processes to another machine,"
        " or use fewer connections"
    )
