"""What a page fault does when no huge page is free.

With `always` a page fault that could use a huge page compacts memory first, which takes milliseconds. With
`madvise` only programs that requested huge pages by madvise(2) wait; `defer` leaves the work to kernel
threads. It matters as long as transparent huge pages are not off.
"""

from mydyno.advisor.rules import *


@Rule(
    checks="whether page faults wait for memory to be compacted into huge pages",
    why="Compacting memory takes milliseconds, and with `always` the thread that touched the page waits.",
    expected="no stalls of milliseconds where memory is fragmented; nothing elsewhere",
    sources=("Linux kernel documentation, Transparent Hugepage Support, defrag",),
)
def rule(system: System, _: Targets) -> Judgement:
    if system.host is None or system.host.kernel.thp_defrag is None:
        return Unknown("/sys/kernel/mm/transparent_hugepage/defrag")
    kernel = system.host.kernel
    if kernel.thp_enabled == "never":
        return NotHere("transparent huge pages are off")
    if kernel.thp_defrag != "always":
        return Fine(f"page faults do not wait for compaction (defrag: {kernel.thp_defrag})")
    stalls = kernel.counters.get("compact_stall")
    return finding(
        title="A page fault may wait for memory compaction (defrag: always)",
        evidence=(
            f"transparent_hugepage/defrag = always, enabled = {kernel.thp_enabled or 'not known'}",
            f"processes waited {stalls} times for compaction since boot" if stalls else None,
        ),
        recommendation="let only programs that requested huge pages wait: madvise",
        changes=(SetSysfs(path="/sys/kernel/mm/transparent_hugepage/defrag", value="madvise", was="always"),),
        severity=Severity.MEDIUM if stalls else Severity.LOW,
        effect=better("latency", "small"),
    )
