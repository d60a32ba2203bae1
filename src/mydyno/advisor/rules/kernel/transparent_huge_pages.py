"""Whether the kernel gives every process transparent huge pages.

With `always` the kernel backs any large piece of anonymous memory by pages of 2 MiB. A buffer pool that is
touched page by page then becomes resident 2 MiB at a time, an allocator that returns 4 KiB pages inside a
huge one frees nothing, and a page fault may wait for the kernel to compact memory. With `madvise` only
programs that request them get them. Servers request huge pages for the buffer pool by large_pages, which
uses reserved ones and does not depend on this switch. Fewer TLB misses can outweigh all that: measured
gains and losses are both small, and the reason to switch it off is even latency and predictable memory use.
"""

from mydyno.advisor.rules import *


@Rule(
    checks="whether all processes get transparent huge pages",
    why="Memory of a database is touched in small pieces all over: huge pages make it resident earlier, hold "
    "on to freed memory, and cost latency when the kernel has to make them.",
    expected="no waiting for compaction, and no memory lost in half-used huge pages; throughput may change "
    "either way by a few per cent",
    risk="existing huge pages stay until the server restarts; other programs on this machine lose them too",
    sources=(
        "Linux kernel documentation, Transparent Hugepage Support, sysfs",
        "PingCAP, Transparent Huge Pages: Why We Disable It for Databases, 2020",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    now = system.host.kernel.thp_enabled if system.host else None
    if system.host is None or now is None:
        return Unknown("/sys/kernel/mm/transparent_hugepage/enabled")
    if now != "always":
        return Fine(f"transparent huge pages are {'off' if now == 'never' else 'given on request'} ({now})")
    stalls = system.host.kernel.counters.get("compact_stall")
    return finding(
        title="The kernel gives the server transparent huge pages (always)",
        evidence=(
            "/sys/kernel/mm/transparent_hugepage/enabled = always",
            f"processes waited {stalls} times for memory to be compacted since boot" if stalls else None,
        ),
        recommendation="give transparent huge pages only to programs that request them: madvise",
        changes=(SetSysfs(path="/sys/kernel/mm/transparent_hugepage/enabled", value="madvise", was=now),),
        effect=better("stability", "small"),
    )
