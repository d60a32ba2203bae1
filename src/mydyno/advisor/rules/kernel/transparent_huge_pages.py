"""Whether the kernel gives every process huge pages unasked.

With `always` the kernel backs any large piece of anonymous memory by pages of 2 MiB. A buffer pool that is
touched page by page then becomes resident 2 MiB at a time, an allocator that returns 4 KiB pages inside a
huge one frees nothing, and a page fault may wait for the kernel to compact memory. With `madvise` only those
that ask for it get them. Servers that want huge pages for the buffer pool ask by large_pages, which uses
reserved ones and does not depend on this switch. Fewer TLB misses can outweigh all that: measured gains and
losses are both small, and the reason to switch it off is even latency and memory that is what it seems.
"""

from mydyno.advisor.rules import *


def _judge(system: System, _: Targets) -> Judgement:
    now = system.host.kernel.thp_enabled if system.host else None
    if system.host is None or now is None:
        return Unknown("/sys/kernel/mm/transparent_hugepage/enabled")
    if now != "always":
        return Fine(
            f"transparent huge pages are given {'to nobody' if now == 'never' else 'on request'} ({now})"
        )
    stalls = system.host.kernel.counters.get("compact_stall")
    evidence = ["/sys/kernel/mm/transparent_hugepage/enabled = always"]
    if stalls:
        evidence.append(f"processes waited {stalls} times for memory to be compacted since boot")
    return RULE.finding(
        title="The kernel gives the server huge pages unasked (transparent huge pages: always)",
        evidence=tuple(evidence),
        recommendation="give transparent huge pages only to those who ask for them: madvise",
        changes=(SetSysfs(path="/sys/kernel/mm/transparent_hugepage/enabled", value="madvise", was=now),),
        severity=Severity.LOW,
        effect=better(
            "stability",
            "small",
            "no waiting for compaction, and no memory lost in half-used huge pages; throughput may move "
            "either way by a few per cent",
        ),
        risk="memory that is huge already stays so until the server restarts; other programs on this machine "
        "lose unasked huge pages too",
    )


RULE = Rule(
    checks="whether transparent huge pages are given to all processes",
    why="Memory of a database is touched in small pieces all over: huge pages make it resident earlier, hold "
    "on to freed memory, and cost latency when the kernel has to make them.",
    expected="more even latency and less resident memory; throughput hardly changes",
    risk="programs that gain from huge pages without asking lose that",
    sources=(
        "Linux kernel documentation, Transparent Hugepage Support, sysfs",
        "PingCAP, Transparent Huge Pages: Why We Disable It for Databases, 2020",
    ),
    judge=_judge,
)
