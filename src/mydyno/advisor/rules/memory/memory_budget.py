"""Whether all that the server may take at once fits into the memory.

The buffer pool and other caches are taken once, and each connection may take its own buffers on top: with
hundreds of connections this part is easily the larger one, and nobody sees it before the day on which all of
them are busy. Then the machine swaps, or the kernel ends the largest process, which is the server.

The sum is the worst case, which a normal day never reaches. It is shown as a whole at the end of the
advice. What each part becomes is the finding of its own rule (buffer-pool-size, max-connections, the
buffers of sessions, tmp-table-size), all made from one budget; this rule says whether that is enough.
"""

from mydyno.advisor.rules import *
from mydyno.advisor.targets.budget import budget
from mydyno.advisor.targets.usable import MEMORY


def _judge(system: System, targets: Targets) -> Judgement:
    usable, advised = targets.usable_bytes, targets.memory_bytes
    if usable is None or advised is None:
        return Unknown(MEMORY if usable is None else "Max_used_connections")
    now = budget(system.server, {})
    if now.total <= usable:
        return Fine(f"at most {format_bytes(now.total)} of {format_bytes(usable)} can be taken")
    once = sum(size for _, size in now.once)
    short = advised - usable
    return RULE.finding(
        title=f"The server may take {format_bytes(now.total)} of {format_bytes(usable)} that it can have",
        evidence=(
            f"now {format_bytes(once)} once + {now.max_connections} connections x"
            f" {format_bytes(now.each_connection)} = {format_bytes(now.total)}",
            f"with the other findings followed: {format_bytes(advised)}",
            *targets.memory_lines,
        ),
        recommendation="follow the findings that lower its parts"
        if short <= 0
        else f"give the machine {format_bytes(short)} more, or the server less to do",
        changes=_more(short),
        severity=Severity.CRITICAL if once > usable else Severity.HIGH,
        effect=better(
            "stability", "large", "on its worst day the server neither swaps nor is ended by the kernel"
        ),
    )


def _more(short: int) -> tuple[Change, ...]:
    if short <= 0:
        return ()
    says = f"add {format_bytes(short)} of memory, move other processes away, or have fewer connections"
    return by_hand(says)


RULE = Rule(
    checks="the sum of all that is taken once and by each connection, against the memory that is left",
    why="More than there is means swapping, or the kernel ending the server, on the day of the highest load.",
    expected="a server that stays within its memory; nothing on a normal day",
    risk="none known: it sets nothing itself",
    sources=(
        "MySQL Reference Manual, How MySQL Uses Memory",
        "MariaDB Documentation, MariaDB Memory Allocation",
        "Linux kernel documentation, Memory Management, Out of Memory handling",
    ),
    judge=_judge,
)
